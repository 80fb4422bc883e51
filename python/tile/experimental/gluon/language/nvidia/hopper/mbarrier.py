"""Barriers, whose phases may also wait for bytes of asynchronous copies."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.state import current
from tile.language.values import builtin, describe, unwrap

from ..ampere.mbarrier import (
    MBarrierLayout,
    allocate_mbarrier,
    arrive_at,
    check_barrier,
    from_block,
    init,
    invalidate,
    predicate,
    wait,
)


@builtin
def expect(
    mbarrier: Any,
    bytes_per_cta: Any = None,
    pred: Any = True,
    *,
    from_cta: Any = None,
    bytes: Any = None,
) -> None:
    """Arrives once, and has the phase wait for so many bytes of copies. `bytes` is the older name
    of `bytes_per_cta`."""
    barrier = check_barrier(mbarrier, "mbarrier.expect")
    size = unwrap(bytes if bytes_per_cta is None else bytes_per_cta)
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise SemanticError(
            f"mbarrier.expect takes a constant number of bytes, not {describe(size)}; of a buffer "
            "it is buffer.nbytes_per_cta, of a descriptor's block desc.nbytes_per_cta"
        )
    b = current()
    attributes = {"size": b.int_attr(32, size), **from_block(from_cta, "mbarrier.expect")}
    b.create("ttnvgpu.barrier_expect", (barrier.handle, predicate(pred).handle), attributes, ())


@builtin
def arrive(mbarrier: Any, *, count: Any = 1, pred: Any = True, from_cta: Any = None) -> None:
    """Arrives `count` times at a barrier, when all threads got here."""
    arrive_at(mbarrier, count, pred, from_cta)


__all__ = [
    "MBarrierLayout", "allocate_mbarrier", "arrive", "expect", "init", "invalidate", "wait",
]  # fmt: skip
