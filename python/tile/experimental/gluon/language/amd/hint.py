"""Hints to the scheduler of instructions."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.state import current
from tile.language.values import builtin, unwrap


@builtin
def sched_barrier(allow: Any = None) -> None:
    """No instruction is scheduled across this place."""
    if unwrap(allow) is not None:
        raise SemanticError(f"sched_barrier lets nothing across: allow is None, not {allow!r}")
    b = current()
    b.create("rocdl.sched.barrier", (), {"mask": b.int_attr(32, 0)}, ())


__all__ = ["sched_barrier"]
