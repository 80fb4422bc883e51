"""What the front end makes of several operations, against each element computed by itself in plain
Python: exact integers and fractions, no NumPy arithmetic. Compiler and interpreter share those
decompositions, so that neither can judge the other."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

INTS = {
    "int8": tl.int8, "int16": tl.int16, "int32": tl.int32, "int64": tl.int64,
    "uint8": tl.uint8, "uint16": tl.uint16, "uint32": tl.uint32, "uint64": tl.uint64,
}  # fmt: skip


def wrap(value: int, kind: str) -> int:
    info = np.iinfo(kind)
    return (value - int(info.min)) % (int(info.max) - int(info.min) + 1) + int(info.min)


def integers(kind: str, n: int, seed: int = 0) -> list[int]:
    """Integers of all sizes, and the edges."""
    info = np.iinfo(kind)
    generator = np.random.default_rng(seed)
    edges = [int(info.min), int(info.max), 0, 1, int(info.max) // 2, int(info.min) // 2, 2, 3]
    edges += [-1, -2, -3] if info.min < 0 else []
    some = [
        int(v) >> int(s)
        for v, s in zip(
            generator.integers(info.min, info.max, n, dtype=kind, endpoint=True),
            generator.integers(0, info.bits, n),
            strict=True,
        )
    ]
    return [edges[i] if i < len(edges) else v for i, v in enumerate(some)]


@tile.jit
def binary(x, y, out, FN: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    result = FN(tl.load(x + i), tl.load(y + i))
    tl.static_assert(result.dtype == out.dtype.element_ty)
    tl.store(out + i, result)


@tile.jit
def f_floordiv(x, y):
    return x // y


@tile.jit
def f_mod(x, y):
    return x % y


@tile.jit
def f_shl(x, y):
    return x << y


@tile.jit
def f_shr(x, y):
    return x >> y


@tile.jit
def f_cdiv(x, y):
    return tl.cdiv(x, y)


@tile.jit
def f_minimum(x, y):
    return tl.minimum(x, y)


@tile.jit
def f_maximum(x, y):
    return max(x, y)


@tile.jit
def f_umulhi(x, y):
    return tl.umulhi(x, y)


@tile.jit
def f_distance(x, y):
    return tl.abs(x - y)


@tile.jit
def f_clamp(x, y):
    return tl.clamp(x, -5, y)


def cut(a: int, b: int) -> int:
    """Division towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def bits(kind: str) -> int:
    return np.iinfo(kind).bits


INTEGER_FUNCTIONS: dict[str, tuple[Any, Callable[[int, int, str], int]]] = {
    "//": (f_floordiv, lambda a, b, k: cut(a, b)),
    "%": (f_mod, lambda a, b, k: a - b * cut(a, b)),
    "<<": (f_shl, lambda a, b, k: a << b if b < bits(k) else 0),
    ">>": (f_shr, lambda a, b, k: a >> min(b, 64)),
    "cdiv": (f_cdiv, lambda a, b, k: cut(wrap(wrap(a + b, k) - 1, k), b)),
    "minimum": (f_minimum, lambda a, b, k: min(a, b)),
    "max": (f_maximum, lambda a, b, k: max(a, b)),
    "umulhi": (f_umulhi, lambda a, b, k: ((a % 2 ** bits(k)) * (b % 2 ** bits(k))) >> bits(k)),
    "distance": (f_distance, lambda a, b, k: abs(wrap(a - b, k))),
}  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("name", INTEGER_FUNCTIONS)
@pytest.mark.parametrize("kind", INTS)
def test_integer_functions(name, kind):
    function, exact = INTEGER_FUNCTIONS[name]
    if name == "umulhi" and bits(kind) < 32:
        return
    n = 256
    xs, ys = integers(kind, n, 1), integers(kind, n, 2)
    ys = ys[7:] + ys[:7]
    if name in ("//", "%", "cdiv"):
        # No zero; and the lowest number divided by -1 has no quotient.
        ys = [
            y if y and not (y == -1 and x == np.iinfo(kind).min) else 3
            for x, y in zip(xs, ys, strict=True)
        ]
    if name in ("<<", ">>"):
        ys = [abs(y) % bits(kind) for y in ys]
    out = np.full(n, 77, kind)
    binary[(1,)](np.array(xs, kind), np.array(ys, kind), out, function, n)
    expected = [wrap(exact(x, y, kind), kind) for x, y in zip(xs, ys, strict=True)]
    wrong = [
        (x, y, o, e) for x, y, o, e in zip(xs, ys, out.tolist(), expected, strict=True) if o != e
    ]
    assert not wrong


@tile.jit
def mixed(x, y, out, OP: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    if OP == "+":
        r = a + b
    elif OP == "*":
        r = a * b
    elif OP == "<":
        r = a < b
    else:
        r = tl.where(a == b, a, b)
    tl.store(out + i, r)
    tl.static_assert(r.dtype == out.dtype.element_ty or OP == "<")


@pytest.mark.sweep
@pytest.mark.parametrize("op", ["+", "*", "<", "where"])
@pytest.mark.parametrize("kinds", [(a, b) for a in INTS for b in INTS if a < b])
def test_mixed_integers(op, kinds):
    """The wider type wins, and of equally wide ones the unsigned."""
    a, b = kinds
    wide = max(bits(a), bits(b))
    candidates = [k for k in kinds if bits(k) == wide]
    common = next((k for k in candidates if k.startswith("u")), candidates[0])
    n = 64
    xs, ys = integers(a, n, 3), integers(b, n, 4)
    ys = ys[5:] + ys[:5]
    out = np.full(n, 77, np.bool_ if op == "<" else common)
    mixed[(1,)](np.array(xs, a), np.array(ys, b), out, op, n)
    functions = {
        "+": lambda x, y: x + y, "*": lambda x, y: x * y, "<": lambda x, y: x < y,
        "where": lambda x, y: y,
    }  # fmt: skip
    for x, y, o in zip(xs, ys, out.tolist(), strict=True):
        value = functions[op](wrap(x, common), wrap(y, common))
        assert o == (value if op == "<" else wrap(value, common)), (x, y)


@tile.jit
def reduced(
    x, out, positions, OP: tl.constexpr, AXIS: tl.constexpr, R: tl.constexpr, C: tl.constexpr
):
    i = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    v = tl.load(x + i)
    if OP == "sum":
        r = tl.sum(v, AXIS)
    elif OP == "max":
        r = tl.max(v, AXIS)
    elif OP == "min":
        r = tl.min(v, AXIS)
    elif OP == "xor":
        r = tl.xor_sum(v, AXIS)
    elif OP == "or":
        r = tl.reduce_or(v, AXIS)
    elif OP == "argmax":
        r = tl.argmax(v, AXIS)
    elif OP == "argmin":
        r = tl.argmin(v, AXIS)
    else:
        r, where = tl.max(v, AXIS, return_indices=True)
        tl.store(positions + tl.arange(0, where.shape[0]), where)
    tl.store(out + tl.arange(0, r.shape[0]), r)


def lines(values: list[int], axis: int, rows: int, columns: int) -> list[list[int]]:
    table = [values[r * columns : (r + 1) * columns] for r in range(rows)]
    return table if axis == 1 else [list(column) for column in zip(*table, strict=True)]


@pytest.mark.sweep
@pytest.mark.parametrize("op", ["sum", "max", "min", "xor", "or", "argmax", "argmin", "both"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("kind", INTS)
def test_integer_reductions(op, axis, kind):
    rows, columns = 8, 16
    values = integers(kind, rows * columns, 5)
    values = [values[i * 37 % len(values)] for i in range(len(values))]
    small = bits(kind) < 32
    result = kind if not small else ("uint32" if kind.startswith("u") and op == "sum" else "int32")
    if op in ("xor", "or", "both"):
        result = kind
    if op.startswith("arg"):
        result = "int32"
    groups = lines(values, axis, rows, columns)
    out, positions = np.full(len(groups), 77, result), np.full(len(groups), 77, np.int32)
    reduced[(1,)](np.array(values, kind), out, positions, op, axis, rows, columns)
    functions = {
        "sum": sum, "max": max, "min": min, "both": max,
        "xor": lambda g: functools.reduce(lambda a, b: a ^ b, g),
        "or": lambda g: functools.reduce(lambda a, b: a | b, g),
        "argmax": lambda g: g.index(max(g)), "argmin": lambda g: g.index(min(g)),
    }  # fmt: skip
    assert out.tolist() == [wrap(functions[op](g), result) for g in groups]
    if op == "both":
        assert positions.tolist() == [g.index(max(g)) for g in groups]


@tile.jit
def scanned(
    x,
    out,
    OP: tl.constexpr,
    AXIS: tl.constexpr,
    REVERSE: tl.constexpr,
    R: tl.constexpr,
    C: tl.constexpr,
):
    i = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    v = tl.load(x + i)
    if OP == "cumsum":
        r = tl.cumsum(v, AXIS, REVERSE)
    elif OP == "cumprod":
        r = tl.cumprod(v, AXIS, REVERSE)
    elif OP == "sort":
        r = tl.sort(v, AXIS, REVERSE)
    else:
        r = tl.flip(v, AXIS)
    tl.store(out + i, r)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("op", ["cumsum", "cumprod", "sort", "flip"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint32", "int64"])
def test_integer_scans_and_orders(op, axis, reverse, kind):
    if (op == "sort" and axis == 0) or (op == "flip" and reverse):
        return
    rows, columns = 4, 16
    values = integers(kind, rows * columns, 6)
    values = [values[i * 19 % len(values)] for i in range(len(values))]
    result = kind
    if op == "cumsum" and bits(kind) < 32:
        result = "uint32" if kind.startswith("u") else "int32"
    out = np.full(rows * columns, 77, result)
    scanned[(1,)](np.array(values, kind), out, op, axis, reverse, rows, columns)

    def line(g: list[int]) -> list[int]:
        if op == "sort":
            return sorted(g, reverse=reverse)
        if op == "flip":
            return g[::-1]
        g = g[::-1] if reverse else g
        total, found = (0, []) if op == "cumsum" else (1, [])
        for value in g:
            total = total + value if op == "cumsum" else total * value
            found.append(wrap(total, result))
        return found[::-1] if reverse else found

    actual = lines(out.tolist(), axis, rows, columns)
    assert actual == [line(g) for g in lines(values, axis, rows, columns)]


FLOAT_EDGES = [
    0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.75, math.inf, -math.inf, math.nan, 7.0, 1e-3, -1e3,
    65504.0, 2.0**-14,
]  # fmt: skip


@tile.jit
def float_edges(x, y, out, OP: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    if OP == "minimum":
        r = tl.minimum(a, b)
    elif OP == "maximum":
        r = tl.maximum(a, b)
    elif OP == "minimum all":
        r = tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "clamp":
        r = tl.clamp(a, -1.0, b)
    elif OP == "where":
        r = tl.where(a < b, a, b)
    elif OP == "mod":
        r = a % b
    elif OP == "not less":
        r = (not (a < b)).to(a.dtype)
    elif OP == "truth":
        r = (a.to(tl.int1) & (b != 0)).to(a.dtype)
    else:
        r = -tl.abs(a)
    tl.store(out + i, r)


def known(op: str, a: float, b: float) -> float | None:
    """The result; None where the language leaves it open."""
    nan = math.isnan(a) or math.isnan(b)
    if op in ("minimum", "maximum"):
        if nan:
            return b if math.isnan(a) else a
        if a == b == 0:
            return None  # Either zero.
        return min(a, b) if op == "minimum" else max(a, b)
    if op == "minimum all":
        return math.nan if nan else (None if a == b == 0 else min(a, b))
    if op == "clamp":
        if math.isnan(b) or b < -1 or (a == b == 0):
            return None
        return -1.0 if math.isnan(a) else min(max(a, -1.0), b)
    if op == "where":
        return a if a < b else b
    if op == "mod":
        if nan or b == 0:
            return math.nan
        if math.isinf(b):
            return a if not math.isinf(a) else None
        if math.isinf(a):
            return math.nan
        quotient = Fraction(a) / Fraction(b)
        r = Fraction(a) - Fraction(b) * math.trunc(quotient)
        # The quotient is rounded: one just below an integer may become it.
        near = abs(quotient - round(quotient))
        return float(r) if abs(quotient) < 2**20 and (not near or near > 2**-8) else None
    if op == "not less":
        return float(not a < b)
    if op == "truth":
        return float(a != 0 and b != 0)
    return -abs(a)


@pytest.mark.parametrize(
    "op",
    ["minimum", "maximum", "minimum all", "clamp", "where", "mod", "not less", "truth", "-abs"],
)
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_float_edges(op, kind):
    pairs = [(a, b) for a in FLOAT_EDGES for b in FLOAT_EDGES]
    xs = [float(kind(a)) for a, _ in pairs]
    ys = [float(kind(b)) for _, b in pairs]
    out = np.full(len(pairs), 77, kind)
    float_edges[(1,)](np.array(xs, kind), np.array(ys, kind), out, op, len(pairs))
    wrong = []
    for a, b, o in zip(xs, ys, out.tolist(), strict=True):
        expected = known(op, a, b)
        if expected is None:
            continue
        if not math.isnan(expected):
            expected = float(kind(expected))
        same = (math.isnan(o) and math.isnan(expected)) or (
            o == expected
            and (o != 0 or math.copysign(1, o) == math.copysign(1, expected) or op == "mod")
        )
        if not same:
            wrong.append((a, b, o, expected))
    assert not wrong


@tile.jit
def swizzled(out, ROWS: tl.constexpr, COLUMNS: tl.constexpr, G: tl.constexpr):
    k = tl.program_id(0)
    i, j = tl.swizzle2d(k // COLUMNS, k % COLUMNS, ROWS, COLUMNS, G)
    tl.store(out + k, i * COLUMNS + j)


@pytest.mark.parametrize("grid", [(4, 6, 2), (5, 3, 2), (7, 4, 3), (3, 5, 8), (1, 7, 1)])
def test_swizzle_goes_through_groups_of_rows_column_by_column(grid):
    rows, columns, group = grid
    out = np.full(rows * columns, -1, np.int32)
    swizzled[(rows * columns,)](out, rows, columns, group)
    expected = []
    for first in range(0, rows, group):
        for column in range(columns):
            expected += [r * columns + column for r in range(first, min(first + group, rows))]
    assert out.tolist() == expected


@tile.jit
def shaped(x, y, out, OP: tl.constexpr):
    i = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    a, b = tl.load(x + i), tl.load(y + i)
    if OP == "interleave":
        r = tl.interleave(a, b)
    elif OP == "join":
        r = tl.join(a, b)
    elif OP == "cat 0":
        r = tl.cat(a, b, dim=0)
    elif OP == "cat 1":
        r = tl.cat(a, b, dim=1)
    elif OP == "trans":
        r = tl.join(a, b).permute(2, 1, 0)
    elif OP == "split":
        low, high = tl.split(tl.reshape(a, (4, 4, 2)))
        r = tl.join(high, low)
    elif OP == "gather":
        r = tl.gather(a, (b & 7).to(tl.int32), 1)
    else:
        r = tl.ravel(a) + tl.reshape(b.T, (32,))
    r = tl.reshape(r, (r.numel,))
    tl.store(out + tl.arange(0, r.numel), r)


@pytest.mark.parametrize(
    "op", ["interleave", "join", "cat 0", "cat 1", "trans", "split", "gather", "ravel"]
)
def test_shapes(op):
    a = [[r * 8 + c for c in range(8)] for r in range(4)]
    b = [[100 + 3 * r + 7 * c for c in range(8)] for r in range(4)]
    flat_a, flat_b = [v for row in a for v in row], [v for row in b for v in row]
    pairs = [v for p in zip(flat_a, flat_b, strict=True) for v in p]
    expected = {
        "interleave": pairs,
        "join": pairs,
        "cat 0": flat_a + flat_b,
        "cat 1": [v for r in range(4) for v in a[r] + b[r]],
        "trans": [t[r][c] for t in (a, b) for c in range(8) for r in range(4)],
        "split": [v for k in range(0, 32, 2) for v in (flat_a[k + 1], flat_a[k])],
        "gather": [a[r][b[r][c] & 7] for r in range(4) for c in range(8)],
        "ravel": [v + b[k % 4][k // 4] for k, v in enumerate(flat_a)],
    }[op]
    out = np.full(len(expected), -1, np.int32)
    shaped[(1,)](np.array(a, np.int32), np.array(b, np.int32), out, op)
    assert out.tolist() == expected
