"""Writes random programs: the state that productions share, and the order of things.

A production is a function that adds a statement (and what it computes) to a program; it returns
False where it does not apply. Families of productions are in modules of their own.
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

from .program import TARGETS, Argument, Config, Program
from .values import FLOATS, INTEGERS, TYPES, Value

PRODUCTIONS: list[tuple[float, Callable[[Any], Any]]] = []

#: What names of parameters begin with; no variable and no function does, so that none hides one.
PARAMETERS = frozenset("Cafnotwx")


def production(weight: float) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Registers a production, chosen `weight` times as often as one of weight 1."""

    def register(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
        PRODUCTIONS.append((weight, fn))
        return fn

    return register


class Unsound(Exception):
    """The program cannot be continued; it is begun anew."""


class Generator:
    """A program in the making."""

    def __init__(
        self,
        seed: int,
        attempt: int = 0,
        partitions: bool = False,
        copies: bool = False,
        forgets: bool = False,
        shapes: bool = False,
        rows: int = 0,
        alone: bool = False,
    ) -> None:
        self.seed = seed
        self.random = random.Random(seed + attempt * 2**40)
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.depth = 1
        self.loops = 0
        #: How many helper functions the statements are in, one called by the other.
        self.calls = 0
        self.env: list[Value] = []
        self.used: set[str] = set()
        #: Variables that branches must not change: what loops assumed of them would not hold.
        self.frozen: set[str] = set()
        self.arguments: list[Argument] = []
        self.count = 0
        #: The program is about loops that several groups of warps run.
        self.partitions = partitions
        #: Descriptors are served by the copy engine where it can.
        self.copies = copies
        #: The program uses what loads leave undefined: see memory.masked_load.
        self.forgets = forgets
        #: Extents need not be powers of two.
        self.shapes = shapes
        #: Of the blocks of attention with which the program begins; 0 if it need not begin so.
        self.rows = rows
        #: The program is for one tile of many, whose sums are in tensor memory.
        self.alone = alone
        self.config = self.choose_config()
        self.grid = self.choose_grid()
        #: Small programs are quick to compile; a few are large.
        self.max_numel = self.random.choice((64, 256, 512, 1024, 1024, 2048))
        self.size = self.random.choice((3, 5, 8, 12, 16))
        if rows:  # Longer ones might not be rows.
            self.max_numel = 128

    # Chance.

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def choice(self, items: Any) -> Any:
        return self.random.choice(list(items))

    def choose_config(self) -> Config:
        if self.alone:
            return Config(90, self.choice((4, 4, 8)), self.choice((1, 2, 3, 3, 4)))
        if self.partitions:
            return Config(90, self.choice((1, 2, 4, 4, 4, 4, 8, 8)), self.choice((1, 2, 3, 3, 4)))
        return Config(
            self.choice(TARGETS), self.choice((1, 2, 4, 4, 4, 8, 16)), self.choice((1, 2, 3, 4))
        )

    def choose_grid(self) -> tuple[int, ...]:
        if self.chance(0.6):
            return (1,)
        return self.choice(((2,), (3,), (5,), (2, 2), (1, 3), (2, 1, 2)))

    @property
    def pure(self) -> bool:
        """Statements are in a helper function: no memory, no program ids."""
        return self.calls > 0

    @property
    def programs(self) -> int:
        return math.prod(self.grid)

    def extent(self, most: int, step: int = 1) -> int:
        """A power of two; or fewer, a multiple of `step`, where shapes are the subject."""
        if not self.shapes or most <= step or self.chance(0.3):
            return most
        return self.random.randint(most // step // 2 + 1, most // step) * step

    def choose_shape(self, max_rank: int = 4, least: int = 1) -> tuple[int, ...]:
        """A random shape; ranks 1 and 2 are common, and so are shapes in use already."""
        known = [v.shape for v in self.env if v.shape and len(v.shape) <= max_rank]
        if known and self.chance(0.5):
            return self.choice(known)
        rank = min(max_rank, self.choice((1, 1, 1, 2, 2, 2, 3, 3, 4)))
        budget = self.max_numel.bit_length() - 1
        shape = []
        for _ in range(rank):
            log = self.random.randint(0, max(0, min(budget, 7 if rank > 1 else 11)))
            budget -= log
            shape.append(self.extent(2**log))
        self.random.shuffle(shape)
        return tuple(max(least, s) for s in shape)

    def choose_type(self) -> str:
        return self.choice((*INTEGERS, "i32", "i32", "i32", *FLOATS, "fp32", "fp32", "fp16", "i1"))

    # Text.

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def name(self, prefix: str = "v") -> str:
        """A name that nothing else has."""
        assert prefix not in PARAMETERS
        self.count += 1
        return f"{prefix}{self.count}"

    def let(self, text: str, type: str, shape: tuple[int, ...], **domain: Any) -> Value:
        """`name = text`, as a value that later statements may use."""
        value = Value(self.name(), type, tuple(shape), **domain)
        self.line(f"{value.name} = {text}")
        self.env.append(value)
        return value

    def like(self, text: str, value: Value, shape: Any = None, **changes: Any) -> Value:
        """A new value of which the same is known as of another."""
        shape = value.shape if shape is None else shape
        return self.let(text, value.type, shape, **{**value.domain(), **changes})

    def replace(self, value: Value, **changes: Any) -> Value:
        """Notes that a variable has another value now."""
        new = value.replace(**changes)
        self.env = [new if v.name == value.name else v for v in self.env]
        return new

    def lookup(self, name: str) -> Value:
        return next(v for v in self.env if v.name == name)

    @contextlib.contextmanager
    def block(self) -> Iterator[None]:
        """The body of an if or a loop: what it defines is gone after it."""
        known = {v.name for v in self.env}
        self.depth += 1
        yield
        self.depth -= 1
        self.env = [v for v in self.env if v.name in known]

    # Choice of operands.

    def pick(self, wanted: Callable[[Value], Any] = lambda v: True) -> Value | None:
        """A value that is `wanted`: mostly a recent one, or one that is not used yet."""
        found = [v for v in self.env if wanted(v)]
        if not found:
            return None
        fresh = [v for v in found if v.name not in self.used]
        if fresh and self.chance(0.4):
            value = self.choice(fresh)
        elif self.chance(0.5):
            value = self.choice(found[-4:])
        else:
            value = self.choice(found)
        self.used.add(value.name)
        return value

    def ints(self, value: Value) -> bool:
        return value.is_int

    # The program.

    def step(self) -> None:
        """Adds one statement of a random kind."""
        weights = [w for w, _ in PRODUCTIONS]
        for _ in range(20):
            (fn,) = self.random.choices([fn for _, fn in PRODUCTIONS], weights)
            if fn(self) is not False:
                return

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.step()

    def argument(self, role: str, type: str, prefix: str, **properties: Any) -> Argument:
        assert prefix in PARAMETERS
        known = sum(a.name.startswith(prefix) for a in self.arguments)
        argument = Argument(f"{prefix}{known}", role, type, **properties)
        self.arguments.append(argument)
        return argument

    def generate(self) -> Program:
        from .blocks import moved_blocks
        from .memory import source, store_value
        from .partitions import nest, product_loops
        from .persistent import persistent
        from .seen import seen

        if self.partitions:
            self.size = self.choice((0, 0, 0, 1) if self.alone else (0, 1, 2, 4))
            for _ in range(1 if self.alone else self.choice((1, 1, 1, 2))):
                kind = self.choice((product_loops, product_loops, nest, persistent))
                (product_loops if self.rows else persistent if self.alone else kind)(self)
            if not self.alone and self.chance(0.2):
                moved_blocks(self)
            if self.copies and self.chance(0.25):
                seen(self)
        for _ in range(self.random.randint(1, 3)):
            source(self)
        self.steps(self.size)
        leaves = [v for v in self.env if v.name not in self.used]
        others = [v for v in self.env if v.name in self.used]
        self.random.shuffle(others)
        for value in [*leaves[-8:], *others[: self.random.randint(0, 2)]]:
            store_value(self, value)
        return Program(self.seed, self.text(), tuple(self.arguments), self.grid, self.config)

    def text(self) -> str:
        parameters = [
            f"{a.name}: tl.constexpr" if a.role == "constexpr" else a.name for a in self.arguments
        ]
        header = ["@tile.jit", f"def kernel({', '.join(parameters)}):"]
        if len(self.grid) > 1:
            axes = range(len(self.grid))
            index = "tl.program_id(0)"
            for axis in axes[1:]:
                index = f"({index}) * {self.grid[axis]} + tl.program_id({axis})"
            header.append(f"    pid = {index}")
        elif self.programs > 1:
            header.append("    pid = tl.program_id(0)")
        else:
            header.append("    pid = 0")
        text = ["import tile", "import tile.language as tl"]
        text += ["from tile.language.extra import libdevice", "", ""]
        for function in self.functions:
            text += [function, "", ""]
        return "\n".join([*text, *header, *self.lines, ""])


def generate(
    seed: int,
    partitions: bool = False,
    copies: bool = False,
    forgets: bool = False,
    shapes: bool = False,
    rows: int = 0,
    alone: bool = False,
) -> Program:
    """The program of a seed. With `partitions` it has loops for partitions of warps, and with
    `copies` what is only right if the copy engine stores. With `forgets` it does not choose other
    values for what loads leave undefined. With `shapes` its extents are no powers of two. With
    `rows` it begins with attention of so many rows. With `alone` it is for one tile of many."""
    for attempt in range(100):
        with contextlib.suppress(Unsound):
            generator = Generator(seed, attempt, partitions, copies, forgets, shapes, rows, alone)
            return generator.generate()
    raise AssertionError(f"seed {seed} makes no program")


def offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    """The text of a block of offsets: the sum of index * stride."""
    terms = []
    for d, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        index = ", ".join(":" if i == d else "None" for i in range(len(shape)))
        term = f"tl.arange(0, {extent})" + (f"[{index}]" if len(shape) > 1 else "")
        terms.append(term if stride == 1 else f"{term} * {stride}")
    return " + ".join(terms)


def contiguous(shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """Strides of a dense array whose dimensions are from slow to fast in `order`."""
    strides = [0] * len(shape)
    step = 1
    for d in reversed(order or range(len(shape))):
        strides[d] = step
        step *= shape[d]
    return tuple(strides)


__all__ = ["PRODUCTIONS", "TYPES", "Generator", "contiguous", "generate", "offsets", "production"]
