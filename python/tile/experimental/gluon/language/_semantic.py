"""What the front end asks otherwise where tensors have layouts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from tile import _C
from tile.compiler.builder import IRBuilder
from tile.language.dtypes import dtype

from ._inference import linear_layout
from ._layouts import AutoLayout, is_open
from ._types import distributed_type


class GluonBuilder(IRBuilder):
    """Creates the operations of programs that say their layouts."""

    def __init__(self, module: Any, options: Any) -> None:
        super().__init__(module, options)
        #: How many warps run what is generated: those of the kernel, or of a partition.
        self.num_warps = options.num_warps
        self.spells_numbers = "tile.compat.triton" in sys.modules
        for name, value in {
            "ttg.num-warps": f"{options.num_warps} : i32",
            "ttg.num-ctas": f"{options.num_ctas} : i32",
            "ttg.threads-per-warp": f"{options.warp_size} : i32",
            "ttg.target": f'"{options.backend_name}:{options.arch}"',
        }.items():
            module.set_attribute(name, _C.ir.Attribute.parse(value, module.context))

    def constant(self, type: Any, value: Any) -> Any:
        """Under the switch, a tensor's number is there as a scalar, too, as Triton writes it: the
        first pass takes out what nobody uses."""
        if self.spells_numbers:
            try:
                super().constant(type.element_type, value)
            except ValueError:  # A scalar.
                pass
        return super().constant(type, value)

    def type(self, ty: dtype) -> Any:
        if ty.mlir not in self._types and isinstance(ty, distributed_type):
            if not is_open(ty.layout):
                linear_layout(ty.layout, ty.shape)  # Raises where it does not fit.
        return super().type(ty)

    def new_block(self, element_ty: dtype, shape: Sequence[int]) -> dtype:
        return distributed_type(element_ty, shape, AutoLayout())

    def parse_type(self, text: str) -> Any:
        """A type that no value of the language has."""
        found = self._types.get(text)
        if found is None:
            found = self._types[text] = _C.ir.Type.parse(text, self._context)
        return found

    def i64_array(self, values: Sequence[int]) -> Any:
        return self.parse_attr(f"array<i64: {', '.join(map(str, values))}>")

    @contextmanager
    def partition(self, num_warps: int):
        """While it lasts, `num_warps` warps run what is generated."""
        saved, self.num_warps = self.num_warps, num_warps
        try:
            yield
        finally:
            self.num_warps = saved
