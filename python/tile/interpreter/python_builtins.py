"""Python's builtins as kernels see them."""

from __future__ import annotations

import builtins
from typing import Any

from ..compiler.functions import _PYTHON_BUILTINS
from ..language import program, state
from ..language.values import tensor


def _kernel_builtins() -> dict[str, Any]:
    """Python's builtins as kernels see them."""
    result = dict(vars(builtins))
    for name in ("abs", "all", "any", "min", "max", "sum", "isinstance", "bool"):
        result[name] = _PYTHON_BUILTINS[getattr(builtins, name)]
    result["range"] = program.range
    result["type"] = lambda x, *rest: x.type if isinstance(x, tensor) else type(x, *rest)

    def quietly(fn: Any) -> Any:
        """Not while types are looked for in a branch that is not taken."""

        def call(*arguments: Any, **keywords: Any) -> Any:
            builder = state._state.builder
            if builder is None or builder.phantom is None:
                return fn(*arguments, **keywords)
            return None

        return call

    result["print"] = quietly(print)
    return result


BUILTINS = _kernel_builtins()
