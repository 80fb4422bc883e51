"""The builder that kernels are generated with."""

from __future__ import annotations

from typing import Any

from .. import _C
from ..language.dtypes import dtype


class IRBuilder(_C.ir.Builder):
    """`_C.ir.Builder`, with the language's types and the compile's options."""

    #: Operations are created, not computed.
    eager = False

    def __init__(self, module: Any, options: Any) -> None:
        super().__init__(module)
        self.options = options
        #: How many functions of single elements are being generated; they have no effects.
        self.in_region = 0
        self._context = self.context
        self._types: dict[str, Any] = {}

    def type(self, ty: dtype) -> Any:
        """The IR type of a type of the language."""
        found = self._types.get(ty.mlir)
        if found is None:
            found = self._types[ty.mlir] = _C.ir.Type.parse(ty.mlir, self._context)
        return found
