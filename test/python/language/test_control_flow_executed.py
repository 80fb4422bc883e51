"""Control flow of kernels, run and compared with the same Python."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]


def run(kernel, n, size=4):
    out = poisoned(size, "i32")
    kernel[(1,)](out, n)
    return out.tolist()


@tile.jit
def early_kernel(out_ptr, n):
    tl.store(out_ptr, 0)
    if n > 10:
        tl.store(out_ptr, 1)
        if n > 20:
            tl.store(out_ptr + 1, 2)
            return
        tl.store(out_ptr + 1, 3)
    else:
        if n == 5:
            return
        tl.store(out_ptr + 1, 4)
    tl.store(out_ptr + 2, 5)


@pytest.mark.parametrize(
    ("n", "expected"), [(30, [1, 2, None]), (15, [1, 3, 5]), (5, [0, None, None]), (3, [0, 4, 5])]
)
def test_early_return(n, expected):
    poison = poisoned(1, "i32")[0]
    assert run(early_kernel, n)[:3] == [poison if e is None else e for e in expected]


@tile.jit
def loops_kernel(out_ptr, n):
    evens = 0
    found = -1
    for i in range(n):
        if i % 2 == 1:
            continue
        if i * i > 50:
            found = i
            break
        evens += i
    collatz = 0
    m = n
    while m != 1:
        if m % 2 == 0:
            m = m // 2
        else:
            m = 3 * m + 1
        collatz += 1
        if collatz > 100:
            break
    down = 0
    for i in range(n, 0, -3):
        down = down * 2 + i
    tl.store(out_ptr, evens)
    tl.store(out_ptr + 1, found)
    tl.store(out_ptr + 2, collatz)
    tl.store(out_ptr + 3, down)


def loops(n):
    evens, found = 0, -1
    for i in range(n):
        if i % 2 == 1:
            continue
        if i * i > 50:
            found = i
            break
        evens += i
    collatz, m = 0, n
    while m != 1:
        m = m // 2 if m % 2 == 0 else 3 * m + 1
        collatz += 1
        if collatz > 100:
            break
    down = 0
    for i in range(n, 0, -3):
        down = down * 2 + i
    return [evens, found, collatz, down]


@pytest.mark.parametrize("n", [2, 3, 7, 12, 27])
def test_loops(n):
    assert run(loops_kernel, n) == loops(n)


@tile.jit
def nested_kernel(out_ptr, n):
    count = 0
    for i in range(n):
        for j in range(i):
            k = j
            while k > 0:
                k -= 2
                if k == 3:
                    break
                count += 1
            if count > 40:
                break
        if count > 60:
            count += 1000
    tl.store(out_ptr, count)


def nested(n):
    count = 0
    for i in range(n):
        for j in range(i):
            k = j
            while k > 0:
                k -= 2
                if k == 3:
                    break
                count += 1
            if count > 40:
                break
        if count > 60:
            count += 1000
    return count


@pytest.mark.parametrize("n", [2, 6, 9])
def test_nested_loops(n):
    assert run(nested_kernel, n)[0] == nested(n)


@tile.jit
def fibonacci_kernel(out_ptr, n):
    pair = (0, 1)
    for _ in range(n):
        pair = (pair[1], pair[0] + pair[1])
    a, b = pair
    tl.store(out_ptr, a)
    tl.store(out_ptr + 1, b)


def test_tuples_through_loops():
    assert run(fibonacci_kernel, 10)[:2] == [55, 89]


@tile.jit
def wide_kernel(out_ptr, n):
    total = n * 0
    for i in range(n, n + 3):
        total += i
    tl.store(out_ptr, total)


def test_wide_integers():
    out = poisoned(1, "i64")
    n = 2**40
    wide_kernel[(1,)](out, n)
    assert out[0] == 3 * n + 3


@tile.jit
def grid_kernel(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    index = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(out_ptr + index, x + 10 * y + 100 * z)


def test_grids_of_three_dimensions():
    out = poisoned((2, 3, 4), "i32")
    grid_kernel[(4, 3, 2)](out)
    z, y, x = np.indices((2, 3, 4))
    np.testing.assert_array_equal(out, x + 10 * y + 100 * z)


@tile.jit(noinline=True)
def _outlined(x, y):
    if x > y:
        return x - y
    return y - x


@tile.jit
def outlined_kernel(out_ptr, n):
    tl.store(out_ptr, _outlined(n, n * 3))
    tl.store(out_ptr + 1, _outlined(n * 5, n))


def test_noinline_functions():
    assert run(outlined_kernel, 7)[:2] == [14, 28]


@tile.jit
def one_element_kernel(x_ptr, out_ptr):
    condition = tl.load(x_ptr + tl.arange(0, 1)) > 42
    if condition:
        tl.store(out_ptr, 1)
    left = tl.load(x_ptr + tl.arange(0, 1)[:, None])
    count = 0
    while left > 40:
        left -= 1
        count += 1
    tl.store(out_ptr + 1, count)


@pytest.mark.parametrize("value", [41, 43])
def test_a_condition_of_one_element(value):
    out = np.zeros(2, np.int32)
    one_element_kernel[(1,)](np.array([value], np.int32), out)
    assert out.tolist() == [value > 42, value - 40]
