"""Statements of Python: assignments, assertions, definitions."""

from __future__ import annotations

import ast
from typing import Any, NoReturn

from ..errors import SemanticError, UnsupportedError
from ..language import indexing, program
from ..language.values import constexpr, one, tensor
from .declared_constants import DeclaredConstant, has_run_time_value, in_words, named_in
from .flatten import is_sequence
from .functions import LocalFunction

_NAMES = {
    "With": "`with`", "Try": "`try`", "TryStar": "`try`", "Raise": "`raise`", "Import": "`import`",
    "ImportFrom": "`import`", "Global": "`global`", "Nonlocal": "`nonlocal`",
    "ClassDef": "class definitions", "Yield": "`yield`", "YieldFrom": "`yield`",
    "Await": "`await`", "AsyncFor": "`async`", "AsyncWith": "`async`",
    "AsyncFunctionDef": "`async`", "Match": "`match`", "Set": "sets",
    "SetComp": "set comprehensions",
}  # fmt: skip
#: What to write instead, where that is not plain.
_INSTEAD = {
    "Yield": "return a tuple, and go through it with tl.static_range",
    "YieldFrom": "return a tuple, and go through it with tl.static_range",
    "Try": "kernels have no exceptions; test with `if`",
    "TryStar": "kernels have no exceptions; test with `if`",
    "Raise": "use tl.device_assert, or tl.static_assert for a constant",
    "Import": "import in the module of the kernel",
    "ImportFrom": "import in the module of the kernel",
    "Global": "return the value, or store it through a pointer",
    "Nonlocal": "return the value",
    "ClassDef": "define it in the module of the kernel, with @tl.aggregate",
    "Match": "but for constants, names, sequences of them, `|` and guards; use `if` and isinstance",
    "Set": "use a tuple",
    "SetComp": "use a tuple, or a dictionary",
}


def refuse(kind: str) -> NoReturn:
    """Says that kernels have no nodes of a kind."""
    instead = _INSTEAD.get(kind)
    sign = "," if kind == "Match" else ";"
    end = f"{sign} {instead}" if instead else ""
    raise UnsupportedError(f"{_NAMES.get(kind, kind)} cannot be used in kernels{end}")


def refuse_element(owner: Any) -> NoReturn:
    """Says that elements of values are not assigned."""
    if isinstance(owner, tensor):
        indexing.refuse_assignment(owner)
    instead = "; make a new one of the items" if is_sequence(owner) else ""
    raise SemanticError(f"elements of {one(owner)} cannot be assigned{instead}")


def refuse_delete() -> NoReturn:
    """Says that `del` takes variables."""
    raise SemanticError("only variables can be deleted")


class Statements:
    """The statement half of the code generator, without control flow."""

    def visit_Expr(self, node: ast.Expr) -> None:
        self.ignored = node.value
        self.visit(node.value)

    def visit_Pass(self, node: ast.Pass) -> None:
        pass

    def visit_Assign(self, node: ast.Assign) -> None:
        value = self.visit(node.value)
        declared = named_in(node.value, self.frame.declared)
        for target in node.targets:
            self.assign(target, value)
            if declared is not None and isinstance(target, ast.Name) and isinstance(value, tensor):
                self.frame.declared[target.id] = declared

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            return
        # A `tl.constexpr` is one where its value is known, and a tensor elsewhere.
        value = self.visit(node.value)
        annotation = self.visit(node.annotation)
        before = named_in(node.value, self.frame.declared)
        self.assign(node.target, value)
        if (
            annotation is constexpr
            and isinstance(node.target, ast.Name)
            and has_run_time_value(value)
        ):
            name = node.target.id
            self.frame.declared[name] = before or DeclaredConstant(
                name, in_words(value), "", tuple(self.places(node))
            )

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, (ast.Name, ast.Attribute)):
            raise SemanticError(
                "only variables can be updated in place; x = x.at[index].add(value) makes a block "
                "with other elements"
            )
        load = (
            ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            if isinstance(node.target, ast.Name)
            else ast.copy_location(
                ast.Attribute(node.target.value, node.target.attr, ast.Load()), node.target
            )
        )
        lhs, rhs = self.visit(load), self.visit(node.value)
        self.at(node)
        self.assign(node.target, self.binary(type(node.op), lhs, rhs))

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.scope[target.id] = value
            self.frame.declared.pop(target.id, None)
            self.frame.origins[target.id] = target
            if isinstance(value, tensor):
                self.name_value(value, target.id)
            self.mark_value(target.id, value)
            return
        if isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value)
            return
        if isinstance(target, ast.Attribute):
            owner = self.visit(target.value)
            setter = getattr(owner, "__tile_set__", None)
            if setter is None:
                raise SemanticError(f"{one(owner)} has no attributes that can be assigned")
            setter(target.attr, value)
            return
        if isinstance(target, ast.Subscript):
            refuse_element(self.visit(target.value))
        raise SemanticError("cannot assign to this")

    def unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        if not is_sequence(value):
            raise SemanticError(f"cannot unpack {one(value)} into {len(target.elts)} names")
        names = target.elts
        starred = [i for i, n in enumerate(names) if isinstance(n, ast.Starred)]
        if starred:
            before, after = starred[0], len(names) - starred[0] - 1
            if len(value) < before + after:
                raise SemanticError(
                    f"not enough values to unpack (expected at least {before + after}, got "
                    f"{len(value)})"
                )
            middle = list(value[before : len(value) - after])
            values = [*value[:before], middle, *value[len(value) - after :]]
            names = [n.value if isinstance(n, ast.Starred) else n for n in names]
        else:
            values = list(value)
        if len(values) != len(names):
            what = "too many" if len(values) > len(names) else "not enough"
            raise SemanticError(
                f"{what} values to unpack (expected {len(names)}, got {len(values)})"
            )
        for name, item in zip(names, values, strict=False):
            self.assign(name, item)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Name):
                refuse_delete()
            self.scope.pop(target.id, None)

    def visit_Assert(self, node: ast.Assert) -> None:
        condition = self.visit(node.test)
        message = self.visit(node.msg) if node.msg is not None else ""
        self.at(node)
        if isinstance(condition, tensor):
            program.device_assert(condition, message)
        else:
            program.static_assert(condition, message)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise SemanticError("functions inside a kernel take no decorators")
        function = LocalFunction(node.name, node.args, node.body, self.frame, self.visit)
        self.scope[node.name] = function

    def unsupported(self, node: ast.AST) -> None:
        refuse(type(node).__name__)
