"""Masks that end inside of what an asynchronous copy moves.

The arrays end where the mask ends, so the simulator finds a copy that reads behind it.
"""

from __future__ import annotations

import numpy as np
import pytest
from machines import run_on
from reference import DTYPES, poisoned, random

import tile
import tile.language as tl

TARGETS = ("cuda:75", "cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "hip:gfx950", "hip:gfx1250")
#: From one row of a matrix to the next, whatever its columns are.
STRIDE = 128


@tile.jit
def product_kernel(
    a_ptr,
    b_ptr,
    out_ptr,
    K,
    columns,
    other: tl.constexpr,
    STRIDE: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    BLOCK: tl.constexpr,
):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BLOCK):
        inside = start + k < K
        a_ptrs = a_ptr + m[:, None] * STRIDE + start + k[None, :]
        b_ptrs = b_ptr + (start + k)[:, None] * STRIDE + n[None, :]
        b_mask = inside[:, None] & (n < columns)[None, :]
        a = tl.load(a_ptrs, mask=inside[None, :], other=other)
        b = tl.load(b_ptrs, mask=b_mask, other=other)
        total = tl.dot(a, b, total)
    tl.store(out_ptr + m[:, None] * N + n[None, :], total)


def cut(matrix: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The part of an array with so many rows and columns, which ends at its last element."""
    return matrix.ravel()[: (rows - 1) * matrix.shape[1] + columns].copy()


@pytest.mark.compiled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("other", [0.0, 1.0])
@pytest.mark.parametrize(("K", "columns"), [(1, 64), (31, 1), (65, 61), (127, 33), (100, 50)])
def test_products_of_rows_that_end_anywhere(K, columns, other, target, monkeypatch):
    run_on(target, monkeypatch)
    M, N, BLOCK = 32, 64, 32
    a, b = random((M, STRIDE), "fp16", K), random((STRIDE, STRIDE), "fp16", columns)
    out = poisoned((M, N), "fp32")
    blocks = tile.cdiv(K, BLOCK) * BLOCK
    left = np.full((M, blocks), other, np.float32)
    left[:, :K] = a[:, :K]
    right = np.full((blocks, N), other, np.float32)
    right[:K, :columns] = b[:K, :columns]
    product_kernel[(1,)](
        cut(a, M, K), cut(b, K, columns), out, K, columns, other, STRIDE, M, N, BLOCK
    )
    np.testing.assert_allclose(out, left @ right, rtol=1e-3, atol=1e-3)


@tile.jit
def sum_kernel(
    x_ptr,
    out_ptr,
    low,
    high,
    shape: tl.constexpr,
    ROWS: tl.constexpr,
    STRIDE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    rows, lanes = tl.arange(0, ROWS), tl.arange(0, BLOCK)
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in tl.range(0, STRIDE, BLOCK, num_stages=3):
        i = start + lanes
        if shape == "below":
            mask = i < high
        elif shape == "from":
            mask = i >= low
        else:
            mask = (i >= low) & (i < high)
        x = tl.load(x_ptr + rows[:, None] * STRIDE + i[None, :], mask=mask[None, :], other=0)
        total += x.to(tl.float32)
    tl.store(out_ptr + rows[:, None] * BLOCK + lanes[None, :], total)


@pytest.mark.compiled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["i8", "fp16", "fp32", "fp64"])
@pytest.mark.parametrize("shape", ["below", "from", "between"])
def test_sums_of_rows_that_begin_and_end_anywhere(shape, dtype, target, monkeypatch):
    run_on(target, monkeypatch)
    ROWS, BLOCK = 8, 32
    for low, high in ((0, 1), (5, 127), (33, 63), (17, 18), (120, 3), (0, 128)):
        i = np.arange(STRIDE)
        mask = (i < high if shape != "from" else True) & (i >= low if shape != "below" else True)
        mask = np.broadcast_to(mask, i.shape)
        columns = np.flatnonzero(mask)[-1] + 1 if mask.any() else 1
        x, out = random((ROWS, STRIDE), dtype, low), poisoned((ROWS, BLOCK), "fp32")
        expected = np.where(mask, x, DTYPES[dtype](0)).astype(np.float32)
        sum_kernel[(1,)](cut(x, ROWS, columns), out, low, high, shape, ROWS, STRIDE, BLOCK)
        expected = expected.reshape(ROWS, -1, BLOCK).sum(1)
        np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.compiled
@pytest.mark.nvidia("its assembly is PTX")
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90"])
def test_copies_are_whole_where_the_mask_ends_inside(target, monkeypatch):
    run_on(target, monkeypatch)
    a, b, out = (
        random((32, STRIDE), "fp16"),
        random((STRIDE, STRIDE), "fp16"),
        poisoned((32, 64), "fp32"),
    )
    kernel = product_kernel[(1,)](a, b, out, 65, 61, 0.0, STRIDE, 32, 64, 32)
    copies = [
        line for line in kernel.asm["ptx"].splitlines() if "cp.async" in line and "shared" in line
    ]
    assert copies
    assert all("], 16, %" in line for line in copies), copies
    assert "ld.global" not in kernel.asm["ptx"]
