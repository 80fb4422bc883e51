"""Jit functions that are methods of tensors, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .values import tensor


def method(*names: str) -> Callable[[Any], Any]:
    """Also makes a jit function a method of tensor, under its own name if none is given."""

    def decorate(fn: Any) -> Any:
        for name in names or (fn.__name__,):
            setattr(tensor, name, fn)
        return fn

    return decorate
