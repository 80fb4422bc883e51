"""Copies from global to shared memory that go on while the program does, on all GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tile.errors import SemanticError
from tile.language.conversion import cast
from tile.language.memory import EVICTION, _check_pointer, as_mask, choose
from tile.language.promotion import raise_to_common_shape, to_tensor
from tile.language.state import current
from tile.language.values import builtin, describe, tensor, unwrap

from ._core import shared_memory_descriptor
from ._layouts import AutoLayout

CACHE = {"": 1, ".ca": 2, ".cg": 3}


def _token() -> Any:
    return current().parse_type("!ttg.async.token")  # type: ignore[attr-defined]


def with_masks(places: tensor, mask: Any, other: Any, element: Any) -> list[tensor]:
    """Addresses or offsets, then the mask and the other values that are given, in one layout."""
    mask, other = unwrap(mask), unwrap(other)
    if mask is None:
        if other is not None:
            raise SemanticError("other is what masked-off elements become, so it needs a mask")
        return [places]
    found = [places, as_mask(mask)]
    if other is not None:
        found.append(cast(to_tensor(other), element))
    return list(raise_to_common_shape(*found))


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
    b = current()
    attributes = {
        "cache": b.int_attr(32, choose(CACHE, cache, "cache_modifier")),
        "evict": b.int_attr(32, choose(EVICTION, eviction, "eviction_policy")),
        "isVolatile": b.bool_attr(bool(unwrap(volatile))),
        "operandSegmentSizes": b.i32_array_attr([1, 1, *_given(masks)]),
    }
    handles = [pointer.handle, smem.handle, *[o.handle for o in masks]]
    b.create("ttg.async_copy_global_to_local", handles, attributes, (_token(),))


def _given(masks: Sequence[tensor]) -> list[int]:
    return [int(len(masks) > i) for i in range(2)]


def copy_from_buffer(
    smem: Any, pointer: tensor, offsets: tensor, mask: Any, other: Any, what: str, cache: Any
) -> None:
    """The same of the elements `offsets` behind a scalar pointer."""
    element = pointer.dtype.element_ty
    offsets, *masks = with_masks(offsets, mask, other, element)
    smem = check_target(smem, offsets, element, what)
    b = current()
    attributes = {
        "cache": b.int_attr(32, choose(CACHE, cache, "cache_modifier")),
        "operandSegmentSizes": b.i32_array_attr([1, 1, 1, *_given(masks), 0]),
    }
    handles = [smem.handle, pointer.handle, offsets.handle, *[o.handle for o in masks]]
    b.create("amdg.buffer_load_to_local", handles, attributes, (_token(),))


@builtin
def commit_group() -> None:
    """Closes a group of the copies that were started since the last one."""
    current().create("ttg.async_commit_group", (), None, (_token(),))


@builtin
def wait_group(num_outstanding: Any = 0) -> None:
    """Waits until at most so many of the groups closed last are unfinished."""
    count = unwrap(num_outstanding)
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise SemanticError(f"wait_group takes a constant number of groups, not {describe(count)}")
    b = current()
    b.create("ttg.async_wait", (), {"num": b.int_attr(32, count)}, (_token(),))
