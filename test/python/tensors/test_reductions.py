"""Reductions and scans: every operation along every axis of ranks 1 to 5."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from blocks import CASES, KINDS, SHAPES, offsets, put, values, warps_for

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


@tile.jit
def reduce_kernel(
    x_ptr, out_ptr, flat_ptr, OP: tl.constexpr, AXIS: tl.constexpr, SHAPE: tl.constexpr
):
    x = tl.load(x_ptr + offsets(SHAPE))
    put(out_ptr, OP(x, AXIS, keep_dims=True))
    put(flat_ptr, OP(x, AXIS))


def reduced(op, x: np.ndarray, axis: int | None, out: type, **options) -> np.ndarray:
    """OP along an axis, checked to be the same with and without keep_dims."""
    shape = tuple(1 if axis in (None, d) else e for d, e in enumerate(x.shape))
    kept, flat = np.zeros(shape, out), np.zeros(shape, out)
    reduce_kernel[(1,)](x, kept, flat, OP=op, AXIS=axis, SHAPE=x.shape, **options)
    assert kept.tobytes() == flat.tobytes()
    return kept


def sum_type(dtype: str):
    kind = np.dtype(KINDS[dtype])
    if kind.kind in "iu" and kind.itemsize < 4:
        return np.int32 if kind.kind == "i" else np.uint32
    return KINDS[dtype]


def order_type(dtype: str):
    kind = np.dtype(KINDS[dtype])
    if kind.itemsize >= 4:
        return KINDS[dtype]
    return np.int32 if kind.kind in "iu" else np.float32


OPERATIONS = {"sum": tl.sum, "max": tl.max, "min": tl.min, "xor_sum": tl.xor_sum,
              "reduce_or": tl.reduce_or, "argmax": tl.argmax, "argmin": tl.argmin}  # fmt: skip


def expected(name: str, x: np.ndarray, axis, dtype: str) -> np.ndarray:
    with np.errstate(over="ignore"):
        if name == "sum":
            return x.astype(sum_type(dtype)).sum(axis=axis, keepdims=True, dtype=sum_type(dtype))
        if name in ("max", "min"):
            return getattr(np, name)(x, axis=axis, keepdims=True).astype(order_type(dtype))
        if name == "xor_sum":
            return np.bitwise_xor.reduce(x, axis=axis, keepdims=True)
        if name == "reduce_or":
            return np.bitwise_or.reduce(x, axis=axis, keepdims=True)
        wide = x.astype(np.float64) if x.dtype == ml_dtypes.bfloat16 else x
        return getattr(np, name)(wide, axis=axis, keepdims=True).astype(np.int32)


@pytest.mark.sweep
@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_axes(shape, axis):
    warps = warps_for(shape, axis)
    for name, op in OPERATIONS.items():
        x = values(shape, "i32", 1, ties=name.startswith("arg"))
        out = reduced(op, x, axis, np.int32, num_warps=warps)
        np.testing.assert_array_equal(out, expected(name, x, axis, "i32"), f"{name}, {warps} warps")


BITWISE = ("xor_sum", "reduce_or")
TYPED = [(n, d) for n in OPERATIONS for d in KINDS if n not in BITWISE or d[0] in "iu"]


@pytest.mark.parametrize(("name", "dtype"), TYPED)
def test_types(name, dtype):
    warps = warps_for(name, dtype)
    for axis in (0, 1, -1):
        x = values((16, 32), dtype, 2, ties=name.startswith("arg"))
        want = expected(name, x, axis, dtype)
        out = reduced(OPERATIONS[name], x, axis % 2, want.dtype.type, num_warps=warps)
        np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("shape", SHAPES)
def test_of_all_elements(shape):
    for name in ("sum", "max", "min", "xor_sum", "reduce_or"):
        x = values(shape, "i32", 3)
        out = reduced(OPERATIONS[name], x, None, np.int32, num_warps=warps_for(shape))
        np.testing.assert_array_equal(out, expected(name, x, None, "i32"), name)


@tile.jit
def indices_kernel(
    x_ptr, v_ptr, i_ptr, OP: tl.constexpr, AXIS: tl.constexpr, LEFT: tl.constexpr,
    SHAPE: tl.constexpr,
):  # fmt: skip
    x = tl.load(x_ptr + offsets(SHAPE))
    value, index = OP(
        x, AXIS, return_indices=True, return_indices_tie_break_left=LEFT, keep_dims=True
    )
    put(v_ptr, value)
    put(i_ptr, index)


@pytest.mark.sweep
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16", "i32", "i64", "u8", "u32"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_indices_and_ties(name, dtype, left):
    for shape, axis in [((64,), 0), ((8, 16), 0), ((8, 16), 1), ((4, 2, 8), 1)]:
        x = values(shape, dtype, 4, ties=True)
        kept = tuple(1 if d == axis else e for d, e in enumerate(shape))
        kind = np.float32 if dtype == "bf16" else KINDS[dtype]
        value, index = np.zeros(kept, kind), np.zeros(kept, np.int32)
        indices_kernel[(1,)](
            x, value, index, OP=getattr(tl, name), AXIS=axis, LEFT=left, SHAPE=shape,
            num_warps=warps_for(shape),
        )  # fmt: skip
        best = getattr(np, name)(x, axis=axis, keepdims=True)
        np.testing.assert_array_equal(value, best.astype(kind))
        if left:
            np.testing.assert_array_equal(index, expected("arg" + name, x, axis, dtype))
        else:  # Any of the best.
            np.testing.assert_array_equal(np.take_along_axis(x, index, axis), best)


@tile.jit
def _first_nan(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@tile.jit
def nan_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, tl.max(x, 0))
    tl.store(out_ptr + 1, tl.min(x, 0))
    tl.store(out_ptr + 2, tl.reduce(x, 0, _first_nan))
    tl.store(out_ptr + 3, tl.sum(x, 0))


@pytest.mark.parametrize("dtype", ["fp32", "fp64", "fp16"])
def test_nan(dtype):
    x = values(64, dtype, 5)
    x[17] = np.nan
    out = np.zeros(4, KINDS[dtype])
    nan_kernel[(1,)](x, out, N=64)
    np.testing.assert_array_equal(out, [np.nanmax(x), np.nanmin(x), np.nan, np.nan])


@tile.jit
def sum_as_kernel(x_ptr, out_ptr, T: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, tl.sum(x, 0, dtype=T))
    tl.store(out_ptr + 1 + tl.arange(0, N), tl.cumsum(x, 0, dtype=T))


@pytest.mark.parametrize(
    ("source", "target", "kind"),
    [("i8", tl.int64, np.int64), ("u8", tl.uint16, np.uint16), ("i32", tl.int64, np.int64),
     ("fp16", tl.float32, np.float32), ("i32", tl.float32, np.float32),
     ("u8", tl.int8, np.int8), ("fp32", tl.float64, np.float64)],
)  # fmt: skip
def test_sums_in_another_type(source, target, kind):
    x = values(64, source, 6) if source != "i32" else values(64, "i16", 6).astype(np.int32)
    out = np.zeros(65, kind)
    sum_as_kernel[(1,)](x, out, T=target, N=64)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out[0], x.astype(kind).sum(dtype=kind))
        np.testing.assert_array_equal(out[1:], x.astype(kind).cumsum(dtype=kind))


@tile.jit
def _argmin_both(v1, i1, v2, i2):
    first = (v1 < v2) | ((v1 == v2) & (i1 < i2))
    return tl.where(first, v1, v2), tl.where(first, i1, i2)


@tile.jit
def _moments(n1, mean1, m1, n2, mean2, m2):
    n = n1 + n2
    delta = mean2 - mean1
    return n, mean1 + delta * (n2 / n), m1 + m2 + delta * delta * (n1 * n2 / n)


@tile.jit
def tuple_kernel(x_ptr, out_ptr, i_ptr, AXIS: tl.constexpr, SHAPE: tl.constexpr):
    where = offsets(SHAPE)
    x = tl.load(x_ptr + where)
    ones = tl.full(SHAPE, 1.0, tl.float32)
    n, mean, m2 = tl.reduce((ones, x, tl.zeros(SHAPE, tl.float32)), AXIS, _moments, keep_dims=True)
    value, index = tl.reduce((x, where), AXIS, _argmin_both, keep_dims=True)
    put(out_ptr, mean)
    put(out_ptr + mean.numel, m2 / n)
    put(out_ptr + 2 * mean.numel, value)
    put(i_ptr, index)


@pytest.mark.parametrize(("shape", "axis"), [c for c in CASES if c[0][c[1]] > 1])
def test_tuples(shape, axis):
    x = np.random.default_rng(7).standard_normal(shape).astype(np.float32)
    kept = tuple(1 if d == axis else e for d, e in enumerate(shape))
    out, index = np.zeros((3, *kept), np.float32), np.zeros(kept, np.int32)
    tuple_kernel[(1,)](x, out, index, AXIS=axis, SHAPE=shape, num_warps=warps_for(shape, axis))
    wide = x.astype(np.float64)
    np.testing.assert_allclose(out[0], wide.mean(axis=axis, keepdims=True), 1e-4, 1e-5)
    np.testing.assert_allclose(out[1], wide.var(axis=axis, keepdims=True), 1e-4, 1e-5)
    np.testing.assert_array_equal(out[2], x.min(axis=axis, keepdims=True))
    np.testing.assert_array_equal(x.ravel()[index], out[2])


@tile.jit
def first_nan_pair(v1, i1, v2, i2):
    """The larger, or the NaN that comes first."""
    first = (v1 >= v2) | (v1 != v1)
    return tl.where(first, v1, v2), tl.where(first, i1, i2)


@tile.jit
def nan_indices_kernel(
    x_ptr, v_ptr, i_ptr, arg_ptr, OP: tl.constexpr, ARG: tl.constexpr, AXIS: tl.constexpr,
    LEFT: tl.constexpr, SHAPE: tl.constexpr,
):  # fmt: skip
    x = tl.load(x_ptr + offsets(SHAPE))
    value, index = OP(
        x, AXIS, return_indices=True, return_indices_tie_break_left=LEFT, keep_dims=True
    )
    put(v_ptr, value)
    put(i_ptr, index)
    put(arg_ptr, ARG(x, AXIS, tie_break_left=LEFT, keep_dims=True))


def with_nan(shape, dtype: str, seed: int) -> np.ndarray:
    """Few different numbers, infinities and zeros of both signs, and NaN: from none to all."""
    chance = np.random.default_rng(seed)
    numbers = [-np.inf, -2, -0.0, 0.0, 1, 2, np.inf][:: chance.integers(1, 3)]
    x = chance.choice(numbers, shape)
    share = chance.choice([0, 0.1, 0.5, 0.9, 1], (*shape[:-1], 1))
    x[chance.random(shape) < share] = np.nan
    return x.astype(KINDS[dtype])


def best_of(x: np.ndarray, axis: int, largest: bool) -> np.ndarray:
    """The first of the best numbers; of NaN alone, the first."""
    wide = np.moveaxis(x.astype(np.float64), axis, -1)
    index = np.empty(wide.shape[:-1], np.int32)
    for at in np.ndindex(index.shape):
        numbers = [(v if largest else -v, -i) for i, v in enumerate(wide[at]) if v == v]
        index[at] = -max(numbers)[1] if numbers else 0
    return np.expand_dims(index, axis)


NAN_CASES = [((64,), 0), ((2,), 0), ((512,), 0), ((8, 16), 0), ((8, 16), 1), ((2, 4, 8), 1)]


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16", "fp64"])
def test_numbers_beat_nan(name, dtype):
    for seed, (shape, axis) in enumerate(NAN_CASES):
        x = with_nan(shape, dtype, seed)
        kept = tuple(1 if d == axis else e for d, e in enumerate(shape))
        kind = np.float32 if dtype == "bf16" else KINDS[dtype]
        want = best_of(x, axis, name == "max")
        for left in (True, False):
            value, index, argument = np.zeros(kept, kind), *np.zeros((2, *kept), np.int32)
            nan_indices_kernel[(1,)](
                x, value, index, argument, OP=getattr(tl, name), ARG=getattr(tl, "arg" + name),
                AXIS=axis, LEFT=left, SHAPE=shape, num_warps=warps_for(shape, name, left),
            )  # fmt: skip
            np.testing.assert_array_equal(index, want)
            np.testing.assert_array_equal(argument, want)
            np.testing.assert_array_equal(value, np.take_along_axis(x, want, axis).astype(kind))


@tile.jit
def propagating_kernel(x_ptr, i_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    _, index = tl.reduce((tl.load(x_ptr + i), i), 0, first_nan_pair)
    tl.store(i_ptr, index)


@pytest.mark.parametrize("warps", [1, 4, 16])
def test_nan_that_propagates_is_the_first(warps):
    for seed in range(6):
        x = with_nan((256,), "fp32", seed)
        index = np.zeros(1, np.int32)
        propagating_kernel[(1,)](x, index, N=256, num_warps=warps)
        assert index[0] == np.argmax(x)


# Functions that are not commutative: elements are combined in their order.


@tile.jit
def last_set(a, b):
    return tl.where(b != 0, b, a)


@tile.jit
def affine(a, b, c, d):
    return a * c, b * c + d


@tile.jit
def first_branching(a, b):
    if a != 0:
        return a
    return b


@tile.jit
def ordered_kernel(
    x_ptr, y_ptr, last_ptr, first_ptr, p_ptr, q_ptr, AXIS: tl.constexpr, SHAPE: tl.constexpr
):
    x, y = tl.load(x_ptr + offsets(SHAPE)), tl.load(y_ptr + offsets(SHAPE))
    put(last_ptr, tl.reduce(y, AXIS, last_set))
    put(first_ptr, tl.reduce(y, AXIS, first_branching))
    p, q = tl.reduce((x, y), AXIS, affine)
    put(p_ptr, p)
    put(q_ptr, q)


def ordered(x: np.ndarray, y: np.ndarray, axis: int | None) -> list[np.ndarray]:
    if axis is None:
        x, y, axis = x.ravel(), y.ravel(), 0
    x, y = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)
    last, first, p, q = np.zeros_like(y[0]), np.zeros_like(y[0]), x[0], y[0]
    with np.errstate(over="ignore"):
        for k, (c, d) in enumerate(zip(x, y, strict=True)):
            last, first = np.where(d != 0, d, last), np.where(first != 0, first, d)
            if k:
                p, q = p * c, q * c + d
    return [last, first, p, q]


ORDERED_SHAPES = [(32,), (1024,), (4, 64), (64, 4), (32, 32), (8, 2, 16), (2, 2, 4, 2, 4)]
ORDERED = [(s, a) for s in ORDERED_SHAPES for a in (*range(len(s)), None)]


@pytest.mark.parametrize(("shape", "axis"), ORDERED)
def test_elements_are_combined_in_order(shape, axis):
    chance = np.random.default_rng(8)
    x = chance.integers(-3, 4, shape, dtype=np.int32)
    y = np.where(chance.random(shape) < 0.3, chance.integers(1, 99, shape), 0).astype(np.int32)
    want = ordered(x, y, axis)
    out = [np.zeros_like(w) if w.shape else np.zeros(1, np.int32) for w in want]
    ordered_kernel[(1,)](x, y, *out, AXIS=axis, SHAPE=shape, num_warps=warps_for(shape, axis))
    for found, w in zip(out, want, strict=True):
        np.testing.assert_array_equal(found.reshape(w.shape), w)
