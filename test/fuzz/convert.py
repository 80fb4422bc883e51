"""Bringing a value to another type and shape, as assignments in branches and loops need it."""

from __future__ import annotations

from typing import Any

from .generator import Generator
from .values import TYPES, Value, broadcast, fits, limits


def tl_type(type: str) -> str:
    return TYPES[type].tl


def finite(g: Generator, value: Value, bound: float = 64.0) -> Value:
    """The exact value without NaN and infinities, at most `bound`, of 32 bits at least."""
    if value.is_plain and value.bound <= bound:
        return value
    wide = value
    if value.info.bits < 32:
        wide = g.like(f"{value.name}.to(tl.float32)", value.replace(type="fp32"))
    text = f"tl.minimum(tl.maximum({wide.name}, {-bound}), {bound})"
    if wide.special:
        text = f"tl.where({wide.name} == {wide.name}, {text}, 1.0)"
    grid = value.grid if value.kind == "exact" and value.grid <= 4 else 0
    if value.kind != "exact" or value.grid > 4:
        text = f"tl.floor({text})"
    return g.let(text, wide.type, value.shape, bound=bound, grid=grid)


def to_integer(g: Generator, value: Value, type: str) -> Value:
    """A float as an integer; out of range is not defined, so it is clamped."""
    low, high = limits(type)
    bound = float(min(64, high))
    small = finite(g, value, bound)
    if low == 0:
        small = g.like(f"tl.abs({small.name})", small)
    top = int(small.bound)
    return g.let(
        f"{small.name}.to({tl_type(type)})", type, value.shape, low=-top if low else 0, high=top
    )


def to_float(g: Generator, value: Value, type: str) -> Value:
    """An integer as an exact float."""
    if value.is_bool:
        return g.let(f"{value.name}.to({tl_type(type)})", type, value.shape, bound=1.0)
    bound = min(8, TYPES[type].digits)
    if value.low is not None and value.high is not None:
        known = max(abs(value.low), abs(value.high))
        if fits(known, 0, type):
            return g.let(f"{value.name}.to({tl_type(type)})", type, value.shape, bound=float(known))
    width = 2 ** g.random.randint(2, bound - 1)
    text, name = f"({value.name} & {width - 1})", value.name
    if value.info.kind == "i" and g.chance(0.5):
        text = f"(({name} & {width - 1}) - {width // 2})"
    return g.let(f"{text}.to({tl_type(type)})", type, value.shape, bound=float(width))


def float_to_float(g: Generator, value: Value, type: str) -> Value | None:
    """Another precision: rounded to the nearest, or with some chance towards zero."""
    source, target = value.info, TYPES[type]
    text = f"{value.name}.to({target.tl})"
    if target.bits > source.bits:
        return g.let(text, type, value.shape, **value.domain())
    if target.bits == source.bits and source.bits == 8:
        return None
    if value.kind == "approx":
        error = value.error + value.bound * 2.0 ** (1 - target.digits)
        if value.bound > target.largest or error > value.bound / 16:
            return None
        return g.let(text, type, value.shape, **{**value.domain(), "error": error})
    if value.kind == "wild":
        if target.bits == 8:
            return None
        return g.let(text, type, value.shape, **{**value.domain(), "special": True})
    if value.bound > target.largest / 2 or value.grid > 4:
        return None
    if value.special and target.bits == 8:
        return None
    if target.bits < source.bits and g.chance(0.2) and source.name == "fp32":
        text = f"{value.name}.to({target.tl}, fp_downcast_rounding='{g.choice(('rtz', 'rtne'))}')"
    # Rounding keeps a multiple of 2**-grid one, but may carry up to the next power of two.
    if fits(value.bound, value.grid, type):
        return g.let(text, type, value.shape, **value.domain())
    bound = 2.0 ** (int(value.bound).bit_length() + 1)
    return g.let(text, type, value.shape, **{**value.domain(), "bound": bound})


def to_type(g: Generator, value: Value, type: str) -> Value | None:
    """The value converted; None if what is known of it does not allow that."""
    if value.type == type:
        return value
    target = TYPES[type]
    if target.kind == "b":
        if not value.is_exact or (value.is_float and value.info.bits == 8):
            return None
        return g.let(f"{value.name} != 0", type, value.shape)
    if value.is_float and target.kind == "f":
        return float_to_float(g, value, type)
    if value.is_float:
        return to_integer(g, value, type) if value.is_exact else None
    if target.kind == "f":
        return to_float(g, value, type)
    domain: dict[str, Any] = {}
    low, high = limits(type)
    if value.is_bool:
        domain = {"low": 0, "high": 1}
    elif (
        value.low is not None and value.high is not None and low <= value.low <= value.high <= high
    ):
        domain = {"low": value.low, "high": value.high}
    return g.let(f"{value.name}.to({target.tl})", type, value.shape, **domain)


def to_scalar(g: Generator, value: Value) -> Value:
    """One number of a block, in which every element plays its part."""
    if not value.shape:
        return value
    if value.numel == 1:
        return g.like(f"tl.reshape({value.name}, ())", value, ())
    if value.is_bool:
        return g.let(f"tl.reduce_or({value.name}.to(tl.int32), None) != 0", "i1", ())
    if value.is_int:
        wide = value
        if value.info.bits < 32:
            wide = to_type(g, value, "i32")
            assert wide is not None
        return g.let(f"tl.xor_sum({wide.name}, None)", wide.type, ())
    reduced = g.choice(("max", "min"))
    type = value.type if value.info.bits >= 32 else "fp32"
    source = value.replace(type=type)
    return g.like(f"tl.{reduced}({value.name}, None)", source, ())


def to_shape(g: Generator, value: Value, shape: tuple[int, ...]) -> Value | None:
    """The value in another shape: reshaped, broadcast, or reduced and repeated."""
    if value.shape == shape:
        return value
    if not shape:
        return to_scalar(g, value)
    if not value.shape:
        return g.like(f"tl.full({list(shape)}, {value.name}, {value.info.tl})", value, shape)
    if value.numel == _numel(shape):
        return g.like(f"tl.reshape({value.name}, {list(shape)})", value, shape)
    if broadcast(value.shape, shape) == shape and len(value.shape) == len(shape):
        return g.like(f"tl.broadcast_to({value.name}, {list(shape)})", value, shape)
    if value.rank > 1 and value.is_float:
        axis = g.random.randrange(value.rank)
        type = value.type if value.info.bits >= 32 else "fp32"
        rest = value.shape[:axis] + value.shape[axis + 1 :]
        less = g.like(f"tl.max({value.name}, {axis})", value.replace(type=type), rest)
        return to_shape(g, less, shape)
    return to_shape(g, to_scalar(g, value), shape)


def _numel(shape: tuple[int, ...]) -> int:
    result = 1
    for extent in shape:
        result *= extent
    return result


def coerce(g: Generator, value: Value, type: str, shape: tuple[int, ...]) -> Value | None:
    """The value in another shape and type; None if it cannot be."""
    shaped = to_shape(g, value, shape)
    return None if shaped is None else to_type(g, shaped, type)
