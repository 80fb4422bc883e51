"""Programs that a command of ours runs, as Python itself would."""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from types import TracebackType

from .errors import TileError


class NoProgram(TileError):
    """A command names a program that is not there: it is written wrong."""


def check(program: str, is_module: bool = False) -> None:
    """Raises NoProgram if a program cannot be run."""
    if problem := find_problem(program, is_module):
        raise NoProgram(problem)


def find_problem(program: str, is_module: bool) -> str | None:
    """Why a program cannot be run, if it cannot."""
    if not is_module:
        runnable = os.path.isfile(program) or os.path.isfile(os.path.join(program, "__main__.py"))
        return None if runnable else f"there is no program {program}"
    if not program:
        return "-m needs the name of a module"
    _find_files_beside(program, is_module)
    try:
        found = importlib.util.find_spec(program)
    except (ModuleNotFoundError, ValueError):
        found = None
    return None if found else f"there is no module {program}"


def run(program: str, arguments: Sequence[str], is_module: bool) -> int:
    """Runs a program; its exit status. What it raises is shown without what starts it."""
    sys.argv = [program, *arguments]
    _find_files_beside(program, is_module)
    try:
        if is_module:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(program, run_name="__main__")
    except Exception as error:
        error.__traceback__ = _frames_of_program(error.__traceback__)
        _show(error)
        return 1
    return 0


def _show(error: Exception) -> None:
    """As Python does; errors of ours are coloured on a terminal."""
    if sys.excepthook is sys.__excepthook__ and isinstance(error, TileError):
        from .cli.color import findings_in_color, wants_color

        if wants_color(sys.stderr):
            text = "".join(traceback.format_exception(error))
            sys.stderr.write(findings_in_color(text, sys.stderr))
            return
    sys.excepthook(type(error), error, error.__traceback__)


def _find_files_beside(program: str, is_module: bool) -> None:
    """The first place that Python looks in: of a module it is the working directory."""
    sys.path[0] = os.getcwd() if is_module else os.path.dirname(os.path.abspath(program))


def _frames_of_program(trace: TracebackType | None) -> TracebackType | None:
    starters = (__file__, "<frozen runpy>", runpy.__file__)
    while trace and trace.tb_frame.f_code.co_filename in starters:
        trace = trace.tb_next
    return trace
