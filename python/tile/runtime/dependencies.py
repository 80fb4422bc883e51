"""What a compiled kernel depends on: the source of its function and all that the source names."""

from __future__ import annotations

import ast
import builtins
import collections
import enum
import functools
import hashlib
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import TileError
from .depth import allow_depth, deep_stack
from .early import read_early
from .references import Reference, fields_of, is_editable
from .source import closure_cells, read_source
from .syntax import walk

_PLAIN = (int, float, complex, str, bytes, bool, type(None), range, type(Ellipsis))
_MISSING = object()


def global_names(code: types.CodeType) -> set[str]:
    """The names that a function, or one inside of it, looks up outside of itself."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= global_names(constant)
    return names


def _unwrapped(value: Any) -> Any:
    return value.value if type(value).__name__ == "constexpr" else value


class Aliases:
    """What local names are assigned that has attributes of its own: ``m = module``."""

    def __init__(self) -> None:
        self.sources: dict[str, list[ast.expr]] = collections.defaultdict(list)

    def see(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self.bind(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            self.bind(node.target, node.value)
        elif isinstance(node, ast.For) and isinstance(node.iter, (ast.Tuple, ast.List)):
            for item in node.iter.elts:
                self.bind(node.target, item)

    def bind(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(value, ast.IfExp):
            self.bind(target, value.body)
            self.bind(target, value.orelse)
        elif isinstance(value, ast.BoolOp):
            for operand in value.values:
                self.bind(target, operand)
        elif isinstance(value, ast.NamedExpr):
            self.bind(target, value.value)
        elif isinstance(target, ast.Name) and isinstance(value, (ast.Name, ast.Attribute)):
            self.sources[target.id].append(value)
        elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            for each, item in zip(target.elts, value.elts, strict=False):
                self.bind(each, item)

    def origins(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> Iterator[ast.expr]:
        """The expressions that a name or attribute may stand for, without aliases."""
        if isinstance(node, ast.Attribute):
            for owner in self.origins(node.value, seen):
                yield ast.Attribute(owner, node.attr, node.ctx)
        elif isinstance(node, ast.Name) and node.id in self.sources:
            for source in self.sources[node.id] if node.id not in seen else ():
                yield from self.origins(source, seen | {node.id})
        else:
            yield node


class Names:
    """The values that the names in a function stand for, by the text that names them."""

    def __init__(self, function: Any) -> None:
        code = function.__code__
        self.cells = closure_cells(function)
        self.globals = function.__globals__
        self.outer = (global_names(code) | set(code.co_freevars)) - {
            *code.co_varnames, *code.co_cellvars,
        }  # fmt: skip
        #: Local variables that are read where they may have no value yet: there kernels read what
        #: has their name outside.
        self.early: set[str] = set()
        self.aliases = Aliases()
        self.found: dict[str, Any] = {}
        #: What is read, by the text: where it is kept, and under which name.
        self.places: dict[str, tuple[Any, str]] = {}

    def locate(self, node: ast.expr) -> tuple[Any, str, Any]:
        """Where a value is kept (None for nowhere that could change), its name there, and it."""
        if isinstance(node, ast.Name):
            cell = self.cells.get(node.id)
            if cell is not None:
                return cell, "cell_contents", _contents(cell)
            if node.id in self.globals:
                return self.globals, node.id, self.globals[node.id]
            return None, "", vars(builtins).get(node.id, _MISSING)
        if isinstance(node, ast.Attribute):
            owner = _unwrapped(self.locate(node.value)[2])
            if owner is not _MISSING:
                return _attribute(owner, node.attr)
        return None, "", _MISSING

    def note(self, node: ast.expr) -> None:
        """Notes what a name, or an attribute of one, stands for."""
        path = []
        root = node
        while isinstance(root, ast.Attribute):
            path.append(root.attr)
            root = root.value
        if not isinstance(root, ast.Name):
            return
        text = ".".join([root.id, *reversed(path)])
        if text in self.found:
            return
        owner, name, self.found[text] = self.locate(node)
        if owner is None:
            return
        value = self.found[text]
        # Kernels read no global that is a plain number.
        early = root.id in self.early and _is_fixed(value) and not isinstance(value, _PLAIN)
        if root.id in self.outer or early:
            self.places[text] = owner, name

    def see(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self.note(node)
        elif isinstance(node, ast.Attribute):
            for origin in self.aliases.origins(node):
                self.note(origin)


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # Not assigned yet.
        return _MISSING


def _attribute(owner: Any, name: str) -> tuple[Any, str, Any]:
    """Where an attribute is kept, and its value."""
    if _belongs_to_tile(owner):
        return None, name, getattr(owner, name, _MISSING)
    if isinstance(owner, types.ModuleType):
        if name in vars(owner):
            return vars(owner), name, vars(owner)[name]
        return owner, name, getattr(owner, name, _MISSING)
    # Not through descriptors, which might do anything.
    found = inspect.getattr_static(owner, name, _MISSING)
    if isinstance(found, _OF_FIELDS) or any(found is d for d in _OF_MEMBERS):
        found = getattr(owner, name, _MISSING)
    found = getattr(found, "__func__", found)
    if _computes(found):
        found = _MISSING
    return owner, name, found


#: Descriptors that read what is kept: of __slots__ and named tuples, and of enumerations.
_OF_FIELDS = (
    types.MemberDescriptorType,
    type(vars(collections.namedtuple("_Named", "field"))["field"]),
)
_OF_MEMBERS = [vars(enum.Enum)[name] for name in ("name", "value")]


def _computes(value: Any) -> bool:
    """Whether an attribute of this value is made anew when it is read."""
    cls = type(value)
    called = isinstance(value, (type, types.FunctionType)) or hasattr(cls, "__tile_callable__")
    return hasattr(cls, "__get__") and not called


def _is_internal(module: str | None) -> bool:
    """The library belongs to the compiler, which is in the key of every kernel."""
    return (module or "").split(".")[0] == "tile"


@functools.lru_cache(maxsize=1)
def _library_folders() -> tuple[str, ...]:
    import sysconfig  # Not part of what `import tile` costs.

    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple(sysconfig.get_path(name) + os.sep for name in names)


def _is_library(file: str | None) -> bool:
    """Whether a file belongs to what is installed, not to the program."""
    file = file or ""
    parts = file.split(os.sep)
    return (
        "site-packages" in parts or "dist-packages" in parts or file.startswith(_library_folders())
    )


@functools.lru_cache(maxsize=1024)
def _contents_of(file: str) -> str:
    """A hash of what a file of a library has in it."""
    try:
        with open(file, "rb") as opened:
            return hashlib.sha256(opened.read()).hexdigest()
    except OSError:
        return ""


class Digest:
    """Describes functions and what they reach; each of them once. Functions and classes are
    numbered where they are named, and described one after the other: what a program reaches may
    be deep, and go round in circles."""

    def __init__(self) -> None:
        #: Numbers by identity, and what keeps the identities valid.
        self.numbers: dict[int, int] = {}
        self.numbered: list[Any] = []
        self.pending: collections.deque[Callable[[], str]] = collections.deque()
        #: The containers around the one that is being described.
        self.open: set[int] = set()
        #: The values that were read from modules, classes and closures.
        self.references: list[Reference] = []

    def text(self, described: str | None) -> str:
        """A description, and those of all that it names."""
        parts = [str(described)]
        while self.pending:
            parts.append(self.pending.popleft()())
        return "\0".join(parts)

    def number(self, name: str, value: Any, describe: Callable[[], str]) -> str:
        """Names a value that is described later."""
        known = self.numbers.get(id(value))
        if known is None:
            known = self.numbers[id(value)] = len(self.numbered)
            self.numbered.append(value)
            self.pending.append(describe)
        return f"{name}#{known}"

    def jit_function(self, function: Any) -> str:
        parsed = function.parse()
        allow_depth(parsed.depth)
        parts = [function.src, f"{function.noinline}:{function.debug}"]
        if not parsed.source.internal:
            # Errors and line tables name the place.
            parts.append(f"{parsed.source.file}:{parsed.node.lineno}")
        # Without the decorators: which configurations are tried, say, is no part of the kernel.
        parts += self._reached([parsed.node.args, *parsed.node.body], function.fn, True)
        return "\0".join(parts)

    def plain_function(self, function: Callable) -> str:
        """A Python function that runs while a kernel is compiled."""
        file = function.__code__.co_filename
        if _is_library(file):
            return _contents_of(file)
        try:
            text, code = read_source(function)
        except TileError:
            code = []
        if not code:  # A lambda within an expression, or no source at all.
            return hashlib.sha256(function.__code__.co_code).hexdigest()
        return "\0".join([text, *self._reached(code, function, False)])

    def _reached(self, code: list[Any], function: Any, generated: bool) -> list[str]:
        """What a function refers to; `generated` is for code of kernels."""
        names = Names(function)
        if any(name in function.__globals__ for name in function.__code__.co_varnames):
            names.early = read_early(code)
        nodes = walk(code)
        for node in nodes:
            names.aliases.see(node)
        for node in nodes:
            names.see(node)
        parts = []
        for name, value in sorted(names.found.items()):
            # Kernels do not call functions of Python's, unless those are declared constants.
            named = generated and isinstance(value, types.FunctionType)
            described = value.__qualname__ if named else self.describe(value)
            if described is not None:
                parts.append(f"{name}={described}")
        for name, (owner, key) in names.places.items():
            self._note(name, owner, key, names.found[name], generated)
        for name, default in sorted(_defaults(function)):
            parts.append(f"{name}:={self.describe(default)}")
        return parts

    def _note(self, text: str, owner: Any, name: str, value: Any, generated: bool) -> None:
        """Notes that a value was read, unless nothing of the program can change it, or Python
        code may want to: what that remembers is its own."""
        if value is _MISSING or _belongs_to_tile(value) or not (generated or _is_fixed(value)):
            return
        contents = constant_key(value) if generated and is_editable(value) else None
        self.references.append(Reference(text, owner, name, value, contents))
        if type(value).__name__ == "constexpr":
            self._note(text, value, "value", value.value, generated)

    def describe(self, value: Any, constant: bool = False) -> str | None:
        """What a value contributes to a kernel whose code reads it; None for one that cannot,
        unless it was declared a constant."""
        if value is _MISSING:
            return None
        cls = type(value)
        if isinstance(value, _PLAIN) and not isinstance(value, enum.Enum):
            return f"{cls.__name__}:{value!r}"
        if isinstance(value, type):
            return self._class(value)
        # Of the class: modules may raise, or answer anything.
        if getattr(cls, "__tile_jit__", False):
            name = value.fn.__qualname__
            if _is_internal(value.fn.__module__):
                return name
            return self.number(name, value, lambda: self.jit_function(value))
        if getattr(cls, "__tile_constexpr_function__", False):
            return self._function(value.fn)
        if cls.__name__ == "constexpr" and hasattr(value, "value"):
            return f"constexpr({self.describe(value.value, True)})"
        if isinstance(value, enum.Enum):
            return f"{cls.__qualname__}.{value.name}={value.value!r}"
        if _is_internal(cls.__module__):  # Types of the language, say.
            return f"{cls.__qualname__}:{value}"
        if isinstance(value, types.ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, (tuple, list, set, frozenset, dict)):
            return self._container(value, constant)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        return self._instance(value) if constant else None

    def _function(self, function: Any) -> str:
        name = function.__qualname__
        if _is_internal(function.__module__):
            return name
        return self.number(name, function, lambda: self.plain_function(function))

    def _container(self, value: Any, constant: bool) -> str:
        if id(value) in self.open:  # It contains itself.
            return f"again:{type(value).__qualname__}"
        self.open.add(id(value))
        if isinstance(value, dict):
            items = [f"{k!r}: {self.describe(v, constant)}" for k, v in value.items()]
        else:
            items = [str(self.describe(v, constant)) for v in value]
        if isinstance(value, (set, frozenset)):
            items.sort()
        self.open.remove(id(value))
        return f"{type(value).__qualname__}({', '.join(items)})"

    def _instance(self, value: Any) -> str | None:
        """An object that was declared a constant contributes what is in it."""
        cls = type(value)
        fields = fields_of(value)
        shown = "" if cls.__repr__ is object.__repr__ else repr(value)
        if not fields:
            return shown or None

        def describe() -> str:
            parts = [f"{n}={self.describe(v, True)}" for n, v in sorted(fields.items())]
            return f"{self._class(cls)}({', '.join(parts)}){shown}"

        return self.number(cls.__qualname__, value, describe)

    def _class(self, cls: type) -> str:
        """A class contributes its methods and constants."""
        name = cls.__qualname__
        if _is_internal(cls.__module__) or cls.__module__ == "builtins":
            return name
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        return self.number(name, cls, lambda: self._members(cls, file))

    def _members(self, cls: type, file: str | None) -> str:
        library = _is_library(file)
        parts = [_contents_of(file)] if library and file else []
        for name, value in sorted(vars(cls).items()):
            value = getattr(value, "__func__", value)
            # Of a library's class, what kernels call.
            if library and not getattr(type(value), "__tile_jit__", False):
                continue
            if name.startswith("__") and name not in ("__init__", "__annotations__", "__call__"):
                continue
            if name == "__annotations__":
                value = {k: str(v) for k, v in value.items()}
            parts.append(f"{name}={self.describe(value)}")
            if not name.startswith("_") and not issubclass(cls, enum.Enum):
                owner, key, found = _attribute(cls, name)
                self._note(f"{cls.__name__}.{name}", owner, key, found, True)
        return "; ".join(parts)


def _is_fixed(value: Any) -> bool:
    """Whether Python code that reads a global with this value takes it for granted."""
    return (
        type(value).__name__ in ("constexpr", "dtype")
        or getattr(type(value), "__tile_callable__", False)
        or isinstance(value, (types.FunctionType, type))
        or (isinstance(value, (*_PLAIN, tuple)) and value is not None and value is not Ellipsis)
    )


def _belongs_to_tile(value: Any) -> bool:
    """Whether a value is of the compiler itself, whose names stay what they are."""
    if isinstance(value, types.ModuleType):
        return _is_internal(value.__name__)
    if isinstance(value, (type, types.FunctionType)) or getattr(
        type(value), "__tile_callable__", False
    ):
        return _is_internal(getattr(value, "__module__", None))
    return False


def _defaults(function: Callable) -> Iterator[tuple[str, Any]]:
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # A builtin that does not say: its defaults are not source.
        return
    for name, parameter in parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            yield name, parameter.default


def digest(function: Any) -> tuple[str, list[Reference]]:
    """A hash of a jit function's source and of all that it depends on, and what it was read
    from."""
    found = Digest()
    with deep_stack():
        text = found.text(found.describe(function))
    return hashlib.sha256(text.encode()).hexdigest(), found.references


def constant_key(value: Any) -> str:
    """What a constant contributes to a kernel's key."""
    return _constant_key(Digest(), value)


def _constant_key(found: Digest, value: Any) -> str:
    described = found.describe(value, True)
    return f"{type(value).__name__}:{value!r}" if described is None else found.text(described)


class Reach:
    """The constants of a kernel that reach into the program: functions, and what has them. What
    they read may change, and so may their text."""

    def __init__(self, constants: list[Any]) -> None:
        self.constants = constants
        found = Digest()
        with deep_stack():
            self.keys = [_constant_key(found, value) for value in constants]
        self.references = found.references + [
            Reference(value.fn.__name__, value, "fn", value.fn)
            for value in found.numbered
            if getattr(type(value), "__tile_jit__", False)
        ]

    def has_changed(self) -> bool:
        """Whether one of them says something else. Takes note of other objects that do not."""
        if all(r.now() is r.value and r.contents is None for r in self.references):
            return False
        again = Reach(self.constants)
        self.references = again.references
        return again.keys != self.keys


def reach_of(constants: dict[Any, Any]) -> Reach | None:
    """What the constants of a kernel reach; None where they are only values."""
    reach = Reach([v for v in constants.values() if not isinstance(v, (*_PLAIN, enum.Enum))])
    return reach if reach.references else None
