"""Numbers as parameters of kernels: what fits, and its bytes."""

from __future__ import annotations

import operator
import struct
from typing import Any

import numpy as np

from tile._C import launch as _launch

#: Integers: the least and the greatest number of a type.
RANGES = {"i1": (0, 1)} | {
    f"{sign}{bits}": (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    if sign == "i"
    else (0, (1 << bits) - 1)
    for sign in "iu"
    for bits in (8, 16, 32, 64)
}
RANGES["u1"] = (0, 1)

_FORMATS = {8: "B", 16: "H", 32: "I", 64: "Q"}


def _index(value: Any) -> int:
    """An integer, or a scalar of NumPy that is one; their truth values have no index."""
    return operator.index(value.item() if isinstance(value, np.generic) else value)


def refusal(type: str, value: Any) -> str | None:
    """Why a parameter of this type does not take a value; None if it does."""
    if type not in RANGES:
        return None if value is not None else f"a parameter of type {type} takes a number, not None"
    try:
        number = _index(value)
    except TypeError:
        return f"a parameter of type {type} takes an integer, not {value!r}"
    low, high = RANGES[type]
    if low <= number <= high:
        return None
    return f"{number} does not fit in {type}, which takes integers from {low} to {high}"


def integer(type: str, value: Any, name: str | None = None) -> int:
    """The number that a parameter of a type of integers gets."""
    message = refusal(type, value)
    if message is None:
        return _index(value)
    from ..compiler.errors import LaunchError

    raise LaunchError(message if name is None else f"the argument `{name}`: {message}")


def to_bytes(type: str, value: Any, name: str | None = None) -> bytes:
    """A number as a kernel gets it, rounded once; floats beyond the type are infinite."""
    if type in RANGES:
        bits = max(8, int(type[1:]))
        return struct.pack("<" + _FORMATS[bits], integer(type, value, name) & ((1 << bits) - 1))
    if type in ("fp16", "bf16"):
        return struct.pack("<H", _launch.round_to_16_bits(float(value), type == "bf16"))
    with np.errstate(over="ignore"):
        return np.float64(value).astype({"fp32": "<f4", "fp64": "<f8"}[type]).tobytes()
