"""Helper functions: inlined and called, with early returns; functions of scalars."""

from __future__ import annotations

from typing import Any

from .elementwise import compatible
from .generator import Generator, production
from .values import Value, join


@production(1)
def call(g: Generator) -> Any:
    """A call of a function that is written for it."""
    if g.pure or g.depth > 3:
        return False
    known = [v for v in g.env if v.name not in g.frozen]
    if not known:
        return False
    passed = g.random.sample(known, min(len(known), g.random.randint(1, 3)))
    name = g.name("g")
    saved = g.lines, g.env, g.depth, g.loops, g.used, g.max_numel
    parameters = [v.replace(name=f"a{i}") for i, v in enumerate(passed)]
    g.lines, g.env, g.depth, g.pure = [], list(parameters), 1, True
    g.loops, g.used = 0, set()
    g.max_numel = min(g.max_numel, 512)
    try:
        g.steps(g.random.randint(1, 4))
        results = [v for v in g.env if v.name not in {p.name for p in parameters}][-2:]
        if not results:
            return False
        early = None
        if g.chance(0.3):
            early = early_return(g, results)
        g.line(f"return {', '.join(v.name for v in results)}")
        lines = g.lines
    finally:
        g.lines, g.env, g.depth, g.loops, g.used, g.max_numel = saved
        g.pure = False
    decorator = "@tile.jit(noinline=True)" if g.chance(0.25) else "@tile.jit"
    defaults = ", scale=1" if g.chance(0.2) else ""
    header = f"def {name}({', '.join(p.name for p in parameters)}{defaults}):"
    g.functions.append("\n".join([decorator, header, *lines]))
    names = [g.name() for _ in results]
    g.line(f"{', '.join(names)} = {name}({', '.join(v.name for v in passed)})")
    for new, result in zip(names, results, strict=True):
        other = early.get(result.name) if early else None
        domain = result.domain() if other is None else join(result, other)
        if other is not None and not result.is_float:
            domain = {"low": None, "high": None, **domain}
        g.env.append(Value(new, result.type, result.shape, **domain))
    g.used.update(v.name for v in passed)
    return None


def early_return(g: Generator, results: list[Value]) -> dict[str, Value] | None:
    """A return in a branch, of values of the same types."""
    from .control import condition

    others = {}
    for result in results:
        other = g.pick(lambda v, r=result: v.type == r.type and v.shape == r.shape)
        if other is None or not compatible(other, result):
            return None
        others[result.name] = other
    text = condition(g)
    if text is None:
        return None
    g.line(f"if {text}:")
    g.line(f"    return {', '.join(others[r.name].name for r in results)}")
    return others


MAPPED = (
    "def {n}(a):\n    if a > 3:\n        r = a * 2\n    else:\n        r = a - 1\n    return r",
    "def {n}(a):\n    r = a\n    while r > 10:\n        r = r // 2\n    return r",
)


@production(0.4)
def mapped(g: Generator) -> Any:
    """map_elementwise: a function of scalars with branches."""
    x = g.pick(lambda v: v.shape and v.type in ("i32", "i64"))
    if x is None or g.pure:
        return False
    name = g.name("m")
    g.functions.append("@tile.jit\n" + g.choice(MAPPED).format(n=name))
    return g.let(f"tl.map_elementwise({name}, {x.name})", x.type, x.shape)
