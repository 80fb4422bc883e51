"""Which names a piece of Python assigns."""

from __future__ import annotations

import ast
from collections.abc import Iterable


class _Assigned(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names: dict[str, ast.AST] = {}

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.names.setdefault(node.id, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names.setdefault(node.name, node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp) -> None:
        # Its targets are its own, but walrus assignments in it are not.
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for child in (c for part in parts for c in ast.walk(part)):
            if isinstance(child, ast.NamedExpr):
                self.visit(child.target)


def assigned_names(nodes: Iterable[ast.AST]) -> dict[str, ast.AST]:
    """The names assigned, in order, each with the first node that does."""
    visitor = _Assigned()
    for node in nodes:
        visitor.visit(node)
    return visitor.names


def contains(
    nodes: Iterable[ast.AST], kinds: tuple[type[ast.AST], ...], into_loops: bool = True
) -> ast.AST | None:
    """The first node of one of the kinds, outside of nested functions."""
    for node in nodes:
        if isinstance(node, kinds):
            return node
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        if not into_loops and isinstance(node, (ast.For, ast.While)):
            continue
        found = contains(ast.iter_child_nodes(node), kinds, into_loops)
        if found is not None:
            return found
    return None
