"""Loops with dots that get warps of their own for what they load. Operands come in every way. One
loop or several go on with the sums, alone and in nests with what follows a tile.

These are what programs of mode "specialized" begin with; the other modes have none of them.
"""

from __future__ import annotations

from .conversions import choose_tiles
from .counters import odd_range
from .generator import Generator, Unsound, contiguous, offsets
from .matrix import result_type
from .memory import base
from .operands import Operand, Tiles, by_descriptor, by_pointers
from .results import outputs, plan_store
from .values import TYPES, Value, fits


class Loops:
    """Loops over the same tiles, one after the other, that add to the same sums."""

    def __init__(
        self, g: Generator, runs: int, split: bool = False, grid: tuple[int, int] | None = None
    ) -> None:
        self.g = g
        self.runs = runs
        #: Programs share the iterations among them.
        self.split = split
        #: The rows and columns of tiles that programs share among them; if there are none, each
        #: run has a row and a column of its own.
        self.rows, self.columns = grid or (runs, runs)
        self.shared = split or grid is not None
        types = ("fp16", "fp16", "bf16", "fp32", "i8", "fp8e5", "fp8e4nv", "fp64")
        self.type = g.choice(types)
        self.out = result_type(self.type)
        self.m = g.choice((16, 64, 64, 64, 128))
        self.n = g.choice((16, 32, 64, 64, 128))
        self.k = g.choice((32, 32, 64, 64))
        if self.type == "fp64":
            self.m, self.n, self.k = 16, 16, 32
        if g.alone:
            self.type = g.choice(("fp16", "fp16", "bf16", "fp8e5", "fp8e4nv", "i8"))
            self.out, self.m = result_type(self.type), g.choice((128, 128, 256))
        if g.rows:
            self.type, self.out, self.m = g.choice(("fp16", "bf16")), "fp32", g.rows
            self.n, self.k = g.choice((16, 32, 64, 64)), g.choice((32, 64, 64, 128))
        #: The iterations of each loop: from, to, step.
        first = g.choice((0, 0, 0, 1))
        self.ranges = [(first, g.choice((0, 1, 2, 3, 4, 6)), g.choice((1, 1, 1, 1, 2)))]
        if g.chance(0.3) and not split:
            start = self.ranges[0][1]
            self.ranges.append((start, start + g.choice((0, 1, 2)), 1))
        self.count = max(1, max(end for _, end, _ in self.ranges))
        self.tiles: list[Tiles] = []
        self.lines: list[str] = []
        #: Names, numbers of terms and domains of the sums.
        self.sums: list[Value] = []

    def operand(self, shape: tuple[int, int], axis: int) -> Tiles:
        runs = self.rows if axis == 1 else self.columns
        operand = Operand(self.type, shape, axis, self.count, runs, self.shared)
        self.tiles.append(choose_tiles(self.g, operand))
        return self.tiles[-1]

    def load(self, tiles: Tiles) -> str:
        name = self.g.name()
        self.lines.append(f"{name} = {tiles.load}")
        self.lines += [line.replace("{x}", name) for line in tiles.convert]
        return name

    def sum(self, shape: tuple[int, ...], type: str, bound: float, grid: int) -> str:
        name = self.g.name()
        self.sums.append(Value(name, type, shape, bound=bound * self.count, grid=grid))
        return name

    def multiply(self, x: str, y: str, acc: str) -> None:
        """Adds a dot to a sum in one of several ways."""
        g = self.g
        extra = ""
        if TYPES[self.type].bits == 8 and self.type != "i8" and g.chance(0.5):
            extra = f", max_num_imprecise_acc={g.choice((0, 32))}"
        ways = ("dot", "dot", "dot", "dot", "dot", "dot", "add", "add", "if", "if",
                "negated", "negated", "call", "moved", "moved")  # fmt: skip
        # Most of these take threads, or registers.
        how = "dot" if g.alone and g.chance(0.7) else g.choice(ways)
        if how == "add":
            self.lines.append(f"{acc} += tl.dot({x}, {y})")
        elif how == "if":
            self.lines.append("if {k} != 1:")
            self.lines.append(f"    {acc} = tl.dot({x}, {y}, {acc}{extra})")
        elif how == "call":
            name = g.name("h")
            decorator = f"@tile.jit(noinline={g.chance(0.7)})"
            g.functions.append(
                f"{decorator}\ndef {name}(x, y, acc):\n    return tl.dot(x, y, acc{extra})"
            )
            self.lines.append(f"{acc} = {name}({x}, {y}, {acc})")
        elif how == "moved":
            self.move(x, y, acc, extra)
        elif how == "negated":
            self.lines.append(f"{acc} = tl.dot({x}, {y}, -{acc}{extra})")
        else:
            self.lines.append(f"{acc} = tl.dot({x}, {y}, {acc}{extra})")

    def move(self, x: str, y: str, acc: str, extra: str) -> None:
        """Adds a dot to a sum that goes on in another variable, or starts again."""
        g = self.g
        first = next(value for value in self.sums if value.name == acc)
        other, new = g.name(), g.name()
        self.sums.append(first.replace(name=other))
        dot = f"tl.dot({x}, {y}, {acc}{extra})"
        # Each of them is a sum of dots, some of them negated.
        ways = [
            [f"{acc}, {other} = -{other}, {dot}"],
            [f"{acc}, {other} = tl.dot({x}, {y}, {other}{extra}), {dot}"],
            [f"{new} = {dot}", f"{acc} = -{other}", f"{other} = {new}"],
            [f"{other} = -{acc}", f"{acc} = {dot}"],
            [f"{acc} = {dot}", f"{acc}, {other} = -{other}, {acc}"],
            [f"{acc} = {dot}", f"{other} = tl.where({{k}} % 2 == 0, {acc}, {other})"],
            [
                f"{acc} = {dot}",
                "if {k} % 3 == 1:",
                f"    {other} = {acc}",
                f"    {acc} = {acc} * 0",
            ],
            [
                f"{acc} = {dot}",
                "if {k} % 2 == 1:",
                f"    {other} = -{acc}",
                f"    {acc} = -{other}",
            ],
        ]
        self.lines += g.choice(ways)

    def starts_again(self, acc: Value) -> None:
        """A sum that iterations write now and then, and that starts again from zero behind that."""
        g = self.g
        size = acc.numel * self.count
        if self.shared:
            name = g.argument("output", acc.type, "o", size=size * self.rows * self.columns,
                              flavour="zero").name  # fmt: skip
        else:
            name, whole = base(g, f"o{outputs(g)}", size * self.runs)
            g.argument("output", acc.type, "o", size=whole, flavour="zero")
        at = offsets(acc.shape, contiguous(acc.shape))
        zeros = f"tl.zeros({list(acc.shape)}, {TYPES[acc.type].tl})"
        every = g.choice((1, 2, 2, 3))
        place = f"({{t}} * {self.count} + {{k}}) * {acc.numel} + {at}"
        self.lines += [
            f"if {{k}} % {every} == {every - 1}:",
            f"    tl.store({name} + {place}, {acc.name})",
            f"    {acc.name} = {g.choice((zeros, zeros, f'{acc.name} * -1'))}",
        ]

    def plan(self, attention: bool) -> None:
        if self.g.rows:
            self.plan_attention()
        elif attention and self.type in ("fp16", "bf16", "fp32"):
            self.g.choice((self.plan_attention, self.plan_gradients))()
        elif self.g.chance(0.08):
            self.plan_scaled()
        else:
            self.plan_products()
        self.plan_effects()

    def require(self, bound: float, grid: int, type: str) -> None:
        """Begins anew if the sums of a type would not be exact."""
        if TYPES[type].kind == "f" and not fits(bound, grid, type):
            raise Unsound

    def plan_products(self) -> None:
        """One dot, or several that share an operand."""
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
            acc = self.sum((self.m, self.n), self.out, bound, grid)
            self.multiply(x, y, acc)
            if g.chance(0.2) and self.m * self.n * self.count * self.runs <= 2**16:
                self.starts_again(next(value for value in self.sums if value.name == acc))
        if g.chance(0.25):
            type = "i64" if self.out == "i32" else self.out
            rows = self.sum((self.m,), type, a.bound * self.k, a.grid)
            self.lines.append(f"{rows} += tl.sum({x}.to({TYPES[type].tl}), 1)")

    def scales(self, rows: int, tile: str) -> str:
        """Packed scales: 512 bytes have four of 128 rows. They are a half to two."""
        g = self.g
        count = rows // 128 * (self.k // 128)
        tiles = (self.rows if tile == "{r}" else self.columns) * self.count
        array = g.argument("input", "u8", "x", size=tiles * count * 512, flavour="small", low=126,
                           high=128).name  # fmt: skip
        name = g.name()
        first = f"(({tile}) * {self.count} + {{k}}) * {count}"
        if g.chance(0.6):
            desc = g.name("d")
            g.line(
                f"{desc} = tl.make_tensor_descriptor({array}, [1, {tiles * count}, 1, 2, 256], "
                f"[{tiles * count * 512}, 512, 512, 256, 1], [1, {count}, 1, 2, 256])"
            )
            self.lines.append(f"{name} = {desc}.load([0, {first}, 0, 0, 0])")
        else:
            at = f"(tl.arange(0, {count})[:, None] * 512 + tl.arange(0, 512)[None, :])"
            self.lines.append(f"{name} = tl.load({array} + {first} * 512 + {at})")
        shape = f"{rows // 128}, {self.k // 128}, 32, 4, 4"
        self.lines.append(
            f"{name}s = {name}.reshape({shape}).trans(0, 3, 2, 1, 4)"
            f".reshape({rows}, {self.k // 32})"
        )
        return f"{name}s"

    def plan_scaled(self) -> None:
        """Dots of blocks in a microscaling format, as large as tensor memory takes them."""
        g = self.g
        formats = [("fp8e5", "e5m2")]
        if g.config.target >= 89:
            formats.append(("fp8e4nv", "e4m3"))
        self.type, format = g.choice(formats)
        self.out = "fp32"
        self.m, self.n, self.k = 128, g.choice((128, 128, 64)), g.choice((128, 128, 256))
        a = self.operand((self.m, self.k), 1)
        x = self.load(a)
        x_scale = self.scales(self.m, "{r}")
        for _ in range(g.choice((1, 1, 1, 2))):
            b = self.operand((self.k, self.n), 0)
            y = self.load(b)
            y_scale = self.scales(self.n, "{c}") if self.n == 128 and g.chance(0.8) else "None"
            bound, grid = a.bound * b.bound * self.k * 4, a.grid + b.grid + 2
            self.require(bound * self.count * self.runs, grid, "fp32")
            acc = self.sum((self.m, self.n), "fp32", bound, grid)
            self.lines.append(f'{acc} = tl.dot_scaled({x}, {x_scale}, "{format}", {y}, {y_scale}, '
                              f'"{format}", {acc})')  # fmt: skip

    def plan_attention(self) -> None:
        """Weights from a dot, 0 or 1, times other rows that are loaded."""
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
            g.line(q.begin.format(r=0, c=0))
        g.line(f"{rows_of_q} = {q.load.format(k=0, r=0, c=0)}")
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

    def plan_gradients(self) -> None:
        """Attention's dots backwards. Rows that are loaded are multiplied with keys and with values
        that stay. What comes of both is multiplied with the rows again, and, if it is wanted, with
        the keys, which memory adds up."""
        g = self.g
        d = self.k
        fixed = [Operand(self.type, (self.n, d), 0, 1, 1) for _ in "kv"]
        k, v = (g.choice((by_descriptor, by_pointers))(g, operand) for operand in fixed)
        q = self.operand((self.m, d), 0)
        do = self.operand((self.m, d), 0)
        self.require(q.bound * k.bound * d, q.grid + k.grid, "fp32")
        self.require(do.bound * v.bound * d, do.grid + v.grid, "fp32")
        rows_of_k, rows_of_v = g.name(), g.name()
        for tiles, name in ((k, rows_of_k), (v, rows_of_v)):
            if tiles.begin:
                g.line(tiles.begin.format(r=0, c=0))
            g.line(f"{name} = {tiles.load.format(k=0, r=0, c=0)}")
        s, p, dp, ds = (g.name() for _ in range(4))
        element = TYPES[self.type].tl
        late = g.chance(0.5)
        x = self.load(q)
        y = "" if late else self.load(do)
        turned = g.chance(0.5)
        of_q, of_do = (f"{rows_of_k}, {{}}.T", f"{rows_of_v}, {{}}.T")
        if not turned:
            of_q, of_do = (f"{{}}, {rows_of_k}.T", f"{{}}, {rows_of_v}.T")
        self.lines.append(f"{s} = tl.dot({of_q.format(x)})")
        self.lines.append(f"{p} = {s} {g.choice(('> 0.0', '< 2.0'))}")
        y = y or self.load(do)
        self.lines.append(f"{dp} = tl.dot({of_do.format(y)})")
        self.lines.append(f"{ds} = ({p} & ({dp} {g.choice(('> 0.0', '< 2.0'))})).to({element})")
        across = "" if turned else ".T"
        for weights, other, bound, grid in (
            (f"{p}.to({element})", y, do.bound, do.grid),
            (ds, x, q.bound, q.grid),
        ):
            self.require(bound * self.m * self.count * self.runs, grid, "fp32")
            acc = self.sum((self.n, d), "fp32", bound * self.m, grid)
            self.lines.append(f"{acc} = tl.dot({weights}{across}, {other}, {acc})")
        if g.chance(0.5):
            terms = self.n * self.runs * len(self.ranges) * g.programs
            self.require(k.bound * terms, k.grid, "fp32")
            size = self.m * d * self.count
            name = g.argument("output", "fp32", "a", size=size, flavour="zero").name
            back = ".T" if turned else ""
            rows = f"tl.dot({ds}{back}, {rows_of_k})"
            if g.chance(0.5):
                desc = g.name("d")
                g.line(
                    f"{desc} = tl.make_tensor_descriptor({name}, [{self.m * self.count}, {d}], "
                    f"[{d}, 1], [{self.m}, {d}])"
                )
                self.lines.append(f"{desc}.atomic_add([{{k}} * {self.m}, 0], {rows})")
            else:
                at = offsets((self.m, d), contiguous((self.m, d)))
                self.lines.append(f"tl.atomic_add({name} + {{k}} * {self.m * d} + {at}, {rows})")

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
            order = ", sem='relaxed'" if g.alone and g.chance(0.5) else ""
            self.lines.append(f"tl.atomic_add({name}, tl.sum(tl.sum({ones}, 1), 0){order})")

    def emit(self, t: str, row: str = "", column: str = "") -> None:
        """The sums, and the loops, for a tile in a row and a column."""
        g = self.g
        place = {"t": t, "r": row or t, "c": column or t}
        for value in self.sums:
            g.line(f"{value.name} = tl.zeros({list(value.shape)}, {TYPES[value.type].tl})")
        for tiles in self.tiles:
            if tiles.begin:
                g.line(tiles.begin.format(**place))
        moves = [tiles.move for tiles in self.tiles if tiles.move]
        for first, end, step in self.ranges:
            counter = self.header(first, end, step, t)
            g.depth += 1
            for line in [*self.lines, *moves]:
                g.line(line.format(k=counter, **place))
            g.depth -= 1

    def header(self, first: int, end: int, step: int, t: str) -> str:
        """The beginning of a loop; returns the name of what counts its tiles."""
        g = self.g
        options = f", num_stages={g.choice((0, 1, 2, 2, 3, 3, 4, 5))}" if g.chance(0.6) else ""
        if g.chance(0.1):
            options += f", loop_unroll_factor={g.choice((2, 3))}"
        if g.chance(0.1):
            options += ", disallow_acc_multi_buffer=True"
        if t == "0" and not self.split and g.chance(0.2):
            number = odd_range(g, len(range(first, end, step)), options)
            k = g.name("k")
            g.line(f"    {k} = {number} * {step} + {first}")
            return k
        bound = str(end)
        # A loop of one iteration at most that is known to be one is none.
        if end - first <= step or g.chance(0.5):
            bound = g.argument("scalar", "i32", "t", value=end).name
        begin, stride = str(first), str(step)
        if self.split:
            begin, stride = f"{first} + pid", str(g.programs)
        if t != "0" and g.chance(0.3):
            bound = g.choice((f"tl.minimum({bound}, {t} + 1)", f"{bound} - {t} % 2"))
        k = g.name("k")
        g.line(f"for {k} in tl.range({begin}, {bound}, {stride}{options}):")
        return k


def product_loops(g: Generator) -> None:
    """Loops whose sums the program goes on with."""
    loops = Loops(g, runs=1, split=g.programs > 1 and g.chance(0.4))
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
