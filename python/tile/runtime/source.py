"""The sources of jit functions: their AST, and what a cached kernel depends on."""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import os
import textwrap
import types
from dataclasses import dataclass
from typing import Any

from ..errors import SemanticError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass
class Parsed:
    """A function's AST, with lines as in its file."""

    node: ast.FunctionDef
    body: list[ast.stmt]
    source: Any


def get_source(fn: Any) -> tuple[str, int]:
    """The text of a function, dedented, and by how many columns."""
    code = fn.__code__
    lines = linecache.getlines(code.co_filename, fn.__globals__)
    if not lines:
        raise SemanticError(
            f"the source of `{fn.__name__}` is not available ({code.co_filename}); kernels must "
            "be defined in a file "
            "or a notebook cell"
        )
    block = inspect.getblock(lines[code.co_firstlineno - 1 :])
    indent = len(block[0]) - len(block[0].lstrip())
    return textwrap.dedent("".join(block)), indent


def parse(fn: Any) -> Parsed:
    """Parses a function; its lines and columns are those of the file."""
    from ..compiler.frames import Source

    text, indent = get_source(fn)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        raise SemanticError(f"`{fn.__name__}` is not a plain function definition") from None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise SemanticError(f"`{fn.__name__}` must be defined with `def`")
    ast.increment_lineno(node, fn.__code__.co_firstlineno - 1)
    body = node.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # The docstring.
    file = fn.__code__.co_filename
    nonlocals = inspect.getclosurevars(fn).nonlocals if fn.__closure__ else {}
    source = Source(
        name=fn.__name__,
        file=file,
        column_shift=indent,
        globals=fn.__globals__,
        nonlocals=dict(nonlocals),
        internal=os.path.abspath(file).startswith(_PACKAGE),
    )
    return Parsed(node, body, source)


class Dependencies(ast.NodeVisitor):
    """Finds the jit functions and constants that a function refers to."""

    def __init__(self, fn: Any, nonlocals: dict[str, Any]) -> None:
        self.scopes = (nonlocals, fn.__globals__)
        self.functions: dict[str, Any] = {}
        self.constants: dict[str, Any] = {}

    def resolve(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            for scope in self.scopes:
                if node.id in scope:
                    return scope[node.id]
        elif isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            if isinstance(owner, (types.ModuleType, type)):
                return getattr(owner, node.attr, None)
        return None

    def record(self, name: str, value: Any) -> None:
        if getattr(value, "__tile_jit__", False):
            self.functions[name] = value
        elif getattr(value, "__tile_constexpr_function__", False):
            self.constants[name] = get_source(value.fn)[0]
        elif type(value).__name__ == "constexpr" or isinstance(
            value, (int, float, str, tuple, bool)
        ):
            self.constants[name] = repr(value)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.record(node.id, self.resolve(node))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        value = self.resolve(node)
        if value is not None:
            self.record(ast.unparse(node), value)
        else:
            self.generic_visit(node)


def digest(function: Any, visiting: set[Any] | None = None) -> str:
    """A hash of a function's source and of all that it depends on."""
    visiting = set() if visiting is None else visiting
    if function in visiting:
        return ""
    visiting.add(function)
    parsed = function.parse()
    hasher = hashlib.sha256()
    hasher.update(get_source(function.fn)[0].encode())
    if not parsed.source.internal:
        # Errors and line tables name the place.
        hasher.update(f"{parsed.source.file}:{parsed.node.lineno}".encode())
    dependencies = Dependencies(function.fn, parsed.source.nonlocals)
    for statement in parsed.body:
        dependencies.visit(statement)
    for name, constant in sorted(dependencies.constants.items()):
        hasher.update(f"\0{name}={constant}".encode())
    for name, callee in sorted(dependencies.functions.items()):
        internal = (callee.fn.__module__ or "").startswith("tile.language")
        # The library belongs to the compiler, whose version is in the key.
        hasher.update(
            f"\0{name}:{callee.fn.__qualname__ if internal else digest(callee, visiting)}".encode()
        )
    return hasher.hexdigest()
