"""The sources of jit functions: their text and their AST."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import linecache
import os
import textwrap
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import SemanticError
from .depth import DEEPEST, allow_depth, depth_of

#: In the globals of a module: its files, each with the import that the lines belong to.
_CAPTURED = "__tile_sources__"
#: The lines of each file with jit functions, as last captured.
_latest: dict[str, list[str]] = {}
#: Shorter texts have no expression that needs more stack than others.
_LONG = 2000
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass
class Parsed:
    """A function's AST, with lines as in its file."""

    node: ast.FunctionDef
    body: list[ast.stmt]
    source: Any
    #: How deep its expressions nest, if that matters.
    depth: int = 0


def capture(fn: Any) -> list[str]:
    """The lines of a function's file, as they are when its decorator runs: what
    is compiled later is the function that exists, not the text of that day.

    Functions that one import of a module makes share its lines, also those it
    makes later: a file that is edited meanwhile has other ones.
    """
    file, scope = fn.__code__.co_filename, fn.__globals__
    if file.startswith("<"):  # A cell of a notebook, or text of a program's own.
        return linecache.getlines(file, scope)
    sources = scope.setdefault(_CAPTURED, {})
    spec = scope.get("__spec__")  # Another one after importlib.reload.
    known = sources.get(file)
    if known is None or known[0] is not spec:
        linecache.checkcache(file)
        known = sources[file] = (spec, linecache.getlines(file, scope))
        _latest[name_of_file(file)] = known[1]
    return known[1]


def name_of_file(file: str) -> str:
    """The name of a file as text that IR and messages can hold: where the locale has no name for
    it, Python has halves of surrogate pairs in its place."""
    try:
        file.encode()
    except UnicodeEncodeError:
        return os.fsencode(file).decode(errors="replace")
    return file


def replace(fn: Any, text: str) -> tuple[Any, list[str]]:
    """A function like `fn` whose source is another text, in a file of its own as far as messages
    and debuggers are concerned; and the lines of that."""
    text = textwrap.dedent(text).lstrip("\n")
    file = f"<source of {fn.__name__} {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    lines = text.splitlines(keepends=True)
    linecache.cache[file] = (len(text), None, lines, file)
    code = fn.__code__.replace(co_filename=file, co_firstlineno=1)
    made = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    made.__kwdefaults__ = fn.__kwdefaults__
    functools.update_wrapper(made, fn)
    del made.__wrapped__  # It is no decorator's.
    return made, lines


def lines_of(file: str) -> list[str]:
    """The lines of a file, as its kernels were compiled from them."""
    return _latest.get(file) or linecache.getlines(file)


def line_of(file: str, line: int) -> str:
    """One of them, without its end."""
    lines = lines_of(file)
    return lines[line - 1].rstrip("\n") if 0 < line <= len(lines) else ""


def get_source(fn: Any, lines: list[str] | None = None) -> tuple[str, int]:
    """The text of a function, dedented, and by how many columns."""
    code = fn.__code__
    lines = lines or linecache.getlines(code.co_filename, fn.__globals__)
    block = inspect.getblock(lines[code.co_firstlineno - 1 :]) if lines else []
    if not block:
        raise SemanticError(
            f"the source of `{fn.__name__}` is not available ({code.co_filename}); kernels must "
            "be defined in a file "
            "or a notebook cell"
        )
    indent = len(block[0]) - len(block[0].lstrip())
    return textwrap.dedent("".join(block)), indent


def closure_cells(fn: Any) -> dict[str, Any]:
    """The cells of the variables that a function closes over."""
    return dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))


class Closure(Mapping):
    """The variables that a function closes over, as they are when they are read."""

    def __init__(self, fn: Any) -> None:
        self.cells = closure_cells(fn)

    def __getitem__(self, name: str) -> Any:
        try:
            return self.cells[name].cell_contents
        except ValueError:  # Not assigned yet.
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)


def _tree(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except RecursionError:  # It was parsed before, but from a shallower stack.
        allow_depth(DEEPEST)
        return ast.parse(text)


def parse(fn: Any, lines: list[str] | None = None) -> Parsed:
    """Parses a function; its lines and columns are those of the file."""
    from ..compiler.frames import Source

    text, indent = get_source(fn, lines)
    try:
        tree = _tree(text)
    except SyntaxError:
        raise SemanticError(f"`{fn.__name__}` is not a plain function definition") from None
    node = tree.body[0]
    depth = depth_of(node) if len(text) > _LONG else 0
    if not isinstance(node, ast.FunctionDef):
        raise SemanticError(f"`{fn.__name__}` must be defined with `def`")
    ast.increment_lineno(node, fn.__code__.co_firstlineno - 1)
    body = node.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # The docstring.
    file = fn.__code__.co_filename
    source = Source(
        name=fn.__name__,
        file=name_of_file(file),
        column_shift=indent,
        globals=fn.__globals__,
        nonlocals=Closure(fn),
        internal=os.path.abspath(file).startswith(_PACKAGE),
    )
    return Parsed(node, body, source, depth)
