"""Paths into nested tuples, and facts about types."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from tile.element_types import ELEMENT_TYPES, SIGNATURE_NAMES
from tile.language.dtypes import str_to_type
from tile.runtime.specialize import type_name

TRITON_MAX_TENSOR_NUMEL = 1048576

type_canonicalisation_dict = {
    **{known.signature: known.signature for known in ELEMENT_TYPES.values()},
    **SIGNATURE_NAMES,
    "uint1": "u1", "u1": "u1", "half": "fp16", "float": "fp32", "double": "fp64",
    "float8e4nv": "fp8e4nv", "float8e5": "fp8e5",
}  # fmt: skip

BITWIDTH_DICT = {"u1": 1, **{known.signature: known.bits for known in ELEMENT_TYPES.values()}}


def get_primitive_bitwidth(dtype: str) -> int:
    """The bits of an element type, by its name in signatures."""
    return BITWIDTH_DICT[dtype]


def canonicalize_dtype(dtype: Any) -> str:
    """An element type of NumPy, torch or the language, as signatures name it."""
    return type_name(dtype)


def canonicalize_ptr_dtype(dtype: Any, is_const: bool) -> str:
    """A pointer to it."""
    return ("*k" if is_const else "*") + canonicalize_dtype(dtype)


def is_power_of_two(x: int) -> bool:
    return x > 0 and x & (x - 1) == 0


def is_namedtuple(val: Any) -> bool:
    return isinstance(val, type) and issubclass(val, tuple) and hasattr(val, "_fields")


def get_iterable_path(iterable: Any, path: Iterable[int]) -> Any:
    """The item at a path of indices."""
    for index in path:
        iterable = iterable[index]
    return iterable


def set_iterable_path(iterable: Any, path: tuple[int, ...], val: Any) -> None:
    """Replaces the item at a path of indices; what holds it must be a list."""
    get_iterable_path(iterable, path[:-1])[path[-1]] = val


def find_paths_if(iterable: Any, pred: Callable[[tuple, Any], bool]) -> list[tuple[int, ...]]:
    """The paths of the items for which ``pred(path, item)``, depth first."""
    found: list[tuple[int, ...]] = []

    def visit(item: Any, path: tuple[int, ...]) -> None:
        if isinstance(item, (list, tuple)):
            for i, part in enumerate(item):
                visit(part, (*path, i))
        elif pred(path, item):
            found.append(path)

    visit(iterable, ())
    return found


def is_iterable(x: Any) -> bool:
    """Whether a value holds others, as arguments of kernels do."""
    return isinstance(x, (list, tuple))


def apply_with_path(value: Any, fn: Callable[[tuple, Any], None], _path: tuple = ()) -> None:
    """Calls ``fn(path, item)`` for all that is in nested tuples, depth first."""
    if is_iterable(value):
        for i, part in enumerate(value):
            apply_with_path(part, fn, (*(_path or ()), i))
    else:
        fn(_path or (), value)


@functools.cache
def warn_once(message: str) -> None:
    """Warns of the same thing once in a process."""
    warnings.warn(message, UserWarning, stacklevel=2)


def validate_block_shape(shape: list[int]) -> int:
    """The number of elements of a block; raises for a shape that no block has."""
    count = 1
    for i, extent in enumerate(shape):
        if not isinstance(extent, int):
            raise TypeError(f"Shape element {i} must be an int, got {type(extent).__name__}")
        if not is_power_of_two(extent):
            raise ValueError(f"Shape element {i} must be a power of 2")
        count *= extent
    if count > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(f"numel ({count}) exceeds the maximum of {TRITON_MAX_TENSOR_NUMEL}")
    return count


__all__ = [
    "BITWIDTH_DICT", "TRITON_MAX_TENSOR_NUMEL", "apply_with_path", "canonicalize_dtype",
    "canonicalize_ptr_dtype", "find_paths_if", "get_iterable_path", "get_primitive_bitwidth",
    "is_iterable", "is_namedtuple", "is_power_of_two", "set_iterable_path", "str_to_type",
    "type_canonicalisation_dict", "validate_block_shape", "warn_once",
]  # fmt: skip
