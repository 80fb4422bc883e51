"""Walks over Python's syntax trees, which take `ast.walk` several times as long."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable

#: Fields without nodes, or with such that say no more than which operator it is, say.
_WORDS = {
    "arg", "attr", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "lineno", "module",
    "name", "op", "ops", "simple", "tag", "type_comment", "conversion",
}  # fmt: skip
_WITHOUT_CHILDREN = (ast.Name, ast.Constant)


@functools.cache
def _fields(cls: type[ast.AST]) -> tuple[str, ...]:
    return tuple(name for name in cls._fields if name not in _WORDS)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, in the order of the text, but for operators and contexts."""
    if node.__class__ in _WITHOUT_CHILDREN:
        return []
    found: list[ast.AST] = []
    for name in _fields(node.__class__):
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(code: Iterable[ast.AST]) -> list[ast.AST]:
    """All nodes of some trees, each before those below it."""
    found = []
    pending = [*code][::-1]
    while pending:
        node = pending.pop()
        found.append(node)
        if node.__class__ not in _WITHOUT_CHILDREN:
            pending += children(node)[::-1]
    return found
