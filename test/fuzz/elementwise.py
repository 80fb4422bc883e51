"""Arithmetic on integers, comparisons, selection and conversions."""

from __future__ import annotations

from typing import Any

from .convert import coerce, to_type
from .generator import Generator, production
from .values import (
    FLOATS,
    INTEGERS,
    SMALL_FLOATS,
    TYPES,
    Value,
    broadcast,
    fits_join,
    join,
    limits,
    promote,
)


def partner(g: Generator, value: Value, wanted: Any) -> tuple[Value, tuple[int, ...]] | None:
    """Another operand whose shape goes with that of `value`, and the common shape."""

    def suits(other: Value) -> bool:
        shape = broadcast(value.shape, other.shape)
        if shape is None or not wanted(other):
            return False
        numel = 1
        for extent in shape:
            numel *= extent
        return numel <= 2 * g.max_numel

    other = g.pick(suits)
    if other is None:
        return None
    shape = broadcast(value.shape, other.shape)
    assert shape is not None
    return other, shape


def number(g: Generator, type: str) -> int:
    """A constant that an integer type holds."""
    low, high = limits(type)
    return g.choice((0, 1, 2, 3, 5, 7, 10, 100, low, high, high // 3, max(low, -1), max(low, -7)))


def int_operands(g: Generator, same_sign: bool = False) -> tuple[str, str, str, Any] | None:
    """Two integers, the second may be a constant: their texts, type and shape."""
    x = g.pick(g.ints)
    if x is None:
        return None
    if g.chance(0.3):
        text = str(number(g, x.type))
        pair = (x.name, text) if g.chance(0.8) else (text, x.name)
        return *pair, x.type, x.shape
    found = partner(g, x, lambda v: v.is_int and (not same_sign or v.info.kind == x.info.kind))
    if found is None:
        return None
    y, shape = found
    return x.name, y.name, promote(x.type, y.type), shape


@production(5)
def arithmetic(g: Generator) -> Any:
    """x + y and its like; it wraps."""
    operands = int_operands(g)
    if operands is None:
        return False
    x, y, type, shape = operands
    return g.let(f"{x} {g.choice('+-*&|^+-*')} {y}", type, shape)


@production(2)
def extremes(g: Generator) -> Any:
    operands = int_operands(g)
    if operands is None:
        return False
    x, y, type, shape = operands
    # Constants count as int32 or wider here, unlike beside operators.
    x, y = (t if t.isidentifier() else f"tl.full([], {t}, {TYPES[type].tl})" for t in (x, y))
    return g.let(f"tl.{g.choice(('minimum', 'maximum'))}({x}, {y})", type, shape)


@production(1.5)
def shift(g: Generator) -> Any:
    """Shifts by less than the width."""
    x = g.pick(g.ints)
    if x is None:
        return False
    symbol = g.choice(("<<", ">>"))
    if g.chance(0.5):
        return g.let(f"{x.name} {symbol} {g.random.randrange(x.info.bits)}", x.type, x.shape)
    found = partner(g, x, lambda v: v.type == x.type)
    if found is None:
        return False
    y, shape = found
    return g.let(f"{x.name} {symbol} ({y.name} & {x.info.bits - 1})", x.type, shape)


@production(1.5)
def division(g: Generator) -> Any:
    """Division and remainder by what is neither 0 nor -1."""
    x = g.pick(g.ints)
    if x is None:
        return False
    symbol = g.choice(("//", "%"))
    if g.chance(0.5):
        by = g.choice((1, 2, 3, 7, 8, 10, 64, 100, limits(x.type)[1]))
        if x.info.kind == "i" and g.chance(0.3):
            by = g.choice((-2, -3, -8, limits(x.type)[0]))
        return g.let(f"{x.name} {symbol} {by}", x.type, x.shape)
    found = partner(g, x, lambda v: v.is_int and v.info.kind == x.info.kind)
    if found is None:
        return False
    y, shape = found
    guarded = f"(({y.name} & 63) + {g.choice((1, 2, 7))})"
    if g.chance(0.3) and y.info.kind == "i":
        guarded = f"tl.where(({y.name} == 0) | ({y.name} == -1), -5, {y.name})"
    return g.let(f"{x.name} {symbol} {guarded}", promote(x.type, y.type), shape)


@production(1.5)
def unary(g: Generator) -> Any:
    x = g.pick(g.ints)
    if x is None:
        return False
    text = g.choice((f"-{x.name}", f"~{x.name}", f"tl.abs({x.name})"))
    return g.let(text, x.type, x.shape)


@production(0.6)
def high_product(g: Generator) -> Any:
    x = g.pick(lambda v: v.is_int and v.info.bits in (32, 64))
    if x is None:
        return False
    found = partner(g, x, lambda v: v.is_int and v.info.bits in (32, 64))
    if found is None:
        return False
    y, shape = found
    return g.let(f"tl.umulhi({x.name}, {y.name})", promote(x.type, y.type), shape)


@production(0.6)
def clamp_ints(g: Generator) -> Any:
    x = g.pick(g.ints)
    if x is None:
        return False
    low, high = limits(x.type)
    a, b = sorted((number(g, x.type), number(g, x.type)))
    texts = [f"tl.full([], {n}, {x.info.tl})" for n in (a, b)]
    del low, high
    return g.let(f"tl.clamp({x.name}, {texts[0]}, {texts[1]})", x.type, x.shape, low=a, high=b)


@production(4)
def compare(g: Generator) -> Any:
    """A comparison of integers, or of floats that all executions agree on."""
    x = g.pick(lambda v: (v.is_int or (v.is_float and v.info.bits > 8)) and v.is_exact)
    if x is None:
        return False
    symbol = g.choice(("<", "<=", ">", ">=", "==", "!="))
    if g.chance(0.35):
        if x.is_float:
            text = g.choice(("0.0", "1.0", "-2.0", x.name, "float('inf')"))
        else:
            text = str(number(g, x.type))
        return g.let(f"{x.name} {symbol} {text}", "i1", x.shape)
    if x.is_float:
        found = partner(g, x, lambda v: v.type == x.type and v.is_exact)
    else:
        found = partner(g, x, lambda v: v.is_int)
    if found is None:
        return False
    y, shape = found
    return g.let(f"{x.name} {symbol} {y.name}", "i1", shape)


@production(2)
def logic(g: Generator) -> Any:
    x = g.pick(lambda v: v.is_bool)
    if x is None:
        return False
    if g.chance(0.2):
        return g.let(f"~{x.name}", "i1", x.shape)
    found = partner(g, x, lambda v: v.is_bool)
    if found is None:
        return False
    y, shape = found
    if g.chance(0.3):
        return g.let(f"tl.where({x.name}, {y.name}, ~{y.name})", "i1", shape)
    return g.let(f"{x.name} {g.choice('&|^')} {y.name}", "i1", shape)


def same(g: Generator, value: Value) -> Value | None:
    """Another value of the type and shape of `value`, made from one that is there."""
    found = g.pick(
        lambda v: v.type == value.type and v.shape == value.shape and v.name != value.name
    )
    if found is None:
        other = g.pick(lambda v: v.name != value.name and (v.is_exact or value.is_float))
        found = None if other is None else coerce(g, other, value.type, value.shape)
    return found


@production(3)
def select(g: Generator) -> Any:
    """where; its condition may have another shape."""
    x = g.pick()
    if x is None:
        return False
    y = same(g, x)
    if y is None or not compatible(x, y):
        return False
    found = partner(g, x, lambda v: v.is_bool)
    if found is None:
        return False
    condition, shape = found
    if not condition.shape:
        shape = x.shape
    pair = (x.name, y.name) if g.chance(0.5) else (y.name, x.name)
    return g.let(f"tl.where({condition.name}, {pair[0]}, {pair[1]})", x.type, shape, **join(x, y))


def compatible(x: Value, y: Value) -> bool:
    """Whether a value can be either of two."""
    if not x.is_float:
        return True
    if "wild" in (x.kind, y.kind):
        return "approx" not in (x.kind, y.kind)
    return fits_join(x, y)


@production(4)
def convert(g: Generator) -> Any:
    """A conversion between any two types."""
    x = g.pick()
    if x is None:
        return False
    types = [*INTEGERS, *INTEGERS, *FLOATS, *FLOATS, "i1", *SMALL_FLOATS]
    if g.config.target < 89:
        types.remove("fp8e4nv")
    type = g.choice(types)
    if type == x.type or (TYPES[type].bits == 8 and x.info.kind != "f" and type in SMALL_FLOATS):
        return False
    return None if to_type(g, x, type) is not None else False


@production(0.8)
def wide_integers_to_floats(g: Generator) -> Any:
    """A conversion that rounds: what comes out is one float, which nothing is computed with."""
    x = g.pick(lambda v: v.is_int and v.info.bits >= 16)
    if x is None:
        return False
    type = g.choice(("fp32", "fp64"))
    return g.let(f"{x.name}.to({TYPES[type].tl})", type, x.shape, kind="wild")


@production(1)
def bitcast(g: Generator) -> Any:
    """The bits of integers as floats; those of floats without NaN and negative zero as integers."""
    x = g.pick(lambda v: v.info.bits in (16, 32, 64) and v.is_exact)
    if x is None:
        return False
    bits = x.info.bits
    if x.is_int:
        type = g.choice([t for t in FLOATS if TYPES[t].bits == bits])
        text = f"{x.name}.to({TYPES[type].tl}, bitcast=True)"
        return g.let(text, type, x.shape, kind="wild", special=True)
    type = g.choice([t for t in INTEGERS if TYPES[t].bits == bits])
    text = f"tl.where(({x.name} == {x.name}) & ({x.name} != 0.0), {x.name}, 1.0)"
    return g.let(f"({text}).to({TYPES[type].tl}, bitcast=True)", type, x.shape)


@production(0.5)
def positions(g: Generator) -> Any:
    """An arange, as it is or expanded."""
    shape = g.choose_shape(3)
    d = g.random.randrange(len(shape))
    start = g.choice((0, 0, 1, 16, -5))
    index = ", ".join(":" if i == d else "None" for i in range(len(shape)))
    text = f"tl.arange({start}, {start + shape[d]})" + (f"[{index}]" if len(shape) > 1 else "")
    result = tuple(s if i == d else 1 for i, s in enumerate(shape))
    return g.let(text, "i32", result, low=start, high=start + shape[d] - 1)


@production(0.4)
def random_bits(g: Generator) -> Any:
    """Philox."""
    x = g.pick(lambda v: v.type in ("i32", "u32") and v.shape)
    if x is None:
        return False
    return g.let(f"tl.randint({g.random.randrange(1000)}, {x.name})", "u32", x.shape)
