"""Copies between global memory and LDS that go on while the program does."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.memory import _check_pointer
from tile.language.shared_memory import TOKEN, with_masks
from tile.language.state import current
from tile.language.values import builtin, describe, unwrap

from ..._copies import check_target, commit_group, copy_from_pointers, wait_group
from ..._core import shared_memory_descriptor
from ...nvidia.ampere.mbarrier import check_barrier


@builtin
def global_to_shared(
    smem: Any, pointer: Any, mask: Any = None, other: Any = None, cache_modifier: Any = ""
) -> None:
    """Starts to copy what the pointers point to; where `mask` does not hold, `other` or zeros."""
    copy_from_pointers(smem, pointer, mask, other, "global_to_shared", cache_modifier)


@builtin
def shared_to_global(pointer: Any, smem: Any, mask: Any = None, cache_modifier: Any = "") -> None:
    """Starts to copy a buffer to where the pointers point."""
    what = "shared_to_global"
    if not isinstance(smem, shared_memory_descriptor):
        raise SemanticError(f"{what} copies from shared memory, not from {describe(smem)}")
    if unwrap(cache_modifier) not in ("", None):
        raise SemanticError(f"tile has no code for a cache_modifier of {what}")
    pointer = _check_pointer(pointer, what)
    if not pointer.type.is_block():
        raise SemanticError(f"{what} takes a tensor of pointers, not one pointer")
    element = pointer.dtype.element_ty
    pointer, *masks = with_masks(pointer, mask, None, element)
    check_target(smem, pointer, element, what)
    handles = [smem.handle, pointer.handle, *[m.handle for m in masks]]
    b = current()
    b.create("amdg.async_copy_local_to_global", handles, None, (b.type(TOKEN),))


@builtin
def mbarrier_arrive(mbarrier: Any) -> None:
    """Has a barrier hear of the end of the copies that were started so far."""
    barrier = check_barrier(mbarrier, "mbarrier_arrive")
    current().create("amdg.async_copy_mbarrier_arrive", (barrier.handle,), None, ())


__all__ = ["commit_group", "global_to_shared", "mbarrier_arrive", "shared_to_global", "wait_group"]
