"""Scalars that decide branches, addresses and loops: each thread has a copy, and all must be one
number, bit for bit. The number itself may be rounded differently from execution to execution, so
whatever it decides leads to the same results.
"""

from __future__ import annotations

from typing import Any

from .generator import Generator, production
from .values import Value

BITS = {"fp16": "int16", "bf16": "int16", "fp32": "int32", "fp64": "int64"}


def product(g: Generator, x: Value) -> str:
    """A multiplication that may become a part of the addition that follows."""
    other = g.pick(lambda v: v.type == x.type and v.shape == x.shape)
    factor = g.choice(("0.73", "-1.1", x.name, x.name if other is None else other.name))
    return g.choice((x.name, f"{x.name} * {factor}", f"{x.name} * {factor}"))


def rounded_scalar(g: Generator) -> str | None:
    """The name of a scalar of int32: the bits of a reduction of floats, NaN and infinities too."""
    x = g.pick(lambda v: v.shape and v.is_float and v.info.bits > 8)
    if x is None:
        x = g.pick(lambda v: v.shape and v.is_int)
        if x is None:
            return None
        x = g.let(f"{x.name}.to(tl.float32)", "fp32", x.shape, kind="wild")
    value, type = product(g, x), x.type
    how = g.choice(("sum", "sum", "sum", "max", "min", "reduce", "reduce", "sums"))
    if how in ("max", "min"):
        type = "fp32" if x.info.bits < 32 else type
        text = f"tl.{how}({value})"
    elif how == "reduce":
        body = g.choice(("a + b", "tl.maximum(a, b)", "tl.where(a < b, a, b)", "a * b"))
        function = f"@tile.jit\ndef join{len(g.functions)}(a, b):\n    return {body}"
        g.functions.append(function)
        text = f"tl.reduce({value}, None, join{len(g.functions) - 1})"
    elif how == "sums":
        text = f"tl.sum(tl.sum({value}, {x.rank - 1}, keep_dims=True) * 0.3)"
    else:
        text = f"tl.sum({value})"
    scalar, bits = g.name(), g.name()
    g.line(f"{scalar} = {text}")
    g.line(f"{bits} = {scalar}.to(tl.{BITS[type]}, bitcast=True)")
    if type == "fp64":
        g.line(f"{bits} = {bits} ^ ({bits} >> 32)")
    g.line(f"{bits} = {bits}.to(tl.int32)")
    return bits


def spread(g: Generator, scalar: str) -> str:
    """By how much the copies differ."""
    block = g.name()
    g.line(f"{block} = tl.zeros(({g.choice((64, 256, 1024, 2048))},), tl.int32) + {scalar}")
    return f"tl.max({block}, 0) - tl.min({block}, 0)"


@production(0.7)
def one_number(g: Generator) -> Any:
    bits = rounded_scalar(g)
    if bits is None:
        return False
    return g.let(spread(g, bits), "i32", (), low=0, high=0)


@production(0.7)
def decides_branch(g: Generator) -> Any:
    """Both ways come to the same."""
    y = g.pick(lambda v: v.shape and v.type in ("i32", "i64"))
    bits = rounded_scalar(g) if y is not None and g.depth <= 3 else None
    if y is None or bits is None:
        return False
    result = g.name()
    g.line(f"if ({bits} & {g.choice((1, 2, 4))}) == 0:")
    g.line(f"    {result} = tl.sum({y.name})")
    g.line("else:")
    g.line(f"    {result} = 0 - tl.sum(0 - {y.name})")
    g.env.append(Value(result, y.type, ()))
    return None


@production(0.5)
def decides_loop(g: Generator) -> Any:
    bits = rounded_scalar(g) if g.depth <= 3 else None
    if bits is None:
        return False
    result = g.name()
    g.line(f"{result} = 0")
    g.line(f"for _ in range({bits} & 3):")
    g.depth += 1
    text = spread(g, bits)
    g.line(f"{result} += {text}")
    g.depth -= 1
    g.env.append(Value(result, "i32", (), low=0, high=0))
    return None


@production(0.7)
def decides_address(g: Generator) -> Any:
    bits = None if g.pure else rounded_scalar(g)
    if bits is None:
        return False
    size = 2 ** g.random.randint(1, 6)
    array = g.argument("input", "i32", "x", size=size, flavour="full")
    element = g.name()
    g.line(f"{element} = tl.load({array.name} + ({bits} & {size - 1}))")
    return g.let(spread(g, element), "i32", (), low=0, high=0)
