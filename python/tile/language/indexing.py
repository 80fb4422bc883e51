"""``x[...]`` and ``x.at[...]``: parts of a block, read and replaced.

An index keeps a dimension, takes a part of it, or takes one element, by a constant or by a scalar
that is known at run time. Most parts are one element of a dimension of a reshaped block: `x[:,
8:16]` of 32 columns is `x.reshape(rows, 4, 8)[:, 1, :]`. Their step and length are powers of two
that divide the extent, and they begin at a multiple of them. Elements are picked by a reduction in
which all others are zero. Where they lie in registers, nothing is left of it in the code. Other
parts are gathered.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ..errors import SemanticError
from . import arithmetic
from . import dtypes as dt
from .collective import gather, reduce
from .conversion import bitcast, cast
from .creation import _insert_dim, _reshape, arange, checked_axis
from .promotion import broadcast_to_shape, constant, to_tensor
from .values import builtin, describe, member, one, slice, tensor, unwrap

_SLICES = (builtins.slice, slice)


@dataclass
class Picked:
    """One element of each line along a dimension, by a constant or a run-time scalar."""

    extent: int
    index: Any


@dataclass
class Gathered:
    """A part of a dimension that no reshape has: its first element, number of elements, step."""

    #: The dimension of the block, and that of `Place.shape`.
    axis: int
    at: int
    extent: int
    first: int
    count: int
    step: int


@dataclass
class Place:
    """What an index says of a block."""

    #: The shape in which everything is picked from whole dimensions.
    shape: list[int] = field(default_factory=list)
    #: Of dimensions of `shape`.
    picked: dict[int, Picked] = field(default_factory=dict)
    gathered: list[Gathered] = field(default_factory=list)
    #: The shape of the part, without the dimensions that None inserts.
    kept: list[int] = field(default_factory=list)
    #: Where None inserts dimensions of one element, in the shape that has them.
    new: list[int] = field(default_factory=list)

    @property
    def result(self) -> tuple[int, ...]:
        """The shape of the part."""
        shape = list(self.kept)
        for axis in self.new:
            shape.insert(axis, 1)
        return tuple(shape)


def place_of(block: tensor, items: Any) -> Place:
    """Reads an index of a block."""
    items = [unwrap(i) for i in (items if isinstance(items, (tuple, list)) else (items,))]
    shape = block.shape
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise SemanticError("an index has one `...` at most")
    missing = len(shape) - sum(1 for i in items if i is not None and i is not Ellipsis)
    if missing < 0:
        raise SemanticError(f"too many indices ({len(shape) - missing}) for {block.type}")
    if dots:
        items[dots[0] : dots[0] + 1] = [builtins.slice(None)] * missing
    else:
        items += [builtins.slice(None)] * missing
    place = Place()
    axis = at = 0
    for item in items:
        if item is None:
            place.new.append(at)
            at += 1
            continue
        if isinstance(item, _SLICES):
            _take_part(place, axis, shape[axis], item)
            at += 1
        else:
            place.picked[len(place.shape)] = Picked(shape[axis], _element(item, axis, shape[axis]))
            place.shape.append(shape[axis])
        axis += 1
    return place


def _element(index: Any, axis: int, extent: int) -> Any:
    """An index of one element, from 0."""
    if isinstance(index, tensor):
        return _run_time_element(index, axis, extent)
    if isinstance(index, bool) or not isinstance(index, int):
        raise SemanticError(
            f"a block is indexed with integers, slices, None and '...', not with {describe(index)}"
        )
    if not -extent <= index < extent:
        raise SemanticError(
            f"index {index} is out of range for dimension {axis}, which has {extent} "
            f"element{'s' * (extent != 1)}"
        )
    return index % extent


def _run_time_element(index: tensor, axis: int, extent: int) -> Any:
    if index.type.is_block():
        if index.dtype.is_bool():
            raise SemanticError(
                "how many elements x[mask] has is not known at compile time; use "
                "tl.where(mask, x, other), or a mask in tl.load, tl.store or tl.reduce"
            )
        raise SemanticError(
            "a block is not indexed with a block; use tl.gather(x, index, axis), or pointers"
        )
    if not index.dtype.is_int() or index.dtype.is_bool():
        raise SemanticError(f"a block is indexed with integers, not with {index.dtype}")
    if index.dtype.int_bitwidth < 32:
        index = cast(index, dt.int32)
    if index.dtype.is_int_signed():
        from_end = arithmetic.add(index, extent, sanitize_overflow=False)
        index = arithmetic.where(arithmetic.lt(index, 0), from_end, index)
    from .program import device_assert

    inside = arithmetic.logical_and(arithmetic.ge(index, 0), arithmetic.lt(index, extent))
    device_assert(inside, f"an index is out of range for dimension {axis} of {extent} elements")
    return index


def _bound(value: Any) -> int | None:
    value = unwrap(value)
    if isinstance(value, tensor):
        raise SemanticError(
            "slices need constant bounds; use tl.gather(x, start + tl.arange(0, n), axis), or "
            "pointers and masks, for run-time ones"
        )
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise SemanticError(f"the bounds of a slice are integers, not {describe(value)}")


def _is_power(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def _take_part(place: Place, axis: int, extent: int, item: Any) -> None:
    """Adds a slice of a dimension to a place."""
    start, stop, step = (_bound(getattr(item, n)) for n in ("start", "stop", "step"))
    if step == 0:
        raise SemanticError("a slice has a step other than 0")
    elements = builtins.range(*builtins.slice(start, stop, step).indices(extent))
    count, first, step = len(elements), elements.start, elements.step
    written = ":".join("" if n is None else str(n) for n in (start, stop))
    if not count:
        raise SemanticError(f"the slice {written} of {extent} elements has none")
    place.kept.append(count)
    if count == extent and step == 1:
        place.shape.append(extent)
        return
    step = 1 if count == 1 else step
    whole = _is_power(step) and _is_power(count) and extent % (count * step) == 0
    if whole and first % (count * step) < step:
        for parts, index in ((extent // (count * step), first // (count * step)), (count, None),
                             (step, first % step)):  # fmt: skip
            if index is not None and parts == 1:
                continue
            if index is not None:
                place.picked[len(place.shape)] = Picked(parts, index)
            place.shape.append(parts)
        return
    place.gathered.append(Gathered(axis, len(place.shape), extent, first, count, step))
    place.shape.append(count)


# Positions.


def _along(values: tensor, axis: int, rank: int) -> tensor:
    """A block of one dimension as dimension `axis` of several."""
    for d in range(rank):
        if d != axis:
            values = _insert_dim(values, d)
    return values


def _is_picked(place: Place) -> tensor | None:
    """Which elements of a block of `place.shape` are picked; None for all."""
    rank = len(place.shape)
    found = None
    for axis, picked in place.picked.items():
        if picked.extent == 1:
            continue
        here = arithmetic.eq(_along(arange(0, picked.extent), axis, rank), picked.index)
        found = here if found is None else arithmetic.bitand(found, here)
    return found


# Reading.


def _bits(value: tensor) -> tensor:
    """The elements as integers that `or` combines."""
    if value.dtype.is_ptr():
        return cast(value, dt.int64)
    if value.dtype.is_int():
        return value
    return bitcast(value, dt.get_int_dtype(value.dtype.primitive_bitwidth, True))


def _gathered(block: tensor, indices: tensor, axis: int) -> tensor:
    """The elements at these indices along `axis`, of each line."""
    shape = list(block.shape)
    shape[axis] = indices.shape[0]
    index = broadcast_to_shape(_along(indices, axis, len(shape)), tuple(shape))
    return gather(block, index, axis)


_either = builtin(lambda a, b: arithmetic.bitor(a, b))


def read(block: tensor, place: Place) -> tensor:
    """The part of a block."""
    for part in place.gathered:
        steps = arithmetic.add(arithmetic.mul(arange(0, part.count), part.step), part.first)
        block = _gathered(block, steps, part.axis)
    if place.picked:
        block = _reshape(block, tuple(place.shape), False, "reshape")
        wanted = _is_picked(place)
        if wanted is None:
            block = _reshape(block, tuple(place.kept), False, "reshape")
        else:
            bits = _bits(block)
            alone = arithmetic.where(wanted, bits, constant(0, bits.dtype))
            alone = reduce(alone, tuple(place.picked), _either)
            block = alone if block.dtype.is_int() else bitcast(alone, block.dtype)
    for axis in place.new:
        block = _insert_dim(block, axis)
    return block


# Replacing.


def _fitted(value: tensor, place: Place) -> tensor:
    """A value in the shape of a part, with one element for each dimension that is picked from;
    scalars stay."""
    if not value.type.is_block():
        return value
    result = place.result
    while value.ndim < len(result):
        value = _insert_dim(value, 0)
    if not result:
        if value.numel != 1:
            raise SemanticError(f"one element is no {value.type}")
        return _reshape(value, (), False, "reshape")
    value = broadcast_to_shape(value, result)
    value = _reshape(value, tuple(place.kept), False, "reshape")
    if not value.type.is_block():
        return value
    for axis in place.picked:
        value = _insert_dim(value, axis)
    return value


def _spread(value: tensor, part: Gathered, rank: int) -> tuple[tensor, tensor]:
    """The elements of a value where they go, along the whole dimension; and which these are."""
    away = arithmetic.sub(arange(0, part.extent), part.first)
    number = arithmetic.floordiv(away, part.step)
    here = arithmetic.bitand(arithmetic.ge(number, 0), arithmetic.lt(number, part.count))
    if abs(part.step) != 1:
        exact = arithmetic.eq(arithmetic.mul(number, part.step), away)
        here = arithmetic.bitand(here, exact)
    if value.type.is_block():
        value = _gathered(value, arithmetic.where(here, number, 0), part.at)
    return value, _along(here, part.at, rank)


def replaced(
    block: tensor, place: Place, value: Any, combine: Callable[[tensor, tensor], tensor] | None
) -> tensor:
    """The block with `value` in a part of it, or with what `combine` makes of both there."""
    value = to_tensor(unwrap(value))
    if block.dtype.is_ptr() != value.dtype.is_ptr():
        raise SemanticError(f"elements of {block.type} are not replaced by {value.type}")
    value = _fitted(cast(value, block.dtype), place)
    wanted = _is_picked(place)
    shape = list(place.shape)
    for part in place.gathered:
        value, here = _spread(value, part, len(shape))
        wanted = here if wanted is None else arithmetic.bitand(wanted, here)
        shape[part.at] = part.extent
    whole = _reshape(block, tuple(shape), False, "reshape")
    value = broadcast_to_shape(value, whole.shape)
    if combine is not None:
        value = cast(combine(whole, value), block.dtype)
    if wanted is not None:
        value = arithmetic.where(wanted, value, whole)
    return _reshape(value, block.shape, False, "reshape")


# What the language has of it.


def _checked(block: tensor) -> tensor:
    if block.type.is_ptr():
        raise SemanticError(
            "unsupported tensor index: a pointer has no elements; use tl.load(pointer + index)"
        )
    return block


def _new_dimensions(items: Any) -> int:
    """How many dimensions an index of a scalar adds, such as `x[None, :]`: a scalar has none that
    `:` could leave as it is. 0 where it does something else."""
    items = [unwrap(item) for item in (items if isinstance(items, (tuple, list)) else (items,))]
    rest = [item for item in items if item is not None]
    return len(items) - len(rest) if all(_is_whole(item) for item in rest) else 0


def _is_whole(item: Any) -> bool:
    return isinstance(item, _SLICES) and (item.start, item.stop, item.step) == (None, None, None)


def index(block: tensor, items: Any) -> tensor:
    """``x[...]``."""
    if not block.type.is_block() and (rank := _new_dimensions(items)):
        return _reshape(block, (1,) * rank, False, "index")
    place = place_of(_checked(block), items)
    if block.type.layout is not None and (place.picked or place.gathered):
        raise SemanticError(
            "a block with a layout is indexed with None, ':' and '...' only; use gl.gather, or a "
            "buffer in shared memory"
        )
    return read(block, place)


class Part:
    """``x.at[...]``: makes blocks like x with other elements in this part of it."""

    def __init__(self, block: tensor, place: Place) -> None:
        self.block = block
        self.place = place

    @builtin
    def set(self, value: Any) -> tensor:
        """The block with `value` in this part."""
        return replaced(self.block, self.place, value, None)

    @builtin
    def add(self, value: Any) -> tensor:
        """The block with `value` added to this part."""
        return replaced(self.block, self.place, value, arithmetic.add)

    @builtin
    def mul(self, value: Any) -> tensor:
        """The block with this part multiplied by `value`."""
        return replaced(self.block, self.place, value, arithmetic.mul)

    @builtin
    def max(self, value: Any) -> tensor:
        """The block with the larger of `value` and its elements in this part."""
        return replaced(self.block, self.place, value, arithmetic.maximum)

    @builtin
    def min(self, value: Any) -> tensor:
        """The block with the smaller of `value` and its elements in this part."""
        return replaced(self.block, self.place, value, arithmetic.minimum)


class Parts:
    """``x.at``."""

    def __init__(self, block: tensor) -> None:
        self.block = _checked(block)

    def __getitem__(self, items: Any) -> Part:
        if not self.block.type.is_block():
            raise SemanticError(f"a scalar ({self.block.type}) has no elements to replace")
        return Part(self.block, place_of(self.block, items))


def refuse_assignment(block: tensor, items: Any = None, value: Any = None) -> NoReturn:
    """``x[...] = value``: a block is a value, which does not change."""
    if block.type.is_ptr():
        raise SemanticError("a pointer has no elements; use tl.store(pointer + index, value)")
    raise SemanticError(
        f"elements of {one(block)} cannot be assigned; x = x.at[index].set(value) makes a block "
        "with others, and tl.store writes to memory"
    )


tensor.__getitem__ = index  # type: ignore[attr-defined]
tensor.__setitem__ = refuse_assignment  # type: ignore[attr-defined]


def _at(self: tensor) -> Parts:
    """Blocks like this one with other elements in a part: `x.at[8:16].set(value)`.

    It takes what `x[...]` takes. The methods are `set`, `add`, `mul`, `max` and `min`.

    Refused: ``tl.arange(0, 4).at[4].set(7)``.

    >>> tl.arange(0, 4).at[1:3].set(7)
    [0 7 7 3]
    """
    return Parts(self)


tensor.at = property(_at)  # type: ignore[attr-defined]


@member()
@builtin
def insert(x: tensor, value: Any, index: Any, axis: int = 0) -> tensor:
    """The block with `value` in place of the elements at `index` along `axis`.

    `index` is a constant or a scalar; below zero it counts from the end. `value` is a scalar, or a
    block with the shape of `x` without `axis`. It takes the type of `x`. `x.at[index].set(value)`
    is the same along axis 0. Out of range, a constant is refused; `debug=True` checks a scalar.

    Refused: ``tl.insert(tl.arange(0, 4), 7, 4)``.

    >>> tl.insert(tl.arange(0, 4), 7, 1)
    [0 7 2 3]

    >>> tl.insert(tl.zeros([2, 2], tl.int32), tl.arange(1, 3), tl.load(p + 1), axis=1)
    [0 1 0 2]
    """
    axis = checked_axis(axis, x.ndim, "insert")
    whole = builtins.slice(None)
    return replaced(x, place_of(x, [*[whole] * axis, index]), value, None)
