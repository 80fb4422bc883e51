"""What ``triton.language.core`` has beside our own names."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from tile import constexpr_function
from tile import must_use_result as must_use_result
from tile.language.collective import extern_elementwise as extern_elementwise
from tile.language.descriptor import tensor_descriptor_type
from tile.language.dtypes import dtype
from tile.language.dtypes import get_int_dtype as _get_int_dtype
from tile.language.promotion import to_tensor as to_tensor
from tile.language.values import builtin, constexpr, tensor
from tile.language.values import is_builtin as is_builtin

CONSTEXPR_0 = constexpr(0)
get_int_dtype = constexpr_function(_get_int_dtype)
TRITON_BUILTIN = "__triton_builtin__"
builtin_max, builtin_min = builtins.max, builtins.min
base_type, base_value = dtype, tensor
tensor_descriptor_base_type = tensor_descriptor_type


def _unwrap_if_constexpr(value: Any) -> Any:
    """The value of a constant; other values as they are."""
    if isinstance(value, list):
        return [_unwrap_if_constexpr(v) for v in value]
    if isinstance(value, builtins.tuple) and type(value) is builtins.tuple:
        return builtins.tuple(map(_unwrap_if_constexpr, value))
    return value.value if isinstance(value, constexpr) else value


# Kernels call it too.
_unwrap_if_constexpr.__tile_builtin__ = True  # type: ignore[attr-defined]


def _unwrap_shape(shape: Any) -> list[int]:
    return [_unwrap_if_constexpr(s) for s in _unwrap_if_constexpr(shape)]


def extern(fn: Callable) -> Callable:
    """Marks a function that is made of functions of a library."""
    return builtin(fn)
