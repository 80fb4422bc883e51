"""Functions that other packages mark as builtins of Triton: they run while a
kernel is compiled, and see constants as ``tl.constexpr``, also those in tuples.
Types and functions they see as they are. Defaults of parameters, too."""

from __future__ import annotations

import enum
import inspect
from typing import Any

from .. import _C
from ..errors import SemanticError, TileError
from ..language.state import current
from ..language.values import constexpr, tensor, unwrap

MARK = "__triton_builtin__"
#: The parameters through which such a function is told what it adds to.
_CONTEXT = ("_semantic", "_builder", "_generator")


def is_foreign_builtin(function: Any) -> bool:
    return getattr(function, MARK, False) is True


def call_foreign_builtin(function: Any, arguments: list, keywords: dict[str, Any]) -> Any:
    """Calls one. What it returns, the program sees as its own values."""
    parameters = inspect.signature(function).parameters
    context = {name: current() for name in _CONTEXT if name in parameters}
    constants = {name: _as_constant(value) for name, value in keywords.items()}
    try:
        result = function(*map(_as_constant, arguments), **constants, **context)
    except (TileError, _C.ir.MLIRError, RecursionError):
        raise
    except Exception as error:  # The function is the user's.
        raise SemanticError(
            f"`{function.__name__}` raised {type(error).__name__}: {error}"
        ) from error
    return _as_value(result)


def _as_value(result: Any) -> Any:
    if type(result) in (tuple, list):
        return tuple(map(_as_value, result))
    return unwrap(result)


def _as_constant(value: Any) -> Any:
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return tuple(map(_as_constant, value))
    is_constant = value is None or isinstance(value, (bool, int, float, str, enum.Enum))
    return constexpr(value) if is_constant and not isinstance(value, tensor) else value
