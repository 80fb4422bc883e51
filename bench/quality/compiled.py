"""Compiles a case with tile, and says what machine it is for."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from peer import load

import tile
from tile.backends.compiler import GPUTarget

from . import amd, nvidia
from .cases import Case

#: What is shown for targets of each kind.
MACHINES: dict[str, ModuleType] = {"cuda": nvidia, "hip": amd}


#: A module runs once: its functions are the same for all cases.
_example = functools.cache(load)


def source_of(case: Case, target: GPUTarget) -> Any:
    """The case as its launch on the target would compile it."""
    fn = getattr(_example(case.example), case.kernel)
    return tile.compiler.ASTSource(
        fn=fn,
        signature=case.signature(fn.arg_names),
        constexprs=case.constants,
        attrs=case.hints(fn.arg_names, target.backend),
    )


def compile_case(case: Case, target: GPUTarget) -> Any:
    """The compiled kernel; raises TileError where it is refused."""
    return tile.compile(source_of(case, target), target=target, options=case.options)


def compile_ours(case: Case, target: GPUTarget) -> dict[str, Any]:
    stage = MACHINES[target.backend].STAGE
    try:
        compiled = compile_case(case, target)
    except tile.errors.TileError as error:
        return {"error": str(error).splitlines()[0]}
    text = compiled.asm[stage]
    limit = getattr(compiled.metadata, "register_limit", None)
    if limit is not None:  # ptxas was told of it behind this stage.
        from tile.backends.nvidia.occupancy import state_limit

        text = state_limit(text, limit) or text
    return {"text": text, "shared": compiled.metadata.shared}
