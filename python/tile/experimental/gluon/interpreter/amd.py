"""What AMD's GPUs have: accesses to buffers, and operands in microscaling formats."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tile.interpreter.access import _RMW, atomically
from tile.interpreter.collective import _unpack
from tile.interpreter.copies import read, start
from tile.interpreter.numbers import element_of, unsigned
from tile.interpreter.registry import operation

#: The number of the format of 4 bits.
_E2M1 = 4


def _addresses(pointer: np.ndarray, offsets: np.ndarray, size: int) -> np.ndarray:
    """Offsets have no sign."""
    return np.int64(pointer) + unsigned(offsets).astype(np.int64) * size


@operation("amdg.buffer_load")
def _load(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    element = element_of(types[0])
    pointer, offsets, *masks = operands
    if b.phantom:
        return np.zeros(types[0].shape, element)
    return read(b, _addresses(pointer, offsets, element.itemsize), element, masks)


@operation("amdg.buffer_store")
def _store(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    value, pointer, offsets, *masks = operands
    if b.phantom:
        return
    addresses = _addresses(pointer, offsets, value.dtype.itemsize)
    value = np.broadcast_to(value, addresses.shape)
    if masks:
        mask = np.broadcast_to(masks[0], addresses.shape)
        b.memory.write(addresses[mask], value[mask], mask=mask)
    else:
        b.memory.write(addresses, value)


@operation("amdg.buffer_atomic_rmw")
def _atomic(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    pointer, offsets, value, *masks = operands
    shape = types[0].shape
    value = np.broadcast_to(value, shape)
    result = np.zeros(shape, value.dtype)
    mask = np.broadcast_to(masks[0] if masks else True, shape)
    if b.phantom or not mask.any():
        return result
    combine, values = _RMW[attributes["atomic_rmw_op"]], value[mask]
    addresses = np.broadcast_to(_addresses(pointer, offsets, value.dtype.itemsize), shape)
    result[mask] = atomically(
        b, addresses[mask], values, "atomic operation",
        lambda found, turn: combine(found, values[turn]), mask,
    )  # fmt: skip
    return result


@operation("amdg.buffer_load_to_local")
def _copy(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    buffer, pointer, offsets, *masks = operands
    start(b, _addresses(pointer, offsets, buffer.element.itemsize), buffer, masks)


# Microscaling formats.


@operation("amdg.scaled_upcast_fp4", "amdg.scaled_upcast_fp8")
def _upcast(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    value, scale = operands
    attributes = attributes or {}
    wide = _unpack(value, _E2M1, attributes["axis"]) if "axis" in attributes else value.astype("f8")
    factor = unsigned(scale).view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    return (wide * factor).astype(element_of(types[0]))


@operation("amdg.local_load_packed_tranposed")
def _repack(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    """Bytes that hold neighbours along one dimension become such of the other one's."""
    pairs = unsigned(operands[0].load())
    rows = types[0].shape[0] > pairs.shape[0]
    along, across = (0, 1) if rows else (1, 0)
    single = np.repeat(pairs, 2, axis=along)
    odd = np.arange(single.shape[along]) % 2
    single = (single >> (4 * np.expand_dims(odd, across)).astype(np.uint8)) & 15
    low, high = (single.take(range(i, single.shape[across], 2), across) for i in (0, 1))
    return (low | high << 4).astype(np.uint8).view(np.int8)
