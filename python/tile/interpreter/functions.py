"""Jit functions as functions of Python that compute."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

from ..compiler.frames import check_global
from ..errors import SemanticError
from ..language.values import constexpr, unwrap
from ..runtime.dependencies import global_names
from ..runtime.depth import allow_depth
from ..runtime.source import closure_cells, parse
from .control import CONTROL
from .phantom import Site
from .python_builtins import BUILTINS
from .rewrite import Rewriter


class Rewritten:
    """The code of one jit function, and what it refers to."""

    def __init__(self, function: Any) -> None:
        fn = function.fn
        # Its own AST, as it is changed.
        parsed = parse(fn, function._lines)
        allow_depth(parsed.depth)
        self.fn = fn
        self.internal = parsed.source.internal
        closed = closure_cells(fn)
        rewriter = Rewriter(
            parsed.node,
            _local_names(fn.__code__),
            _lookup(fn, closed),
            _may_change(fn, closed),
            Site,
        )
        node = parsed.node
        node.decorator_list = []
        _plain_signature(node)
        body = rewriter.function(node, parsed.body)
        node.body = body or rewriter.at(node, [ast.Pass()])
        self.sites = rewriter.sites
        self.code = _compile(node, parsed.source.file, sorted(closed))
        self.names = global_names(self.code)
        self.closed = closed

    def namespace(self) -> dict[str, Any]:
        """The globals of a launch: those of the module, with constants plain."""
        scope = dict(self.fn.__globals__)
        for name in self.names:
            value = scope.get(name)
            if isinstance(value, constexpr):
                scope[name] = unwrap(value)
        scope["__builtins__"] = BUILTINS
        scope["__tile__"] = CONTROL
        scope["__tile_sites__"] = self.sites
        for site in self.sites:
            site.namespace = scope
        return scope

    def instantiate(self) -> Callable:
        """The function, to be called with tensors and constants."""
        cells = []
        for name in self.code.co_freevars:
            try:
                cells.append(types.CellType(unwrap(self.closed[name].cell_contents)))
            except ValueError:  # Not assigned yet.
                cells.append(self.closed[name])
        fn = self.fn
        native = types.FunctionType(
            self.code, self.namespace(), fn.__name__, _plain(fn.__defaults__), tuple(cells)
        )
        native.__kwdefaults__ = _plain(fn.__kwdefaults__)
        native.__module__ = fn.__module__
        for site in self.sites:
            site.function = native
        return native


def native_function(function: Any, builder: Any) -> Callable:
    """What a launch calls for a jit function."""
    rewritten = function.__dict__.get("_rewritten")
    if rewritten is None:
        rewritten = function._rewritten = Rewritten(function)
    if not rewritten.internal:
        return rewritten.instantiate()
    # The library's globals do not change.
    native = function.__dict__.get("_native")
    if native is None:
        native = function._native = rewritten.instantiate()
    return native


def _local_names(code: types.CodeType) -> set[str]:
    """The names that are local in a function, or in one inside of it."""
    names = {*code.co_varnames, *code.co_cellvars}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _local_names(constant)
    return names


def _plain(values: Any) -> Any:
    """Defaults, without wrappers of constants."""
    if isinstance(values, tuple):
        return tuple(map(unwrap, values))
    if isinstance(values, dict):
        return {k: unwrap(v) for k, v in values.items()}
    return values


def _lookup(fn: Any, closed: dict[str, Any]) -> Callable[[str], Any]:
    def find(name: str) -> Any:
        if name in closed:
            try:
                return closed[name].cell_contents
            except ValueError:
                return None
        return fn.__globals__.get(name)

    return find


def _may_change(fn: Any, closed: dict[str, Any]) -> Callable[[str], bool]:
    """Whether a name is a global that the compiler refuses."""
    find = _lookup(fn, closed)

    def ask(name: str) -> bool:
        if name not in closed and name not in fn.__globals__:
            return False
        scope = {} if name in closed else fn.__globals__
        try:
            check_global(name, find(name), scope, False)
        except SemanticError:
            return True
        return False

    return ask


def _plain_signature(node: ast.FunctionDef) -> None:
    """Without annotations and defaults: those of the original are used."""
    arguments = node.args
    node.returns = None
    arguments.defaults = []
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs,
                     arguments.vararg, arguments.kwarg]:  # fmt: skip
        if argument is not None:
            argument.annotation = None


def _compile(node: ast.FunctionDef, file: str, closed: list[str]) -> types.CodeType:
    """The function's code; names of `closed` are those of enclosing functions."""
    if closed:
        tree = ast.parse(f"def outer({', '.join(closed)}):\n pass")
        outer = tree.body[0]
        assert isinstance(outer, ast.FunctionDef)
        outer.body = [node]
    else:
        tree = ast.Module([node], [])
    code = compile(tree, file, "exec")
    if closed:
        code = _nested(code, "outer")
    return _nested(code, node.name)


def _nested(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


__all__ = ["Rewritten", "native_function"]
