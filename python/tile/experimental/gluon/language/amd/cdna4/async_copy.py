"""Copies from global memory to LDS that go on while the program does."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.values import builtin, describe, tensor

from ..._copies import commit_group, copy_from_buffer, copy_from_pointers, wait_group
from ..._core import shared_memory_descriptor
from .._buffer import check_address


@builtin
def global_load_to_shared(
    dest: Any, ptr: Any, mask: Any = None, other: Any = None, cache_modifier: Any = ""
) -> None:
    """Starts to copy what the pointers point to; where `mask` does not hold, `other` or zeros."""
    copy_from_pointers(dest, ptr, mask, other, "global_load_to_shared", cache_modifier)


@builtin
def buffer_load_to_shared(
    dest: Any, ptr: Any, offsets: Any, mask: Any = None, other: Any = None, cache_modifier: Any = ""
) -> None:
    """Starts to copy the elements `offsets` behind `ptr`; where `mask` does not hold, `other` or
    zeros."""
    what = "buffer_load_to_shared"
    ptr, offsets = check_address(ptr, offsets, what)
    copy_from_buffer(dest, ptr, offsets, mask, other, what, cache_modifier)


@builtin
def load_shared_relaxed(smem: Any, layout: Any) -> tensor:
    """Reads a buffer whose copies the program has waited for. Tile's compiler knows that of every
    read: this is `smem.load(layout)`."""
    if not isinstance(smem, shared_memory_descriptor):
        raise SemanticError(
            f"load_shared_relaxed reads a buffer in shared memory, not {describe(smem)}"
        )
    return smem._load(layout, {"ttg.amdg.syncedViaAsyncWait": True})


__all__ = [
    "buffer_load_to_shared", "commit_group", "global_load_to_shared", "load_shared_relaxed",
    "wait_group",
]  # fmt: skip
