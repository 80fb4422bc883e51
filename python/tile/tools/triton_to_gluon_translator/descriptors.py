"""Descriptors in translated kernels. Those that a kernel makes become pointers and masks: any GPU
has these. Those of the host are copied by the TMA, if `convert_host_descriptor` made them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tile.errors import SemanticError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from tile.language import dtypes as dt
from tile.language.memory import PADDING, _integers, choose
from tile.language.values import builtin, describe, unwrap, unwrap_shape

from .layouts import expand_dims, layout_for


@gluon.aggregate
class Descriptor:
    """A strided tensor in memory, of which blocks are accessed."""

    base: gl.tensor
    shape: gl.tuple
    strides: gl.tuple
    block_shape: gl.constexpr
    padding: gl.constexpr

    @property
    def dtype(self) -> Any:
        return self.base.dtype.element_ty


@builtin
def make_tensor_descriptor(
    base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: Any = "zero"
) -> Descriptor:
    """A descriptor of a tensor in memory."""
    choose(PADDING, padding_option, "padding_option")
    return Descriptor(
        base, gl.tuple(_integers(shape, dt.int32, "shape")),
        gl.tuple(_integers(strides, dt.int64, "strides")),
        gl.constexpr(list(unwrap_shape(block_shape))),
        gl.constexpr(unwrap(padding_option) or "zero"),
    )  # fmt: skip


def _along(extent: int, dim: int, rank: int) -> Any:
    """0, 1, ... along a dimension."""
    line = gl.arange(0, extent, layout_for(1))
    return expand_dims(line, [d for d in range(rank) if d != dim]) if rank > 1 else line


def _pointers(desc: Descriptor, places: Sequence[Any]) -> tuple[Any, Any]:
    """The pointers to the elements at these places along each dimension, and which of them are in
    the tensor."""
    offset: Any = 0
    mask: Any = None
    for at, extent, stride in zip(places, desc.shape, desc.strides, strict=True):
        inside = (at >= 0) & (at < extent)
        mask = inside if mask is None else mask & inside
        offset = at.to(gl.int64) * stride + offset
    return desc.base + offset, mask


def _block(desc: Descriptor, offsets: Any) -> tuple[Any, Any]:
    shape, starts = desc.block_shape.value, _integers(offsets, dt.int32, "offsets")
    if len(starts) != len(shape):
        raise SemanticError(f"a descriptor of {len(shape)} dimensions got {len(starts)} offsets")
    places = [
        _along(e, d, len(shape)) + s for d, (e, s) in enumerate(zip(shape, starts, strict=True))
    ]
    return _pointers(desc, places)


def _rows(desc: Descriptor, rows: Any, column: Any) -> tuple[Any, Any]:
    columns = _along(desc.block_shape.value[1], 1, 2) + column
    return _pointers(desc, [expand_dims(rows, 1), columns])


def _read(desc: Descriptor, pointers: Any, mask: Any) -> Any:
    other = float("nan") if desc.padding.value == "nan" else 0
    return gl.load(pointers, mask, other)


def _checked(value: Any, what: str) -> Any:
    value = unwrap(value)
    if not isinstance(value, (Descriptor, tma.tensor_descriptor)):
        raise SemanticError(
            f"the translation of {what} takes a descriptor that the kernel makes, or one of "
            f"convert_host_descriptor, not {describe(value)}"
        )
    return value


@builtin
def obj_load(desc: Any, offsets: Any) -> Any:
    """``desc.load(offsets)``."""
    desc = _checked(desc, "load")
    if isinstance(desc, Descriptor):
        return _read(desc, *_block(desc, offsets))
    buffer = gl.allocate_shared_memory(desc.dtype, list(desc.block_shape), desc.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, desc.nbytes_per_cta)
    tma.async_load(desc, offsets, barrier, buffer)
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)
    return buffer.load(layout_for(len(desc.block_shape)))


@builtin
def obj_store(desc: Any, offsets: Any, value: Any) -> None:
    """``desc.store(offsets, value)``."""
    desc = _checked(desc, "store")
    value = value.to(desc.dtype)
    if isinstance(desc, Descriptor):
        pointers, mask = _block(desc, offsets)
        gl.store(pointers, value, mask)
        return
    buffer = gl.allocate_shared_memory(desc.dtype, list(desc.block_shape), desc.layout, value)
    fence_async_shared()
    tma.async_store(desc, offsets, buffer)
    tma.store_wait(0)


@builtin
def obj_gather(desc: Any, x_offsets: Any, y_offset: Any) -> Any:
    """``desc.gather(x_offsets, y_offset)``: rows of a matrix."""
    desc = _checked(desc, "gather")
    if not isinstance(desc, Descriptor):
        raise SemanticError("the translation gathers by descriptors that the kernel makes")
    return _read(desc, *_rows(desc, x_offsets, y_offset))


@builtin
def obj_scatter(desc: Any, value: Any, x_offsets: Any, y_offset: Any) -> None:
    """``desc.scatter(value, x_offsets, y_offset)``."""
    desc = _checked(desc, "scatter")
    if not isinstance(desc, Descriptor):
        raise SemanticError("the translation scatters by descriptors that the kernel makes")
    pointers, mask = _rows(desc, x_offsets, y_offset)
    gl.store(pointers, value.to(desc.dtype), mask)
