"""Chosen elements of buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InterpreterError
from .access import _RMW
from .numbers import unsigned
from .registry import operation


def _places(buffer: Any, indices: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """The coordinates of the elements: their own, but for the axis."""
    wanted = unsigned(indices).astype(np.int64)
    extent = buffer.places.shape[axis]
    if wanted.size and wanted.max() >= extent:
        bad = np.asarray(indices)[wanted >= extent].reshape(-1)[0]
        raise InterpreterError(f"index {bad} is not in dimension {axis} of {extent} elements")
    coordinates = list(np.indices(wanted.shape))
    coordinates[axis] = wanted
    return tuple(coordinates)


@operation("ttg.local_gather")
def _gather(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    buffer, indices = operands
    if b.phantom:
        return np.zeros(types[0].shape, buffer.element)
    indices = np.broadcast_to(indices, types[0].shape)
    return buffer.load()[_places(buffer, indices, attributes["axis"])]


@operation("ttg.local_scatter")
def _scatter(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    buffer, indices, values = operands
    if b.phantom:
        return
    contents = buffer.load()
    contents[_places(buffer, np.asarray(indices), attributes["axis"])] = values
    buffer.store(contents)


@operation("ttg.local_atomic_scatter_rmw")
def _combine(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    buffer, values, indices, *masks = operands
    shape = types[0].shape
    values, indices = np.broadcast_to(values, shape), np.broadcast_to(indices, shape)
    result = np.zeros(shape, buffer.element)
    if b.phantom:
        return result
    mask = np.broadcast_to(masks[0] if masks else True, shape)
    kept = np.where(mask, indices, indices.dtype.type(0))
    places = _places(buffer, kept, attributes["axis"])
    combine, contents = _RMW[attributes["atomic_rmw_op"]], buffer.load()
    for at in zip(*np.nonzero(mask), strict=True):
        place = tuple(dimension[at] for dimension in places)
        result[at] = contents[place]
        contents[place] = combine(contents[place], values[at])
    buffer.store(contents)
    return result
