"""Tracebacks that show the user's frames and none of the package."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import TypeVar

from . import _C, knobs
from .errors import TileError

F = TypeVar("F", bound=Callable)
_PACKAGE = __name__.split(".")[0]


def _is_own(frame: FrameType) -> bool:
    # Backends of a checkout lie elsewhere, so the name of the file does not tell.
    return frame.f_globals.get("__name__", "").split(".")[0] == _PACKAGE


def hide_own_frames(error: BaseException) -> None:
    """Takes the package's frames out of the traceback of an error about the user's code.

    The message of such an error has the place. Errors of other types keep all frames: they may come
    from a fault of the package.
    """
    if not isinstance(error, TileError) or knobs.compilation.front_end_debugging:
        return
    entries = []
    entry = error.__traceback__
    while entry is not None:
        if not _is_own(entry.tb_frame):
            entries.append(entry)
        entry = entry.tb_next
    kept = None
    for entry in reversed(entries):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    error.__traceback__ = kept
    # What the package handled on the way is its own matter, too.
    error.__suppress_context__ = True


def entry_point(function: F) -> F:
    """A function that users call: its errors do not show the package's frames."""
    guarded = _C.launch.GuardedCall(function, hide_own_frames)
    return functools.update_wrapper(guarded, function)  # type: ignore[return-value]
