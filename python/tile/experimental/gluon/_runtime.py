"""`gluon.jit`: kernels that say their layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tile.compiler import ASTSource
from tile.runtime.jit import JITFunction, T, constexpr_function, decorate


class GluonJITFunction(JITFunction[T]):
    """A function of the language with layouts: a kernel, or one that kernels call."""

    def is_gluon(self) -> bool:
        return True


class GluonASTSource(ASTSource):
    """A kernel with layouts in Python, and the arguments it is compiled for."""


def jit(
    fn: Callable | None = None,
    *,
    version: Any = None,
    repr: Callable | None = None,
    launch_metadata: Callable | None = None,
    do_not_specialize: Iterable[int | str] | None = None,
    do_not_specialize_on_alignment: Iterable[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> Any:
    """Makes a kernel, or a function that kernels call, of a Python function that says the layouts
    of its tensors. It is launched as those of `tile.jit` are."""

    return decorate(
        GluonJITFunction, fn, version=version, repr=repr, launch_metadata=launch_metadata,
        do_not_specialize=do_not_specialize,
        do_not_specialize_on_alignment=do_not_specialize_on_alignment,
        debug=debug, noinline=noinline,
    )  # fmt: skip


__all__ = ["GluonASTSource", "GluonJITFunction", "JITFunction", "constexpr_function", "jit"]
