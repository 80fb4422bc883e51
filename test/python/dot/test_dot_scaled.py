"""Products of blocks in microscaling formats."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

M, N, K = 32, 16, 64
KINDS = {
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "bf16": ml_dtypes.bfloat16, "fp16": np.float16,
    "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
}  # fmt: skip
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float64)
E2M1 = np.concatenate([E2M1, -E2M1])


def operand(kind: str, rows: int, columns: int, axis: int, pack: bool, seed: int):
    """Bits of an operand whose inner dimension is `axis`, and what they stand for."""
    generator = np.random.default_rng(seed)
    if kind == "e2m1":
        codes = generator.integers(0, 16, (rows, columns)).astype(np.uint8)
        along = axis if pack else 1 - axis
        low = codes[::2] if along == 0 else codes[:, ::2]
        high = codes[1::2] if along == 0 else codes[:, 1::2]
        return np.ascontiguousarray(low | high << 4), E2M1[codes]
    numbers = generator.standard_normal((rows, columns)).astype(KINDS[kind])
    bits = numbers.view(np.uint8) if KINDS[kind](0).itemsize == 1 else numbers
    return bits, numbers.astype(np.float64)


@tile.jit
def kernel(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, out_ptr,
    A: tl.constexpr, B: tl.constexpr, AM: tl.constexpr, AK: tl.constexpr, BK: tl.constexpr,
    BN: tl.constexpr, A_SCALED: tl.constexpr, B_SCALED: tl.constexpr, PACK: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    m, n, s = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    a = tl.load(a_ptr + tl.arange(0, AM)[:, None] * AK + tl.arange(0, AK)[None, :])
    b = tl.load(b_ptr + tl.arange(0, BK)[:, None] * BN + tl.arange(0, BN)[None, :])
    a_scale = None
    b_scale = None
    if A_SCALED:
        a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + s[None, :])
    if B_SCALED:
        b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 32) + s[None, :])
    where = m[:, None] * N + n[None, :]
    c = tl.load(c_ptr + where)
    out = tl.dot_scaled(a, a_scale, A, b, b_scale, B, acc=c, lhs_k_pack=PACK, rhs_k_pack=PACK)
    tl.store(out_ptr + where, out)


def run(a_kind, b_kind, a_scaled=True, b_scaled=True, pack=True, m=M, n=N, k=K, **options):
    a, a_values = operand(a_kind, m, k, 1, pack, 1)
    b, b_values = operand(b_kind, k, n, 0, pack, 2)
    generator = np.random.default_rng(3)
    a_scale = generator.integers(120, 134, (m, k // 32)).astype(np.uint8)
    b_scale = generator.integers(120, 134, (n, k // 32)).astype(np.uint8)
    c = generator.standard_normal((m, n)).astype(np.float32)
    out = np.zeros((m, n), np.float32)
    compiled = kernel[(1,)](
        a, b, a_scale, b_scale, c, out, A=a_kind, B=b_kind, AM=a.shape[0], AK=a.shape[1],
        BK=b.shape[0], BN=b.shape[1], A_SCALED=a_scaled, B_SCALED=b_scaled, PACK=pack,
        M=m, N=n, K=k, **options,
    )  # fmt: skip
    if a_scaled:
        a_values = a_values * np.repeat(2.0 ** (a_scale.astype(int) - 127), 32, 1)
    if b_scaled:
        b_values = b_values * np.repeat(2.0 ** (b_scale.astype(int) - 127), 32, 1).T
    exact = a_values @ b_values + c
    size = np.abs(a_values) @ np.abs(b_values) + np.abs(c)
    # Multiplications are exact in fp32.
    assert (np.abs(out - exact) <= size * 1e-5).all()
    return compiled


FORMATS = ("e2m1", "e4m3", "e5m2")


@pytest.mark.parametrize("a_kind", FORMATS)
@pytest.mark.parametrize("b_kind", FORMATS)
def test_formats(a_kind, b_kind):
    run(a_kind, b_kind)


@pytest.mark.parametrize("kind", FORMATS)
def test_one_scale(kind):
    run(kind, kind, b_scaled=False)
    run(kind, kind, a_scaled=False)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("wide", ["bf16", "fp16"])
def test_a_wide_operand(kind, wide):
    run(kind, wide, b_scaled=False)
    run(wide, kind, a_scaled=False)


def test_packs_along_the_outer_dimensions():
    run("e2m1", "e2m1", pack=False)


@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 32), (64, 32, 128), (128, 16, 64)])
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_sizes(m, n, k, warps):
    run("e4m3", "e2m1", m=m, n=n, k=k, num_warps=warps)


@tile.jit
def special_kernel(
    a_ptr, b_ptr, scale_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    scale = tl.load(scale_ptr + m[:, None] + tl.arange(0, K // 32)[None, :])
    out = tl.dot_scaled(a, scale, "e4m3", b, None, "e4m3")
    tl.store(out_ptr + m[:, None] * N + n[None, :], out)


def test_a_scale_of_255_is_nan():
    one = np.array(1, ml_dtypes.float8_e4m3fn).view(np.uint8)
    a, b = np.full((16, 32), one), np.full((32, 16), one)
    scale = np.full(16, 127, np.uint8)
    scale[3], scale[5] = 255, 130
    out = np.zeros((16, 16), np.float32)
    special_kernel[(1,)](a, b, scale, out, M=16, N=16, K=32)
    assert np.isnan(out[3]).all()
    want = np.full(16, 32.0)
    want[5] = 256
    np.testing.assert_array_equal(np.delete(out, 3, 0), np.delete(np.tile(want, (16, 1)).T, 3, 0))


@tile.jit
def float_scales_kernel(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr,
    K: tl.constexpr,
):  # fmt: skip
    m, n, k, s = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 2), tl.arange(0, K // 16)
    a = tl.load(a_ptr + m[:, None] * (K // 2) + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 16) + s[None, :])
    b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 16) + s[None, :])
    out = tl.dot_scaled(a, a_scale, "e2m1", b, b_scale, "e2m1")
    tl.store(out_ptr + m[:, None] * N + n[None, :], out)


def test_scales_of_16_elements_are_floats_without_a_sign():
    a, a_values = operand("e2m1", M, K, 1, True, 1)
    b, b_values = operand("e2m1", K, N, 0, True, 2)
    scales = [
        np.random.default_rng(n).standard_normal((n, K // 16)).astype(ml_dtypes.float8_e4m3fn)
        for n in (M, N)
    ]
    scales[0][3, 1] = np.nan
    out = np.zeros((M, N), np.float32)
    float_scales_kernel[(1,)](a, b, *scales, out, M=M, N=N, K=K)
    factors = [np.repeat(np.abs(s.astype(np.float64)), 16, 1) for s in scales]
    x, y = a_values * factors[0], b_values * factors[1].T
    assert np.isnan(out[3]).all()
    out, x = np.delete(out, 3, 0), np.delete(x, 3, 0)
    assert (np.abs(out - x @ y) <= np.abs(x) @ np.abs(y) * 1e-5).all()
