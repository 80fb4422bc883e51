"""Axes of blocks: one, several, or all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import SemanticError
from .creation import _insert_dim, _reshape, arange, checked_axis, permute, zeros
from .dtypes import int32
from .promotion import broadcast_to_shape
from .values import builtin, tensor, unwrap


def checked_axes(axis: Any, rank: int, what: str) -> tuple[int, ...]:
    """The dimensions that `axis` names, from 0 and in order: all of them if it is None."""
    axis = unwrap(axis)
    if axis is None:
        return tuple(range(rank))
    if not isinstance(axis, (tuple, list)):
        return (checked_axis(axis, rank, what),)
    axes = sorted(checked_axis(a, rank, what) for a in axis)
    if not axes:
        raise SemanticError(f"{what} needs an axis, but `axis` names none; None names all")
    if len(set(axes)) != len(axes):
        named = [unwrap(a) for a in axis]
        raise SemanticError(f"{what} got the axes {named}, which name one dimension twice")
    return tuple(axes)


class Merged:
    """Several dimensions of a shape as one: its elements are those of the dimensions, row by row.

    Neighbours are one dimension after a `reshape`. Others are moved behind the rest first.
    """

    def __init__(self, shape: Sequence[int], axes: tuple[int, ...]) -> None:
        rank = len(shape)
        rest = [d for d in range(rank) if d not in axes]
        first = axes[0]
        if axes[-1] - first + 1 == len(axes):
            self.order = list(range(rank))
            self.axis = first
        else:
            self.order = [*rest, *axes]
            self.axis = len(rest)
        self.moved = tuple(shape[d] for d in self.order)
        extent = 1
        for d in axes:
            extent *= shape[d]
        self.extent = extent
        end = self.axis + len(axes)
        self.shape = (*self.moved[: self.axis], extent, *self.moved[end:])

    @property
    def is_uneven(self) -> bool:
        """Whether these are several dimensions that no power of two of elements is in."""
        return len(self.shape) != len(self.order) and self.extent & (self.extent - 1) != 0

    def of(self, value: tensor) -> tensor:
        """The block with one dimension for the several."""
        if len(self.shape) == len(self.order):
            return value
        return _reshape(permute(value, *self.order), self.shape, False, "reshape")

    def undo(self, value: tensor) -> tensor:
        """A block of the merged shape, in the shape of before."""
        if len(self.shape) == len(self.order):
            return value
        back = [self.order.index(d) for d in range(len(self.order))]
        return permute(_reshape(value, self.moved, False, "reshape"), *back)


@builtin
def places(input: tensor, axis: Any, what: str = "reduce") -> tensor:
    """The index of each element along `axis`: of several axes, counted row by row."""
    axes = checked_axes(axis, input.ndim, what)
    merged = Merged(input.shape, axes)
    if merged.is_uneven:
        return _counted(input.shape, axes)
    index = arange(0, merged.extent)
    for d in range(len(merged.shape)):
        if d != merged.axis:
            index = _insert_dim(index, d)
    return merged.undo(broadcast_to_shape(index, merged.shape))


def _counted(shape: Sequence[int], axes: tuple[int, ...]) -> tensor:
    """The index of each element, dimension by dimension: a reshape would move elements."""
    total, stride = zeros(shape, int32), 1
    for axis in reversed(axes):
        index = arange(0, shape[axis])
        for d in range(len(shape)):
            if d != axis:
                index = _insert_dim(index, d)
        total = total + index * stride
        stride *= shape[axis]
    return total


def kept(value: tensor, axes: tuple[int, ...], rank: int) -> tensor:
    """A result of a reduction, with a dimension of one element for each that was reduced."""
    if len(axes) == rank:
        return broadcast_to_shape(value, (1,) * rank)
    for axis in axes:
        value = _insert_dim(value, axis)
    return value
