"""Copies from global to shared memory that go on while the program does, on all GPUs."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.memory import _check_pointer, choose
from tile.language.shared_memory import COPY_CACHE, TOKEN, commit, start_copy, wait, with_masks
from tile.language.state import current
from tile.language.values import builtin, describe, tensor

from ._core import shared_memory_descriptor
from ._layouts import AutoLayout


def check_target(smem: Any, places: tensor, element: Any, what: str) -> shared_memory_descriptor:
    """The buffer that a copy fills, of one element for each of `places`."""
    if not isinstance(smem, shared_memory_descriptor):
        raise SemanticError(f"{what} copies into shared memory, not into {describe(smem)}")
    if isinstance(places.type.layout, AutoLayout):
        raise SemanticError(
            f"the addresses of {what} must say their layout: it decides which thread copies what"
        )
    if places.shape != smem.shape or element != smem.dtype:
        raise SemanticError(
            f"{what} copies {list(places.shape)} elements of {element} into "
            f"a buffer of {list(smem.shape)} of {smem.dtype}; both must agree"
        )
    return smem


def copy_from_pointers(
    smem: Any,
    pointer: Any,
    mask: Any,
    other: Any,
    what: str,
    cache: Any,
    eviction: Any = None,
    volatile: Any = False,
) -> None:
    """Starts to copy what the pointers point to; where `mask` does not hold, `other` or zeros."""
    if not isinstance(smem, shared_memory_descriptor):
        raise SemanticError(f"{what} copies into shared memory, not into {describe(smem)}")
    pointer = _check_pointer(pointer, what)
    if not pointer.type.is_block():
        raise SemanticError(f"{what} takes a tensor of pointers, not one pointer")
    element = pointer.dtype.element_ty
    pointer, *masks = with_masks(pointer, mask, other, element)
    smem = check_target(smem, pointer, element, what)
    start_copy(smem, pointer, masks, cache, eviction, volatile)


def copy_from_buffer(
    smem: Any, pointer: tensor, offsets: tensor, mask: Any, other: Any, what: str, cache: Any
) -> None:
    """The same of the elements `offsets` behind a scalar pointer."""
    element = pointer.dtype.element_ty
    offsets, *masks = with_masks(offsets, mask, other, element)
    smem = check_target(smem, offsets, element, what)
    b = current()
    attributes = {
        "cache": b.int_attr(32, choose(COPY_CACHE, cache, "cache_modifier")),
        "operandSegmentSizes": b.i32_array_attr(
            [1, 1, 1, *[int(len(masks) > i) for i in range(2)], 0]
        ),
    }
    handles = [smem.handle, pointer.handle, offsets.handle, *[o.handle for o in masks]]
    b.create("amdg.buffer_load_to_local", handles, attributes, (b.type(TOKEN),))


@builtin
def commit_group() -> None:
    """Closes a group of the copies that were started since the last one."""
    commit()


@builtin
def wait_group(num_outstanding: Any = 0) -> None:
    """Waits until at most so many of the groups closed last are unfinished."""
    wait(num_outstanding, "wait_group")
