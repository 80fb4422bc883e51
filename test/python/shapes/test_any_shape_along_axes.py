"""Blocks whose extents are no powers of two: reductions and scans, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from any_shape import CASES, run
from blocks import KINDS, offsets, put, values

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]


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
