"""What each operation computes, by its name: filled by the modules of this
package, one for each subject."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: name -> function(builder, operands, attributes, result types) -> value(s)
OPERATIONS: dict[str, Callable[..., Any]] = {}


def operation(*names: str) -> Callable[[Callable], Callable]:
    """Registers what the operations of these names compute."""

    def decorate(fn: Callable) -> Callable:
        for name in names:
            OPERATIONS[name] = fn
        return fn

    return decorate


def elementwise(name: str, fn: Callable[..., Any]) -> None:
    """Registers a function of the operands alone."""
    OPERATIONS[name] = lambda b, operands, attributes, types: fn(*operands)
