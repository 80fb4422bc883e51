"""Looks at what a branch that is not taken would have assigned.

Where two ways join, the compiler gives a variable one type. If the way that
was taken left a number in it, the type is that of the other way. To find it,
the other way is run on the variables as they were, with memory left alone.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..language import state


class Phantom:
    """The mode in which only types matter."""

    def branch(self, site: Any, before: dict[str, Any]) -> Any:
        from .control import Branch

        return Branch(True, site, dict(before))


@contextmanager
def _looking() -> Iterator[None]:
    builder = state._state.builder
    saved, trace = builder.phantom, sys.gettrace()
    builder.phantom = saved or Phantom()
    # A debugger has nothing to see here.
    sys.settrace(None)
    try:
        yield
    finally:
        builder.phantom = saved
        sys.settrace(trace)


class Site:
    """A branch in the source: an `if`, or an expression `... if ... else ...`."""

    def __init__(self, node: Any, names: tuple[str, ...]) -> None:
        self.node = node
        self.names = names
        self.namespace: dict[str, Any] = {}
        self._codes: dict[bool, types.CodeType | None] = {}

    def code(self, way: bool) -> types.CodeType | None:
        """The code of one way; None if there is none."""
        if way not in self._codes:
            part = self.node.body if way else self.node.orelse
            if isinstance(part, list):
                tree: Any = ast.Module(part, []) if part else None
            else:
                tree = ast.Expression(part)
            self._codes[way] = None
            if tree is not None:
                ast.fix_missing_locations(tree)
                mode = "exec" if isinstance(tree, ast.Module) else "eval"
                self._codes[way] = compile(tree, "<the other branch>", mode)
        return self._codes[way]

    def other(self, taken: bool, before: dict[str, Any], value: Any = None) -> Any:
        """What the way that is not taken leaves: its variables, or its value."""
        code = self.code(not taken)
        if code is None:
            return before
        scope = {**self.namespace, **before}
        with _looking():
            try:
                result = eval(code, scope)
            except Exception:
                # It may fail on values that it would never see.
                return before if isinstance(self.node, ast.If) else value
        return scope if isinstance(self.node, ast.If) else result
