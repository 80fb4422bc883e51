"""Creation of blocks and changes of their shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InterpreterError
from .numbers import unsigned
from .registry import elementwise, operation


@operation("tt.make_range")
def _range(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return np.arange(attributes["start"], attributes["end"], dtype=np.int32)


@operation("tt.splat")
def _splat(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return np.full(types[0].shape, operands[0])


@operation("tt.broadcast")
def _broadcast(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return np.broadcast_to(operands[0], types[0].shape)


@operation("tt.unsplat", "tt.reshape")
def _reshape(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return operands[0].reshape(types[0].shape)


@operation("tt.expand_dims")
def _expand(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return np.expand_dims(operands[0], attributes["axis"])


@operation("tt.trans")
def _transpose(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return operands[0].transpose(attributes["order"])


elementwise("tt.cat", lambda x, y: np.concatenate((x, y)))
elementwise("tt.join", lambda x, y: np.stack((x, y), axis=-1))
elementwise("tt.split", lambda x: (x[..., 0], x[..., 1]))


@operation("tt.gather")
def _gather(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    source, index = operands
    axis = attributes["axis"]
    outside = (index < 0) | (index >= source.shape[axis])
    if outside.any():
        at = np.argwhere(outside)[0].tolist()
        raise InterpreterError(
            f"gather takes element {int(index[tuple(at)])} along dimension {axis}, which has "
            f"{source.shape[axis]} elements (at {at} of the index)"
        )
    return np.take_along_axis(source, index.astype(np.int64), axis)


@operation("tt.histogram")
def _histogram(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    values = unsigned(operands[0])
    bins = types[0].shape[0]
    counted = values < bins
    if len(operands) > 1:
        counted &= operands[1]
    return np.bincount(values[counted].astype(np.int64), minlength=bins).astype(np.int32)
