"""Buffers in tensor memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tile.errors import SemanticError
from tile.language import creation as _creation
from tile.language.arithmetic import PropagateNan
from tile.language.conversion import cast
from tile.language.dtypes import Shape, dtype
from tile.language.dtypes import float32 as _float32
from tile.language.dtypes import int32 as _int32
from tile.language.promotion import to_tensor
from tile.language.state import current
from tile.language.values import builtin, describe, tensor, unwrap, unwrap_shape
from tile.runtime.jit import constexpr_function

from ..._core import _check_block, _layout
from ..._layouts import SliceLayout
from ..._types import distributed_type
from ..ampere.mbarrier import predicate
from ._layouts import (
    TensorMemoryLayout,
    TensorMemoryLayoutBase,
    TensorMemoryScalesLayout,
    register_layout,
)


class tensor_memory_descriptor_type:
    """The structure of a buffer in tensor memory: one SSA value."""

    def __init__(
        self, element_ty: dtype, shape: Sequence[int], layout: Any, alloc_shape: Sequence[int]
    ) -> None:
        self.element_ty = unwrap(element_ty)
        self.shape = Shape(unwrap_shape(shape))
        self.alloc_shape = Shape(unwrap_shape(alloc_shape))
        self.layout = unwrap(layout)
        if not isinstance(self.layout, TensorMemoryLayoutBase):
            raise SemanticError(f"a buffer has a layout of tensor memory, not {self.layout!r}")
        if len(self.shape) not in (2, 3):
            raise SemanticError(
                "a buffer in tensor memory has rows and columns, and may count buffers before "
                f"them, so it has no shape {list(self.shape)}"
            )
        extents = "x".join(map(str, self.shape))
        whole = "" if self.alloc_shape == self.shape else ", " + "x".join(
            map(str, self.alloc_shape)
        )  # fmt: skip
        self.mlir = (
            f"!ttg.memdesc<{extents}x{self.element_ty.mlir}, {self.layout.mlir}, "
            f"#ttnvgpu.tensor_memory, mutable{whole}>"
        )
        self.name = (
            f"tensor_memory_descriptor<{list(self.shape)}, {self.element_ty}, {self.layout!r}>"
        )

    def flat_types(self, types: list[Any]) -> None:
        types.append(self)

    def unflatten(self, handles: Iterator[Any]) -> tensor_memory_descriptor:
        return tensor_memory_descriptor(next(handles), self)

    def mangle(self) -> str:
        extents = "_".join(map(str, self.shape))
        return f"MD{self.element_ty.mangle()}S{extents}SL{self.layout.mangle()}LMD"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tensor_memory_descriptor_type) and self.mlir == other.mlir

    def __hash__(self) -> int:
        return hash(self.mlir)

    def __str__(self) -> str:
        return self.name


class tensor_memory_descriptor:
    """A buffer in tensor memory, or a view of one."""

    def __init__(self, handle: Any, ty: tensor_memory_descriptor_type) -> None:
        self.handle = handle
        self.type = ty

    def __tile_structure__(self) -> tensor_memory_descriptor_type:
        return self.type

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
        return len(self.type.shape)

    @property
    def layout(self) -> Any:
        return self.type.layout

    def __str__(self) -> str:
        return str(self.type)

    def _registers(self, layout: Any, what: str) -> distributed_type:
        """The type of the tensor that the buffer holds."""
        if isinstance(self.layout, TensorMemoryScalesLayout):
            raise SemanticError(f"scales in tensor memory cannot be read: {what}")
        if self.rank != 2:
            raise SemanticError(f"{what} takes one buffer: index(i) of {list(self.shape)}")
        layout = unwrap(layout)
        if layout is None:
            layout = self._default_layout(None, "32x32b")
        return distributed_type(self.dtype, self.shape, _layout(layout))

    def _default_layout(self, num_warps: Any, variant: Any) -> Any:
        warps = unwrap(num_warps)
        warps = current().num_warps if warps is None else warps  # type: ignore[attr-defined]
        return register_layout(self.type, warps, unwrap(variant))

    @builtin
    def get_reg_layout(self, num_warps: Any = None, instr_variant: str = "32x32b") -> Any:
        """The layout of registers in which the buffer is loaded without moving data."""
        return self._default_layout(num_warps, instr_variant)

    @builtin
    def load(self, layout: Any = None) -> tensor:
        """Reads the whole buffer into registers."""
        ty = self._registers(layout, "load")
        b = current()
        sizes = {"resultSegmentSizes": b.i32_array_attr([1, 0, 0])}
        handle = b.create_one("ttnvgpu.tmem_load", (self.handle,), sizes, (b.type(ty),))
        return tensor(handle, ty)

    def _reduced(self, kind: int, layout: Any, magnitude: Any, propagate_nan: Any) -> Any:
        what = "load_max" if kind else "load_min"
        if self.dtype not in (_float32, _int32):
            raise SemanticError(f"{what} compares float32 or int32, not {self.dtype}")
        ty = self._registers(layout, what)
        rows = distributed_type(self.dtype, self.shape[:-1], SliceLayout(1, ty.layout))
        b = current()
        attributes = {
            "resultSegmentSizes": b.i32_array_attr([1, 0, 1]),
            "redOp": b.parse_attr(f"#ttnvgpu.redOp<{'max' if kind else 'min'}>"),
        }
        if unwrap(magnitude):
            attributes["abs"] = b.bool_attr(True)
        if unwrap(propagate_nan) == PropagateNan.ALL:
            attributes["NaN"] = b.bool_attr(True)
        handles = b.create(
            "ttnvgpu.tmem_load", (self.handle,), attributes, (b.type(ty), b.type(rows))
        )
        return tensor(handles[0], ty), tensor(handles[1], rows)

    @builtin
    def load_max(
        self, layout: Any = None, abs: bool = False, propagate_nan: Any = PropagateNan.NONE
    ) -> Any:
        """The buffer, and the largest element of each row (with `abs`, of the magnitudes)."""
        return self._reduced(1, layout, abs, propagate_nan)

    @builtin
    def load_min(
        self, layout: Any = None, abs: bool = False, propagate_nan: Any = PropagateNan.NONE
    ) -> Any:
        """The buffer, and the smallest element of each row (with `abs`, of the magnitudes)."""
        return self._reduced(0, layout, abs, propagate_nan)

    @builtin
    def store(self, value: Any, pred: Any = True) -> None:
        """Writes a tensor over the whole buffer."""
        value = _check_block(value, "store")
        if value.shape != self.shape or value.dtype != self.dtype:
            raise SemanticError(
                f"store needs a tensor like the buffer, of shape {list(self.shape)} and type "
                f"{self.dtype}, not {list(value.shape)} of {value.dtype}"
            )
        handles = (self.handle, value.handle, predicate(pred).handle)
        current().create("ttnvgpu.tmem_store", handles, None, ())

    @builtin
    def slice(self, start: Any, length: Any, dim: Any = 1) -> tensor_memory_descriptor:
        """The columns from `start` on, `length` of them; with `dim=0` rows, which are whole blocks,
        or the buffers that the first dimension counts."""
        start, length = unwrap(start), unwrap(length)
        axis = _creation.checked_axis(dim, self.rank, "slice")
        if self.rank == 3 and axis:
            raise SemanticError("of several buffers, slice takes some (dim=0); index(i) is one")
        what = "buffers" if self.rank == 3 else ("rows", "columns")[axis]
        for name, value in (("start", start), ("length", length)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise SemanticError(f"slice takes a constant {name}, not {describe(value)}")
        if start < 0 or length < 1 or start + length > self.shape[axis]:
            raise SemanticError(
                f"{what} {start} to {start + length} are not in a buffer of shape "
                f"{list(self.shape)}"
            )
        rows = self.layout.block[0] if isinstance(self.layout, TensorMemoryLayout) else 1
        if what == "rows" and (start % rows or length % rows):
            raise SemanticError(
                f"rows {start} to {start + length} are no whole blocks of {rows} rows"
            )
        shape = [*self.shape]
        shape[axis] = length
        ty = tensor_memory_descriptor_type(self.dtype, shape, self.layout, self.type.alloc_shape)
        b = current()
        attributes = {"offset": b.int_attr(32, start), "dim": b.int_attr(32, axis)}
        handle = b.create_one(
            "ttnvgpu.tmem_subslice", (self.handle,), attributes, (b.parse_type(ty.mlir),)
        )
        return tensor_memory_descriptor(handle, ty)

    @builtin
    def index(self, index: Any) -> tensor_memory_descriptor:
        """One of the buffers that the first dimension counts."""
        if self.rank != 3:
            raise SemanticError(f"index needs several buffers, not {list(self.shape)}")
        index = cast(to_tensor(unwrap(index)), _int32)
        ty = tensor_memory_descriptor_type(self.dtype, self.shape[1:], self.layout, self.shape[1:])
        b = current()
        handle = b.create_one(
            "ttg.memdesc_index", (self.handle, index.handle), None, (b.parse_type(ty.mlir),)
        )
        return tensor_memory_descriptor(handle, ty)

    @builtin
    def reinterpret(
        self, dtype: Any = None, shape: Any = None, layout: Any = None
    ) -> tensor_memory_descriptor:
        """The same memory as another type, shape and layout."""
        element = self.dtype if unwrap(dtype) is None else unwrap(dtype)
        extents = self.shape if unwrap(shape) is None else unwrap_shape(shape)
        layout = unwrap(layout) or self.layout
        whole = extents
        if (
            Shape(extents) == self.shape
            and layout == self.layout
            and element.primitive_bitwidth == self.dtype.primitive_bitwidth
        ):
            whole = self.type.alloc_shape  # A part lies as it did, whatever its elements are.
        ty = tensor_memory_descriptor_type(element, extents, layout, whole)
        b = current()
        handle = b.create_one(
            "ttg.memdesc_reinterpret", (self.handle,), None, (b.parse_type(ty.mlir),)
        )
        return tensor_memory_descriptor(handle, ty)

    _reinterpret = reinterpret


@builtin
def allocate_tensor_memory(
    element_ty: Any, shape: Any, layout: Any, value: Any = None
) -> tensor_memory_descriptor:
    """A buffer in tensor memory, filled with `value` if that is given."""
    shape = unwrap_shape(shape)
    ty = tensor_memory_descriptor_type(unwrap(element_ty), shape, layout, shape)
    operands = []
    if unwrap(value) is not None:
        value = _check_block(unwrap(value), "allocate_tensor_memory")
        if value.shape != tuple(shape) or value.dtype != ty.element_ty:
            raise SemanticError(
                f"the buffer is {list(shape)} of {ty.element_ty}, but its contents are "
                f"{list(value.shape)} of {value.dtype}"
            )
        operands.append(value.handle)
    b = current()
    handles = b.create("ttnvgpu.tmem_alloc", operands, None, (b.parse_type(ty.mlir),))
    return tensor_memory_descriptor(handles[0], ty)


@constexpr_function
def get_tmem_reg_layout(
    element_ty: Any,
    shape: Any,
    layout: Any,
    num_warps: Any,
    instr_variant: Any = "32x32b",
    cga_layout: Any = (),
) -> Any:
    """What `get_reg_layout` of a buffer gives, which is not there yet. Blocks of a cluster divide
    it as `layout` says; `cga_layout` may say so once more."""
    layout, bases = unwrap(layout), [list(unwrap_shape(b)) for b in unwrap(cga_layout)]
    if bases and bases != layout.cga_layout:
        raise SemanticError(
            f"the layout has cga_layout={layout.cga_layout}, and cga_layout={bases} beside it"
        )
    ty = tensor_memory_descriptor_type(unwrap(element_ty), shape, layout, shape)
    return register_layout(ty, unwrap(num_warps), unwrap(instr_variant))


__all__ = [
    "allocate_tensor_memory", "get_tmem_reg_layout", "tensor_memory_descriptor",
    "tensor_memory_descriptor_type",
]  # fmt: skip
