"""Names that are declared `tl.constexpr`, but have a run-time value. That is no error by itself:
programs declare so what they only compute with. Where a constant is needed, the error names the
declaration, and stands where the value came from."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from ..language.values import describe, tensor
from .errors import SourceRange
from .flatten import is_sequence

#: What messages say where they want a constant.
_WANTED = re.compile(r"\bconstants?\b|at compile time|constexpr", re.IGNORECASE)


@dataclass(frozen=True)
class DeclaredConstant:
    """A name with a run-time value, and who declares it a constant."""

    name: str
    #: The value, in words.
    found: str
    #: The function whose parameter it is; empty for a variable.
    function: str
    #: Where the value came from, with the calls that lead there.
    places: tuple[SourceRange, ...]

    @property
    def message(self) -> str:
        if not self.function:
            return (
                f"`{self.name}` is declared tl.constexpr, but it is {self.found}, a run-time value"
            )
        return (
            f"`{self.name}` of `{self.function}` is declared tl.constexpr, but this call passes "
            f"{self.found}, a run-time value"
        )


def has_run_time_value(value: Any) -> bool:
    """Is it a tensor, or a sequence with one?"""
    return isinstance(value, tensor) or (is_sequence(value) and any(map(has_run_time_value, value)))


def in_words(value: Any) -> str:
    """A run-time value, for messages."""
    return describe(value) if isinstance(value, tensor) else "a sequence with tensors"


def wants_constant(message: str) -> bool:
    """Does a message say that a constant is wanted?"""
    return _WANTED.search(message) is not None


def named_in(node: ast.AST, declared: dict[str, DeclaredConstant]) -> DeclaredConstant | None:
    """The first of the declared names that an expression reads, or the head of a statement."""
    if not declared:
        return None
    # An error about a loop is not about its body.
    header = [getattr(node, field) for field in ("test", "iter") if hasattr(node, field)]
    for part in header or [node]:
        for child in ast.walk(part):
            if isinstance(child, ast.Name) and child.id in declared:
                return declared[child.id]
    return None


def argument_of(call: Any, index: int, name: str, count: int) -> ast.AST | None:
    """The expression that a call passes to a parameter; the call, if that is not plain."""
    if not isinstance(call, ast.Call):
        return call
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    unpacked = any(isinstance(argument, ast.Starred) for argument in call.args)
    # A method gets its owner, too.
    index -= count - len(call.args)
    return call.args[index] if not unpacked and 0 <= index < len(call.args) else call
