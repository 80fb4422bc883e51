"""Parts of blocks: read, and replaced."""

from __future__ import annotations

from typing import Any

from .elementwise import compatible, same
from .generator import Generator, production
from .shapes import block
from .values import Value, join


def scalar_index(g: Generator, extent: int) -> str:
    """An index of an element that is known at run time; below zero it counts from the end."""
    value = g.pick(lambda v: v.is_int and not v.shape)
    if value is None and g.pure:  # A function does not know its program.
        return str(g.random.randrange(-extent, extent))
    if value is None or (g.chance(0.2) and not g.pure):
        return f"pid & {extent - 1}"
    return f"({value.name}.to(tl.int32) & {2 * extent - 1}) - {extent}"


def part_of_dimension(g: Generator, extent: int) -> tuple[str, int | None]:
    """An item of an index, and how many elements it leaves; None for a dimension that is gone."""
    kind = g.random.random()
    if kind < 0.3:
        return ":", extent
    if kind < 0.45:
        return str(g.random.randrange(-extent, extent)), None
    if kind < 0.6:
        return scalar_index(g, extent), None
    count = 2 ** g.random.randint(0, extent.bit_length() - 1)
    step = g.choice((1, 1, 2, 4, -1, -2, 3))
    while (count - 1) * abs(step) >= extent:
        count //= 2
    room = extent - (count - 1) * abs(step)
    first = g.random.randrange(room)
    if g.chance(0.5):
        first -= first % min(count * abs(step), extent)
    if step < 0:
        first = extent - 1 - first
    stop: Any = first + count * step
    if stop < 0:
        stop = ""
    return f"{first}:{stop}:{step}", count


def choose_part(g: Generator, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """A random index of a block, and the shape of the part."""
    items, left = [], []
    for extent in shape:
        item, count = part_of_dimension(g, extent)
        items.append(item)
        if count is not None:
            left.append(count)
    return ", ".join(items), tuple(left)


@production(1.5)
def read_part(g: Generator) -> Any:
    x = g.pick(block)
    if x is None:
        return False
    index, shape = choose_part(g, x.shape)
    return g.like(f"{x.name}[{index}]", x, shape)


@production(1.2)
def replace_part(g: Generator) -> Any:
    x = g.pick(lambda v: v.shape and v.numel <= g.max_numel)
    if x is None:
        return False
    index, shape = choose_part(g, x.shape)
    model = Value("", x.type, shape)
    value = same(g, model)
    if value is None or not compatible(x, value):
        return False
    return g.let(f"{x.name}.at[{index}].set({value.name})", x.type, x.shape, **join(x, value))
