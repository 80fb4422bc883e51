"""Loads, stores and atomic operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from .blocks import BlockPointer
from .numbers import element_of, unsigned
from .registry import operation
from .undefined import left_by_load


def _spread(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return x if x.shape == shape else np.broadcast_to(x, shape)


def _as_wide(mask: np.ndarray, pointer: np.ndarray) -> np.ndarray:
    """The mask for each pointer: scalars may hold several, computed together."""
    return mask if mask.shape == pointer.shape else np.broadcast_arrays(mask, pointer)[0]


@operation("tt.load")
def _load(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    pointer = operands[0]
    element = element_of(types[0])
    if isinstance(pointer, BlockPointer):
        padding = attributes.get("padding")
        return pointer.load(b, element, attributes["boundaryCheck"], padding)
    if b.phantom:
        return np.zeros(types[0].shape, element)
    if len(operands) == 1:
        return b.memory.read(pointer, element)
    mask = _as_wide(operands[1], pointer)
    if mask.all():
        return b.memory.read(_spread(pointer, mask.shape), element)
    # What is masked off and has no `other` is undefined; here it is 0, and marked.
    if len(operands) > 2:
        result = np.array(_spread(operands[2], mask.shape))
    else:
        result = np.zeros(mask.shape, element)
    if mask.any():
        result[mask] = b.memory.read(_spread(pointer, mask.shape)[mask], element, mask=mask)
    if len(operands) == 2 and b.looks_for_undefined:
        b.may_be_undefined = True
        return left_by_load(result, mask)
    return result


@operation("tt.store")
def _store(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    pointer, value = operands[0], operands[1]
    if isinstance(pointer, BlockPointer):
        pointer.store(b, value, attributes["boundaryCheck"])
        return
    if b.phantom:
        return
    mask = None
    if len(operands) > 2:
        mask = _as_wide(operands[2], pointer)
        if mask.all():
            mask = None
        else:
            pointer, value = _spread(pointer, mask.shape)[mask], _spread(value, mask.shape)[mask]
    b.memory.write(pointer, value, mask=mask)


def as_unsigned(fn: Any) -> Any:
    """A combination of signed integers, on their bits as unsigned ones."""
    return lambda old, value: fn(unsigned(old), unsigned(value)).view(old.dtype)


_RMW = {
    1: np.bitwise_and, 2: np.bitwise_or, 3: np.bitwise_xor, 4: np.add, 5: np.add, 6: np.maximum,
    7: np.minimum, 8: as_unsigned(np.maximum), 9: as_unsigned(np.minimum),
    10: lambda old, value: value,
}  # fmt: skip


def _in_turn(addresses: np.ndarray) -> list[np.ndarray]:
    """Positions in groups without equal addresses: an element comes a group
    later than the one before it of the same address."""
    order = np.argsort(addresses, kind="stable")
    ordered = addresses[order]
    first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    if first.all():
        return [np.arange(addresses.size)]
    starts = np.flatnonzero(first)
    turn = np.arange(addresses.size) - np.repeat(starts, np.diff(np.append(starts, addresses.size)))
    return [np.sort(order[turn == k]) for k in range(int(turn.max()) + 1)]


def atomically(
    b: Any, addresses: np.ndarray, values: np.ndarray, what: str, combine: Any, mask: Any = None
) -> np.ndarray:
    """Updates elements one after another; returns what each one found."""
    b.memory.resolve(addresses, values.dtype, what, mask)
    old = np.empty(addresses.shape, values.dtype)
    for turn in _in_turn(addresses):
        at = addresses[turn]
        found = b.memory.read(at, values.dtype, what)
        old[turn] = found
        new = np.asarray(combine(found, turn)).astype(values.dtype)
        if new.tobytes() != found.tobytes():
            b.memory.write(at, new, what)
    return old


@operation("tt.atomic_rmw")
def _atomic(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    pointer, value, mask = operands
    shape = types[0].shape
    value = np.broadcast_to(value, shape)
    result = np.zeros(shape, value.dtype)
    mask = np.broadcast_to(mask, shape)
    if b.phantom or not mask.any():
        return result
    values = value[mask]
    combine = _RMW[attributes["atomic_rmw_op"]]
    result[mask] = atomically(
        b,
        np.broadcast_to(pointer, shape)[mask],
        values,
        "atomic operation",
        lambda found, turn: combine(found, values[turn]),
        mask,
    )
    return result


@operation("tt.atomic_cas")
def _compare_and_swap(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    pointer, expected, value = (np.broadcast_to(x, types[0].shape) for x in operands)
    if b.phantom:
        return np.zeros_like(value)
    shape = value.shape
    # The comparison is of bits, as in hardware.
    kind = np.dtype(f"int{8 * value.dtype.itemsize}")
    expected, value = (np.ascontiguousarray(x).view(kind).reshape(-1) for x in (expected, value))
    old = atomically(
        b,
        np.ascontiguousarray(pointer).reshape(-1),
        value,
        "atomic_cas",
        lambda found, turn: np.where(found == expected[turn], value[turn], found),
    )
    return old.view(element_of(types[0])).reshape(shape)
