"""Copies between blocks of a tensor in global memory and buffers in LDS, by the engine of gfx1250.
tile writes their IR, and has no code for them."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language import dtypes as dt
from tile.language.conversion import cast
from tile.language.memory import PADDING, _integers
from tile.language.promotion import to_tensor
from tile.language.shared_memory import TOKEN
from tile.language.state import current
from tile.language.values import builtin, describe, tensor, unwrap

from ..._core import _check_block, shared_memory_descriptor
from ..._layouts import PaddedSharedLayout, SwizzledSharedLayout
from ...nvidia.ampere.mbarrier import check_barrier
from ...nvidia.hopper import tma
from ._layouts import PartitionedSharedLayout


class tensor_descriptor_type(tma.tensor_descriptor_type):
    """The structure of a descriptor: its SSA value, then shape and strides."""

    LAYOUTS = (PaddedSharedLayout, SwizzledSharedLayout, PartitionedSharedLayout)

    def of(self, handle: Any, shape: list[tensor], strides: list[tensor]) -> tensor_descriptor:
        return tensor_descriptor(handle, shape, strides, self)


class tensor_descriptor(tma.tensor_descriptor):
    """A strided tensor in global memory, of which blocks are copied."""


def _descriptor(value: Any, what: str) -> tensor_descriptor:
    if not isinstance(value, tensor_descriptor):
        raise SemanticError(f"{what} takes a tensor descriptor, not {describe(value)}")
    return value


def _buffer(value: Any, desc: tensor_descriptor, what: str) -> shared_memory_descriptor:
    if not isinstance(value, shared_memory_descriptor):
        raise SemanticError(f"{what} takes a buffer in LDS, not {describe(value)}")
    if value.dtype != desc.dtype:
        raise SemanticError(
            f"{what} copies elements of {desc.dtype}, but the buffer has elements of {value.dtype}"
        )
    return value


def _default(value: Any, expected: Any, what: str) -> None:
    if unwrap(value) != expected:
        raise SemanticError(f"tile has no IR for {what}")


def _offsets(offsets: Any, desc: tensor_descriptor, what: str) -> list[Any]:
    if unwrap(offsets) is None:
        return []
    values = _integers(offsets, dt.int32, what)
    if len(values) != len(desc.shape):
        raise SemanticError(f"{what} has {len(values)} entries for {len(desc.shape)} dimensions")
    return [v.handle for v in values]


def _moved(desc: tensor_descriptor, offsets: list[Any], pred: Any, clamp: Any) -> tensor_descriptor:
    """The descriptor of a block elsewhere, or of none where `pred` is zero."""
    b = current()
    handles = [desc.handle, *offsets]
    pred = unwrap(pred)
    if pred is not None:
        value = to_tensor(int(pred) if isinstance(pred, bool) else pred)
        if value.type.is_block() or not value.dtype.is_int():
            raise SemanticError(f"pred is a scalar integer, not {value.type}")
        handles.append(cast(value, dt.int32).handle)
    attributes = {"operandSegmentSizes": b.i32_array_attr([1, len(offsets), int(pred is not None)])}
    if unwrap(clamp):
        attributes["clamp_bounds"] = b.unit_attr()
    ty = desc.type
    handle = b.create_one(
        "amdg.update_tensor_descriptor", handles, attributes, (b.type(ty.handle),)
    )
    return ty.of(handle, list(desc.shape), list(desc.strides))


@builtin
def make_tensor_descriptor(
    base: Any, shape: Any, strides: Any, block_shape: Any, layout: Any
) -> tensor_descriptor:
    """A descriptor of a tensor in memory, made in the kernel."""
    return tma.new_descriptor(
        tensor_descriptor_type, base, shape, strides, block_shape, layout, PADDING["zero"]
    )


@builtin
def update_tensor_descriptor(
    desc: Any,
    add_offsets: Any = None,
    set_bounds: Any = None,
    pred: Any = None,
    clamp_bounds: Any = False,
) -> tensor_descriptor:
    """The descriptor of the block at other offsets. Where `pred` is zero, nothing is copied. With
    `clamp_bounds`, the end of the tensor stays where it is."""
    desc = _descriptor(desc, "update_tensor_descriptor")
    _default(set_bounds, None, "set_bounds")
    return _moved(desc, _offsets(add_offsets, desc, "add_offsets"), pred, clamp_bounds)


@builtin
def async_load(
    src: Any,
    offsets: Any = None,
    dest: Any = None,
    pred: Any = None,
    mbarrier: Any = None,
    warp_used_hint: Any = None,
    cache_modifier: Any = "",
) -> None:
    """Starts to copy a block of the tensor into `dest`. A barrier hears of the end of it."""
    desc = _descriptor(src, "async_load")
    buffer = _buffer(dest, desc, "async_load")
    _default(warp_used_hint, None, "warp_used_hint")
    _default(cache_modifier, "", "a cache_modifier of tdm.async_load")
    b = current()
    places = _offsets(offsets, desc, "offsets")
    if places or unwrap(pred) is not None:
        desc = _moved(desc, places, True if unwrap(pred) is None else pred, True)
    handles = [desc.handle, buffer.handle]
    if mbarrier is not None:
        handles.append(check_barrier(mbarrier, "async_load").handle)
    segments = b.i32_array_attr([1, 0, 1, 0, int(mbarrier is not None)])
    b.create(
        "amdg.async_tdm_copy_global_to_local",
        handles,
        {"operandSegmentSizes": segments},
        (b.type(TOKEN),),
    )


@builtin
def async_load_fused(members: Any, cache_modifier: Any = "") -> None:
    """Several copies in one instruction: tile has no IR for it."""
    raise SemanticError("tile has no IR for tdm.async_load_fused")


@builtin
def async_store(
    dest: Any, offsets: Any = None, src: Any = None, mbarrier: Any = None, cache_modifier: Any = ""
) -> None:
    """Starts to copy a buffer to a block of the tensor."""
    desc = _descriptor(dest, "async_store")
    buffer = _buffer(src, desc, "async_store")
    _default(mbarrier, None, "a barrier of tdm.async_store")
    _default(cache_modifier, "", "a cache_modifier of tdm.async_store")
    places = _offsets(offsets, desc, "offsets")
    if places:
        desc = _moved(desc, places, None, True)
    b = current()
    handles = [desc.handle, buffer.handle]
    b.create("amdg.async_tdm_copy_local_to_global", handles, None, (b.type(TOKEN),))


def _rows(name: str, desc: Any, rows: Any, buffer: Any, mbarrier: Any) -> None:
    desc = _descriptor(desc, name)
    buffer = _buffer(buffer, desc, name)
    _default(mbarrier, None, f"a barrier of tdm.{name}")
    rows = _check_block(rows, name)
    if rows.dtype.int_bitwidth not in (16, 32) or not rows.dtype.is_int():
        raise SemanticError(f"{name} takes numbers of rows of 16 or 32 bits, not {rows.dtype}")
    b = current()
    handles = [desc.handle, rows.handle, buffer.handle]
    b.create(f"amdg.async_tdm_{name.removeprefix('async_')}", handles, None, (b.type(TOKEN),))


@builtin
def async_gather(desc: Any, src_row_indices: Any, dst: Any, mbarrier: Any = None) -> None:
    """Starts to copy chosen rows of a matrix to a buffer."""
    _rows("async_gather", desc, src_row_indices, dst, mbarrier)


@builtin
def async_scatter(desc: Any, dst_row_indices: Any, src: Any, mbarrier: Any = None) -> None:
    """Starts to copy a buffer to chosen rows of a matrix."""
    _rows("async_scatter", desc, dst_row_indices, src, mbarrier)


@builtin
def async_wait(num_outstanding: Any = 0) -> None:
    """Waits until at most so many copies are under way."""
    b = current()
    count = unwrap(num_outstanding)
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise SemanticError(f"async_wait takes a constant number, not {describe(count)}")
    b.create("amdg.async_tdm_wait", (), {"num": b.int_attr(32, count)}, (b.type(TOKEN),))


@builtin
def prefetch(src: Any, offsets: Any, pred: Any = True, speculative: Any = False) -> None:
    """Fetches a block of the tensor into the caches."""
    desc = _descriptor(src, "prefetch")
    b = current()
    places = _offsets(offsets, desc, "offsets")
    condition = cast(to_tensor(unwrap(pred)), dt.int1)
    attributes = {"speculative": b.bool_attr(bool(unwrap(speculative)))}
    b.create("amdg.tdm_prefetch", [desc.handle, *places, condition.handle], attributes, ())


__all__ = [
    "async_gather", "async_load", "async_load_fused", "async_scatter", "async_store", "async_wait",
    "make_tensor_descriptor", "prefetch", "tensor_descriptor", "tensor_descriptor_type",
    "update_tensor_descriptor",
]  # fmt: skip
