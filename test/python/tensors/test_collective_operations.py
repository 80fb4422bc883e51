"""Reductions, scans, sorting, shapes and dots, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from reference import close, poisoned, random

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


@tile.jit
def _offsets(shape: tl.constexpr):
    return tl.reshape(tl.arange(0, _numel(shape)), shape)


@tile.constexpr_function
def _numel(shape):
    result = 1
    for extent in shape:
        result *= extent
    return result


@tile.jit
def reduce_kernel(x_ptr, out_ptr, OP: tl.constexpr, AXIS: tl.constexpr, SHAPE: tl.constexpr):
    result = OP(tl.load(x_ptr + _offsets(SHAPE)), AXIS)
    if AXIS is None or len(SHAPE) == 1:
        tl.store(out_ptr, result)
    else:
        tl.store(out_ptr + _offsets(result.shape), result)


SHAPES = [(64,), (1,), (16, 32), (128, 2), (4, 8, 16), (2, 4, 2, 8), (2, 2, 4, 2, 4)]
CASES = [(s, a) for s in SHAPES for a in range(len(s))]


@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_sum(shape, axis):
    x = random(shape, "fp32", 1)
    expected = x.astype(np.float64).sum(axis=axis)
    out = poisoned(np.shape(expected) or (1,), "fp32")
    reduce_kernel[(1,)](x, out, OP=tl.sum, AXIS=axis, SHAPE=shape)
    close(out.reshape(np.shape(expected)), expected, "fp32", 50)


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "i8", "i32", "i64"])
@pytest.mark.parametrize(
    ("op", "reference"), [(tl.max, np.max), (tl.min, np.min)], ids=["max", "min"]
)
def test_extremes(dtype, op, reference):
    x = random((16, 64), dtype, 2)
    for axis in (0, 1):
        out = poisoned(x.shape[1 - axis], dtype)
        reduce_kernel[(1,)](x, out, OP=op, AXIS=axis, SHAPE=(16, 64))
        np.testing.assert_array_equal(out, reference(x, axis=axis))


@pytest.mark.parametrize("shape", [(64,), (16, 32), (4, 8, 16)])
def test_reduction_of_all_elements(shape):
    x = random(shape, "i32", 3)
    out = poisoned(1, "i32")
    reduce_kernel[(1,)](x, out, OP=tl.sum, AXIS=None, SHAPE=shape)
    assert out[0] == x.sum()
    reduce_kernel[(1,)](x, out, OP=tl.xor_sum, AXIS=None, SHAPE=shape)
    assert out[0] == np.bitwise_xor.reduce(x, axis=None)


def test_small_integers_are_summed_as_int32():
    x = np.full((4, 64), 100, np.int8)
    out = poisoned(4, "i32")
    reduce_kernel[(1,)](x, out, OP=tl.sum, AXIS=1, SHAPE=(4, 64))
    np.testing.assert_array_equal(out, [6400] * 4)


@pytest.mark.parametrize(
    ("op", "reference"), [(tl.argmax, np.argmax), (tl.argmin, np.argmin)], ids=["max", "min"]
)
@pytest.mark.parametrize(
    ("shape", "axis"), [((64,), 0), ((16, 32), 0), ((16, 32), 1), ((4, 8, 16), 1)]
)
def test_positions_of_extremes(op, reference, shape, axis):
    x = (random(shape, "i32", 4) // 100).astype(np.int32)  # Many ties.
    expected = reference(x, axis=axis)
    out = poisoned(np.shape(expected) or (1,), "i32")
    reduce_kernel[(1,)](x, out, OP=op, AXIS=axis, SHAPE=shape)
    np.testing.assert_array_equal(out.reshape(np.shape(expected)), expected)


@tile.jit
def _welford(mean1, m1, n1, mean2, m2, n2):
    n = n1 + n2
    delta = mean2 - mean1
    return mean1 + delta * n2 / n, m1 + m2 + delta * delta * n1 * n2 / n, n


@tile.jit
def welford_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    mean, m2, n = tl.reduce((x, tl.zeros_like(x), tl.full((N,), 1.0, tl.float32)), 0, _welford)
    tl.store(out_ptr, mean)
    tl.store(out_ptr + 1, m2 / n)


def test_reduction_of_tuples():
    x = random(512, "fp32", 5)
    out = poisoned(2, "fp32")
    welford_kernel[(1,)](x, out, N=512)
    close(out, [x.astype(np.float64).mean(), x.astype(np.float64).var()], "fp32", 20)


@tile.jit
def scan_kernel(
    x_ptr, out_ptr, OP: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr, SHAPE: tl.constexpr
):
    offsets = _offsets(SHAPE)
    tl.store(out_ptr + offsets, OP(tl.load(x_ptr + offsets), AXIS, REVERSE))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"), [((64,), 0), ((1024,), 0), ((16, 32), 0), ((16, 32), 1), ((4, 8, 16), 1)]
)
def test_cumsum(shape, axis, reverse):
    x = random(shape, "i32", 6)
    out = poisoned(shape, "i32")
    scan_kernel[(1,)](x, out, OP=tl.cumsum, AXIS=axis, REVERSE=reverse, SHAPE=shape)
    flipped = np.flip(x, axis) if reverse else x
    expected = np.cumsum(flipped, axis=axis)
    np.testing.assert_array_equal(out, np.flip(expected, axis) if reverse else expected)


def test_cumprod():
    x = np.linspace(0.9, 1.1, 128).astype(np.float32)
    out = poisoned(128, "fp32")
    scan_kernel[(1,)](x, out, OP=tl.cumprod, AXIS=0, REVERSE=False, SHAPE=(128,))
    close(out, np.cumprod(x.astype(np.float64)), "fp32", 50)


@tile.jit
def map_kernel(x_ptr, out_ptr, OP: tl.constexpr, SHAPE: tl.constexpr):
    y = OP(tl.load(x_ptr + _offsets(SHAPE)))
    tl.store(out_ptr + _offsets(y.shape), y)


def run_map(op, x, expected):
    out = np.empty_like(np.ascontiguousarray(expected))
    out.view(np.uint8)[...] = 0xA5
    map_kernel[(1,)](x, out, OP=op, SHAPE=x.shape)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("shape", [(16,), (256,), (8, 32)])
@pytest.mark.parametrize("dtype", ["fp32", "i32"])
def test_sort(shape, dtype):
    x = random(shape, dtype, 7)
    run_map(tl.sort, x, np.sort(x, axis=-1))


@tile.jit
def _sort_down(x):
    return tl.sort(x, descending=True)


@tile.jit
def _top8(x):
    return tl.topk(x, 8)


def test_sort_descending_and_topk():
    x = random((4, 64), "fp32", 8)
    down = -np.sort(-x, axis=-1)
    run_map(_sort_down, x, down)
    run_map(_top8, x, down[:, :8])


@tile.jit
def _permuted(x):
    return tl.permute(x, 2, 0, 1)


@tile.jit
def _joined(x):
    return tl.join(x, x + 1)


@tile.jit
def _interleaved(x):
    return tl.interleave(x, -x)


@tile.jit
def _halves(x):
    low, high = tl.split(x.reshape(x.shape[0], x.shape[1] // 2, 2))
    return low - high


@tile.jit
def _concatenated(x):
    return tl.cat(x, -x)


def test_shapes():
    x = random((4, 8, 16), "i32", 9)
    run_map(_permuted, x, x.transpose(2, 0, 1))
    x = random((8, 16), "i32", 9)
    run_map(_joined, x, np.stack([x, x + 1], -1))
    run_map(_interleaved, x, np.stack([x, -x], -1).reshape(8, 32))
    run_map(_halves, x, x[:, ::2] - x[:, 1::2])
    run_map(tl.trans, x, x.T)
    run_map(tl.ravel, x, x.ravel())
    run_map(_concatenated, x, np.concatenate([x, -x]))
    run_map(tl.flip, x, np.flip(x, -1))


@tile.jit
def gather_kernel(x_ptr, i_ptr, out_ptr, AXIS: tl.constexpr, SHAPE: tl.constexpr):
    offsets = _offsets(SHAPE)
    y = tl.gather(tl.load(x_ptr + offsets), tl.load(i_ptr + offsets), AXIS)
    tl.store(out_ptr + offsets, y)


@pytest.mark.parametrize("axis", [0, 1])
def test_gather(axis):
    x = random((16, 32), "fp32", 1)
    i = np.random.default_rng(0).integers(0, x.shape[axis], x.shape).astype(np.int32)
    out = poisoned(x.shape, "fp32")
    gather_kernel[(1,)](x, i, out, AXIS=axis, SHAPE=x.shape)
    np.testing.assert_array_equal(out, np.take_along_axis(x, i, axis))


@tile.jit
def histogram_kernel(x_ptr, out_ptr, n, N: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.arange(0, N)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=mask))


def test_histogram():
    x = np.random.default_rng(0).integers(0, 32, 500).astype(np.int32)
    out = poisoned(32, "i32")
    histogram_kernel[(1,)](x, out, 500, N=512, BINS=32)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=32))


@tile.jit
def dot_kernel(
    a_ptr,
    b_ptr,
    out_ptr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    PRECISION: tl.constexpr,
):
    a = tl.load(a_ptr + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    c = tl.dot(a, b, input_precision=PRECISION)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


@pytest.mark.parametrize(
    ("dtype", "out"), [("fp16", "fp32"), ("bf16", "fp32"), ("fp32", "fp32"), ("i8", "i32")]
)
@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 32), (64, 32, 64)])
def test_dot(dtype, out, m, n, k):
    a, b = random((m, k), dtype, 1), random((k, n), dtype, 2)
    c = poisoned((m, n), out)
    dot_kernel[(1,)](a, b, c, M=m, N=n, K=k, PRECISION="ieee")
    wide = np.int64 if dtype == "i8" else np.float64
    close(c, a.astype(wide) @ b.astype(wide), out, 30)


@tile.jit
def gemm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(
            a_ptr + rm[:, None] * K + (k + rk)[None, :],
            mask=(rm[:, None] < M) & ((k + rk)[None, :] < K),
            other=0.0,
        )
        b = tl.load(
            b_ptr + (k + rk)[:, None] * N + rn[None, :],
            mask=((k + rk)[:, None] < K) & (rn[None, :] < N),
            other=0.0,
        )
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
@pytest.mark.parametrize(("m", "n", "k"), [(128, 128, 128), (100, 70, 50)])
def test_gemm(dtype, m, n, k):
    a, b = random((m, k), dtype, 1), random((k, n), dtype, 2)
    c = poisoned((m, n), "fp32")
    gemm_kernel[(tile.cdiv(m, 64), tile.cdiv(n, 64))](a, b, c, m, n, k, BM=64, BN=64, BK=32)
    close(c, a.astype(np.float64) @ b.astype(np.float64), "fp32", 50)
