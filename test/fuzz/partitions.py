"""Loops with products that get warps of their own for what they load: operands that come in every
way, one loop or several that go on with the sums, alone and in nests with what follows a tile.

These are what programs of mode "specialized" begin with; the other modes have none of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .generator import Generator, Unsound, contiguous, offsets
from .matrix import result_type
from .memory import base, input_domain, mask_text
from .values import TYPES, Value, fits


@dataclass
class Tiles:
    """How the tiles of an operand are had: with `{k}` for the iteration and `{t}` for the run of
    the loop."""

    load: str
    bound: float
    grid: int
    #: Before the loop, and at the end of an iteration.
    begin: str = ""
    move: str = ""


@dataclass
class Operand:
    """What an operand is: its type and shape, along which dimension iterations go on, how many of
    them there are at most, and how often the loop runs."""

    type: str
    shape: tuple[int, int]
    axis: int
    count: int
    runs: int

    @property
    def whole(self) -> tuple[int, int]:
        """All tiles in one matrix."""
        rows, columns = (
            s * (self.count if d == self.axis else self.runs) for d, s in enumerate(self.shape)
        )
        return rows, columns

    def origin(self) -> list[str]:
        """Where a tile begins in that."""
        return [
            f"{{k}} * {s}" if d == self.axis else f"{{t}} * {s}" for d, s in enumerate(self.shape)
        ]


def array(g: Generator, type: str, size: int, **more: Any) -> tuple[str, float, int]:
    """A new input; the text of a pointer to it, and what is known of its elements."""
    properties, domain = input_domain(g, type, plain=True)
    number = sum(a.name.startswith("x") for a in g.arguments)
    pointer, total = (f"x{number}", size) if more else base(g, f"x{number}", (size + 15) // 16 * 16)
    g.argument("input", type, "x", size=total, **properties, **more)
    return pointer, domain.get("bound", 0.0), domain.get("grid", 0)


def by_pointers(g: Generator, operand: Operand) -> Tiles:
    """Pointers that are computed in each iteration or carried from one to the next."""
    whole = operand.whole
    order = (0, 1) if g.chance(0.6) else (1, 0)
    strides = contiguous(whole, order)
    pointer, bound, grid = array(g, operand.type, math.prod(whole))
    at = offsets(operand.shape, strides)
    axis, other = operand.axis, 1 - operand.axis
    step = operand.shape[axis] * strides[axis]
    run = f" + {{t}} * {operand.shape[other] * strides[other]}"
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
    pointer, bound, grid = array(g, operand.type, math.prod(whole))
    name = g.name("b")
    first = [s.format(k=0, t="{t}") for s in operand.origin()]
    step = [s if d == operand.axis else 0 for d, s in enumerate(operand.shape)]
    bounds = [max(1, w - g.choice((0, 0, 3))) for w in whole]
    begin = (
        f"{name} = tl.make_block_ptr({pointer}, {bounds}, {strides}, [{', '.join(first)}], "
        f"{list(operand.shape)}, [1, 0])"
    )
    load = f"tl.load({name}, boundary_check=(0, 1), padding_option='zero')"
    return Tiles(load, bound, grid, begin, f"{name} = tl.advance({name}, {step})")


def by_descriptor(g: Generator, operand: Operand) -> Tiles:
    """A descriptor, made by the kernel or by its caller; what is out of bounds is zero."""
    whole, shape, at = list(operand.whole), list(operand.shape), operand.origin()
    turned = g.chance(0.4)
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
        name, bound, grid = array(g, operand.type, whole[0] * stride, descriptor=made)
    else:
        pointer, bound, grid = array(g, operand.type, whole[0] * stride)
        name = g.name("d")
        g.line(f"{name} = tl.make_tensor_descriptor({pointer}, {bounds}, [{stride}, 1], {shape})")
    return Tiles(f"{name}.load([{', '.join(at)}]){text}", bound, grid)


def by_rank_3(g: Generator, operand: Operand) -> Tiles:
    """A tile for each iteration in an array of rank 3, through pointers or a descriptor."""
    rows, columns = operand.shape
    step = 128 // TYPES[operand.type].bits
    stride = (columns + step - 1) // step * step
    tile = rows * stride
    pointer, bound, grid = array(g, operand.type, operand.count * operand.runs * tile)
    index = f"{{t}} * {operand.count} + {{k}}"
    shape = f"[{rows}, {columns}]"
    if g.chance(0.5):
        at = offsets((1, rows, columns), (tile, stride, 1))
        return Tiles(f"tl.reshape(tl.load({pointer} + {at} + ({index}) * {tile}), {shape})", bound,
                     grid)  # fmt: skip
    name = g.name("d")
    g.line(
        f"{name} = tl.make_tensor_descriptor({pointer}, "
        f"[{operand.count * operand.runs}, {rows}, {columns}], [{tile}, {stride}, 1], "
        f"[1, {rows}, {columns}])"
    )
    return Tiles(f"{name}.load([{index}, 0, 0]).reshape({shape})", bound, grid)


WAYS = (by_pointers, by_pointers, by_descriptor, by_descriptor, by_blocks_of_pointers, by_rank_3)


class Loops:
    """Loops over the same tiles, one after the other, that add to the same sums."""

    def __init__(self, g: Generator, runs: int) -> None:
        self.g = g
        self.runs = runs
        types = ("fp16", "fp16", "bf16", "fp32", "i8", "fp8e5", "fp8e4nv", "fp64")
        self.type = g.choice(types)
        self.out = result_type(self.type)
        self.m = g.choice((16, 64, 64, 64, 128))
        self.n = g.choice((16, 32, 64, 64))
        self.k = g.choice((32, 32, 64, 64))
        if self.type == "fp64":
            self.m, self.n, self.k = 16, 16, 32
        #: The iterations of each loop: from, to, step.
        first = g.choice((0, 0, 0, 1))
        self.ranges = [(first, g.choice((0, 1, 2, 3, 4, 6)), g.choice((1, 1, 1, 1, 2)))]
        if g.chance(0.3):
            start = self.ranges[0][1]
            self.ranges.append((start, start + g.choice((0, 1, 2)), 1))
        self.count = max(1, max(end for _, end, _ in self.ranges))
        self.tiles: list[Tiles] = []
        self.lines: list[str] = []
        #: Names, numbers of terms and domains of the sums.
        self.sums: list[Value] = []

    def operand(self, shape: tuple[int, int], axis: int) -> Tiles:
        operand = Operand(self.type, shape, axis, self.count, self.runs)
        self.tiles.append(self.g.choice(WAYS)(self.g, operand))
        return self.tiles[-1]

    def load(self, tiles: Tiles) -> str:
        name = self.g.name()
        self.lines.append(f"{name} = {tiles.load}")
        return name

    def sum(self, shape: tuple[int, ...], type: str, bound: float, grid: int) -> str:
        name = self.g.name()
        self.sums.append(Value(name, type, shape, bound=bound * self.count, grid=grid))
        return name

    def multiply(self, x: str, y: str, acc: str) -> None:
        """Adds a product to a sum in one of several ways."""
        g = self.g
        extra = ""
        if TYPES[self.type].bits == 8 and self.type != "i8" and g.chance(0.5):
            extra = f", max_num_imprecise_acc={g.choice((0, 32))}"
        how = g.choice(("dot", "dot", "dot", "add", "if", "negated"))
        if how == "add":
            self.lines.append(f"{acc} += tl.dot({x}, {y})")
        elif how == "if":
            self.lines.append("if {k} != 1:")
            self.lines.append(f"    {acc} = tl.dot({x}, {y}, {acc}{extra})")
        elif how == "negated":
            self.lines.append(f"{acc} = tl.dot({x}, {y}, -{acc}{extra})")
        else:
            self.lines.append(f"{acc} = tl.dot({x}, {y}, {acc}{extra})")

    def plan(self, attention: bool) -> None:
        if attention and self.type in ("fp16", "bf16", "fp32"):
            self.plan_attention()
        else:
            self.plan_products()
        self.plan_effects()

    def require(self, bound: float, grid: int, type: str) -> None:
        """Begins anew if the sums of a type would not be exact."""
        if TYPES[type].kind == "f" and not fits(bound, grid, type):
            raise Unsound

    def plan_products(self) -> None:
        """One product, or several that share an operand."""
        g = self.g
        a = self.operand((self.m, self.k), 1)
        x = self.load(a)
        if g.chance(0.2) and self.type in ("fp16", "bf16", "fp32"):
            self.lines.append(f"{x} = {g.choice((f'-{x}', f'tl.where({x} > 0.0, {x}, 0.0)'))}")
        for _ in range(g.choice((1, 1, 1, 2))):
            b = self.operand((self.k, self.n), 0)
            y = self.load(b)
            bound, grid = a.bound * b.bound * self.k, a.grid + b.grid
            self.require(bound * self.count * self.runs, grid, self.out)
            self.multiply(x, y, self.sum((self.m, self.n), self.out, bound, grid))
        if g.chance(0.25):
            type = "i64" if self.out == "i32" else self.out
            rows = self.sum((self.m,), type, a.bound * self.k, a.grid)
            self.lines.append(f"{rows} += tl.sum({x}.to({TYPES[type].tl}), 1)")

    def plan_attention(self) -> None:
        """Weights from a product, 0 or 1, times other rows that are loaded."""
        g = self.g
        d = self.k
        rows = Operand(self.type, (self.m, d), 1, 1, 1)
        q = by_descriptor(g, rows) if g.chance(0.3) else by_pointers(g, rows)
        keys = self.operand((d, self.n), 1)
        values = self.operand((self.n, d), 0)
        score, score_grid = q.bound * keys.bound * d, q.grid + keys.grid
        bound = values.bound * self.n
        self.require(score, score_grid, "fp32")
        self.require(bound * self.count * self.runs, values.grid, "fp32")
        rows_of_q = g.name()
        if q.begin:
            g.line(q.begin.format(t=0))
        g.line(f"{rows_of_q} = {q.load.format(k=0, t=0)}")
        s, p = g.name(), g.name()
        k = self.load(keys)
        self.lines.append(f"{s} = tl.dot({rows_of_q}, {k})")
        self.lines.append(f"{p} = {s} {g.choice(('> 0.0', '< 2.0'))}")
        if g.chance(0.5):
            columns = f"({{k}} * {self.n} + tl.arange(0, {self.n}))[None, :]"
            self.lines.append(f"{p} = {p} & (tl.arange(0, {self.m})[:, None] >= {columns})")
        if g.chance(0.6):
            total = self.sum((self.m,), "i32", 0, 0)
            self.lines.append(f"{total} += tl.sum({p}.to(tl.int32), 1)")
        weights = f"{p}.to({TYPES[self.type].tl})"
        acc = self.sum((self.m, d), "fp32", bound, values.grid)
        if g.chance(0.4):
            # The sum is scaled before more is added, as a running maximum makes it.
            best = g.name()
            self.lines.append(f"{best} = tl.where(tl.max({s}, 1) > 1.0, 1.0, -1.0)")
            self.lines.append(f"{acc} = {acc} * {best}[:, None]")
        v = self.load(values)
        self.lines.append(f"{acc} = tl.dot({weights}, {v}, {acc})")

    def plan_effects(self) -> None:
        """Something else that iterations do with memory."""
        g = self.g
        if g.chance(0.1) and self.runs == 1:
            pointer, whole = base(g, f"o{outputs(g)}", self.count)
            g.argument("output", "i32", "o", size=whole, flavour="small", low=3, high=3)
            self.lines.append(f"tl.store({pointer} + {{k}}, {{k}} * 5)")
        if g.chance(0.1):
            name = g.argument("output", "i32", "a", size=1, flavour="zero").name
            item = next(line for line in self.lines if "load(" in line).split(" = ")[0]
            ones = f"({item}.to(tl.float32) == 1.0).to(tl.int32)"
            self.lines.append(f"tl.atomic_add({name}, tl.sum(tl.sum({ones}, 1), 0))")

    def emit(self, t: str) -> None:
        """The sums, and the loops."""
        g = self.g
        for value in self.sums:
            g.line(f"{value.name} = tl.zeros({list(value.shape)}, {TYPES[value.type].tl})")
        for tiles in self.tiles:
            if tiles.begin:
                g.line(tiles.begin.format(t=t))
        moves = [tiles.move for tiles in self.tiles if tiles.move]
        for first, end, step in self.ranges:
            self.header(first, end, step, t)
            counter = g.lines[-1].split()[1]
            g.depth += 1
            for line in [*self.lines, *moves]:
                g.line(line.format(k=counter, t=t))
            g.depth -= 1

    def header(self, first: int, end: int, step: int, t: str) -> None:
        g = self.g
        bound = str(end)
        # A loop of one iteration at most that is known to be one is none.
        if end - first <= step or g.chance(0.5):
            bound = g.argument("scalar", "i32", "t", value=end).name
        if t != "0" and g.chance(0.3):
            bound = g.choice((f"tl.minimum({bound}, {t} + 1)", f"{bound} - {t} % 2"))
        options = f", num_stages={g.choice((1, 2, 2, 3, 3, 4, 5))}" if g.chance(0.6) else ""
        if g.chance(0.1):
            options += f", loop_unroll_factor={g.choice((2, 3))}"
        if g.chance(0.1):
            options += ", disallow_acc_multi_buffer=True"
        g.line(f"for {g.name('k')} in tl.range({first}, {bound}, {step}{options}):")


def outputs(g: Generator) -> int:
    return sum(a.name.startswith("o") for a in g.arguments)


def plan_store(g: Generator, value: Value, runs: int) -> str:
    """What follows a tile: how one of its sums is written, through pointers or a descriptor, or
    added to what all tiles have."""
    type, shape, size = value.type, value.shape, value.numel
    at = offsets(shape, contiguous(shape))
    exact = value.is_int or fits(value.bound * runs * g.programs, value.grid, type)
    if g.chance(0.2) and exact:
        name = g.argument("output", type, "a", size=size, flavour="zero").name
        return f"tl.atomic_add({name} + {at}, {value.name})"
    text = f"{value.name} * ({{t}} + 1)"
    narrow = g.choice(("fp16", "fp32"))
    if value.is_float and fits(value.bound * runs, value.grid, narrow):
        type, text = narrow, f"({text}).to({TYPES[narrow].tl})"
    pointer, whole = base(g, f"o{outputs(g)}", (size * runs + 15) // 16 * 16)
    g.argument("output", type, "o", size=whole, flavour="zero")
    if value.rank == 2 and g.chance(0.4) and shape[1] * TYPES[type].bits >= 128:
        rows, columns = shape
        name = g.name("d")
        g.line(
            f"{name} = tl.make_tensor_descriptor({pointer}, [{rows * runs}, {columns}], "
            f"[{columns}, 1], [{rows}, {columns}])"
        )
        return f"{name}.store([{{t}} * {rows}, 0], {text})"
    mask = f", mask={mask_text(g, shape)}" if g.chance(0.2) else ""
    return f"tl.store({pointer} + {{t}} * {size} + {at}, {text}{mask})"


def product_loops(g: Generator) -> None:
    """Loops whose sums the program goes on with."""
    loops = Loops(g, runs=1)
    loops.plan(g.chance(0.35))
    loops.emit("0")
    g.env += loops.sums


def nest(g: Generator) -> None:
    """Loops in a loop over tiles, each of which is written when it is done."""
    runs = g.choice((1, 2, 2, 3, 4))
    loops = Loops(g, runs)
    loops.plan(g.chance(0.2))
    stores = [plan_store(g, value, runs) for value in loops.sums]
    t = g.name("s")
    bound = str(runs)
    if g.chance(0.5):
        bound = g.argument("scalar", "i32", "t", value=runs).name
    options = g.choice(("", "", ", flatten=True", ", num_stages=2"))
    g.line(f"for {t} in tl.range(0, {bound}{options}):")
    g.depth += 1
    conditional = g.chance(0.08)
    if conditional:
        g.line(f"if {t} != 1:")
        g.depth += 1
    loops.emit(t)
    for store in stores:
        g.line(store.format(t=t))
    g.depth -= 1 + conditional
