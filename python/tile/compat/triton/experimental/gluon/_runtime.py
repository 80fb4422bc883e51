"""Kernels that say their layouts themselves: they can be defined, so that the
modules that hold them can be imported; tile cannot compile them yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from tile.compat.unbuilt import UnbuiltError
from tile.runtime.jit import JITFunction, constexpr_function


class GluonJITFunction(JITFunction):
    """A kernel in the language with explicit layouts."""

    def run(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise UnbuiltError(f"`{self.__name__}` is a Gluon kernel, which tile cannot compile yet")

    @property
    def is_gluon(self) -> bool:
        return True


def jit(fn: Callable | None = None, **options: Any) -> Any:
    """Makes a kernel of a Python function."""
    if fn is None:
        return lambda fn: GluonJITFunction(fn, **options)
    return GluonJITFunction(fn, **options)


__all__ = ["GluonJITFunction", "constexpr_function", "jit"]
