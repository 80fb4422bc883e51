"""What ``triton.compiler.code_generator`` has beside our own names."""

from __future__ import annotations

from typing import Any

from tile import _C
from tile.errors import TileError


def ast_to_ttir(
    fn: Any, src: Any, context: Any, options: Any, codegen_fns: Any = None, module_map: Any = None,
    module: Any = None,
) -> Any:  # fmt: skip
    """The module of a source, as programs ask for it that call the stages by themselves. Nobody
    compares the arguments of their launches: any of them may overlap."""
    if module is not None:
        raise TileError("ast_to_ttir makes a module of its own; it adds to none")
    if getattr(src, "fn", fn) is not fn:
        raise TileError(f"the source is of `{src.name}`, not of `{fn.__name__}`")
    made = src.make_ir(options, context)
    made.set_attribute("ttg.overlapping-arguments", _C.ir.Attribute.parse("unit", made.context))
    return made
