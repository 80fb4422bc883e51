"""The command: ``python -m tile.compat program.py`` or ``-m module``."""

from __future__ import annotations

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
    install()
    if args[0] == "-m" and len(args) > 1:
        sys.argv = args[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(args[1], run_name="__main__", alter_sys=True)
        return 0
    sys.argv = args
    # As Python itself does, so that the program finds the files beside it.
    sys.path[0] = os.path.dirname(os.path.abspath(args[0]))
    runpy.run_path(args[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
