"""Errors of interpreted kernels: with the place in the user's code."""

from __future__ import annotations

import enum
import os
import sys
import types
from typing import Any

from .. import hints
from ..compiler.errors import (
    CompilationError,
    CompileTimeAssertionFailure,
    SourceRange,
    render_places,
)
from ..compiler.expressions import no_attribute
from ..errors import InterpreterError, SemanticError, TileError
from ..runtime.source import line_of

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _place(code: types.CodeType, lasti: int, line: int) -> SourceRange:
    text = line_of(code.co_filename, line)
    # The whole line, where this Python does not know the expression.
    start, end = len(text) - len(text.lstrip()), 10_000
    if sys.version_info >= (3, 11):
        for i, (first, last, column, end_column) in enumerate(code.co_positions()):
            if 2 * i == lasti and column is not None:
                start, end = column, end_column or column + 1
                if last != first:  # Only the first line of a longer expression.
                    end = 10_000
                break
    return SourceRange(code.co_filename, line, start, end, code.co_name)


def user_frames(traceback: Any) -> list[Any]:
    """The parts of a traceback that are in kernels."""
    found = []
    while traceback is not None:
        frame = traceback.tb_frame
        internal = os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE)
        if "__tile__" in frame.f_globals and not internal:
            found.append(traceback)
        traceback = traceback.tb_next
    return found


def mistake(error: Exception) -> SemanticError | None:
    """What the compiler says of an error of Python's that a line of a kernel made; None for one
    from elsewhere, which is no mistake of the user's."""
    parts = []
    part = error.__traceback__
    while part is not None:
        parts.append(part)
        part = part.tb_next
    users = user_frames(error.__traceback__)
    if not users:
        return None
    # A wrong call of a function of the language fails in its wrapper, and a name that a module
    # lacks where the module looks for more names.
    last = parts[-1].tb_frame.f_globals.get("__name__")
    is_missing_name = isinstance(error, AttributeError) and (
        hasattr(error.obj, "__spec__") or last == enum.__name__
    )
    # The library's own functions are interpreted, too.
    interpreted = [part for part in parts if "__tile__" in part.tb_frame.f_globals]
    below = len(parts) - 1 - parts.index(interpreted[-1])
    if below > (2 if isinstance(error, (TypeError, ValueError)) or is_missing_name else 0):
        return None
    message = str(error)
    if isinstance(error, NameError) and error.name is not None:
        known = {**users[-1].tb_frame.f_globals, **users[-1].tb_frame.f_locals}
        message = f"`{error.name}` is not defined{hints.closest(error.name, known)}"
    if isinstance(error, ZeroDivisionError):
        message = "division by zero in a constant expression"
    if isinstance(error, KeyError):
        message = f"there is no key {message}"
    if isinstance(error, AttributeError) and error.name is not None:
        message = no_attribute(error.obj, error.name, interpreted[-1] is not users[-1])
    elif is_missing_name:
        message = f"an enumeration has no member `{message}`"
    return SemanticError(message).with_traceback(error.__traceback__)


def located(error: TileError, program: tuple[int, int, int]) -> TileError:
    """The error with its places, and a traceback of the kernel's frames only."""
    frames = user_frames(error.__traceback__)
    places = tuple(_place(t.tb_frame.f_code, t.tb_lasti, t.tb_lineno) for t in frames)
    message = str(error)
    if isinstance(error, SemanticError):
        kind = CompilationError
        if message.startswith("static assertion failed"):
            kind = CompileTimeAssertionFailure
        result: TileError = kind(message, places)
    else:
        lines = render_places(places)
        lines.append(f"error: {message}, in program {program}")
        remedy = getattr(error, "remedy", "")
        if remedy:
            lines.append(f"help: {remedy}")
        text = ("\n" if places else "") + "\n".join(lines)
        result = InterpreterError(text + hints.more(message), remedy)
    traceback = None
    for part in reversed(frames):
        traceback = types.TracebackType(traceback, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return result.with_traceback(traceback)
