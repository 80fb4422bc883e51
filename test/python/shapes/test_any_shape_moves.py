"""Blocks whose extents are no powers of two: other shapes and orders, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from any_shape import poisoned, run, taken
from blocks import KINDS, offsets, put, values, warps_for

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]


@tile.jit
def reshape_kernel(x_ptr, out_ptr, TO: tl.constexpr, SHAPE: tl.constexpr):
    put(out_ptr, tl.reshape(tl.load(x_ptr + offsets(SHAPE)), TO))


# The same pieces, halves of pieces, and so many that elements are gathered.
RESHAPES = [
    ((96,), (3, 32)), ((96,), (2, 48)), ((96,), (48, 2)), ((4, 96), (4, 2, 48)), ((96,), (1, 96)),
    ((4, 48, 2), (4, 96)), ((12, 20), (240,)), ((7, 9), (63,)), ((63,), (7, 9)),
    ((6, 10, 8), (60, 8)),
    ((24, 40), (960,)), ((13, 11), (11, 13)), ((2, 3, 20), (20, 6)), ((5, 1, 4), (20,)),
]  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", ["i32", "i8", "fp16", "i64"])
@pytest.mark.parametrize(("shape", "to"), RESHAPES)
def test_reshape(shape, to, dtype):
    x = values(shape, dtype, 8)
    got = run(reshape_kernel, x, to, x.dtype, TO=to, SHAPE=shape)
    np.testing.assert_array_equal(got, x.reshape(to))


# With padding they have more than 32 KiB, so that they are gathered in parts. A part is a stretch
# of rows, half of one, or the rows behind them. There are dimensions in front and behind, too.
LARGE = [
    ((40, 65), (2600,)), ((1, 65, 40), (2600,)), ((33, 130), (4290,)), ((17, 65, 2), (1105, 2)),
    ((2, 17, 130), (2, 130, 17)),
]  # fmt: skip


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("shape", "to"), LARGE)
def test_reshape_of_large_blocks(shape, to):
    x = values(shape, "i64", 8)
    got = run(reshape_kernel, x, to, x.dtype, TO=to, SHAPE=shape)
    np.testing.assert_array_equal(got, x.reshape(to))


@tile.jit
def masks_kernel(x_ptr, out_ptr, TO: tl.constexpr, SHAPE: tl.constexpr):
    positive = tl.reshape(tl.load(x_ptr + offsets(SHAPE)) > 0, TO)
    pointers = tl.reshape(x_ptr + offsets(SHAPE), TO)
    put(out_ptr, tl.where(positive, tl.load(pointers), 7))


@pytest.mark.parametrize(("shape", "to"), [((96,), (2, 48)), ((13, 11), (11, 13))])
def test_reshape_of_masks_and_pointers(shape, to):
    x = values(shape, "i32", 9)
    got = run(masks_kernel, x, to, np.int32, TO=to, SHAPE=shape)
    np.testing.assert_array_equal(got, np.where(x > 0, x, 7).reshape(to))


@tile.jit
def moves_kernel(x_ptr, out_ptr, ORDER: tl.constexpr, SHAPE: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    size: tl.constexpr = x.numel
    put(out_ptr, tl.permute(x, ORDER))
    put(out_ptr + size, tl.join(x, x * 2))
    low, high = tl.split(tl.join(x + 1, x + 2))
    put(out_ptr + 3 * size, low * high)
    put(out_ptr + 4 * size, tl.cat(x, x * 3, dim=0))
    put(out_ptr + 6 * size, tl.interleave(x, x * 5))
    put(out_ptr + 8 * size, tl.flip(x))


@pytest.mark.parametrize(
    ("shape", "order"),
    [((96,), (0,)), ((6, 20), (1, 0)), ((12, 12), (1, 0)), ((2, 3, 5), (2, 0, 1))],
)
def test_moves(shape, order):
    x = values(shape, "i32", 10) % 1000
    got = run(moves_kernel, x, (9, x.size), np.int32, ORDER=order, SHAPE=shape)
    np.testing.assert_array_equal(got[0], x.transpose(order).ravel())
    np.testing.assert_array_equal(got[1:3].ravel(), np.stack([x, x * 2], -1).ravel())
    np.testing.assert_array_equal(got[3], ((x + 1) * (x + 2)).ravel())
    np.testing.assert_array_equal(got[4:6].ravel(), np.concatenate([x, x * 3]).ravel())
    np.testing.assert_array_equal(got[6:8].ravel(), np.stack([x, x * 5], -1).ravel())
    np.testing.assert_array_equal(got[8], np.flip(x, -1).ravel())


@tile.jit
def unordered_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    both = tl.cat(x, x + 1000, can_reorder=True)
    put(out_ptr, tl.sort(both))
    put(out_ptr + 2 * N, tl.sort(tl.ravel(tl.view(x, (3, N // 3)), can_reorder=True)))


def test_reordered():
    x = values((48,), "i32", 11) % 1000
    got = run(unordered_kernel, x, (144,), np.int32, N=48)
    np.testing.assert_array_equal(got[:96], np.sort(np.concatenate([x, x + 1000])))
    np.testing.assert_array_equal(got[96:], np.sort(x))


@tile.jit
def sort_kernel(x_ptr, up_ptr, down_ptr, top_ptr, K: tl.constexpr, SHAPE: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    put(up_ptr, tl.sort(x))
    put(down_ptr, tl.sort(x, descending=True))
    put(top_ptr, tl.topk(x, K))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize(("shape", "k"), [((24,), 5), ((3, 20), 4), ((5, 8), 8), ((2, 16), 3)])
def test_sort(shape, k, dtype):
    x = values(shape, dtype, 12)
    kind = x.dtype
    wide = kind
    if kind.itemsize < 4:
        wide = np.dtype(np.int32 if kind.kind in "iu" else np.float32)
    up, down, top = poisoned(shape, kind), poisoned(shape, kind), poisoned((*shape[:-1], k), wide)
    sort_kernel[(1,)](x, up, down, top, K=k, SHAPE=shape, num_warps=warps_for(shape, dtype))
    want = np.sort(x.astype(np.float64) if dtype == "bf16" else x, axis=-1)
    np.testing.assert_array_equal(taken(up, shape), want.astype(kind))
    np.testing.assert_array_equal(taken(down, shape), want[..., ::-1].astype(kind))
    np.testing.assert_array_equal(
        taken(top, (*shape[:-1], k)), want[..., ::-1][..., :k].astype(wide)
    )


@tile.jit
def sort_only_kernel(x_ptr, out_ptr, DOWN: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i), descending=DOWN))


@pytest.mark.sweep
@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_sort_loses_no_element(dtype, down):
    """Infinities, NaNs and zeros of both signs are elements like others."""
    x = values((28,), dtype, 13)
    x[[1, 5, 9, 20]] = np.inf, -np.inf, np.nan, -np.nan
    x[[2, 27]] = 0.0, -0.0
    got = run(sort_only_kernel, x, (28,), x.dtype, DOWN=down, N=28)
    bits = np.dtype(f"u{x.dtype.itemsize}")
    assert sorted(got.view(bits)) == sorted(x.view(bits))
    numbers = got[~np.isnan(got)].astype(np.float64)
    assert (np.diff(numbers) <= 0).all() if down else (np.diff(numbers) >= 0).all()


@tile.jit
def parts_kernel(x_ptr, out_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.load(x_ptr + offsets((ROWS, COLUMNS)))
    put(out_ptr, x[:, 1:4])
    put(out_ptr + 3 * ROWS, x[n])
    put(out_ptr + 3 * ROWS + COLUMNS, x.at[1:, ::2].set(7))
    put(out_ptr + 3 * ROWS + COLUMNS + x.numel, x[::-1, -2])


@pytest.mark.parametrize("shape", [(6, 20), (3, 7), (8, 12), (5, 16)])
def test_indices_and_slices(shape):
    x = values(shape, "i32", 22)
    changed = x.copy()
    changed[1:, ::2] = 7
    want = [x[:, 1:4], x[2], changed, x[::-1, -2]]
    size = sum(part.size for part in want)
    got = run(parts_kernel, x, (size,), np.int32, 2, ROWS=shape[0], COLUMNS=shape[1])
    np.testing.assert_array_equal(got, np.concatenate([part.ravel() for part in want]))


@tile.jit
def gather_kernel(x_ptr, out_ptr, i_ptr, AXIS: tl.constexpr, SHAPE: tl.constexpr,
                  FROM: tl.constexpr):  # fmt: skip
    x = tl.load(x_ptr + offsets(FROM))
    put(out_ptr, tl.gather(x, tl.load(i_ptr + offsets(SHAPE)), AXIS))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kind", [np.int32, np.int8, np.int64])
@pytest.mark.parametrize(
    ("source", "shape", "axis"),
    [((96,), (40,), 0), ((64,), (96,), 0), ((96,), (32,), 0), ((6, 20), (6, 9), 1),
     ((20, 6), (3, 6), 0)],
)  # fmt: skip
def test_gather(source, shape, axis, kind):
    x = values(source, "fp32", 14)
    index = np.random.default_rng(1).integers(0, source[axis], shape).astype(kind)
    got = run(gather_kernel, x, shape, np.float32, index, AXIS=axis, SHAPE=shape, FROM=source)
    np.testing.assert_array_equal(got, np.take_along_axis(x, index.astype(np.int64), axis))


@tile.jit
def histogram_kernel(x_ptr, out_ptr, BINS: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    put(out_ptr, tl.histogram(x, BINS))
    put(out_ptr + BINS, tl.histogram(x, BINS, mask=tl.arange(0, N) % 3 != 0))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", ["i32", "i8", "u8", "i64"])
@pytest.mark.parametrize(("n", "bins"), [(96, 10), (300, 48), (64, 100), (24, 384), (100, 16)])
def test_histogram(n, bins, dtype):
    low = 0 if dtype[0] == "u" else -5
    x = np.random.default_rng(2).integers(low, min(bins + 6, 127), n).astype(KINDS[dtype])
    got = run(histogram_kernel, x, (2, bins), np.int32, BINS=bins, N=n)
    inside = x.view(f"u{x.itemsize}") < bins
    for counted, row in ((inside, 0), (inside & (np.arange(n) % 3 != 0), 1)):
        want = np.bincount(x.view(f"u{x.itemsize}")[counted].astype(np.int64), minlength=bins)
        np.testing.assert_array_equal(got[row], want)
