"""Packed halves, pairs of floats, mixed precision, dot products."""

from __future__ import annotations

import numpy as np
import pytest
from asmlib import TARGETS, floats, integers, lanes, same

import tile

# NumPy warns of the special values that are the point here.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

u32, u64 = np.uint32, np.uint64


def pack(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return low.view(np.uint16).astype(u32) | high.view(np.uint16).astype(u32) << u32(16)


def parts(word: np.ndarray, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    return word.astype(np.uint16).view(dtype), (word >> u32(16)).astype(np.uint16).view(dtype)


@pytest.mark.parametrize("target", TARGETS)
def test_packed_halves(target):
    a, b = floats(300, 2, np.float16)
    c, d = floats(300, 2, np.float16, seed=1)
    x, y = pack(a, c), pack(b, d)
    with np.errstate(all="ignore"):
        low, high = parts(lanes("v_pk_add_f16 {d}, {0}, {1}", [x, y], 1, target), np.float16)
        same(low, a + b)
        same(high, c + d)
        text = "v_pk_mul_f16 {d}, {0}, {1} op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0] neg_hi:[0,1]"
        low, high = parts(lanes(text, [x, y], 1, target), np.float16)
        same(low, -c * b)
        same(high, a * -d)
        text = "v_pk_fma_f16 {d}, {0}, {1}, 1.0 op_sel_hi:[1,1,0]"
        low, high = parts(lanes(text, [x, y], 1, target), np.float16)
        exact = a.astype(np.float64) * b + 1
        same(low[np.abs(exact) < 1e4], exact.astype(np.float16)[np.abs(exact) < 1e4])


def test_packed_integers():
    x, y = integers(200, 2)
    for name, want in {
        "v_pk_add_u16": lambda a, b: a + b,
        "v_pk_sub_i16": lambda a, b: a - b,
        "v_pk_mul_lo_u16": lambda a, b: a * b,
        "v_pk_max_i16": np.maximum,
        "v_pk_min_i16": np.minimum,
        "v_pk_ashrrev_i16": lambda a, b: b >> (a & 15),
    }.items():
        (a, c), (b, d) = parts(x, np.int16), parts(y, np.int16)
        low, high = parts(lanes(f"{name} {{d}}, {{0}}, {{1}}", [x, y]), np.int16)
        same(low, want(a, b), name)
        same(high, want(c, d), name)


@pytest.mark.parametrize("type", [np.int16, np.uint16])
@pytest.mark.parametrize("name", ["add", "sub"])
def test_packed_sums_that_stay_in_range(name, type):
    """`clamp` of integers: they stop at the ends of their range."""
    x, y = integers(200, 2)
    compute = {"add": np.add, "sub": np.subtract}[name]
    limits = np.iinfo(type)
    text = f"v_pk_{name}_{'iu'[type is np.uint16]}16 {{d}}, {{0}}, {{1}} clamp"
    for a, b, got in zip(
        parts(x, type), parts(y, type), parts(lanes(text, [x, y]), type), strict=True
    ):
        want = compute(a.astype(np.int64), b.astype(np.int64))
        assert (want < limits.min).any() or (want > limits.max).any()
        same(got, np.clip(want, limits.min, limits.max).astype(type))


def test_pairs_of_floats():
    a, b = floats(200, 2)
    c, d = floats(200, 2, seed=2)
    join = lambda lo, hi: lo.view(u32).astype(u64) | hi.view(u32).astype(u64) << u64(32)  # noqa: E731
    x, y = join(a, c), join(b, d)
    with np.errstate(all="ignore"):
        got = lanes("v_pk_add_f32 {d}, {0}, {1}", [x, y], 2)
        same(got.astype(u32), a + b)
        same((got >> u64(32)).astype(u32), c + d)
        got = lanes(
            "v_pk_mul_f32 {d}, {0}, {1} op_sel:[1,0] op_sel_hi:[0,1] neg_hi:[1,0]", [x, y], 2
        )
        same(got.astype(u32), c * b)
        same((got >> u64(32)).astype(u32), -a * d)
    got = lanes("v_pk_mov_b32 {d}, {0}, {1} op_sel:[1,0]", [x, y], 2)
    assert (got == (x >> u64(32)) | (y & u64(0xFFFFFFFF)) << u64(32)).all()


@pytest.mark.parametrize("target", ["gfx90a", "gfx942"])
@pytest.mark.parametrize(
    ("constant", "bits"), [("0", 0), ("-1", 0xFFFFFFFF), ("64", 64), ("1.0", 0x3F800000)]
)
def test_moves_of_words_and_constants(constant, bits, target):
    """op_sel alone says which word of each source. A constant has a lower one."""
    (x,) = integers(100, 1, 64)
    for high in (0, 1):
        word = (x >> u64(32 * high)) & u64(0xFFFFFFFF)
        got = lanes(f"v_pk_mov_b32 {{d}}, {{0}}, {constant} op_sel:[{high},0]", [x], 2, target)
        assert (got == word | u64(bits) << u64(32)).all()
        got = lanes(f"v_pk_mov_b32 {{d}}, {constant}, {{0}} op_sel:[0,{high}]", [x], 2, target)
        assert (got == u64(bits) | word << u64(32)).all()
    if bits:
        with pytest.raises(tile.TileError, match="the upper half of the constant"):
            lanes(f"v_pk_mov_b32 {{d}}, {{0}}, {constant} op_sel:[0,1]", [x], 2, target)


def test_fused_pairs_of_floats():
    """Of integers: multiplied and added exactly, rounded once."""
    rng = np.random.default_rng(3)
    a, b, c, d = rng.integers(-(2**24), 2**24, (4, 200)).astype(np.float32)
    join = lambda lo, hi: lo.view(u32).astype(u64) | hi.view(u32).astype(u64) << u64(32)  # noqa: E731
    x, y = join(a, c), join(b, d)
    a64, b64, c64, d64 = (v.astype(np.float64) for v in (a, b, c, d))
    text = "v_pk_fma_f32 {d}, {0}, {1}, {0} op_sel:[0,0,1] op_sel_hi:[1,1,0] neg_lo:[0,0,1]"
    got = lanes(text, [x, y], 2)
    same(got.astype(u32), (a64 * b64 - c64).astype(np.float32))
    same((got >> u64(32)).astype(u32), (c64 * d64 + a64).astype(np.float32))
    got = lanes("v_pk_fma_f32 {d}, {0}, {1}, 1.0 op_sel_hi:[1,1,0] clamp", [x, y], 2)
    same(got.astype(u32), np.clip(a64 * b64 + 1, 0, 1).astype(np.float32))
    same((got >> u64(32)).astype(u32), np.clip(c64 * d64 + 1, 0, 1).astype(np.float32))


def test_pairs_of_floats_flush():
    """Subnormal numbers count as zero where the mode says so."""
    tiny = np.finfo(np.float32).tiny
    x = np.array([tiny / 2, tiny, 1.5 * tiny, -tiny / 4] * 16, np.float32)
    word = x.view(u32).astype(u64) * u64(2**32 + 1)
    flush = lambda v: np.where(np.abs(v) < tiny, np.copysign(np.float32(0), v), v)  # noqa: E731
    half, one = np.float32(0.5), np.float32(1)
    for mode, kept in ((0, False), (3, True)):
        directives = f"\t\t.amdhsa_float_denorm_mode_32 {mode}"
        for factor in (half, one):
            text = f"v_pk_mul_f32 {{d}}, {{0}}, {factor} op_sel_hi:[1,0]"
            want = x * factor if kept else flush(flush(x) * factor)
            got = lanes(text, [word], 2, directives=directives)
            same(got.astype(u32), want)
            same((got >> u64(32)).astype(u32), want)


@pytest.mark.parametrize("target", TARGETS)
def test_mixed(target):
    f, _ = floats(200, 2)
    h, g = (v.astype(np.float16) for v in floats(200, 2, np.float16, seed=4))
    word = pack(h, g)
    ok = np.isfinite(f) & (np.abs(f) < 1e3) & np.isfinite(h) & np.isfinite(g) & (np.abs(f) > 1e-3)
    text = "v_fma_mix_f32 {d}, {0}, {1}, {1} op_sel:[0,1,0] op_sel_hi:[0,1,1]"
    got = lanes(text, [f, word], 1, target).view(np.float32)
    want = (f.astype(np.float64) * g.astype(np.float64) + h.astype(np.float64)).astype(np.float32)
    same(got[ok], want[ok])
    text = "v_fma_mixhi_f16 {d}, {0}, 1.0, {1} op_sel_hi:[0,0,1]"
    got = lanes(text, [f, word], 1, target, start=np.full(len(f), 0x1234, u32))
    want = (f.astype(np.float64) + h.astype(np.float64)).astype(np.float16)
    assert (got[ok] & u32(0xFFFF) == 0x1234).all()
    same((got >> u32(16)).astype(np.uint16)[ok], want[ok])


def test_dot_products():
    x, y, z = integers(200, 3)

    def bytes_of(w, dtype):
        return np.ascontiguousarray(w).view(dtype).reshape(-1, 4).astype(np.int64)

    want = (bytes_of(x, np.int8) * bytes_of(y, np.int8)).sum(1) + z.view(np.int32)
    same(lanes("v_dot4_i32_i8 {d}, {0}, {1}, {2}", [x, y, z]), want.astype(u64).astype(u32))
    want = (bytes_of(x, np.int8) * bytes_of(y, np.uint8)).sum(1) + z.view(np.int32)
    got = lanes("v_dot4_i32_iu8 {d}, {0}, {1}, {2} neg_lo:[1,0,0]", [x, y, z], 1, "gfx1100")
    same(got, want.astype(u64).astype(u32))
    a, b = (np.clip(v, -50, 50) for v in floats(200, 2, np.float16))
    keep = ~(np.isnan(a) | np.isnan(b))
    got = lanes("v_dot2_f32_f16 {d}, {0}, {1}, 1.0", [pack(a, b), pack(b, b)]).view(np.float32)
    want = (a.astype(np.float64) * b + b.astype(np.float64) * b + 1).astype(np.float32)
    same(got[keep], want[keep])
