"""The Python that kernels are written in: each kernel's body also runs as plain
Python, on a list, and must store the same."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
from plain_python import Pointer, plain

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]
Point = namedtuple("Point", "x y")
LIMIT = tl.constexpr(5)
ANNOTATED: tl.constexpr = 7


def check(kernel, *arguments: int, **constants) -> None:
    data = [3, 1, 4, 1, 5, 9, 2, 6]
    expected = [-1] * 16
    plain(kernel)(Pointer(expected), Pointer(data), *arguments, **constants)
    out = np.full(16, -1, np.int32)
    kernel[(1,)](out, np.array(data, np.int32), *arguments, **constants)
    assert out.tolist() == expected


@tile.jit
def expressions(out, p, n, m):
    tl.store(out, n if n > m else m)
    tl.store(out + 1, 1 if 0 < n < 5 <= m else 2)
    tl.store(out + 2, 10 if (n > 3 and m > 3) or n == m else 20)
    tl.store(out + 3, 1 if not n > 3 else 0)
    if (k := n * 2) > 6:
        tl.store(out + 4, k)
    tl.store(out + 5, (n << 2) | (m & 3) ^ 1)
    tl.store(out + 6, -n + ~m)
    a, (b, *c) = n, (m, 3, 4)
    tl.store(out + 7, a + b + c[0] * c[1])
    tl.store(out + 8, sum([i * n for i in range(4) if i != 2]))
    tl.store(out + 9, min(n, m, 3) + max(n, 2) + abs(n - m))
    tl.store(out + 10, (n, m, 7)[-1] + len((n, m)))
    x = y = n
    x += 1
    y *= x
    tl.store(out + 11, x + y)
    tl.store(out + 12, {"a": n, "b": m}["b"])
    first, *rest = (n, m, n + m)
    tl.store(out + 13, rest[-1] - first)


@pytest.mark.parametrize(("n", "m"), [(2, 9), (9, 2), (4, 4), (0, 6)])
def test_expressions(n, m):
    check(expressions, n, m)


@tile.jit
def _scale(value, factor=2, *more, offset=0, **options):
    for extra in more:
        value += extra
    if "twice" in options:
        value *= options["twice"]
    return value * factor + offset


@tile.jit
def _swap(pair):
    return pair[1], pair[0]


@tile.jit
def _depth(n):
    if n > 4:
        if n > 6:
            return 1
        if n == 6:
            return _scale(n)
    else:
        if n == 0:
            return 3
    return _scale(n, 3)


@tile.jit
def calls(out, p, n):
    tl.store(out, _scale(n))
    tl.store(out + 1, _scale(n, 3))
    tl.store(out + 2, _scale(n, 3, 1, n, offset=4))
    tl.store(out + 3, _scale(offset=1, value=n))
    tl.store(out + 4, _scale(n, twice=5))
    arguments, keywords = (n, 4), {"offset": 2}
    tl.store(out + 5, _scale(*arguments, **keywords))
    a, b = _swap((n, 8))
    tl.store(out + 6, a - b)
    tl.store(out + 7, _depth(n))

    def local(x, y=2):
        if x > y:
            return x
        return y + n

    tl.store(out + 8, local(n) + local(3, 9))
    tl.store(out + 9, (lambda x, y=1: x * y + n)(n, 3))
    tl.store(out + 10, LIMIT + ANNOTATED)


@pytest.mark.parametrize("n", [0, 1, 5, 6, 7])
def test_calls(n):
    check(calls, n)


@tile.jit(noinline=True)
def _outlined(pair, k, FLAG: tl.constexpr):
    if FLAG:
        return pair[0] + k, pair[1]
    return pair[0], pair[1] * k


@tile.jit
def outlined(out, p, n):
    a, b = _outlined((n, 3), 4, True)
    c, d = _outlined((a, b), n, False)
    tl.store(out, a + b)
    tl.store(out + 1, c * d)


def test_outlined():
    check(outlined, 5)


@tile.jit
def tuples(out, p, n):
    point = Point(1, n)
    nested = (point, (0, n))
    for i in range(n):
        point = Point(point.y, point.x + i)
        nested = (point, (nested[1][0] + 1, nested[0].x))
        if i == 2:
            point = Point(x=0, y=point.y)
    tl.store(out, point.x)
    tl.store(out + 1, point.y)
    tl.store(out + 2, nested[0].y + nested[1][0] * 100 + nested[1][1])
    pair = (n, 1) if n > 2 else (1, n)
    tl.store(out + 3, pair[0] - pair[1])
    items = [1, n]
    for i in tl.static_range(3):
        items = [*items, i]
    tl.store(out + 4, len(items) + items[1])
    for i, (a, b) in enumerate(zip((1, 2), (n, 4))):  # noqa: B905
        tl.store(out + 5 + i, a * b)
    tl.store(out + 7, 1 if (n, 2) == (3, 2) else 0)


@pytest.mark.parametrize("n", [0, 1, 3, 4])
def test_tuples(n):
    check(tuples, n)


@tile.jit
def loops(out, p, n, step, START: tl.constexpr):
    total = 0
    for i in range(START, n, 2):
        for j in range(i, 0, -1):
            if j == 2:
                continue
            total += j
        else_ = i
        total += else_
    tl.store(out, total)
    count = 0
    for i in range(n, START, step):  # noqa: B007
        count += 1
    tl.store(out + 1, count)
    x = n
    while x > 0 and tl.load(p + x % 8) != 9:
        x -= 1
    tl.store(out + 2, x)
    while True:
        x += 3
        if x > 20:
            break
        if x % 2 == 0:
            continue
        tl.store(out + 3, x)
    tl.store(out + 4, x)
    for i in tl.static_range(3, -1, -2):
        tl.store(out + 5 + i, i * n)
    for name in ("a", "b"):
        if name == "b":
            tl.store(out + 10, n)
    assert START >= 0, f"{START} is negative"
    tl.static_assert(START < 3, f"{START=}")
    for i in range(2):
        if i == n:
            pass
        elif i > n:
            tl.store(out + 11, i)
        else:
            tl.store(out + 12, i)


@pytest.mark.sweep
@pytest.mark.parametrize("n", [0, 1, 5, 7])
@pytest.mark.parametrize("start", [0, 2])
def test_loops(n, start):
    check(loops, n, 2, START=start)


@tile.aggregate
class Counter:
    count: tl.tensor
    limit: tl.constexpr

    @tile.jit
    def __init__(self, count, limit: tl.constexpr):
        self.count = count
        self.limit = limit

    @tile.jit
    def next(self, by=1):
        if self.count + by > self.limit:
            return Counter(self.count * 0, self.limit)
        return Counter(self.count + by, self.limit)

    @tile.jit
    def __add__(self, other):
        return Counter(self.count + other.count, self.limit)


@tile.jit
def aggregates(out, n):
    counter = Counter(n, 4)
    for i in range(3):
        counter = counter.next()
        tl.store(out + i, counter.count)
    tl.store(out + 3, (counter + counter.next(by=2)).count)


def test_aggregates():
    out = np.full(4, -1, np.int32)
    aggregates[(1,)](out, 3)
    assert out.tolist() == [4, 0, 1, 4]
