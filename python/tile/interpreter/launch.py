"""Runs a kernel for every program of a grid, one after another."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..backends import GPUTarget, simulated_target
from ..compiler.code_generator import _function_place as function_place
from ..compiler.control_flow import RETURNS_NOTHING
from ..compiler.errors import CompilationError
from ..errors import SemanticError, TileError
from ..language import state
from .arguments import kernel_values
from .builder import EagerBuilder
from .errors import located, mistake

_DEFAULTS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None}


class Options:
    """What the language asks about the compile."""

    default_dot_input_precision = "tf32"
    max_num_imprecise_acc_default = 0

    def __init__(self, options: dict[str, Any], target: GPUTarget) -> None:
        self.__dict__.update({**_DEFAULTS, **options})
        if options.get("sanitize_overflow") is None:
            self.sanitize_overflow = bool(options.get("debug"))
        self.debug = True  # Assertions are what one interprets for.
        self.backend_name, self.arch = target.backend, target.arch
        self.warp_size = target.warp_size


class InterpretedKernel:
    """What a launch returns: the options that it was launched with."""

    def __init__(self, fn: Any, grid: tuple[int, int, int] | None, options: dict) -> None:
        self.name = fn.__name__
        self.fn = fn
        self.grid = grid
        self.__dict__.update({**_DEFAULTS, **options})

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"an interpreted kernel has no `{name}`: nothing was compiled (TILE_INTERPRET is set)"
        )

    def __repr__(self) -> str:
        return f"InterpretedKernel({self.name})"


def interpret(fn: Any, grid: Any, args: tuple, kwargs: dict, warmup: bool = False) -> Any:
    """Interprets a launch of a jit function."""
    launcher = fn.launcher()
    values, options = launcher.bound(args, kwargs, warmup)
    launcher.check_options(options)
    options = launcher.with_defaults(values, options)
    target, options = launcher.checked(simulated_target(), options)
    signature, constants, _ = launcher.describe(values)
    launcher.watch.check()
    launcher.watch.remember_references()
    if warmup:
        return InterpretedKernel(fn, None, options)
    extents = launcher.grid(grid, values)
    parameters, memory, arguments = kernel_values(signature, values, constants)
    builder = builder_for(fn)(memory, extents, Options(options, target))
    try:
        with state.generating(builder, builder), np.errstate(all="ignore"):
            run(builder, fn, parameters, extents)
    finally:
        arguments.finish()
    return InterpretedKernel(fn, extents, options)


def builder_for(fn: Any) -> type[EagerBuilder]:
    if fn.is_gluon():
        from ..experimental.gluon.interpreter import ExplicitBuilder

        return ExplicitBuilder
    return EagerBuilder


def run(builder: EagerBuilder, fn: Any, parameters: list[Any], grid: tuple[int, int, int]) -> None:
    """Calls the function once for each program."""
    native = builder.prepare(fn)
    by_name = {
        p.name: value for p, value in zip(fn.params, parameters, strict=True) if p.is_keyword_only
    }
    positional = parameters[: len(parameters) - len(by_name)]
    x, y, z = map(range, grid)
    error = None
    for k, j, i in itertools.product(z, y, x):
        builder.begin((i, j, k))
        try:
            if native(*positional, **by_name) is not None:
                error = CompilationError(RETURNS_NOTHING, [function_place(fn.parse())])
                break
            builder.end()
        except TileError as raised:
            error = located(raised, builder.program)
            break
        except RecursionError as raised:
            deep = SemanticError("calls nest too deep; recursion is not supported in kernels")
            error = located(deep.with_traceback(raised.__traceback__), builder.program)
            break
        except Exception as raised:
            wrong = mistake(raised)
            if wrong is None:
                raise
            error = located(wrong, builder.program)
            break
    if error is not None:
        raise error from None
