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
