"""The command: ``python -m tile.compat program.py`` or ``-m module``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..programs import find_problem, run
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
    problem = find_problem(program[0] if program else "", as_module)
    if problem:
        print(f"tile.compat: error: {problem}", file=sys.stderr)
        return 2
    install()
    return run(program[0], program[1:], as_module)


if __name__ == "__main__":
    sys.exit(main())
