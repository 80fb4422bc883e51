"""Ranges of memory by the names that a user gives them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..errors import TileError
from .breakpoints import Watchpoint
from .stop import as_array

_ELEMENTS = re.compile(r"^\s*(\w+)\s*(?:\[(.*)\])?\s*$")
_SHARED = re.compile(r"^\s*shared\s*\[\s*(\w+)\s*(?::\s*(\w+)\s*)?\]\s*(?:as\s+(\w+))?\s*$")


def watchpoint(number: int, expression: str, arguments: dict[str, Any], block: int) -> Watchpoint:
    """`out[3]`, `out[2, 0:8]` or `out` of an argument; `shared[0x40:0x60]`, bytes of the shared
    memory of a block."""
    if found := _SHARED.match(expression):
        try:
            start = int(found[1], 0)
            end = int(found[2], 0) if found[2] else start + 4
            dtype = np.dtype(found[3] or "uint8")
        except (ValueError, TypeError) as error:
            raise TileError(f"`{expression}`: {error}") from None
        if end <= start or (end - start) % dtype.itemsize:
            raise TileError(f"`{expression}` is no range of {dtype}")
        return Watchpoint(number, expression, start, end - start, dtype.str, block)
    found = _ELEMENTS.match(expression)
    if not found:
        raise TileError(
            f"`{expression}` is no memory: expected an argument's elements, as in out[0:4], or "
            "shared[0x0:0x40]"
        )
    array = as_array(arguments.get(found[1]))
    if array is None:
        known = ", ".join(n for n, v in arguments.items() if as_array(v) is not None)
        raise TileError(f"there is no memory `{found[1]}`; there are {known or 'none'}")
    part = array
    if found[2] is not None:
        try:
            index = tuple(_index(text) for text in found[2].split(","))
            flat = len(index) == 1 and array.ndim > 1 and isinstance(index[0], int)
            part = array.reshape(-1)[index] if flat else array[_as_slices(index)]
        except (IndexError, ValueError) as error:
            raise TileError(f"`{expression}`: {error}") from None
    part = np.asarray(part)
    if not part.size:
        raise TileError(f"`{expression}` has no elements")
    if not np.shares_memory(part, array):
        raise TileError(f"`{expression}` is not one range of memory")
    low, high = np.lib.array_utils.byte_bounds(part)
    return Watchpoint(number, expression, low, high - low, array.dtype.str)


def _index(text: str) -> int | slice:
    parts = [int(p, 0) if p.strip() else None for p in text.split(":")]
    if len(parts) == 1:
        if parts[0] is None:
            raise ValueError("an index is missing")
        return parts[0]
    return slice(*parts)


def _as_slices(index: tuple[int | slice, ...]) -> tuple[slice, ...]:
    """Single elements as slices, so that the result is a view."""
    return tuple(i if isinstance(i, slice) else slice(i, i + 1 if i != -1 else None) for i in index)
