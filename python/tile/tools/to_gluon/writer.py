"""Writes functions: a statement for each operation, in the order of IR."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from .values import (
    Names,
    Type,
    UntranslatedError,
    element_name,
    layout_text,
    name_in,
    type_of,
)

#: What writes an operation, by its name: it returns the expression of its results, or None where
#: it has written all.
OPERATIONS: dict[str, Callable[[Writer, Any], str | None]] = {}


def operation(*names: str) -> Callable:
    def register(function: Callable) -> Callable:
        for name in names:
            OPERATIONS[name] = function
        return function

    return register


class Program:
    """A module of the language: its layouts, the functions that reductions combine by, a kernel."""

    def __init__(self) -> None:
        self.layouts: dict[str, str] = {}
        self.combiners: dict[str, str] = {}
        #: The functions that others call, by their name in IR.
        self.functions: dict[str, str] = {}
        self.names = Names()
        self.imports: set[str] = set()

    def layout(self, ty: Type) -> str:
        """The name of a layout."""
        shape = ty.shape or ()
        text = layout_text(ty.layout, shape)
        if text not in self.layouts:
            kind = re.match(r"gl\.(?:amd\.)?(\w+?)Layout", text)
            self.layouts[text] = self.names.new((kind[1] if kind else "Layout").upper())
        return self.layouts[text]

    def combiner(self, body: Callable[[str], str]) -> str:
        """The name of a function, given the text behind its name."""
        text = body("")
        if text not in self.combiners:
            self.combiners[text] = self.names.new("combine")
        return self.combiners[text]


class Writer:
    """Writes the body of one function."""

    def __init__(self, program: Program, names: Names) -> None:
        self.program = program
        self.names = names
        self.lines: list[str] = []
        self.indent = 1
        self._text: dict[Any, str] = {}
        self._constants: dict[Any, str] = {}

    # Values.

    def put(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def bind(self, value: Any, text: str) -> None:
        self._text[value] = text

    def define(self, value: Any) -> str:
        """A new name for a value."""
        name = self.names.new(name_in(str(value.location)) or "v")
        self.bind(value, name)
        return name

    def get(self, value: Any) -> str:
        """A value as an operand: a name, or a number of Python."""
        self._find(value)
        return self._text[value]

    def _find(self, value: Any) -> None:
        """Numbers of other functions are written again; other values stay where they are."""
        if value in self._text:
            return
        owner = value.owner
        if owner is None or owner.name != "arith.constant" or self.type(value).shape is not None:
            raise UntranslatedError("a function inside of the kernel takes values from around it")
        self.statement(owner)

    def is_number(self, value: Any) -> bool:
        self._find(value)
        return value in self._constants

    def typed(self, value: Any) -> str:
        """A value of the language, also of a number."""
        self._find(value)
        if value not in self._constants:
            return self._text[value]
        return f"gl.full([], {self._text[value]}, {element_name(self._constants[value])})"

    def number(self, value: Any, text: str, element: str) -> None:
        self._text[value] = text
        self._constants[value] = element

    @staticmethod
    def type(value: Any) -> Type:
        return type_of(str(value.type))

    def layout(self, ty: Type) -> str:
        return self.program.layout(ty)

    buffer_layout = layout

    def inferred(self, op: Any, text: str, kind: str, argument: Sequence[int] = ()) -> str:
        """`text`, whose layout the language infers, in the layout that IR has."""
        from tile.experimental.gluon.language._inference import infer
        from tile.experimental.gluon.language._syntax import layout_of

        source, target = self.type(op.operands[0]), self.type(op.results[0])
        shape = list(target.shape or ())
        have = layout_of(source.layout, source.shape or ())
        return self.settled(
            op.results[0], text, infer(kind, have, list(source.shape or ()), list(argument), shape)
        )

    def settled(self, result: Any, text: str, found: Any) -> str:
        """`text`, which is in the layout `found`, in the one that IR has."""
        from tile.experimental.gluon.language._inference import moves_data
        from tile.experimental.gluon.language._syntax import layout_of

        target = self.type(result)
        wanted = layout_of(target.layout, target.shape or ())
        if found == wanted:
            return text
        if moves_data(found, wanted, target.shape or ()):
            raise UntranslatedError(
                f"'{result.owner.name}' gives a layout that the language does not infer: "
                f"{target.layout}"
            )
        return f"gl.convert_layout({text}, {self.layout(target)}, assert_trivial=True)"

    # Attributes.

    @staticmethod
    def attribute(op: Any, name: str, default: str = "") -> str:
        found = op.attributes.get(name)
        return default if found is None else str(found)

    def integer(self, op: Any, name: str, default: int = 0) -> int:
        text = self.attribute(op, name)
        if text in ("true", "false"):
            return int(text == "true")
        return int(text.split(":")[0]) if text else default

    def integers(self, op: Any, name: str) -> list[int]:
        text = self.attribute(op, name)
        return [int(n) for n in re.findall(r"-?\d+", text.split(":", 1)[-1])]

    # Statements.

    def block(self, block: Any, terminators: Sequence[str]) -> Any:
        """Writes the operations of a block; returns the last one, which ends it."""
        operations = block.operations
        for op in operations[:-1]:
            self.statement(op)
        if operations[-1].name not in terminators:
            raise UntranslatedError(f"a block ends with '{operations[-1].name}'")
        return operations[-1]

    def statement(self, op: Any) -> None:
        write = OPERATIONS.get(op.name)
        if write is None:
            raise UntranslatedError(f"the language with layouts has no name for '{op.name}'")
        text = write(self, op)
        if text is None:
            return
        results = [self.define(result) for result in op.results]
        self.put(f"{', '.join(results)} = {text}" if results else text)

    def assign(self, names: Sequence[str], values: Sequence[str]) -> None:
        """All at once: what is assigned may be assigned from."""
        pairs = [(n, v) for n, v in zip(names, values, strict=True) if n != v]
        if pairs:
            left, right = zip(*pairs, strict=True)
            self.put(f"{', '.join(left)} = {', '.join(right)}")
