"""What a debugger stops at: places with conditions, and memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from .marks import Marks


@dataclass
class Breakpoint:
    number: int
    #: Of the source; empty for lines of the assembly.
    file: str
    line: int
    #: An expression of Python over the variables.
    condition: str = ""
    #: The only program (or block) that stops; None: any.
    program: tuple[int, int, int] | None = None
    #: How often it was hit before it stops.
    ignore: int = 0
    hits: int = 0
    enabled: bool = True

    @property
    def place(self) -> str:
        return f"{self.file or 'assembly'}:{self.line}"

    def describe(self) -> str:
        text = f"breakpoint {self.number} at {self.place}"
        if self.program is not None:
            text += f", program {self.program}"
        return text + (f", if {self.condition}" if self.condition else "")


@dataclass
class Watchpoint:
    """Memory whose changes stop the launch."""

    number: int
    #: As it was asked for.
    expression: str
    address: int
    size: int
    #: How the bytes are shown: a type of NumPy.
    dtype: str
    #: Of shared memory: the block that has it; -1 for global memory.
    block: int = -1
    enabled: bool = True


def same_file(known: str, wanted: str) -> bool:
    """Whether a file of the kernel is the one that a user means: by its path, or its name."""
    if known == wanted or os.path.realpath(known) == os.path.realpath(wanted):
        return True
    return os.sep not in wanted and os.path.basename(known) == wanted


def bind(breakpoint: Breakpoint, marks: Marks, places: list[tuple]) -> list[tuple]:
    """The breakpoint as the simulator takes it, once for each file that is meant.

    It is (number, whether the line is one of the assembly, file, line, marks). If the line has no
    code, the next one that has some is taken.
    """
    if not breakpoint.file:
        lines = sorted({place[0] for place in places if place[0] >= breakpoint.line})
        return [(breakpoint.number, True, "", lines[0], [])] if lines else []
    found: list[tuple[Any, ...]] = []
    if marks.list:
        for file, lines in marks.lines.items():
            line = _next(lines, breakpoint.line)
            if line is not None and same_file(file, breakpoint.file):
                at = marks.statements_at(file, line)
                found.append((breakpoint.number, False, file, line, at))
        return found
    for file in sorted({place[1] for place in places if place[1]}):
        if same_file(file, breakpoint.file):
            line = _next(sorted({p[2] for p in places if p[1] == file}), breakpoint.line)
            if line is not None:
                found.append((breakpoint.number, False, file, line, []))
    return found


def _next(lines: list[int], wanted: int) -> int | None:
    return next((line for line in lines if line >= wanted), None)
