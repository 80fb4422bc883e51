"""The IR, by the names under which programs that walk it know it."""

from __future__ import annotations

from tile import _C, knobs
from tile._C.ir import Block as block
from tile._C.ir import Context as context
from tile._C.ir import Module as module
from tile._C.ir import Operation as operation
from tile._C.ir import Region as region
from tile._C.ir import Value as value
from tile.compat.spelling import as_triton
from tile.compat.unbuilt import Unbuilt
from tile.compiler.errors import from_diagnostics
from tile.compiler.pipelines import run_pipeline

#: It creates the operations of Triton's front end.
builder = Unbuilt(
    "triton._C.libtriton.ir.builder",
    "kernels are functions of Python, and IR is text, which parse_mlir_module reads",
)


class pass_manager:
    """Runs passes on a module. The functions of `passes` add them."""

    def __init__(self, context: object) -> None:
        self.context = context
        self._passes: list[str] = []

    def add(self, text: str, options: str) -> None:
        self._passes.append(f"{text}{{{options}}}" if options else text)

    def enable_debug(self) -> bool:
        """Whether the IR is printed before each pass: as the environment says, for stages, too."""
        return knobs.compilation.enable_dump not in ("", "0", None)

    def get_pipeline_str(self) -> str:
        return f"builtin.module({','.join(self._passes)})"

    def run(self, module: object, name: str = "") -> None:
        try:
            run_pipeline(module, ",".join(self._passes), name)
        except _C.ir.MLIRError as error:
            raise from_diagnostics(error) from None


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
    "pass_manager", "region", "value",
]  # fmt: skip
