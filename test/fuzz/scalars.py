"""Programs of plain Python over integers. What they compute is what Python itself computes: the
program is run as it stands, with functions of Python for the few names of the language."""

from __future__ import annotations

import random
from typing import Any

from .program import Argument, Config, Program

#: What programs run on that are not told.
MACHINES = ("cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "hip:gfx1100")

#: Results stay below this, so that no integer is too large for its type, and none is negative:
#: `//` and `%` of negative ones are the only arithmetic that differs from Python's.
MASK = 1023

HEADER = """\
import tile
import tile.language as tl

CONSTANT = tl.constexpr(5)
"""


class Writer:
    """Writes one function. It knows which names surely have a value."""

    def __init__(self, rng: random.Random, functions: list[str], names: list[str]) -> None:
        self.random = rng
        self.functions = functions
        #: Names of integers, of tuples with their lengths, and of functions inside, in scope.
        self.known = list(names)
        self.tuples: dict[str, int] = {}
        self.local: dict[str, int] = {}
        self.lines: list[str] = []
        self.indent = 1
        self.loops = 0
        self.breakable = False
        self.count = 0
        self.budget = 18
        self.returns = False

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def new(self, kind: str = "v") -> str:
        if kind == "v" and self.known and self.chance(0.4):
            return self.random.choice([n for n in self.known if n[0] == "v"] or [self.fresh("v")])
        return self.fresh(kind)

    def fresh(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    # Expressions: text of an integer from 0 to MASK, if `small` is as the names are.

    def atom(self) -> str:
        r = self.random
        kinds = ["number", "name", "name", "name"]
        if self.tuples:
            kinds.append("item")
        kind = r.choice(kinds)
        if kind == "number" or not self.known:
            return r.choice(["0", "1", "2", "3", "7", "15", "CONSTANT"])
        if kind == "item":
            name, length = r.choice([*self.tuples.items()])
            return f"{name}[{r.randrange(-length, length)}]"
        return r.choice(self.known)

    def expression(self, depth: int = 1) -> str:
        r = self.random
        if depth == 0 or self.chance(0.25):
            return self.atom()
        how = r.randrange(17)
        if how == 7:
            return self.choice_of_two(depth)
        if how == 14:  # The default has its value first.
            b = self.expression(depth - 1)
            return f"(lambda x, y={b}: (x + y) & {MASK})({self.expression(depth - 1)})"
        a = self.expression(depth - 1)
        # What is written must stand in the program: it may assign.
        if how == 6:
            return f"({a} // {r.choice(['2', '3', '7'])} + {a} % {r.choice(['4', '5'])})"
        if how == 11:
            only = r.choice(["", " if k != 2"])
            return f"sum([{a} * k & 63 for k in (1, 2, {r.randrange(5)}){only}])"
        if how == 13:
            return f"({a} << {r.randrange(3)} >> {r.randrange(3)} & {MASK})"
        if how == 15 and self.may_assign:
            name = self.new()
            self.assigned(name)
            return f"({name} := {a})"
        if how == 10 and self.local:
            name, count = r.choice([*self.local.items()])
            more = f", {self.expression(depth - 1)}" if count > 1 else ""
            return f"({name}({a}{more}) & {MASK})"
        b = self.expression(depth - 1)
        if how < 4:
            return f"({a} {r.choice('+^|&')} {b})"
        if how == 4:
            return f"(({a} * {b}) & {MASK})"
        if how == 5:
            return f"(({a} - {b}) & {MASK})"
        if how == 8:
            return f"{r.choice(['min', 'max'])}({a}, {b})"
        if how == 9 and self.functions:
            name = r.choice(self.functions)
            return r.choice([f"{name}({a}, {b})", f"{name}({a}, b={b})", f"{name}(*({a}, {b}))"])
        if how == 12:
            return f"({a}, {b}, 3)[{r.randrange(-3, 3)}]"
        return f"abs({a} - {b})"

    def choice_of_two(self, depth: int) -> str:
        """`a if condition else b`: the condition has its value first."""
        condition = self.condition(1)
        before = list(self.known)
        a = self.expression(depth - 1)
        after, self.known = self.known, list(before)
        b = self.expression(depth - 1)
        self.known = [name for name in after if name in self.known]
        if self.may_assign and self.chance(0.5):
            name = self.new()
            self.assigned(name)
            return f"(({name} := {a}) if {condition} else ({name} := {b}))"
        return f"({a} if {condition} else {b})"

    #: Whether `:=` may stand where an expression is written: not where Python may skip it.
    may_assign = False

    def condition(self, depth: int = 2) -> str:
        r = self.random
        saved, self.may_assign = self.may_assign, False
        try:
            return self._condition(r, depth)
        finally:
            self.may_assign = saved

    def _condition(self, r: random.Random, depth: int) -> str:
        a, b = self.expression(1), self.expression(1)
        how = r.randrange(10)
        if depth == 0 or how < 4:
            return f"{a} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {b}"
        if how == 4:
            # Bitwise operations in a chain are refused: `i < n & j > 2` is a mistake.
            return f"{a} {r.choice(['<', '<='])} {self.atom()} {r.choice(['<', '!='])} {b}"
        if how == 5:
            return f"({self.condition(depth - 1)} {r.choice(['and', 'or'])} {self.condition(0)})"
        if how == 6:
            return f"not {self.condition(0)}"
        if how == 7:
            return f"{a} {r.choice(['in', 'not in'])} ({b}, {r.randrange(9)}, {r.randrange(9)})"
        if how == 8:
            return f"{r.choice(['any', 'all'])}(({self.condition(0)}, {self.condition(0)}))"
        return f"{a} & {r.choice([1, 2, 4])}"

    # Statements.

    def assigned(self, name: str) -> None:
        if name not in self.known:
            self.known.append(name)

    def value(self) -> str:
        """The right side of an assignment to an integer."""
        self.may_assign = self.chance(0.3)
        text = self.expression(self.random.choice([0, 1, 1, 2]))
        self.may_assign = False
        return text if self.chance(0.2) and text.isidentifier() else f"({text}) & {MASK}"

    def block(self, count: int, known: list[str] | None = None) -> list[str]:
        """Some statements, further in; returns the names that have values behind them."""
        saved = list(self.known), dict(self.tuples), dict(self.local)
        if known is not None:
            self.known = list(known)
        self.indent += 1
        before = len(self.lines)
        ends = False
        for _ in range(count):
            ends = self.statement()
            if ends:
                break
        if len(self.lines) == before:
            self.line("pass")
        self.indent -= 1
        after = self.known
        self.known, self.tuples, self.local = saved
        return ["*"] if ends else after

    def both(self, a: list[str], b: list[str]) -> None:
        """What is known behind two ways, of which one may not come here."""
        if a == ["*"]:
            a = b
        if b == ["*"]:
            b = a
        self.known = [n for n in a if n in b and n != "*"]

    def statement(self) -> bool:
        """Writes one; whether what follows is not reached."""
        self.budget -= 1
        r = self.random
        how = r.randrange(20) if self.budget > 0 and self.indent < 5 else r.randrange(8)
        if how < 6:
            self.simple()
        elif how == 6 and self.loops and self.breakable and self.indent > 2:
            self.line(f"if {self.condition(1)}:")
            self.line(f"    {r.choice(['break', 'continue'])}")
        elif how == 7 and self.returns and self.indent > 1:
            self.early_return()
        elif how < 12:
            self.branch()
        elif how < 16 and self.loops < 2:
            self.loop()
        elif how == 16 and self.loops < 2:
            self.while_loop()
        elif how == 17:
            self.match()
        elif how == 18 and self.indent == 1:
            self.function()
        else:
            self.simple()
        return False

    def early_return(self) -> None:
        self.line(f"if {self.condition(1)}:")
        known = list(self.known)
        self.line(f"    return {self.value()}")
        self.known = known  # What it assigned is not there behind it.

    def simple(self) -> None:
        r = self.random
        how = r.randrange(9)
        if how == 0 and len(self.known) > 1:
            a, b = r.sample(self.known, 2)
            if a[0] == b[0] == "v":
                self.line(f"{a}, {b} = {b}, {a}")
                return
        if how == 1:
            name, length = self.fresh("t"), r.randrange(2, 4)
            self.line(f"{name} = ({', '.join(self.value() for _ in range(length))})")
            self.tuples[name] = length
            return
        if how == 2 and self.tuples:
            name, length = r.choice([*self.tuples.items()])
            self.line(f"{name} = {r.choice([f'{name}[::-1]', f'({name}[-1], *{name}[1:])'])}")
            return
        if how == 3:
            first, rest = self.fresh("v"), self.fresh("w")
            self.line(f"{first}, *{rest} = ({self.value()}, {self.value()}, {self.value()})")
            self.assigned(first)
            self.line(f"{first} = ({first} + {rest}[1] * {rest}[0]) & {MASK}")
            return
        if how == 4:
            target = [n for n in self.known if n[0] == "v"]
            if target:
                name = r.choice(target)
                self.line(f"{name} {r.choice(['+=', '^=', '|=', '-='])} {self.expression(1)}")
                self.line(f"{name} &= {MASK}")
                return
        if how == 5:
            name = self.fresh("d")
            self.line(f"{name} = {{'a': {self.value()}, 2: {self.value()}}}")
            total = self.new()
            self.line(f"{total} = {name}['a'] ^ {name}[2] + len({name})")
            self.assigned(total)
            return
        name, text = self.new(), self.value()
        self.line(f"{name} = {text}")
        self.assigned(name)

    def branch(self) -> None:
        self.line(f"if {self.condition()}:")
        before = list(self.known)
        ways = [self.block(self.random.randrange(1, 4))]
        while self.chance(0.2):
            self.line(f"elif {self.condition(1)}:")
            ways.append(self.block(self.random.randrange(1, 3), before))
        if self.chance(0.6):
            self.line("else:")
            ways.append(self.block(self.random.randrange(1, 4), before))
        else:
            ways.append(before)
        for way in ways[1:]:
            self.both(ways[0], way)
            ways[0] = list(self.known)

    def match(self) -> None:
        self.line(f"match {self.expression(1)} & 7:")
        before, ways = list(self.known), []
        self.indent += 1
        for _ in range(self.random.randrange(1, 3)):
            pattern = self.random.choice(["0", "1", "2 | 3", "5 | 6 | 7"])
            guard = f" if {self.condition(0)}" if self.chance(0.2) else ""
            self.line(f"case {pattern}{guard}:")
            ways.append(self.block(self.random.randrange(1, 3), before))
        if self.chance(0.6):
            self.line("case _:")
            ways.append(self.block(self.random.randrange(1, 3), before))
        else:
            ways.append(before)
        self.indent -= 1
        for way in ways[1:]:
            self.both(ways[0], way)
            ways[0] = list(self.known)

    def loop_body(self, before: list[str]) -> None:
        """The body of a loop, and perhaps its `else`; `before` is known without an iteration."""
        saved, self.breakable = self.breakable, True
        self.loops += 1
        self.block(self.random.randrange(1, 5))
        self.loops -= 1
        self.breakable = saved
        self.known = list(before)
        if self.chance(0.25):
            self.line("else:")
            # It runs behind no `break`: what it assigns need not be there.
            inner, self.breakable = self.breakable, self.loops > 0
            self.block(self.random.randrange(1, 3))
            self.breakable = inner

    def loop(self) -> None:
        r = self.random
        name = self.fresh("i")
        how = r.randrange(7)
        target = name
        if how == 0:
            items = f"tl.static_range({r.randrange(4)})"
        elif how == 1:
            items = f"({', '.join(self.value() for _ in range(r.randrange(1, 4)))},)"
        elif how == 2:
            target = f"{name}, {name}x"
            items = f"enumerate(({self.value()}, {self.value()}), {r.randrange(3)})"
        elif how == 3:
            items = f"range({self.expression(1)} & 7, -1, -{r.randrange(1, 4)})"
        elif how == 4:
            items = (
                f"range({self.expression(1)} & 3, {self.expression(1)} & 15, {r.randrange(1, 4)})"
            )
        elif how == 5:
            items = f"range(0, {self.expression(1)} & 15, ({self.expression(1)} & 3) + 1)"
        else:
            items = f"range({self.expression(1)} & 7)"
        self.line(f"for {target} in {items}:")
        before = list(self.known)
        self.known = [*before, *target.split(", ")]
        self.loop_body(before)
        self.known = before

    def while_loop(self) -> None:
        r = self.random
        name = self.fresh("n")
        self.line(f"{name} = {self.expression(1)} & 7")
        before = list(self.known)
        how = r.randrange(4)
        if how == 0:
            other = self.new()
            self.line(
                f"while ({other} := {name} * {r.randrange(1, 4)} & {MASK}) > {r.randrange(3)}:"
            )
            self.assigned(other)
            before = list(self.known)
            self.known.append(name)
        elif how == 1:
            self.line("while True:")
        elif how == 2:
            self.line(f"while {name} > 0 and {self.condition(1)}:")
        else:
            self.line(f"while {name}:")
        self.line(f"    {name} -= 1")
        if how == 1:
            self.line(f"    if {name} < 0:")
            self.line("        break")
        if how == 0:
            self.line(f"    if {name} < 0:")
            self.line("        break")
        self.loop_body(before)
        self.known = before

    def function(self) -> None:
        """A function inside: it sees what is around when it is called."""
        name, count = self.fresh("f"), self.random.randrange(1, 3)
        parameters = [f"p{k}" for k in range(count)]
        self.line(f"def {name}({', '.join(parameters)}):")
        saved = self.known, self.tuples, self.local, self.loops, self.returns
        self.known = [*self.known, *parameters]
        self.loops, self.returns = 2, True
        self.indent += 1
        if self.chance(0.5):
            self.early_return()
        self.line(f"return {self.value()}")
        self.indent -= 1
        self.known, self.tuples, self.local, self.loops, self.returns = saved
        self.local[name] = count


def write(seed: str) -> str:
    """The source of a program."""
    rng = random.Random(f"scalars {seed}")
    parts, functions = [HEADER], []
    for k in range(rng.randrange(3)):
        writer = Writer(rng, list(functions), ["a", "b"])
        writer.returns = True
        writer.budget = 12
        for _ in range(rng.randrange(1, 5)):
            writer.statement()
        writer.line(f"return {writer.value()}")
        decorator = rng.choice(["@tile.jit", "@tile.jit", "@tile.jit(noinline=True)"])
        default = rng.choice(["", " = 3"]).replace(" ", "")
        parts.append(
            f"\n\n{decorator}\ndef helper{k}(a, b{default}):\n" + "\n".join(writer.lines) + "\n"
        )
        functions.append(f"helper{k}")
    writer = Writer(rng, functions, ["x", "y", "z"])
    for _ in range(rng.randrange(4, 10)):
        writer.statement()
    for k, name in enumerate([n for n in writer.known if n[0] in "vxyz"][:8]):
        writer.line(f"tl.store(o0 + {k}, {name})")
    for k, (name, length) in enumerate([*writer.tuples.items()][:4]):
        writer.line(f"tl.store(o0 + {8 + k}, {name}[{length - 1}])")
    parts.append("\n\n@tile.jit\ndef kernel(o0, x, y, z):\n" + "\n".join(writer.lines) + "\n")
    return "".join(parts)


class Memory:
    """An array, and a place in it, as the program run by Python sees them."""

    def __init__(self, items: list[int], place: int = 0) -> None:
        self.items, self.place = items, place

    def __add__(self, offset: int) -> Memory:
        return Memory(self.items, self.place + offset)


class _Language:
    constexpr = int

    @staticmethod
    def static_range(count: int) -> range:
        return range(count)

    @staticmethod
    def store(where: Memory, value: Any) -> None:
        where.items[where.place] = int(value)


class _Tile:
    @staticmethod
    def jit(function: Any = None, **options: Any) -> Any:
        return function if function is not None else lambda inner: inner


def run(source: str, size: int, arguments: tuple[int, ...]) -> list[int]:
    """What Python leaves in an array of zeros."""
    plain = source.replace("import tile\nimport tile.language as tl\n", "")
    names: dict[str, Any] = {"tile": _Tile, "tl": _Language}
    exec(compile(plain, "<scalars>", "exec"), names)
    memory = Memory([0] * size)
    names["kernel"](memory, *arguments)
    return memory.items


def generate(seed: int, target: str = "") -> Program:
    """A program, and what Python says that it stores."""
    rng = random.Random(f"arguments {seed}")
    values = tuple(rng.choice([0, 1, 2, 5, 8, 100]) for _ in range(3))
    for attempt in range(10):
        source = write(f"{seed} {attempt}")
        try:
            stored = run(source, 12, values)
            break
        except NameError:  # It reads what nobody assigned: this is no program.
            continue
    machine = target or rng.choice(MACHINES)
    config = Config(num_warps=rng.choice([1, 2, 4]), elsewhere=machine)
    return Program(
        seed,
        source,
        (
            Argument("o0", "output", "i32", 12, flavour="zero", known=f"np.array({stored})"),
            *(
                Argument(name, "scalar", "i32", low=value, high=value, value=value)
                for name, value in zip("xyz", values, strict=True)
            ),
        ),
        config=config,
    )
