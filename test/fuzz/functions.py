"""Helper functions: inlined and called, with early returns; functions of scalars."""

from __future__ import annotations

from typing import Any

from .elementwise import compatible
from .generator import Generator, production
from .values import Value, join


@production(2)
def call(g: Generator) -> Any:
    """A call of a function that is written for it, and that may call others."""
    if g.calls > 2 or g.depth > 3:
        return False
    known = [v for v in g.env if v.name not in g.frozen]
    if not known:
        return False
    passed = g.random.sample(known, min(len(known), g.random.randint(1, 3)))
    name = g.name("g")
    saved = g.lines, g.env, g.depth, g.loops, g.used, g.max_numel, g.frozen
    parameters = [v.replace(name=f"a{i}") for i, v in enumerate(passed)]
    g.lines, g.env, g.depth = [], list(parameters), 1
    g.loops, g.used, g.frozen = 0, set(), set()
    g.calls += 1
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
        g.lines, g.env, g.depth, g.loops, g.used, g.max_numel, g.frozen = saved
        g.calls -= 1
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


#: Functions, of how many operands, and how many results they have.
MAPPED = (
    ("def {n}(a):\n    if a > 3:\n        r = a * 2\n    else:\n        r = a - 1\n"
     "    return r", 1, 1),
    ("def {n}(a):\n    r = a\n    while r > 10:\n        r = r // 2\n    return r", 1, 1),
    ("def {n}(a):\n    if a > 7:\n        return a\n    return a ^ 5", 1, 1),
    ("def {n}(a, b):\n    if a > b:\n        return b, a\n    return a, b", 2, 2),
    ("def {n}(a, b):\n    r = a\n    for i in range(3):\n        if r > b:\n            r = r - b\n"
     "    return r", 2, 1),
    ("def {n}(a, b, c):\n    r = c\n    if (a & 1) == 0:\n        r = tl.maximum(a, b)\n"
     "    elif b > c:\n        r = b\n    return r, a + b + c", 3, 2),
)  # fmt: skip

#: The same of two neighbours of each operand. The last one gives both something of the other.
PACKED = (
    ("def {n}(a, b):\n    if a > 3:\n        a = a * 2\n    if b > 3:\n        b = b * 2\n"
     "    return a, b", 1, 1),
    ("def {n}(a, b, c, d):\n    r = a\n    s = b\n    if a > c:\n        r = c\n    if b > d:\n"
     "        s = d\n    return r, s, a + c, b + d", 2, 2),
    ("def {n}(a, b):\n    if a > b:\n        return b, a * 2\n    return a - b, b", 1, 1),
)  # fmt: skip


@production(0.7)
def mapped(g: Generator) -> Any:
    """map_elementwise: a function of scalars with branches, of one element or of two at a time."""
    x = g.pick(lambda v: v.shape and v.is_int and v.info.bits >= 16)
    if x is None or g.calls:
        return False
    pack = 2 if g.chance(0.3) and x.shape[-1] % 2 == 0 else 1
    text, operands, results = g.choice(PACKED if pack == 2 else MAPPED)
    name = g.name("m")
    g.functions.append("@tile.jit\n" + text.format(n=name))
    values = [x]
    for _ in range(operands - 1):
        other = g.pick(lambda v: v.type == x.type and v.shape == x.shape)
        values.append(other or g.let(f"{x.name} * 3 + 1", x.type, x.shape))
    arguments = ", ".join(v.name for v in values) + (f", pack={pack}" if pack > 1 else "")
    names = [g.name() for _ in range(results)]
    g.line(f"{', '.join(names)} = tl.map_elementwise({name}, {arguments})")
    g.env += [Value(new, x.type, x.shape) for new in names]
    return None
