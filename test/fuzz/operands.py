"""The ways in which a loop has the tiles of a dot's operand. There are pointers that are computed
or carried, block pointers, descriptors of the kernel or of its caller, and rows that are listed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .generator import Generator, contiguous, offsets
from .memory import base, input_domain
from .values import TYPES, limits


@dataclass
class Tiles:
    """How the tiles of an operand are had. `{k}` is the iteration, and `{r}` or `{c}` the row or
    the column of tiles that the run of the loop makes."""

    load: str
    bound: float
    grid: int
    #: Before the loop, and at the end of an iteration.
    begin: str = ""
    move: str = ""
    #: What makes the operand of what is loaded, `{x}`.
    convert: tuple[str, ...] = ()


@dataclass
class Operand:
    """What an operand is: its type and shape, along which dimension iterations go on, and how many
    of them there are at most. Then for how many rows or columns of tiles the loop runs, and whether
    all programs read the same."""

    type: str
    shape: tuple[int, int]
    axis: int
    count: int
    runs: int
    shared: bool = False

    @property
    def whole(self) -> tuple[int, int]:
        """All tiles in one matrix."""
        rows, columns = (
            s * (self.count if d == self.axis else self.runs) for d, s in enumerate(self.shape)
        )
        return rows, columns

    @property
    def run(self) -> str:
        """The number of the row of tiles for a left operand, of the column for a right one."""
        return "{r}" if self.axis == 1 else "{c}"

    def origin(self) -> list[str]:
        """Where a tile begins in that."""
        return [
            f"{{k}} * {s}" if d == self.axis else f"{self.run} * {s}"
            for d, s in enumerate(self.shape)
        ]


def array(g: Generator, operand: Operand, size: int, **more: Any) -> tuple[str, float, int]:
    """A new input; the text of a pointer to it, and what is known of its elements."""
    type = operand.type
    properties, domain = input_domain(g, type, plain=True)
    number = sum(a.name.startswith("x") for a in g.arguments)
    pointer, total = f"x{number}", size
    if not more and not operand.shared:
        pointer, total = base(g, pointer, (size + 15) // 16 * 16)
    g.argument("input", type, "x", size=total, **properties, **more)
    if TYPES[type].kind == "f":
        bound = domain["bound"]
    else:
        low, high = limits(type)
        bound = float(max(-domain.get("low", low), domain.get("high", high)))
    return pointer, bound, domain.get("grid", 0)


def by_pointers(g: Generator, operand: Operand) -> Tiles:
    """Pointers that are computed in each iteration or carried from one to the next."""
    whole = operand.whole
    order = (0, 1) if g.chance(0.6) else (1, 0)
    strides = contiguous(whole, order)
    pointer, bound, grid = array(g, operand, math.prod(whole))
    at = offsets(operand.shape, strides)
    axis, other = operand.axis, 1 - operand.axis
    step = operand.shape[axis] * strides[axis]
    run = f" + {operand.run} * {operand.shape[other] * strides[other]}"
    if g.chance(0.4):
        name = g.name("p")
        return Tiles(f"tl.load({name})", bound, grid, f"{name} = {pointer} + {at}{run}",
                     f"{name} += {step}")  # fmt: skip
    mask = ""
    if g.chance(0.35):
        d = g.choice((0, 1))
        index = f"tl.arange(0, {operand.shape[d]})" + ("[:, None]" if d == 0 else "[None, :]")
        limit = g.random.randint(1, whole[d])
        filler = g.choice((0, 0, 0, 1))
        bound = max(bound, filler)
        mask = f", mask={index} + {operand.origin()[d]} < {limit}, other={filler}"
    return Tiles(f"tl.load({pointer} + {at} + {{k}} * {step}{run}{mask})", bound, grid)


def by_blocks_of_pointers(g: Generator, operand: Operand) -> Tiles:
    """A block pointer that the loop advances."""
    whole = list(operand.whole)
    strides = list(contiguous(operand.whole))
    pointer, bound, grid = array(g, operand, math.prod(whole))
    name = g.name("b")
    first = [s.replace("{k}", "0") for s in operand.origin()]
    step = [s if d == operand.axis else 0 for d, s in enumerate(operand.shape)]
    bounds = [max(1, w - g.choice((0, 0, 3))) for w in whole]
    begin = (
        f"{name} = tl.make_block_ptr({pointer}, {bounds}, {strides}, [{', '.join(first)}], "
        f"{list(operand.shape)}, [1, 0])"
    )
    load = f"tl.load({name}, boundary_check=(0, 1), padding_option='zero')"
    return Tiles(load, bound, grid, begin, f"{name} = tl.advance({name}, {step})")


def hint(g: Generator) -> str:
    """How long the caches are asked to keep what a descriptor loads."""
    if g.chance(0.85):
        return ""
    return f", eviction_policy='{g.choice(('evict_first', 'evict_last'))}'"


def describable(type: str, columns: int) -> bool:
    """Whether descriptors may have blocks whose rows have so many elements: 16 bytes at least."""
    return columns * TYPES[type].bits >= 128


def by_descriptor(g: Generator, operand: Operand) -> Tiles:
    """A descriptor, made by the kernel or by its caller; what is out of bounds is zero."""
    whole, shape, at = list(operand.whole), list(operand.shape), operand.origin()
    straight, across = (describable(operand.type, columns) for columns in shape[::-1])
    if not straight and not across:
        return by_pointers(g, operand)
    turned = (g.chance(0.4) or not straight) and across
    if turned:
        whole, shape, at = whole[::-1], shape[::-1], at[::-1]
    bounds = [max(1, w - g.choice((0, 0, 0, 1, 5))) for w in whole]
    step = 128 // TYPES[operand.type].bits
    stride = (whole[1] + g.choice((0, 0, 8, step)) + step - 1) // step * step
    text = ".T" if turned else ""
    if g.chance(0.4):
        # There are no tensor maps of other rows; launches go without them then.
        bounds[1] = max(bounds[1] // step, 1) * step
        made = (tuple(bounds), (stride, 1), tuple(shape))
        name, bound, grid = array(g, operand, whole[0] * stride, descriptor=made)
    else:
        pointer, bound, grid = array(g, operand, whole[0] * stride)
        name = g.name("d")
        if g.partitions and g.chance(0.3):
            # One of the row, or the column, of tiles.
            d = operand.axis if turned else 1 - operand.axis
            first = f"{operand.run} * {shape[d] * (1, stride)[d == 0]}"
            limits = [str(b) for b in bounds]
            limits[d] += f" - {operand.run} * {shape[d]}"
            at[d] = "0"
            begin = (
                f"{name} = tl.make_tensor_descriptor({pointer} + {first}, [{', '.join(limits)}], "
                f"[{stride}, 1], {shape})"
            )
            load = f"{name}.load([{', '.join(at)}]{hint(g)}){text}"
            return Tiles(load, bound, grid, begin)
        g.line(f"{name} = tl.make_tensor_descriptor({pointer}, {bounds}, [{stride}, 1], {shape})")
    return Tiles(f"{name}.load([{', '.join(at)}]{hint(g)}){text}", bound, grid)


def by_rank_3(g: Generator, operand: Operand) -> Tiles:
    """A tile for each iteration in an array of rank 3, through pointers or a descriptor."""
    rows, columns = operand.shape
    step = 128 // TYPES[operand.type].bits
    stride = (columns + step - 1) // step * step
    tile = rows * stride
    pointer, bound, grid = array(g, operand, operand.count * operand.runs * tile)
    index = f"{operand.run} * {operand.count} + {{k}}"
    shape = f"[{rows}, {columns}]"
    if g.chance(0.5) or not describable(operand.type, columns):
        at = offsets((1, rows, columns), (tile, stride, 1))
        return Tiles(f"tl.reshape(tl.load({pointer} + {at} + ({index}) * {tile}), {shape})", bound,
                     grid)  # fmt: skip
    name = g.name("d")
    g.line(
        f"{name} = tl.make_tensor_descriptor({pointer}, "
        f"[{operand.count * operand.runs}, {rows}, {columns}], [{tile}, {stride}, 1], "
        f"[1, {rows}, {columns}])"
    )
    return Tiles(f"{name}.load([{index}, 0, 0]{hint(g)}).reshape({shape})", bound, grid)


def by_rows(g: Generator, operand: Operand) -> Tiles:
    """Rows of a table, the numbers of which are in memory; those beyond the table are zero."""
    rows, columns = operand.shape
    if not describable(operand.type, columns):
        return by_pointers(g, operand)
    step = 128 // TYPES[operand.type].bits
    height = g.choice((8, 16, 50))
    bounds = max(1, operand.whole[1] - g.choice((0, 0, 0, 1, 5)))
    stride = (operand.whole[1] + g.choice((0, 0, 8)) + step - 1) // step * step
    pointer, bound, grid = array(g, operand, height * stride)
    name = g.name("d")
    g.line(
        f"{name} = tl.make_tensor_descriptor({pointer}, [{height}, {bounds}], [{stride}, 1], "
        f"[1, {columns}])"
    )
    numbers = sum(a.name.startswith("x") for a in g.arguments)
    indices, total = base(g, f"x{numbers}", operand.whole[0])
    beyond = g.choice((0, 0, 2))
    g.argument("input", "i32", "x", size=total, flavour="small", low=-beyond,
               high=height - 1 + beyond)  # fmt: skip
    row, column = operand.origin()
    at = f"tl.load({indices} + {row} + tl.arange(0, {rows}))"
    return Tiles(f"{name}.gather({at}, {column})", bound, grid)


def choose_way(g: Generator) -> Callable[[Generator, Operand], Tiles]:
    """One of the ways. Where warps are to be divided for it, copies are mostly described."""
    return by_descriptor if g.alone and g.chance(0.75) else g.choice(WAYS)


#: With a way twice that is twice as common.
WAYS = (
    *(by_pointers, by_pointers, by_pointers),
    *(by_descriptor, by_descriptor, by_descriptor),
    *(by_blocks_of_pointers, by_rank_3, by_rows),
)
