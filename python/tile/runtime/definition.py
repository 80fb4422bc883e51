"""Where kernels and their parameters are defined, and which parameters kernels may have."""

from __future__ import annotations

import inspect
from typing import Any

from ..errors import TileError


def places(fn: Any, parameter: str | None = None) -> list[Any]:
    """Where a jit function, or one of its parameters, is defined."""
    from ..compiler.errors import SourceRange, node_place

    try:
        parsed = fn.parse()
    except TileError:  # Without its source there is no place.
        return []
    source, node = parsed.source, parsed.node
    spec = node.args
    rest = [a for a in (spec.vararg, spec.kwarg) if a is not None]
    for arg in (*spec.posonlyargs, *spec.args, *rest, *spec.kwonlyargs):
        if arg.arg == parameter:
            return [node_place(arg, source.file, source.name)]
    column = node.col_offset + len("def ")
    return [SourceRange(source.file, node.lineno, column, column + len(source.name), source.name)]


def check_kernel(fn: Any) -> None:
    """Refuses jit functions that only kernels can call, where one is known to be a kernel."""
    from ..compiler import CompilationError

    for p in fn.python_signature.parameters.values():
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            stars, instead = "*", "takes a tuple instead"
        elif p.kind is inspect.Parameter.VAR_KEYWORD:
            stars, instead = "**", "names all its parameters"
        else:
            continue
        raise CompilationError(
            f"`{fn.__name__}` takes `{stars}{p.name}`, which only functions that kernels call can; "
            f"a kernel {instead}",
            places(fn, p.name),
        )
