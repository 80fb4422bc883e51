"""The contexts of MLIR that compiles run in.

A context has the operations of each dialect that was loaded into it, which takes longer than to
compile a small kernel. So compiles leave theirs to the next ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import _C

#: After so many compiles a context ends, and with it all types, constants and places that these
#: made.
_COMPILES = 32

#: Contexts that no compile is running in, and how many ran in each.
_idle: list[tuple[Any, int]] = []


@contextmanager
def taken() -> Iterator[Any]:
    """A context for one compile, which leaves nothing in it that another one sees. That of a
    compile that fails is not used again: errors may refer to it."""
    try:
        context, compiles = _idle.pop()
    except IndexError:
        context, compiles = _C.ir.Context(), 0
    yield context
    if compiles + 1 < _COMPILES:
        _idle.append((context, compiles + 1))


def forget() -> None:
    """Makes the next compiles begin with new contexts."""
    _idle.clear()
