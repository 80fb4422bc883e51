"""Statements of which NumPy says what they do: the library's functions that the front end makes of
others, and operators on operands of two types. The interpreter shares the front end with the
compiler; what is written here knows nothing of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .generator import Generator, contiguous, offsets, production
from .values import FLOATS, INTEGERS, TYPES

#: Of one operand: in the language and in NumPy, where `{a}` is an axis and `{k}` a power of two in
#: the last extent. Then the type of the result, that of the operand or what sums have.
ONE = (
    ("tl.sort({x})", "np.sort({x}, -1)", "same"),
    ("tl.sort({x}, descending=True)", "np.flip(np.sort({x}, -1), -1)", "same"),
    ("tl.topk({x}, {k})", "np.flip(np.sort({x}, -1), -1)[..., :{k}]", "same"),
    ("tl.flip({x}, {a})", "np.flip({x}, {a})", "same"),
    ("tl.cumsum({x}, {a})", "np.cumsum({x}, {a}, dtype={sum})", "sum"),
    ("tl.cumsum({x}, {a}, reverse=True)",
     "np.flip(np.cumsum(np.flip({x}, {a}), {a}, dtype={sum}), {a})", "sum"),
    ("tl.cumprod({x}, {a})", "np.cumprod({x}, {a}, dtype={sum})", "sum"),
    ("tl.sum({x}, {a})", "np.sum({x}, {a}, dtype={sum})", "sum"),
    ("tl.sum({x}, {a}, keep_dims=True)", "np.sum({x}, {a}, dtype={sum}, keepdims=True)", "sum"),
    ("tl.max({x}, {a})", "np.max({x}, {a})", "same"),
    ("tl.min({x}, {a})", "np.min({x}, {a})", "same"),
    ("tl.argmax({x}, {a})", "np.argmax({x}, {a})", "i32"),
    ("tl.argmin({x}, {a})", "np.argmin({x}, {a})", "i32"),
    ("tl.xor_sum({x}, {a})", "np.bitwise_xor.reduce({x}, {a})", "same"),
    ("tl.histogram(tl.ravel({x}).to(tl.int32) & 31, 32)",
     "np.bincount(({x}.astype(np.int32) & 31).ravel(), minlength=32)", "i32"),
    ("~{x}", "~{x}", "same"),
    ("{x} >> 3", "{x} >> 3", "same"),
    ("{x} << 2", "{x} << 2", "same"),
    ("tl.trans({x})", "{x}.T", "same"),
    ("tl.interleave({x}, {x} ^ 1)",
     "np.stack(({x}, {x} ^ 1), -1).reshape(*{x}.shape[:-1], -1)", "same"),
    ("tl.join({x}, {x} ^ 1)", "np.stack(({x}, {x} ^ 1), -1)", "same"),
)  # fmt: skip

#: Of two operands, which first have a type in common; comparisons are of that type, too.
TWO = (
    ("{x} + {y}", "{x} + {y}"),
    ("{x} - {y}", "{x} - {y}"),
    ("{x} * {y}", "{x} * {y}"),
    ("tl.maximum({x}, {y})", "np.maximum({x}, {y})"),
    ("tl.minimum({x}, {y})", "np.minimum({x}, {y})"),
    ("tl.where({x} < {y}, {x}, {y})", "np.where({x} < {y}, {x}, {y})"),
    ("({x} < {y}).to({t})", "{x} < {y}"),
    ("({x} >= {y}).to({t})", "{x} >= {y}"),
    ("({x} == {y}).to({t})", "{x} == {y}"),
)
BITS = (("{x} & {y}", "{x} & {y}"), ("{x} | {y}", "{x} | {y}"), ("{x} ^ {y}", "{x} ^ {y}"))


@dataclass(frozen=True)
class Operand:
    """A new input that is loaded: its name in the language, and its block in NumPy."""

    name: str
    array: str


def operand(g: Generator, type: str, shape: tuple[int, ...], **contents: Any) -> Operand:
    size = math.prod(shape)
    x = g.argument("input", type, "x", size=size, **contents).name
    name = g.name()
    g.line(f"{name} = tl.load({x} + {offsets(shape, contiguous(shape))})")
    return Operand(name, f"{x}.reshape({shape})")


def result(g: Generator, name: str, type: str, shape: tuple[int, ...], known: str) -> None:
    """Writes a result, every program to a place of its own."""
    size = math.prod(shape)
    if g.programs > 1:
        known = f"np.tile(np.ravel({known}), {g.programs})"
    out = g.argument("output", type, "o", size=size * g.programs, flavour="poison", known=known)
    where = out.name + (f" + {offsets(shape, contiguous(shape))}" if shape else "")
    where += f" + pid * {size}" if g.programs > 1 else ""
    g.line(f"tl.store({where}, {name})")


def result_shape(text: str, shape: tuple[int, ...], axis: int, k: int) -> tuple[int, ...]:
    """The shape of what a function of one operand makes."""
    if "keep_dims" in text:
        return tuple(1 if d == axis else s for d, s in enumerate(shape))
    if text.startswith(("tl.sum", "tl.max", "tl.min", "tl.arg", "tl.xor")):
        return tuple(s for d, s in enumerate(shape) if d != axis)
    if text.startswith("tl.topk"):
        return (*shape[:-1], k)
    if text.startswith("tl.histogram"):
        return (32,)
    if text.startswith("tl.trans"):
        return shape[::-1]
    if text.startswith("tl.interleave"):
        return (*shape[:-1], 2 * shape[-1])
    return (*shape, 2) if text.startswith("tl.join") else shape


def sum_type(type: str) -> str:
    """What sums of integers are: 32 bits at least."""
    info = TYPES[type]
    return type if info.bits >= 32 else "i32" if info.kind == "i" else "u32"


@production(1)
def function_of_one(g: Generator) -> Any:
    """A function of a block of integers."""
    if g.pure or g.loops or g.depth > 1:
        return False
    type = g.choice(INTEGERS)
    shape = g.choose_shape(2)
    text, array, kind = g.choice(ONE)
    if "trans" in text and len(shape) != 2:
        return False
    axis = g.random.randrange(len(shape))
    k = g.extent(2 ** g.random.randint(0, shape[-1].bit_length() - 1))
    x = operand(g, type, shape)
    of = {"same": type, "sum": sum_type(type)}.get(kind, kind)
    names = {"a": axis, "k": k, "sum": f"np.{TYPES[sum_type(type)].numpy.__name__}"}
    name = g.name()
    g.line(f"{name} = {text.format(x=x.name, **names)}")
    known = array.format(x=f"({x.array})", **names)
    result(g, name, of, result_shape(text, shape, axis, k), known)
    return None


def common(a: str, b: str) -> str:
    """The type that two operands have in common."""
    x, y = TYPES[a], TYPES[b]
    if (x.kind == "f") != (y.kind == "f"):
        return a if x.kind == "f" else b
    if x.kind == "f":
        if x.bits == y.bits:
            return a if a == b else "fp32"
        return a if x.bits > y.bits else b
    if x.kind == y.kind:
        return a if x.bits >= y.bits else b
    unsigned, signed = (x, y) if x.kind == "u" else (y, x)
    return unsigned.name if unsigned.bits >= signed.bits else signed.name


@production(1)
def function_of_two(g: Generator) -> Any:
    """An operator on two types."""
    if g.pure or g.loops or g.depth > 1:
        return False
    types = g.choice(INTEGERS), g.choice((*INTEGERS, *INTEGERS, *FLOATS))
    if g.chance(0.2):
        types = g.choice(FLOATS), g.choice(FLOATS)
    if g.chance(0.5):
        types = types[::-1]
    is_float = any(TYPES[t].kind == "f" for t in types)
    text, array = g.choice(TWO if is_float else (*TWO, *BITS))
    of = common(*types)
    shape = g.choose_shape(2)
    narrow = tuple(1 if g.chance(0.3) else s for s in shape)
    operands = []
    for t, extents in zip(types, (shape, narrow), strict=True):
        contents = {"flavour": "full"}
        if is_float:  # Exact whatever is done to them.
            low = 0 if TYPES[t].kind == "u" else -8
            kind = "exact" if TYPES[t].kind == "f" else "small"
            contents = {"flavour": kind, "low": low, "high": 8}
        operands.append(operand(g, t, extents, **contents))
    x, y = operands
    numpy = TYPES[of].numpy
    # NumPy has no type of 16 bits with 8 of exponent; small numbers are exact in any.
    there = "np.float64" if is_float else f"np.{numpy.__name__}"
    known = array.format(x=f"{x.array}.astype({there})", y=f"{y.array}.astype({there})")
    name = g.name()
    g.line(f"{name} = {text.format(x=x.name, y=y.name, t=TYPES[of].tl)}")
    result(g, name, of, shape, known)
    return None
