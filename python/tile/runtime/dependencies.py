"""What a compiled kernel depends on: the source of its function and all that the source names."""

from __future__ import annotations

import ast
import builtins
import enum
import hashlib
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import TileError
from .depth import allow_depth, deep_stack
from .source import get_source

_PLAIN = (int, float, complex, str, bytes, bool, type(None), range, type(Ellipsis))
_MISSING = object()


class Names(ast.NodeVisitor):
    """The values that the names in a function stand for, by the text that names them."""

    def __init__(self, scopes: tuple[dict[str, Any], ...]) -> None:
        self.scopes = scopes
        self.found: dict[str, Any] = {}

    def resolve(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            for scope in self.scopes:
                if node.id in scope:
                    return scope[node.id]
        elif isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            if owner is not _MISSING:
                # Not through descriptors, which might do anything.
                found = inspect.getattr_static(owner, node.attr, _MISSING)
                if isinstance(owner, types.ModuleType):
                    found = getattr(owner, node.attr, _MISSING)
                found = getattr(found, "__func__", found)
                return _MISSING if isinstance(found, property) else found
        return _MISSING

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found[node.id] = self.resolve(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.found[ast.unparse(node)] = self.resolve(node)
        # What it is an attribute of matters too: an instance may have methods.
        self.generic_visit(node)


def _is_internal(module: str | None) -> bool:
    """The library belongs to the compiler, which is in the key of every kernel."""
    return (module or "").split(".")[0] == "tile"


def _package(module: str | None) -> str:
    return (module or "").split(".")[0]


class Digest:
    """Hashes functions and what they reach; each of them once."""

    def __init__(self) -> None:
        self.visiting: set[int] = set()
        #: The global constants that were read: scope, name, value.
        self.globals: list[tuple[dict, str, Any]] = []

    def jit_function(self, function: Any) -> str:
        """A hash of a jit function."""
        if id(function) in self.visiting:
            return f"again:{function.fn.__qualname__}"
        self.visiting.add(id(function))
        parsed = function.parse()
        allow_depth(parsed.depth)
        hasher = hashlib.sha256(function.src.encode())
        hasher.update(f"{function.noinline}:{function.debug}".encode())
        if not parsed.source.internal:
            # Errors and line tables name the place.
            hasher.update(f"{parsed.source.file}:{parsed.node.lineno}".encode())
        # Without the decorators: what configurations are tried, say, is no part of the kernel.
        code = [parsed.node.args, *parsed.node.body]
        self._reached(hasher, code, function.fn, parsed.source.nonlocals)
        return hasher.hexdigest()

    def plain_function(self, function: Callable) -> str:
        """A hash of a Python function that runs while a kernel is compiled."""
        if id(function) in self.visiting:
            return f"again:{function.__qualname__}"
        self.visiting.add(id(function))
        try:
            text = get_source(function)[0]
            node = ast.parse(text)
        except (TileError, SyntaxError):  # A lambda within an expression, or no source at all.
            return hashlib.sha256(function.__code__.co_code).hexdigest()
        hasher = hashlib.sha256(text.encode())
        nonlocals = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
        self._reached(hasher, [node], function, nonlocals)
        return hasher.hexdigest()

    def _reached(self, hasher: Any, code: list[ast.AST], function: Any, nonlocals: dict) -> None:
        names = Names((nonlocals, function.__globals__, vars(builtins)))
        for node in code:
            names.visit(node)
        for name, value in sorted(names.found.items()):
            described = self.describe(value, function.__module__)
            if described is not None:
                hasher.update(f"\0{name}={described}".encode())
            scope = function.__globals__
            if name not in nonlocals and scope.get(name) is value and _is_constant(value):
                self.globals.append((scope, name, value))
        for name, default in sorted(_defaults(function)):
            hasher.update(f"\0{name}:={self.describe(default, function.__module__)}".encode())

    def describe(self, value: Any, module: str | None = None) -> str | None:
        """What a value contributes to a kernel that the code in `module` reads it from; None for
        one that cannot."""
        if value is _MISSING:
            return None
        cls = type(value)
        if isinstance(value, _PLAIN) and not isinstance(value, enum.Enum):
            return f"{cls.__name__}:{value!r}"
        if isinstance(value, type):
            return self._class(value, module)
        # Of the class: modules may raise, or answer anything.
        if getattr(cls, "__tile_jit__", False):
            internal = _is_internal(value.fn.__module__)
            return value.fn.__qualname__ if internal else self.jit_function(value)
        if getattr(cls, "__tile_constexpr_function__", False):
            internal = _is_internal(value.fn.__module__)
            return value.fn.__qualname__ if internal else self.plain_function(value.fn)
        if cls.__name__ == "constexpr" and hasattr(value, "value"):
            return f"constexpr({self.describe(value.value, module)})"
        if isinstance(value, enum.Enum):
            return f"{cls.__qualname__}.{value.name}={value.value!r}"
        if _is_internal(cls.__module__):  # Types of the language, say.
            return f"{cls.__qualname__}:{value}"
        if isinstance(value, (tuple, list, set, frozenset, dict)):
            return self._container(value, module)
        if isinstance(value, types.FunctionType) and _package(value.__module__) == _package(module):
            return self.plain_function(value)
        return None

    def _container(self, value: Any, module: str | None) -> str:
        if id(value) in self.visiting:  # It contains itself.
            return f"again:{type(value).__qualname__}"
        self.visiting.add(id(value))
        if isinstance(value, dict):
            items = [f"{k!r}: {self.describe(v, module)}" for k, v in value.items()]
        else:
            items = [str(self.describe(v, module)) for v in value]
        self.visiting.remove(id(value))
        return f"{type(value).__qualname__}({', '.join(items)})"

    def _class(self, cls: type, module: str | None) -> str | None:
        """A class contributes its methods and constants, where it is of the same program."""
        if _package(cls.__module__) != _package(module) or id(cls) in self.visiting:
            return cls.__qualname__
        self.visiting.add(id(cls))
        parts = [cls.__qualname__]
        for name, value in sorted(vars(cls).items()):
            if name.startswith("__") and name not in ("__init__", "__annotations__", "__call__"):
                continue
            value = getattr(value, "__func__", value)
            if name == "__annotations__":
                value = {k: str(v) for k, v in value.items()}
            parts.append(f"{name}={self.describe(value, module)}")
        return "; ".join(parts)


def _is_constant(value: Any) -> bool:
    """Whether code that reads a global with this value depends on nothing but the value."""
    return type(value).__name__ in ("constexpr", "dtype") or (
        isinstance(value, (*_PLAIN, tuple)) and value is not None and value is not Ellipsis
    )


def _defaults(function: Callable) -> Iterator[tuple[str, Any]]:
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # A builtin that does not say: its defaults are not source.
        return
    for name, parameter in parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            yield name, parameter.default


def digest(function: Any) -> tuple[str, list[tuple[dict, str, Any]]]:
    """A hash of a jit function's source and of all that it depends on, and the global constants
    among that."""
    found = Digest()
    with deep_stack():
        return found.jit_function(function), found.globals


def constant_key(value: Any) -> str:
    """What a constant argument contributes to a kernel's key."""
    described = Digest().describe(value, getattr(value, "__module__", None))
    return f"{type(value).__name__}:{value!r}" if described is None else described
