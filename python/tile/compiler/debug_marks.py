"""Marks for a debugger: where statements begin, and which value a variable gets.

Kernels have them if they are compiled in the mode `variables` of `instrumentation_mode`, which
`tile debug` sets. Each mark is a line of assembly in the end, so such a kernel is another one: it
keeps the order of statements, and what is assigned.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ..language.promotion import is_constant
from ..language.values import tensor
from .flatten import is_sequence
from .instrumentation import shows_variables

#: Longer texts of constants are cut.
_LONGEST = 200


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class DebugMarks:
    """The part of the code generator that writes marks."""

    def marks(self) -> bool:
        """Whether the code that is being generated gets marks: the user's does, where operations
        may have effects."""
        b = self.builder
        return shows_variables(b.options) and not b.in_region and not self.frame.source.internal

    def mark_statement(self, statement: ast.stmt) -> None:
        if self.marks() and not _is_docstring(statement):
            self.at(statement)
            self.builder.create("debug.statement", (), None, ())

    def mark_entry(self, body: list[ast.stmt], parameters: Iterable[str]) -> None:
        """The function that is being generated begins."""
        if not self.marks():
            return
        b = self.builder
        self.at(body[0])
        name = getattr(self.frame.function, "__name__", None) or self.frame.source.name
        b.create("debug.statement", (), {"function": b.str_attr(name)}, ())
        for parameter in parameters:
            self.mark_value(parameter, self.frame.scope.get(parameter))

    def mark_value(self, name: str, value: Any) -> None:
        """A variable has this value from here on. One for which there is no way to show a value
        stays without a mark."""
        if not self.marks():
            return
        b = self.builder
        if isinstance(value, tensor) and not _is_block_pointer(value):
            attributes = {"name": b.str_attr(name), "type": b.str_attr(str(value.dtype))}
            b.create("debug.value", [value.handle], attributes, ())
            if (mask := _mask_of(value)) is not None:
                attributes = {**attributes, "type": b.str_attr("int1"), "mask": b.unit_attr()}
                b.create("debug.value", [mask], attributes, ())
        elif is_sequence(value):
            fields = getattr(value, "_fields", None)
            for i, item in enumerate(value):
                self.mark_value(f"{name}.{fields[i]}" if fields else f"{name}[{i}]", item)
        elif is_constant(value) or isinstance(value, str):
            text = repr(value)[:_LONGEST]
            attributes = {"name": b.str_attr(name), "text": b.str_attr(text)}
            b.create("debug.constant", (), attributes, ())


def _is_block_pointer(value: tensor) -> bool:
    """A pointer to a block with its shape and strides: no register holds one."""
    return value.type.is_ptr() and value.type.element_ty.is_block()


def _mask_of(value: tensor) -> Any:
    """The mask of the load that a tensor comes from."""
    owner = value.handle.owner
    if owner is None or owner.name != "tt.load" or len(owner.operands) < 2:
        return None
    return owner.operands[1]
