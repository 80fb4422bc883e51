"""Stages of a loop that waves run in turns."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.state import current
from tile.language.values import builtin, unwrap


class _Stage:
    """What `with` enters in kernels."""

    __tile_scope__ = True

    def __init__(self, priority: int | None) -> None:
        self.priority = priority

    def _set_priority(self, value: int) -> None:
        b = current()
        b.create("rocdl.s.setprio", (), {"priority": b.int_attr(16, value)}, ())

    def __enter__(self) -> None:
        if self.priority is not None:
            self._set_priority(self.priority)

    def __exit__(self, *error: Any) -> None:
        # Instructions of one stage are not scheduled among those of another one.
        b = current()
        b.create("rocdl.sched.barrier", (), {"mask": b.int_attr(32, 0)}, ())
        if self.priority is not None:
            self._set_priority(0)


@builtin
def warp_pipeline_stage(label: Any = None, *, priority: Any = None) -> _Stage:
    """A stage around the statements of a `with`. The scheduler of instructions keeps it together.

    `priority`, from 0 to 3, is that of the waves that run it, where several could go on. Waves
    that have one run beside others, in other stages, if the unit has both. `label` is for
    readers."""
    label, priority = unwrap(label), unwrap(priority)
    if label is not None and not isinstance(label, str):
        raise SemanticError(f"label of warp_pipeline_stage is a str, not {label!r}")
    if priority is not None and (type(priority) is not int or not 0 <= priority <= 3):
        raise SemanticError(f"priority of warp_pipeline_stage is from 0 to 3, not {priority!r}")
    return _Stage(priority)
