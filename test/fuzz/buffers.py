"""Buffers in shared memory that programs make themselves."""

from __future__ import annotations

import math
from typing import Any

from .elementwise import compatible, same
from .generator import Generator, production
from .values import Value, join

#: The most bytes of a buffer.
BYTES = 8192


def may_be_stored(g: Generator, v: Value) -> bool:
    """Whether a block can be the contents of a buffer."""
    if v.numel & (v.numel - 1):
        return False  # Buffers have powers of two as extents.
    return bool(v.shape) and not v.is_bool and v.numel * v.info.bits <= 8 * BYTES


def new_buffer(g: Generator, x: Value) -> str:
    """A buffer that holds a block."""
    name = g.name("s")
    g.line(f"{name} = tl.shared({list(x.shape)}, {x.info.tl})")
    g.line(f"{name}.store({x.name})")
    return name


def choose_view(g: Generator, name: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """A view of a buffer, and its shape."""
    rows = 0
    while rows < len(shape) - 1 and g.chance(0.3):
        name = f"{name}[{row_index(g, shape[rows])}]"
        rows += 1
    shape = shape[rows:]
    if g.chance(0.4):
        items, left = [], []
        for extent in shape:
            count = 2 ** g.random.randint(0, extent.bit_length() - 1)
            first = g.random.randrange(extent // count) * count
            items.append(f"{first}:{first + count}")
            left.append(count)
        name, shape = f"{name}[{', '.join(items)}]", tuple(left)
    if len(shape) > 1 and g.chance(0.3):
        order = list(range(len(shape)))
        g.random.shuffle(order)
        name, shape = f"{name}.permute({order})", tuple(shape[d] for d in order)
    return name, shape


def row_index(g: Generator, extent: int) -> str:
    """An index of a row: a constant, or a scalar that is in range."""
    if g.chance(0.5):
        return str(g.random.randrange(extent))
    value = g.pick(lambda v: v.is_int and not v.shape)
    return f"pid & {extent - 1}" if value is None else (f"{value.name}.to(tl.int32) & {extent - 1}")


@production(1.2)
def buffer(g: Generator) -> Any:
    """Writes a block, other values over parts of it, and reads parts."""
    if g.pure:
        return False
    x = g.pick(lambda v: may_be_stored(g, v))
    if x is None:
        return False
    name = new_buffer(g, x)
    known = x.domain()
    for _ in range(g.random.randint(0, 2)):
        view, shape = choose_view(g, name, x.shape)
        value = same(g, Value("", x.type, shape))
        mixed = x.replace(**known)
        if value is not None and compatible(mixed, value):
            known = join(mixed, value)
            g.line(f"{view}.store({value.name})")
    view, shape = choose_view(g, name, x.shape)
    return g.let(f"{view}.load()", x.type, shape, **known)


@production(0.8)
def chosen_elements(g: Generator) -> Any:
    """Writes, adds and reads elements of a buffer by index."""
    if g.pure:
        return False
    x = g.pick(lambda v: may_be_stored(g, v) and v.is_int and v.info.bits >= 32)
    if x is None:
        return False
    name = new_buffer(g, x)
    axis = g.random.randrange(x.rank)
    extent = x.shape[axis]
    parts = ", ".join(":" if d == axis else "None" for d in range(x.rank))
    ramp = f"tl.arange(0, {extent})" + (f"[{parts}]" if x.rank > 1 else "")
    step, first = g.choice((1, 3, 5, 7)), g.random.randrange(extent)
    index = g.name("i")
    g.line(
        f"{index} = tl.broadcast_to(({ramp} * {step} + {first}) & {extent - 1}, {list(x.shape)})"
    )
    how = g.choice(("scatter", "atomic", "atomic", "gather"))
    if how == "scatter":
        g.line(f"{name}.scatter({x.name}, {index}, {axis})")
    elif how == "atomic":
        op = g.choice(("add", "max", "min", "and", "or", "xor"))
        if g.chance(0.5):  # Several at one place: whatever their order, it comes to the same.
            g.line(f"{index} = {index} // 2")
        g.line(f"{name}.atomic_scatter_{op}({x.name}, {index}, {axis})")
    else:
        return g.let(f"{name}.gather({index}, {axis})", x.type, x.shape)
    return g.let(f"{name}.load()", x.type, x.shape)


@production(0.8)
def buffer_in_a_loop(g: Generator) -> Any:
    """Rows of a buffer that iterations hand on to later ones, beside loads from memory."""
    if g.pure or g.depth > 2:
        return False
    x = g.pick(lambda v: may_be_stored(g, v) and v.rank == 2 and v.is_int and v.shape[0] > 1)
    if x is None:
        return False
    rows, columns = x.shape
    name = new_buffer(g, x)
    total, k = g.name(), g.name("k")
    trips = g.random.randint(1, 2 * rows + 1)
    table = g.argument("input", x.type, "x", size=trips * columns)
    g.line(f"{total} = tl.zeros([{columns}], {x.info.tl})")
    g.line(f"for {k} in range({trips}):")
    g.depth += 1
    distance = g.random.randrange(rows)
    address = f"{table.name} + {k} * {columns} + tl.arange(0, {columns})"
    g.line(f"{total} += {name}[{k} % {rows}].load()")
    value = f"tl.load({address})"
    if g.chance(0.4):  # An address that the buffer decides.
        value = f"tl.load({table.name} + ({total} & {columns - 1}))"
    g.line(f"{name}[({k} + {distance}) % {rows}].store({value} + {total})")
    g.depth -= 1
    result = Value(total, x.type, (columns,))
    g.env.append(result)
    g.env.append(Value(g.name(), x.type, x.shape))
    g.line(f"{g.env[-1].name} = {name}.load()")
    return None


@production(0.6)
def copied(g: Generator) -> Any:
    """Copies that go on while the program does."""
    if g.pure:
        return False
    shape = g.choose_shape(2)
    if math.prod(shape) & (math.prod(shape) - 1):
        return False
    type = g.choice(("i32", "i16", "i64", "u8"))
    count = g.random.randint(1, 3)
    size = 1
    for extent in shape:
        size *= extent
    if size * count * 8 > BYTES:
        return False
    table = g.argument("input", type, "x", size=size * count)
    name = g.name("s")
    mixed = Value("", type, shape)
    g.line(
        f"{name} = tl.shared({[count if count & (count - 1) == 0 else 4, *shape]}, {mixed.info.tl})"
    )
    flat = f"tl.arange(0, {size}).reshape({list(shape)})"
    for n in range(count):
        mask = f", mask={flat} % 3 > 0" if g.chance(0.3) else ""
        other = ", other=5" if mask and g.chance(0.5) else ""
        g.line(f"tl.async_copy({name}[{n}], {table.name} + {n * size} + {flat}{mask}{other})")
    for n in range(count):
        g.line(f"tl.async_wait({count - 1 - n})")
        g.let(f"{name}[{n}].load()", type, shape)
    return None
