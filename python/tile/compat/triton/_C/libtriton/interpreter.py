"""Loads, stores and atomic operations at addresses of this process, element by element.

The interpreter of tile has its own, which check every address. These check none.
"""

from __future__ import annotations

import ctypes
import enum
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

RMW_OP = enum.Enum("RMW_OP", "ADD FADD AND OR XOR XCHG MAX MIN UMIN UMAX")
MEM_SEMANTIC = enum.Enum("MEM_SEMANTIC", "ACQUIRE_RELEASE ACQUIRE RELEASE RELAXED")

#: Signed and unsigned types share their names: the operation says how elements compare.
_COMBINE: dict[Any, Callable[[Any, Any], Any]] = {
    RMW_OP.ADD: np.add, RMW_OP.FADD: np.add, RMW_OP.AND: np.bitwise_and,
    RMW_OP.OR: np.bitwise_or, RMW_OP.XOR: np.bitwise_xor, RMW_OP.XCHG: lambda old, new: new,
    RMW_OP.MAX: np.maximum, RMW_OP.UMAX: np.maximum,
    RMW_OP.MIN: np.minimum, RMW_OP.UMIN: np.minimum,
}  # fmt: skip

#: Atomic among all that comes here.
_one_at_a_time = threading.Lock()


def _at(address: int, dtype: np.dtype) -> np.ndarray:
    """The element at an address, as an array of one."""
    return np.frombuffer((ctypes.c_char * dtype.itemsize).from_address(address), dtype)


def load(ptrs: Any, mask: Any, other: Any, dtype: Any) -> np.ndarray:
    """The elements at addresses; those of `other` where the mask is off."""
    element = np.dtype(dtype)
    loaded = np.empty(np.shape(ptrs), element)
    for where, address in np.ndenumerate(np.asarray(ptrs, np.uint64)):
        loaded[where] = _at(int(address), element)[0] if mask[where] else other[where]
    return loaded


def store(ptrs: Any, value: np.ndarray, mask: Any) -> None:
    """Stores elements at addresses where the mask is on."""
    for where, address in np.ndenumerate(np.asarray(ptrs, np.uint64)):
        if mask[where]:
            _at(int(address), value.dtype)[0] = value[where]


def atomic_rmw(op: Any, ptrs: Any, value: np.ndarray, mask: Any, sem: Any) -> np.ndarray:
    """Combines elements in memory with others, one after the other; returns what was there.
    Where the mask is off, it returns zeros."""
    combine, old = _COMBINE[op], np.zeros(np.shape(ptrs), value.dtype)
    with _one_at_a_time:
        for where, address in np.ndenumerate(np.asarray(ptrs, np.uint64)):
            if mask[where]:
                place = _at(int(address), value.dtype)
                old[where] = place[0]
                place[0] = combine(old[where], value[where])
    return old


def atomic_cas(ptrs: Any, expected: np.ndarray, desired: np.ndarray, sem: Any) -> np.ndarray:
    """Stores elements where memory holds the expected ones; returns what was there."""
    old = np.empty(np.shape(ptrs), expected.dtype)
    with _one_at_a_time:
        for where, address in np.ndenumerate(np.asarray(ptrs, np.uint64)):
            place = _at(int(address), expected.dtype)
            old[where] = place[0]
            if old[where] == expected[where]:
                place[0] = desired[where]
    return old


__all__ = ["MEM_SEMANTIC", "RMW_OP", "atomic_cas", "atomic_rmw", "load", "store"]
