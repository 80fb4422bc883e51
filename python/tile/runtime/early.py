"""Local variables that a function reads where they may have no value yet. Python refuses that. In
kernels such a name is what it is outside of the function."""

from __future__ import annotations

import ast


def read_early(code: list[ast.AST]) -> set[str]:
    """The names that some path through these nodes reads before it assigns them."""
    found = _Early()
    for node in code:
        found.visit(node)
    return found.names


class _Early(ast.NodeVisitor):
    """Goes through the code in the order in which it runs."""

    def __init__(self) -> None:
        self.assigned: set[str] = set()
        self.names: set[str] = set()

    def visit_arg(self, node: ast.arg) -> None:
        self.assigned.add(node.arg)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.assigned.add(node.id)
        elif node.id not in self.assigned:
            self.names.add(node.id)

    # The value comes before what it is assigned to.

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id not in self.assigned:
            self.names.add(node.target.id)
        self.visit(node.value)
        self.visit(node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._paths([node.target, *node.body], node.orelse)

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self._paths(node.body, node.orelse)

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._paths(node.body, node.orelse)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._paths([node.body], [node.orelse])

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.visit(node.values[0])
        self._paths(node.values[1:], [])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        # It runs later, and has variables of its own.
        self.assigned.add(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def visit_comp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> None:
        before = set(self.assigned)
        for generator in node.generators:
            self.visit(generator.iter)
            self.visit(generator.target)
            for condition in generator.ifs:
                self.visit(condition)
        self.visit(node.elt)
        self.assigned = before  # Its variables are its own, and it may run for nothing.

    visit_ListComp = visit_GeneratorExp = visit_SetComp = visit_comp

    def _paths(self, *paths: list[ast.AST]) -> None:
        """What every path assigns is assigned behind them."""
        before = set(self.assigned)
        after = []
        for path in paths:
            self.assigned = set(before)
            for node in path:
                self.visit(node)
            after.append(self.assigned)
        self.assigned = set.intersection(*after)
