"""Runs programs written for Triton: ``import triton`` gives tile.

Three ways to turn it on, for programs, workers and notebooks alike:

    python -m tile.compat program.py arguments...
    import tile.compat                      # before the first `import triton`
    TILE_COMPAT=1 in the environment        # of any process of an installed tile

Processes that are started later inherit it through the environment. `doctor`
says what ``import triton`` gives in this process, and why.
"""

from __future__ import annotations

import os
import sys
import warnings

from ..errors import TileError
from .doctor import Diagnosis, examine
from .finder import Finder, alien_modules

VARIABLE = "TILE_COMPAT"


def installed() -> bool:
    """Whether ``import triton`` gives tile in this process."""
    return any(isinstance(finder, Finder) for finder in sys.meta_path)


def install() -> None:
    """Makes ``import triton`` give tile, from now on in this process and in
    those that it starts."""
    if installed():
        return
    found = alien_modules()
    if found:
        raise TileError(
            f"another triton is in use already, from {found[0]}: import tile.compat before "
            "whatever imports triton, or set TILE_COMPAT=1"
        )
    sys.meta_path.insert(0, Finder())
    os.environ[VARIABLE] = "1"


def uninstall() -> None:
    """Undoes `install`."""
    for finder in [f for f in sys.meta_path if isinstance(f, Finder)]:
        sys.meta_path.remove(finder)
        finder.forget()
    os.environ.pop(VARIABLE, None)


def doctor() -> Diagnosis:
    """What ``import triton`` gives in this process, and why; prints as text."""
    return examine(installed())


try:
    install()
except TileError as _error:  # `doctor` has to work in such a process too.
    warnings.warn(str(_error), RuntimeWarning, stacklevel=2)

__all__ = ["Diagnosis", "doctor", "install", "installed", "uninstall"]
