"""Changes of shape, and orders of elements."""

from __future__ import annotations

import itertools
import math
from typing import Any

from .elementwise import compatible, same
from .generator import Generator, production
from .memory import index_of, wrap
from .values import Value, broadcast, join


def block(value: Value) -> bool:
    return bool(value.shape)


@production(2)
def transpose(g: Generator) -> Any:
    x = g.pick(lambda v: v.rank > 1)
    if x is None:
        return False
    order = list(range(x.rank))
    g.random.shuffle(order)
    shape = tuple(x.shape[d] for d in order)
    if g.chance(0.3):
        order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
        shape = tuple(x.shape[d] for d in order)
        return g.like(f"tl.trans({x.name})", x, shape)
    return g.like(f"tl.permute({x.name}, {order})", x, shape)


def prime_factors(number: int) -> list[int]:
    found, factor = [], 2
    while number > 1:
        if number % factor:
            factor += 1
        else:
            found.append(factor)
            number //= factor
    return found


@production(2)
def reshape(g: Generator) -> Any:
    x = g.pick(block)
    if x is None:
        return False
    # The prime factors, dealt out.
    factors = prime_factors(x.numel)
    rank = g.random.randint(1, 4)
    if g.shapes:
        g.random.shuffle(factors)
    cuts = sorted(g.random.randint(0, len(factors)) for _ in range(rank - 1))
    edges = [0, *cuts, len(factors)]
    shape = tuple(math.prod(factors[a:b]) for a, b in itertools.pairwise(edges))
    if g.chance(0.15):
        return g.like(f"tl.ravel({x.name})", x, (x.numel,))
    return g.like(f"tl.reshape({x.name}, {list(shape)})", x, shape)


@production(2)
def expand(g: Generator) -> Any:
    x = g.pick(lambda v: v.rank < 4)
    if x is None:
        return False
    axis = g.random.randint(0, x.rank)
    shape = (*x.shape[:axis], 1, *x.shape[axis:])
    if g.chance(0.5) or not x.shape:
        return g.like(f"tl.expand_dims({x.name}, {axis})", x, shape)
    index = ", ".join([*[":"] * axis, "None", *[":"] * (x.rank - axis)])
    return g.like(f"{x.name}[{index}]", x, shape)


@production(2)
def repeat(g: Generator) -> Any:
    x = g.pick(lambda v: 1 in v.shape)
    if x is None:
        return False
    shape = tuple(g.choice((1, 2, 4, 8, 16, 32)) if s == 1 else s for s in x.shape)
    if broadcast(x.shape, shape) != shape or _numel(shape) > 2 * g.max_numel:
        return False
    return g.like(f"tl.broadcast_to({x.name}, {list(shape)})", x, shape)


@production(0.5)
def squeeze(g: Generator) -> Any:
    x = g.pick(lambda v: 1 in v.shape and v.rank > 1)
    if x is None:
        return False
    axis = x.shape.index(1)
    return g.like(f"tl.squeeze({x.name}, {axis})", x, (*x.shape[:axis], *x.shape[axis + 1 :]))


@production(1.2)
def pair(g: Generator) -> Any:
    """Two blocks as one: join, interleave or cat."""
    x = g.pick(lambda v: v.rank < 4 and v.numel <= g.max_numel)
    if x is None:
        return False
    y = same(g, x)
    if y is None or not compatible(x, y):
        return False
    known = join(x, y)
    how = g.choice(("join", "interleave", "cat"))
    if how == "join" or not x.shape:
        return g.let(f"tl.join({x.name}, {y.name})", x.type, (*x.shape, 2), **known)
    if how == "interleave":
        shape = (*x.shape[:-1], 2 * x.shape[-1])
        return g.let(f"tl.interleave({x.name}, {y.name})", x.type, shape, **known)
    axis = g.random.randrange(x.rank)
    shape = tuple(2 * s if d == axis else s for d, s in enumerate(x.shape))
    return g.let(f"tl.cat({x.name}, {y.name}, dim={axis})", x.type, shape, **known)


@production(1)
def split(g: Generator) -> Any:
    x = g.pick(lambda v: v.shape and v.shape[-1] == 2)
    if x is None:
        x = g.pick(lambda v: v.shape and v.shape[-1] > 2 and v.shape[-1] % 2 == 0 and v.rank < 4)
        if x is None:
            return False
        shape = (*x.shape[:-1], x.shape[-1] // 2, 2)
        x = g.like(f"tl.reshape({x.name}, {list(shape)})", x, shape)
    first, second = g.name(), g.name()
    g.line(f"{first}, {second} = tl.split({x.name})")
    for name in (first, second):
        g.env.append(x.replace(name=name, shape=x.shape[:-1]))
    return None


@production(1)
def gather(g: Generator) -> Any:
    """Elements in an order that data gives."""
    x = g.pick(lambda v: v.shape and not v.is_bool)
    if x is None:
        return False
    axis = g.random.randrange(x.rank)
    length = x.shape[axis] if g.chance(0.6) else g.extent(g.choice((1, 2, 8, 32)))
    shape = tuple(length if d == axis else s for d, s in enumerate(x.shape))
    if _numel(shape) > 2 * g.max_numel:
        return False
    index = index_of(g, x.shape[axis], shape)
    if index is None:
        parts = ", ".join(":" if d == axis else "None" for d in range(x.rank))
        ramp = f"tl.arange(0, {length})" + (f"[{parts}]" if x.rank > 1 else "")
        factor = g.choice((1, 3, 5))
        wrapped = wrap(f"({ramp} * {factor} + 1)", x.shape[axis])
        text = f"tl.broadcast_to({wrapped}, {list(shape)})"
        index = g.let(text, "i32", shape, low=0, high=x.shape[axis] - 1)
    return g.like(f"tl.gather({x.name}, {index.name}, {axis})", x, shape)


@production(0.6)
def flip(g: Generator) -> Any:
    x = g.pick(lambda v: v.shape and not v.is_bool)
    if x is None:
        return False
    axis = g.random.randrange(x.rank)
    return g.like(f"tl.flip({x.name}, {axis})", x)


def _numel(shape: tuple[int, ...]) -> int:
    result = 1
    for extent in shape:
        result *= extent
    return result
