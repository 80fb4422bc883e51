"""Vector instructions, form by form, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from asmlib import TARGETS, floats, halves, integers, lanes, same

# NumPy warns of the special values that are the point here.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

u32, i32, u64, i64 = np.uint32, np.int32, np.uint64, np.int64


def s(a: np.ndarray) -> np.ndarray:
    return a.view(np.dtype(f"i{a.dtype.itemsize}"))


def wide(a: np.ndarray) -> np.ndarray:
    return s(a).astype(i64) if a.dtype == u32 else a


def word(a: np.ndarray) -> np.ndarray:
    return np.asarray(a).astype(i64).astype(u64).astype(u32) if a.dtype != u32 else a


def sext24(a: np.ndarray) -> np.ndarray:
    return (s(a << u32(8)) >> 8).astype(i64)


def bits_of(a: np.ndarray) -> np.ndarray:
    return np.array([bin(int(x)).count("1") for x in a], u32)


def leading(a: np.ndarray) -> np.ndarray:
    return np.array([32 - int(x).bit_length() if x else -1 for x in a]).astype(u32)


def trailing(a: np.ndarray) -> np.ndarray:
    return np.array([(int(x) & -int(x)).bit_length() - 1 if x else -1 for x in a]).astype(u32)


def permuted(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    out = []
    for x, y, sel in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        data = (x << 32 | y).to_bytes(8, "little")
        r = []
        for k in sel.to_bytes(4, "little"):
            if k < 8:
                r.append(data[k])
            elif k < 12:
                r.append(255 if data[2 * (k - 8) + 1] >> 7 else 0)
            else:
                r.append(0 if k == 12 else 255)
        out.append(int.from_bytes(bytes(r), "little"))
    return np.array(out, u32)


M31 = u32(31)
BINARY = {
    "v_add_u32": lambda a, b: a + b,
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: (a.astype(u64) * b.astype(u64) >> u64(32)).astype(u32),
    "v_mul_hi_i32": lambda a, b: (wide(a) * wide(b) >> 32).astype(i32).view(u32),
    "v_mul_u32_u24": lambda a, b: (
        (a & u32(0xFFFFFF)).astype(u64) * (b & u32(0xFFFFFF)).astype(u64)
    ).astype(u32),
    "v_mul_i32_i24": lambda a, b: (sext24(a) * sext24(b)).astype(u64).astype(u32),
    "v_min_i32": lambda a, b: np.minimum(s(a), s(b)).view(u32),
    "v_min_u32": np.minimum,
    "v_max_i32": lambda a, b: np.maximum(s(a), s(b)).view(u32),
    "v_max_u32": np.maximum,
    "v_and_b32": lambda a, b: a & b,
    "v_or_b32": lambda a, b: a | b,
    "v_xor_b32": lambda a, b: a ^ b,
    "v_xnor_b32": lambda a, b: ~(a ^ b),
    "v_lshlrev_b32": lambda a, b: b << (a & M31),
    "v_lshrrev_b32": lambda a, b: b >> (a & M31),
    "v_ashrrev_i32": lambda a, b: (s(b) >> s(a & M31)).view(u32),
    "v_bfm_b32": lambda a, b: ((u32(1) << (a & M31)) - u32(1)) << (b & M31),
    "v_bcnt_u32_b32": lambda a, b: bits_of(a) + b,
}
UNARY = {
    "v_mov_b32": lambda a: a,
    "v_not_b32": lambda a: ~a,
    "v_bfrev_b32": lambda a: np.array([int(f"{int(x):032b}"[::-1], 2) for x in a], u32),
    "v_cvt_f32_u32": lambda a: a.astype(np.float32),
    "v_cvt_f32_i32": lambda a: s(a).astype(np.float32),
    "v_cvt_f32_ubyte2": lambda a: (a >> u32(16) & u32(255)).astype(np.float32),
}
TERNARY = {
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & M31)) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b) << (c & M31),
    "v_lshl_or_b32": lambda a, b, c: (a << (b & M31)) | c,
    "v_and_or_b32": lambda a, b, c: (a & b) | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_bfi_b32": lambda a, b, c: (a & b) | (~a & c),
    "v_bfe_u32": lambda a, b, c: a >> (b & M31) & ((u32(1) << (c & M31)) - u32(1)),
    "v_mad_u32_u24": lambda a, b, c: BINARY["v_mul_u32_u24"](a, b) + c,
    "v_min3_i32": lambda a, b, c: np.minimum(np.minimum(s(a), s(b)), s(c)).view(u32),
    "v_max3_u32": lambda a, b, c: np.maximum(np.maximum(a, b), c),
    "v_med3_i32": lambda a, b, c: np.sort([s(a), s(b), s(c)], axis=0)[1].view(u32),
    "v_alignbit_b32": lambda a, b, c: (
        (a.astype(u64) << u64(32) | b) >> (c & M31).astype(u64)
    ).astype(u32),
    "v_perm_b32": permuted,
    "v_mad_u32_u16": lambda a, b, c: (a & u32(0xFFFF)) * (b & u32(0xFFFF)) + c,
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("table", [UNARY, BINARY, TERNARY], ids=["unary", "binary", "ternary"])
def test_integers(table, target):
    count = {id(UNARY): 1, id(BINARY): 2, id(TERNARY): 3}[id(table)]
    operands = integers(200, count)
    places = ", ".join(f"{{{i}}}" for i in range(count))
    for name, want in table.items():
        got = lanes(f"{name} {{d}}, {places}", operands, 1, target)
        same(got, want(*operands), name)


def test_bit_positions():
    (a,) = integers(100, 1)
    for old, new, want in [
        ("v_ffbh_u32", "v_clz_i32_u32", leading(a)),
        ("v_ffbl_b32", "v_ctz_i32_b32", trailing(a)),
        ("v_ffbh_i32", "v_cls_i32", leading(np.where(s(a) < 0, ~a, a))),
    ]:
        same(lanes(f"{old} {{d}}, {{0}}", [a]), want, old)
        same(lanes(f"{new} {{d}}, {{0}}", [a], 1, "gfx1100"), want, new)


def test_signed_bit_fields():
    a, b, c = integers(200, 3)
    want = []
    for x, offset, width in zip(s(a).tolist(), b.tolist(), c.tolist(), strict=True):
        n = width & 31
        value = x >> (offset & 31) & ((1 << n) - 1)
        want.append(value - (1 << n) if n and value >> (n - 1) else value)
    same(
        lanes("v_bfe_i32 {d}, {0}, {1}, {2}", [a, b, c]),
        np.array(want, i64).astype(u64).astype(u32),
    )


@pytest.mark.parametrize("target", TARGETS)
def test_wide_integers(target):
    a, b = integers(150, 2, 64)
    (n,) = integers(len(a), 1)
    n = n[: len(a)]
    shift = (n & u32(63)).astype(u64)
    same(lanes("v_lshlrev_b64 {d}, {1}, {0}", [a, n], 2, target), a << shift)
    same(lanes("v_lshrrev_b64 {d}, {1}, {0}", [a, n], 2, target), a >> shift)
    same(
        lanes("v_ashrrev_i64 {d}, {1}, {0}", [a, n], 2, target),
        (s(a) >> shift.astype(i64)).view(u64),
    )
    low, high = a.astype(u32), (a >> u64(32)).astype(u32)
    same(
        lanes("v_mad_u64_u32 {d}, vcc, {0}, {1}, {2}", [low, high, b], 2, target),
        low.astype(u64) * high.astype(u64) + b,
    )
    same(
        lanes("v_mad_i64_i32 {d}, vcc, {0}, {1}, {2}", [low, high, b], 2, target),
        (wide(low) * wide(high)).view(u64) + b,
    )
    if target == "gfx942":
        same(lanes("v_lshl_add_u64 {d}, {0}, 3, {1}", [a, b], 2), (a << u64(3)) + b)


def test_carries():
    a, b = integers(200, 2, 64)
    lo, hi = (lambda x: x.astype(u32)), (lambda x: (x >> u64(32)).astype(u32))
    parts = [lo(a), hi(a), lo(b), hi(b)]
    for old, new, want in [("add", "add", a + b), ("sub", "sub", a - b)]:
        carry = "addc" if old == "add" else "subb"
        text = "v_{} v40, vcc, {{0}}, {{2}}\nv_{} v41, vcc, {{1}}, {{3}}, vcc\n"
        same(lanes(text.format(f"{old}_co_u32", f"{carry}_co_u32"), parts, 2), want)
        same(lanes(text.format(f"{new}_co_u32", f"{new}_co_ci_u32"), parts, 2, "gfx1100"), want)


# ===-- Floating point ------------------------------------------------------===#

F_BINARY = {
    "v_add_{}": lambda a, b: a + b,
    "v_mul_{}": lambda a, b: a * b,
}


def min_number(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    r = np.fmin(a, b)
    zero = (a == 0) & (b == 0)
    return np.where(zero & (np.signbit(a) | np.signbit(b)), -np.abs(r), r).astype(a.dtype)


def max_number(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return -min_number(-a, -b)


def fused(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Rounded once: long double multiplies exactly, and holds enough of the sum for floats."""
    with np.errstate(all="ignore"):
        return (a.astype(np.longdouble) * b + c).astype(a.dtype)


@pytest.mark.parametrize("target", TARGETS)
def test_singles(target):
    with np.errstate(all="ignore"):
        a, b = floats(300, 2)
        for name, want in {
            "v_add_f32": a + b,
            "v_sub_f32": a - b,
            "v_subrev_f32": b - a,
            "v_mul_f32": a * b,
            "v_min_f32": min_number(a, b),
            "v_max_f32": max_number(a, b),
        }.items():
            same(lanes(f"{name} {{d}}, {{0}}, {{1}}", [a, b], 1, target), want, name)
        for name, want in {
            "v_trunc_f32": np.trunc(a),
            "v_ceil_f32": np.ceil(a),
            "v_floor_f32": np.floor(a),
            "v_rndne_f32": np.rint(a),
            "v_frexp_mant_f32": np.frexp(a)[0],
            "v_frexp_exp_i32_f32": np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(i32),
        }.items():
            same(lanes(f"{name} {{d}}, {{0}}", [a], 1, target), want, name)
        x, y, z = floats(300, 3, seed=3)
        # Where the sum of doubles is not exact, its rounding may be in doubt.
        same(lanes("v_fma_f32 {d}, {0}, {1}, {2}", [x, y, z], 1, target), fused(x, y, z))
        same(
            lanes("v_fmac_f32 {d}, {0}, {1}", [x, y], 1, target, start=z.view(u32)), fused(x, y, z)
        )
        same(
            lanes("v_med3_f32 {d}, {0}, 2.0, -1.0", [a], 1, target),
            np.where(np.isnan(a), np.float32(-1), np.clip(a, np.float32(-1), np.float32(2))),
        )


def test_signs_clamp_and_scale():
    a, b = floats(100, 2)
    with np.errstate(all="ignore"):
        same(lanes("v_add_f32 {d}, -{0}, |{1}|", [a, b]), -a + np.abs(b))
        same(lanes("v_mul_f32 {d}, -|{0}|, {1}", [a, b]), -np.abs(a) * b)
        product = a * b
        clamped = np.where(product > 0, np.minimum(product, np.float32(1)), np.float32(0))
        same(lanes("v_mul_f32 {d}, {0}, {1} clamp", [a, b]), clamped)
        same(lanes("v_mul_f32 {d}, {0}, {1} mul:4", [a, b]), product * np.float32(4))
        same(
            lanes("v_cndmask_b32 {d}, -{0}, {1}, s[2:3]", [a, b], prologue="s_mov_b64 s[2:3], 0"),
            -a,
        )


def test_flushing():
    """Subnormal numbers count as zero where the mode says so."""
    a, b = floats(200, 2)
    mode = "\t\t.amdhsa_float_denorm_mode_32 0"

    def flush(x):
        return np.where(np.abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), x), x)

    with np.errstate(all="ignore"):
        want = flush(flush(a) * flush(b))
        same(lanes("v_mul_f32 {d}, {0}, {1}", [a, b], directives=mode), want)
        same(
            lanes(
                "v_mul_f32 {d}, {0}, {1}",
                [a, b],
                prologue="s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0",
            ),
            want,
        )


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("v_exp_f32", np.exp2),
        ("v_log_f32", np.log2),
        ("v_rcp_f32", lambda x: 1 / x),
        ("v_rsq_f32", lambda x: 1 / np.sqrt(x)),
        ("v_sqrt_f32", np.sqrt),
    ],
)
def test_approximations(name, function):
    """Within one unit in the last place, as the ISA has it; no subnormal numbers."""
    (a,) = floats(500, 1)
    tiny = np.finfo(np.float32).tiny
    a = np.where(np.abs(a) < tiny, np.copysign(np.float32(0), a), a)
    got = lanes(f"{name} {{d}}, {{0}}", [a]).view(np.float32)
    with np.errstate(all="ignore"):
        want = function(a.astype(np.float64)).astype(np.float32)
    want = np.where(np.abs(want) < tiny, np.copysign(np.float32(0), want), want)
    close = np.abs(got - want) <= np.spacing(np.abs(want))
    assert (close | (got == want) | (np.isnan(got) & np.isnan(want))).all()


@pytest.mark.parametrize("target", TARGETS)
def test_doubles(target):
    with np.errstate(all="ignore"):
        a, b = floats(200, 2, np.float64)
        for name, want in {
            "v_add_f64": a + b,
            "v_mul_f64": a * b,
            "v_min_f64": min_number(a, b),
            "v_max_f64": max_number(a, b),
        }.items():
            same(lanes(f"{name} {{d}}, {{0}}, {{1}}", [a, b], 2, target), want, name)
        for name, want in {
            "v_trunc_f64": np.trunc(a),
            "v_floor_f64": np.floor(a),
            "v_rndne_f64": np.rint(a),
        }.items():
            same(lanes(f"{name} {{d}}, {{0}}", [a], 2, target), want, name)
        # Exact in long double, or nearly so.
        x, y, z = (v.astype(np.float32).astype(np.float64) for v in floats(200, 3, np.float64, 5))
        same(lanes("v_fma_f64 {d}, {0}, {1}, {2}", [x, y, z], 2, target)[256:], (x * y + z)[256:])
        same(lanes("v_cvt_f32_f64 {d}, {0}", [a], 1, target), a.astype(np.float32))
        f = a.astype(np.float32)
        same(lanes("v_cvt_f64_f32 {d}, {0}", [f], 2, target), f.astype(np.float64))
        same(lanes("v_ldexp_f64 {d}, {0}, 5", [a], 2, target), np.ldexp(a, 5))


def test_pack():
    """Halves have signs to change."""
    a, b = (halves(v) for v in floats(20, 2, np.float16))
    want = (a & u32(0x7FFF)) | (b ^ u32(0x8000)) << u32(16)
    assert (lanes("v_pack_b32_f16 {d}, |{0}|, -{1}", [a, b]) == want).all()


@pytest.mark.parametrize("target", TARGETS)
def test_halves(target):
    """A result of 16 bits clears the rest of its register on CDNA, and keeps it on RDNA."""
    a, b = floats(300, 2, np.float16)
    above = u32(0) if target == "gfx942" else u32(0x55550000)
    start = np.full(len(a), 0x55550000, u32)
    with np.errstate(all="ignore"):
        for name, want in {
            "v_add_f16": a + b,
            "v_sub_f16": a - b,
            "v_mul_f16": a * b,
            "v_min_f16": min_number(a, b),
            "v_max_f16": max_number(a, b),
        }.items():
            got = lanes(
                f"{name} {{d}}, {{0}}, {{1}}", [halves(a), halves(b)], 1, target, start=start
            )
            assert (got & u32(0xFFFF0000) == above).all()
            same(got.astype(np.uint16), want.astype(np.float16), name)
        got = lanes("v_cvt_f32_f16 {d}, {0}", [halves(a)], 1, target)
        same(got, a.astype(np.float32))
        f = floats(200, 1)[0]
        got = lanes("v_cvt_f16_f32 {d}, {0}", [f], 1, target).astype(np.uint16)
        same(got, f.astype(np.float16))


def to_integer(a: np.ndarray, dtype: type) -> np.ndarray:
    info = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        t = np.trunc(np.nan_to_num(a.astype(np.float64), nan=0.0))
        return np.clip(t, info.min, info.max).astype(i64).astype(dtype)


def test_conversions():
    (a,) = floats(300, 1)
    (d,) = floats(300, 1, np.float64)
    same(lanes("v_cvt_i32_f32 {d}, {0}", [a]), to_integer(a, i32))
    same(lanes("v_cvt_u32_f32 {d}, {0}", [a]), to_integer(a, u32))
    same(lanes("v_cvt_i32_f64 {d}, {0}", [d]), to_integer(d, i32))
    same(lanes("v_cvt_u32_f64 {d}, {0}", [d]), to_integer(d, u32))
    (n,) = integers(100, 1)
    same(lanes("v_cvt_f64_i32 {d}, {0}", [n], 2), s(n).astype(np.float64))
    same(lanes("v_cvt_f64_u32 {d}, {0}", [n], 2), n.astype(np.float64))


def divide(target: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The sequence that compilers emit for a division that is rounded to nearest."""
    lane = "s[4:5]" if target == "gfx942" else "s4"
    text = f"""v_div_scale_f32 v50, {lane}, {{1}}, {{1}}, {{0}}
v_rcp_f32 v51, v50
v_div_scale_f32 v52, vcc, {{0}}, {{1}}, {{0}}
v_fma_f32 v53, -v50, v51, 1.0
v_fmac_f32 v51, v53, v51
v_mul_f32 v53, v52, v51
v_fma_f32 v54, -v50, v53, v52
v_fmac_f32 v53, v54, v51
v_fma_f32 v50, -v50, v53, v52
v_div_fmas_f32 v50, v50, v51, v53
v_div_fixup_f32 {{d}}, v50, {{1}}, {{0}}
"""
    return lanes(text, [a, b], 1, target)


@pytest.mark.parametrize("target", TARGETS)
def test_division(target):
    a, b = floats(1500, 2, seed=7)
    with np.errstate(all="ignore"):
        same(divide(target, a, b), a / b)


COMPARISONS = {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "eq": lambda a, b: a == b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
def test_comparisons(target):
    a, b = integers(100, 2)
    x, y = floats(100, 2)
    for name, want in {**COMPARISONS, "ne": lambda a, b: a != b}.items():
        got = lanes(f"v_cmp_{name}_u32 {{d}}, {{0}}, {{1}}", [a, b], "mask", target)
        same(got, want(a, b).astype(u32), name)
        got = lanes(f"v_cmp_{name}_i32 {{d}}, {{0}}, {{1}}", [a, b], "mask", target)
        same(got, want(s(a), s(b)).astype(u32), name)
    ordered = ~(np.isnan(x) | np.isnan(y))
    for name, want in {
        **COMPARISONS,
        "lg": lambda a, b: (a < b) | (a > b),
        "neq": lambda a, b: a != b,
        "nlt": lambda a, b: ~(a < b),
        "nge": lambda a, b: ~(a >= b),
        "nlg": lambda a, b: ~((a < b) | (a > b)),
        "o": lambda a, b: ordered,
        "u": lambda a, b: ~ordered,
    }.items():
        got = lanes(f"v_cmp_{name}_f32 {{d}}, {{0}}, {{1}}", [x, y], "mask", target)
        same(got, want(x, y).astype(u32), name)
    kinds = lanes("v_cmp_class_f32 {d}, {0}, 0x204", [x], "mask", target)
    same(kinds, np.isinf(x).astype(u32))


def test_parts_of_registers():
    a, b = integers(100, 2)
    sdwa = "dst_sel:{} dst_unused:{} src0_sel:{} src1_sel:{}"
    got = lanes(
        "v_add_u32_sdwa {d}, {0}, {1} " + sdwa.format("DWORD", "UNUSED_PAD", "BYTE_2", "WORD_1"),
        [a, b],
    )
    same(got, (a >> u32(16) & u32(255)) + (b >> u32(16)))
    got = lanes(
        "v_add_u32_sdwa {d}, {0}, {1} "
        + sdwa.format("BYTE_1", "UNUSED_PRESERVE", "DWORD", "DWORD"),
        [a, b],
        start=b,
    )
    same(got, (b & u32(0xFFFF00FF)) | ((a + b) & u32(255)) << u32(8))
    got = lanes(
        "v_add_u32_sdwa {d}, sext({0}), {1} "
        + sdwa.format("DWORD", "UNUSED_PAD", "BYTE_0", "DWORD"),
        [a, b],
    )
    same(got, a.astype(np.int8).astype(i32).view(u32) + b)


def test_floats_of_8_bits():
    """gfx942's formats, whose one NaN stands where -0 would be."""
    from test_amdgcn_matrix import fnuz

    every = np.arange(256, dtype=u32)
    (f,) = floats(600, 1)
    f = np.where(np.abs(f) < 1e-9, np.float32(0), f)
    for kind, mantissa in (("fp8", 3), ("bf8", 2)):
        table = fnuz(mantissa)
        same(lanes(f"v_cvt_f32_{kind} {{d}}, {{0}}", [every]), table.astype(np.float32), kind)
        word = every << u32(16) | (255 - every) << u32(24)
        got = lanes(f"v_cvt_pk_f32_{kind}_sdwa {{d}}, {{0}} src0_sel:WORD_1", [word], 2)
        same(got.astype(u32), table.astype(np.float32), kind)
        same((got >> u64(32)).astype(u32), table[::-1].astype(np.float32), kind)
        # The nearest value, of two equally near the even one; beyond the largest, no number.
        order = np.argsort(np.where(np.isnan(table), np.inf, table), kind="stable")[:255]
        values = table[order]
        want = np.zeros(len(f), u32)
        largest = values[-1] + (values[-1] - values[-2]) / 2
        for i, x in enumerate(f.astype(np.float64).tolist()):
            if not abs(x) < largest:
                want[i] = 0x80
                continue
            distance = np.abs(values - x)
            near = order[np.flatnonzero(distance == distance.min())]
            want[i] = near[0] if len(near) == 1 else next(b for b in near if b % 2 == 0)
        start = np.full(len(f), 0x11112222, u32)
        text = f"v_cvt_pk_{kind}_f32 {{d}}, {{0}}, -{{0}} op_sel:[0,0,1]"
        got = lanes(text, [f], start=start)
        assert (got & u32(0xFFFF) == 0x2222).all()
        same(got >> u32(16) & u32(255), want, kind)


def test_saturation():
    a, b = integers(200, 2)
    wide_sum = a.astype(np.int64) + b.astype(np.int64)
    same(
        lanes("v_add_u32 {d}, {0}, {1} clamp", [a, b]), np.minimum(wide_sum, 2**32 - 1).astype(u32)
    )
    same(lanes("v_sub_u32 {d}, {0}, {1} clamp", [a, b]), np.where(a > b, a - b, u32(0)))
    signed_sum = wide(a) + wide(b)
    want = np.clip(signed_sum, -(2**31), 2**31 - 1).astype(i32).view(u32)
    same(lanes("v_add_i32 {d}, {0}, {1} clamp", [a, b]), want)


@pytest.mark.parametrize("name,keeps", [("v_mad_u16", True), ("v_mad_legacy_u16", False)])
def test_the_other_half_of_three_sources(name, keeps):
    """The forms that GFX9 calls legacy clear it, as GFX8 does. LLVM counts on that."""
    a, b, c = integers(64, 3)
    start = np.full(len(a), 0xABCD0000, u32)
    got = lanes(f"{name} {{d}}, {{0}}, {{1}}, {{2}}", [a, b, c], start=start)
    want = (a * b + c) & u32(0xFFFF)
    same(got, want | start if keeps else want, name)


def without_subnormals(a: np.ndarray) -> np.ndarray:
    return np.where(np.abs(a) < np.finfo(a.dtype).tiny, np.copysign(a.dtype.type(0), a), a)


def rounded_twice(a: np.ndarray, b: np.ndarray, c: np.ndarray, legacy: bool = False) -> np.ndarray:
    """Multiplied and added, rounded after each, without subnormal numbers. `legacy`: zero times
    anything is zero."""
    a, b, c = map(without_subnormals, (a, b, c))
    product = a * b
    if legacy:
        product = np.where((a == 0) | (b == 0), a.dtype.type(0), product)
    return without_subnormals(without_subnormals(product) + c)


#: Instructions that multiply and add, and round after each. The constant is of their type.
MULTIPLY_ADD = [
    ("v_mad_{t}", "{{d}}, {{0}}, {{1}}, {{2}}"),
    ("v_mac_{t}", "{{d}}, {{0}}, {{1}}"),
    ("v_madmk_{t}", "{{d}}, {{0}}, {k}, {{2}}"),
    ("v_madak_{t}", "{{d}}, {{0}}, {{1}}, {k}"),
    ("v_mad_legacy_{t}", "{{d}}, {{0}}, {{1}}, {{2}}"),
]


@pytest.mark.parametrize(("name", "operands"), MULTIPLY_ADD)
@pytest.mark.parametrize(
    ("target", "dtype"), [("gfx90a", np.float32), ("gfx90a", np.float16), ("gfx942", np.float16)]
)
def test_multiply_add_that_is_not_fused(name, operands, target, dtype):
    a, b, c = floats(300, 3, dtype)
    single = dtype == np.float32
    number = dtype(1.5)
    text = f"{name} {operands}".format(
        t="f32" if single else "f16", k=hex(int(number.view(u32 if single else np.uint16)))
    )
    x, y, z = a, b, c
    if "madmk" in name:
        y = np.full_like(a, number)
    if "madak" in name:
        z = np.full_like(a, number)
    # What "legacy" means differs between the types.
    with np.errstate(all="ignore"):
        want = rounded_twice(x, y, z, legacy=single and "legacy" in name)
    if single:
        same(lanes(text, [a, b, c], 1, target, start=c.view(u32)), want, text)
        return
    start = c.view(np.uint16) | u32(0x55550000)
    got = lanes(text, [halves(v) for v in (a, b, c)], 1, target, start=start)
    # Three sources, and no more than registers: that is the one form which keeps the other half.
    above = u32(0x55550000 if name == "v_mad_{t}" else 0)
    assert (got & u32(0xFFFF0000) == above).all()
    same(got.astype(np.uint16), want, text)
