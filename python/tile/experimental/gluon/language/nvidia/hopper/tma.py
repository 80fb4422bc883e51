"""Bulk copies between blocks of a tensor in global memory and buffers in shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tile.errors import SemanticError
from tile.language import dtypes as dt
from tile.language.descriptor import _REDUCE, _descriptor_type
from tile.language.dtypes import block_type, dtype
from tile.language.memory import EVICTION, PADDING, _check_pointer, _integers, choose
from tile.language.state import current
from tile.language.values import builtin, describe, tensor, unwrap, unwrap_shape

from ..._core import shared_memory_descriptor
from ..._layouts import NVMMASharedLayout
from ..._policies import cache_hints
from ..ampere.mbarrier import check_barrier, predicate


class tensor_descriptor_type:
    """The structure of a descriptor: its SSA value, then shape and strides."""

    #: How blocks may lie in shared memory.
    LAYOUTS: tuple[type, ...] = (NVMMASharedLayout,)

    def __init__(
        self,
        block: block_type,
        shape: Sequence[dtype],
        strides: Sequence[dtype],
        layout: Any,
    ) -> None:
        if not isinstance(layout, self.LAYOUTS):
            names = " or ".join(
                f"{'an' if n[0] in 'AEN' else 'a'} {n}"
                for n in (kind.__name__ for kind in self.LAYOUTS)
            )
            raise SemanticError(f"the blocks of a descriptor lie as {names} says, not {layout!r}")
        if layout.rank != len(block.shape):
            raise SemanticError(
                f"a block of shape {list(block.shape)} needs a layout of as many dimensions, not "
                f"{layout!r}"
            )
        self.block = block
        self.layout = layout
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.handle = _descriptor_type(block, layout)

    @property
    def block_type(self) -> block_type:
        return self.block

    @property
    def nbytes(self) -> int:
        """The bytes of a block."""
        return self.block.nbytes

    def flat_types(self, types: list[Any]) -> None:
        types.append(self.handle)
        types.extend(self.shape)
        types.extend(self.strides)

    def unflatten(self, handles: Iterator[Any]) -> tensor_descriptor:
        handle = next(handles)
        shape = [tensor(next(handles), t) for t in self.shape]
        strides = [tensor(next(handles), t) for t in self.strides]
        return self.of(handle, shape, strides)

    def of(self, handle: Any, shape: list[tensor], strides: list[tensor]) -> tensor_descriptor:
        """The descriptor of this structure."""
        return tensor_descriptor(handle, shape, strides, self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, tensor_descriptor_type)
            and self.handle.mlir == other.handle.mlir
            and self.shape == other.shape
            and self.strides == other.strides
        )

    def __hash__(self) -> int:
        return hash(self.handle.mlir)

    def __str__(self) -> str:
        return f"tensor_descriptor<{self.block}, {self.layout!r}>"


class tensor_descriptor:
    """A strided tensor in global memory, of which blocks are copied."""

    def __init__(
        self,
        handle: Any,
        shape: list[tensor],
        strides: list[tensor],
        type: tensor_descriptor_type,
    ) -> None:
        self.handle = handle
        self._shape = tuple(shape)
        self._strides = tuple(strides)
        self.type = type

    def __tile_structure__(self) -> tensor_descriptor_type:
        return self.type

    def __tile_flatten__(self, handles: list[Any]) -> None:
        handles.append(self.handle)
        handles.extend(t.handle for t in (*self._shape, *self._strides))

    @property
    def shape(self) -> tuple[tensor, ...]:
        return self._shape

    @property
    def strides(self) -> tuple[tensor, ...]:
        return self._strides

    @property
    def block_type(self) -> block_type:
        return self.type.block

    @property
    def block_shape(self) -> tuple[int, ...]:
        return self.type.block.shape

    @property
    def dtype(self) -> dtype:
        return self.type.block.element_ty

    @property
    def layout(self) -> NVMMASharedLayout:
        return self.type.layout

    @property
    def nbytes_per_cta(self) -> int:
        """The bytes of a block that one block of the cluster gets."""
        parts = 1
        for basis in self.layout.cga_layout:
            parts *= 2 if any(basis) else 1
        return self.type.nbytes // parts

    def __str__(self) -> str:
        return str(self.type)


class tensor_descriptor_im2col_type(tensor_descriptor_type):
    """The structure of a descriptor of which pixels are copied. Its block has rows of channels; the
    tensor has more dimensions."""

    def __init__(
        self,
        block: block_type,
        shape: Sequence[dtype],
        strides: Sequence[dtype],
        layout: NVMMASharedLayout,
    ) -> None:
        super().__init__(block, shape, strides, layout)
        self.handle.mlir = self.handle.mlir.replace(
            "!tt.tensordesc<", "!ttnvgpu.tensordesc_im2col<"
        )

    def of(
        self, handle: Any, shape: list[tensor], strides: list[tensor]
    ) -> tensor_descriptor_im2col:
        return tensor_descriptor_im2col(handle, shape, strides, self)

    def __str__(self) -> str:
        return f"tensor_descriptor_im2col<{self.block}, {self.layout!r}>"


class tensor_descriptor_im2col(tensor_descriptor):
    """A strided tensor in global memory, of which pixels are copied. Dimensions are those of images
    first, of channels last."""


def _check_descriptor(value: Any, what: str, pixels: bool = False) -> tensor_descriptor:
    if not isinstance(value, tensor_descriptor):
        raise SemanticError(f"{what} takes a tensor descriptor, not {describe(value)}")
    if isinstance(value, tensor_descriptor_im2col) != pixels:
        raise SemanticError(
            f"{what} takes a TensorDescriptor{'Im2Col' if pixels else ''}, but this one is made "
            f"for copies of {'blocks' if pixels else 'pixels'}: async_load"
            f"{'' if pixels else '_im2col'} takes it"
        )
    return value


def _check_buffer(value: Any, desc: tensor_descriptor, what: str) -> shared_memory_descriptor:
    if not isinstance(value, shared_memory_descriptor):
        raise SemanticError(f"{what} takes a buffer in shared memory, not {describe(value)}")
    if value.shape != desc.block_shape or value.dtype != desc.dtype:
        raise SemanticError(
            f"{what} copies blocks of {list(desc.block_shape)} of {desc.dtype}, but the buffer is "
            f"{list(value.shape)} of {value.dtype}"
        )
    if value.layout != desc.layout:
        raise SemanticError(
            f"{what} needs a buffer in the layout of the descriptor,\n    {desc.layout!r},\nbut "
            f"this one is in\n    {value.layout!r}"
        )
    return value


def _coordinates(coord: Any, desc: tensor_descriptor, what: str) -> list[Any]:
    values = _integers(coord, dt.int32, "coord")
    if len(values) != len(desc.shape):
        raise SemanticError(
            f"{what} got {len(values)} coordinates for {len(desc.shape)} dimensions"
        )
    return [v.handle for v in values]


def _hints(cache_policy: Any, what: str) -> dict[str, Any]:
    """What a load asks of the caches."""
    modifier, eviction = cache_hints(None, None, cache_policy)
    if modifier is not None:
        raise SemanticError(f"{what} goes through the L2 cache: it has no cache_modifier")
    if eviction is None:
        return {}
    return {"evict": current().int_attr(32, choose(EVICTION, eviction, "eviction_policy"))}


@builtin
def make_tensor_descriptor(
    base: Any,
    shape: Any,
    strides: Any,
    block_shape: Any,
    layout: Any,
    padding_option: Any = "zero",
) -> tensor_descriptor:
    """A descriptor of a tensor in memory, made in the kernel."""
    padding = choose(PADDING, padding_option, "padding_option") or PADDING["zero"]
    return new_descriptor(
        tensor_descriptor_type, base, shape, strides, block_shape, layout, padding
    )


def new_descriptor(
    kind: type[tensor_descriptor_type],
    base: Any,
    shape: Any,
    strides: Any,
    block_shape: Any,
    layout: Any,
    padding: int,
) -> Any:
    """A descriptor that a kernel makes, whose structure is of this kind."""
    base = _check_pointer(base, "make_tensor_descriptor")
    if base.type.is_block():
        raise SemanticError(f"make_tensor_descriptor takes a scalar pointer, not {base.type}")
    extents = unwrap_shape(block_shape)
    shape, strides = _integers(shape, dt.int32, "shape"), _integers(strides, dt.int64, "strides")
    if not len(shape) == len(strides) == len(extents):
        raise SemanticError(
            "make_tensor_descriptor needs shape, strides and block_shape of one length, but got "
            f"{len(shape)}, {len(strides)} and {len(extents)}"
        )
    block = block_type(base.dtype.element_ty, extents)
    ty = kind(block, [v.type for v in shape], [v.type for v in strides], unwrap(layout))
    b = current()
    handle = b.create_one(
        "tt.make_tensor_descriptor",
        [base.handle, *[v.handle for v in (*shape, *strides)]],
        {"padding": b.int_attr(32, padding)},
        (b.type(ty.handle),),
    )
    return ty.of(handle, shape, strides)


@builtin
def async_load(
    tensor_desc: Any,
    coord: Any,
    barrier: Any,
    result: Any,
    pred: Any = True,
    multicast: bool = False,
    cache_policy: Any = None,
) -> None:
    """Starts to copy a block of the tensor into `result`; its bytes arrive at `barrier`.

    With `multicast`, blocks of a cluster whose buffers hold the same each read a part of it, for
    all of them."""
    desc = _check_descriptor(tensor_desc, "async_load")
    _load("async_load", desc, coord, [], barrier, result, pred, multicast, cache_policy)


@builtin
def async_load_im2col(
    tensor_desc: Any,
    coord: Any,
    offsets: Any,
    barrier: Any,
    result: Any,
    pred: Any = True,
    multicast: bool = False,
    cache_policy: Any = None,
) -> None:
    """Starts to copy pixels of the tensor into `result`; their bytes arrive at `barrier`.

    The copy begins at the pixel at `coord`. It goes on along the inner dimensions, and turns where
    the box of pixels ends that the descriptor has. `offsets` moves what is read, in the dimensions
    between the first and the last."""
    desc = _check_descriptor(tensor_desc, "async_load_im2col", pixels=True)
    moves = _integers(offsets, dt.int16, "offsets")
    if len(moves) != len(desc.shape) - 2:
        raise SemanticError(
            f"async_load_im2col got {len(moves)} offsets for the {len(desc.shape) - 2} dimensions "
            "between the first and the last"
        )
    _load("async_load_im2col", desc, coord, moves, barrier, result, pred, multicast, cache_policy)


def _load(
    what: str,
    desc: tensor_descriptor,
    coord: Any,
    offsets: list[tensor],
    barrier: Any,
    result: Any,
    pred: Any,
    multicast: Any,
    cache_policy: Any,
) -> None:
    buffer = _check_buffer(result, desc, what)
    barrier = check_barrier(barrier, what)
    hints = _hints(cache_policy, what)
    b = current()
    if unwrap(multicast):
        hints["multicast"] = b.unit_attr()
    coordinates = _coordinates(coord, desc, what)
    hints["operandSegmentSizes"] = b.i32_array_attr([1, len(coordinates), len(offsets), 1, 1, 1])
    handles = [
        desc.handle, *coordinates, *[offset.handle for offset in offsets], barrier.handle,
        buffer.handle, predicate(pred).handle,
    ]  # fmt: skip
    b.create("ttnvgpu.async_tma_copy_global_to_local", handles, hints, ())


@builtin
def async_store(tensor_desc: Any, coord: Any, src: Any, cache_policy: Any = None) -> None:
    """Starts to copy a buffer to a block of the tensor. Ordinary writes to the buffer come before
    it through `fence_async_shared`."""
    desc = _check_descriptor(tensor_desc, "async_store")
    buffer = _check_buffer(src, desc, "async_store")
    if _hints(cache_policy, "async_store"):
        raise SemanticError("tile has no code for a cache_policy of async_store")
    handles = [desc.handle, *_coordinates(coord, desc, "async_store"), buffer.handle]
    current().create("ttnvgpu.async_tma_copy_local_to_global", handles, None, ())


#: What reductions take beside integers of 32 and 64 bits.
_REDUCED_FLOATS = {
    "add": ("fp16", "bf16", "fp32"),
    "min": ("fp16", "bf16"),
    "max": ("fp16", "bf16"),
}


def _reduction(kind: str, doc: str) -> Any:
    name = f"async_atomic_{kind}"

    def fn(tensor_desc: Any, coord: Any, src: Any) -> None:
        desc = _check_descriptor(tensor_desc, name)
        buffer = _check_buffer(src, desc, name)
        element = desc.dtype
        wide = element.is_int() and element.int_bitwidth >= 32
        if not wide and element.name not in _REDUCED_FLOATS.get(kind, ()):
            floats = "".join(f", {f}" for f in _REDUCED_FLOATS.get(kind, ()))
            raise SemanticError(f"{name} takes integers of 32 and 64 bits{floats}, not {element}")
        b = current()
        handles = [desc.handle, *_coordinates(coord, desc, name), buffer.handle]
        b.create("ttnvgpu.async_tma_reduce", handles, {"kind": b.int_attr(32, _REDUCE[kind])}, ())

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"{doc} Starts like `async_store`, and is waited for by `store_wait`."
    return builtin(fn)


async_atomic_add = _reduction("add", "Adds a buffer to a block of the tensor.")
async_atomic_min = _reduction("min", "Keeps the smaller of a buffer and a block of the tensor.")
async_atomic_max = _reduction("max", "Keeps the larger of a buffer and a block of the tensor.")
async_atomic_and = _reduction("and", "Bitwise and of a buffer and a block of the tensor.")
async_atomic_or = _reduction("or", "Bitwise or of a buffer and a block of the tensor.")
async_atomic_xor = _reduction("xor", "Bitwise exclusive or of a buffer and a block of the tensor.")

#: Their older names.
async_copy_global_to_shared = async_load
async_copy_global_to_shared_im2col = async_load_im2col
async_copy_shared_to_global = async_store


@builtin
def store_wait(pendings: Any, read_only: bool = True) -> None:
    """Waits until at most so many stores still read their buffers; without `read_only`, until the
    others have also written all that they write."""
    count = unwrap(pendings)
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise SemanticError(f"store_wait takes a constant number of stores, not {describe(count)}")
    b = current()
    attributes = {"pendings": b.int_attr(32, count)}
    if not unwrap(read_only):
        attributes["complete"] = b.unit_attr()
    b.create("ttnvgpu.async_tma_store_wait", (), attributes, ())


__all__ = [
    "async_atomic_add", "async_atomic_and", "async_atomic_max", "async_atomic_min",
    "async_atomic_or", "async_atomic_xor", "async_copy_global_to_shared",
    "async_copy_global_to_shared_im2col", "async_copy_shared_to_global", "async_load",
    "async_load_im2col", "async_store", "make_tensor_descriptor", "store_wait",
    "tensor_descriptor", "tensor_descriptor_im2col", "tensor_descriptor_im2col_type",
    "tensor_descriptor_type",
]  # fmt: skip
