"""The Python stack, as steps of a path."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

#: Frames of tile itself say nothing about the program.
_TILE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


class Place(NamedTuple):
    """A line of the program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}@{self.function}"


def caller() -> tuple[str | None, int]:
    """File and line of the innermost frame that is not tile's."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        # contextlib runs the decorators that are context managers.
        if not file.startswith(_TILE) and file != _CONTEXTLIB:
            return file, frame.f_lineno
        frame = frame.f_back
    return None, 0


def places() -> list[Place]:
    """The frames of the program, the outermost first."""
    found = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_TILE):
            found.append(Place(code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return found[::-1]


def _file_of_contextlib() -> str:
    import contextlib

    return contextlib.__file__


_CONTEXTLIB = _file_of_contextlib()
