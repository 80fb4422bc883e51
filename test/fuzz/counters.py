"""Loops that do nothing but count, over ranges of any type that may end where the type ends; what
they come to is known from Python's own ranges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .generator import Generator, production
from .values import TYPES, limits

COUNTERS = ("i32", "i32", "i32", "i64", "i64", "u32", "u64", "i16", "u8")


def signed(number: int) -> int:
    """What 64 bits make of a number."""
    return (number + 2**63) % 2**64 - 2**63


@dataclass(frozen=True)
class Count:
    """A range, and what happens in an iteration of it."""

    type: str
    first: int
    end: int
    step: int
    #: "", "break", "continue" or "return", and of which iteration.
    leave: str = ""
    at: int = 0
    #: It happens at the end of the iteration, not at its beginning.
    late: bool = False
    #: Iterations of a loop in the loop, as many as the counter says.
    inner: int = 0

    def result(self) -> int:
        """What the loop makes of 1."""
        v = 1
        for i in range(self.first, self.end, self.step):
            if self.leave and not self.late and i == self.at:
                if self.leave == "continue":
                    continue
                break
            v = v * 3 + i
            if self.inner:
                for j in range(signed(i) % self.inner):
                    v = v * 5 + j
            if self.leave == "break" and self.late and i == self.at:
                break
            if self.leave == "return" and self.late and i == self.at:
                v += 7
                break
        return signed(v)


def choose_ends(
    g: Generator, type: str, trips: int, step: int, down: bool
) -> tuple[int, int] | None:
    """The ends of a range of so many iterations, often next to an end of its type; None
    where that has no room."""
    low, high = limits(type)
    where = g.choice(("zero", "high", "low", "middle"))
    width = trips * step - (g.random.randrange(step) if trips else 0)
    if where == "zero":
        first = 0
    elif where == "middle":
        first = g.random.randint(min(low // 4 + width, high // 4), high // 4)
    elif where == "high":
        first = high if down else high - width
    else:
        first = low + width if down else low
    if trips == 0:
        end = first + (1 if down and first < high else -1 if not down and first > low else 0)
    else:
        end = first - width if down else first + width
    return (first, end) if low <= first <= high and low <= end <= high else None


def choose_count(g: Generator) -> Count:
    """A range of a few iterations."""
    type = g.choice(COUNTERS)
    step = g.choice((1, 1, 2, 3, 7))
    trips = g.choice((0, 1, 2, 3, 5, 6))
    down = TYPES[type].kind == "i" and g.chance(0.35)
    ends = choose_ends(g, type, trips, step, down)
    if ends is None:
        ends, down = (0, trips * step), False
    first, end = ends
    leave = g.choice(("", "", "break", "continue", "return"))
    values = list(range(first, end, -step if down else step)) or [0]
    return Count(type, first, end, -step if down else step, leave, g.choice(values),
                 leave in ("break", "return") and g.chance(0.5), g.choice((0, 0, 3)))  # fmt: skip


def bounds(g: Generator, count: Count) -> list[str]:
    """The texts of the ends and of the step of a range of its type: from memory, as an argument, or
    as constants."""
    texts = []
    for value in (count.first, count.end):
        if count.type in ("i32", "i64") and g.chance(0.5):
            role = "n" if count.type == "i32" else "w"
            texts.append(g.argument("scalar", count.type, role, value=value).name)
        elif count.type == "i32" and g.chance(0.4):
            texts.append(str(value))
        else:
            texts.append(f"tl.load({argument_of(g, count.type, value)})")
    return [*texts, str(count.step)]


def body(g: Generator, count: Count, header: str, counter: str, v: str) -> list[str]:
    """The lines of a loop."""
    wide = f"{counter}.to(tl.int64)"
    lines = [header]
    test = [f"    if {wide} == {signed(count.at)}:"]
    leave = f"        {count.leave}" + (f" {v} + 7" if count.leave == "return" else "")
    if count.leave == "return" and not count.late:
        leave = f"        return {v}"
    if count.leave and not count.late:
        lines += [*test, leave]
    lines.append(f"    {v} = {v} * 3 + {wide}")
    if count.inner:
        j = g.name("j")
        # The remainder of Python, which is never negative here.
        rest = f"(({wide} % {count.inner} + {count.inner}) % {count.inner}).to(tl.int32)"
        lines += [f"    for {j} in range({rest}):", f"        {v} = {v} * 5 + {j}"]
    if count.leave and count.late:
        lines += [*test, leave]
    return lines


@production(1.5)
def counting(g: Generator) -> Any:
    """A loop in the kernel, or in a function that may return from it."""
    if g.pure or g.loops or g.depth > 1:
        return False
    count = choose_count(g)
    begin, end, step = bounds(g, count)
    options = g.choice(("", "", "", ", num_stages=3", ", flatten=True", ", loop_unroll_factor=2"))
    i, v = g.name("i"), g.name()
    if count.leave == "return" or g.chance(0.3):
        name = g.name("h")
        lines = body(g, count, f"for {i} in tl.range(a, b, {step}{options}):", i, "v")
        text = "\n".join(f"    {line}" for line in ["v = tl.full([], 1, tl.int64)", *lines])
        decorator = f"@tile.jit(noinline={g.chance(0.5)})"
        g.functions.append(f"{decorator}\ndef {name}(a, b):\n{text}\n    return v")
        g.line(f"{v} = {name}({begin}, {end})")
    else:
        g.line(f"{v} = tl.full([], 1, tl.int64)")
        for line in body(g, count, f"for {i} in tl.range({begin}, {end}, {step}{options}):", i, v):
            g.line(line)
    out = g.argument("output", "i64", "o", size=g.programs, flavour="poison",
                     known=f"np.full({g.programs}, {count.result()})")  # fmt: skip
    g.line(f"tl.store({out.name}{' + pid' if g.programs > 1 else ''}, {v})")
    return None


def odd_range(g: Generator, trips: int, options: str) -> str:
    """The header of a loop of so many iterations whose counter is of any type, near its ends, with
    steps of any size, and the first line of its body. Returns the name that this gives the number
    of the iteration, which comes from the counter, or from iterations before."""
    type = g.choice(COUNTERS)
    half = 2 ** (TYPES[type].bits - 1) - 1
    most = half // max(trips, 1)
    step = min(most, g.choice((1, 1, 2, 3, 7, 64, most, max(1, most // 2))))
    down = TYPES[type].kind == "i" and g.chance(0.35)
    ends = choose_ends(g, type, trips, step, down)
    if ends is None:
        ends, down = (0, trips * step), False
    count = Count(type, *ends, -step if down else step)
    begin, end, stride = bounds(g, count)
    if TYPES[type].bits >= 32 and not down and g.chance(0.3):
        stride = f"tl.load({argument_of(g, type, step)})"
    start, counter, number = g.name("b"), g.name("i"), g.name("k")
    g.line(f"{start} = {begin}")
    loop = f"for {counter} in tl.range({start}, {end}, {stride}{options}):"
    how = g.choice(("counter", "counter", "carried", "ahead"))
    if how == "counter":
        distance = f"{start} - {counter}" if down else f"{counter} - {start}"
        g.line(loop)
        g.line(f"    {number} = (({distance}) // {step}).to(tl.int32)")
    elif how == "carried":
        g.line(f"{number} = -1")
        g.line(loop)
        g.line(f"    {number} += 1")
    else:
        # Handed on for several iterations.
        names = [g.name("k") for _ in range(g.random.randint(1, 3))]
        g.line(f"{', '.join(names)}, = {', '.join(map(str, range(len(names))))},")
        g.line(loop)
        g.line(f"    {number} = {names[0]}")
        for name, later in zip(names, [*names[1:], f"{number} + {len(names)}"], strict=True):
            g.line(f"    {name} = {later}")
    return number


def argument_of(g: Generator, type: str, value: int) -> str:
    """The name of an array that has one element."""
    return g.argument("input", type, "x", flavour="small", low=value, high=value).name
