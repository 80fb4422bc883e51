"""Reductions, scans and maps whose functions have control flow."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random

import tile
import tile.language as tl

pytestmark = pytest.mark.every_target


@tile.jit
def larger_magnitude(a, b):
    # Returns from the middle: several blocks.
    if tl.abs(a) > tl.abs(b):
        return a
    if tl.abs(a) == tl.abs(b):
        return tl.maximum(a, b)
    return b


@tile.jit
def reduce_kernel(x, out, ROWS: tl.constexpr, COLS: tl.constexpr, AXIS: tl.constexpr):
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    tile_ = tl.load(x + rows[:, None] * COLS + cols[None, :])
    result = tl.reduce(tile_, AXIS, larger_magnitude)
    tl.store(out + (cols if AXIS == 0 else rows), result)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["i32", "fp32", "i64"])
def test_reduce(axis, dtype, num_warps):
    x = random((16, 64), dtype, 1)
    at = np.argmax(np.abs(x) + (x > 0) * 1e-9, axis=axis, keepdims=True)
    expected = np.take_along_axis(x, at, axis).squeeze(axis)
    out = poisoned(expected.shape, dtype)
    reduce_kernel[(1,)](x, out, 16, 64, axis, num_warps=num_warps)
    np.testing.assert_array_equal(out, expected)


@tile.jit
def segmented_add(flag_a, value_a, flag_b, value_b):
    if flag_b != 0:
        return flag_b, value_b
    return flag_a, value_a + value_b


@tile.jit
def scan_kernel(flags, values, out, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    _, sums = tl.associative_scan(
        (tl.load(flags + i), tl.load(values + i)), 0, segmented_add, reverse=REVERSE
    )
    tl.store(out + i, sums)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [16, 128, 512])
def test_segmented_scan(n, reverse, num_warps):
    rng = np.random.default_rng(n)
    flags = (rng.random(n) < 0.1).astype(np.int32)
    values = rng.integers(-9, 9, n).astype(np.int32)
    expected = np.empty_like(values)
    total = 0
    for i in reversed(range(n)) if reverse else range(n):
        total = values[i] if flags[i] else total + values[i]
        expected[i] = total
    out = poisoned(n, "i32")
    scan_kernel[(1,)](flags, values, out, n, reverse, num_warps=num_warps)
    np.testing.assert_array_equal(out, expected)


@tile.jit
def collatz(a):
    steps = 0
    while a > 1:
        if a % 2 == 0:
            a = a // 2
        else:
            a = 3 * a + 1
        steps += 1
    return steps


@tile.jit
def compare_pairs(a0, a1, b0, b1):
    return tl.minimum(a0, b0), tl.minimum(a1, b1), tl.maximum(a0, b0), tl.maximum(a1, b1)


@tile.jit
def map_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.map_elementwise(collatz, tl.load(x + i)))


@tile.jit
def map_pack_kernel(x, y, low, high, N: tl.constexpr):
    i = tl.arange(0, N)
    small, large = tl.map_elementwise(compare_pairs, tl.load(x + i), tl.load(y + i), pack=2)
    tl.store(low + i, small)
    tl.store(high + i, large)


@pytest.mark.parametrize("n", [8, 64, 256])
def test_map_with_loop(n):
    x = np.arange(1, n + 1, dtype=np.int32)
    out = poisoned(n, "i32")
    map_kernel[(1,)](x, out, n)

    def steps(a: int) -> int:
        count = 0
        while a > 1:
            a = a // 2 if a % 2 == 0 else 3 * a + 1
            count += 1
        return count

    np.testing.assert_array_equal(out, [steps(int(a)) for a in x])


@pytest.mark.parametrize("n", [16, 128, 1024])
@pytest.mark.parametrize("dtype", ["i32", "fp32"])
def test_map_of_packs(n, dtype):
    x, y = random(n, dtype, 1), random(n, dtype, 2)
    low, high = poisoned(n, dtype), poisoned(n, dtype)
    map_pack_kernel[(1,)](x, y, low, high, n)
    np.testing.assert_array_equal(low, np.minimum(x, y))
    np.testing.assert_array_equal(high, np.maximum(x, y))
