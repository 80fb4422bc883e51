"""How the results of dots are written: through pointers and descriptors, to places of their own
and to some that all tiles share.
"""

from __future__ import annotations

from typing import Any

from .generator import Generator, contiguous, offsets
from .memory import base, mask_text
from .values import FLOATS, TYPES, Value, fits


def outputs(g: Generator) -> int:
    return sum(a.name.startswith("o") for a in g.arguments)


def descriptor(g: Generator, type: str, shape: Any, strides: Any, block: Any, size: int) -> str:
    """The name of a descriptor of a new output, made by the caller or by the kernel."""
    shape, strides, block = list(shape), list(strides), list(block)
    name = f"o{outputs(g)}"
    # There are no tensor maps of other rows; launches go without them then.
    whole_rows = shape[-1] * TYPES[type].bits % 128 == 0
    if g.programs == 1 and whole_rows and g.chance(0.5):
        made = (tuple(shape), tuple(strides), tuple(block))
        return g.argument("output", type, "o", size=size, flavour="zero", descriptor=made).name
    pointer, whole = base(g, name, (size + 15) // 16 * 16)
    g.argument("output", type, "o", size=whole, flavour="zero")
    name = g.name("d")
    g.line(f"{name} = tl.make_tensor_descriptor({pointer}, {shape}, {strides}, {block})")
    return name


def plan_store(g: Generator, value: Value, runs: int) -> str:
    """What follows a tile: how one of its sums is written, through pointers or a descriptor, or
    added to what all tiles have."""
    type, shape, size = value.type, value.shape, value.numel
    at = offsets(shape, contiguous(shape))
    exact = value.is_int or fits(value.bound * runs * g.programs, value.grid, type)
    if value.rank == 2 and g.chance(0.25):
        reduced = plan_reduction(g, value, runs)
        if reduced:
            return reduced
    if g.chance(0.2) and exact:
        name = g.argument("output", type, "a", size=size, flavour="zero").name
        return f"tl.atomic_add({name} + {at}, {value.name})"
    text = f"{value.name} * ({{t}} + 1)"
    narrow = g.choice(("fp16", "fp32"))
    if value.is_float and fits(value.bound * runs, value.grid, narrow):
        type, text = narrow, f"({text}).to({TYPES[narrow].tl})"
    if value.rank == 2 and g.chance(0.5) and shape[1] * TYPES[type].bits >= 128:
        rows, columns = shape
        whole, strides = (rows * runs, columns), (columns, 1)
        if g.chance(0.7):
            name = descriptor(g, type, whole, strides, shape, size * runs)
            # The first tile may begin before the tensor, where it is dropped.
            at = g.choice(("{t}", "{t}", "{t}", "({t} - 1)", "({t} * 2 - 2) // 2"))
            return f"{name}.store([{at} * {rows}, 0], {text})"
        # Each tile writes its rows in another order.
        name = descriptor(g, type, whole, strides, (1, columns), size * runs)
        order = f"(tl.arange(0, {rows}) * {g.choice((1, 3, 5))} + {g.choice((0, 1, 7))})"
        return f"{name}.scatter({text}, ({order} & {rows - 1}) + {{t}} * {rows}, 0)"
    pointer, whole = base(g, f"o{outputs(g)}", (size * runs + 15) // 16 * 16)
    g.argument("output", type, "o", size=whole, flavour="zero")
    mask = f", mask={mask_text(g, shape)}" if g.chance(0.2) else ""
    return f"tl.store({pointer} + {{t}} * {size} + {at}, {text}{mask})"


#: What reductions through descriptors take.
REDUCED_INTEGERS = ("i16", "u16", "i32", "u32", "i64", "u64")
REDUCTIONS = {
    **dict.fromkeys(("add", "min", "max"), (*REDUCED_INTEGERS, *FLOATS)),
    **dict.fromkeys(("and", "or", "xor"), REDUCED_INTEGERS),
}


def reduced(g: Generator, op: str, type: str, block: Any) -> str:
    """The name of a descriptor of one block of a new output, which all programs reduce into."""
    low, high = 0, 0
    if op != "add" and TYPES[type].kind != "f":
        low, high = (0 if TYPES[type].kind == "u" else -9), 9
    flavour = {"flavour": "zero"} if low == high else {"flavour": "small", "low": low, "high": high}
    strides = contiguous(block)
    output = g.argument("output", type, "a", size=block[0] * strides[0], **flavour)
    # Sometimes a part of the block is out of bounds.
    bounds = [max(1, block[0] - g.choice((0, 0, 1, 5))), *block[1:]]
    name = g.name("d")
    g.line(
        f"{name} = tl.make_tensor_descriptor({output.name}, {bounds}, {list(strides)}, "
        f"{list(block)})"
    )
    return name


def plan_reduction(g: Generator, value: Value, runs: int) -> str:
    """Every tile of every program is reduced into one place; nothing, if the type does not hold
    what comes of it."""
    op = g.choice(REDUCTIONS)
    types = [t for t in REDUCTIONS[op] if (TYPES[t].kind == "f") == value.is_float]
    if not types:
        return ""
    type = g.choice(types)
    count = runs * g.programs if op == "add" else 1
    if value.is_float and not fits(value.bound * count, value.grid, type):
        return ""
    if value.shape[1] * TYPES[type].bits < 128:
        return ""
    name = reduced(g, op, type, value.shape)
    return f"{name}.atomic_{op}([0, 0], {value.name}.to({TYPES[type].tl}))"
