"""Functions with all that they need, as one module of Python."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from tile.errors import TileError
from tile.language.values import constexpr

from .ordered_set import ordered_set
from .stable_toposort import stable_toposort
from .target import TranslatorTarget

#: Turns a value that a function refers to into an expression; None leaves it to the slicer.
RewriteFn = Callable[[Any, str], "str | None"]
_PLAIN = (bool, int, float, str, bytes, type(None))
_MISSING = object()


class SliceError(TileError):
    """Something that a function refers to and that cannot be written down."""


def python_function(value: Any) -> FunctionType | None:
    """The function of Python behind a value, if it is one or is made of one."""
    if getattr(value, "__tile_jit__", False):
        return value.fn
    return value if isinstance(value, FunctionType) else None


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


#: What modules of the language are called in programs, by their names behind the first dot.
_ALIASES = {"language": "tl", "experimental.gluon": "gluon", "experimental.gluon.language": "gl"}


def _public_name(module: ModuleType) -> str:
    """The name under which a program imports a module: where `triton` is tile, Triton's."""
    if not _is_in(module.__name__, "tile"):
        return module.__name__
    names = (n for n, m in sys.modules.items() if m is module and _is_in(n, "triton"))
    return next(names, module.__name__)


@functools.cache
def _imported_names(file: str) -> dict[str, str]:
    """The names that a file's imports give to values of other modules, and their own names."""
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return {}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: alias.name for alias in node.names}
    return found


def _root(name: str | None) -> str:
    return (name or "").partition(".")[0]


#: Whether a decorator is left out: of the names that the function knows, its module, the decorator.
DecoratorMatcher = Callable[[Mapping[str, Any], ModuleType, ast.expr], bool]
#: What stands for an annotation, of the same; None leaves it.
AnnotationRewriter = Callable[[Mapping[str, Any], ModuleType, ast.expr], "ast.expr | None"]


@dataclass(frozen=True)
class RewriteSpec:
    """What is changed about the functions of a slice."""

    ignored_decorator_matchers: Sequence[DecoratorMatcher] = ()
    annotation_rewriters: Sequence[AnnotationRewriter] = ()


def get_reference(
    context: Mapping[str, Any], cur_module: ModuleType, node: ast.AST
) -> tuple[Any, ModuleType, str] | None:
    """What a name, or a chain of attributes of modules, stands for: the value, the module that has
    it, and its name there."""
    if isinstance(node, ast.Name):
        if node.id in context:
            return context[node.id], cur_module, node.id
        value = getattr(cur_module, node.id, _MISSING)
        return None if value is _MISSING else (value, cur_module, node.id)
    if isinstance(node, ast.Attribute):
        owner = get_reference(context, cur_module, node.value)
        if owner is not None and isinstance(owner[0], ModuleType):
            value = getattr(owner[0], node.attr, _MISSING)
            return None if value is _MISSING else (value, owner[0], node.attr)
    return None


class _Locals(ast.NodeVisitor):
    """The names that a function assigns, and its parameters."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.names: set[str] = set()
        self.imports: dict[str, tuple[str, str | None, int]] = {}
        arguments = node.args
        for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            self.names.add(arg.arg)
        for arg in (arguments.vararg, arguments.kwarg):
            if arg is not None:
                self.names.add(arg.arg)
        for statement in node.body:
            self.visit(statement)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.names.add(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names.add(node.name)
        self.names |= {a.arg for a in node.args.args}
        self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.names |= {a.arg for a in node.args.args}
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            target = alias.name if alias.asname else _root(alias.name)
            self.imports[alias.asname or _root(alias.name)] = (target, None, 0)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.imports[alias.asname or alias.name] = (node.module or "", alias.name, node.level)


class Slicer:
    """Collects functions, what they call, and the values that they read."""

    def __init__(
        self,
        leaf_modules: Sequence[str],
        rewrite: RewriteFn | None = None,
        included: Sequence[str] = (),
        leaves: Sequence[Any] = (),
        spec: RewriteSpec | None = None,
    ) -> None:
        self.leaves = tuple(leaf_modules)
        self.included = tuple(included)
        self.leaf_values = {id(value) for value in leaves}
        self.rewrite = rewrite
        self.spec = spec or RewriteSpec()
        #: The last changes to the tree of a function, after its names are resolved.
        self.edit: Callable[[ast.AST], ast.AST] = lambda tree: tree
        self.decorate: Callable[[Any], list[str] | None] = lambda value: None
        self.imports: dict[str, str] = {}
        #: The text of each definition, and which others it names, in the order of its tree.
        self.definitions: dict[str, str] = {}
        self._uses: dict[str, ordered_set[str]] = {}
        #: The definitions that are being written, each within the one before it.
        self._open: list[str] = []
        self._names: dict[int, str] = {}
        self._kept: list[Any] = []
        self._taken: set[str] = set(dir(builtins))
        self._wanted: dict[str, Any] = {}

    # Names.

    def reserve(self, roots: Sequence[Any]) -> None:
        """Kernels keep their names, and so does what their modules call by its own name."""
        for root in roots:
            function = python_function(root)
            if function is None:
                raise SliceError(f"{root!r} is no function of Python")
            self._wanted.setdefault(function.__name__, root)
            for name, value in function.__globals__.items():
                other = python_function(value)
                if other is not None and other.__name__ == name:
                    self._wanted.setdefault(name, value)

    def _new_name(self, wanted: str, value: Any, module: str) -> str:
        name = wanted
        owner = self._wanted.get(wanted, value)
        if wanted in self._taken or owner is not value:
            name = f"{module.rpartition('.')[2]}_{wanted}"
        base, count = name, 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    def _is_leaf(self, module: str | None) -> bool:
        name = module or ""
        if any(_is_in(name, package) for package in self.included):
            return False
        root = _root(name)
        if root in sys.stdlib_module_names or root == "builtins":
            return True
        return any(_is_in(name, package) for package in self.leaves)

    # Values.

    def reference(self, value: Any, name: str) -> str:
        """An expression for a value that a function knows as `name`."""
        if self.rewrite is not None:
            text = self.rewrite(value, name)
            if text is not None:
                return text
        if id(value) in self._names:
            return self._used(self._names[id(value)])
        if isinstance(value, ModuleType):
            return self._import_module(value)
        function = python_function(value)
        module = function.__module__ if function else getattr(value, "__module__", None)
        is_leaf = id(value) in self.leaf_values or bool(module and self._is_leaf(module))
        # A class of tile's is not written down in any case.
        is_leaf |= isinstance(value, type) and _root(module) == "tile"
        if module and is_leaf and isinstance(name, str):
            return self._import_value(module, value, name)
        if function is not None:
            return self._used(self._function(value, function))
        return self._used(self._constant(value, name))

    def _used(self, name: str) -> str:
        """Notes that the definition that is being written names another one."""
        if self._open and self._open[-1] != name:
            self._uses[self._open[-1]].add(name)
        return name

    def _import_module(self, module: ModuleType) -> str:
        name = _public_name(module)
        alias = _ALIASES.get(name.partition(".")[2])
        known = alias if alias and name.partition(".")[0] in ("tile", "triton") else name
        as_alias = f" as {known}" if known != name else ""
        self.imports.setdefault(known, f"import {name}{as_alias}")
        return known

    def _import_value(self, module: str, value: Any, name: str) -> str:
        own = getattr(value, "__name__", name)
        home = sys.modules.get(module)
        if home is None or getattr(home, own, _MISSING) is not value:
            raise SliceError(f"`{name}` is not to be found in {module}")
        if module == "builtins":
            return own
        self.imports.setdefault(own, f"from {_public_name(home)} import {own}")
        return own

    def _constant(self, value: Any, name: str) -> str:
        text = self.literal(value)
        if text is None:
            raise SliceError(f"`{name}` is {value!r}, which cannot be written down")
        new = self._new_name(name, value, "value")
        self._remember(value, new)
        self._uses[new] = ordered_set()
        self.definitions[new] = f"{new} = {text}"
        return new

    def literal(self, value: Any) -> str | None:
        if isinstance(value, constexpr):
            inner = self.literal(value.value)
            return None if inner is None else f"{self.constexpr_name()}({inner})"
        if isinstance(value, _PLAIN):
            return repr(value)
        if isinstance(value, (tuple, list)):
            items = [self.literal(item) for item in value]
            if None in items:
                return None
            inside = ", ".join(map(str, items))
            return f"[{inside}]" if isinstance(value, list) else f"({inside},)"
        if isinstance(value, dict):
            pairs = [(self.literal(k), self.literal(v)) for k, v in value.items()]
            if any(None in pair for pair in pairs):
                return None
            return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
        return None

    def constexpr_name(self) -> str:
        self.imports.setdefault("tl", "import tile.language as tl")
        return "tl.constexpr"

    def _remember(self, value: Any, name: str) -> None:
        if not isinstance(value, _PLAIN):  # Others may be one object by chance.
            self._names[id(value)] = name
            self._kept.append(value)

    # Functions.

    def _function(self, value: Any, function: FunctionType) -> str:
        name = self._new_name(function.__name__, value, function.__module__)
        self._remember(value, name)
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        node = tree.body[0]
        if not isinstance(node, ast.FunctionDef):
            raise SliceError(f"`{function.__name__}` is no function of a `def`")
        scope = _Scope(self, function, _Locals(node))
        left_out = self._apply_spec(node, function, scope)
        decorators = self.decorate(value)
        if decorators is not None:
            node.decorator_list = [ast.parse(text, mode="eval").body for text in decorators]
        self._uses[name] = ordered_set()
        self._open.append(name)
        node = scope.visit(node)
        for decorator in left_out:
            scope.visit(decorator)
        self._open.pop()
        node.name = name
        self.definitions[name] = ast.unparse(ast.fix_missing_locations(self.edit(node)))
        return name

    def _apply_spec(
        self, node: ast.FunctionDef, function: FunctionType, scope: _Scope
    ) -> list[ast.expr]:
        """Changes a function as its user asks. Decorators above one that is ignored are for what
        that one makes: they are left out, too, and only what they name is defined."""
        spec = self.spec
        module = sys.modules.get(function.__module__)
        if module is None or not (spec.ignored_decorator_matchers or spec.annotation_rewriters):
            return []
        context = {**function.__globals__, **scope.closure}
        ignored = [
            any(matches(context, module, decorator) for matches in spec.ignored_decorator_matchers)
            for decorator in node.decorator_list
        ]
        first = max((i + 1 for i, is_ignored in enumerate(ignored) if is_ignored), default=0)
        above = [d for d, i in zip(node.decorator_list[:first], ignored, strict=False) if not i]
        node.decorator_list = node.decorator_list[first:]
        arguments = node.args
        for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            for rewrite in spec.annotation_rewriters:
                written = arg.annotation and rewrite(context, module, arg.annotation)
                if written is not None:  # Read again: it may leave out what a parser fills in.
                    arg.annotation = ast.parse(ast.unparse(written), mode="eval").body
        return above

    def text(self, roots: Sequence[Any]) -> str:
        self.reserve(roots)
        for root in roots:
            self.reference(root, getattr(root, "__name__", "kernel"))
        # What is named last comes first: callees stand before those that call them.
        order = reversed(stable_toposort(self._uses))
        definitions = [self.definitions[name] for name in order]
        return "\n\n\n".join(["\n".join(self.imports.values()), *definitions]).strip() + "\n"


class _Scope(ast.NodeTransformer):
    """Writes the names of one function anew."""

    def __init__(self, slicer: Slicer, function: FunctionType, found: _Locals) -> None:
        self.slicer = slicer
        self.function = function
        self.locals = found
        self.closure = inspect.getclosurevars(function).nonlocals

    def _resolve(self, name: str) -> Any:
        if name in self.locals.imports:
            module, item, level = self.locals.imports[name]
            package = self.function.__globals__.get("__package__") or ""
            loaded = importlib.import_module("." * level + module, package)
            if item is None:
                return loaded
            if hasattr(loaded, item):
                return getattr(loaded, item)
            return importlib.import_module(f"{loaded.__name__}.{item}")
        if name in self.locals.names:
            return _MISSING
        if name in self.closure:
            return self.closure[name]
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return _MISSING

    def _value(self, node: ast.AST) -> Any:
        """What a name, or a chain of attributes of modules, stands for."""
        if isinstance(node, ast.Name):
            return self._resolve(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._value(node.value)
            if isinstance(owner, ModuleType):
                return getattr(owner, node.attr, _MISSING)
        return _MISSING

    def visit_Import(self, node: ast.Import) -> Any:
        return None

    visit_ImportFrom = visit_Import

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self._resolve(node.id) if isinstance(node.ctx, ast.Load) else _MISSING
        return node if value is _MISSING else self._expression(value, self._own_name(node.id))

    def _own_name(self, name: str) -> str:
        """What a value that was imported is called where it comes from."""
        if name in self.locals.imports:
            return self.locals.imports[name][1] or name
        return _imported_names(self.function.__code__.co_filename).get(name, name)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        value = self._value(node)
        if value is _MISSING:
            return self.generic_visit(node)
        owner = self._value(node.value)
        leaf = isinstance(owner, ModuleType) and self.slicer._is_leaf(owner.__name__)
        rewritten = self.slicer.rewrite(value, node.attr) if self.slicer.rewrite else None
        if leaf and rewritten is None:
            node.value = self._expression(owner, ast.unparse(node.value))
            return node
        return self._expression(value, node.attr)

    def _expression(self, value: Any, name: str) -> ast.AST:
        return ast.parse(self.slicer.reference(value, name), mode="eval").body


def find(path: str) -> Any:
    """A function by ``module:name``."""
    module, _, name = path.partition(":")
    if not name:
        raise SliceError(f"a function is named as module:name, not {path!r}")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def slice_kernel(
    root_paths: Sequence[str],
    leaf_modules: Sequence[str],
    include_below: Sequence[str] | None = None,
    leaf_paths: Sequence[str] | None = None,
    translate_to_gluon: bool = False,
    rewrite_spec: RewriteSpec | None = None,
    *,
    target: TranslatorTarget = TranslatorTarget.GENERIC,
) -> str:
    """The source of a module that has these functions, each named by ``module:name``, and all that
    they call and read.

    What is in `leaf_modules`, in Python's library and in tile is imported, and so are the functions
    `leaf_paths`; what is in `include_below` is not. `rewrite_spec` leaves out decorators and
    changes annotations."""
    roots = [find(path) for path in root_paths]
    if translate_to_gluon:
        from .translator import convert_triton_to_gluon

        return convert_triton_to_gluon(roots, target)
    leaves = [find(path) for path in leaf_paths or ()]
    slicer = Slicer([*leaf_modules, "tile"], None, include_below or (), leaves, rewrite_spec)
    return slicer.text(roots)


def slice_kernel_from_trace(
    kernel_path: str,
    trace: Any,
    translate_to_gluon: bool,
    extra_modules: Mapping[str, str],
    rewrite_spec: RewriteSpec | None = None,
    *,
    target: TranslatorTarget = TranslatorTarget.GENERIC,
) -> str:
    """Refused: what a trace holds is described nowhere."""
    raise SliceError(
        "slice_kernel_from_trace is not built: what its trace holds is described nowhere; "
        "slice_kernel takes the paths of functions, and convert_triton_to_gluon the functions"
    )
