"""What a kernel's Python means, in the interpreter as in the compiler."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import tile
import tile.language as tl

#: 2**24 + 1 is no float32, 2**31 + 3 no int32, 300 no int8: a value that went
#: through a narrower type than the compiler gives it shows.
ODD = 16777217


def both(kernel, *arguments, dtype=np.int64, size=4, grid=(1,), **constants) -> list:
    """What a kernel stores to its first argument; the same in both."""
    results = []
    for way in (kernel.interpret, lambda *a, grid, **k: kernel[grid](*a, **k)):
        out = np.full(size, -1).astype(dtype)
        way(out, *arguments, grid=grid, **constants)
        results.append(out)
    np.testing.assert_array_equal(results[0], results[1])
    return results[0].tolist()


@tile.jit
def number_meets_tensor(out, n, wide):
    if n > 2:
        x = 3
    else:
        x = wide
    # int64 whichever way was taken.
    tl.store(out, x * 2147483647)
    y = 5
    if n < 0:
        y = wide
    tl.store(out + 1, y * 2147483647)


@pytest.mark.parametrize("n", [-5, 0, 5])
def test_a_number_takes_the_type_of_the_other_branch(n):
    both(number_meets_tensor, n, 2**40)


@tile.jit
def number_from_a_nested_branch(out, n, m, wide):
    x = 1
    if n > 0:
        if m > 0:
            x = wide
        else:
            x = 2
    tl.store(out, x * 2147483647)


@pytest.mark.parametrize("n", [-1, 1])
@pytest.mark.parametrize("m", [-1, 1])
def test_branches_nest(n, m):
    both(number_from_a_nested_branch, n, m, 2**40)


@tile.jit
def numbers_of_small_types(out, n, p):
    small = tl.load(p)  # int8
    x = 100
    if n > 0:
        x = 27
    # int32 from now on, as it can change; a constant would be int8.
    tl.store(out, small + x)
    y = 100
    if n > 0:
        y = small
    # int8 both ways.
    tl.store(out + 1, y + y)


@pytest.mark.parametrize("n", [-1, 1])
def test_numbers_that_branches_change_are_int32(n):
    result = both(numbers_of_small_types, n, np.array([100], np.int8))
    assert result[0] == (127 if n > 0 else 200)
    assert result[1] == -56


@tile.jit
def constants_stay(out, p, FLAG: tl.constexpr):
    small = tl.load(p)
    if FLAG:
        x = 27
    else:
        x = 100
    tl.store(out, small + x)
    for i in tl.static_range(3):
        x = i
    tl.store(out + 1, small + x + 100)


@pytest.mark.parametrize("flag", [False, True])
def test_constant_branches_leave_constants(flag):
    result = both(constants_stay, np.array([100], np.int8), FLAG=flag)
    assert result[0] == (127 if flag else -56)


@tile.jit
def carried(out, n, p):
    small = tl.load(p)  # int8
    total = 0
    last = 1
    for i in range(n):
        total += small
        last = i
    tl.store(out, total)
    tl.store(out + 1, last + small)
    half = 0.0
    k = 0
    while k < n:
        half += 0.1
        k += 1
    tl.store(out + 2, (half * 1e9).to(tl.int64))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_loops_carry_run_time_values(n):
    result = both(carried, n, np.array([100], np.int8))
    assert result[0] == 100 * n


@tile.jit
def reset_in_loop(out, n, p):
    x = tl.load(p)  # int64
    for _ in range(n):
        x = 7
    tl.store(out, x * 2147483647)


@pytest.mark.parametrize("n", [0, 2])
def test_a_number_keeps_the_type_of_a_carried_variable(n):
    both(reset_in_loop, n, np.array([2**33], np.int64))


@tile.jit
def picked(n, wide):
    if n > 5:
        return 3
    if n > 2:
        return wide
    return 4


@tile.jit
def small_numbers(n):
    for i in range(n):
        if i == 3:
            return 3
    return 4


@tile.jit
def pairs(n, wide):
    if n > 5:
        return 3, wide
    return wide, 4


@tile.jit
def returned_numbers(out, n, wide):
    tl.store(out, picked(n, wide) * 2147483647)
    tl.store(out + 1, (5 if n > 2 else wide) * 2147483647)
    a, b = pairs(n, wide)
    tl.store(out + 2, (a + b) * 2147483647 + (wide if n > 2 else 5) * 2147483647)
    # Both are int32, in which the multiplication wraps around.
    tl.store(out + 3, small_numbers(n) * 2147483647)


@pytest.mark.parametrize("n", [0, 4, 9])
def test_returned_numbers_and_ternaries_agree_on_a_type(n):
    both(returned_numbers, n, 2**40)


@tile.jit
def connectives(out, n, m):
    tl.store(out, (n > 1 and m > 1).to(tl.int64) + 2 * (n > 1 or m > 1))
    tl.store(out + 1, (not n) + 0)
    tl.store(out + 2, (1 < n < 5) + 0)
    if 0 <= n < m and not (n == 2):
        tl.store(out + 3, 1)


@pytest.mark.parametrize("n", [0, 2, 3, 7])
@pytest.mark.parametrize("m", [0, 4])
def test_and_or_not_and_chains(n, m):
    both(connectives, n, m)


@tile.jit
def elementwise_connectives(out):
    i = tl.arange(0, 8)
    tl.store(out + i, (2 < i < 6 and not (i == 4)).to(tl.int64) + 2 * (i < 1 or i > 6))


def test_connectives_of_blocks():
    assert both(elementwise_connectives, size=8) == [2, 0, 0, 1, 0, 1, 0, 2]


@tile.jit
def python_builtins(out, n, m):
    tl.store(out, min(n, m, 7) + max(n, 3))
    tl.store(out + 1, abs(n - 10))
    tl.store(out + 2, sum([n, m, 1]))
    total = 0
    for i, x in enumerate((n, m)):
        total += i * x
    tl.store(out + 3, total + len((1, 2, 3)))


def test_builtins_of_python():
    assert both(python_builtins, 4, 9) == [8, 6, 14, 12]


@tile.jit
def divisions(out, p, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i)
    tl.store(out + i, x // 3 * 100 + x % 3)
    tl.store(out + N + i, (x // -3) * 100 + (x % -3))


def test_division_is_that_of_c():
    x = np.array([7, -7, 8, -8], np.int32)
    result = both(divisions, x, N=4, size=8)
    assert result[:4] == [201, -201, 202, -202]


@tile.jit
def wrapping(out, p, q):
    tl.store(out, tl.load(p) + 1)
    tl.store(out + 1, tl.load(p) * 3)
    tl.store(out + 2, tl.load(q) - 1)
    tl.store(out + 3, (tl.load(q) - 1) // 2)


def test_integers_wrap_around():
    result = both(wrapping, np.array([2**31 - 1], np.int32), np.array([0], np.uint32))
    assert result == [-(2**31), 2147483645, 2**32 - 1, 2**31 - 1]


class Pair(NamedTuple):
    low: object
    high: object


@tile.aggregate
class Range:
    begin: tl.tensor
    count: tl.tensor
    SCALE: tl.constexpr

    @tile.jit
    def __init__(self, begin, count, SCALE: tl.constexpr):
        self.begin = begin
        self.count = count
        self.SCALE = SCALE

    @tile.jit
    def end(self):
        return self.begin + self.count * self.SCALE

    @tile.jit
    def __add__(self, other):
        return Range(self.begin + other, self.count, self.SCALE)


@tile.aggregate
class Fields:
    x: tl.tensor
    y: tl.tensor


@tile.jit
def aggregates(out, n, m):
    r = Range(n, m, 10)
    for _ in range(3):
        r = r + 1
    tl.store(out, r.end())
    f = Fields(r.begin, y=m)
    tl.store(out + 1, f.x * 100 + f.y)
    p = Pair(n, m)
    if n > 0:
        p = Pair(m, n)
    tl.store(out + 2, p.low * 100 + p.high)


@pytest.mark.parametrize("n", [-2, 5])
def test_aggregates_and_named_tuples(n):
    result = both(aggregates, n, 7)
    assert result[0] == n + 3 + 70


@tile.jit
def locals_and_lambdas(out, n):
    def twice(x):
        return x * 2 if x > 3 else x

    values = [twice(i + n) for i in range(3)]
    pair = (v for v in (n, 2))
    n = sum(pair) + len(pair) - 4
    tl.store(out, values[0] + values[1] * 10 + values[2] * 100)
    tl.store(out + 1, tl.reduce(tl.arange(0, 8) + n, 0, lambda a, b: a + b))
    if (y := n * 2) > 4:
        tl.store(out + 2, y)


@pytest.mark.parametrize("n", [1, 3])
def test_functions_inside_kernels(n):
    both(locals_and_lambdas, n)


@tile.jit(noinline=True)
def apart(x, y):
    if x > y:
        return x - y
    return y - x


@tile.jit
def variadic(*values, scale=2):
    total = 0
    for v in values:
        total += v * scale
    return total


@tile.jit
def calls(out, n, m):
    tl.store(out, apart(n, m))
    tl.store(out + 1, variadic(n, m, 3))
    tl.store(out + 2, variadic(n, scale=m))


def test_calls():
    assert both(calls, 4, 9)[:3] == [5, 32, 36]


@tile.jit
def branching_combine(x, y):
    if x > y:
        r = x
    else:
        r = y
    return r


@tile.jit
def branching_map(x, y):
    r = x
    for _ in range(y):
        r = r * 2
    if r > 20:
        r = r - 20
    return r


@tile.jit
def regions(out, p):
    i = tl.arange(0, 8)
    x = tl.load(p + i)
    tl.store(out + i, tl.map_elementwise(branching_map, x, x % 3))
    tl.store(out + 8 + i, tl.associative_scan(x, 0, branching_combine))
    tl.store(out + 16, tl.reduce(x, 0, branching_combine))


def test_functions_of_scalars_may_branch_for_each_element():
    x = np.array([1, 5, 2, 7, 3, 8, 4, 6], np.int32)
    expected = []
    for v in x.tolist():
        r = v << (v % 3)
        expected.append(r - 20 if r > 20 else r)
    expected += np.maximum.accumulate(x).tolist()
    assert both(regions, x, size=17) == [*expected, 8]


SCALE = tl.constexpr(3)
EIGHT = tl.constexpr(8)


class Names:
    OFFSET = tl.constexpr(5)


@tile.jit
def constants_of_modules(out, n, LAST: tl.constexpr = EIGHT):
    local: tl.constexpr = SCALE * 2
    tl.store(out, n * SCALE + Names.OFFSET)
    tl.store(out + 1, n + local + LAST.value)
    tl.static_assert(SCALE == 3, f"SCALE is {SCALE}")
    made = tl.constexpr(4)
    tl.store(out + 2, tl.sum(tl.arange(0, made)))
    assert LAST == 8, "constant"


def test_constants():
    assert both(constants_of_modules, 7)[:3] == [26, 21, 6]


def test_closures():
    factor = tl.constexpr(6)

    @tile.jit
    def helper(x):
        return x * factor

    @tile.jit
    def kernel(out, n):
        tl.store(out, helper(n) + factor)

    assert both(kernel, 7)[0] == 48


@tile.jit
def specialised(out, one, big, flag, nothing, f):
    tl.store(out, one * 2147483647)
    tl.store(out + 1, big // 2)
    if nothing is None:
        tl.store(out + 2, flag + 1)
    tl.store(out + 3, (f * 3).to(tl.int64))


def test_arguments_are_specialised():
    both(specialised, 1, 2**33, True, None, 0.1)
    both(specialised, 3, 2**63 + 5, False, None, 1e9)


def plain_helper(x):
    return x + 1


changing = 3


@tile.jit
def tries(out):
    try:
        tl.store(out, 1)
    except ValueError:
        pass


@tile.jit
def raises(out, n):
    if n > 5:
        raise ValueError("large")


@tile.jit
def calls_a_helper(out):
    tl.store(out, plain_helper(tl.arange(0, 1)))


@tile.jit
def reads_a_global(out):
    tl.store(out, tl.program_id(0) * changing)


@tile.jit
def defines_a_class(out):
    class C:
        pass


@tile.jit
def matches(out, n):
    match n:
        case int():
            pass


@pytest.mark.parametrize(
    ("kernel", "arguments", "text"),
    [
        (tries, (), "`try` cannot be used in kernels"),
        (raises, (7,), "`raise` cannot be used in kernels"),
        (calls_a_helper, (), "`plain_helper` is a plain Python function"),
        (reads_a_global, (), "Cannot access global variable `changing`"),
        (defines_a_class, (), "class definitions cannot be used in kernels"),
        (matches, (1,), "`match` cannot be used in kernels"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_the_compiler_refuses_is_refused(kernel, arguments, text):
    """A kernel that runs here is one that compiles."""
    out = np.zeros(4, np.int32)
    for run in (kernel.interpret, lambda *a, grid: kernel[grid](*a)):
        with pytest.raises(tile.CompilationError, match=text) as caught:
            run(out, *arguments, grid=(1,))
        assert "test_rules.py" in str(caught.value)
    assert (out == 0).all()


@tile.jit
def guarded(out, LARGE: tl.constexpr):
    if LARGE:
        tl.store(out, plain_helper(tl.arange(0, 1)) * changing)
    else:
        tl.store(out, 1)


def test_a_branch_that_is_not_compiled_is_not_looked_at():
    assert both(guarded, LARGE=False)[0] == 1


@tile.jit
def divides(out, x_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out + i, x // y)
    tl.store(out + N + i, x % y)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32])
def test_a_division_by_zero_is_that_of_the_gpu(dtype):
    rng = np.random.default_rng(0)
    x = rng.integers(np.iinfo(dtype).min // 2, np.iinfo(dtype).max, 64, dtype)
    y = rng.integers(0, 3, 64, dtype)
    both(divides, x, y, dtype=dtype, size=128, N=64)
