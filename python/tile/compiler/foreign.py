"""Functions that other packages mark as builtins of Triton: they run while a
kernel is compiled, and see constants as ``tl.constexpr``."""

from __future__ import annotations

import inspect
from typing import Any

from ..language.state import current
from ..language.values import constexpr, tensor

MARK = "__triton_builtin__"
#: The parameters through which such a function is told what it adds to.
_CONTEXT = ("_semantic", "_builder", "_generator")


def is_foreign_builtin(function: Any) -> bool:
    return getattr(function, MARK, False) is True


def call_foreign_builtin(function: Any, arguments: list, keywords: dict[str, Any]) -> Any:
    """Calls one; the caller unwraps what it returns."""
    parameters = inspect.signature(function).parameters
    context = {name: current() for name in _CONTEXT if name in parameters}
    return function(
        *map(_as_constant, arguments),
        **{name: _as_constant(value) for name, value in keywords.items()},
        **context,
    )


def _as_constant(value: Any) -> Any:
    is_number = value is None or isinstance(value, (bool, int, float, str))
    return constexpr(value) if is_number and not isinstance(value, tensor) else value
