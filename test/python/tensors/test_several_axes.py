"""Reductions and scans over several axes: every set of them, against NumPy; masks, aggregates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from blocks import KINDS, offsets, put, values, warps_for
from frontend import refusal

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]

SHAPES = [(8, 16), (4, 2, 8), (16, 1, 4), (2, 4, 2, 8)]
#: Every set of axes, in an order and with signs that depend on it.
CASES = [
    (shape, tuple(a - len(shape) if a % 2 else a for a in reversed(axes)))
    for shape in SHAPES
    for count in range(1, len(shape) + 1)
    for axes in itertools.combinations(range(len(shape)), count)
]


@tile.jit
def reduce_kernel(
    x_ptr, out_ptr, flat_ptr, OP: tl.constexpr, AXES: tl.constexpr, SHAPE: tl.constexpr
):
    x = tl.load(x_ptr + offsets(SHAPE))
    put(out_ptr, OP(x, AXES, keep_dims=True).to(tl.int32))
    put(flat_ptr, OP(x, AXES).to(tl.int32))


def last(x: np.ndarray, axes) -> np.ndarray:
    """The axes as one last dimension, in order; what is left keeps one element for each of them."""
    axes = sorted(a % x.ndim for a in axes)
    moved = np.moveaxis(x, axes, range(-len(axes), 0))
    return moved.reshape(*moved.shape[: x.ndim - len(axes)], -1)


def kept(shape, axes) -> tuple[int, ...]:
    axes = {a % len(shape) for a in axes}
    return tuple(1 if d in axes else e for d, e in enumerate(shape))


OPERATIONS = {
    tl.sum: lambda x: x.sum(-1, dtype=np.int32), tl.max: lambda x: x.max(-1),
    tl.min: lambda x: x.min(-1), tl.xor_sum: lambda x: np.bitwise_xor.reduce(x, -1),
    tl.reduce_or: lambda x: np.bitwise_or.reduce(x, -1), tl.argmax: lambda x: x.argmax(-1),
    tl.argmin: lambda x: x.argmin(-1), tl.any: lambda x: x.any(-1), tl.all: lambda x: x.all(-1),
}  # fmt: skip


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_sets_of_axes(shape, axes):
    for seed, (op, expected) in enumerate(OPERATIONS.items()):
        x = values(shape, "i32", seed, ties=op not in (tl.sum, tl.xor_sum))
        if op is tl.any:
            x *= x == 3
        want = expected(last(x, axes)).astype(np.int32)
        out, flat = np.full(kept(shape, axes), -7, np.int32), np.full(want.size, -7, np.int32)
        warps = warps_for(shape, axes, seed)
        reduce_kernel[(1,)](x, out, flat, OP=op, AXES=axes, SHAPE=shape, num_warps=warps)
        np.testing.assert_array_equal(out.ravel(), want.ravel(), f"{op.__name__}, {warps} warps")
        np.testing.assert_array_equal(flat, want.ravel(), f"{op.__name__}, {warps} warps")


@pytest.mark.parametrize("dtype", KINDS)
def test_types(dtype):
    x = values((4, 8, 16), dtype, 3)
    kind = np.dtype(KINDS[dtype])
    small = kind.itemsize < 4 and kind.kind in "iu"
    wide = (np.int32 if kind.kind == "i" else np.uint32) if small else KINDS[dtype]
    want = x.astype(wide).sum((0, 2), dtype=wide)
    out = np.zeros(8, wide)
    sum_kernel[(1,)](x, out, num_warps=warps_for(dtype))
    np.testing.assert_array_equal(out, want)


@tile.jit
def sum_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + offsets((4, 8, 16)))
    tl.store(out_ptr + tl.arange(0, 8), tl.sum(x, (0, 2)))


@tile.jit
def indices_kernel(
    x_ptr, v_ptr, i_ptr, OP: tl.constexpr, AXES: tl.constexpr, LEFT: tl.constexpr,
    SHAPE: tl.constexpr,
):  # fmt: skip
    x = tl.load(x_ptr + offsets(SHAPE))
    value, index = OP(x, AXES, True, LEFT, True)
    put(v_ptr, value)
    put(i_ptr, index)


def first_best(x: np.ndarray, largest: bool) -> np.ndarray:
    """The lowest index of the best number of each row; 0 if all are NaN."""
    worst = -np.inf if largest else np.inf
    wide = np.where(np.isnan(x), worst, x)
    best = wide.max(-1) if largest else wide.min(-1)
    return ((wide == best[..., None]) & ~np.isnan(x)).argmax(-1).astype(np.int32)


@pytest.mark.sweep
@pytest.mark.parametrize("axes", [(0, 2), (1, 2), (0, 1), (2,), None])
@pytest.mark.parametrize("name", ["max", "min"])
def test_of_equals_the_lowest_index_counts(name, axes):
    shape = (4, 8, 16)
    for seed, left in enumerate((True, False)):
        chance = np.random.default_rng(seed)
        x = chance.choice([-2, -0.0, 0.0, 1, 1, np.nan], shape).astype(np.float32)
        x[0] = np.where(chance.random(shape[1:]) < 0.5, np.nan, x[0])
        x[:, 3] = np.nan
        named = (0, 1, 2) if axes is None else axes
        rows = last(x, named)
        want = first_best(rows, name == "max")
        best = np.take_along_axis(rows, want[..., None], -1)[..., 0]
        value, index = np.zeros(want.size, np.float32), np.full(want.size, -1, np.int32)
        indices_kernel[(1,)](
            x, value, index, OP=getattr(tl, name), AXES=axes, LEFT=left, SHAPE=shape,
            num_warps=warps_for(name, axes),
        )  # fmt: skip
        np.testing.assert_array_equal(index, want.ravel())
        np.testing.assert_array_equal(value, best.ravel())


# Functions that are not commutative: elements are combined in their order, row by row.


@tile.jit
def affine(a, b, c, d):
    return a * c, b * c + d


@tile.jit
def ordered_kernel(
    x_ptr, y_ptr, p_ptr, q_ptr, s_ptr, t_ptr, AXES: tl.constexpr, REVERSE: tl.constexpr,
    SHAPE: tl.constexpr,
):  # fmt: skip
    x, y = tl.load(x_ptr + offsets(SHAPE)), tl.load(y_ptr + offsets(SHAPE))
    p, q = tl.reduce((x, y), AXES, affine)
    put(p_ptr, p)
    put(q_ptr, q)
    s, t = tl.associative_scan((x, y), AXES, affine, REVERSE)
    put(s_ptr, s)
    put(t_ptr, t)


def scanned(x: np.ndarray, y: np.ndarray, axes, reverse: bool) -> list[np.ndarray]:
    """Both parts of the scan, in the shape of the blocks."""
    flip = slice(None, None, -1 if reverse else 1)
    rows = [last(v, axes)[..., flip].copy() for v in (x, y)]
    with np.errstate(over="ignore"):
        for k in range(1, rows[0].shape[-1]):
            c, d = rows[0][..., k].copy(), rows[1][..., k].copy()
            rows[0][..., k] = rows[0][..., k - 1] * c
            rows[1][..., k] = rows[1][..., k - 1] * c + d
    axes = sorted(a % x.ndim for a in axes)
    moved = np.moveaxis(x, axes, range(-len(axes), 0)).shape
    return [np.moveaxis(r[..., flip].reshape(moved), range(-len(axes), 0), axes) for r in rows]


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_elements_are_combined_in_order(shape, axes):
    chance = np.random.default_rng(9)
    x = chance.integers(-3, 4, shape, dtype=np.int32)
    y = chance.integers(-99, 99, shape, dtype=np.int32)
    reverse = bool(sum(axes) % 2)
    s, t = scanned(x, y, axes, reverse)
    p, q = (last(v, axes)[..., -1] for v in scanned(x, y, axes, False))
    out = [np.full(max(v.size, 1), -7, np.int32) for v in (p, q, s, t)]
    ordered_kernel[(1,)](
        x, y, *out, AXES=axes, REVERSE=reverse, SHAPE=shape, num_warps=warps_for(axes, shape)
    )
    for found, want in zip(out, (p, q, s, t), strict=True):
        np.testing.assert_array_equal(found, want.ravel())


# Named scans.


@tile.jit
def scan_kernel(
    x_ptr, out_ptr, i_ptr, OP: tl.constexpr, AXES: tl.constexpr, REVERSE: tl.constexpr,
    INDICES: tl.constexpr, SHAPE: tl.constexpr,
):  # fmt: skip
    x = tl.load(x_ptr + offsets(SHAPE))
    if INDICES:
        value, index = OP(x, AXES, REVERSE, return_indices=True)
        put(i_ptr, index)
    else:
        value = OP(x, AXES, REVERSE)
    put(out_ptr, value)


def best_so_far(row: np.ndarray, largest: bool) -> tuple[list, list[int]]:
    """Of one row, by a loop: a number beats NaN, and of equals the one that was first counts."""
    best, at, found = row[0], 0, []
    for i, v in enumerate(row):
        better = v > best if largest else v < best
        if better or (np.isnan(best) and not np.isnan(v)):
            best, at = v, i
        found.append((best, at))
    return [f[0] for f in found], [f[1] for f in found]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_extremes_so_far(name, reverse):
    for seed, (dtype, shape, axis) in enumerate([
        ("fp32", (8, 16), 1), ("fp16", (4, 4, 8), (0, 2)), ("i16", (64,), 0), ("u32", (8, 8), None),
        ("bf16", (16, 4), 0),
    ]):  # fmt: skip
        x = values(shape, dtype, seed, ties=bool(seed % 2))
        if dtype[0] in "fb":
            x[np.random.default_rng(seed).random(shape) < 0.3] = np.nan
        axes = tuple(range(len(shape))) if axis is None else np.atleast_1d(axis).tolist()
        rows = last(x, axes)
        flip = slice(None, None, -1 if reverse else 1)
        want, place = np.empty_like(rows), np.empty(rows.shape, np.int32)
        for at in np.ndindex(rows.shape[:-1]):
            row = rows[at][flip].astype(np.float64)
            best, index = best_so_far(row, name == "cummax")
            want[at][flip] = best
            place[at][flip] = [len(row) - 1 - i for i in index] if reverse else index
        for indices in (False, True):
            out, index = np.zeros_like(x), np.full(shape, -1, np.int32)
            scan_kernel[(1,)](
                x, out, index, OP=getattr(tl, name), AXES=axis, REVERSE=reverse, INDICES=indices,
                SHAPE=shape, num_warps=warps_for(name, seed),
            )  # fmt: skip
            found = last(out, axes)
            np.testing.assert_array_equal(found.astype(np.float64), want.astype(np.float64))
            if indices:
                np.testing.assert_array_equal(last(index, axes), place)


@pytest.mark.parametrize("dtype", ["fp32", "fp64", "fp16"])
def test_sums_of_exponentials_so_far(dtype):
    chance = np.random.default_rng(4)
    x = (chance.standard_normal((8, 32)) * 200).astype(KINDS[dtype])
    x[1, :4] = -np.inf
    x[2] = -np.inf
    x[3, 7] = np.inf
    x[4, 9] = np.nan
    for reverse in (False, True):
        out = np.zeros_like(x)
        scan_kernel[(1,)](
            x, out, np.zeros(1, np.int32), OP=tl.cumlogsumexp, AXES=1, REVERSE=reverse,
            INDICES=False, SHAPE=x.shape, num_warps=warps_for(dtype),
        )  # fmt: skip
        flip = slice(None, None, -1 if reverse else 1)
        with np.errstate(invalid="ignore"):
            wide = np.logaddexp.accumulate(x.astype(np.float64)[:, flip], axis=1)[:, flip]
        np.testing.assert_allclose(
            out, wide, {"fp32": 1e-5, "fp64": 1e-12, "fp16": 2e-3}[dtype], 1e-5
        )


# Masks and identities.


@tile.jit
def larger_by_size(a, b):
    return tl.where(a * a >= b * b, a, b)


@tile.jit
def masked_kernel(x_ptr, out_ptr, OP: tl.constexpr, IDENTITY: tl.constexpr, SHAPE: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    mask = x % 3 != 0
    put(out_ptr, tl.reduce(x, (0, 2), OP, mask=mask, identity=IDENTITY))
    put(out_ptr + 64, tl.associative_scan(x, (0, 2), OP, mask=mask, identity=IDENTITY))


@pytest.mark.parametrize(
    ("op", "known", "identity", "oracle"),
    [
        (tl.add, True, 0, np.add), (tl.mul, True, 1, np.multiply),
        (tl.maximum, True, -(2**31), np.maximum), (tl.minimum, True, 2**31 - 1, np.minimum),
        (tl.minimum, False, 5, np.minimum),
        (larger_by_size, False, 0, lambda a, b: np.where(a * a >= b * b, a, b)),
    ],
)  # fmt: skip
def test_masks(op, known, identity, oracle):
    shape = (4, 8, 2)
    x = np.random.default_rng(5).integers(-9, 10, shape, dtype=np.int32)
    x[:, 2] = 3  # No element of this row counts.
    out = np.full(64 + x.size, 77, np.int32)
    masked_kernel[(1,)](x, out, OP=op, IDENTITY=None if known else identity, SHAPE=shape)
    rows = last(np.where(x % 3 != 0, x, np.int32(identity)), (0, 2)).copy()
    with np.errstate(over="ignore"):
        for k in range(1, rows.shape[-1]):
            rows[..., k] = oracle(rows[..., k - 1], rows[..., k])
    np.testing.assert_array_equal(out[:8], rows[..., -1])
    np.testing.assert_array_equal(last(out[64:].reshape(shape), (0, 2)), rows)


@tile.jit
def masked_floats(x_ptr, out_ptr):
    i = tl.arange(0, 32)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr, tl.reduce(x, 0, tl.maximum, mask=i < 20))
    tl.store(out_ptr + 1, tl.reduce(x, 0, tl.minimum, mask=i < 0))
    best, at = tl.reduce((x, i), None, first_largest, mask=i >= 7, identity=(float("-inf"), 0))
    tl.store(out_ptr + 2, best)
    tl.store(out_ptr + 3, at)


@tile.jit
def first_largest(a, i, b, j):
    left = (a > b) | ((a == b) & (i <= j))
    return tl.where(left, a, b), tl.where(left, i, j)


def test_masks_of_floats_and_of_several_blocks():
    x = -np.random.default_rng(6).random(32).astype(np.float32)
    out = np.zeros(4, np.float32)
    masked_floats[(1,)](x, out)
    assert out.tolist() == [x[:20].max(), np.inf, x[7:].max(), 7 + x[7:].argmax()]


# Aggregates.


@tl.aggregate
class Moments:
    n: tl.tensor
    mean: tl.tensor
    m2: tl.tensor

    def __init__(self, n, mean, m2):
        self.n = n
        self.mean = mean
        self.m2 = m2

    @tile.jit
    def join(self, other):
        n = self.n + other.n
        delta = other.mean - self.mean
        m2 = self.m2 + other.m2 + delta * delta * (self.n * other.n / n)
        return Moments(n, self.mean + delta * (other.n / n), m2)


@tile.jit
def join_counted(state, count, other, more):
    return state.join(other), count + more


@tile.jit
def aggregate_kernel(
    x_ptr, out_ptr, so_far_ptr, count_ptr, AXES: tl.constexpr, SHAPE: tl.constexpr
):
    x = tl.load(x_ptr + offsets(SHAPE))
    one = tl.full(SHAPE, 1.0, tl.float32)
    each = Moments(one, x, tl.zeros(SHAPE, tl.float32))
    whole = tl.reduce(each, AXES, Moments.join, keep_dims=True)
    put(out_ptr, whole.mean)
    put(out_ptr + whole.n.numel, whole.m2 / whole.n)
    so_far, count = tl.associative_scan((each, one.to(tl.int32)), AXES, join_counted)
    put(so_far_ptr, so_far.mean)
    put(count_ptr, count)


@pytest.mark.parametrize("axes", [1, (0, 2), None])
def test_aggregates(axes):
    shape = (4, 8, 16)
    x = np.random.default_rng(7).standard_normal(shape).astype(np.float32)
    named = (0, 1, 2) if axes is None else tuple(np.atleast_1d(axes).tolist())
    size = x.size // np.prod([shape[a] for a in named])
    out, so_far, count = np.zeros((2, size), np.float32), np.zeros_like(x), np.zeros(shape, int)
    count = count.astype(np.int32)
    aggregate_kernel[(1,)](x, out, so_far, count, AXES=axes, SHAPE=shape)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(out[0], wide.mean(named).ravel(), 1e-4, 1e-5)
    np.testing.assert_allclose(out[1], wide.var(named).ravel(), 1e-4, 1e-5)
    rows = last(wide, named)
    steps = np.arange(1, rows.shape[-1] + 1)
    np.testing.assert_allclose(last(so_far, named), rows.cumsum(-1) / steps, 1e-3, 1e-4)
    np.testing.assert_array_equal(last(count, named), np.broadcast_to(steps, rows.shape))


# What is refused.


@tile.jit
def wrong(CASE: tl.constexpr):
    x = tl.zeros((4, 8), tl.int32)
    if CASE == "twice":
        tl.sum(x, (0, -2))
    elif CASE == "none":
        tl.sum(x, ())
    elif CASE == "outside":
        tl.cumsum(x, (0, 2))
    elif CASE == "no identity":
        tl.reduce(x, 0, larger_by_size, mask=x > 0)
    elif CASE == "identities":
        tl.reduce((x, x), 0, affine, mask=x > 0, identity=0)
    elif CASE == "wider":
        tl.reduce(x, 0, tl.add, mask=x > 0, identity=0.5)
    elif CASE == "another type":
        tl.reduce(Moments(x, x, x), 0, Moments.join)
    else:
        tl.cumlogsumexp(x)


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("twice", r"reduce got the axes \[0, -2\], which name one dimension twice"),
        ("none", "reduce needs an axis, but `axis` names none; None names all"),
        ("outside", "invalid axis 2: the block of associative_scan has 2 dimensions"),
        ("no identity", "needs the identity of its function, as in identity=0"),
        ("identities", "reduce of 2 blocks needs as many identities, not 1"),
        ("wider", "an identity of int32 has its type, but this one makes it fp32"),
        ("another type", r"must return Moments\(n: int32, mean: int32, m2: int32\)"),
        ("floats", "cumlogsumexp takes floats"),
    ],
)
def test_refused(case, text):
    with pytest.raises(AssertionError, match=text):
        raise AssertionError(str(refusal(wrong, {}, {"CASE": case})))
