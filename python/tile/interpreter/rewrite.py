"""Prepares a kernel's source to be run by Python itself.

Names, lines and columns stay as they are, so that a debugger shows the function
as it was written. Three things change. Branches and loops call `control`, which
turns numbers into values of the kernel. `and`, `or`, `not` and chained
comparisons work on tensors. Constants are plain values.
"""

from __future__ import annotations

import ast
import copy
import sys
import types
from typing import Any

from ..compiler.assigned import assigned_names, contains
from ..compiler.chains import bits_between
from ..compiler.functions import is_compiled, is_plain
from ..language.values import constexpr, is_member

_CONTROL = "__tile__"
_SYMBOLS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


#: Statements that the compiler refuses, and that no debugging needs.
_REFUSED: tuple[type[ast.AST], ...] = (
    ast.Try, ast.Raise, ast.Global, ast.Nonlocal, ast.ClassDef, ast.Match, ast.AsyncFunctionDef,
    ast.AsyncFor, ast.AsyncWith,
)  # fmt: skip
if sys.version_info >= (3, 11):
    _REFUSED += (ast.TryStar,)


def _locate(new: ast.AST, place: ast.AST) -> None:
    """Gives new nodes, in which others may be, the place where another starts.
    (One that spans lines would be stepped through once more at its end.)"""
    line, column = place.lineno, place.col_offset  # type: ignore[attr-defined]
    pending = [new]
    while pending:
        node = pending.pop()
        if "lineno" in node._attributes:
            if hasattr(node, "lineno"):
                continue  # From the kernel, and all in it as well.
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = column
        pending.extend(ast.iter_child_nodes(node))


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _locals() -> ast.Call:
    return ast.Call(_load("locals"), [], [])


class Rewriter(ast.NodeTransformer):
    """Rewrites one function; `sites` collects its branches."""

    def __init__(
        self, node: ast.FunctionDef, local: set[str], lookup: Any, may_change: Any, make_site: Any
    ) -> None:
        self.lookup = lookup
        self.may_change = may_change
        self.make_site = make_site
        self.sites: list[Any] = []
        self.counter = 0
        #: Whether the function returns in several places, and is not inside another.
        self.several = contains(
            [s for s in node.body if isinstance(s, (ast.If, ast.For, ast.While))], (ast.Return,)
        )
        #: Names that may be local somewhere in the function.
        self.local = local

    # Pieces of code.

    def call(self, name: str, *arguments: ast.expr) -> ast.Call:
        return ast.Call(
            ast.Attribute(ast.Name(_CONTROL, ast.Load()), name, ast.Load()), list(arguments), []
        )

    def temporary(self, kind: str) -> str:
        self.counter += 1
        return f"<{kind}{self.counter}>"

    def site(self, node: ast.AST, names: tuple[str, ...], returns: bool = False) -> ast.expr:
        """A reference to the description of a branch."""
        site = self.make_site(node, names, returns)
        self.sites.append(site)
        index = ast.Constant(len(self.sites) - 1)
        return ast.Subscript(ast.Name("__tile_sites__", ast.Load()), index, ast.Load())

    @staticmethod
    def at(place: ast.AST, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Gives new statements the place of another node."""
        for statement in statements:
            _locate(statement, place)
        return statements

    def update(self, names: tuple[str, ...], owner: str, method: str) -> list[ast.stmt]:
        """``if owner.dynamic:`` set the names that ``owner.method`` returns."""
        new = self.temporary("new")
        get = ast.Call(ast.Attribute(_load(owner), method, ast.Load()), [_locals()], [])
        each: list[ast.stmt] = [
            ast.If(
                ast.Compare(ast.Constant(name), [ast.In()], [_load(new)]),
                [_assign(name, ast.Subscript(_load(new), ast.Constant(name), ast.Load()))],
                [],
            )
            for name in names
        ]
        dynamic = ast.Attribute(_load(owner), "dynamic", ast.Load())
        return [ast.If(dynamic, [_assign(new, get), ast.If(_load(new), each, [])], [])]

    def function(self, node: ast.FunctionDef, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The body of the function."""
        body = self.block(statements)
        if self.several:
            site = self.site(node, ())
            arguments = _locals()
            enter = self.call("entered", site, arguments)
            body[:0] = self.at(body[0], [ast.Assign([ast.Name("<call>", ast.Store())], enter)])
        return body

    # Statements.

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrites statements; what a statement adds after itself takes the
        place of the next one, so that stepping does not go back."""
        result: list[ast.stmt] = []
        pending: list[ast.stmt] = []
        last: ast.stmt | None = None
        for statement in statements:
            result.extend(self.at(statement, pending))
            rewritten, pending = self.statement(statement)
            result.extend(rewritten)
            last = statement
        if pending and last is not None:
            end = ast.Pass()
            end.lineno = end.end_lineno = last.end_lineno or last.lineno
            end.col_offset, end.end_col_offset = last.col_offset, last.end_col_offset
            result.extend(self.at(end, pending))
        return result

    def statement(self, node: ast.stmt) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The statement rewritten, and what comes after it."""
        if isinstance(node, _REFUSED):
            refusal = self.call("refuse", ast.Constant(type(node).__name__))
            return self.at(node, [ast.Expr(refusal)]), []
        refused = self.refused_target(node)
        if refused is not None:
            return self.at(node, [ast.Expr(refused)]), []
        if isinstance(node, ast.If):
            return self.branch(node)
        if isinstance(node, (ast.For, ast.While)):
            return self.loop(node)
        if isinstance(node, ast.Assert):
            arguments = [self.visit(node.test)]
            if node.msg is not None:
                arguments.append(self.visit(node.msg))
            return self.at(node, [ast.Expr(self.call("check", *arguments))]), []
        if isinstance(node, ast.FunctionDef):
            several, self.several = self.several, None
            node.decorator_list = []
            node.body = self.block(node.body)
            self.several = several
            return [node], []
        if isinstance(node, ast.Return) and node.value is not None and self.several:
            call = ast.Name("<call>", ast.Load())
            node.value = self.placed(
                self.call("returned", call, self.visit(node.value)), node.value
            )
            return [node], []
        if isinstance(node, ast.AnnAssign):
            if node.value is None:
                return self.at(node, [ast.Pass()]), []
            plain = ast.Assign([node.target], self.visit(node.value))
            return self.at(node, [plain]), []
        return [*self.at(node, self.attribute_owners(node)), self.visit(node)], []

    def refused_target(self, node: ast.stmt) -> ast.expr | None:
        """What an assignment or `del` refuses, if it is about elements of something."""
        if isinstance(node, ast.Delete):
            plain = all(isinstance(target, ast.Name) for target in node.targets)
            return None if plain else self.call("refuse_delete")
        if isinstance(node, ast.Assign):
            pending = list(node.targets)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            pending = [node.target]
        else:
            return None
        while pending:
            target = pending.pop()
            if isinstance(target, (ast.Tuple, ast.List)):
                pending.extend(target.elts)
            elif isinstance(target, ast.Starred):
                pending.append(target.value)
            elif isinstance(target, ast.Subscript):
                return self.call("refuse_element", self.visit(target.value))
        return None

    def attribute_owners(self, node: ast.stmt) -> list[ast.stmt]:
        """Before an assignment to attributes: whether their owners have some."""
        targets = node.targets if isinstance(node, ast.Assign) else []
        return [
            ast.Expr(self.call("refuse_attribute", copy.deepcopy(target.value)))
            for target in targets
            if isinstance(target, ast.Attribute)
        ]

    def branch(self, node: ast.If) -> tuple[list[ast.stmt], list[ast.stmt]]:
        returns = contains([node], (ast.Return,)) is not None
        jumps = returns or contains([node], (ast.Continue, ast.Break), into_loops=False)
        # Variables join here, unless one way leaves: then where that goes.
        names = () if jumps else tuple(assigned_names([*node.body, *node.orelse]))
        test = self.visit(node.test)
        if not names and not returns:
            node.test = self.placed(self.call("truth", test), node.test)
            node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            return [node], []
        variable = self.temporary("if")
        site = self.site(node, names, returns)
        arguments = (test, site, _locals())
        decide = ast.Assign([ast.Name(variable, ast.Store())], self.call("branch", *arguments))
        node.test = ast.copy_location(ast.Name(variable, ast.Load()), node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        after = self.update(names, variable, "join") if names else []
        return [*self.at(node, [decide]), node], after

    def loop(self, node: ast.For | ast.While) -> tuple[list[ast.stmt], list[ast.stmt]]:
        variable = self.temporary("loop")
        counted = isinstance(node, ast.For)
        own = assigned_names([node.target]) if counted else {}
        within = node.body if counted else [node.test, *node.body]
        names = tuple(n for n in assigned_names(within) if n not in own)
        constant_names = ast.Tuple([ast.Constant(n) for n in names], ast.Load())
        first = node.body[0]
        keep = self.at(first, self.update(names, variable, "keep")) if names else []
        target = [ast.Name(variable, ast.Store())]
        carried = [constant_names]
        begin: list[ast.stmt] = []
        otherwise: list[ast.stmt] = []
        if self.several and contains(node.body, (ast.Return,)):
            carried.append(ast.Name("<call>", ast.Load()))
        if counted:
            start = ast.Assign(target, self.call("loop", self.visit(node.iter), *carried))
            node.iter = ast.copy_location(ast.Name(variable, ast.Load()), node.iter)
            node.target = self.visit(node.target)
            node.body = [*keep, *self.block(node.body)]
            node.orelse = self.block(node.orelse)
        else:
            start = ast.Assign(target, self.call("while_loop", *carried))
            owner = ast.Attribute(ast.Name(variable, ast.Load()), "test", ast.Load())
            test = ast.UnaryOp(ast.Not(), ast.Call(owner, [self.visit(node.test)], []))
            stop = self.at(node.test, [ast.If(test, [ast.Break()], [])])
            if node.orelse:  # It runs where the test, not a `break`, ended the loop.
                ended = self.temporary("ended")
                begin.append(self.assigned(ended, False))
                stop[0].body = self.at(node.test, [self.assigned(ended, True), *stop[0].body])
                condition = ast.Name(ended, ast.Load())
                otherwise = self.at(node.orelse[0], [ast.If(condition, [], [])])
                otherwise[0].body, node.orelse = self.block(node.orelse), []
            self.at(node, keep)
            node.test = ast.copy_location(ast.Constant(True), node.test)
            node.body = [*keep, *stop, *self.block(node.body)]
        enter = self.update(names, variable, "enter") if names else []
        after = self.update(names, variable, "keep") if names else []
        return [*self.at(node, [start, *enter, *begin]), node, *otherwise], after

    @staticmethod
    def assigned(name: str, value: Any) -> ast.stmt:
        return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))

    # Expressions.

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        is_and = ast.Constant(isinstance(node.op, ast.And))
        result = self.visit(node.values[0])
        for operand in node.values[1:]:
            result = ast.IfExp(
                self.call("first", result, is_and),
                self.call("second", self.visit(operand), is_and),
                self.call("decided"),
            )
        return self.placed(result, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return self.placed(self.call("not_", node.operand), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        unwanted = ast.Constant(bits_between(node))
        self.generic_visit(node)
        if len(node.ops) == 1 and not isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return node
        symbols = ast.Tuple([ast.Constant(_SYMBOLS[type(op)]) for op in node.ops], ast.Load())
        return self.placed(
            self.call("compare", symbols, unwanted, node.left, *node.comparators), node
        )

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        site = self.site(node, ())
        test = self.call("choose", self.visit(node.test), site)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return self.placed(self.call("chosen", ast.IfExp(test, node.body, node.orelse)), node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        self.generic_visit(node)
        return self.placed(self.call("tuple", node), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        constant = isinstance(self.resolve(node), constexpr)
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        if constant:
            return self.placed(self.call("unwrap", node), node)
        if node.attr == "value":
            return self.placed(self.call("value", node.value), node)
        if is_member(node.attr) and not isinstance(self.resolve(node.value), types.ModuleType):
            node.value = self.placed(self.call("owner", node.value), node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        key = node.slice
        is_value = isinstance(key, ast.Attribute) and key.attr == "value"
        if isinstance(node.ctx, ast.Load) and is_value and isinstance(key.value, ast.Name):
            call = self.call("item", self.visit(node.value), self.visit(key.value))
            return self.placed(call, node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = self.resolve(node.func)
        is_constexpr = function is constexpr
        if is_plain(function):
            return self.placed(self.call("refuse_plain", ast.Constant(function.__name__)), node)
        self.generic_visit(node)
        if is_constexpr:
            return self.placed(self.call("unwrap", *node.args), node)
        if isinstance(node.func, ast.Name) and node.func.id == "breakpoint":
            # Called from the kernel itself, so that it is where one stops.
            node.func = self.placed(self.call("debugger", node.func), node.func)
        elif function is None or not is_compiled(function):
            node.func = self.placed(self.call("callee", node.func), node.func)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or node.id in self.local:
            return node
        if not self.may_change(node.id):
            return node
        return self.placed(self.call("check_global", ast.Constant(node.id), node), node)

    def refused(self, node: ast.expr) -> ast.expr:
        """An expression that kernels do not have."""
        return self.placed(self.call("refuse", ast.Constant(type(node).__name__)), node)

    visit_Yield = visit_YieldFrom = visit_Await = visit_Set = visit_SetComp = refused

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.generic_visit(node)
        return node

    def placed(self, new: ast.expr, old: ast.AST) -> ast.expr:
        _locate(new, old)
        return ast.copy_location(new, old)

    def resolve(self, node: ast.expr) -> Any:
        """What a global name, or an attribute of a global, is."""
        if isinstance(node, ast.Name):
            return None if node.id in self.local else self.lookup(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            if isinstance(owner, (types.ModuleType, type)):
                return getattr(owner, node.attr, None)
        return None
