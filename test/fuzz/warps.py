"""Values that threads of a warp exchange."""

from __future__ import annotations

from typing import Any

from .generator import Generator, production
from .values import Value

#: The most lanes that a warp has on any target.
LANES = 64


def lanes(g: Generator) -> Value | None:
    """A block whose last dimension has whole warps."""
    x = g.pick(lambda v: v.shape and v.shape[-1] % LANES == 0 and not v.is_bool)
    if x is not None:
        return x
    x = g.pick(lambda v: v.numel % LANES == 0 and not v.is_bool)
    return None if x is None else g.like(f"tl.ravel({x.name})", x, (x.numel,))


@production(0.8)
def warp_exchange(g: Generator) -> Any:
    x = lanes(g)
    if x is None:
        return False
    how = g.choice(("up", "down", "xor", "index", "ballot", "match", "reduce"))
    if how in ("up", "down", "xor"):
        return g.like(f"tl.warp.shuffle({x.name}, {how}={g.random.randrange(32)})", x)
    if how == "index":
        index = g.pick(lambda v: v.is_int and v.shape in ((), x.shape))
        name = str(g.random.randrange(200)) if index is None else index.name
        return g.like(f"tl.warp.shuffle({x.name}, index={name})", x)
    if not x.is_int or (how == "match" and x.numel > 512):
        return False
    if how == "ballot":
        return g.let(f"tl.warp.ballot({x.name} > 3).to(tl.uint64)", "u64", x.shape)
    if how == "match":
        return g.let(f"tl.warp.match({x.name} & 3).to(tl.uint64)", "u64", x.shape)
    return g.let(f"tl.warp.reduce({x.name}, lambda a, b: a ^ b)", x.type, x.shape)
