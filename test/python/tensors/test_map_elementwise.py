"""Functions of scalars, which may branch, applied to every element."""

from __future__ import annotations

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


@tile.jit
def _collatz(x):
    steps = 0
    while x > 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


@tile.jit
def steps_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.map_elementwise(_collatz, tl.load(x_ptr + i)))


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("n", [1, 64, 256])
def test_loops_for_each_element(n, warps):
    x, out = np.arange(1, n + 1, dtype=np.int32), np.zeros(n, np.int32)
    steps_kernel[(1,)](x, out, N=n, num_warps=warps)
    want = []
    for v in range(1, n + 1):
        count = 0
        while v > 1:
            v, count = (v // 2 if v % 2 == 0 else 3 * v + 1), count + 1
        want.append(count)
    np.testing.assert_array_equal(out, want)


@tile.jit
def _order(a, b):
    if a < b:
        return a, b
    else:
        return b, a


@tile.jit
def order_kernel(a_ptr, b_ptr, low_ptr, high_ptr, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    where = m[:, None] * N + n[None, :]
    low, high = tl.map_elementwise(_order, tl.load(a_ptr + where), tl.load(b_ptr + where))
    tl.store(low_ptr + where, low)
    tl.store(high_ptr + where, high)


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.float16, np.int8])
def test_several_results(kind):
    generator = np.random.default_rng(1)
    a, b = (generator.integers(-100, 100, (8, 16)).astype(kind) for _ in range(2))
    low, high = np.zeros_like(a), np.zeros_like(a)
    order_kernel[(1,)](a, b, low, high, M=8, N=16)
    np.testing.assert_array_equal(low, np.minimum(a, b))
    np.testing.assert_array_equal(high, np.maximum(a, b))


@tile.jit
def _early(x, limit):
    if x > limit:
        return x - limit
    y = x * 2
    if y < 0:
        return -y
    return y


@tile.jit
def early_kernel(x_ptr, limit, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    # A scalar is broadcast like any operand.
    tl.store(out_ptr + i, tl.map_elementwise(_early, tl.load(x_ptr + i), limit))


def test_early_returns():
    x, out = np.arange(-32, 32, dtype=np.int32), np.zeros(64, np.int32)
    early_kernel[(1,)](x, 10, out, N=64)
    np.testing.assert_array_equal(out, np.where(x > 10, x - 10, np.abs(2 * x)))


@tile.jit
def _pair(a0, a1, b0, b1):
    """Two elements at a time: the first results of both, then the second."""
    return a0 + b0, a1 + b1, a0 - b0, a1 - b1


@tile.jit
def pack_kernel(a_ptr, b_ptr, x_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.map_elementwise(_pair, tl.load(a_ptr + i), tl.load(b_ptr + i), pack=2)
    tl.store(x_ptr + i, x)
    tl.store(y_ptr + i, y)


@pytest.mark.parametrize("n", [2, 64, 512])
def test_packs(n):
    generator = np.random.default_rng(2)
    a, b = (generator.integers(-100, 100, n).astype(np.int32) for _ in range(2))
    x, y = np.zeros_like(a), np.zeros_like(a)
    pack_kernel[(1,)](a, b, x, y, N=n)
    np.testing.assert_array_equal(x, a + b)
    np.testing.assert_array_equal(y, a - b)


@tile.jit
def _sort_two(a, b):
    if a > b:
        return b, a
    return a, b


@tile.jit
def _mix_four(a, b, c, d):
    """No result is of one element alone."""
    if a < d:
        b = b + c
    return b - a, c * 2 + a, d - b, a + b * 4 + d


@tile.jit
def neighbours_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, PACK: tl.constexpr):
    where = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + where)
    if PACK == 2:
        y = tl.map_elementwise(_sort_two, x, pack=2)
    else:
        y = tl.map_elementwise(_mix_four, x, pack=4)
    tl.store(out_ptr + where, y)


def _neighbours(x, pack):
    rows = x.reshape(-1, pack)
    if pack == 2:
        return np.sort(rows, axis=1).reshape(x.shape)
    a, b, c, d = rows.T
    b = np.where(a < d, b + c, b)
    return np.stack([b - a, c * 2 + a, d - b, a + b * 4 + d], axis=1).reshape(x.shape)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("pack", [2, 4])
@pytest.mark.parametrize("shape", [(1, 4), (1, 32), (4, 8), (64, 4), (2, 512), (128, 1), (3, 12)])
def test_neighbours_come_together(shape, pack, num_warps):
    """Also where the block is smaller than the program, or contiguous along its columns."""
    m, n = shape
    x = np.random.default_rng(3).integers(-99, 99, (m, n)).astype(np.int32)
    out = np.zeros_like(x)
    neighbours_kernel[(1,)](x, out, M=m, N=n, PACK=pack, num_warps=num_warps)
    np.testing.assert_array_equal(out, _neighbours(x, pack))


@tile.jit
def columns_kernel(x_ptr, out_ptr, N: tl.constexpr):
    """Memory is contiguous along the first dimension, neighbours lie along the last."""
    where = tl.arange(0, N)[:, None] + tl.arange(0, N)[None, :] * N
    tl.store(out_ptr + where, tl.map_elementwise(_sort_two, tl.load(x_ptr + where), pack=2))


def test_neighbours_of_columns():
    x = np.random.default_rng(4).integers(-99, 99, (64, 64)).astype(np.int32)
    out = np.zeros_like(x)
    columns_kernel[(1,)](x, out, N=64)
    np.testing.assert_array_equal(out.T, _neighbours(np.ascontiguousarray(x.T), 2))


@tile.jit
def _compare(a, b):
    if a == b:
        return 0
    elif a < b:
        return -1
    else:
        return 1


@tile.jit
def mixed_kernel(a_ptr, b_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(a_ptr + i), tl.load(b_ptr + i)
    order = tl.map_elementwise(_compare, a, b)
    tl.store(out_ptr, tl.sum(order, 0))
    tl.store(out_ptr + 1 + i, order * 10)


def test_results_go_on():
    generator = np.random.default_rng(3)
    a, b = (generator.integers(0, 3, 128).astype(np.float32) for _ in range(2))
    out = np.zeros(129, np.int32)
    mixed_kernel[(1,)](a, b, out, N=128)
    np.testing.assert_array_equal(out[1:], 10 * np.sign(a - b))
    assert out[0] == np.sign(a - b).sum()


@tile.jit
def pairs_kernel(x_ptr, N: tl.constexpr, M: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :])
    tl.map_elementwise(_order, x, pack=2)


@pytest.mark.parametrize("shape", [(1, 1), (2, 7), (6, 1), (48, 3)])
def test_pairs_that_are_not_whole_are_refused(shape):
    with pytest.raises(tile.TileError, match=f"multiple of 2, found {shape[1]}"):
        pairs_kernel[(1,)](np.zeros(shape, np.int32), *shape)
