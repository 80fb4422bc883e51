"""Integer operations on every type, at the edges of its range; mixed operands."""

from __future__ import annotations

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

N = 128
KINDS = {f"{s}{b}": np.dtype(f"{s}{b // 8}") for s in "iu" for b in (8, 16, 32, 64)}


def edges(kind: np.dtype, seed: int) -> np.ndarray:
    """The edges of a type, and numbers of every size."""
    info, generator = np.iinfo(kind), np.random.default_rng(seed)
    x = generator.integers(info.min, info.max, N, dtype=kind, endpoint=True)
    x >>= (np.arange(N) * 7 % info.bits).astype(kind)
    special = np.array([info.min, info.max, 0, 1, info.max - 1, info.min + 1, 2, 3], kind)
    x[:64] = np.repeat(special, 8) if seed == 1 else np.tile(special, 8)
    return x


def wrapped(values: list[int], kind: np.dtype) -> np.ndarray:
    """Integers of Python, wrapped around into a type."""
    bits = kind.itemsize * 8
    words = np.array([int(v) & (2**bits - 1) for v in values], np.uint64)
    return words.astype(f"u{kind.itemsize}").view(kind)


def divided(a: int, b: int) -> int:
    """a / b, cut towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@tile.jit
def arithmetic_kernel(x_ptr, y_ptr, out_ptr, bool_ptr, N: tl.constexpr, BITS: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, x + y)
    tl.store(out_ptr + N + i, x - y)
    tl.store(out_ptr + 2 * N + i, x * y)
    tl.store(out_ptr + 3 * N + i, x & y)
    tl.store(out_ptr + 4 * N + i, x | y)
    tl.store(out_ptr + 5 * N + i, x ^ y)
    tl.store(out_ptr + 6 * N + i, x << (y & (BITS - 1)))
    tl.store(out_ptr + 7 * N + i, x >> (y & (BITS - 1)))
    tl.store(out_ptr + 8 * N + i, ~x)
    tl.store(out_ptr + 9 * N + i, -x)
    tl.store(out_ptr + 10 * N + i, tl.abs(x))
    tl.store(out_ptr + 11 * N + i, tl.minimum(x, y))
    tl.store(out_ptr + 12 * N + i, tl.maximum(x, y))
    tl.store(out_ptr + 13 * N + i, tl.clamp(x, -y, y))
    tl.store(out_ptr + 14 * N + i, tl.where(x > y, x, y))
    tl.store(out_ptr + 15 * N + i, tl.fma(x, y, x))
    tl.store(bool_ptr + i, x < y)
    tl.store(bool_ptr + N + i, x <= y)
    tl.store(bool_ptr + 2 * N + i, x > y)
    tl.store(bool_ptr + 3 * N + i, x >= y)
    tl.store(bool_ptr + 4 * N + i, x == y)
    tl.store(bool_ptr + 5 * N + i, x != y)
    tl.store(bool_ptr + 6 * N + i, x.logical_and(y))
    tl.store(bool_ptr + 7 * N + i, x.logical_or(y))
    tl.store(bool_ptr + 8 * N + i, not x)


@pytest.mark.sweep
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("warps", [1, 8])
def test_arithmetic(name, warps):
    kind = KINDS[name]
    bits = kind.itemsize * 8
    x, y = edges(kind, 1), edges(kind, 2)
    out, flags = np.zeros((16, N), kind), np.full((9, N), 7, np.int8)
    arithmetic_kernel[(1,)](x, y, out, flags, N=N, BITS=bits, num_warps=warps)
    rows = []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        shift = b & bits - 1
        minus_b = wrapped([-b], kind).tolist()[0]
        clamped = min(max(a, minus_b), b)
        rows.append(
            [a + b, a - b, a * b, a & b, a | b, a ^ b, a << shift, a >> shift, ~a, -a, abs(a),
             min(a, b), max(a, b), clamped, max(a, b), a * b + a]
        )  # fmt: skip
    for i, column in enumerate(zip(*rows, strict=True)):
        np.testing.assert_array_equal(out[i], wrapped(column, kind), f"result {i}")
    expected = [x < y, x <= y, x > y, x >= y, x == y, x != y, (x != 0) & (y != 0)]
    expected += [(x != 0) | (y != 0), x == 0]
    np.testing.assert_array_equal(flags, expected)


@tile.jit
def division_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, x // y)
    tl.store(out_ptr + N + i, x % y)
    tl.store(out_ptr + 2 * N + i, tl.cdiv(x, y))
    tl.store(out_ptr + 3 * N + i, x // 7)
    tl.store(out_ptr + 4 * N + i, x % 8)
    tl.store(out_ptr + 5 * N + i, 100 // y)


@pytest.mark.parametrize("name", KINDS)
def test_division(name):
    kind = KINDS[name]
    x, y = edges(kind, 1), edges(kind, 2)
    y[y == 0] = 5
    if name[0] == "i":  # The one quotient that does not exist.
        x[(y == -1) & (x == np.iinfo(kind).min)] = 9
    out = np.zeros((6, N), kind)
    division_kernel[(1,)](x, y, out, N=N)
    rows = []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        above = wrapped([a + b - 1], kind).tolist()[0]
        overflow = name[0] == "i" and b == -1 and above == np.iinfo(kind).min
        rows.append(
            [divided(a, b), a - divided(a, b) * b, 0 if overflow else divided(above, b),
             divided(a, 7), a - divided(a, 8) * 8, divided(100, b)]
        )  # fmt: skip
    for i, column in enumerate(zip(*rows, strict=True)):
        np.testing.assert_array_equal(out[i], wrapped(column, kind), f"result {i}")


@tile.jit
def mixed_kernel(x_ptr, y_ptr, out_ptr, bool_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, (x + y).to(tl.int64, bitcast=False))
    tl.store(out_ptr + N + i, (x * y).to(tl.int64))
    tl.store(out_ptr + 2 * N + i, (x & y).to(tl.int64))
    tl.store(out_ptr + 3 * N + i, tl.maximum(x, y).to(tl.int64))
    tl.store(out_ptr + 4 * N + i, tl.where(i % 2 == 0, x, y).to(tl.int64))
    tl.store(bool_ptr + i, x < y)
    tl.store(bool_ptr + N + i, x == y)


def common(a: np.dtype, b: np.dtype) -> np.dtype:
    """C's rule: the wider of two; of equally wide ones, the unsigned."""
    if a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    return a if a.kind == "u" else b


@pytest.mark.sweep
@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_mixed_operands(first, second):
    if first == second:
        return
    x, y = edges(KINDS[first], 1), edges(KINDS[second], 2)
    out, flags = np.zeros((5, N), np.int64), np.zeros((2, N), np.int8)
    mixed_kernel[(1,)](x, y, out, flags, N=N)
    kind = common(KINDS[first], KINDS[second])
    a, b = x.astype(kind), y.astype(kind)
    with np.errstate(over="ignore"):
        expected = [a + b, a * b, a & b, np.maximum(a, b), np.where(np.arange(N) % 2 == 0, a, b)]
    np.testing.assert_array_equal(out, [e.astype(np.int64) for e in expected])
    np.testing.assert_array_equal(flags, [a < b, a == b])


@tile.jit
def high_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.umulhi(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@pytest.mark.parametrize("name", ["i32", "u32", "i64", "u64"])
def test_high_half_of_products(name):
    kind = KINDS[name]
    bits = kind.itemsize * 8
    x, y = edges(kind, 1), edges(kind, 2)
    out = np.zeros(N, kind)
    high_kernel[(1,)](x, y, out, N=N)
    mask = 2**bits - 1
    products = [
        (a & mask) * (b & mask) >> bits for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]
    np.testing.assert_array_equal(out, wrapped(products, kind))


@tile.jit
def scalar_kernel(x, y, out_ptr):
    tl.store(out_ptr, x // y)
    tl.store(out_ptr + 1, x % y)
    tl.store(out_ptr + 2, tl.cdiv(x, y))
    tl.store(out_ptr + 3, x << 3)
    tl.store(out_ptr + 4, -x >> 1)
    tl.store(out_ptr + 5, tl.minimum(x, y))
    tl.store(out_ptr + 6, x * x * x)
    tl.store(out_ptr + 7, tl.abs(-x))


@pytest.mark.parametrize(("x", "y"), [(17, 5), (-17, 5), (2**40 + 3, -7), (1, 1), (-(2**50), 3)])
def test_scalars(x, y):
    out = np.zeros(8, np.int64)
    scalar_kernel[(1,)](x, y, out)
    small = -(2**31) <= x < 2**31
    expected = [
        divided(x, y), x - divided(x, y) * y, divided(x + y - 1, y), x << 3, -x >> 1, min(x, y),
        x**3, abs(x),
    ]  # fmt: skip
    kind = np.dtype("i4" if small else "i8")
    np.testing.assert_array_equal(out, wrapped(expected, kind))


@tile.jit
def swizzle_kernel(out_ptr, M, N, G: tl.constexpr):
    for i in range(M):
        for j in range(N):
            a, b = tl.swizzle2d(i, j, M, N, G)
            tl.store(out_ptr + 2 * (i * N + j), a)
            tl.store(out_ptr + 2 * (i * N + j) + 1, b)


@pytest.mark.parametrize(("m", "n", "group"), [(4, 4, 2), (5, 3, 2), (7, 4, 3), (2, 6, 8)])
def test_swizzle(m, n, group):
    out = np.zeros((m * n, 2), np.int32)
    swizzle_kernel[(1,)](out, m, n, G=group)
    order = [
        (i, j)
        for first in range(0, m, group)
        for j in range(n)
        for i in range(first, min(first + group, m))
    ]
    assert [tuple(r) for r in out.tolist()] == order


@tile.jit
def mixed_shift_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i) >> tl.load(y_ptr + i))


@pytest.mark.sweep
@pytest.mark.parametrize("of_y", ["i8", "u8", "u16", "u32", "i64", "u64"])
@pytest.mark.parametrize("of_x", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
def test_shifts_keep_the_sign_of_what_is_shifted(of_x, of_y):
    """Whatever the type of the count is, whose common type with x may be unsigned."""
    n = 64
    generator = np.random.default_rng(17)
    info = np.iinfo(KINDS[of_x])
    x = generator.integers(info.min, info.max, n, KINDS[of_x], endpoint=True)
    y = generator.integers(0, info.bits, n).astype(KINDS[of_y])
    # The result has the common type; the bits that it has are those of the sum in Python.
    out = np.zeros(n, np.int64)
    mixed_shift_kernel[(1,)](x, y, out, N=n)
    bits = max(info.bits, np.iinfo(KINDS[of_y]).bits)
    mask = (1 << bits) - 1
    expected = [(int(a) >> int(b)) & mask for a, b in zip(x, y, strict=True)]
    np.testing.assert_array_equal([int(v) & mask for v in out], expected)
