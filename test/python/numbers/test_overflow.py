"""Integer overflow: wraps around, and stops kernels that look for it (`debug=True`,
`sanitize_overflow=True`)."""

from __future__ import annotations

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways
#: A failed assertion on a GPU ends the use of the device by the process.
stops_the_kernel = sim_only


@tile.jit
def apply(x, y, out, op: tl.constexpr, check: tl.constexpr = True):
    i = tl.arange(0, 1)
    a, b = tl.load(x + i), tl.load(y + i)
    if op == "+":
        r = tl.add(a, b, sanitize_overflow=check)
    elif op == "-":
        r = tl.sub(a, b, sanitize_overflow=check)
    else:
        r = tl.mul(a, b, sanitize_overflow=check)
    tl.store(out + i, r)


EXACT = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}


def edges(dtype) -> list[int]:
    info = np.iinfo(dtype)
    root = int(info.max) ** 0.5
    near = [int(info.min), int(info.min) + 1, -1, 0, 1, 2, int(info.max) - 1, int(info.max)]
    near += [int(root), int(root) + 1, int(info.min) // 2, int(info.max) // 2 + 1]
    return sorted({v for v in near if info.min <= v <= info.max})


def run(dtype, op: str, a: int, b: int, **options) -> int:
    x, y, out = np.array([a], dtype), np.array([b], dtype), np.zeros(1, dtype)
    apply[(1,)](x, y, out, op, **options)
    return int(out[0])


SIGNED = [np.int8, np.int16, np.int32, np.int64]


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize("op", list(EXACT))
def test_integers_wrap_around(dtype, op):
    """Every pair of numbers near the ends and the middle of a type."""
    info = np.iinfo(dtype)
    for a in edges(dtype):
        for b in edges(dtype):
            wrapped = (EXACT[op](a, b) - int(info.min)) % 2**info.bits + int(info.min)
            assert run(dtype, op, a, b) == wrapped, (a, b)
            if info.min <= EXACT[op](a, b) <= info.max:
                assert run(dtype, op, a, b, debug=True) == wrapped, (a, b)


@pytest.mark.sweep
@stops_the_kernel
@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize("op", list(EXACT))
def test_signed_integers_that_overflow_stop_the_kernel(dtype, op):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(7)
    values = edges(dtype)
    pairs = [(int(a), int(b)) for a, b in rng.choice(values, (24, 2))]
    pairs += [(info.max, info.max), (info.min, -1), (-1, info.min), (info.min, info.min)]
    for a, b in pairs:
        if not info.min <= EXACT[op](int(a), int(b)) <= info.max:
            with pytest.raises(tile.TileError, match=f"integer overflow: the result of \\{op} "):
                run(dtype, op, a, b, debug=True)


@stops_the_kernel
def test_what_asks_for_the_check():
    big = (np.int32, "*", 65537, 65537)
    assert run(*big) == 131073
    for options in ({"debug": True}, {"sanitize_overflow": True}):
        with pytest.raises(tile.TileError, match="does not fit in int32"):
            run(*big, **options)
    assert run(*big, debug=True, sanitize_overflow=False) == 131073
    assert run(*big, debug=True, check=False) == 131073


@stops_the_kernel
def test_the_decorator_asks_as_well():
    @tile.jit(debug=True)
    def square(x, out):
        n = tl.load(x)
        tl.store(out, n * n)

    out = np.zeros(1, np.int32)
    square[(1,)](np.array([46340], np.int32), out)
    assert out[0] == 46340**2
    with pytest.raises(tile.TileError, match="integer overflow"):
        square[(1,)](np.array([46341], np.int32), out)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
def test_unsigned_integers_wrap(dtype):
    top = np.iinfo(dtype).max
    assert run(dtype, "+", top, 2, debug=True) == 1
    assert run(dtype, "-", 0, 1, debug=True) == top


@tile.jit
def add_up(a, b):
    return a + b


@tile.jit
def library(x, out, N: tl.constexpr):
    """What wraps on purpose, or combines elements."""
    i = tl.arange(0, N)
    v = tl.load(x + i)
    random = tl.randint(1, i)
    noise = tl.rand(2, i)
    tl.store(out, tl.reduce(v, 0, add_up))
    tl.store(out + 1, tl.sum((noise < 2.0).to(tl.int32)) + tl.sum((random == random).to(tl.int32)))
    total = 0
    for k in range(2147483600, 2147483640, 5):
        if total > 100:
            break
        total += (k > 0).to(tl.int32)
    for k in range(-2147483600, -2147483640, -5):
        total += (k < 0).to(tl.int32)
    tl.store(out + 2, total)


def test_the_library_does_not_overflow():
    x, out = np.full(64, 2**30, np.int32), np.zeros(3, np.int32)
    library[(1,)](x, out, 64, debug=True)
    assert out.tolist() == [0, 128, 16]


@tile.jit
def count_kernel(out_ptr, low, high, step, STEP: tl.constexpr):
    runs, last = 0, 0
    for i in range(low, high, STEP):
        runs += 1
        last = i
    tl.store(out_ptr, runs)
    tl.store(out_ptr + 1, last)
    runs = 0
    for i in range(low, high, step):
        runs += 1
        last = i
    tl.store(out_ptr + 2, runs)
    tl.store(out_ptr + 3, last)
    runs = 0
    for _ in range(high - 1, low - 1, -STEP):
        runs += 1
    tl.store(out_ptr + 4, runs)


@pytest.mark.parametrize("step", [1, 2, 7, 2**30])
@pytest.mark.parametrize(
    ("low", "high"),
    [(2**31 - 20, 2**31 - 1), (2**31 - 20, 2**31 - 8), (1 - 2**31, 10 - 2**31), (5, 5), (9, -9)],
)
def test_loops_end_before_their_counter_overflows(low, high, step):
    out = np.full(5, -1, np.int32)
    count_kernel[(1,)](out, low, high, step, STEP=step)
    expected = range(low, high, step)
    last = expected[-1] if expected else 0
    assert out.tolist() == [len(expected), last] * 2 + [len(expected)]


@tile.jit
def sum_far_counters(x, out, bounds, STEP: tl.constexpr, WIDE: tl.constexpr):
    """A loop of loads, which an assembler unrolls."""
    first, end = tl.load(bounds), tl.load(bounds + 1)
    step = STEP
    if STEP == 0:
        step = tl.load(bounds + 2)
    place = x + tl.arange(0, 32)
    total = tl.zeros([32], tl.int32)
    runs = 0
    if WIDE:
        while first < end:
            total += tl.load(place)
            place += 32
            runs += 1
            # The last addition would leave the type.
            left = (end.to(tl.uint32) - first.to(tl.uint32)).to(tl.int64)
            first = tl.where(left <= step, end, first + step)
    else:
        for _ in range(first, end, step):
            total += tl.load(place)
            place += 32
            runs += 1
    tl.store(out + tl.arange(0, 32), total)
    tl.store(out + 32, runs)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("known", [True, False], ids=["constexpr step", "loaded step"])
@pytest.mark.parametrize("wide", [False, True], ids=["for", "while"])
@pytest.mark.parametrize(
    "counters",
    [
        range(-(2**31), 2**31 - 1, 2**27 - 1),
        range(-(2**31), 2**31 - 1, 2**30),
        range(-(2**31), -1377437443, 2**30 - 1),
        range(-1, 2**31 - 1, 2**28),
        range(-(2**31), 0, 2**28),
        range(-(2**31), -(2**31) + 7, 3),
        range(2**31 - 50, 2**31 - 1, 7),
        range(5, 2**31 - 1, 2**29 + 1),
        range(-10, 11, 1),
    ],
    ids=str,
)
def test_loops_over_more_than_half_of_their_type(counters, wide, known):
    x = np.random.default_rng(len(counters)).integers(-9, 9, (len(counters), 32), np.int32)
    out = np.full(33, -1, np.int32)
    bounds = np.array([counters.start, counters.stop, counters.step], np.int32)
    step = counters.step if known else 0
    sum_far_counters[(1,)](x, out, bounds, step, wide, num_warps=1)
    assert out[32] == len(counters)
    np.testing.assert_array_equal(out[:32], x.sum(0))
