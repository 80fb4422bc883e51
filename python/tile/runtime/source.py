"""The sources of jit functions: their text and their AST."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import linecache
import os
import re
import textwrap
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import SemanticError
from .depth import DEEPEST, allow_depth, depth_of
from .match_statement import without_match

#: In the globals of a module: its files, each with the import that the lines belong to.
_CAPTURED = "__tile_sources__"
#: The lines of each file with jit functions, as last captured.
_latest: dict[str, list[str]] = {}
#: Shorter texts have no expression that needs more stack than others.
_LONG = 2000
#: What decorated definitions begin with; lambdas begin with anything.
_DEFINITION = ("@", "def ", "async ")
#: Lines that might end a definition, and do not, before Python's tokenizer is asked.
_TRIALS = 8
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass
class Parsed:
    """A function's AST, with lines and columns as in its file."""

    node: ast.FunctionDef
    body: list[ast.stmt]
    source: Any
    #: Dedented.
    text: str
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


def define_again(fn: Any, text: str) -> tuple[Any, list[str]]:
    """A function like `fn` that runs another text, with the variables around it; and the lines of
    that."""
    made, lines = replace(fn, text)
    free = fn.__code__.co_freevars
    # What is read from outside is a variable of a function around it here, too.
    outer = f"def _around({', '.join(free)}):\n" + textwrap.indent("".join(lines), " ")
    (around,) = _codes(compile(outer, made.__code__.co_filename, "exec"))
    code = next(c for c in _codes(around) if c.co_name == fn.__name__)
    code = code.replace(co_firstlineno=1)
    cells = closure_cells(fn)
    closure = tuple(cells[name] for name in code.co_freevars)
    again = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, closure)
    again.__kwdefaults__ = fn.__kwdefaults__
    functools.update_wrapper(again, fn)
    del again.__wrapped__
    return again, lines


def _codes(code: types.CodeType) -> list[types.CodeType]:
    """The functions that a function, or a module, defines."""
    return [c for c in code.co_consts if isinstance(c, types.CodeType)]


def lines_of(file: str) -> list[str]:
    """The lines of a file, as its kernels were compiled from them."""
    return _latest.get(file) or linecache.getlines(file)


def line_of(file: str, line: int) -> str:
    """One of them, without its end."""
    lines = lines_of(file)
    return lines[line - 1].rstrip("\n") if 0 < line <= len(lines) else ""


def read_source(fn: Any, lines: list[str] | None = None) -> tuple[str, list[ast.stmt]]:
    """The text of a function, dedented, and its statement, with lines and columns as in the file:
    a `def`, or what a lambda is in; none where the lines of a lambda are no statement."""
    first = fn.__code__.co_firstlineno - 1
    lines = lines or linecache.getlines(fn.__code__.co_filename, fn.__globals__)
    if first < len(lines) and lines[first].lstrip().startswith(_DEFINITION):
        for end in _ends(lines, first):
            try:
                node = _statements(lines[first:end], first)[0]
            except SyntaxError:  # It goes on behind a bracket or a text of several lines.
                continue
            return _dedented(lines[first : _with_comments(lines, node, end)]), [node]
    block = inspect.getblock(lines[first:]) if lines else []
    if not block:
        raise SemanticError(
            f"the source of `{fn.__name__}` is not available ({fn.__code__.co_filename}); kernels "
            "must be defined in a file "
            "or a notebook cell"
        )
    try:
        return _dedented(block), _statements(block, first)
    except SyntaxError:
        return _dedented(block), []


def _ends(lines: list[str], first: int) -> Iterator[int]:
    """Where a definition may end that begins at a line: at lines that are not deeper than that."""
    indent = _indent(lines[first])
    begun = False
    trials = 0
    for i in range(first, len(lines)):
        line = lines[i].lstrip()
        if not line or line[0] == "#" or len(lines[i]) - len(line) > indent:
            continue
        if begun and i > first:
            yield i
            trials += 1
            if trials == _TRIALS:
                return
        begun = begun or line.startswith(_DEFINITION[1:])
    yield len(lines)


def _with_comments(lines: list[str], node: ast.stmt, end: int) -> int:
    """Where a definition ends with the comments behind its last statement."""
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    last = node.end_lineno or end
    for i in range(last, end):
        if lines[i].lstrip().startswith("#") and _indent(lines[i]) >= node.body[0].col_offset:
            last = i + 1
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _dedented(block: list[str]) -> str:
    return textwrap.dedent("".join(block)) if _indent(block[0]) else "".join(block)


def get_source(fn: Any, lines: list[str] | None = None) -> str:
    """The text of a function, dedented."""
    return read_source(fn, lines)[0]


def from_def(fn: Any, lines: list[str] | None = None, text: str | None = None) -> str:
    """The same, from ``def`` on: without decorators."""
    text = get_source(fn, lines) if text is None else text
    found = re.search(r"^def\s", text, re.MULTILINE)
    return text[found.start() :] if found else text


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


def _statements(block: list[str], first: int) -> list[ast.stmt]:
    """The AST of lines of a file from a line on, counted from 0."""
    if not _indent(block[0]):
        return _tree("\n" * first + "".join(block)).body
    # Not dedented: texts and comments of several lines may begin further to the left.
    body = _tree("\n" * (first - 1) + "if 1:\n" + "".join(block)).body
    assert isinstance(body[0], ast.If)
    return body[0].body


def _tree(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except RecursionError:  # It was parsed before, but from a shallower stack.
        allow_depth(DEEPEST)
        return ast.parse(text)


def parse(fn: Any, lines: list[str] | None = None) -> Parsed:
    """Parses a function; its lines and columns are those of the file."""
    from ..compiler.frames import Source

    text, statements = read_source(fn, lines)
    if not statements:
        raise SemanticError(f"`{fn.__name__}` is not a plain function definition")
    node = statements[0]
    if not isinstance(node, ast.FunctionDef):
        raise SemanticError(f"`{fn.__name__}` must be defined with `def`")
    if "match" in text:
        node = without_match(node)
    body = node.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # The docstring.
    file = fn.__code__.co_filename
    source = Source(
        name=fn.__name__,
        file=name_of_file(file),
        globals=fn.__globals__,
        nonlocals=Closure(fn),
        internal=os.path.abspath(file).startswith(_PACKAGE),
        begin=(node.lineno, node.col_offset),
    )
    return Parsed(node, body, source, text, depth_of(node) if len(text) > _LONG else 0)
