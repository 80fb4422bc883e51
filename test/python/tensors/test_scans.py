"""Scans along every axis of ranks 1 to 5, in both directions, with any state."""

from __future__ import annotations

import numpy as np
import pytest
from blocks import CASES, KINDS, offsets, values, warps_for

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


@tile.jit
def scan_kernel(
    x_ptr, out_ptr, OP: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr, SHAPE: tl.constexpr
):
    where = offsets(SHAPE)
    tl.store(out_ptr + where, OP(tl.load(x_ptr + where), AXIS, REVERSE))


def scanned(op, x, axis, reverse, out, **options):
    result = np.zeros(x.shape, out)
    scan_kernel[(1,)](x, result, OP=op, AXIS=axis, REVERSE=reverse, SHAPE=x.shape, **options)
    return result


def reference(f, x, axis, reverse):
    flipped = np.flip(x, axis) if reverse else x
    with np.errstate(over="ignore"):
        result = f(flipped, axis=axis)
    return np.flip(result, axis) if reverse else result


@pytest.mark.sweep
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_axes(shape, axis, reverse):
    x = values(shape, "i32", 1)
    warps = warps_for(shape, axis, reverse)
    out = scanned(tl.cumsum, x, axis, reverse, np.int32, num_warps=warps)
    want = reference(lambda v, axis: np.cumsum(v, axis, dtype=np.int32), x, axis, reverse)
    np.testing.assert_array_equal(out, want, f"{warps} warps")
    odd = x | 1
    out = scanned(tl.cumprod, odd, axis, reverse, np.int32, num_warps=warps)
    want = reference(lambda v, axis: np.cumprod(v, axis, dtype=np.int32), odd, axis, reverse)
    np.testing.assert_array_equal(out, want, f"{warps} warps")


def sum_type(dtype):
    kind = np.dtype(KINDS[dtype])
    if dtype == "bf16":
        return np.float32
    if kind.kind in "iu" and kind.itemsize < 4:
        return np.int32 if kind.kind == "i" else np.uint32
    return KINDS[dtype]


@pytest.mark.parametrize("dtype", KINDS)
def test_types(dtype):
    for axis in (0, 1):
        x = values((16, 8), dtype, 2)
        kind = sum_type(dtype)
        out = scanned(tl.cumsum, x, axis, False, kind, num_warps=warps_for(dtype))
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(out, x.astype(kind).cumsum(axis, dtype=kind))
            signs = np.where(x > 0, 1, 2 if kind == KINDS[dtype] else 1).astype(KINDS[dtype])
            kind = np.float32 if dtype == "bf16" else KINDS[dtype]
            out = scanned(tl.cumprod, signs, axis, True, kind, num_warps=warps_for(dtype))
            want = reference(
                lambda v, axis, k=kind: v.astype(k).cumprod(axis, dtype=k), signs, axis, True
            )
            np.testing.assert_array_equal(out, want)


@tile.jit
def _affine(a1, b1, a2, b2):
    """x -> a x + b, one after the other: does not commute."""
    return a1 * a2, b1 * a2 + b2


@tile.jit
def _last_flagged(v1, f1, v2, f2):
    return tl.where(f2 != 0, v2, v1), f1 | f2


@tile.jit
def state_kernel(
    a_ptr, b_ptr, out_ptr, flag_ptr, AXIS: tl.constexpr, REVERSE: tl.constexpr, SHAPE: tl.constexpr
):
    where = offsets(SHAPE)
    a, b = tl.load(a_ptr + where), tl.load(b_ptr + where)
    p, q = tl.associative_scan((a, b), AXIS, _affine, reverse=REVERSE)
    tl.store(out_ptr + where, p)
    tl.store(out_ptr + a.numel + where, q)
    flags = (b & 1).to(tl.int8)
    v, f = tl.associative_scan((b, flags), AXIS, _last_flagged, reverse=REVERSE)
    tl.store(out_ptr + 2 * a.numel + where, v)
    tl.store(flag_ptr + where, f)


@pytest.mark.sweep
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_states_of_several_values(shape, axis, reverse):
    a, b = values(shape, "i32", 3) % 7, values(shape, "i32", 4) % 1000
    out, flags = np.zeros((3, *shape), np.int32), np.zeros(shape, np.int8)
    state_kernel[(1,)](
        a, b, out, flags, AXIS=axis, REVERSE=reverse, SHAPE=shape,
        num_warps=warps_for(axis, shape, reverse),
    )  # fmt: skip
    steps = range(shape[axis])[:: -1 if reverse else 1]
    p, q, v, f = None, None, None, None
    with np.errstate(over="ignore"):
        for step in steps:
            here = np.take(a, step, axis), np.take(b, step, axis)
            flag = here[1] & 1
            if p is None:
                p, q, v, f = *here, here[1], flag
            else:
                p, q = p * here[0], q * here[0] + here[1]
                v, f = np.where(flag != 0, here[1], v), f | flag
            for row, want in enumerate((p, q, v)):
                np.testing.assert_array_equal(np.take(out[row], step, axis), want)
            np.testing.assert_array_equal(np.take(flags, step, axis), f)


@tile.jit
def _max(a, b):
    return tl.maximum(a, b)


@tile.jit
def long_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.associative_scan(tl.load(x_ptr + i), 0, _max))


@pytest.mark.parametrize("warps", [1, 4, 16])
@pytest.mark.parametrize("n", [1, 32, 2048])
def test_running_maximum(n, warps):
    x = np.random.default_rng(5).standard_normal(n).astype(np.float32)
    out = np.zeros(n, np.float32)
    long_kernel[(1,)](x, out, N=n, num_warps=warps)
    np.testing.assert_array_equal(out, np.maximum.accumulate(x))
