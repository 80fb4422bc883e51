"""Blocks of one to five dimensions that a loop moves through descriptors: loaded in one place,
which may be beyond the tensor, and stored or reduced into another.
"""

from __future__ import annotations

import math
from typing import Any

from .generator import Generator
from .memory import base, input_domain
from .results import REDUCTIONS, descriptor, reduced
from .values import FLOATS, INTEGERS, SMALL_FLOATS, TYPES, fits


def choose_block(g: Generator, type: str) -> list[int]:
    """A shape of 2048 elements at most, of which rows have 16 bytes at least."""
    rank = g.random.randint(1, 5)
    width = max(1, 128 // TYPES[type].bits) * g.choice((1, 1, 2, 4, 8))
    block = [width]
    for _ in range(rank - 1):
        most = 2048 // math.prod(block)
        block.insert(0, g.choice([s for s in (1, 1, 2, 4, 8, 16) if s <= most]))
    return block


def pitches(g: Generator, shape: list[int], step: int) -> list[int]:
    """Strides of a tensor, all but the last multiples of `step`."""
    strides = [1]
    for extent in reversed(shape[1:]):
        least = strides[0] * extent
        strides.insert(0, (least + g.choice((0, 0, 0, step)) + step - 1) // step * step)
    return strides


def choose_operation(g: Generator, type: str, trips: int) -> tuple[str, Any, bool]:
    """How blocks are written: the name of a reduction or nothing. With it the contents of what is
    loaded, and whether that may be NaN where it is out of bounds."""
    kinds = [op for op, types in REDUCTIONS.items() if type in types]
    is_float = TYPES[type].kind == "f"
    if kinds and g.chance(0.4):
        op = g.choice(kinds)
        properties, known = input_domain(g, type, plain=True)
        count = trips * g.programs if op == "add" else 1
        if not is_float or fits(known["bound"] * count, known["grid"], type):
            return op, properties, False
    return "", input_domain(g, type)[0], is_float


def moved(g: Generator, counter: str, extent: int) -> str:
    """Where a block is written in an iteration: one behind the other, or so that the first ones
    begin before the tensor, where they are dropped."""
    if g.chance(0.7):
        return f"{counter} * {extent}"
    twice = f"({counter} * {2 * extent} - {2 * extent})"
    ways = (
        f"({counter} - 1) * {extent}",
        f"{counter} * {extent} - {extent}",
        f"{counter} * {extent} - {(extent + 1) // 2}",
        f"(1 - {counter}) * {-extent}",
        f"({counter} - 1) << {extent.bit_length() - 1}",
        f"({counter} - 5) % 5 * {extent}",
        f"{twice} // 2",
        f"{twice} >> 1",
    )
    if g.chance(0.2):
        size = g.argument("scalar", "i32", "n", value=-extent).name
        return f"{counter} * {extent} + {size}"
    return g.choice(ways)


def moved_blocks(g: Generator) -> None:
    """A loop that loads blocks and writes what it loaded."""
    type = g.choice((*INTEGERS, *FLOATS, *FLOATS, *SMALL_FLOATS))
    step = 128 // TYPES[type].bits
    block = choose_block(g, type)
    trips = g.choice((1, 2, 3, 4))
    op, properties, may_be_nan = choose_operation(g, type, trips)
    along = g.random.randrange(len(block))
    shape = [g.random.randint(1, 2 * extent + 1) for extent in block]
    if g.chance(0.8):
        # The copy engine has no others.
        shape[-1] = (shape[-1] + step - 1) // step * step
    strides = pitches(g, shape, step)
    size = (shape[0] * strides[0] + 15) // 16 * 16
    nan = ", padding_option='nan'" if may_be_nan and g.chance(0.4) else ""
    # There are no tensor maps of other rows; launches go without them then.
    if g.chance(0.4) and not nan and shape[-1] % step == 0:
        made = (tuple(shape), tuple(strides), tuple(block))
        source = g.argument("input", type, "x", size=size, descriptor=made, **properties).name
    else:
        pointer, whole = base(g, f"x{sum(a.name.startswith('x') for a in g.arguments)}", size)
        g.argument("input", type, "x", size=whole, **properties)
        source = g.name("d")
        g.line(f"{source} = tl.make_tensor_descriptor({pointer}, {shape}, {strides}, {block}{nan})")
    counter = g.name("k")
    # Loads may begin before the tensor.
    start = [g.choice((0, 0, 0, 1, -1, extent)) for extent in block]
    if g.chance(0.9):
        start[-1] = start[-1] // step * step
    at = [f"{s} + {counter} * {block[d]}" if d == along else str(s) for d, s in enumerate(start)]
    into = ["0"] * len(block)
    if op:
        write = f"{reduced(g, op, type, block)}.atomic_{op}"
    else:
        into[along] = moved(g, counter, block[along])
        if g.chance(0.2):
            d = g.random.randrange(len(block))
            if d != along:
                into[d] = str(g.choice((-1, -block[d], -(block[d] // 2), 1)))
        target = [e * trips if d == along else e for d, e in enumerate(block)]
        bounds = [max(1, e - g.choice((0, 0, 0, 1))) for e in target]
        if g.chance(0.8):
            bounds[-1] = max(step, bounds[-1] // step * step)
        steps = pitches(g, target, step)
        write = f"{descriptor(g, type, bounds, steps, block, target[0] * steps[0])}.store"
    bound = str(trips)
    if g.chance(0.5):
        bound = g.argument("scalar", "i32", "t", value=trips).name
    stages = f", num_stages={g.choice((0, 1, 2, 3))}" if g.chance(0.5) else ""
    g.line(f"for {counter} in tl.range(0, {bound}{stages}):")
    g.line(f"    {write}([{', '.join(into)}], {source}.load([{', '.join(at)}]))")
