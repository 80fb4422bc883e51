"""Loads, stores, atomics."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from .convert import coerce, to_type
from .generator import Generator, contiguous, offsets, production
from .values import FLOATS, INTEGERS, SMALL_FLOATS, TYPES, Value, fits, limits

MODIFIERS = (
    *[""] * 5,
    ", cache_modifier='.cg'",
    ", cache_modifier='.ca'",
    ", eviction_policy='evict_first'",
    ", eviction_policy='evict_last'",
    ", volatile=True",
)


def input_domain(
    g: Generator, type: str, plain: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The contents of a new input: properties of the argument, and of values loaded from it. If it
    is `plain`, floats are small and finite."""
    info = TYPES[type]
    if info.kind == "b":
        return {"flavour": "full"}, {}
    if info.kind != "f":
        if g.chance(0.5):
            return {"flavour": "full"}, {}
        low, high = limits(type)
        low = max(low, g.choice((0, 0, -1, -8, -100)))
        high = min(high, low + g.choice((1, 2, 7, 15, 100)))
        return {"flavour": "small", "low": low, "high": high}, {"low": low, "high": high}
    if g.chance(0.3) and info.bits > 8 and not plain:
        special = g.chance(0.6)
        return {"flavour": "wild", "special": special}, {"kind": "wild", "special": special}
    top = g.choice((1, 3, 4) if plain else (1, 3, 4, 7, 7, 15, 31, 63))
    grid = g.choice((0, 0, 1, 2, 3))
    while not fits(top / 2.0**grid, grid, type):
        top //= 2
    special = g.chance(0.15) and info.bits > 8 and not plain
    bound = top / 2.0**grid
    low = -top if g.chance(0.7) else 0
    properties = {"flavour": "exact", "low": low, "high": top, "grid": grid, "special": special}
    return properties, {"bound": bound, "grid": grid, "special": special}


def pattern(g: Generator, shape: tuple[int, ...]) -> tuple[str, int]:
    """Offsets that visit distinct elements, and how many elements they span."""
    order = list(range(len(shape)))
    if g.chance(0.4):
        g.random.shuffle(order)
    strides = contiguous(shape, tuple(order))
    size = math.prod(shape)
    if len(shape) > 1 and g.chance(0.2):
        # Rows that are further apart than they are long.
        outer = order[0]
        pad = g.choice((1, 3, 8, 16))
        strides = tuple(s + pad if d == outer else s for d, s in enumerate(strides))
        size += pad * (shape[outer] - 1)
    elif g.chance(0.1):
        step = g.choice((2, 3, 4))
        strides = tuple(s * step for s in strides)
        size = (size - 1) * step + 1
    return offsets(shape, strides), size


def base(g: Generator, pointer: str, size: int) -> tuple[str, int]:
    """The part of an array that belongs to a program, and the size of the whole."""
    if g.programs == 1:
        return pointer, size
    stride = size if g.chance(0.5) else (size + 15) // 16 * 16
    return f"{pointer} + pid * {stride}", stride * (g.programs - 1) + size


def mask_text(g: Generator, shape: tuple[int, ...]) -> str | None:
    """A condition on the elements of a shape: a bound on an index, or a value of the program."""
    found = g.pick(lambda v: v.is_bool and v.shape == shape) if g.chance(0.5) else None
    if found is not None:
        return found.name
    d = g.random.randrange(len(shape))
    index = ", ".join(":" if i == d else "None" for i in range(len(shape)))
    index = f"tl.arange(0, {shape[d]})" + (f"[{index}]" if len(shape) > 1 else "")
    bound = str(g.random.randint(0, shape[d]))
    if g.chance(0.5):
        bound = scalar_argument(g, int(bound))
    return f"({index} < {bound})"


def scalar_argument(g: Generator, value: int) -> str:
    """The name of an integer parameter with a value; or the value itself in a helper."""
    if g.pure:
        return str(value)
    for a in g.arguments:
        if a.role == "scalar" and a.type == "i32" and a.value == value:
            return a.name
    return g.argument("scalar", "i32", "n", value=value).name


def fill(g: Generator, type: str, domain: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What masked-off elements are read as, and what then is known of all elements."""
    info = TYPES[type]
    if info.kind == "b":
        return g.choice(("0", "1")), domain
    if info.kind == "f":
        return g.choice(("0.0", "1.0")), {**domain, "bound": max(domain.get("bound", 0), 1.0)}
    if "low" not in domain:
        low, high = limits(type)
        return str(g.choice((0, 1, 7, low, high) if info.kind == "u" else (0, -1, low, high))), {}
    value = g.choice((0, domain["low"]))
    return str(value), {"low": min(domain["low"], value), "high": max(domain["high"], value)}


#: What undefined elements may be, by what is in each of their bytes.
FORGOTTEN = (0, 0xFF, 0x7B, 0xFB)


def remembered(source: str, byte: int) -> str:
    """The source of a program that forgets, whose loads have another value: this in each byte."""

    def other(match: re.Match[str]) -> str:
        info = TYPES[match[2]]
        value = np.full(8, byte, np.uint8).view(info.numpy)[0]
        text = f"float('{float(value)!r}')" if info.kind == "f" else str(int(value))
        return f"{match[1]}, other={text})"

    return re.sub(r"^( *u\d+ = tl\.load\(.*)\)  # (\w+)$", other, source, flags=re.MULTILINE)


def masked_load(
    g: Generator, pointer: str, type: str, shape: tuple[int, ...], domain: dict[str, Any],
    modifier: str = "",
) -> Any:  # fmt: skip
    """A load with another value where its mask is off; or one without, which leaves elements
    undefined. Others are chosen for them, unless the program `forgets` that."""
    mask = mask_text(g, shape)
    other, domain = fill(g, type, domain)
    # No arithmetic is done on the types of 8 bits, nor on booleans, to choose numbers for.
    if type in SMALL_FLOATS or type == "i1" or not (g.forgets or g.chance(0.4)):
        return g.let(
            f"tl.load({pointer}, mask={mask}, other={other}{modifier})", type, shape, **domain
        )
    name = g.name("u")
    g.line(f"{name} = tl.load({pointer}, mask={mask}{modifier})  # {type}")
    chosen = name if g.forgets else f"tl.where({mask}, {name}, {other})"
    return g.let(chosen, type, shape, **domain)


@production(4)
def source(
    g: Generator,
    type: str | None = None,
    shape: tuple[int, ...] | None = None,
    plain: bool = False,
) -> Any:
    """A value from memory."""
    if g.pure:
        return False if type is None and shape is None else constant(g, type, shape)
    type = type or g.choice((*INTEGERS, "i32", "i32", *FLOATS, "fp32", "fp16", "i1", *SMALL_FLOATS))
    shape = g.choose_shape() if shape is None else shape
    if type in SMALL_FLOATS and (type == "fp8e4nv" and g.config.target < 89):
        type = "fp8e5"
    properties, domain = input_domain(g, type, plain)
    skew = g.choice((0, 0, 0, 0, 1, 3))
    modifier = g.choice(MODIFIERS)
    if not shape:
        argument = g.argument("input", type, "x", size=g.programs, skew=skew, **properties)
        offset = " + pid" if g.programs > 1 else ""
        return g.let(f"tl.load({argument.name}{offset}{modifier})", type, (), **domain)
    text, size = pattern(g, shape)
    number = sum(a.name.startswith("x") for a in g.arguments)
    pointer, whole = base(g, f"x{number}", size)
    g.argument("input", type, "x", size=whole, skew=skew, **properties)
    if g.chance(0.8 if g.forgets else 0.35):
        return masked_load(g, f"{pointer} + {text}", type, shape, domain, modifier)
    return g.let(f"tl.load({pointer} + {text}{modifier})", type, shape, **domain)


@production(0.7)
def constant(g: Generator, type: str | None = None, shape: tuple[int, ...] | None = None) -> Any:
    """A block of one number."""
    type = type or g.choose_type()
    shape = g.choose_shape() if shape is None else shape
    info = TYPES[type]
    if info.kind == "b":
        return g.let(f"tl.full({list(shape)}, {g.choice((True, False))}, tl.int1)", type, shape)
    if info.kind == "f":
        number = g.choice((0.0, 1.0, -2.0, 0.5, 3.0))
        return g.let(
            f"tl.full({list(shape)}, {number}, {info.tl})", type, shape, bound=abs(number), grid=1
        )
    low, high = limits(type)
    number = g.choice((0, 1, 5, low, high))
    return g.let(
        f"tl.full({list(shape)}, {number}, {info.tl})", type, shape, low=number, high=number
    )


@production(1)
def scalar(g: Generator) -> Any:
    """A number that the caller passes."""
    if g.pure:
        return False
    if g.chance(0.3):
        number = g.choice((-3.0, 0.25, 1.0, 6.5))
        argument = g.argument("scalar", "fp32", "f", value=number)
        text = f"tl.full([], {argument.name}, tl.float32)"
        return g.let(text, "fp32", (), bound=abs(number), grid=2)
    if g.chance(0.3):
        number = g.choice((2**40 + 5, -(2**33), 2**62))
        argument = g.argument("scalar", "i64", "w", value=number)
        return g.let(f"tl.full([], {argument.name}, tl.int64)", "i64", ())
    number = g.choice((0, 1, 2, 3, 5, 16, 17, 64, -1, -7, 2**31 - 1))
    name = scalar_argument(g, number)
    return g.let(f"tl.full([], {name}, tl.int32)", "i32", (), low=number, high=number)


def tolerance(value: Value) -> float:
    return 2 * value.error + 1e-6 if value.is_float and value.kind == "approx" else 0.0


def store_value(g: Generator, value: Value, loop: tuple[str, int] | None = None) -> None:
    """Writes a value to an output of its own; in a loop, to a part for each iteration."""
    type = value.type
    if value.is_bool and g.chance(0.5):
        type = "i8"
    properties = {"flavour": "poison", "skew": g.choice((0, 0, 0, 0, 1, 3))}
    properties["tolerance"] = tolerance(value)
    number = sum(a.name.startswith("o") for a in g.arguments)
    text, size = pattern(g, value.shape) if value.shape else ("", 1)
    if loop is not None:
        text = f"{loop[0]} * {size}" + (f" + {text}" if text else "")
        size *= loop[1]
    pointer, whole = base(g, f"o{number}", size)
    g.argument("output", type, "o", size=whole, **properties)
    where = f"{pointer} + {text}" if text else pointer
    mask = ""
    if value.shape and g.chance(0.25):
        mask = f", mask={mask_text(g, value.shape)}"
    g.line(f"tl.store({where}, {value.name}{mask})")
    g.used.add(value.name)


def index_of(g: Generator, size: int, shape: tuple[int, ...] | None = None) -> Value | None:
    """Integers from 0 to size - 1."""
    value = g.pick(lambda v: v.is_int and v.shape and (shape is None or v.shape == shape))
    if value is None:
        return None
    wide = value
    if value.type in ("i8", "u8") and size > 128:
        wide = to_type(g, value, "i32")
        assert wide is not None
    return g.let(wrap(wide.name, size), wide.type, value.shape, low=0, high=size - 1)


def wrap(text: str, size: int) -> str:
    """Integers from 0 to size - 1 that come from integers of at least so many bits."""
    least = 1 << (size - 1).bit_length()
    return f"{text} & {size - 1}" if size == least else f"({text} & {least - 1}) % {size}"


@production(2)
def indirect_load(g: Generator) -> Any:
    """A load at offsets that are computed from data."""
    if g.pure:
        return False
    size = 2 ** g.random.randint(0, 8)
    index = index_of(g, size)
    if index is None:
        return False
    type = g.choice((*INTEGERS, *FLOATS))
    properties, domain = input_domain(g, type)
    argument = g.argument("input", type, "x", size=size, **properties)
    pointer = f"{argument.name} + {index.name}"
    if g.chance(0.8 if g.forgets else 0.3):
        return masked_load(g, pointer, type, index.shape, domain)
    return g.let(f"tl.load({pointer})", type, index.shape, **domain)


@production(0.7)
def block_pointer(g: Generator) -> Any:
    """A load through a block pointer, in and out of bounds; or through a descriptor."""
    if g.pure:
        return False
    shape = g.choose_shape(3)
    type = g.choice((*INTEGERS, *FLOATS))
    properties, domain = input_domain(g, type)
    if domain.get("kind") != "wild" and TYPES[type].kind != "f" and "low" in domain:
        domain = {"low": min(0, domain["low"]), "high": max(0, domain["high"])}
    whole = tuple(s + g.choice((0, 0, 1, -1, 3)) if s > 1 else s for s in shape)
    order = list(range(len(shape)))
    g.random.shuffle(order)
    descriptor = g.chance(0.4) and shape[-1] * TYPES[type].bits >= 128
    if descriptor:
        order.sort()
    strides = list(contiguous(whole, tuple(order)))
    if descriptor:  # Rows begin at multiples of 16 bytes.
        step = 128 // TYPES[type].bits
        for d in reversed(range(len(shape) - 1)):
            row = whole[d + 1] * (strides[d + 1] if d + 1 < len(shape) - 1 else 1)
            strides[d] = (row + step - 1) // step * step
    size = sum((w - 1) * s for w, s in zip(whole, strides, strict=True)) + 1
    argument = g.argument("input", type, "x", size=size, **properties)
    at = [g.choice((0, 0, 1, -1, 2, w)) for w in whole]
    if descriptor:
        text = (
            f"tl.make_tensor_descriptor({argument.name}, {list(whole)}, {strides}, {list(shape)})"
        )
        name = g.name("d")
        g.line(f"{name} = {text}")
        return g.let(f"{name}.load({at})", type, shape, **domain)
    name = g.name("b")
    rank = len(shape)
    g.line(
        f"{name} = tl.make_block_ptr({argument.name}, {list(whole)}, {strides}, "
        f"{[0] * rank}, {list(shape)}, {list(reversed(order))})"
    )
    g.line(f"{name} = tl.advance({name}, {at})")
    check = tuple(range(rank))
    text = f"tl.load({name}, boundary_check={check}, padding_option='zero')"
    return g.let(text, type, shape, **domain)


ATOMICS = {"add": "iuf", "and": "iu", "or": "iu", "xor": "iu", "max": "iuf", "min": "iuf"}


@production(1.5)
def atomic(g: Generator) -> Any:
    """An update of shared places; what it returns depends on the order, so it is not used."""
    if g.pure or g.loops:
        return False
    op = g.choice(ATOMICS)
    value = g.pick(lambda v: v.shape and v.is_exact and (v.is_int or v.kind == "exact"))
    if value is None:
        return False
    floating = value.is_float and "f" in ATOMICS[op]
    type = g.choice(("fp32", "fp64") if floating else ("i32", "u32", "i64", "u64"))
    if floating and op == "add":
        type = g.choice(("fp32", "fp64", "fp16"))
    converted = coerce(g, value, type, value.shape)
    if converted is None:
        return False
    if floating:
        count = value.numel * g.programs * 2
        if converted.special or not fits(converted.bound * count, converted.grid, type):
            return False
    size = 2 ** g.random.randint(0, 6)
    index = index_of(g, size, value.shape)
    if index is None:
        return False
    argument = g.argument("output", type, "a", size=size, flavour="zero")
    mask = f", mask={mask_text(g, value.shape)}" if g.chance(0.4) else ""
    sem = g.choice(("", "", ", sem='relaxed'", ", sem='release'", ", scope='cta'"))
    if "cta" in sem and g.programs > 1:
        sem = ""
    g.line(f"tl.atomic_{op}({argument.name} + {index.name}, {converted.name}{mask}{sem})")
    return None


@production(1)
def unique_atomic(g: Generator) -> Any:
    """An update in which every element has a place of its own; what it returns is known."""
    if g.pure or g.loops:
        return False
    value = g.pick(lambda v: v.is_int and v.info.bits in (32, 64))
    if value is None:
        return False
    op = g.choice((*ATOMICS, "xchg", "cas"))
    text, size = pattern(g, value.shape) if value.shape else ("", 1)
    number = sum(a.name.startswith("a") for a in g.arguments)
    pointer, whole = base(g, f"a{number}", size)
    low, high = -3, 3
    if value.info.kind == "u":
        low = 0
    g.argument("output", value.type, "a", size=whole, flavour="small", low=low, high=high)
    where = f"{pointer} + {text}" if text else pointer
    if op == "cas":
        old = g.choice(("0", "1", "2"))
        return g.let(f"tl.atomic_cas({where}, {old}, {value.name})", value.type, value.shape)
    return g.let(f"tl.atomic_{op}({where}, {value.name})", value.type, value.shape)


@production(0.8)
def round_trip(g: Generator) -> Any:
    """A value written by some threads and read by others, with a barrier between them."""
    if g.pure or g.loops:
        return False
    value = g.pick(lambda v: v.shape and not v.is_bool)
    if value is None:
        return False
    number = sum(a.name.startswith("o") for a in g.arguments)
    order = list(range(value.rank))
    g.random.shuffle(order)
    pointer, whole = base(g, f"o{number}", value.numel)
    g.argument("output", value.type, "o", size=whole, flavour="poison", tolerance=tolerance(value))
    text = offsets(value.shape, contiguous(value.shape, tuple(order)))
    g.line(f"tl.store({pointer} + {text}, {value.name})")
    g.line("tl.debug_barrier()")
    shape = value.shape[::-1]
    text = offsets(shape, contiguous(shape))
    return g.like(f"tl.load({pointer} + {text})", value, shape)
