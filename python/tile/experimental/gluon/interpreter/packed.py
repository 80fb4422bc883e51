"""Arithmetic on several neighbours at once: what single elements give."""

from __future__ import annotations

from typing import Any

from tile.errors import InterpreterError
from tile.interpreter.registry import operation

#: By kind, as the operation counts them.
_SAME = ("arith.addf", "arith.subf", "arith.mulf", "math.fma", "arith.minnumf", "arith.maxnumf")


@operation("ttnvgpu.packed_arith")
def _packed_arith(b: Any, operands: Any, attributes: Any, types: Any) -> Any:
    if any(x.dtype != operands[0].dtype for x in operands):
        raise InterpreterError("packed arithmetic of several types is for sm_107 alone")
    return b.create_one(_SAME[attributes["kind"]], operands)
