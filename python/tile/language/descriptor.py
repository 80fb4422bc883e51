"""Tensor descriptors: blocks of a strided tensor, by their coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import SemanticError
from . import dtypes as dt
from .conversion import cast
from .dtypes import block_type, dtype
from .memory import (
    _LOAD_CACHE,
    PADDING,
    _check_pointer,
    _integers,
    cache_hints,
    choose,
    eviction_hint,
)
from .promotion import broadcast_to_shape, to_tensor
from .state import current
from .values import builtin, describe, tensor, unwrap_shape

#: What reductions take beside integers.
_REDUCED_FLOATS = dict.fromkeys(("add", "min", "max"), ("fp16", "bf16", "fp32", "fp64"))
_REDUCE = {"add": 1, "min": 2, "max": 3, "and": 6, "or": 7, "xor": 8}


class tensor_descriptor_type:
    """The structure of a descriptor: its SSA value, then shape and strides."""

    __slots__ = ("block", "desc", "shape", "strides")

    def __init__(
        self, block: block_type, shape: tuple[dtype, ...], strides: tuple[dtype, ...]
    ) -> None:
        self.block = block
        self.desc = _descriptor_type(block)
        self.shape = shape
        self.strides = strides

    def flat_types(self, types: list[Any]) -> None:
        types.append(self.desc)
        types.extend(self.shape)
        types.extend(self.strides)

    def unflatten(self, handles: Iterator[Any]) -> tensor_descriptor:
        handle = next(handles)
        shape = [tensor(next(handles), t) for t in self.shape]
        strides = [tensor(next(handles), t) for t in self.strides]
        return tensor_descriptor(handle, shape, strides, self.block)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, tensor_descriptor_type)
            and self.block == other.block
            and self.shape == other.shape
            and self.strides == other.strides
        )

    def __hash__(self) -> int:
        return hash(self.block)

    def __str__(self) -> str:
        return f"tensor_descriptor{self.block}"


class _descriptor_type(dtype):
    """The type of the SSA value of a descriptor."""

    def __init__(self, block: block_type, layout: Any = None) -> None:
        self.block = block
        self.name = f"tensordesc{block}"
        # Of integers it says whether they are signed: that matters to atomics.
        element = block.element_ty
        mlir = block.mlir
        if element.is_int() and not element.is_bool():
            sign = "s" if element.is_int_signed() else "u"
            mlir = mlir.removesuffix(f"{element.mlir}>") + f"{sign}{element.mlir}>"
        if layout is not None:  # How blocks lie in shared memory, where the program says it.
            mlir = f"{mlir.removesuffix('>')}, {layout.mlir}>"
        self.mlir = f"!tt.tensordesc<{mlir}>"
        self.short_name = f"tensordesc<{block.short_name}>"
        self.primitive_bitwidth = 0
        self.int_signedness = None
        self.int_bitwidth = 0
        self._is_float = self._is_int = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _descriptor_type) and self.block == other.block

    def __hash__(self) -> int:
        return hash(self.mlir)


class tensor_descriptor:
    """Refers to a strided tensor in memory of which blocks are moved."""

    def __init__(
        self, handle: Any, shape: list[tensor], strides: list[tensor], block_type: block_type
    ) -> None:
        self.handle = handle
        self._block_type = block_type
        self.shape = tuple(shape)
        self.strides = tuple(strides)

    @property
    def block_type(self) -> block_type:
        """What a load of a block yields."""
        return self._block_type

    @property
    def block_shape(self) -> tuple[int, ...]:
        return self.block_type.shape

    @property
    def dtype(self) -> dtype:
        return self.block_type.element_ty

    def __tile_structure__(self) -> tensor_descriptor_type:
        return tensor_descriptor_type(
            self.block_type, tuple(s.type for s in self.shape), tuple(s.type for s in self.strides)
        )

    def __tile_flatten__(self, handles: list[Any]) -> None:
        handles.append(self.handle)
        handles.extend(s.handle for s in self.shape)
        handles.extend(s.handle for s in self.strides)

    def _offsets(self, offsets: Any, what: str) -> list[Any]:
        values = _integers(offsets, dt.int32, "offsets")
        if len(values) != len(self.block_shape):
            raise SemanticError(
                f"{what} got {len(values)} offsets for a descriptor of rank {len(self.block_shape)}"
            )
        return [v.handle for v in values]

    @builtin
    def load(
        self, offsets: Sequence[Any], eviction_policy: str = "", cache_modifier: str = ""
    ) -> tensor:
        """The block at `offsets`; out of bounds it reads as the padding.

        `eviction_policy` and `cache_modifier` are those of `tl.load`. Copies by TMA go past the L1
        cache, so they have no use for `cache_modifier`.
        """
        b = current()
        attributes = cache_hints(_LOAD_CACHE, cache_modifier, eviction_policy, "a load")
        handles = [self.handle, *self._offsets(offsets, "load")]
        types = (b.type(self.block_type),)
        handle = b.create_one("tt.descriptor_load", handles, attributes, types)
        return tensor(handle, self.block_type)

    def _value(self, value: Any, what: str) -> tensor:
        value = cast(to_tensor(value), self.dtype)
        if value.type.is_block() and value.shape != self.block_shape:
            raise SemanticError(
                f"{what} takes a block of shape {list(self.block_shape)}, not {value.type}"
            )
        return broadcast_to_shape(value, self.block_shape)

    @builtin
    def store(self, offsets: Sequence[Any], value: Any, eviction_policy: str = "") -> None:
        """Writes the block at `offsets`; what is out of bounds is dropped.

        `eviction_policy` is that of `tl.store`.
        """
        value = self._value(value, "store")
        handles = [self.handle, value.handle, *self._offsets(offsets, "store")]
        hint = eviction_hint(eviction_policy, "a store")
        current().create("tt.descriptor_store", handles, hint, ())

    def _reduce(self, kind: str, offsets: Any, value: Any, eviction: str) -> None:
        floats = _REDUCED_FLOATS.get(kind, ())
        wide = self.dtype.is_int() and self.dtype.primitive_bitwidth >= 16
        if not wide and self.dtype.name not in floats:
            raise SemanticError(
                f"atomic_{kind} of a descriptor takes integers of 16 to 64 bits"
                f"{', ' if floats else ''}{', '.join(floats)}, not {self.dtype}"
            )
        value = self._value(value, f"atomic_{kind}")
        b = current()
        handles = [self.handle, value.handle, *self._offsets(offsets, f"atomic_{kind}")]
        hint = eviction_hint(eviction, "an atomic operation")
        attributes = {"kind": b.int_attr(32, _REDUCE[kind]), **hint}
        b.create("tt.descriptor_reduce", handles, attributes, ())

    @builtin
    def atomic_add(self, offsets: Sequence[Any], value: Any, eviction_policy: str = "") -> None:
        """Adds a block to memory, each element atomically."""
        self._reduce("add", offsets, value, eviction_policy)

    @builtin
    def atomic_min(self, offsets: Sequence[Any], value: Any, eviction_policy: str = "") -> None:
        """Keeps the smaller of memory and the block.

        Of floats, -0 is less than 0, and NaN lies beyond the infinity of its sign.
        """
        self._reduce("min", offsets, value, eviction_policy)

    @builtin
    def atomic_max(self, offsets: Sequence[Any], value: Any, eviction_policy: str = "") -> None:
        """Keeps the larger of memory and the block; floats are ordered as by `atomic_min`."""
        self._reduce("max", offsets, value, eviction_policy)

    @builtin
    def atomic_and(self, offsets: Sequence[Any], value: Any, eviction_policy: str = "") -> None:
        """Bitwise and of memory and the block."""
        self._reduce("and", offsets, value, eviction_policy)

    @builtin
    def atomic_or(self, offsets: Sequence[Any], value: Any, eviction_policy: str = "") -> None:
        """Bitwise or of memory and the block."""
        self._reduce("or", offsets, value, eviction_policy)

    @builtin
    def atomic_xor(self, offsets: Sequence[Any], value: Any, eviction_policy: str = "") -> None:
        """Bitwise exclusive or of memory and the block."""
        self._reduce("xor", offsets, value, eviction_policy)

    def _row_offsets(self, x_offsets: Any, y_offset: Any, what: str) -> tuple[tensor, tensor]:
        if len(self.block_shape) != 2 or self.block_shape[0] != 1:
            raise SemanticError(
                f"{what} needs a descriptor of blocks of one row, not {list(self.block_shape)}"
            )
        if not isinstance(x_offsets, tensor) or x_offsets.ndim != 1:
            raise SemanticError(f"{what} takes a block of row indices, not {describe(x_offsets)}")
        return cast(x_offsets, dt.int32), _integers([y_offset], dt.int32, "y_offset")[0]

    @builtin
    def gather(self, x_offsets: tensor, y_offset: Any) -> tensor:
        """Reads the rows listed in `x_offsets`, from column `y_offset`."""
        x, y = self._row_offsets(x_offsets, y_offset, "gather")
        ty = block_type(self.dtype, (x.shape[0], self.block_shape[1]))
        b = current()
        handles = (self.handle, x.handle, y.handle)
        return tensor(b.create_one("tt.descriptor_gather", handles, None, (b.type(ty),)), ty)

    @builtin
    def scatter(self, value: tensor, x_offsets: tensor, y_offset: Any) -> None:
        """Writes the rows listed in `x_offsets`, from column `y_offset`."""
        x, y = self._row_offsets(x_offsets, y_offset, "scatter")
        value = cast(value, self.dtype)
        current().create(
            "tt.descriptor_scatter", (self.handle, x.handle, y.handle, value.handle), None, ()
        )


tensor_descriptor_base = tensor_descriptor


@builtin
def make_tensor_descriptor(
    base: tensor, shape: Any, strides: Any, block_shape: Any, padding_option: str = "zero"
) -> tensor_descriptor:
    """A descriptor of a strided tensor at `base`.

    The last stride must be 1, the base aligned to 16 bytes, and the other
    strides multiples of 16 bytes.

    Refused: ``tl.make_tensor_descriptor(p, [8], [1], [3])``.

    >>> d = tl.make_tensor_descriptor(p, [2, 4], [4, 1], [2, 4])
    >>> d.load([0, 0])
    [0 1 2 3 4 5 6 7]
    """
    base = _check_pointer(base, "make_tensor_descriptor")
    extents = unwrap_shape(block_shape)
    rank = len(extents)
    if not 1 <= rank <= 5:
        raise SemanticError(f"a descriptor has 1 to 5 dimensions, not {rank}")
    if len(shape) != rank or len(strides) != rank:
        raise SemanticError(
            "make_tensor_descriptor needs shape, strides and block_shape of one length, but got "
            f"{len(shape)}, "
            f"{len(strides)} and {rank}"
        )
    last = strides[-1]
    if not isinstance(last, tensor) and last != 1:
        raise SemanticError(f"the last stride of a descriptor must be the constant 1, not {last}")
    element = base.dtype.element_ty
    if extents[-1] * element.primitive_bitwidth < 128:
        raise SemanticError(
            "Descriptor block shape must have at least 16 bytes in the last dimension, but "
            f"{extents[-1]} x {element} "
            f"has {extents[-1] * element.primitive_bitwidth // 8}"
        )
    shapes = _integers(shape, dt.int32, "shape")
    stride_values = _integers(strides, dt.int64, "strides")
    block = block_type(element, extents)
    ty = _descriptor_type(block)
    b = current()
    attributes = {"padding": b.int_attr(32, choose(PADDING, padding_option, "padding_option") or 1)}
    handles = [base.handle, *[s.handle for s in shapes], *[s.handle for s in stride_values]]
    handle = b.create_one("tt.make_tensor_descriptor", handles, attributes, (b.type(ty),))
    return tensor_descriptor(handle, shapes, stride_values, block)


def _descriptor(desc: Any, what: str) -> tensor_descriptor:
    if not isinstance(desc, tensor_descriptor_base):
        raise SemanticError(f"{what} takes a descriptor, not {describe(desc)}")
    return desc


@builtin
def load_tensor_descriptor(desc: tensor_descriptor, offsets: Sequence[Any]) -> tensor:
    """The block of a descriptor at `offsets`.

    Refused: ``tl.load_tensor_descriptor(p, [0])``.

    >>> d = tl.make_tensor_descriptor(p, [2, 4], [4, 1], [2, 4])
    >>> tl.load_tensor_descriptor(d, [0, 0])
    [0 1 2 3 4 5 6 7]
    """
    return _descriptor(desc, "load_tensor_descriptor").load(offsets)


@builtin
def store_tensor_descriptor(desc: tensor_descriptor, offsets: Sequence[Any], value: tensor) -> None:
    """Writes a block of a descriptor at `offsets`.

    Refused: ``tl.store_tensor_descriptor(p, [0], 1)``.

    >>> d = tl.make_tensor_descriptor(p, [2, 4], [4, 1], [2, 4])
    >>> tl.store_tensor_descriptor(d, [0, 0], tl.zeros([2, 4], tl.int32))
    >>> tl.load(p + 7)
    0
    """
    _descriptor(desc, "store_tensor_descriptor").store(offsets, value)
