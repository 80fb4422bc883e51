"""Kernels that run as Python."""

from __future__ import annotations

from typing import Any

from tile.runtime.jit import JITFunction


class _Interpreted(type):
    """``isinstance(kernel, InterpretedFunction)``: whether kernels are interpreted."""

    def __instancecheck__(cls, value: Any) -> bool:
        from tile import knobs

        return isinstance(value, JITFunction) and knobs.interpreting()


class InterpretedFunction(JITFunction, metaclass=_Interpreted):
    """A jit function; it is interpreted where TILE_INTERPRET=1 says so."""


__all__ = ["InterpretedFunction"]
