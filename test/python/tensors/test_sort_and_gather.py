"""Sorting, the largest elements, reversal, gathering, counting."""

from __future__ import annotations

import numpy as np
import pytest
from blocks import KINDS, offsets, put, values, warps_for

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


@tile.jit
def sort_kernel(x_ptr, up_ptr, down_ptr, DIM: tl.constexpr, SHAPE: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    put(up_ptr, tl.sort(x, DIM))
    put(down_ptr, tl.sort(x, dim=DIM, descending=True))


SHAPES = [(1,), (2,), (64,), (512,), (4, 16), (2, 4, 8), (2, 2, 2, 4)]


@pytest.mark.parametrize("dtype", KINDS)
def test_sort_of_all_types(dtype):
    x = values((4, 32), dtype, 1)
    up, down = np.zeros_like(x), np.zeros_like(x)
    sort_kernel[(1,)](x, up, down, DIM=None, SHAPE=x.shape, num_warps=warps_for(dtype))
    want = np.sort(x.astype(np.float64) if dtype == "bf16" else x, axis=-1).astype(x.dtype)
    np.testing.assert_array_equal(up, want)
    np.testing.assert_array_equal(down, want[:, ::-1])


@pytest.mark.parametrize("shape", SHAPES)
def test_sort_of_all_shapes(shape):
    x = values(shape, "i32", 2) % 50
    up, down = np.zeros_like(x), np.zeros_like(x)
    sort_kernel[(1,)](x, up, down, DIM=len(shape) - 1, SHAPE=shape, num_warps=warps_for(shape))
    np.testing.assert_array_equal(up, np.sort(x, axis=-1))
    np.testing.assert_array_equal(down, np.sort(x, axis=-1)[..., ::-1])


@tile.jit
def topk_kernel(x_ptr, out_ptr, K: tl.constexpr, SHAPE: tl.constexpr):
    put(out_ptr, tl.topk(tl.load(x_ptr + offsets(SHAPE)), K))


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["i32", "u32", "fp32", "i64", "fp16", "bf16", "i8", "u8", "fp64"])
@pytest.mark.parametrize(
    ("shape", "k"), [((64,), 8), ((64,), 64), ((64,), 1), ((4, 16), 2), ((2, 4, 8), 4)]
)
def test_topk(dtype, shape, k):
    x = values(shape, dtype, 3)
    wide = x.astype(np.float64) if dtype == "bf16" else x
    kind = np.dtype(KINDS[dtype])
    if kind.itemsize < 4:
        kind = np.dtype(np.int32 if kind.kind in "iu" else np.float32)
    want = np.sort(wide, axis=-1)[..., ::-1][..., :k].astype(kind)
    out = np.zeros(want.shape, kind)
    topk_kernel[(1,)](x, out, K=k, SHAPE=shape, num_warps=warps_for(shape, k))
    np.testing.assert_array_equal(out, want)


@tile.jit
def order_kernel(x_ptr, sorted_ptr, top_ptr, low_ptr, K: tl.constexpr, SHAPE: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    put(sorted_ptr, tl.sort(x))
    put(top_ptr, tl.topk(x, K))
    put(low_ptr, tl.topk(x, K, descending=False))


def total_order(x: np.ndarray) -> np.ndarray:
    """Of floats, as integers: the order of IEEE 754's totalOrder."""
    bits = x.view(f"i{x.itemsize}").astype(np.int64)
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_order_of_all_floats(kind, seed):
    """NaNs of both signs, zeros of both signs and infinities have their places, and none is lost:
    results are compared bit by bit."""
    random = np.random.default_rng(seed)
    rows, columns = int(2 ** random.integers(0, 4)), int(2 ** random.integers(1, 9))
    k = int(2 ** random.integers(0, columns.bit_length()))
    special = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0, -1.0], kind)
    x = random.standard_normal((rows, columns)).astype(kind)
    x = np.where(random.random(x.shape) < 0.5, random.choice(special, x.shape), x)
    in_order = np.take_along_axis(x, np.argsort(total_order(x), axis=-1, kind="stable"), -1)
    whole, top, low = np.zeros_like(x), np.zeros((rows, k), kind), np.zeros((rows, k), kind)
    order_kernel[(1,)](x, whole, top, low, K=k, SHAPE=x.shape)
    bits = f"u{x.itemsize}"
    np.testing.assert_array_equal(whole.view(bits), in_order.view(bits))
    np.testing.assert_array_equal(low.view(bits), in_order[:, :k].copy().view(bits))
    np.testing.assert_array_equal(top.view(bits), in_order[:, ::-1][:, :k].copy().view(bits))


@tile.jit
def merge_kernel(x_ptr, up_ptr, down_ptr, SHAPE: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    put(up_ptr, tl.bitonic_merge(x))
    put(down_ptr, tl.bitonic_merge(x, descending=True))


@pytest.mark.parametrize("shape", [(16,), (128,), (4, 32)])
def test_merge_of_a_rise_and_a_fall(shape):
    x = np.sort(values(shape, "i32", 4), axis=-1)
    half = shape[-1] // 2
    x = np.concatenate([x[..., ::2], x[..., ::-1][..., :half]], -1)
    up, down = np.zeros_like(x), np.zeros_like(x)
    merge_kernel[(1,)](x, up, down, SHAPE=shape)
    np.testing.assert_array_equal(up, np.sort(x, axis=-1))
    np.testing.assert_array_equal(down, np.sort(x, axis=-1)[..., ::-1])


@tile.jit
def flip_kernel(x_ptr, out_ptr, DIM: tl.constexpr, SHAPE: tl.constexpr):
    put(out_ptr, tl.flip(tl.load(x_ptr + offsets(SHAPE)), DIM))


@pytest.mark.parametrize("shape", SHAPES)
def test_flip(shape):
    for dtype in ("i32", "fp16", "i64", "u8"):
        x = values(shape, dtype, 5)
        for axis in (None, *range(len(shape)), -1):
            out = np.zeros_like(x)
            flip_kernel[(1,)](x, out, DIM=axis, SHAPE=shape, num_warps=warps_for(shape, dtype))
            np.testing.assert_array_equal(out, np.flip(x, -1 if axis is None else axis))


@tile.jit
def gather_kernel(
    x_ptr, i_ptr, out_ptr, AXIS: tl.constexpr, SHAPE: tl.constexpr, INDICES: tl.constexpr
):
    x = tl.load(x_ptr + offsets(SHAPE))
    put(out_ptr, tl.gather(x, tl.load(i_ptr + offsets(INDICES)), AXIS))


@pytest.mark.sweep
@pytest.mark.parametrize("shape", [(32,), (8, 16), (16, 2), (4, 2, 8), (2, 4, 2, 8)])
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "i64", "i8", "bf16"])
def test_gather(shape, dtype):
    x = values(shape, dtype, 6)
    generator = np.random.default_rng(7)
    for axis in range(len(shape)):
        for length in (shape[axis], 2 * shape[axis], 1):
            indices = (*shape[:axis], length, *shape[axis + 1 :])
            kind = (np.int32, np.int64, np.uint8)[axis % 3]
            i = generator.integers(0, shape[axis], indices).astype(kind)
            out = np.zeros(indices, x.dtype)
            gather_kernel[(1,)](
                x, i, out, AXIS=axis, SHAPE=shape, INDICES=indices, num_warps=warps_for(shape, axis)
            )
            np.testing.assert_array_equal(out, np.take_along_axis(x, i.astype(np.int64), axis))


@tile.jit
def histogram_kernel(x_ptr, out_ptr, n, BINS: tl.constexpr, MASK: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    if MASK:
        counts = tl.histogram(x, BINS, mask=i < n)
    else:
        counts = tl.histogram(x, BINS)
    tl.store(out_ptr + tl.arange(0, BINS), counts)


@pytest.mark.sweep
@pytest.mark.parametrize(("n", "bins"), [(32, 2), (64, 16), (512, 128), (1024, 8), (16, 256)])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8])
def test_histogram(n, bins, kind):
    warps = warps_for(n, bins)
    x = np.random.default_rng(8).integers(0, bins, n).astype(kind)
    out = np.full(bins, -1, np.int32)
    histogram_kernel[(1,)](x, out, 0, BINS=bins, MASK=False, N=n, num_warps=warps)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=bins))
    for part in (0, 1, n // 2 + 1, n):
        histogram_kernel[(1,)](x, out, part, BINS=bins, MASK=True, N=n, num_warps=warps)
        np.testing.assert_array_equal(out, np.bincount(x[:part], minlength=bins))
