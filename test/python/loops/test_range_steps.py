"""Ranges whose step is known only when the kernel runs: the numbers are those of Python's range."""

from __future__ import annotations

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.runtime.jit import JITFunction

pytestmark = pytest.mark.both_ways

#: How many numbers of a range a kernel stores.
KEPT = 12


@tile.jit
def count(out, start, end, step, KEPT: tl.constexpr):
    n = 0
    k = start
    for k in range(start, end, step):
        if n < KEPT:
            tl.store(out + 2 + n, k)
        n += 1
    tl.store(out, n)
    tl.store(out + 1, k)


@tile.jit
def count_until(out, start, end, step, KEPT: tl.constexpr):
    n = 0
    k = start
    for k in range(start, end, step):
        tl.store(out + 2 + n, k)
        n += 1
        if n == KEPT:
            break
    tl.store(out, n)
    tl.store(out + 1, k)


@tile.jit
def loaded_ranges(out, bounds, KEPT: tl.constexpr, UNTIL: tl.constexpr):
    mine = bounds + tl.program_id(0) * 3
    start, end, step = tl.load(mine), tl.load(mine + 1), tl.load(mine + 2)
    row = out + tl.program_id(0) * (KEPT + 2)
    if UNTIL:
        count_until(row, start, end, step, KEPT)
    else:
        count(row, start, end, step, KEPT)


def expected(start: int, end: int, step: int, until: bool, dtype) -> np.ndarray:
    """What the kernels store of a range."""
    row = np.full(KEPT + 2, -99, dtype)
    numbers = list(range(start, end, step))[: KEPT if until else None]
    row[0], row[1] = len(numbers), numbers[-1] if numbers else start
    row[2 : 2 + min(KEPT, len(numbers))] = numbers[:KEPT]
    return row


def ranges(dtype, count: int, seed: int) -> np.ndarray:
    """Ranges of both directions, also at the ends of the type. Many are empty or short."""
    limits, draw = np.iinfo(dtype), np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        size, many = int(draw.integers(1, 1 << 20)), int(draw.integers(0, 3 * KEPT))
        sign = 1 if draw.random() < 0.5 else -1
        span = min(size * many + int(draw.integers(0, size)), limits.max)
        start = [limits.max, limits.min, 0, int(draw.integers(-1000, 1000))][draw.integers(4)]
        end = min(max(start + sign * span, limits.min), limits.max)
        if draw.random() < 0.2:
            end = min(max(start - sign * int(draw.integers(0, 2)), limits.min), limits.max)
        rows.append((start, end, sign * size))
    return np.array(rows, dtype)


@pytest.mark.parametrize("until", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_loaded_steps(dtype, until):
    bounds = ranges(dtype, 200, seed=int(until))
    out = np.full((len(bounds), KEPT + 2), -99, dtype)
    loaded_ranges[(len(bounds),)](out, bounds, KEPT=KEPT, UNTIL=until)
    for row, (start, end, step) in zip(out, bounds.tolist(), strict=True):
        np.testing.assert_array_equal(
            row, expected(start, end, step, until, dtype), err_msg=f"range({start}, {end}, {step})"
        )


@pytest.mark.parametrize("kernel", [count, count_until], ids=["count", "until"])
@pytest.mark.parametrize("specialized", [True, False])
@pytest.mark.parametrize(
    "bounds",
    [(0, 10, 3), (10, 0, -3), (10, 0, 3), (0, 10, -2), (5, 4, -1), (-4, 40, 1), (7, 7, -16)],
)
def test_steps_that_are_arguments(kernel, specialized, bounds):
    if not specialized:
        kernel = JITFunction(kernel.fn, do_not_specialize=["start", "end", "step"])
    out = np.full(KEPT + 2, -99, np.int32)
    kernel[(1,)](out, *bounds, KEPT=KEPT)
    until = kernel.fn is count_until.fn
    np.testing.assert_array_equal(out, expected(*bounds, until, np.int32))


@tile.jit
def ranges_of_types(out, starts, ends, steps, WIDTH: tl.constexpr, KEPT: tl.constexpr):
    mine = tl.program_id(0)
    start, end, step = tl.load(starts + mine), tl.load(ends + mine), tl.load(steps + mine)
    row = out + mine * WIDTH
    n = 0
    for k in range(start, end, step):
        n += 1
        tl.store(row + n, k)
        if KEPT is not None and n == KEPT:
            break
    tl.store(row, n)


@pytest.mark.parametrize("seed", range(8))
def test_bounds_and_steps_of_several_types(seed):
    """Bounds and steps with and without a sign: the same numbers, in as many bits."""
    draw = np.random.default_rng(seed)
    types = draw.choice([np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64], 3)
    columns = []
    for ty in types:
        low = -20 if np.iinfo(ty).min < 0 else 0
        columns.append(draw.integers(low, 20, 100).astype(ty))
    columns[2][columns[2] == 0] = 3
    kept = KEPT if seed % 2 else None
    out = np.full((100, 41), -99, np.int64)
    ranges_of_types[(100,)](out, *columns, WIDTH=41, KEPT=kept)
    for row, *bounds in zip(out, *(c.tolist() for c in columns), strict=True):
        numbers = list(range(*bounds))[:kept]
        assert row[0] == len(numbers), f"range{tuple(bounds)} of {types}"
        assert [int(k) % 2**32 for k in row[1 : 1 + len(numbers)]] == [k % 2**32 for k in numbers]


@tile.jit
def downwards(out, n_ptr, START: tl.constexpr):
    n = tl.load(n_ptr)
    for k in range(n - 1, START, -1):
        tl.store(out + k, 1)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_down_to_zero_without_a_sign(n, dtype):
    out = np.zeros(8, np.int32)
    if n or dtype != np.uint8:  # The last number of 8 bits is a number of 32 bits.
        downwards[(1,)](out, np.array([n], dtype), START=-1)
    assert out.tolist() == [1] * n + [0] * (8 - n)


@tile.jit
def by_programs(out, n, BLOCK: tl.constexpr):
    total = 0
    for k in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        total += k
    tl.store(out + tl.program_id(0), total)


def test_steps_that_cannot_be_negative_are_the_loops_own():
    """A step that is made of sizes costs nothing more."""
    out = np.zeros(3, np.int32)
    kernel = by_programs[(3,)](out, 100, BLOCK=8)
    assert out.tolist() == [sum(range(p * 8, 100, 24)) for p in range(3)]
    if not tile.knobs.runtime.interpret:
        assert "arith.divui" not in kernel.asm["ttir"]
        assert "arith.select" not in kernel.asm["ttir"]


@tile.jit
def by_an_argument(out, n, step):
    for k in range(0, n, step):
        tl.store(out + k, 1)


@pytest.mark.simulator
def test_a_step_that_is_zero_is_found():
    out = np.zeros(8, np.int32)
    with pytest.raises(tile.TileError, match="a range's step must not be 0"):
        by_an_argument[(1,)](out, 4, 0, debug=True)
