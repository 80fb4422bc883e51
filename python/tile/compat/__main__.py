"""The command: ``python -m tile.compat program.py`` or ``-m module``."""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
from collections.abc import Sequence

from . import __doc__ as _usage
from . import doctor, install


def main(argv: Sequence[str] | None = None) -> int:
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("-h", "--help"):
        print(_usage)
        return 0 if args else 2
    if args[0] == "--doctor":
        print(doctor())
        return 0
    as_module = args[0] == "-m"
    program = args[1:] if as_module else args
    problem = _problem(program[0] if program else "", as_module)
    if problem:
        print(f"tile.compat: error: {problem}", file=sys.stderr)
        return 2
    install()
    sys.argv = program
    if as_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
        return 0
    # As Python itself does, so that the program finds the files beside it.
    sys.path[0] = os.path.dirname(os.path.abspath(program[0]))
    runpy.run_path(program[0], run_name="__main__")
    return 0


def _problem(program: str, as_module: bool) -> str | None:
    """Why a program cannot be run, if it cannot."""
    if as_module:
        if not program:
            return "-m needs the name of a module"
        # The module of the working directory, as Python has it.
        sys.path[0] = os.getcwd()
        try:
            found = importlib.util.find_spec(program)
        except (ModuleNotFoundError, ValueError):
            found = None
        return None if found else f"there is no module {program}"
    runnable = os.path.isfile(program) or os.path.isfile(os.path.join(program, "__main__.py"))
    return None if runnable else f"there is no program {program}"


if __name__ == "__main__":
    sys.exit(main())
