"""Arithmetic and functions on floats."""

from __future__ import annotations

import math
from typing import Any

from .convert import finite
from .elementwise import partner
from .generator import Generator, production
from .values import Value, fits


def exact_pair(g: Generator) -> tuple[Value, Value, tuple[int, ...]] | None:
    """Two exact floats of one type whose shapes go together."""
    x = g.pick(lambda v: v.is_float and v.kind == "exact" and v.info.bits > 8)
    if x is None:
        return None
    found = partner(g, x, lambda v: v.type == x.type and v.kind == "exact")
    return None if found is None else (x, *found)


@production(4)
def exact_arithmetic(g: Generator) -> Any:
    """x + y, x - y and x * y without rounding."""
    pair = exact_pair(g)
    if pair is None:
        return False
    x, y, shape = pair
    symbol = g.choice("+-*")
    bound, grid = x.bound + y.bound, max(x.grid, y.grid)
    if symbol == "*":
        bound, grid = x.bound * y.bound, x.grid + y.grid
    if not fits(bound, grid, x.type):
        return False
    special = x.special or y.special
    return g.let(
        f"{x.name} {symbol} {y.name}", x.type, shape, bound=bound, grid=grid, special=special
    )


@production(1.5)
def with_constant(g: Generator) -> Any:
    x = g.pick(lambda v: v.is_float and v.kind == "exact" and v.info.bits > 8)
    if x is None:
        return False
    number = g.choice((0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -4.0, 3, -1))
    symbol = g.choice("+-*")
    bound, grid = x.bound + abs(number), max(x.grid, 1)
    if symbol == "*":
        bound, grid = x.bound * abs(number), x.grid + 1
    if not fits(bound, grid, x.type):
        return False
    text = f"{x.name} {symbol} {number}" if g.chance(0.7) else f"{number} {symbol} {x.name}"
    return g.let(text, x.type, x.shape, bound=bound, grid=grid, special=x.special)


@production(1)
def fused(g: Generator) -> Any:
    """fma, as a function."""
    pair = exact_pair(g)
    if pair is None:
        return False
    x, y, shape = pair
    z = g.pick(lambda v: v.type == x.type and v.shape == shape and v.kind == "exact")
    if z is None:
        return False
    bound, grid = x.bound * y.bound + z.bound, max(x.grid + y.grid, z.grid)
    if not fits(bound, grid, x.type):
        return False
    special = x.special or y.special or z.special
    text = f"tl.fma({x.name}, {y.name}, {z.name})"
    return g.let(text, x.type, shape, bound=bound, grid=grid, special=special)


@production(2)
def extremes(g: Generator) -> Any:
    """minimum, maximum and clamp, with each treatment of NaN."""
    x = g.pick(lambda v: v.is_float and v.info.bits > 8)
    if x is None:
        return False
    nan = g.choice(("", "", ", propagate_nan=tl.PropagateNan.ALL"))
    if g.chance(0.25):
        # The bounds are fp32, which then is the type of the result.
        text = f"tl.clamp({x.name}, {g.choice((-2.0, 0.0))}, {g.choice((0.5, 3.0))}{nan})"
        if x.info.bits < 32:
            text += f".to({x.info.tl})"
        bound = max(3.0, x.bound) if x.kind == "approx" else 3.0
        changes = {"bound": bound, "grid": max(x.grid, 1)}
        if not nan:
            changes["special"] = False
        return g.like(text, x, **(changes if x.kind == "exact" else {}))
    found = partner(g, x, lambda v: v.type == x.type and v.kind == x.kind)
    if found is None:
        return False
    y, shape = found
    bound, grid = max(x.bound, y.bound), max(x.grid, y.grid)
    if x.kind == "exact" and not fits(bound, grid, x.type):
        return False
    text = f"tl.{g.choice(('minimum', 'maximum'))}({x.name}, {y.name}{nan})"
    return g.let(
        text, x.type, shape, kind=x.kind, bound=bound, grid=grid,
        special=x.special or y.special, error=max(x.error, y.error),
    )  # fmt: skip


@production(1)
def sign(g: Generator) -> Any:
    x = g.pick(lambda v: v.is_float and v.info.bits > 8)
    if x is None:
        return False
    return g.like(g.choice((f"-{x.name}", f"tl.abs({x.name})")), x)


@production(1)
def whole(g: Generator) -> Any:
    x = g.pick(lambda v: v.type in ("fp32", "fp64") and v.is_exact)
    if x is None:
        return False
    text = f"tl.{g.choice(('floor', 'ceil'))}({x.name})"
    if x.kind == "wild":
        return g.like(text, x)
    if not fits(x.bound + 1, x.grid, x.type):
        return False
    return g.like(text, x, bound=x.bound + 1, grid=0)


@production(1)
def wild_sum(g: Generator) -> Any:
    """One rounded addition: there is no multiplication before it that could be fused with it."""
    x = g.pick(lambda v: v.is_float and v.kind == "wild" and v.info.bits > 8)
    if x is None:
        return False
    found = partner(g, x, lambda v: v.type == x.type and v.kind == "wild")
    if found is None:
        return False
    y, shape = found
    text = f"{x.name} {g.choice('+-')} {y.name}"
    return g.let(text, x.type, shape, kind="wild", special=True)


@production(0.7)
def scaled(g: Generator) -> Any:
    """A multiplication by a power of two, which only moves the exponent."""
    x = g.pick(lambda v: v.is_float and v.kind == "exact" and v.info.bits > 8 and v.grid < 4)
    if x is None:
        return False
    return g.like(f"{x.name} * 0.25", x, bound=x.bound / 4, grid=x.grid + 2)


# Approximate functions: (text, bound, error for an exact argument of at most 4).
FUNCTIONS = (
    ("tl.exp({})", 55.0, 2.0**-14),
    ("tl.exp2({})", 17.0, 2.0**-16),
    ("tl.log(tl.abs({}) + 1.0)", 2.0, 2.0**-18),
    ("tl.log2(tl.abs({}) + 1.0)", 3.0, 2.0**-18),
    ("tl.sin({})", 1.0, 2.0**-18),
    ("tl.cos({})", 1.0, 2.0**-18),
    ("tl.sqrt(tl.abs({}))", 2.0, 2.0**-18),
    ("tl.rsqrt(tl.abs({}) + 1.0)", 1.0, 2.0**-18),
    ("tl.erf({})", 1.0, 2.0**-18),
    ("tl.sigmoid({})", 1.0, 2.0**-18),
    ("1.0 / (tl.abs({}) + 1.0)", 1.0, 2.0**-19),
)


def drifts(g: Generator) -> bool:
    """In loops an approximate value might be carried around."""
    return g.loops > 0


@production(2)
def function(g: Generator) -> Any:
    """A function that devices compute to within some error."""
    x = g.pick(lambda v: v.type in ("fp32", "fp64") and v.is_exact)
    if x is None or drifts(g):
        return False
    small = finite(g, x, 4.0)
    text, bound, error = g.choice(FUNCTIONS)
    return g.let(
        text.format(small.name), small.type, x.shape, kind="approx", bound=bound, error=error
    )


@production(0.7)
def quotient(g: Generator) -> Any:
    pair = exact_pair(g)
    if pair is None or drifts(g):
        return False
    x, y, shape = pair
    x, y = finite(g, x), finite(g, y)
    if x.type != y.type or not fits(y.bound + 1, y.grid, y.type):
        return False
    type = x.type if x.info.bits >= 32 else "fp32"
    text = f"{x.name} / (tl.abs({y.name}) + 1.0)"
    return g.let(text, type, shape, kind="approx", bound=x.bound, error=x.bound * 2.0**-19)


@production(0.7)
def precise(g: Generator) -> Any:
    """Functions that are correctly rounded."""
    x = g.pick(lambda v: v.type == "fp32" and v.is_exact)
    if x is None or drifts(g):
        return False
    small = finite(g, x)
    text = g.choice(
        ("tl.sqrt_rn(tl.abs({}))", "tl.div_rn({}, 3.0)", "tl.fdiv({}, 7.0, ieee_rounding=True)")
    )
    return g.let(text.format(small.name), "fp32", x.shape, kind="wild")


@production(1)
def approximate_arithmetic(g: Generator) -> Any:
    x = g.pick(lambda v: v.is_float and v.kind == "approx" and v.info.bits >= 32)
    if x is None or drifts(g):
        return False
    found = partner(g, x, lambda v: v.type == x.type and (v.is_plain or v.kind == "approx"))
    if found is None:
        return False
    y, shape = found
    symbol = g.choice("+-*")
    if symbol == "*":
        bound = x.bound * y.bound
        error = x.bound * y.error + y.bound * x.error + x.error * y.error + bound * 2.0**-22
    else:
        bound = x.bound + y.bound
        error = x.error + y.error + bound * 2.0**-22
    if error > 2.0**-4 or bound > 2.0**20 or not math.isfinite(bound):
        return False
    text = f"{x.name} {symbol} {y.name}"
    return g.let(text, x.type, shape, kind="approx", bound=bound, error=error)
