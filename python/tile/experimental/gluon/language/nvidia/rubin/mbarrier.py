"""Barriers of sm_107, at which blocks of a cluster may arrive together."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.state import current
from tile.language.values import builtin, unwrap

from ..ampere.mbarrier import arrive_at
from ..hopper.mbarrier import (
    MBarrierLayout,
    allocate_mbarrier,
    expect,
    init,
    invalidate,
    wait,
)


@builtin
def arrive(
    mbarrier: Any, *, count: Any = 1, pred: Any = True, from_cta: Any = None, multicast_cta: Any = 0
) -> None:
    """Arrives `count` times at a barrier, when all threads got here. With `multicast_cta` each
    block arrives at its own barrier, and at those of the blocks whose numbers differ from its own
    in these bits only."""
    mask = unwrap(multicast_cta)
    if isinstance(mask, bool) or not isinstance(mask, int):
        raise SemanticError(f"multicast_cta must be an int, not {mask!r}")
    if mask < 0:
        raise SemanticError(f"multicast_cta must be positive, not {mask}")
    if mask > current().options.num_ctas - 1:
        raise SemanticError(
            f"multicast_cta must be <= num_ctas - 1, which is {current().options.num_ctas - 1}, "
            f"not {mask}"
        )
    arrive_at(mbarrier, count, pred, from_cta, mask)


__all__ = [
    "MBarrierLayout", "allocate_mbarrier", "arrive", "expect", "init", "invalidate", "wait",
]  # fmt: skip
