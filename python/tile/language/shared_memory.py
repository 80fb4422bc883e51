"""Buffers in shared memory that a kernel makes itself.

The threads of a program share this memory. The compiler places the buffers, beside those that it
makes itself, and two that are not needed at the same time may lie in one place. It synchronises the
threads between accesses to one buffer, as it does for its own.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import SemanticError
from . import dtypes as dt
from .conversion import cast
from .creation import checked_axis
from .dtypes import Shape, block_type, dtype
from .indexed_buffers import IndexedAccess
from .memory import _check_pointer, as_mask, cache_hints
from .promotion import broadcast_to_shape, is_constant, raise_to_common_shape, to_tensor
from .state import current
from .values import builtin, describe, slice, tensor, unwrap, unwrap_shape

#: Of copies into shared memory.
COPY_CACHE = {"": 1, ".ca": 2, ".cg": 3}


@dataclass(frozen=True)
class Plain:
    """Elements one after another; `order` lists the dimensions, the fastest first."""

    order: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.order)

    @property
    def mlir(self) -> str:
        return (
            "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, "
            f"order = {list(self.order)}}}>"
        )


def by_rows(rank: int) -> Plain:
    """The layout in which the last dimension is the fastest."""
    return Plain(tuple(reversed(range(rank))))


class shared_type(dtype):
    """The type of a buffer in shared memory, or of a view of one.

    A layout has the rank of the buffer, or one less: the first dimension then counts buffers."""

    def __init__(
        self, element_ty: dtype, shape: Sequence[int], layout: Any, alloc_shape: Sequence[int]
    ) -> None:
        self.element_ty = unwrap(element_ty)
        self._shape = Shape(unwrap_shape(shape))
        self.alloc_shape = Shape(unwrap_shape(alloc_shape))
        #: What the program says, and what IR has for a buffer of this shape.
        self.layout = self.buffer_layout = layout
        extents = "x".join(map(str, self._shape))
        whole = "" if self.alloc_shape == self._shape else ", " + "x".join(
            map(str, self.alloc_shape)
        )  # fmt: skip
        self.name = f"shared<{list(self._shape)}, {self.element_ty}>"
        self.mlir = (
            f"!ttg.memdesc<{extents}x{self.element_ty.mlir}, {layout.mlir}, #ttg.shared_memory, "
            f"mutable{whole}>"
        )
        self.short_name = f"memdesc<{self.element_ty}{list(self._shape)}>"
        self.primitive_bitwidth = self.element_ty.primitive_bitwidth
        self.itemsize = self.element_ty.itemsize
        self.int_signedness = None
        self.int_bitwidth = 0
        self._is_float = self._is_int = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def rank(self) -> int:
        return len(self._shape)

    @property
    def numel(self) -> int:
        return math.prod(self._shape)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, shared_type) and self.mlir == other.mlir)

    def __hash__(self) -> int:
        return hash(self.mlir)

    def __repr__(self) -> str:
        return self.name


class Token(dtype):
    """The type of what stands for copies that go on."""

    def __init__(self) -> None:
        self.name = self.mlir = "!ttg.async.token"


TOKEN = Token()


class SharedStructure:
    """The structure of a buffer: one SSA value."""

    __slots__ = ("cls", "ty")

    def __init__(self, cls: type, ty: shared_type) -> None:
        self.cls = cls
        self.ty = ty

    def flat_types(self, types: list[Any]) -> None:
        types.append(self.ty)

    def unflatten(self, handles: Any) -> Any:
        return self.cls(next(handles), self.ty)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SharedStructure) and self.ty == other.ty

    def __hash__(self) -> int:
        return hash(self.ty)

    def __str__(self) -> str:
        return str(self.ty)


class Buffer(IndexedAccess):
    """A buffer in shared memory, or a view of one."""

    def __init__(self, handle: Any, ty: Any) -> None:
        self.handle = handle
        self.type = ty

    def __tile_structure__(self) -> SharedStructure:
        return SharedStructure(type(self), self.type)

    def __tile_flatten__(self, handles: list[Any]) -> None:
        handles.append(self.handle)

    @property
    def dtype(self) -> dtype:
        return self.type.element_ty

    @property
    def shape(self) -> tuple[int, ...]:
        return self.type.shape

    @property
    def rank(self) -> int:
        return self.type.rank

    @property
    def numel(self) -> int:
        return self.type.numel

    @property
    def layout(self) -> Any:
        return self.type.layout

    def __str__(self) -> str:
        return str(self.type)

    def _view(self, op: str, attributes: Any, ty: Any, *operands: Any) -> Any:
        b = current()
        handles = (self.handle, *operands)
        return type(self)(b.create_one(op, handles, attributes, (b.type(ty),)), ty)

    def _part(self, offsets: Sequence[int], shape: Sequence[int]) -> Any:
        """The elements from `offsets` on."""
        ty = type(self.type)(self.dtype, shape, self.layout, self.type.alloc_shape)
        attributes = {"offsets": current().i32_array_attr(list(offsets))}
        return self._view("ttg.memdesc_subslice", attributes, ty)

    def _one(self, index: Any) -> Any:
        """One of the buffers that the first dimension counts."""
        shape = self.shape[1:]
        ty = type(self.type)(self.dtype, shape, self.layout, shape)
        return self._view("ttg.memdesc_index", None, ty, index.handle)

    def _checked_index(self, index: Any) -> tensor:
        index = unwrap(index)
        if is_constant(index) and not 0 <= index < self.shape[0]:
            raise SemanticError(f"there is no buffer {index} of {self.shape[0]}")
        index = to_tensor(index)
        if index.type.is_block() or not index.dtype.is_int():
            raise SemanticError(f"index takes an integer, not {index.type}")
        return cast(index, dt.int32)


class shared_block(Buffer):
    """A buffer in shared memory that `tl.shared` made, or a part of one: `s[8:16]`, `s[i]`."""

    @builtin
    def load(self) -> tensor:
        """Reads the whole buffer."""
        ty = block_type(self.dtype, self.shape)
        b = current()
        return tensor(b.create_one("ttg.local_load", (self.handle,), None, (b.type(ty),)), ty)

    @builtin
    def store(self, value: Any) -> None:
        """Writes `value`, which is broadcast and converted to its type, over the whole buffer."""
        value = to_tensor(unwrap(value))
        if value.dtype.is_ptr():
            raise SemanticError(f"a buffer of {self.dtype} takes no {value.type}")
        value = broadcast_to_shape(cast(value, self.dtype), self.shape)
        current().create("ttg.local_store", (value.handle, self.handle), None, ())

    @builtin
    def permute(self, *dims: Any) -> shared_block:
        """The same memory with its dimensions in another order."""
        order = [checked_axis(d, self.rank, "permute") for d in unwrap_shape(dims)]
        if sorted(order) != list(range(self.rank)):
            raise SemanticError(f"permute takes each dimension once, not {list(dims)}")
        if not isinstance(self.layout, Plain):
            raise SemanticError("a buffer with a layout of its own is not permuted")
        shape = [self.shape[d] for d in order]
        whole = [self.type.alloc_shape[d] for d in order]
        layout = Plain(tuple(order.index(d) for d in self.layout.order))
        ty = shared_type(self.dtype, shape, layout, whole)
        attributes = {"order": current().i32_array_attr(order)}
        return self._view("ttg.memdesc_trans", attributes, ty)

    @property
    def T(self) -> shared_block:
        """The same memory with its last two dimensions exchanged."""
        if self.rank < 2:
            raise SemanticError(f"a buffer of shape {list(self.shape)} is not transposed")
        return self.permute(*range(self.rank - 2), self.rank - 1, self.rank - 2)

    def __getitem__(self, items: Any) -> shared_block:
        items = [unwrap(i) for i in (items if isinstance(items, (tuple, list)) else (items,))]
        view = self
        while items and not isinstance(items[0], (builtins.slice, slice)):
            view = view._row(items.pop(0))
        return view._slices(items) if items else view

    def _row(self, index: Any) -> shared_block:
        """One element of the first dimension, by a constant or a scalar."""
        if self.rank < 2:
            raise SemanticError(
                "one element of a buffer is no buffer; use s.gather(indices, axis), or slices"
            )
        if is_constant(index) and isinstance(index, int) and -self.shape[0] <= index < 0:
            index += self.shape[0]
        if not isinstance(index, tensor) and (
            isinstance(index, bool) or not isinstance(index, int)
        ):
            raise SemanticError(
                f"a buffer is indexed with integers and slices, not with {describe(index)}"
            )
        index = self._checked_index(index)
        if self.layout.rank != self.rank:
            return self._one(index)
        if not isinstance(self.layout, Plain) or self.layout.order[-1] != 0:
            raise SemanticError(
                "only the slowest dimension of a buffer is indexed; use slices for others"
            )
        if self.type.alloc_shape != self.shape:
            raise SemanticError("a slice of a buffer is not indexed; index first, then slice")
        # Rows that lie one after another are buffers that the first dimension counts.
        inner = Plain(tuple(d - 1 for d in self.layout.order[:-1]))
        rows = shared_type(self.dtype, self.shape, inner, self.shape)
        return self._view("ttg.memdesc_reinterpret", None, rows)._one(index)

    def _slices(self, items: list[Any]) -> shared_block:
        if len(items) > self.rank:
            raise SemanticError(f"too many indices for a buffer of shape {list(self.shape)}")
        if self.layout.rank != self.rank:
            raise SemanticError("a buffer whose first dimension counts buffers is indexed first")
        offsets, shape = [0] * self.rank, list(self.shape)
        for d, item in enumerate(items):
            if not isinstance(item, (builtins.slice, slice)):
                raise SemanticError("indices of a buffer come before its slices")
            bounds = [unwrap(getattr(item, n)) for n in ("start", "stop", "step")]
            if any(isinstance(v, tensor) for v in bounds):
                raise SemanticError(
                    "slices of a buffer need constant bounds; a scalar selects a row: s[i]"
                )
            part = range(*builtins.slice(*bounds).indices(self.shape[d]))
            if part.step != 1:
                raise SemanticError("slices of a buffer take neighbouring elements, a step of 1")
            if len(part) < 1 or len(part) & (len(part) - 1) or part.start % len(part):
                raise SemanticError(
                    f"a slice of a buffer has a power of two of elements and begins at a multiple "
                    f"of it, not {part.start}:{part.stop}"
                )
            offsets[d], shape[d] = part.start, len(part)
        return self if shape == list(self.shape) else self._part(offsets, shape)


@builtin
def shared(shape: Any, dtype: Any, layout: Any = None) -> shared_block:
    """A buffer in shared memory, for all threads of the program.

    It has the methods `load` and `store` of the whole buffer, `gather` and `scatter` of chosen
    elements, and `atomic_scatter_add`, `max`, `min`, `and`, `or`, `xor` and `xchg`. `s[8:16]` and
    `s[i]` are parts of it, `s.T` and `s.permute` other views. Nothing is in it at first.

    The extents of `shape` are constants and powers of two. Elements lie row by row. `layout` may be
    a layout of shared memory of `tile.experimental.gluon`, which avoids conflicts of banks.

    Refused: ``tl.shared([3], tl.float32)``.

    >>> s = tl.shared([2, 4], tl.int32)
    >>> s.store(tl.arange(0, 8).reshape(2, 4))
    >>> s[1].load()
    [4 5 6 7]
    """
    if getattr(current().options, "num_ctas", 1) > 1:
        raise SemanticError(
            "tl.shared is not for programs that are a cluster of blocks (num_ctas); "
            "tile.experimental.gluon has buffers for these"
        )
    shape, element = unwrap_shape(shape), unwrap(dtype)
    if not isinstance(element, dt.dtype) or element.is_block():
        raise SemanticError(f"a buffer has elements of a type such as tl.float32, not {element!r}")
    if element.is_ptr() or element.is_bool():
        instead = "tl.int64" if element.is_ptr() else "tl.int8"
        raise SemanticError(f"a buffer has no elements of {element}; use {instead}")
    block_type(element, shape)  # Says what is wrong with a shape.
    for extent in shape:
        if extent & (extent - 1):
            raise SemanticError(
                f"a buffer of shape {list(shape)} has the extent {extent}, which is not a power of "
                "two; take the next one"
            )
    layout = unwrap(layout)
    if layout is None:
        layout = by_rows(len(shape))
    elif not hasattr(layout, "mlir") or getattr(layout, "rank", 0) not in (
        len(shape), len(shape) - 1
    ):  # fmt: skip
        raise SemanticError(
            f"the layout of a buffer of shape {list(shape)} is one of shared memory, of "
            f"{len(shape)} dimensions, not {layout!r}"
        )
    ty = shared_type(element, shape, layout, shape)
    b = current()
    return shared_block(b.create_one("ttg.local_alloc", (), None, (b.type(ty),)), ty)


# Copies that go on while the program does.


def with_masks(places: tensor, mask: Any, other: Any, element: dtype) -> list[tensor]:
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


def start_copy(
    buffer: Buffer, pointer: tensor, masks: Sequence[tensor], cache: Any, eviction: Any,
    volatile: Any,
) -> None:  # fmt: skip
    """Begins a copy of what the pointers point to."""
    b = current()
    given = [int(len(masks) > i) for i in range(2)]
    attributes = {
        **cache_hints(COPY_CACHE, cache, eviction, "a copy"),
        "isVolatile": b.bool_attr(bool(unwrap(volatile))),
        "operandSegmentSizes": b.i32_array_attr([1, 1, *given]),
    }
    handles = [pointer.handle, buffer.handle, *[m.handle for m in masks]]
    b.create("ttg.async_copy_global_to_local", handles, attributes, (b.type(TOKEN),))


def commit() -> None:
    """Closes a group of the copies that were started since the last one."""
    b = current()
    b.create("ttg.async_commit_group", (), None, (b.type(TOKEN),))


def wait(pending: Any, what: str) -> None:
    """Waits until at most so many of the groups closed last are unfinished."""
    count = unwrap(pending)
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise SemanticError(f"{what} takes a constant number of groups, not {describe(count)}")
    b = current()
    b.create("ttg.async_wait", (), {"num": b.int_attr(32, count)}, (b.type(TOKEN),))


@builtin
def async_copy(
    buffer: Any, pointer: Any, mask: Any = None, other: Any = None, cache_modifier: str = "",
    eviction_policy: str = "",
) -> None:  # fmt: skip
    """Begins to copy what `pointer` points to into a buffer of shared memory.

    `pointer` is a block of pointers of the shape of `buffer`. Where `mask` does not hold, `other`
    is written, or zero. The program goes on; `tl.async_wait` waits. Until then nobody may access
    the buffer. Where a target has no such copies, the copy happens at once.

    Refused: ``tl.async_copy(tl.arange(0, 4), p + tl.arange(0, 4))``.

    >>> s = tl.shared([4], tl.int32)
    >>> tl.async_copy(s, p + tl.arange(0, 4))
    >>> tl.async_wait()
    >>> s.load()
    [0 1 2 3]
    """
    if not isinstance(buffer, shared_block):
        raise SemanticError(f"async_copy copies into a buffer of tl.shared, not {describe(buffer)}")
    pointer = _check_pointer(pointer, "async_copy")
    if not pointer.type.is_block():
        raise SemanticError("async_copy takes a block of pointers, not one pointer")
    element = pointer.dtype.element_ty
    pointer, *masks = with_masks(pointer, mask, other, element)
    if pointer.shape != buffer.shape or element != buffer.dtype:
        raise SemanticError(
            f"async_copy copies {list(pointer.shape)} elements of {element} into a buffer of "
            f"{list(buffer.shape)} of {buffer.dtype}; both must agree"
        )
    start_copy(buffer, pointer, masks, cache_modifier, eviction_policy, False)
    commit()


@builtin
def async_wait(pending: Any = 0) -> None:
    """Waits until at most `pending` of the copies that `tl.async_copy` began last are unfinished.

    `pending` is a constant.

    Refused: ``tl.async_wait(tl.load(p))``.

    >>> s = tl.shared([2], tl.int32)
    >>> tl.async_copy(s, p + tl.arange(0, 2))
    >>> tl.async_wait(0)
    >>> s.load()
    [0 1]
    """
    wait(pending, "async_wait")


@builtin
def barrier() -> None:
    """All threads of the program wait for each other.

    What they wrote to memory before is there for all of them. Accesses to one buffer of `tl.shared`
    need none: the compiler places it.

    >>> tl.store(p + tl.arange(0, 4), 3 - tl.arange(0, 4))
    >>> tl.barrier()
    >>> tl.load(p + 3 - tl.arange(0, 4))
    [0 1 2 3]
    """
    from .program import debug_barrier

    debug_barrier()


__all__ = ["async_copy", "async_wait", "barrier", "shared", "shared_block"]
