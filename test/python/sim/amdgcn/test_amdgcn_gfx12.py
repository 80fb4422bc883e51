# ruff: noqa: E501  (assembly reads better unbroken)
"""What gfx12 has of its own: counters for each kind of memory, barriers of two halves, floats in
scalar registers, minima with and without NaNs. And WMMA whose halves of a wave share K."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from asmlib import floats, halves, kernel, lanes, run, same
from test_amdgcn_matrix import encode, multiply, spread

import tile.sim
from tile.errors import TileError

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
u32, f32 = np.uint32, np.float32
GPU = "gfx1200"


def launch(body: str, block: int = 32) -> list[str]:
    """Kinds of what is found; v1 is the place of a work-item, s[8:9] and s[10:11] are arrays."""
    start = "s_load_b64 s[8:9], s[0:1], 0\ns_load_b64 s[10:11], s[0:1], 8\nv_lshlrev_b32 v1, 2, v0\ns_wait_kmcnt 0\n"
    arrays = [np.zeros(block, u32), np.arange(block, dtype=u32)]
    text = kernel(start + body, [8, 8], GPU, lds=4 * block)
    report = run(text, arrays, 1, block, raise_on_finding=False)
    return [f["kind"] for f in report.to_dict()["findings"]]


# A wait for each kind of memory, and one that does not help.
WAITS = {
    "loads": (
        "global_load_b32 v2, v1, s[10:11]\n{}\nglobal_store_b32 v1, v2, s[8:9]",
        ["s_wait_loadcnt 0", "s_wait_loadcnt_dscnt 0x0", "s_wait_loadcnt_dscnt 0x3f"],
        ["s_wait_loadcnt 1", "s_wait_dscnt 0", "s_wait_loadcnt_dscnt 0x100", "s_wait_kmcnt 0"],
    ),
    "LDS": (
        "ds_store_b32 v1, v0\nds_load_b32 v2, v1\n{}\nglobal_store_b32 v1, v2, s[8:9]",
        ["s_wait_dscnt 0", "s_wait_loadcnt_dscnt 0x3f00", "s_wait_storecnt_dscnt 0x3f00"],
        ["s_wait_loadcnt 0", "s_wait_dscnt 1", "s_wait_storecnt_dscnt 1", "s_wait_kmcnt 0"],
    ),
    "scalar memory": (
        "s_load_b32 s12, s[10:11], 0\n{}\nv_mov_b32 v2, s12\nglobal_store_b32 v1, v2, s[8:9]",
        ["s_wait_kmcnt 0"],
        ["s_wait_dscnt 0", "s_wait_loadcnt 0", "s_wait_kmcnt 1"],
    ),
    "LDS before a barrier": (
        "ds_store_b32 v1, v0\n{}\ns_barrier_signal -1\ns_barrier_wait -1\nds_load_b32 v2, v1\ns_wait_dscnt 0\nglobal_store_b32 v1, v2, s[8:9]",
        ["s_wait_dscnt 0"],
        ["s_nop 0", "s_wait_storecnt 0"],
    ),
}


@pytest.mark.parametrize("name", WAITS)
def test_waits(name):
    text, right, wrong = WAITS[name]
    for wait in right:
        assert launch(text.format(wait)) == [], wait
    for wait in wrong:
        assert set(launch(text.format(wait))) == {"missing-wait"}, wait


def test_barriers():
    """Each wave signals, then waits for the others."""
    text = "v_xor_b32 v3, 128, v1\nds_store_b32 v1, v0\ns_wait_dscnt 0\n{}\nds_load_b32 v2, v3\ns_wait_dscnt 0\nglobal_store_b32 v1, v2, s[8:9]"
    both = "s_barrier_signal -1\nv_mov_b32 v5, 0\ns_wait_alu depctr_sa_sdst(0) & depctr_va_vcc(0)\ns_barrier_wait 0xffff"
    assert launch(text.format(both), 64) == []
    assert "race" in launch(text.format(""), 64)
    for wrong, message in [
        (
            "s_barrier_signal -1\nds_load_b32 v4, v1\ns_barrier_wait -1",
            "between it and s_barrier_wait are not",
        ),
        ("s_barrier_signal -2\ns_barrier_wait -2", "only the barrier of the workgroup"),
    ]:
        with pytest.raises(TileError, match=message):
            tile.sim.load(kernel(wrong, [8], GPU))


def test_narrow_scalar_loads():
    x = np.array([0x80, 0x7F, 0xFF, 0x12, 0x34, 0x80, 0xFE, 0xFF], np.uint8)
    for name, dtype in (("u8", "u1"), ("i8", "i1"), ("u16", "<u2"), ("i16", "<i2")):
        values = x.view(dtype)
        for index in range(len(values)):
            body = f"""
	s_load_b64 s[8:9], s[0:1], 0
	s_load_b64 s[10:11], s[0:1], 8
	s_wait_kmcnt 0
	s_load_{name} s12, s[10:11], {index * values.itemsize}
	s_wait_kmcnt 0
	v_mov_b32 v1, 0
	v_mov_b32 v2, s12
	global_store_b32 v1, v2, s[8:9]
"""
            out = np.zeros(1, np.int32)
            run(kernel(body, [8, 8], GPU), [out, x], 1, 1)
            assert out[0] == values[index]


def scalar(text: str, operands: list[np.ndarray]) -> np.ndarray:
    """`text` on the values of each work-item, one after the other: s8, s9, s10 to s12; SCC in s13."""
    body = ["s_mov_b32 s20, 0", "s_mov_b32 s6, -1", "again:"]
    for i in range(len(operands)):
        body.append(f"v_readlane_b32 s{8 + i}, {{{i}}}, s20")
    body += ["s_mov_b32 s12, s10" if len(operands) > 2 else "s_mov_b32 s12, 0", text]
    body += ["s_cselect_b32 s13, 1, 0", "s_mov_b32 m0, s20"]
    body += [f"v_writelane_b32 {{d}}, {'s13' if '_cmp_' in text else 's12'}, m0"]
    body += ["s_add_u32 s20, s20, 1", "s_cmp_lt_u32 s20, 32", "s_cbranch_scc1 again"]
    return lanes("\n".join(body), operands, 1, GPU)


def test_floats_in_scalar_registers():
    a, b, c = (v[:544] for v in floats(288, 3))
    narrow = a.astype(np.float16)
    with np.errstate(all="ignore"):
        exact = [v.astype(np.longdouble) for v in (a, b, c)]
        for text, want in {
            "s_add_f32 s12, s8, s9": a + b,
            "s_sub_f32 s12, s8, s9": a - b,
            "s_mul_f32 s12, s8, s9": a * b,
            "s_mul_f32 s12, s8, 0x3e800000": a * f32(0.25),
            "s_trunc_f32 s12, s8": np.trunc(a),
            "s_floor_f32 s12, s8": np.floor(a),
            "s_ceil_f32 s12, s8": np.ceil(a),
            "s_rndne_f32 s12, s8": np.rint(a),
            "s_min_num_f32 s12, s8, s9": np.fmin(a, b),
            "s_minimum_f32 s12, s8, s9": np.minimum(a, b),
            "s_max_num_f32 s12, s8, s9": np.fmax(a, b),
            "s_maximum_f32 s12, s8, s9": np.maximum(a, b),
        }.items():
            got = scalar(text, [a, b]).view(f32)
            # Zeros have an order of their own, which NumPy's lack.
            same(np.where(got == 0, f32(0), got), np.where(want == 0, f32(0), want), text)
        fused = exact[0] * exact[1]
        normal = np.abs(fused + exact[2]) > np.finfo(f32).tiny
        normal |= fused + exact[2] == 0
        want = (fused + exact[2]).astype(f32)
        for text in ("s_fmac_f32 s12, s8, s9",):
            got = scalar(text, [a, b, c]).view(f32)
            same(got[normal], want[normal], text)
        got = scalar("s_fmaak_f32 s12, s8, s9, 0x40000000", [a, b]).view(f32)
        same(got[normal], (fused + 2).astype(f32)[normal])
        got = scalar("s_fmamk_f32 s12, s8, 0x40000000, s9", [a, b]).view(f32)
        same(got, (2 * exact[0] + exact[1]).astype(f32))
    same(scalar("s_cvt_f32_f16 s12, s8", [halves(narrow)]).view(f32), narrow.astype(f32))
    small = np.clip(a, -70000, 70000)
    got = scalar("s_cvt_f16_f32 s12, s8", [small])
    same(got.astype(np.uint16), small.astype(np.float16), "s_cvt_f16_f32")
    assert (got >> u32(16) == 0).all()
    high = halves(narrow) << u32(16)
    same(scalar("s_cvt_hi_f32_f16 s12, s8", [high]).view(f32), narrow.astype(f32))
    bits = a.view(u32)
    same(scalar("s_cvt_f32_u32 s12, s8", [bits]).view(f32), bits.astype(f32))
    same(scalar("s_cvt_f32_i32 s12, s8", [bits]).view(f32), bits.view(np.int32).astype(f32))
    finite = np.nan_to_num(np.trunc(a.astype(np.float64)), nan=0.0)
    for kind, low, most in (("i", -(2**31), 2**31 - 1), ("u", 0, 2**32 - 1)):
        want = np.clip(finite, low, most).astype(np.int64).astype(np.uint64).astype(u32)
        assert (scalar(f"s_cvt_{kind}32_f32 s12, s8", [a]) == want).all()
    with np.errstate(all="ignore"):
        near = np.clip(a, -60, 60)
        got = scalar("v_s_exp_f32 s12, -s8", [near]).view(f32)
        assert np.allclose(got, np.exp2(-near.astype(np.float64)), rtol=1e-6, equal_nan=True)
        got = scalar("v_s_rcp_f32 s12, |s8|", [near]).view(f32)
        assert np.allclose(got[near != 0], 1 / np.abs(near[near != 0]), rtol=1e-6, equal_nan=True)


def test_halves_in_scalar_registers():
    """The upper half of a register is not read, and becomes 0."""
    a, b, c = (v[:544] for v in floats(288, 3, np.float16))
    operands = [halves(v) for v in (a, b, c)]
    wide = [v.astype(f32) for v in (a, b, c)]
    with np.errstate(all="ignore"):
        for text, want in {
            "s_add_f16 s12, s8, s9": a + b,
            "s_sub_f16 s12, s8, s9": a - b,
            "s_mul_f16 s12, s8, s9": a * b,
            "s_mul_f16 s12, s8, 0.5": a * np.float16(0.5),
            "s_mul_f16 s12, s8, 0x3400": a * np.float16(0.25),
            "s_fmac_f16 s12, s8, s9": wide[0].astype(np.longdouble) * b + c,
            "s_trunc_f16 s12, s8": np.trunc(a),
            "s_floor_f16 s12, s8": np.floor(a),
            "s_ceil_f16 s12, s8": np.ceil(a),
            "s_rndne_f16 s12, s8": np.rint(a),
            "s_min_num_f16 s12, s8, s9": np.fmin(a, b),
            "s_minimum_f16 s12, s8, s9": np.minimum(a, b),
            "s_max_num_f16 s12, s8, s9": np.fmax(a, b),
            "s_maximum_f16 s12, s8, s9": np.maximum(a, b),
            "v_s_rcp_f16 s12, s8": 1 / a.astype(np.float64),
            "v_s_sqrt_f16 s12, |s8|": np.sqrt(np.abs(a.astype(np.float64))),
            "v_s_exp_f16 s12, -s8": np.exp2(-a.astype(np.float64)),
        }.items():
            got = scalar(text, operands if "fmac" in text else operands[:2])
            assert (got >> u32(16) == 0).all(), text
            got, want = got.astype(np.uint16).view(np.float16), want.astype(np.float16)
            # Zeros have an order of their own, which NumPy's lack.
            zero = np.float16(0)
            same(np.where(got == 0, zero, got), np.where(want == 0, zero, want), text)
    small = np.nan_to_num(np.clip(floats(32, 1)[0][:288], -60000, 60000))
    got = scalar("s_cvt_pk_rtz_f16_f32 s12, s8, s9", [small, small[::-1].copy()])
    for half, x in ((got & u32(0xFFFF), small), (got >> u32(16), small[::-1])):
        near = half.astype(np.uint16).view(np.float16)
        assert (np.abs(near.astype(f32)) <= np.abs(x)).all()
        assert (
            np.abs(
                np.nextafter(near, np.copysign(np.float16(np.inf), x.astype(np.float16))).astype(
                    f32
                )
            )
            > np.abs(x)
        ).all()
    a, b = a[:288], b[:288]
    for name, want in comparisons(a, b).items():
        assert (scalar(f"s_cmp_{name}_f16 s8, s9", [halves(a), halves(b)]) == want).all(), name


def comparisons(a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    unordered = np.isnan(a) | np.isnan(b)
    want = {"lt": a < b, "eq": a == b, "le": a <= b, "gt": a > b, "ge": a >= b}
    want["lg"] = (a != b) & ~unordered
    negated = {"nlt": "lt", "neq": "eq", "nle": "le", "ngt": "gt", "nge": "ge", "nlg": "lg"}
    want |= {name: ~want[of] for name, of in negated.items()}
    want |= {"o": ~unordered, "u": unordered}
    return want


def test_comparisons_of_scalar_floats():
    a, b = (v[:288] for v in floats(32, 2))
    for name, expected in comparisons(a, b).items():
        assert (scalar(f"s_cmp_{name}_f32 s8, s9", [a, b]) == expected).all(), name


def test_minima():
    """`num` prefers numbers, the others NaNs."""
    for kind, dtype, words in (("f32", f32, 1), ("f64", np.float64, 2), ("f16", np.float16, 1)):
        a, b = floats(64, 2, dtype)
        operands = [halves(a), halves(b)] if kind == "f16" else [a, b]
        for name, function in {
            "min_num": np.fmin, "max_num": np.fmax, "minimum": np.minimum, "maximum": np.maximum,
        }.items():  # fmt: skip
            got = lanes(f"v_{name}_{kind} {{d}}, {{0}}, {{1}}", operands, words, GPU)
            got = (got.astype(np.uint16) if kind == "f16" else got).view(dtype)
            want = function(a, b)
            same(np.where(got == 0, dtype(0), got), np.where(want == 0, dtype(0), want), name)
    a, b, c = floats(64, 3)
    for name, want in {
        "v_min3_num_f32": np.fmin(np.fmin(a, b), c),
        "v_maximum3_f32": np.maximum(np.maximum(a, b), c),
        "v_maxmin_num_f32": np.fmin(np.fmax(a, b), c),
        "v_minmax_num_f32": np.fmax(np.fmin(a, b), c),
        "v_maximumminimum_f32": np.minimum(np.maximum(a, b), c),
        "v_minimummaximum_f32": np.maximum(np.minimum(a, b), c),
    }.items():
        got = lanes(f"{name} {{d}}, {{0}}, {{1}}, {{2}}", [a, b, c], 1, GPU).view(f32)
        same(np.where(got == 0, f32(0), got), np.where(want == 0, f32(0), want), name)


def test_floats_of_8_bits():
    """Those of OCP."""
    bits = np.arange(256, dtype=u32)
    for name, dtype in (("fp8", ml_dtypes.float8_e4m3fn), ("bf8", ml_dtypes.float8_e5m2)):
        table = bits.astype(np.uint8).view(dtype).astype(f32)
        same(lanes(f"v_cvt_f32_{name} {{d}}, {{0}}", [bits], 1, GPU).view(f32), table, name)


OCP = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2}


def encoded(values: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    if kind not in OCP:
        return encode(values, kind)
    small = values.astype(f32).astype(OCP[kind])
    return small.view(np.uint8), small.astype(np.float64)


@pytest.mark.parametrize(
    ("name", "kinds", "result"),
    [("f32_16x16x16_f16", ("f16", "f16"), "f32"), ("f32_16x16x16_bf16", ("bf16", "bf16"), "f32"),
     ("f16_16x16x16_f16", ("f16", "f16"), "f16"), ("bf16_16x16x16_bf16", ("bf16", "bf16"), "bf16"),
     ("i32_16x16x16_iu8", ("i8", "i8"), "i32"), ("f32_16x16x16_fp8_fp8", ("fp8", "fp8"), "f32"),
     ("f32_16x16x16_fp8_bf8", ("fp8", "bf8"), "f32"), ("f32_16x16x16_bf8_fp8", ("bf8", "fp8"), "f32"),
     ("f32_16x16x16_bf8_bf8", ("bf8", "bf8"), "f32")],
)  # fmt: skip
def test_wmma(name, kinds, result):
    rng = np.random.default_rng(7)
    bits_a, a = encoded(rng.standard_normal((16, 16)), kinds[0])
    bits_b, b = encoded(rng.standard_normal((16, 16)), kinds[1])
    # Eight neighbours along K in a lane, the other eight in the lane 16 further.
    row, k = np.meshgrid(np.arange(16), np.arange(16), indexing="ij")
    words_a = spread(bits_a, row + 16 * (k // 8), k % 8, 8, 32)
    words_b = spread(np.ascontiguousarray(bits_b.T), row + 16 * (k // 8), k % 8, 8, 32)
    i, j = np.meshgrid(np.arange(16), np.arange(16), indexing="ij")
    lane, item = j + 16 * (i // 8), i % 8
    start = rng.standard_normal((16, 16)) * 4
    bits_c, c = ((start * 100).astype(np.int32),) * 2 if result == "i32" else encode(start, result)
    words_c = spread(bits_c, lane, item, 8, 32)
    suffix = " neg_lo:[1,1,0]" if result == "i32" else ""
    out = multiply(f"v_wmma_{name}", words_a, words_b, words_c, GPU, suffix=suffix)
    dtype = {"i32": np.int32, "f32": f32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}[result]
    got = np.ascontiguousarray(out.T).view(dtype)[lane, item].astype(np.float64)
    want = a @ b + c
    if kinds[0] in ("f16", "bf16"):
        # Signs of even and odd elements, and of what is added to.
        signs = " neg_lo:[0,1,1] neg_hi:[1,1,1]"
        out = multiply(f"v_wmma_{name}", words_a, words_b, words_c, GPU, suffix=signs)
        other = np.ascontiguousarray(out.T).view(dtype)[lane, item].astype(np.float64)
        odd = np.where(np.arange(16) % 2, -1, 1)
        wanted = (a * odd) @ -b - np.abs(c)
        assert np.allclose(other, wanted, rtol=1e-2, atol=1e-1)
    tolerance = {"i32": 0, "f32": 1e-6, "f16": 1e-3, "bf16": 1e-2}[result]
    assert np.allclose(got, want, rtol=tolerance, atol=tolerance)
