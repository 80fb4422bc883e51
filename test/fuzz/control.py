"""Branches and loops."""

from __future__ import annotations

import contextlib
from typing import Any

from .convert import coerce, to_scalar
from .elementwise import compatible
from .generator import Generator, Unsound, production
from .memory import scalar_argument, store_value
from .values import Value, fits, join


def condition(g: Generator) -> str | None:
    """The text of a scalar condition, from data or arguments."""
    how = g.random.random()
    if how < 0.2 and g.programs > 1 and not g.pure:
        return f"pid {g.choice(('==', '!=', '>', '<='))} {g.random.randint(0, g.programs - 1)}"
    if how < 0.4 and not g.pure:
        number = g.choice((0, 1, 5))
        return f"{scalar_argument(g, number)} {g.choice(('>', '=='))} {g.choice((0, 1, 3))}"
    value = g.pick(lambda v: v.is_exact)
    if value is None:
        return None
    number = to_scalar(g, value)
    if number.is_bool:
        return number.name
    if number.is_float:
        return f"{number.name} {g.choice(('>', '<', '=='))} {g.choice((0.0, 1.0))}"
    if g.chance(0.5):
        return f"({number.name} & {g.choice((1, 3))}) {g.choice(('==', '!='))} 0"
    if number.info.kind == "i":
        return f"{number.name} {g.choice(('>', '<'))} 0"
    return f"{number.name} > 17"


def carried(g: Generator, most: int = 3) -> list[Value]:
    """Variables that a branch or a loop will change."""
    found = [v for v in g.env if v.is_exact and v.name not in g.frozen]
    g.random.shuffle(found)
    return found[: g.random.randint(1, most)]


def assign(g: Generator, target: Value) -> bool:
    """Gives a variable another value of its type and shape; what is known of it may widen."""
    current = g.lookup(target.name)
    for _ in range(4):
        other = g.pick(lambda v: v.name != target.name and v.is_exact and near(v, target))
        if other is None:
            other = g.pick(lambda v: v.name != target.name and v.is_exact)
        if other is None:
            return False
        new = coerce(g, other, target.type, target.shape)
        if new is None or not compatible(current, new):
            continue
        g.line(f"{target.name} = {new.name}")
        g.used.add(new.name)
        g.replace(current, **{**blank(), **new.domain()})
        return True
    return False


def near(a: Value, b: Value) -> bool:
    return a.type == b.type and a.shape == b.shape


def blank() -> dict[str, Any]:
    return {"low": None, "high": None}


@production(2.5)
def branch(g: Generator) -> Any:
    """An if, with or without an else."""
    if g.depth > 3:
        return False
    targets = carried(g)
    text = condition(g)
    if text is None or not targets:
        return False
    before = {v.name: g.lookup(v.name) for v in targets}
    g.line(f"if {text}:")
    then = body(g, targets, before)
    otherwise = before
    if g.chance(0.6):
        g.line("else:")
        otherwise = body(g, targets, before)
    for name in before:
        a, b = then[name], otherwise[name]
        if not compatible(a, b):
            raise Unsound
        g.replace(before[name], **{**blank(), **join(a, b)})
    return None


def body(g: Generator, targets: list[Value], before: dict[str, Value]) -> dict[str, Value]:
    """One side of an if: some statements, then assignments. What the variables are after it."""
    with g.block():
        g.steps(g.random.randint(0, 3))
        wrote = False
        for target in targets:
            if g.chance(0.8):
                wrote |= assign(g, target)
        if not wrote:
            g.line("pass")
    after = {}
    for target in targets:
        new = g.lookup(target.name)
        after[target.name] = new
        if not compatible(new, before[target.name]):
            # The statement stands, but it must go: no later use is sound otherwise.
            raise Unsound
        g.replace(new, **{**blank(), **before[target.name].domain()})
    return after


def widen(g: Generator, value: Value) -> Value | None:
    """What is known of a variable at the start of any iteration: room to grow."""
    if not value.is_float:
        return g.replace(value, low=None, high=None)
    if value.kind == "wild":
        return g.replace(value, special=True)
    if value.grid > 4:
        return None
    bound = value.bound
    for larger in (bound * 2, bound * 8, 64.0, 512.0):
        if larger > bound and fits(larger * 4, value.grid, value.type):
            bound = larger
    if not fits(bound, value.grid, value.type):
        return None
    return g.replace(value, bound=bound, special=value.info.bits > 8 or value.special)


def update(g: Generator, start: Value) -> bool:
    """The assignment at the end of an iteration: within what was assumed at its start."""
    current = g.lookup(start.name)
    other = g.pick(
        lambda v: v.name != start.name and v.is_exact and near(v, start) and v.kind == start.kind
    )
    if other is None or g.chance(0.2):
        other = g.pick(lambda v: v.name != start.name and v.is_exact)
    if other is None:
        return False
    new = coerce(g, other, start.type, start.shape)
    if new is None:
        return False
    if not start.is_float:
        how = g.choice(("{v} = {n}", "{v} += {n}", "{v} = {v} * 3 + {n}", "{v} ^= {n}",
                        "{v} = tl.maximum({v}, {n})"))  # fmt: skip
        if start.is_bool:
            how = g.choice(("{v} = {n}", "{v} ^= {n}", "{v} = {v} & {n}"))
        g.line(how.format(v=start.name, n=new.name))
    elif start.kind == "wild":
        if new.kind == "approx":
            return False
        g.line(f"{start.name} = tl.where({start.name} > {new.name}, {start.name}, {new.name})")
    else:
        if new.kind != "exact" or new.grid > start.grid or start.info.bits == 8:
            return False
        text = f"tl.minimum(tl.maximum({new.name}, {-start.bound}), {start.bound})"
        if fits(start.bound + new.bound, start.grid, start.type) and g.chance(0.6):
            text = (
                f"tl.minimum(tl.maximum({start.name} + {new.name}, {-start.bound}), {start.bound})"
            )
        if start.info.bits < 32:  # The bounds are fp32, which then is the type of the result.
            text += f".to({start.info.tl})"
        g.line(f"{start.name} = {text}")
    g.replace(current, **start.domain())
    return True


def data_dependent(g: Generator, targets: list[Value]) -> str | None:
    """The text of a condition on what the loop changes."""
    found = [t for t in targets if t.is_int or t.is_bool]
    if not found:
        return None
    target = g.choice(found)
    if not target.shape:
        return target.name if target.is_bool else f"({target.name} & 7) != 3"
    if target.is_bool:
        return f"tl.sum({target.name}, None) > 2"
    if target.info.bits < 32:
        return f"tl.sum({target.name}, None) > 0"
    return f"(tl.xor_sum({target.name}, None) & 3) != 0"


def header(g: Generator, targets: list[Value]) -> tuple[str, int, int, list[str]] | None:
    """The first line of a loop, the counter's largest value + 1, its step, and lines of its end."""
    trips = g.choice((0, 1, 2, 3, 4, 5))
    name = g.name("i")
    how = g.random.random()
    if how < 0.15:
        return f"for {name} in tl.static_range({min(trips, 3)}):", min(trips, 3), 1, []
    if how < 0.3:
        return f"for {name} in range({trips - 1}, -1, -1):", max(trips, 1), 1, []
    if how < 0.45:
        limit = scalar_argument(g, trips)
        g.line(f"{name} = 0")
        text = data_dependent(g, targets) if g.chance(0.7) else None
        test = f"{name} < {limit}" if text is None else f"({name} < {limit}) and ({text})"
        return f"while {test}:", max(trips, 1), 1, [f"{name} += 1"]
    if how < 0.6 and g.programs > 1 and not g.pure:
        return f"for {name} in range(pid):", g.programs, 1, []
    bound = scalar_argument(g, trips) if g.chance(0.6) else str(trips)
    options = ""
    if g.chance(0.2):
        options += f", num_stages={g.random.randint(1, 4)}"
    if g.chance(0.1):
        options += f", loop_unroll_factor={g.choice((2, 4))}"
    if g.chance(0.1):
        options += ", flatten=True"
    if g.chance(0.1):
        options += ", warp_specialize=True"
    step = g.choice((1, 1, 1, 2, 3))
    return f"for {name} in tl.range(0, {bound}, {step}{options}):", max(trips, 1), step, []


@production(2.5)
def loop(g: Generator) -> Any:
    """A loop with variables that it carries from one iteration to the next."""
    if g.depth > 3 or g.loops > 1:
        return False
    targets = [t for t in carried(g) if widen(g, g.lookup(t.name)) is not None]
    if not targets:
        return False
    starts = [g.lookup(t.name) for t in targets]
    known = header(g, starts)
    if known is None:
        return False
    first, limit, _, last = known
    counter = first.split()[1] if first.startswith("for") else last[0].split()[0]
    static = "static_range" in first
    g.line(first)
    g.loops += 1
    frozen = g.frozen
    g.frozen = frozen | {v.name for v in g.env}
    with g.block():
        if not static:
            g.env.append(Value(counter, "i32", (), low=0, high=limit))
            g.frozen.add(counter)
        leaves = {v.name for v in g.env}
        if g.chance(0.15) and not static and not last and (text := condition(g)) is not None:
            g.line(f"if {text}:")
            g.line(f"    {g.choice(('break', 'continue'))}")
        g.steps(g.random.randint(1, 4))
        wrote = False
        for start in starts:
            text = condition(g) if g.chance(0.2) else None
            if text is not None:
                g.line(f"if {text}:")
            with g.block() if text is not None else contextlib.nullcontext():
                changed = update(g, start)
                if not changed and text is not None:
                    g.line("pass")
            wrote |= changed
        if g.loops == 1 and not g.pure and not static and g.chance(0.3):
            inner = [v for v in g.env if v.name not in leaves and v.name not in g.used]
            if inner:
                store_value(g, g.choice(inner), (counter, limit))
        for text in last:
            g.line(text)
        if not wrote and not last:
            g.line("pass")
    g.loops -= 1
    g.frozen = frozen
    for start in starts:
        g.replace(g.lookup(start.name), **start.domain())
    return None
