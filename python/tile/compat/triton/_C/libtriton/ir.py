"""The IR, by the names under which programs that walk it know it."""

from __future__ import annotations

from tile import _C
from tile._C.ir import Block as block
from tile._C.ir import Context as context
from tile._C.ir import Module as module
from tile._C.ir import Operation as operation
from tile._C.ir import Region as region
from tile._C.ir import Value as value
from tile.compat.spelling import as_triton
from tile.compat.unbuilt import Unbuilt

#: It creates the operations of Triton's front end.
builder = Unbuilt("triton._C.libtriton.ir.builder")


def load_dialects(context: object) -> None:
    """Nothing to do: a context has all dialects."""


def _str_nodebug(self: object) -> str:
    """The module's text as Triton spells it, without locations."""
    return as_triton(self)


module.str_nodebug = _str_nodebug


def parse_mlir_module(path: str, context: object) -> object:
    """The module in a file."""
    with open(path, encoding="utf-8") as file:
        return _C.ir.Module.parse(file.read(), context, path)


__all__ = [
    "block", "builder", "context", "load_dialects", "module", "operation", "parse_mlir_module",
    "region", "value",
]  # fmt: skip
