"""Reductions, scans, histograms, sorting."""

from __future__ import annotations

import math
from typing import Any

from .generator import Generator, production
from .memory import index_of
from .values import TYPES, Value, fits

#: Functions that combine two states: name, source, number of parts. All are associative on integers
#: that wrap; not all are commutative, as scans and reductions combine in order.
COMBINE = {
    "add": ("def add(a, b):\n    return a + b", 1),
    "times": ("def times(a, b):\n    return a * b", 1),
    "either": ("def either(a, b):\n    return a | b", 1),
    "larger": ("def larger(a, b):\n    return tl.where(a > b, a, b)", 1),
    "smaller": (
        "def smaller(a, b):\n    r = b\n    if a < b:\n        r = a\n    return r", 1),
    "complex_product": (
        "def complex_product(a, b, c, d):\n    return a * c - b * d, a * d + b * c", 2),
    "extent": ("def extent(a, b, c, d):\n    return tl.minimum(a, c), tl.maximum(b, d)", 2),
    "first_largest": (
        "def first_largest(a, i, b, j):\n    left = (a > b) | ((a == b) & (i < j))\n"
        "    return tl.where(left, a, b), tl.where(left, i, j)", 2),
    "moments": ("def moments(a, b, c, x, y, z):\n    return a + x, b ^ y, tl.maximum(c, z)", 3),
    "affine": ("def affine(a, b, c, d):\n    return a * c, b * c + d", 2),
    "last": ("def last(a, b):\n    return b", 1),
    "second_if_set": (
        "def second_if_set(a, i, b, j):\n    return tl.where(j != 0, b, a), i | j", 2),
}  # fmt: skip


def combine(g: Generator) -> tuple[str, int]:
    """Declares a combine function; returns its name and its number of parts."""
    name = g.choice(COMBINE)
    source, parts = COMBINE[name]
    text = f"@tile.jit\n{source}"
    if text not in g.functions:
        g.functions.append(text)
    return name, parts


#: What names the dimensions that are combined: one, several, or None for all.
Axes = int | tuple[int, ...] | None


def named(rank: int, axis: Axes) -> set[int]:
    """The dimensions that an axis names, from 0."""
    if axis is None:
        return set(range(rank))
    return {a % rank for a in (axis if isinstance(axis, tuple) else (axis,))}


def without(shape: tuple[int, ...], axis: Axes, keep: bool) -> tuple[int, ...]:
    """The shape that a reduction leaves."""
    gone = named(len(shape), axis)
    return tuple(1 if d in gone else e for d, e in enumerate(shape) if keep or d not in gone)


def choose_axes(g: Generator, rank: int) -> Axes:
    """One axis, several, or all; from the front or from the end."""
    if g.chance(0.15):
        return None
    if rank < 2 or g.chance(0.6):
        return g.random.randrange(rank)
    axes = g.random.sample(range(rank), g.random.randint(1, rank))
    return tuple(a - rank if g.chance(0.3) else a for a in axes)


def combined(shape: tuple[int, ...], axis: Axes) -> int:
    """How many elements become one."""
    return math.prod(shape[d] for d in named(len(shape), axis))


def choose_axis(g: Generator, x: Value) -> tuple[Axes, str, Any]:
    """What is reduced, keep_dims, and the shape that a reduction leaves."""
    axis = choose_axes(g, x.rank)
    keep = g.chance(0.3)
    text = ", keep_dims=True" if keep else ""
    return axis, text, without(x.shape, axis, keep)


@production(3)
def reduce_ints(g: Generator) -> Any:
    x = g.pick(lambda v: v.shape and (v.is_int or v.is_bool))
    if x is None:
        return False
    op = g.choice(("sum", "max", "min", "xor_sum", "reduce_or", "sum", "any", "all"))
    axis, keep, shape = choose_axis(g, x)
    type = x.type
    domain: dict[str, Any] = {}
    if x.is_bool:
        op = g.choice(("sum", "xor_sum", "reduce_or", "any", "all"))
    if op in ("any", "all"):
        return g.let(f"tl.{op}({x.name}, {axis}{keep})", "i1", shape)
    if op == "sum" and x.info.bits < 32:
        type = "i32" if x.info.kind == "i" else "u32"
    elif op in ("max", "min"):
        if x.info.bits < 32:
            type = "i32"
        domain = {"low": x.low, "high": x.high}
    return g.let(f"tl.{op}({x.name}, {axis}{keep})", type, shape, **domain)


@production(2)
def reduce_floats(g: Generator) -> Any:
    x = g.pick(lambda v: v.shape and v.is_float and v.info.bits > 8)
    if x is None:
        return False
    axis, keep, shape = choose_axis(g, x)
    if x.kind == "wild" or g.chance(0.4):
        type = "fp32" if x.info.bits < 32 else x.type
        text = f"tl.{g.choice(('max', 'min'))}({x.name}, {axis}{keep})"
        return g.like(text, x.replace(type=type), shape)
    count = combined(x.shape, axis)
    text = f"tl.sum({x.name}, {axis}{keep})"
    if x.kind == "approx":
        error = count * (x.error + x.bound * count * 2.0**-22)
        if error > 2.0**-4 or x.info.bits < 32:
            return False
        return g.like(text, x, shape, bound=x.bound * count, error=error)
    if not fits(x.bound * count, x.grid, x.type):
        return False
    return g.like(text, x, shape, bound=x.bound * count)


@production(1.5)
def arg_extreme(g: Generator) -> Any:
    """argmax and argmin; max and min with the index. Of floats NaN and infinities, too."""
    x = g.pick(lambda v: v.shape and (v.is_int or (v.is_float and v.is_exact and v.info.bits > 8)))
    if x is None:
        return False
    axis, text, shape = choose_axis(g, x)
    op = g.choice(("max", "min"))
    left = "" if g.chance(0.7) else g.choice((", True", ", False"))
    known = {"low": 0, "high": combined(x.shape, axis) - 1}
    if g.chance(0.5):
        return g.let(f"tl.arg{op}({x.name}, {axis}{left}{text})", "i32", shape, **known)
    value, index = g.name(), g.name()
    g.line(f"{value}, {index} = tl.{op}({x.name}, {axis}, return_indices=True{text})")
    type = "fp32" if x.type == "bf16" else x.type
    g.env.append(x.replace(name=value, type=type, shape=shape))
    g.env.append(Value(index, "i32", shape, **known))
    return None


@production(3)
def custom(g: Generator) -> Any:
    """A reduction or a scan of one or several blocks with a function of the program's."""
    scan = g.chance(0.5)
    x = g.pick(lambda v: v.shape and v.is_int and v.info.bits >= 16)
    if x is None:
        return False
    name, parts = combine(g)
    blocks = [x]
    for _ in range(parts - 1):
        other = g.pick(lambda v: v.is_int and v.info.bits >= 32 and v.shape == x.shape)
        if other is None:
            other = g.let(f"tl.reshape(tl.arange(0, {x.numel}), {list(x.shape)})", "i32", x.shape)
        blocks.append(other)
    if name in ("complex_product", "affine"):
        # The parts mix, so they have one type.
        blocks = [b if b.type == x.type else g.let(f"{b.name}.to({x.info.tl})", x.type, x.shape)
                  for b in blocks]  # fmt: skip
    axis = choose_axes(g, x.rank)
    operand = x.name if parts == 1 else f"({', '.join(b.name for b in blocks)})"
    names = [g.name() for _ in range(parts)]
    if scan:
        reverse = ", reverse=True" if g.chance(0.3) else ""
        text = f"tl.associative_scan({operand}, {axis}, {name}{reverse})"
        shape = x.shape
    else:
        keep = g.chance(0.3)
        text = f"tl.reduce({operand}, {axis}, {name}{', keep_dims=True' if keep else ''})"
        shape = without(x.shape, axis, keep)
    g.line(f"{', '.join(names)} = {text}")
    for new, part in zip(names, blocks, strict=True):
        g.env.append(Value(new, part.type, shape))
    if not scan and g.chance(0.5):
        copies(g, g.lookup(g.choice(names)), x.shape, axis)
    return None


def copies(g: Generator, result: Value, shape: tuple[int, ...], axis: Axes) -> None:
    """By how much the copies of a reduction's result differ that threads have along its axis."""
    kept = result.name
    if result.shape and len(result.shape) < len(shape):
        kept = f"tl.expand_dims({kept}, {sorted(named(len(shape), axis))})"
    block = g.name()
    g.line(f"{block} = tl.zeros({list(shape)}, {result.info.tl}) + {kept}")
    rest = without(shape, axis, False)
    text = f"tl.max({block}, {axis}) - tl.min({block}, {axis})"
    g.let(text, promoted(result.type), rest, low=0, high=0)


def promoted(type: str) -> str:
    """What integers of a type are compared as."""
    return type if TYPES[type].bits >= 32 else "i32"


@production(2)
def scan(g: Generator) -> Any:
    x = g.pick(lambda v: v.shape and (v.is_int or (v.is_float and v.kind == "exact")))
    if x is None or (x.info.bits == 8 and x.is_float):
        return False
    axis = choose_axes(g, x.rank)
    reverse = ", reverse=True" if g.chance(0.3) else ""
    if g.chance(0.25):
        text = f"tl.{g.choice(('cummax', 'cummin'))}({x.name}, {axis}{reverse}"
        if x.is_int and g.chance(0.5):
            value, index = g.name(), g.name()
            g.line(f"{value}, {index} = {text}, return_indices=True)")
            g.env.append(x.replace(name=value))
            high = combined(x.shape, axis) - 1
            g.env.append(Value(index, "i32", x.shape, low=0, high=high))
            return None
        return g.like(f"{text})", x)
    if x.is_int:
        op = g.choice(("cumsum", "cumprod"))
        type = x.type
        if x.info.bits < 32:
            type = "i32" if x.info.kind == "i" else "u32"
        return g.let(f"tl.{op}({x.name}, {axis}{reverse})", type, x.shape)
    type = "fp32" if x.type == "bf16" else x.type
    bound = x.bound * combined(x.shape, axis)
    if not fits(bound, x.grid, type):
        return False
    text = f"tl.cumsum({x.name}, {axis}{reverse})"
    return g.like(text, x.replace(type=type), bound=bound)


@production(1)
def histogram(g: Generator) -> Any:
    bins = g.extent(2 ** g.random.randint(0, 7))
    index = index_of(g, bins)
    if index is None:
        return False
    flat = index
    if index.rank > 1:
        flat = g.like(f"tl.ravel({index.name})", index, (index.numel,))
    mask = ""
    if g.chance(0.4):
        condition = g.pick(lambda v: v.is_bool and v.shape == flat.shape)
        mask = f", mask={condition.name}" if condition is not None else ""
    return g.let(f"tl.histogram({flat.name}, {bins}{mask})", "i32", (bins,), low=0, high=flat.numel)


@production(0.6)
def sort(g: Generator) -> Any:
    """sort and topk along the last dimension."""
    x = g.pick(
        lambda v: (
            v.shape
            and v.shape[-1] <= 64
            and v.numel <= 512
            and (v.is_int or (v.is_plain and v.info.bits >= 32))
        )
    )
    if x is None:
        return False
    if g.chance(0.3) and x.info.bits >= 32:
        k = g.extent(2 ** g.random.randint(0, x.shape[-1].bit_length() - 1))
        return g.like(f"tl.topk({x.name}, {k})", x, (*x.shape[:-1], k))
    order = ", descending=True" if g.chance(0.4) else ""
    return g.like(f"tl.sort({x.name}{order})", x)
