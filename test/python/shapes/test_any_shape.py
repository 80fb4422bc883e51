"""Blocks whose extents are no powers of two: every operation, against NumPy.

Outputs are poisoned and a little longer than the block, so that a store beyond it shows. The
simulator finds accesses out of bounds.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from blocks import KINDS, offsets, put, values, warps_for
from reference import sim_only

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]

#: One piece more than a power of two, one less, tails, several dimensions.
SHAPES = [(96,), (3,), (1000,), (7,), (12, 80), (48, 1), (2, 3, 20), (5, 4, 3)]
CASES = [(shape, axis) for shape in SHAPES for axis in range(len(shape))]
TAIL = 3


def poisoned(shape, dtype) -> np.ndarray:
    """A buffer for a result, and a few elements behind it."""
    size = int(np.prod(shape, dtype=np.int64)) + TAIL
    poison = np.arange(size, dtype=np.int64) * 37 + 11
    return (poison % 89).astype(dtype)


def taken(out: np.ndarray, shape) -> np.ndarray:
    """The result, once nothing behind it has changed."""
    assert (out[-TAIL:] == poisoned((out.size - TAIL,), out.dtype)[-TAIL:]).all()
    return out[:-TAIL].reshape(shape)


def run(kernel, x, shape, dtype, *arguments, **constants) -> np.ndarray:
    out = poisoned(shape, dtype)
    warps = warps_for(kernel.__name__, x.shape, constants)
    kernel[(1,)](x, out, *arguments, **constants, num_warps=warps)
    return taken(out, shape)


@tile.jit
def elementwise_kernel(x_ptr, out_ptr, n, SHAPE: tl.constexpr):
    place = offsets(SHAPE)
    mask = place < n
    x = tl.load(x_ptr + place, mask, other=1)
    y = tl.where(x > 0, x * 2, -x) + tl.full(SHAPE, 3, x.dtype)
    tl.store(out_ptr + place, tl.maximum(y, 5), mask)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", ["i32", "fp32", "i8", "fp16", "u64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_elementwise_with_ragged_bounds(shape, dtype):
    x = (values(shape, "i32", 1) % 20 - 10 * (dtype[0] != "u")).astype(KINDS[dtype])
    n = x.size - 2
    out = poisoned(shape, x.dtype)
    elementwise_kernel[(1,)](x, out, n, SHAPE=shape, num_warps=warps_for(shape, dtype))
    want = poisoned(shape, x.dtype)
    flat = x.ravel()[:n]
    want[:n] = np.maximum(np.where(flat > 0, flat * 2, -flat) + np.array(3, x.dtype), 5)
    np.testing.assert_array_equal(out, want)


@tile.jit
def broadcast_kernel(x_ptr, out_ptr, n, R: tl.constexpr, C: tl.constexpr):
    """Some of a tensor is broadcast to all of it, in another layout each time."""
    x = tl.load(x_ptr + offsets((R, C)))
    for _ in range(n):
        low = tl.sort(tl.min(x, 0, keep_dims=True))
        pair = tl.sum(tl.join(low, low), 0, keep_dims=True)
        x = (tl.cumsum(x, (1, 0)) ^ low) + tl.max(pair, 2)
    put(out_ptr, x)


@pytest.mark.parametrize("shape", [(118, 4), (16, 4), (12, 8)])
def test_layouts_do_not_grow_around_loops(shape):
    x = values(shape, "i32", 6) % 50
    got = run(broadcast_kernel, x, shape, np.int32, 3, R=shape[0], C=shape[1])
    want = x.copy()
    for _ in range(3):
        low = np.sort(want.min(0, keepdims=True))
        flat = np.cumsum(want.ravel(), dtype=np.int32).reshape(shape)
        want = (flat ^ low) + low
    np.testing.assert_array_equal(got, want)


@tile.jit
def constants_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(7, 7 + N)
    rows = i[:, None] * tl.full((N, 5), 2, tl.int32)
    wide = tl.broadcast_to(tl.arange(0, 5)[None, :], N, 5)
    put(out_ptr, rows + wide + tl.load(x_ptr) + rows.numel)


@pytest.mark.parametrize("n", [3, 6, 24, 100])
def test_ranges_constants_broadcasts(n):
    x = np.array([5], np.int32)
    got = run(constants_kernel, x, (n, 5), np.int32, N=n)
    np.testing.assert_array_equal(got, np.arange(7, 7 + n)[:, None] * 2 + np.arange(5) + 5 + n * 5)


@tile.jit
def along_kernel(x_ptr, out_ptr, OP: tl.constexpr, AXIS: tl.constexpr, SHAPE: tl.constexpr):
    put(out_ptr, OP(tl.load(x_ptr + offsets(SHAPE)), AXIS))


REDUCTIONS = {
    "sum": (tl.sum, np.sum), "max": (tl.max, np.max), "min": (tl.min, np.min),
    "xor": (tl.xor_sum, np.bitwise_xor.reduce), "argmax": (tl.argmax, np.argmax),
    "argmin": (tl.argmin, np.argmin),
}  # fmt: skip


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize(("shape", "axis"), [*CASES, ((3, 5, 7), None), ((96,), None)])
def test_reductions(name, shape, axis):
    operation, reference = REDUCTIONS[name]
    if axis is None and name == "xor":
        pytest.skip("NumPy's ufuncs take one axis")
    x = values(shape, "i32", 2, ties=name.startswith("arg"))
    with np.errstate(over="ignore"):
        options = {"dtype": np.int32} if name == "sum" else {}
        want = np.asarray(reference(x, axis=axis, **options))
    got = run(along_kernel, x, want.shape, np.int32, OP=operation, AXIS=axis, SHAPE=shape)
    np.testing.assert_array_equal(got, want)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", ["sum", "argmax", "cumsum"])
@pytest.mark.parametrize(
    ("shape", "axes"), [((3, 5, 7), (0, 2)), ((3, 5, 7), (1, 2)), ((4, 6, 2), (0, 2))]
)
def test_several_axes(shape, axes, name):
    """They are gone through row by row."""
    x = values(shape, "i32", 21, ties=name == "argmax")
    order = [*[d for d in range(len(shape)) if d not in axes], *axes]
    moved = x.transpose(order)
    rows = moved.reshape([*moved.shape[: len(shape) - len(axes)], -1])
    if name == "cumsum":
        want = rows.cumsum(-1, dtype=np.int32).reshape(moved.shape).transpose(np.argsort(order))
    else:
        want = rows.sum(-1, dtype=np.int32) if name == "sum" else rows.argmax(-1)
    got = run(along_kernel, x, want.shape, np.int32, OP=getattr(tl, name), AXIS=axes, SHAPE=shape)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16", "fp64", "u8", "i64"])
def test_sums_of_all_types(dtype):
    x = values((12, 80), dtype, 3)
    kind = np.dtype(KINDS[dtype])
    wanted = np.uint32 if kind == np.uint8 else kind
    want = x.astype(np.float64 if kind.kind not in "iu" else wanted).sum(axis=1, dtype=None)
    got = run(along_kernel, x, (12,), wanted, OP=tl.sum, AXIS=1, SHAPE=x.shape)
    np.testing.assert_array_equal(got, want.astype(wanted))


def test_nans_lose_against_numbers():
    x = values((96,), "fp32", 4)
    x[[0, 63, 64, 95]] = np.nan
    got = run(along_kernel, x, (), np.float32, OP=tl.max, AXIS=0, SHAPE=x.shape)
    assert got == np.nanmax(x)
    got = run(along_kernel, x, (), np.int32, OP=tl.argmax, AXIS=0, SHAPE=x.shape)
    assert got == np.nanargmax(x)
    got = run(along_kernel, np.full(96, np.nan, np.float32), (), np.int32, OP=tl.argmin, AXIS=0,
              SHAPE=(96,))  # fmt: skip
    assert got == 0


# A product of matrices of 2 x 2 is associative, but not commutative.


@tile.jit
def _multiply(a, b, c, d, e, f, g, h):
    return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h


@tile.jit
def _branching(a, b):
    # Keeps the last element that is not zero; branches.
    result = a
    if b != 0:
        result = b
    return result


@tile.jit
def chain_kernel(x_ptr, out_ptr, AXIS: tl.constexpr, SHAPE: tl.constexpr, SCAN: tl.constexpr,
                 REVERSE: tl.constexpr):  # fmt: skip
    place = offsets(SHAPE)
    size: tl.constexpr = place.numel
    x = tl.load(x_ptr + place)
    tuple = (x, x + 1, x * 2, x - 1)
    if SCAN:
        a, b, c, d = tl.associative_scan(tuple, AXIS, _multiply, reverse=REVERSE)
    else:
        a, b, c, d = tl.reduce(tuple, AXIS, _multiply)
        size: tl.constexpr = place.numel // SHAPE[AXIS]
    put(out_ptr, a)
    put(out_ptr + size, b)
    put(out_ptr + 2 * size, c)
    put(out_ptr + 3 * size, d)


def chained(x: np.ndarray, axis: int, scan: bool, reverse: bool) -> np.ndarray:
    matrices = np.stack([x, x + 1, x * 2, x - 1], -1).reshape(*x.shape, 2, 2)
    moved = np.moveaxis(matrices, axis, 0)
    if reverse:
        moved = moved[::-1]
    every = [moved[0]]
    with np.errstate(over="ignore"):
        for matrix in moved[1:]:
            every.append(every[-1] @ matrix)
    result = every[-1]
    if scan:
        result = np.stack(every[::-1] if reverse else every)
        result = np.moveaxis(result, 0, axis)
    return np.moveaxis(result.reshape(*result.shape[:-2], 4), -1, 0)


@pytest.mark.sweep
@pytest.mark.parametrize("way", ["reduce", "scan", "reverse"])
@pytest.mark.parametrize(("shape", "axis"), [((96,), 0), ((7,), 0), ((12, 20), 0), ((4, 13), 1)])
def test_order_of_combinations(shape, axis, way):
    x = values(shape, "i32", 5)
    want = chained(x, axis, way != "reduce", way == "reverse")
    got = run(chain_kernel, x, want.shape, np.int32, AXIS=axis, SHAPE=shape, SCAN=way != "reduce",
              REVERSE=way == "reverse")  # fmt: skip
    np.testing.assert_array_equal(got, want)


@tile.jit
def branching_kernel(x_ptr, out_ptr, AXIS: tl.constexpr, SHAPE: tl.constexpr):
    put(out_ptr, tl.reduce(tl.load(x_ptr + offsets(SHAPE)), AXIS, _branching))


@pytest.mark.parametrize(("shape", "axis"), [((96,), 0), ((12, 20), 0), ((12, 20), 1)])
def test_combinations_that_branch(shape, axis):
    x = values(shape, "i32", 6, ties=True)
    moved = np.moveaxis(x, axis, 0)
    want = moved[0]
    for row in moved[1:]:
        want = np.where(row != 0, row, want)
    got = run(branching_kernel, x, want.shape, np.int32, AXIS=axis, SHAPE=shape)
    np.testing.assert_array_equal(got, want)


@tile.jit
def scan_kernel(x_ptr, out_ptr, AXIS: tl.constexpr, REVERSE: tl.constexpr, SHAPE: tl.constexpr):
    put(out_ptr, tl.cumsum(tl.load(x_ptr + offsets(SHAPE)), AXIS, reverse=REVERSE))


@pytest.mark.sweep
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_scans(shape, axis, reverse):
    x = values(shape, "i32", 7)
    flipped = np.flip(x, axis) if reverse else x
    want = flipped.cumsum(axis=axis, dtype=np.int32)
    want = np.flip(want, axis) if reverse else want
    got = run(scan_kernel, x, shape, np.int32, AXIS=axis, REVERSE=reverse, SHAPE=shape)
    np.testing.assert_array_equal(got, want)


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


@tile.jit
def atomics_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    old = tl.atomic_add(out_ptr + i, x, mask=x > 0)
    tl.atomic_max(out_ptr + N + i % 5, tl.where(x > 0, old + x, x))
    tl.atomic_cas(out_ptr + N + 5 + i, i, x)


def test_atomics():
    n = 76
    x = values((n,), "i32", 15) % 1000
    out = np.concatenate([np.arange(n), np.full(5, -(2**31)), np.arange(n)]).astype(np.int32)
    atomics_kernel[(1,)](x, out, N=n)
    added = np.where(x > 0, np.arange(n) + x, np.arange(n))
    np.testing.assert_array_equal(out[:n], added)
    most = np.where(x > 0, added, x)
    np.testing.assert_array_equal(out[n : n + 5], [most[k::5].max() for k in range(5)])
    np.testing.assert_array_equal(out[n + 5 :], x)


@tile.jit(noinline=True)
def _called(x, y):
    return x + y, tl.sum(x * y)


@tile.jit
def control_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.int32)
    best = tl.load(x_ptr + i)
    for k in range(n):
        row = tl.load(x_ptr + k * N + i)
        if tl.sum(row) > 0:
            total += row
            best = tl.maximum(best, row)
        else:
            total -= row
    while tl.max(total) > 100:
        total = total // 2
    both, product = _called(total, best)
    tl.store(out_ptr + i, tl.where(product > 0, both, -both))


def test_control_flow_and_calls():
    n = 44
    x = values((6, n), "i32", 16) % 60 - 30
    got = run(control_kernel, x, (n,), np.int32, 6, N=n)
    total, best = np.zeros(n, np.int32), x[0]
    for row in x:
        if row.sum() > 0:
            total, best = total + row, np.maximum(best, row)
        else:
            total = total - row
    while total.max() > 100:
        total = np.trunc(total / 2).astype(np.int32)
    both = total + best
    np.testing.assert_array_equal(got, both if (total * best).sum() > 0 else -both)


@tile.jit
def _polynomial(x, y):
    return tl.where(x > y, x * y, x - y), x + y


@tile.jit
def _pairs(a, b):
    return a * 2, b * 2


@tile.jit
def map_kernel(x_ptr, out_ptr, SHAPE: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    size: tl.constexpr = x.numel
    a, b = tl.map_elementwise(_polynomial, x, x * 3 - 7)
    put(out_ptr, a)
    put(out_ptr + size, b)
    put(out_ptr + 2 * size, tl.map_elementwise(_pairs, x, pack=2))


@pytest.mark.parametrize("shape", [(12,), (3, 6)])
def test_map_elementwise(shape):
    x = values(shape, "i32", 17) % 50
    y = x * 3 - 7
    got = run(map_kernel, x, (3, x.size), np.int32, SHAPE=shape)
    np.testing.assert_array_equal(got[0], np.where(x > y, x * y, x - y).ravel())
    np.testing.assert_array_equal(got[1], (x + y).ravel())
    np.testing.assert_array_equal(got[2], x.ravel() * 2)


@tile.jit
def block_pointer_kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (1, 2), (M, N), (1, 0))
    x = tl.load(tl.advance(p, (1, 0)), boundary_check=(0, 1), padding_option="zero")
    q = tl.make_block_ptr(out_ptr, (rows, columns), (columns, 1), (2, 2), (M, N), (1, 0))
    tl.store(q, x * 2, boundary_check=(0, 1))


def test_block_pointers():
    x = values((9, 14), "i32", 18)
    out = np.full_like(x, 7)
    block_pointer_kernel[(1,)](x, out, 9, 14, M=6, N=20)
    want = np.full_like(x, 7)
    with np.errstate(over="ignore"):
        want[2:8, 2:] = x[2:8, 2:] * 2
    np.testing.assert_array_equal(out, want)


@tile.jit
def descriptor_kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [M, N])
    out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [M, N])
    out.store([3, 4], x.load([1, 0]) + 1)
    tl.debug_barrier()  # Another position of the block is there.
    out.atomic_add([0, 8], tl.full((M, N), 5, tl.int32))


def test_descriptors():
    x = values((12, 32), "i32", 19) % 1000
    out = np.zeros_like(x)
    tile.set_allocator(lambda size, align, stream: np.zeros(size, np.uint8))
    descriptor_kernel[(1,)](x, out, 12, 32, M=6, N=20)
    want = np.zeros_like(x)
    want[3:9, 4:24] = x[1:7, :20] + 1
    want[0:6, 8:28] += 5
    np.testing.assert_array_equal(out, want)


@tile.jit
def host_descriptor_kernel(odd, whole, out_ptr):
    a = odd.load([2, 8])
    b = whole.load([4, 0])
    put(out_ptr, a)
    put(out_ptr + a.numel, b)


def test_host_descriptors_beside_others():
    from tile.tools.tensor_descriptor import TensorDescriptor

    x = values((12, 32), "i32", 20)
    out = poisoned((6 * 20 + 8 * 16,), np.int32)
    odd = TensorDescriptor(x, [12, 32], [32, 1], [6, 20])
    whole = TensorDescriptor(x, [12, 32], [32, 1], [8, 16])
    host_descriptor_kernel[(1,)](odd, whole, out)
    got = taken(out, (6 * 20 + 8 * 16,))
    np.testing.assert_array_equal(got[:120], x[2:8, 8:28].ravel())
    np.testing.assert_array_equal(got[120:], x[4:12, :16].ravel())


@tile.jit
def printing_kernel(x_ptr, N: tl.constexpr):
    tl.device_print("x:", tl.load(x_ptr + tl.arange(0, N)))


@pytest.mark.compiled
def test_print_shows_the_indices_of_the_whole(capfd):
    x = np.arange(6, dtype=np.int32) * 10
    printing_kernel[(1,)](x, N=6)
    text = capfd.readouterr().out
    for i in range(6):
        assert any(f"({i})" in line and f" {i * 10}" in line for line in text.splitlines()), text


@tile.jit
def asserting_kernel(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_assert(x < 100, "too large")


@sim_only
def test_assert_looks_at_every_element():
    x = np.arange(96, dtype=np.int32)
    asserting_kernel[(1,)](x, N=96, debug=True)
    x[95] = 100
    with pytest.raises(Exception, match="too large"):
        asserting_kernel[(1,)](x, N=96, debug=True)
