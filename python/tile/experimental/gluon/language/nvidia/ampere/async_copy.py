"""Copies from global to shared memory that go on while the program does (``cp.async``)."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.memory import EVICTION, _check_pointer, as_mask, choose
from tile.language.promotion import raise_to_common_shape
from tile.language.state import current
from tile.language.values import builtin, describe, unwrap

from ..._core import shared_memory_descriptor
from ..._layouts import AutoLayout
from . import mbarrier as _mbarrier

_CACHE = {"": 1, ".ca": 2, ".cg": 3}


def _token() -> Any:
    return current().parse_type("!ttg.async.token")  # type: ignore[attr-defined]


@builtin
def async_load(
    smem: Any,
    pointer: Any,
    mask: Any = None,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    volatile: bool = False,
) -> None:
    """Starts to copy what `pointer` points to into `smem`; where `mask` does not hold, zeros."""
    if not isinstance(smem, shared_memory_descriptor):
        raise SemanticError(f"async_load copies into shared memory, not into {describe(smem)}")
    pointer = _check_pointer(pointer, "async_load")
    if not pointer.type.is_block():
        raise SemanticError("async_load takes a tensor of pointers, not one pointer")
    operands = [pointer]
    if unwrap(mask) is not None:
        pointer, mask = raise_to_common_shape(pointer, as_mask(unwrap(mask)))
        operands = [pointer, mask]
    if isinstance(pointer.type.layout, AutoLayout):
        raise SemanticError(
            "the pointers of async_load must say their layout: it decides which thread copies what"
        )
    if pointer.shape != smem.shape or pointer.dtype.element_ty != smem.dtype:
        raise SemanticError(
            f"async_load copies {list(pointer.shape)} elements of {pointer.dtype.element_ty} into "
            f"a buffer of {list(smem.shape)} of {smem.dtype}; both must agree"
        )
    b = current()
    attributes = {
        "cache": b.int_attr(32, choose(_CACHE, cache_modifier, "cache_modifier")),
        "evict": b.int_attr(32, choose(EVICTION, eviction_policy, "eviction_policy")),
        "isVolatile": b.bool_attr(bool(unwrap(volatile))),
        "operandSegmentSizes": b.i32_array_attr([1, 1, len(operands) - 1, 0]),
    }
    handles = [operands[0].handle, smem.handle, *[o.handle for o in operands[1:]]]
    b.create("ttg.async_copy_global_to_local", handles, attributes, (_token(),))


#: Its older name.
async_copy_global_to_shared = async_load


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
