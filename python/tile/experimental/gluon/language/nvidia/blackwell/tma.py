"""Bulk copies as on sm_90, and copies of chosen rows."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.conversion import cast
from tile.language.dtypes import int32
from tile.language.promotion import to_tensor
from tile.language.state import current
from tile.language.values import builtin, describe, tensor, unwrap

from ..._core import shared_memory_descriptor
from ..ampere.mbarrier import check_barrier, predicate
from ..hopper.tma import *  # noqa: F403
from ..hopper.tma import __all__ as _of_hopper
from ..hopper.tma import _check_descriptor, _hints, tensor_descriptor


def _check_rows(offsets: Any, desc: tensor_descriptor, buffer: Any, what: str) -> None:
    if len(desc.block_shape) != 2 or desc.block_shape[0] != 1:
        raise SemanticError(
            f"{what} takes a descriptor of blocks [1, N], not {list(desc.block_shape)}"
        )
    if not isinstance(offsets, tensor) or offsets.ndim != 1 or not offsets.dtype.is_int():
        raise SemanticError(f"x_offsets of {what} is a tensor of rows, not {describe(offsets)}")
    if not isinstance(buffer, shared_memory_descriptor):
        raise SemanticError(f"{what} takes a buffer in shared memory, not {describe(buffer)}")
    shape = (offsets.shape[0], desc.block_shape[1])
    if buffer.shape != shape or buffer.dtype != desc.dtype or buffer.layout != desc.layout:
        raise SemanticError(
            f"{what} needs a buffer of shape {list(shape)} of {desc.dtype} in {desc.layout!r}, not "
            f"{buffer}"
        )


def _column(offset: Any) -> Any:
    return cast(to_tensor(unwrap(offset)), int32)


@builtin
def async_gather(
    tensor_desc: Any,
    x_offsets: Any,
    y_offset: Any,
    barrier: Any,
    result: Any,
    pred: Any = True,
    multicast: bool = False,
    cache_policy: Any = None,
) -> None:
    """Starts to copy chosen rows of the tensor, from column `y_offset` on; their bytes arrive at
    `barrier`."""
    desc = _check_descriptor(tensor_desc, "async_gather")
    _check_rows(x_offsets, desc, result, "async_gather")
    bar = check_barrier(barrier, "async_gather")
    if unwrap(multicast) or _hints(cache_policy, "async_gather"):
        raise SemanticError("tile has no code for multicast or a cache_policy of async_gather")
    when = predicate(pred)
    handles = [
        desc.handle, x_offsets.handle, _column(y_offset).handle, bar.handle, result.handle,
        when.handle,
    ]  # fmt: skip
    current().create("ttnvgpu.async_tma_gather", handles, None, ())


@builtin
def async_scatter(
    tensor_desc: Any, x_offsets: Any, y_offset: Any, src: Any, cache_policy: Any = None
) -> None:
    """Starts to copy the rows of a buffer to chosen rows of the tensor."""
    desc = _check_descriptor(tensor_desc, "async_scatter")
    _check_rows(x_offsets, desc, src, "async_scatter")
    if _hints(cache_policy, "async_scatter"):
        raise SemanticError("tile has no code for a cache_policy of async_scatter")
    handles = [desc.handle, x_offsets.handle, _column(y_offset).handle, src.handle]
    current().create("ttnvgpu.async_tma_scatter", handles, None, ())


__all__ = [*_of_hopper, "async_gather", "async_scatter"]
