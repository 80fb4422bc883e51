"""Whole kernels, run by the active driver and compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from reference import DTYPES, close, poisoned, random

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

ALL = ["fp16", "bf16", "fp32", "i32"]


@tile.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("n", [1, 16, 1000, 1024, 4097])
def test_vector_add_with_a_ragged_tail(dtype, n):
    x, y = random(n, dtype, 1), random(n, dtype, 2)
    out = poisoned(n + 8, dtype)
    before = out.copy()
    add_kernel[(tile.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
    close(out[:n], x + y, dtype)
    np.testing.assert_array_equal(out[n:].view(np.uint8), before[n:].view(np.uint8))


@pytest.mark.parametrize("warps", [1, 2, 8])
def test_vector_add_with_other_warp_counts(warps):
    n = 3000
    x, y = random(n, "fp32", 1), random(n, "fp32", 2)
    out = poisoned(n, "fp32")
    kernel = add_kernel[lambda meta: (tile.cdiv(n, meta["BLOCK"]),)](
        x, y, out, n, BLOCK=512, num_warps=warps
    )
    np.testing.assert_array_equal(out, x + y)
    assert kernel.num_warps == warps


def test_vector_add_of_unaligned_views():
    base = random(2001, "fp32", 3)
    x, y, out = base[1:1001], base[1001:2001], poisoned(1001, "fp32")[1:]
    add_kernel[(1,)](x, y, out, 1000, BLOCK=1024)
    np.testing.assert_array_equal(out, x + y)


@tile.jit
def softmax_kernel(x_ptr, out_ptr, x_stride, out_stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * x_stride + columns, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * out_stride + columns, y, mask=mask)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32"])
@pytest.mark.parametrize(
    ("rows", "columns"), [(3, 1), (2, 2), (5, 31), (4, 781), (2, 1024), (1, 4099), (2, 8192)]
)
def test_softmax(dtype, rows, columns):
    x = random((rows, columns), dtype, rows)
    out = poisoned((rows, columns), dtype)
    block = tile.next_power_of_2(columns)
    softmax_kernel[(rows,)](
        x, out, columns, columns, columns, BLOCK=block, num_warps=4 if block < 4096 else 8
    )
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(axis=1, keepdims=True))
    close(out, e / e.sum(axis=1, keepdims=True), dtype, 4)


@tile.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(x_ptr + rm[:, None] * N + rn[None, :], mask=(rm[:, None] < M) & (rn[None, :] < N))
    tl.store(
        out_ptr + rn[:, None] * M + rm[None, :],
        tl.trans(x),
        mask=(rn[:, None] < N) & (rm[None, :] < M),
    )


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize(("m", "n"), [(64, 64), (100, 37), (1, 129)])
def test_transpose(dtype, m, n):
    x = random((m, n), dtype, m)
    out = poisoned((n, m), dtype)
    transpose_kernel[(tile.cdiv(m, 64), tile.cdiv(n, 32))](x, out, m, n, BM=64, BN=32)
    np.testing.assert_array_equal(out, x.T)


@tile.jit
def argmax_kernel(x_ptr, value_ptr, index_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=-float("inf"))
    value, index = tl.max(x, axis=0, return_indices=True)
    tl.store(value_ptr + row, value)
    tl.store(index_ptr + row, index)


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32"])
@pytest.mark.parametrize("n", [1, 100, 1500])
def test_row_argmax(dtype, n):
    rows = 6
    x = random((rows, n), dtype, n)
    x[1] = x[0, 0]  # All equal: the first wins.
    values, indices = poisoned(rows, dtype), poisoned(rows, "i32")
    argmax_kernel[(rows,)](x, values, indices, n, n, BLOCK=tile.next_power_of_2(n))
    expected = x.astype(np.float64).argmax(axis=1)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(values, x[np.arange(rows), expected])


@tile.jit
def argmax_2d_kernel(x_ptr, index_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    x = tl.load(x_ptr + rm[:, None] * N + rn[None, :], mask=mask, other=-2147483648)
    tl.store(index_ptr + rm, tl.argmax(x, axis=1), mask=rm < M)


def test_row_argmax_of_integers():
    x = random((45, 100), "i32", 7)
    indices = poisoned(45, "i32")
    argmax_2d_kernel[(2,)](x, indices, 45, 100, BM=32, BN=128)
    np.testing.assert_array_equal(indices, x.argmax(axis=1))


@tile.jit
def copy_kernel(x_ptr, out_ptr, M, N, xs0, xs1, os0, os1, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    x = tl.load(x_ptr + rm[:, None] * xs0 + rn[None, :] * xs1, mask=mask)
    tl.store(out_ptr + rm[:, None] * os0 + rn[None, :] * os1, x, mask=mask)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("transposed", [False, True])
def test_masked_copy_with_strides(dtype, transposed):
    m, n = 50, 70
    base = random((m, 2 * n), dtype, 5)
    x = base[:, ::2]
    out = poisoned((n, m), dtype).T if transposed else poisoned((m, n), dtype)
    size = x.itemsize
    copy_kernel[(2, 3)](
        x, out, m, n, x.strides[0] // size, x.strides[1] // size,
        out.strides[0] // size, out.strides[1] // size,
        BM=32, BN=32,
    )  # fmt: skip
    np.testing.assert_array_equal(out, x)


@tile.jit
def loop_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr, tl.sum(acc, axis=0))


@pytest.mark.parametrize("n", [0, 5, 1000])
def test_sum_in_a_loop(n):
    x = random(max(n, 1), "fp32", 3)
    out = poisoned(1, "fp32")
    loop_kernel[(1,)](x, out, n, BLOCK=128)
    close(out, x[:n].astype(np.float64).sum(keepdims=True), "fp32", 100)


def test_every_type_is_copied_exactly():
    for dtype in DTYPES:
        x = random((16, 16), dtype, 1)
        out = poisoned((16, 16), dtype)
        copy_kernel[(1, 1)](x, out, 16, 16, 16, 1, 16, 1, BM=16, BN=16)
        np.testing.assert_array_equal(out, x)
