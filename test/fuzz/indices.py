"""Index arithmetic below and above zero: quotients, remainders, bounds; and the loads, masks and
stores that are made of it.

The indices are computed here, too, by NumPy, so what such a load reads is known without the
compiler and without the interpreter (`Argument.known`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .generator import Generator, contiguous, offsets, production
from .memory import input_domain, scalar_argument
from .values import FLOATS, INTEGERS, TYPES

#: Beyond this, sums might overflow, of which the language says something else.
LIMITS = {"i32": 2**28, "i64": 2**60}
WIDEST = 4096


@dataclass
class Index:
    """An expression, and its elements in each program."""

    text: str
    values: np.ndarray
    type: str = "i32"


def quotient(x: np.ndarray, y: Any) -> np.ndarray:
    """x / y, towards zero."""
    return np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))


def remainder(x: np.ndarray, y: Any) -> np.ndarray:
    return x - quotient(x, y) * y


def choose_shape(g: Generator) -> tuple[int, ...]:
    """Often one of which a thread has several neighbours: there an access could be a vector."""
    if g.chance(0.3):
        return g.choose_shape(3)
    each = min(32 * g.config.num_warps * g.choice((2, 4, 8)), 2048)
    inner = g.choice((each, each, 16, 32, 64))
    return (each,) if inner >= each else (each // inner, inner)


def start(g: Generator, shape: tuple[int, ...]) -> Index:
    """Strided ranges along some axes, and what differs from program to program."""
    strides = list(contiguous(shape))
    if g.chance(0.25):
        strides = [g.choice((0, 1, 2, 3, 8, 16, s, s + 1)) for s in strides]
    if g.chance(0.15):
        strides.reverse()
    values = np.zeros((g.programs, *shape), np.int64)
    for d, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        along = [1] * (len(shape) + 1)
        along[d + 1] = extent
        values += stride * np.arange(extent).reshape(along)
    index = Index(f"({offsets(shape, tuple(strides))})", values)
    if g.programs > 1 and g.chance(0.6):
        step = g.choice((1, 16, 64, math.prod(shape)))
        each = np.arange(g.programs).reshape(-1, *[1] * len(shape))
        index = Index(f"({index.text} + pid * {step})", values + step * each)
    return index


def number(g: Generator, value: int) -> str:
    """The text of a number, which the compiler may see or not."""
    if g.chance(0.3) and abs(value) < 2**31:
        return scalar_argument(g, value)
    return str(value) if value >= 0 else f"({value})"


def step(g: Generator, x: Index) -> Index | None:
    """One more operation, unless it might overflow."""
    text, v = x.text, x.values
    power = g.choice((1, 2, 4, 8, 16, 32, 64))
    odd = g.choice((1, 2, 3, 5, 7, 12, 16, 100))
    amount = g.choice((1, 3, 8, 16, 64, 512, int(np.median(v)) // 16 * 16 or 16))
    divisor = g.choice((power, power, power, odd, -power))
    wide = x.type == "i64"
    if wide and g.chance(0.5):
        power, divisor = power << 30, divisor << 30
        amount = amount << 30 if abs(amount) < 2**25 else amount
    # NumPy, too, would wrap around.
    if int(np.abs(v).max()) * max(power, odd, abs(divisor)) >= 2**62:
        return None
    choices: tuple[Callable[[], tuple[str, np.ndarray]], ...] = (
        lambda: (f"({text} - {number(g, amount)})", v - amount),
        lambda: (f"({text} - {number(g, amount)})", v - amount),
        lambda: (f"({text} + {number(g, amount)})", v + amount),
        lambda: (f"({number(g, amount)} - {text})", amount - v),
        lambda: (f"({text} * {number(g, power)})", v * power),
        lambda: (f"({text} * {number(g, -odd)})", v * -odd),
        lambda: (f"({text} // {number(g, divisor)})", quotient(v, divisor)),
        lambda: (f"({text} // {number(g, divisor)})", quotient(v, divisor)),
        lambda: (f"({text} % {number(g, divisor)})", remainder(v, divisor)),
        lambda: (f"({text} % {number(g, divisor)})", remainder(v, divisor)),
        lambda: (f"({text} & {power - 1})", v & (power - 1)),
        lambda: (f"({text} & {-power})", v & -power),
        lambda: (f"({text} | {power})", v | power),
        lambda: (f"({text} ^ {power})", v ^ power),
        lambda: (f"({text} >> {odd % 8})", v >> odd % 8),
        lambda: (f"tl.minimum({text}, {number(g, amount)})", np.minimum(v, amount)),
        lambda: (f"tl.maximum({text}, {number(g, -amount)})", np.maximum(v, -amount)),
        lambda: (f"tl.abs({text})", np.abs(v)),
        lambda: (
            f"tl.where({text} < {amount}, {text}, {text} - {power})",
            np.where(v < amount, v, v - power),
        ),
    )
    new_text, values = g.choice(choices)()
    if np.abs(values).max() >= LIMITS[x.type]:
        return None
    if not wide and g.chance(0.1):
        return Index(f"{new_text}.to(tl.int64)", values, "i64")
    return Index(new_text, values, x.type)


def expression(g: Generator, shape: tuple[int, ...]) -> Index:
    """Some operations; sometimes each in a variable, so that the compiler sees it twice."""
    x = start(g, shape)
    if g.chance(0.5):  # Part of it is negative, in whole runs.
        low = g.choice((16, 64, int(np.median(x.values)) // 16 * 16))
        x = Index(f"({x.text} - {number(g, low)})", x.values - low, x.type)
    for _ in range(g.choice((1, 1, 2, 3, 5))):
        x = step(g, x) or x
        if len(x.text) > 120 or g.chance(0.2):
            name = g.name("j")
            g.line(f"{name} = {x.text}")
            x = Index(name, x.values, x.type)
    if g.chance(0.3):
        y = step(g, start(g, shape))
        if y is not None and y.values.all():
            how = g.choice(("+", "//", "%"))
            compute = {"+": np.add, "//": quotient, "%": remainder}[how]
            type = "i64" if "i64" in (x.type, y.type) else "i32"
            x = Index(f"({x.text} {how} {y.text})", compute(x.values, y.values), type)
    return x


def condition(g: Generator, shape: tuple[int, ...]) -> Index:
    """A mask: a comparison of such an expression."""
    x = expression(g, shape)
    bound = int(g.choice((0, g.choice(x.values.ravel()), x.values.max(), 16)))
    how = g.choice(("<", "<", ">=", ">", "<=", "==", "!="))
    compare = {"<": np.less, ">=": np.greater_equal, ">": np.greater, "<=": np.less_equal,
               "==": np.equal, "!=": np.not_equal}[how]  # fmt: skip
    return Index(f"({x.text} {how} {number(g, bound)})", compare(x.values, bound), "i1")


def narrowed(g: Generator, x: Index) -> Index:
    """The same, within what an array may span."""
    if np.ptp(x.values) < WIDEST:
        return x
    size = g.choice((64, 1000, 1024))
    return Index(f"({x.text} % {number(g, size)})", remainder(x.values, size), x.type)


def based(g: Generator, x: Index, array: str) -> tuple[str, np.ndarray]:
    """The text of pointers into an array, and the positions of its elements."""
    low = int(x.values.min())
    # The least base that will do, or one that keeps what is aligned so.
    shift = -low if g.chance(0.3) else max(0, -(low // 16) * 16)
    if shift < -low or (shift + x.values).max() >= 4 * WIDEST:
        shift = -low
    return f"{array} + {number(g, shift)} + {x.text}", x.values + shift


@production(3)
def signed_index(g: Generator) -> Any:
    """A load from computed places, which also goes to an output of its own."""
    if g.pure or g.loops:
        return False
    shape = choose_shape(g)
    x = narrowed(g, expression(g, shape))
    mask = condition(g, shape) if g.chance(0.5) else None
    type = g.choice((*INTEGERS, *FLOATS, "i32", "fp32", "fp16"))
    properties, domain = input_domain(g, type, plain=True)
    pick = np.ones(x.values.shape, bool) if mask is None else mask.values
    array = f"x{sum(a.name.startswith('x') for a in g.arguments)}"
    if mask is not None and pick.any() and g.chance(0.5):
        # Masked elements are far outside.
        x = Index(x.text, np.where(pick, x.values, x.values[pick].min()), x.type)
    pointer, at = based(g, x, array)
    g.argument("input", type, "x", size=int(at.max()) + 1, **properties)
    extra = ""
    if mask is not None:
        extra = f", mask={mask.text}, other=0"
        domain = (
            {**domain, "bound": max(domain.get("bound", 0.0), 1.0)}
            if "bound" in domain
            else (
                {"low": min(domain["low"], 0), "high": max(domain["high"], 0)}
                if "low" in domain
                else {}
            )
        )
    value = g.let(f"tl.load({pointer}{extra})", type, shape, **domain)
    known = ""
    if g.depth == 1:  # In a branch it may stay unwritten.
        known = f"take({array}, {np.where(pick, at, -1).ravel().tolist()})"
    out = g.argument("output", type, "o", size=g.programs * value.numel, flavour="poison",
                     known=known)  # fmt: skip
    each = f" + pid * {value.numel}" if g.programs > 1 else ""
    g.line(f"tl.store({out.name}{each} + {offsets(shape, contiguous(shape))}, {value.name})")
    return None


@production(1)
def signed_store(g: Generator) -> Any:
    """A store to computed places, each of them once."""
    if g.pure or g.loops:
        return False
    value = g.pick(lambda v: v.shape and v.is_exact and not v.is_bool and v.rank < 4)
    if value is None:
        return False
    x = narrowed(g, expression(g, value.shape))
    mask = condition(g, value.shape) if g.chance(0.4) else None
    written = x.values if mask is None else x.values[mask.values]
    if len(np.unique(written)) != written.size or TYPES[value.type].kind == "b":
        return False
    number_of = sum(a.name.startswith("o") for a in g.arguments)
    pointer, at = based(g, x, f"o{number_of}")
    g.argument("output", value.type, "o", size=int(at.max()) + 1, flavour="poison")
    extra = "" if mask is None else f", mask={mask.text}"
    g.line(f"tl.store({pointer}, {value.name}{extra})")
    return None
