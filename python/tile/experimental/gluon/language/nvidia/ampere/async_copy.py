"""Copies from global to shared memory that go on while the program does (``cp.async``)."""

from __future__ import annotations

from typing import Any

from tile.language.state import current
from tile.language.values import builtin, unwrap

from ..._copies import commit_group, copy_from_pointers, wait_group
from ..._policies import cache_hints
from . import mbarrier as _mbarrier


@builtin
def async_load(
    smem: Any,
    pointer: Any,
    mask: Any = None,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    volatile: bool = False,
    cache_policy: Any = None,
) -> None:
    """Starts to copy what `pointer` points to into `smem`; where `mask` does not hold, zeros."""
    cache_modifier, eviction_policy = cache_hints(cache_modifier, eviction_policy, cache_policy)
    copy_from_pointers(
        smem, pointer, mask, None, "async_load", cache_modifier, eviction_policy, volatile
    )


#: Its older name.
async_copy_global_to_shared = async_load


@builtin
def mbarrier_arrive(mbarrier: Any, increment_count: bool = True) -> None:
    """Each thread arrives at the barrier when the copies that it started before are done."""
    barrier = _mbarrier.check_barrier(mbarrier, "mbarrier_arrive")
    b = current()
    attributes = None if unwrap(increment_count) else {"noIncrement": b.unit_attr()}
    b.create("ttnvgpu.async_copy_mbarrier_arrive", (barrier.handle,), attributes, ())


__all__ = [
    "async_copy_global_to_shared", "async_load", "commit_group", "mbarrier_arrive", "wait_group",
]  # fmt: skip
