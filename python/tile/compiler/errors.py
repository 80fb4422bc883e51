"""CompilationError and LaunchError: what is wrong in a kernel or with a launch, and where."""

from __future__ import annotations

import ast
import functools
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from .. import knobs
from ..errors import OptionError, TileError
from ..hints import more
from ..runtime.source import line_of, lines_of


def name_of(file: str) -> str:
    """A file's name; of a notebook, the cell as its tracebacks name it."""
    # Set by IPython once it is whole; older ones have no names of cells.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    code_name = getattr(getattr(shell, "compile", None), "format_code_name", None)
    return " ".join((code_name and code_name(file)) or [file])


def _shown(file: str) -> str:
    """A file as Python's tracebacks name it."""
    name = name_of(file)
    return name if name != file else f'File "{file}"'


def is_python(file: str) -> bool:
    """Is it a file of Python, or what was typed in?"""
    return file.endswith(".py") or file.startswith("<")


@dataclass(frozen=True)
class SourceRange:
    """A range of one source line; `end_column` is exclusive."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    function: str = ""
    #: Of what is in no file.
    known_text: str = ""
    #: Where the function's `def` is, if that is known.
    begin: tuple[int, int] = (0, 0)

    @property
    def text(self) -> str:
        return self.known_text or line_of(self.file, self.line)

    def render(self) -> str:
        """The line with carets under the range, as Python's tracebacks show it."""
        head = f"  {_shown(self.file)}, line {self.line}" + (
            f", in {self.function}" if self.function else ""
        )
        text = self.text
        if not text.strip():
            return head
        stripped = text.lstrip()
        indent = len(text) - len(stripped)
        start = max(0, self.column - indent)
        end = self.end_column if self.end_column > self.column else self.column + 1
        width = max(1, min(end - indent, len(stripped)) - start)
        return f"{head}\n    {stripped}\n    {' ' * start}{'^' * width}"


def render_places(places: Sequence[SourceRange]) -> list[str]:
    """The places as text; calls that repeat, as in a recursion, are told once."""
    lines: list[str] = []
    i = 0
    while i < len(places):
        for period in range(1, min(8, (len(places) - i) // 2) + 1):
            cycle = places[i : i + period]
            repeats = 1
            while places[i + repeats * period : i + (repeats + 1) * period] == cycle:
                repeats += 1
            if repeats > 2:
                lines += [place.render() for place in cycle]
                what = "this call repeats" if period == 1 else f"these {period} calls repeat"
                lines.append(f"  [{what} {repeats - 1} more times]")
                i += repeats * period
                break
        else:
            lines.append(places[i].render())
            i += 1
    return lines


class PlacedError(TileError):
    """An error with its place in a kernel."""

    def __init__(
        self,
        message: str,
        places: Sequence[SourceRange] = (),
        notes: Sequence[str] = (),
    ) -> None:
        self.error_message = message
        #: Innermost place last, like a traceback.
        self.places = tuple(places)
        self.notes = tuple(notes)
        super().__init__(self._render())

    def _render(self) -> str:
        lines = render_places(self.places)
        if knobs.compat.enable and self.places and self.places[0].begin[0]:
            # As releases of Triton count: from the function's `def`.
            outermost = self.places[0]
            line, column = outermost.begin
            lines.insert(0, f"at {outermost.line - line + 1}:{outermost.column - column}:")
        lines.append(f"error: {self.error_message}")
        lines.extend(f"note: {note}" for note in self.notes)
        text = "\n" + "\n".join(lines) if self.places else "\n".join(lines)
        return text + more(self.error_message)

    @property
    def message(self) -> str:
        return self.error_message

    @property
    def place(self) -> SourceRange | None:
        return self.places[-1] if self.places else None

    def __reduce__(self) -> tuple:
        return (type(self), (self.error_message, self.places, self.notes))


class CompilationError(PlacedError):
    """An error in a kernel, with its place and the calls that lead there."""


class LaunchError(PlacedError):
    """A launch that is wrong: its arguments, its grid, its options, or its moment. The place is
    the kernel's, or that of the parameter."""


class RefusedOptions(LaunchError, OptionError, ValueError, AssertionError):
    """A launch with options that the target does not take. Programs written for Triton expect one
    of Python's two errors, depending on the option."""


class TooLargeArgument(LaunchError, OverflowError):
    """A launch with an integer that no parameter can have."""


class ChangedReference(LaunchError, RuntimeError):
    """A launch of a kernel that was compiled with other values of globals, or the like."""


class CompileTimeAssertionFailure(CompilationError):
    """A tl.static_assert that does not hold."""


class UnsupportedLanguageConstruct(CompilationError):
    """Python that kernels cannot use."""


def node_place(node: ast.AST, file: str, function: str) -> SourceRange | None:
    """The place of an AST node of a function."""
    line = getattr(node, "lineno", None)
    if line is None:
        return None
    column = getattr(node, "col_offset", 0)
    end = getattr(node, "end_col_offset", column + 1)
    if getattr(node, "end_lineno", line) != line:
        # Only the first line of a longer expression is shown.
        end = len(line_of(file, line).encode())
    # The AST counts bytes of UTF-8; the reader counts characters.
    raw = line_of(file, line).encode()
    column = len(raw[:column].decode(errors="replace"))
    end = len(raw[:end].decode(errors="replace"))
    return SourceRange(file, line, column, end, function)


@functools.lru_cache(maxsize=8)
def _tree(file: str, version: tuple[str, ...]) -> ast.Module | None:
    try:
        return ast.parse("".join(version))
    except SyntaxError:
        return None


def source_place(file: str, line: int, column: int) -> SourceRange:
    """The place of an operation: what begins there, and in which function.
    The IR knows only where it begins, so of several the longest is shown."""
    start = max(0, column - 1)
    place = SourceRange(file, line, start)
    if not is_python(file):
        return place
    lines = lines_of(file)
    tree = _tree(file, tuple(lines))
    if tree is None or not 0 < line <= len(lines):
        return place
    function, best = "", None
    for node in ast.walk(tree):
        first = getattr(node, "lineno", None)
        if first is None:
            continue
        if isinstance(node, ast.FunctionDef) and first <= line <= node.end_lineno:
            function = node.name  # The innermost comes last.
        if first == line and node.col_offset == start and isinstance(node, ast.expr):
            if best is None or (node.end_lineno, node.end_col_offset) > (
                best.end_lineno, best.end_col_offset
            ):  # fmt: skip
                best = node
    if best is None:
        return SourceRange(file, line, start, function=function)
    return node_place(best, file, function) or place


#: Inline assembly where statements end with a semicolon; elsewhere they end with their line.
_INLINE = re.compile(r"^\s*// begin inline asm\n(.*?)^\s*// end inline asm$", re.M | re.S)


def _is_whole(assembly: str) -> bool:
    """Whether inline assembly ends its last statement, and the blocks that it begins."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", assembly, flags=re.S).strip()
    return not text or (text[-1] in ";}:" and text.count("{") == text.count("}"))


def of_assembly(message: str, assembly: str) -> CompilationError | None:
    """An error that names a line of a kernel's assembly, with its place in the kernel."""
    line = re.search(r"<\w+>:(\d+):", message)
    place = assembly_place(assembly, int(line[1])) if line else None
    return CompilationError(message, [place]) if place else None


def assembly_place(text: str, line: int) -> SourceRange | None:
    """The place in a kernel that a line of its assembly was made from, if that has line
    information."""
    files = {
        number: os.path.join(folder, name)
        for number, folder, name in re.findall(
            r'^\s*\.file\s+(\d+)\s+(?:"([^"]*)"\s+)?"([^"]*)"', text, re.M
        )
    }
    before = "\n".join(text.splitlines()[:line])
    for inline in _INLINE.finditer(before):
        if not _is_whole(inline[1]):
            before = before[: inline.start()]  # What follows it is read as a part of it.
            break
    places = re.findall(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)", before, re.M)
    if not places or places[-1][0] not in files:
        return None
    file, row, column = places[-1]
    return source_place(files[file], int(row), int(column))


#: What MLIR says of an operation that no pattern lowers.
_REFUSED = re.compile(r"failed to legalize operation '([\w.]+)'")


def from_diagnostics(error: Exception, what: str = "") -> CompilationError:
    """Wraps an MLIRError: the first error's text, op and source places."""
    diagnostics = getattr(error, "diagnostics", [])
    errors = [d for d in diagnostics if d["severity"] == "error"]
    if not errors:
        return CompilationError(str(error), notes=[what] if what else [])
    first = errors[0]
    places = [source_place(*place) for place in reversed(first["places"])]
    notes = []
    if what:
        notes.append(what)
    for note in first["notes"]:
        text = note["message"]
        if text.startswith("see current operation:"):
            if any(place.file.endswith(".py") for place in places):
                continue  # The line of the kernel says it better.
            # One line names the operation; the whole may be a page of IR.
            text = text.splitlines()[0][:200].rstrip()
            if text.endswith(":"):
                continue
        if note["places"] and note["places"] != first["places"]:
            # It is about another line of the kernel.
            text = "\n".join([text, *render_places([source_place(*note["places"][0])])])
        notes.append(text)
    notes.extend(d["message"] for d in errors[1:4])
    message = first["message"]
    refused = _REFUSED.match(message)
    if refused:
        # The last note is the reason of the most general way to compile it.
        reason = "" if notes[-1:] == [what] or not notes else f": {notes.pop()}"
        message = f"`{refused.group(1)}` cannot be compiled for this target{reason}"
    return CompilationError(message, places, notes)
