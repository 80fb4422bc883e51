"""Barriers in LDS that count arrivals, phase after phase."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language import dtypes as dt
from tile.language.conversion import cast
from tile.language.promotion import to_tensor
from tile.language.state import current
from tile.language.values import builtin, describe, tensor, unwrap

from ...nvidia.ampere.mbarrier import MBarrierLayout, check_barrier


def _count(value: Any, what: str) -> int:
    count = unwrap(value)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise SemanticError(f"{what} takes a constant count from 1, not {describe(count)}")
    return count


@builtin
def init(mbarrier: Any, count: Any) -> None:
    """Makes a barrier that expects so many arrivals in each phase."""
    barrier = check_barrier(mbarrier, "mbarrier.init")
    b = current()
    attributes = {"count": b.int_attr(32, _count(count, "mbarrier.init"))}
    b.create("amdg.init_barrier", (barrier.handle,), attributes, ())


@builtin
def wait(mbarrier: Any, phase: Any) -> None:
    """Waits until the phase of this parity has ended."""
    barrier = check_barrier(mbarrier, "mbarrier.wait")
    phase = to_tensor(unwrap(phase))
    if phase.type.is_block() or not phase.dtype.is_int():
        raise SemanticError(f"the phase of a barrier is an integer, not {phase.type}")
    handles = (barrier.handle, cast(phase, dt.int32).handle)
    current().create("amdg.wait_barrier", handles, None, ())


@builtin
def arrive(mbarrier: Any, *, count: Any = 1) -> tensor:
    """Arrives `count` times at a barrier. Returns the parity of the phase before that."""
    barrier = check_barrier(mbarrier, "mbarrier.arrive")
    b = current()
    attributes = {"count": b.int_attr(32, _count(count, "mbarrier.arrive"))}
    handle = b.create_one("amdg.arrive_barrier", (barrier.handle,), attributes, (b.type(dt.int32),))
    return tensor(handle, dt.int32)


__all__ = ["MBarrierLayout", "arrive", "init", "wait"]
