"""Blocks whose extents are no powers of two: dots, against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from any_shape import run
from blocks import KINDS, offsets, put

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]


@tile.jit
def product_kernel(a_ptr, out_ptr, b_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    acc = tl.zeros((M, N), tl.float32 if a_ptr.dtype.element_ty != tl.int8 else tl.int32)
    for i in range(2):
        a = tl.load(a_ptr + i * M * K + offsets((M, K)))
        b = tl.load(b_ptr + i * K * N + offsets((K, N)))
        acc = tl.dot(a, b, acc)
    put(out_ptr, acc)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", ["fp16", "fp32", "bf16", "i8"])
@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(32, 96, 64), (48, 80, 96), (64, 192, 32), (16, 16, 80), (24, 40, 24), (17, 5, 9)],
)
def test_product(m, n, k, dtype):
    random = np.random.default_rng(3)
    a = random.integers(-4, 5, (2, m, k)).astype(KINDS[dtype])
    b = random.integers(-4, 5, (2, k, n)).astype(KINDS[dtype])
    kind = np.int32 if dtype == "i8" else np.float32
    got = run(product_kernel, a, (m, n), kind, b, M=m, N=n, K=k)
    want = (a.astype(np.float64) @ b.astype(np.float64)).sum(0)
    np.testing.assert_array_equal(got, want.astype(kind))


@tile.jit
def batched_kernel(a_ptr, out_ptr, b_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
                   K: tl.constexpr):  # fmt: skip
    a = tl.load(a_ptr + offsets((B, M, K)))
    put(out_ptr, tl.dot(a, tl.load(b_ptr + offsets((B, K, N)))))


def test_batched_product():
    random = np.random.default_rng(4)
    a = random.integers(-4, 5, (3, 16, 48)).astype(np.float16)
    b = random.integers(-4, 5, (3, 48, 24)).astype(np.float16)
    got = run(batched_kernel, a, (3, 16, 24), np.float32, b, B=3, M=16, N=24, K=48)
    np.testing.assert_array_equal(got, a.astype(np.float32) @ b.astype(np.float32))


@tile.jit
def scaled_kernel(a_ptr, out_ptr, b_ptr, as_ptr, bs_ptr, M: tl.constexpr, N: tl.constexpr,
                  K: tl.constexpr):  # fmt: skip
    a, b = tl.load(a_ptr + offsets((M, K))), tl.load(b_ptr + offsets((K, N)))
    a_scale = tl.load(as_ptr + offsets((M, K // 32)))
    b_scale = tl.load(bs_ptr + offsets((N, K // 32)))
    put(out_ptr, tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e4m3"))


# LLVM's register allocator takes 12 s for the last one on gfx1100, which is not of the first color.
@pytest.mark.sweep
@pytest.mark.parametrize(("m", "n", "k"), [(32, 96, 96), (48, 16, 160), (16, 24, 224)])
def test_scaled_product(m, n, k):
    random = np.random.default_rng(5)
    e4m3 = ml_dtypes.float8_e4m3fn
    a = random.integers(-4, 5, (m, k)).astype(e4m3)
    b = random.integers(-4, 5, (k, n)).astype(e4m3)
    a_scale = random.integers(126, 129, (m, k // 32)).astype(np.uint8)
    b_scale = random.integers(126, 129, (n, k // 32)).astype(np.uint8)
    got = run(scaled_kernel, a.view(np.uint8).view(e4m3), (m, n), np.float32, b, a_scale, b_scale,
              M=m, N=n, K=k)  # fmt: skip
    factor_a = np.repeat(2.0 ** (a_scale.astype(np.float64) - 127), 32, 1)
    factor_b = np.repeat(2.0 ** (b_scale.astype(np.float64) - 127), 32, 1).T
    want = (a.astype(np.float64) * factor_a) @ (b.astype(np.float64) * factor_b)
    np.testing.assert_array_equal(got, want.astype(np.float32))
