"""`break`, `continue` and `return`, executed: out of loops of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from plain_python import Pointer, plain

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


def run(kernel, *arguments, size: int = 8, dtype=np.int32, **constants) -> list:
    """What a kernel stores to its first argument."""
    out = np.full(size, -1, dtype)
    kernel[(1,)](out, *arguments, **constants)
    return out.tolist()


@tile.jit
def return_in_counted_loop(out, n, limit):
    for i in range(n):
        if i == limit:
            tl.store(out + 1, i)
            return
        tl.store(out, i)
    tl.store(out + 2, 100)


@pytest.mark.parametrize(("n", "limit"), [(5, 3), (5, 0), (3, 7), (0, 0)])
def test_return_in_counted_loop(n, limit):
    expected = [-1] * 8
    for i in range(n):
        if i == limit:
            expected[1] = i
            break
        expected[0] = i
    else:
        expected[2] = 100
    assert run(return_in_counted_loop, n, limit) == expected


@tile.jit
def _first_above(p, n, limit):
    for i in range(n):
        x = tl.load(p + i)
        if x > limit:
            return i, x
        if x == -7:
            break
    return -1, limit


@tile.jit
def return_values(out, p, n, limit):
    i, x = _first_above(p, n, limit)
    tl.store(out, i)
    tl.store(out + 1, x)


@pytest.mark.parametrize(
    ("limit", "expected"), [(3, [2, 5]), (100, [-1, 100]), (0, [0, 1]), (6, [-1, 6])]
)
def test_return_values_from_a_loop(limit, expected):
    data = np.array([1, 3, 5, -7, 9], np.int32)
    assert run(return_values, data, 5, limit)[:2] == expected


@tile.jit
def _search(p, rows, columns, wanted):
    for i in range(rows):
        j = 0
        while j < columns:
            if tl.load(p + i * columns + j) == wanted:
                return i * 10 + j
            j += 1
        if i == 2:
            return 1000
    return 2000


@tile.jit
def return_from_nested_loops(out, p, rows, columns, wanted):
    tl.store(out, _search(p, rows, columns, wanted))


@pytest.mark.parametrize("wanted", [0, 4, 7, 8, 11, 99])
@pytest.mark.parametrize("rows", [0, 2, 4])
def test_return_from_nested_loops(rows, wanted):
    data = np.arange(12, dtype=np.int32)
    expected = 2000
    if wanted < rows * 3 and wanted < 9:
        expected = wanted // 3 * 10 + wanted % 3
    elif rows == 4:
        expected = 1000
    assert run(return_from_nested_loops, data, rows, 3, wanted)[0] == expected


@tile.jit
def return_from_while(out, n):
    x = n
    while x != 1:
        if x > 1000:
            tl.store(out, -x)
            return
        if x % 2 == 0:
            x = x // 2
            continue
        x = 3 * x + 1
    tl.store(out, x)


def _collatz(x: int) -> int:
    while x != 1:
        if x > 1000:
            return -x
        x = x // 2 if x % 2 == 0 else 3 * x + 1
    return x


@pytest.mark.parametrize("n", [6, 7, 27, 1])
def test_return_from_while(n):
    assert run(return_from_while, n)[0] == _collatz(n)


@tile.jit
def break_out_of_unrolled(out, n):
    total = 0
    last = -5
    for i in tl.static_range(6):
        if i == n:
            break
        if i == 1:
            continue
        total += i
        last = i
    tl.store(out, total)
    tl.store(out + 1, last)


@pytest.mark.parametrize("n", range(8))
def test_break_out_of_unrolled(n):
    seen = [i for i in range(min(n, 6)) if i != 1]
    assert run(break_out_of_unrolled, n)[:2] == [sum(seen), seen[-1] if seen else -5]


@tile.jit
def continue_in_unrolled(out, mask):
    for i in tl.static_range(5):
        if (mask >> i) & 1:
            continue
        tl.store(out + i, i)
    tl.store(out + 7, 7)


@pytest.mark.parametrize("mask", [0, 0b10101, 0b11111])
def test_continue_in_unrolled(mask):
    expected = [-1 if mask >> i & 1 else i for i in range(5)]
    assert run(continue_in_unrolled, mask) == [*expected, -1, -1, 7]


@tile.jit
def _unrolled_search(p, wanted, COUNT: tl.constexpr):
    for i in tl.static_range(COUNT):
        if tl.load(p + i) == wanted:
            return i
    return -2


@tile.jit
def return_from_unrolled(out, p, wanted, COUNT: tl.constexpr):
    tl.store(out, _unrolled_search(p, wanted, COUNT))


@pytest.mark.parametrize("wanted", [5, 6, 8, 9])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_return_from_unrolled(wanted, count):
    data = np.array([5, 6, 7, 8], np.int32)
    expected = next((i for i in range(count) if data[i] == wanted), -2)
    assert run(return_from_unrolled, data, wanted, COUNT=count)[0] == expected


@tile.jit
def static_return_from_unrolled(out, n, LIMIT: tl.constexpr):
    for i in tl.static_range(4):
        tl.store(out + i, n)
        if i == LIMIT:
            return
    tl.store(out + 7, n)


@pytest.mark.parametrize("limit", [0, 2, 9])
def test_static_return_from_unrolled(limit):
    expected = [3 if i <= limit and i < 4 else -1 for i in range(7)]
    assert run(static_return_from_unrolled, 3, LIMIT=limit) == [*expected, 3 if limit > 3 else -1]


@tile.jit
def unrolled_in_counted(out, n, stop):
    for i in range(n):
        for j in tl.static_range(3):
            if i * 3 + j == stop:
                return
            if (i + j) % 2 == 1:
                break
            tl.store(out + i * 3 + j, 1)
    tl.store(out + 7, 9)


@pytest.mark.parametrize("stop", [0, 1, 2, 5, 99])
def test_unrolled_in_counted(stop):
    expected = [-1] * 8

    def reference():
        for i in range(2):
            for j in range(3):
                if i * 3 + j == stop:
                    return
                if (i + j) % 2 == 1:
                    break
                expected[i * 3 + j] = 1
        expected[7] = 9

    reference()
    assert run(unrolled_in_counted, 2, stop) == expected


@tile.jit
def counted_in_unrolled(out, n, stop):
    count = 0
    for i in tl.static_range(3):
        for j in range(n):
            count += 1
            if count == stop:
                tl.store(out + 1, i)
                return
            if j > i:
                break
        count += 10
    tl.store(out, count)


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("stop", [1, 12, 13, 200])
def test_counted_in_unrolled(n, stop):
    expected = [-1, -1]

    def reference():
        count = 0
        for i in range(3):
            for j in range(n):
                count += 1
                if count == stop:
                    expected[1] = i
                    return
                if j > i:
                    break
            count += 10
        expected[0] = count

    reference()
    assert run(counted_in_unrolled, n, stop)[:2] == expected


@tile.jit
def _blocks(p, n):
    offsets = tl.arange(0, 8)
    total = tl.zeros((8,), tl.float32)
    for i in range(n):
        x = tl.load(p + i * 8 + offsets)
        if tl.sum(x, axis=0) > 100.0:
            return total, i
        total += x
    return total * 2, n


@tile.jit
def return_blocks(out, p, n):
    total, i = _blocks(p, n)
    tl.store(out + tl.arange(0, 8), total + i)


@pytest.mark.parametrize("bad", [0, 2, 9])
def test_return_blocks(bad):
    data = np.arange(32, dtype=np.float32).reshape(4, 8) / 8
    if bad < 4:
        data[bad] = 50
    stop = min(bad, 4)
    expected = data[:stop].sum(0) * (1 if bad < 4 else 2) + stop
    assert run(return_blocks, data, 4, dtype=np.float32) == pytest.approx(expected.tolist())


@tile.jit
def temporaries_may_change_type(out, n):
    t = tl.arange(0, 4)
    for i in tl.static_range(3):
        tl.store(out + t, i)
        t = i
        if i == n:
            break
        t = tl.arange(0, 4) + i
    for i in range(n):
        if i == 1:
            u = 1.5
            continue
        u = i
        tl.store(out + 7, u)


def test_temporaries_may_change_type():
    assert run(temporaries_may_change_type, 1) == [1, 1, 1, 1, -1, -1, -1, 0]


@tile.jit
def constant_conditions_keep_loops_counted(out, n, EARLY: tl.constexpr):
    for i in range(n):
        if EARLY:
            return
        if EARLY and i == 3:
            break
        tl.store(out + i, i)


@pytest.mark.compiled
def test_constant_conditions_keep_loops_counted():
    assert run(constant_conditions_keep_loops_counted, 3, EARLY=False)[:4] == [0, 1, 2, -1]
    assert run(constant_conditions_keep_loops_counted, 3, EARLY=True)[:4] == [-1] * 4
    kernel = constant_conditions_keep_loops_counted.warmup(tl.int32, 3, EARLY=False, grid=(1,))
    assert "scf.while" not in kernel.asm["ttir"]
    assert "scf.for" in kernel.asm["ttir"]


@tile.jit
def _sign(x):
    if x > 0:
        for i in range(3):
            if i == x:
                return 1
        return 2
    elif x < 0:
        return -1
    return 0


@tile.jit
def loops_under_branches(out, n):
    for i in tl.static_range(5):
        tl.store(out + i, _sign(n + i))


def test_loops_under_branches():
    assert run(loops_under_branches, -1)[:5] == [-1, 0, 1, 1, 2]


@tile.jit
def _many(p, n, k):
    s = 0
    for i in range(n):
        if i > 0:
            s += 1
            if s == k:
                continue
            a = s + i
        else:
            a = i
        if (s + a) % 3 != 0:
            if s > k + 9:
                break
            s += a
        if i % 2 == 0:
            b = i * 2
            if s == 17:
                return -s
            s += b
        if s % 5 == 1:
            if a == 4:
                continue
            if a == 7:
                break
            s += 2
        if s > 3:
            if s % 7 == 0:
                return s * 100
            for j in tl.static_range(3):
                if s + j == 30:
                    break
                s += 1
        s += 1
    return s


@tile.jit
def many_jumps(out, p, n, k):
    x = _many(p, n, k)
    if x > 5:
        tl.store(out, x)
        if x % 2 == 0:
            return
        y = 5
    else:
        y = 6
    if x > 7:
        if x == 9:
            return
        y += 1
    if x > 9:
        if y == 6:
            tl.store(out + 3, y)
            return
        z = x
    else:
        z = -y
    if z > 0:
        if x % 3 == 0:
            return
    tl.store(out + 1, x + z)
    tl.store(out + 2, y)


@tile.jit
def else_of_loops(out, p, n, k):
    for i in range(n):
        if i == k:
            break
    else:
        tl.store(out, 1)
    j = 0
    while j < n:
        if j * j == k:
            if k == 4:
                return
            break
        j += 1
    else:
        tl.store(out + 1, j)
    for i in tl.static_range(3):
        if i == k:
            break
    else:
        j += 10
    for i in tl.static_range(2):
        for m in range(n):
            if m == k:
                break
        else:
            if i == 1:
                break
            tl.store(out + 3, i + 5)
            continue
        tl.store(out + 4, i)
    else:
        tl.store(out + 5, 7)
    for i in range(n):
        tl.store(out + 6, i)
    else:
        j += 1
    tl.store(out + 2, j)


@pytest.mark.parametrize("n", [0, 2, 5])
@pytest.mark.parametrize("k", [0, 1, 4, 9])
def test_else_of_loops(n, k):
    expected = [-1] * 8
    plain(else_of_loops)(Pointer(expected), Pointer(expected), n, k)
    assert run(else_of_loops, np.zeros(1, np.int32), n, k) == expected


def test_many_jumps():
    reference = plain(many_jumps)
    for n in (0, 1, 3, 6, 9, 14):
        for k in (0, 2, 3, 8):
            expected = [-1] * 8
            reference(Pointer(expected), Pointer(expected), n, k)
            assert run(many_jumps, np.zeros(1, np.int32), n, k) == expected, (n, k)


@pytest.mark.compiled
def test_what_follows_many_jumps_is_generated_once():
    kernel = many_jumps.warmup(tl.int32, tl.int32, 3, 4, grid=(1,))
    assert len(kernel.asm["ttir"].splitlines()) < 700


@tile.jit
def count_until(out, start, end, step, limit, DOWN: tl.constexpr):
    count = 0
    for i in range(start, end, -3 if DOWN else step):
        if count == limit:
            break
        count += 1
        tl.store(out, i)
    tl.store(out + 1, count)


@pytest.mark.parametrize("limit", [2, 100])
@pytest.mark.parametrize(
    "bounds",
    [
        (2**31 - 10, 2**31 - 1, 4),
        (2**31 - 10, 2**31 - 1, 2**31 - 1),
        (-(2**31), 2**31 - 1, 2**30 + 1),
        (2**63 - 10, 2**63 - 1, 4),
        (5, 5, 2**31 - 1),
        (6, 5, 2**31 - 1),
        (0, 7, 3),
        (-(2**31) + 9, -(2**31), None),
        (-(2**63) + 9, -(2**63), None),
    ],
)
def test_the_counter_may_leave_its_type_behind_the_end(bounds, limit):
    """A loop that a jump may leave counts as the others do. It ends behind `end` even where the
    next value of its variable would be one of the other end of the type."""
    start, end, step = bounds
    values = list(range(start, end, -3 if step is None else step))[:limit]
    expected = [values[-1] if values else -1, len(values)]
    got = run(count_until, start, end, step or 1, limit, size=2, dtype=np.int64, DOWN=step is None)
    assert got == expected
