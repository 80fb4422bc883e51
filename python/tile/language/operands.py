"""What reductions and scans go over: blocks, in tuples and aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import SemanticError
from .dtypes import dtype
from .promotion import to_tensor
from .values import describe, tensor


def is_sequence(value: Any) -> bool:
    return isinstance(value, (tuple, list))


class Operands:
    """The blocks of a value, and how a combine function sees elements of them.

    The function takes the parts of a tuple one by one. An aggregate is one part, whose fields are
    elements then. A tuple within the tuple is one part, too.
    """

    def __init__(self, value: Any, what: str) -> None:
        from ..compiler.flatten import flat_types, flatten, structure

        self.what = what
        self.spread = is_sequence(value)
        self.parts = [structure(v) for v in (value if self.spread else [value])]
        handles: list[Any] = []
        types: list[Any] = []
        flatten(value, handles)
        for part in self.parts:
            flat_types(part, types)
        if not types:
            raise SemanticError(f"{what} takes blocks, not {describe(value)}")
        self.blocks = [tensor(h, t) for h, t in zip(handles, types, strict=True)]

    def again(self, blocks: Iterable[tensor]) -> Any:
        """A value of the same structure, with other blocks."""
        values = self.together(self.parts, blocks)
        return tuple(values) if self.spread else values[0]

    @staticmethod
    def together(parts: Sequence[Any], blocks: Iterable[tensor]) -> list[Any]:
        from ..compiler.flatten import unflatten, with_types

        blocks = list(blocks)
        handles = iter([b.handle for b in blocks])
        types = iter([b.type for b in blocks])
        return [unflatten(with_types(part, types), handles) for part in parts]

    # Of a combine function.

    def arguments(self, elements: list[tensor]) -> list[Any]:
        """What it is called with: the parts of one place, then those of another."""
        half = len(elements) // 2
        return [
            *self.together(self.parts, elements[:half]),
            *self.together(self.parts, elements[half:]),
        ]

    def results(self, outcome: Any) -> list[tensor]:
        """The elements that it returned; refuses what is no element of these blocks."""
        spread = self.spread and is_sequence(outcome)
        parts = list(outcome) if spread else [outcome]
        if len(parts) != len(self.parts):
            raise SemanticError(
                f"the combine function of {self.what} must return {len(self.parts)} value(s), but "
                f"it returned {len(parts)}"
            )
        pairs = zip(parts, self.parts, strict=True)
        return [e for got, part in pairs for e in self.elements(got, part)]

    def elements(self, got: Any, part: Any) -> list[tensor]:
        """The elements of one part of what a combine function returned."""
        from ..compiler.flatten import flat_types, flatten, structure, with_types

        types: list[Any] = []
        flat_types(part, types)
        wanted = with_types(part, iter([t.scalar for t in types]))
        if isinstance(part, dtype):
            got = to_tensor(got)
        found = structure(got)
        if found != wanted:
            raise SemanticError(
                f"the combine function of {self.what} must return {wanted}, but it returned {found}"
            )
        handles: list[Any] = []
        flatten(got, handles)
        return [tensor(h, t.scalar) for h, t in zip(handles, types, strict=True)]
