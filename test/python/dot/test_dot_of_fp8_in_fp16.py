"""Products of 8-bit floats that are added up in fp16."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned

import tile
import tile.language as tl

TYPES = {
    tl.float8e5: ml_dtypes.float8_e5m2, tl.float8e4nv: ml_dtypes.float8_e4m3fn,
}  # fmt: skip


@tile.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, K, A: tl.constexpr, B: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr,
):  # fmt: skip
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float16)
    for i in range(0, K, BK):
        inside = i + k < K
        a = tl.load(a_ptr + m[:, None] * K + i + k[None, :], mask=inside[None, :], other=0)
        b = tl.load(b_ptr + (i + k[:, None]) * BN + n[None, :], mask=inside[:, None], other=0)
        a, b = a.to(A, bitcast=True), b.to(B, bitcast=True)
        acc = tl.dot(a, b, acc=acc, out_dtype=tl.float16)
        acc = tl.dot(a, b, acc)  # The sum decides what the result is.
    tl.static_assert(acc.dtype == tl.float16)
    tl.store(c_ptr + m[:, None] * BN + n[None, :], acc)


@pytest.mark.parametrize("shape", [(64, 64, 32), (32, 16, 64)])
@pytest.mark.parametrize("types", [(a, b) for a in TYPES for b in TYPES])
def test_sums_in_fp16(types, shape):
    bm, bn, bk = shape
    length = 3 * bk - 5
    generator = np.random.default_rng(7)
    a, b = (
        (generator.standard_normal(extents) / 4).astype(TYPES[t])
        for t, extents in zip(types, ((bm, length), (length, bn)), strict=True)
    )
    out = poisoned((bm, bn), "fp16")
    matmul_kernel[(1,)](a.view(np.uint8), b.view(np.uint8), out, length, *types, *shape)
    expected = 2 * (a.astype(np.float64) @ b.astype(np.float64))
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=4e-3, atol=4e-3)


@tile.jit
def fp16_kernel(a_ptr, out_ptr):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    a = tl.load(a_ptr + at)
    acc = tl.dot(a, a, tl.full((16, 16), 3, tl.float16))
    tl.static_assert(acc.dtype == tl.float16)
    tl.static_assert(tl.dot(a, a, acc.to(tl.float32)).dtype == tl.float32)
    tl.static_assert(tl.dot(a, a, 0).dtype == tl.float32)
    tl.store(out_ptr + at, acc)


def test_a_sum_in_fp16_decides():
    a = (np.random.default_rng(1).integers(-8, 8, (16, 16)) / 4).astype(np.float16)
    out = poisoned((16, 16), "fp16")
    fp16_kernel[(1,)](a, out)
    assert np.array_equal(out, (3 + a.astype(np.float64) @ a).astype(np.float16))
