"""What ``triton.language.core`` has beside our own names."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from tile import constexpr_function
from tile import must_use_result as must_use_result
from tile.errors import SemanticError
from tile.language.collective import extern_elementwise as _call_of_library
from tile.language.conversion import cast
from tile.language.descriptor import tensor_descriptor_type
from tile.language.dtypes import dtype
from tile.language.dtypes import get_int_dtype as _get_int_dtype
from tile.language.promotion import to_tensor as to_tensor
from tile.language.values import builtin as _builtin
from tile.language.values import constexpr, tensor
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


@_builtin
def extern_elementwise(
    lib_name: str, lib_path: str, args: list[Any],
    arg_type_symbol_dict: dict[builtins.tuple, builtins.tuple[str, dtype]],
    is_pure: bool, _semantic: Any = None,
) -> tensor:  # fmt: skip
    """Calls a function of a library on each element. Which one depends on the types of the
    arguments. The launch names the library's file: `extern_libs={name: path}`."""
    values = [_unwrap_if_constexpr(arg) for arg in args]
    found = [(t, s) for t, s in arg_type_symbol_dict.items() if _fits(values, t)]
    if not found:
        given = ", ".join(str(v.dtype) if isinstance(v, tensor) else repr(v) for v in values)
        known = "; ".join(", ".join(map(str, types)) for types in arg_type_symbol_dict)
        raise SemanticError(f"input arg type does not match. Expect one of: {known}. Got: {given}")
    types, (symbol, result) = found[0]
    operands = [cast(to_tensor(v), t) for v, t in zip(values, types, strict=True)]
    return _call_of_library(operands, result, symbol, _unwrap_if_constexpr(is_pure))


def _fits(values: list[Any], types: builtins.tuple) -> bool:
    """Whether a function takes these arguments. A number of the program takes any type."""
    return len(values) == len(types) and builtins.all(
        v.dtype == t if isinstance(v, tensor) else True for v, t in zip(values, types, strict=True)
    )


def builtin(fn: Callable) -> Callable:
    """Marks a function of the language. It sees constants of the program as `tl.constexpr`; our
    own functions see them as numbers and strings."""
    marked = _builtin(fn)
    setattr(marked, TRITON_BUILTIN, True)
    return marked


def extern(fn: Callable) -> Callable:
    """Marks a function that is made of functions of a library."""
    return builtin(fn)
