"""The builder that kernels are generated with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _C
from ..language.dtypes import block_type, dtype
from ..language.state import current_generator
from ..language.values import tensor

#: What carries the hints of these names.
_HINTS = {
    "multiple_of": "tt.divisibility",
    "max_contiguous": "tt.contiguity",
    "max_constancy": "tt.constancy",
}


class IRBuilder(_C.ir.Builder):
    """`_C.ir.Builder`, with the language's types and the compile's options."""

    #: Operations are created, not computed.
    eager = False
    new_block: Callable[..., dtype] = staticmethod(block_type)

    def __init__(self, module: Any, options: Any) -> None:
        super().__init__(module)
        self.options = options
        #: How many functions of single elements are being generated; they have no effects.
        self.in_region = 0
        #: Arguments of the kernel, which have hints of their own, and counters of loops, about which
        #: bounds and steps say everything.
        self.known: list[Any] = []
        #: Arguments of the kernel that it is compiled to take as not negative.
        self.not_negative: list[Any] = []
        self._context = self.context
        self._types: dict[str, Any] = {}

    def type(self, ty: dtype) -> Any:
        """The IR type of a type of the language."""
        found = self._types.get(ty.mlir)
        if found is None:
            found = self._types[ty.mlir] = _C.ir.Type.parse(ty.mlir, self._context)
        return found

    def combine(
        self,
        function: Any,
        types: list[dtype],
        terminator: str,
        arguments: Callable[[list[Any]], list[Any]],
        results: Callable[[Any], list[Any]],
    ) -> tuple[Any, list[dtype]]:
        region = self.region([self.type(t) for t in types])
        block = region.blocks[0]
        saved = self.insertion_point
        self.insert_at_end(block)
        self.in_region += 1
        try:
            elements = [tensor(v, t) for v, t in zip(block.arguments, types, strict=True)]
            outcome = current_generator().call_function(function, arguments(elements), {})
            returned = results(outcome)
            self.create(terminator, [r.handle for r in returned], None, ())
        finally:
            self.in_region -= 1
            self.insertion_point = saved
        return region, [r.dtype for r in returned]

    def hint(self, name: str, input: Any, values: list[int]) -> Any:
        handle = input.handle
        if handle.owner is None:
            if any(handle == known for known in self.known):
                return handle
            # What a loop or a branch carries is no operation's: one that does nothing has the fact.
            handle = self.create_one("tt.bitcast", (handle,), None, (self.type(input.type),))
        handle.owner.set_attribute(_HINTS[name], self.dense_i32_attr(values))
        return handle
