"""Types of tensors that have layouts, and of buffers in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tile.errors import SemanticError
from tile.language.dtypes import block_type, dtype
from tile.language.shared_memory import shared_type
from tile.language.state import current
from tile.language.values import tensor, unwrap, unwrap_shape

from ._inference import infer, linear_layout
from ._layouts import AutoLayout, DistributedLayout, SharedLayout, SliceLayout, is_open


def is_same(layout: Any, other: Any, shape: Sequence[int]) -> bool:
    """Whether two layouts put every element at one place, however they are written."""
    if layout == other:
        return True
    if is_open(layout) or is_open(other):
        return False
    return linear_layout(layout, shape) == linear_layout(other, shape)


def _in_layout(value: tensor, layout: Any) -> tensor:
    """A tensor whose layout is open, or the same in other words."""
    if is_open(value.type.layout):
        return set_layout(value, layout)
    ty, b = distributed_type(value.dtype, value.shape, layout), current()
    return tensor(b.create_one("ttg.convert_layout", (value.handle,), None, (b.type(ty),)), ty)


class distributed_type(block_type):
    """A tensor whose layout says which thread holds which element."""

    def __init__(self, element_ty: dtype, shape: Sequence[int], layout: Any) -> None:
        super().__init__(unwrap(element_ty), unwrap_shape(shape))
        for extent in self.shape:
            if extent & (extent - 1):
                raise SemanticError(
                    f"block shape {list(self.shape)} has the extent {extent}, which is not a "
                    "power of two; layouts have powers of two"
                )
        layout = unwrap(layout)
        if not isinstance(layout, DistributedLayout):
            raise SemanticError(f"a tensor has a layout of registers, not {layout!r}")
        if not is_open(layout) and layout.rank != len(self.shape):
            raise SemanticError(
                f"tensor shape and layout rank mismatch: a tensor of shape {list(self.shape)} has "
                f"{len(self.shape)} dimensions, but its layout {layout!r} has {layout.rank}"
            )
        self.layout = layout
        self.name = f"<{list(self.shape)}, {self.element_ty}, {layout!r}>"
        self.mlir = f"{self.mlir.removesuffix('>')}, {layout.mlir}>"

    def similar(self, element_ty: dtype, shape: Sequence[int]) -> distributed_type:
        return distributed_type(element_ty, shape, self.layout)

    def expanded(self, axis: int) -> distributed_type:
        layout = self.layout
        if not is_open(layout):
            if not isinstance(layout, SliceLayout):
                raise SemanticError(
                    f"a dimension is inserted into a tensor in a SliceLayout, which says the "
                    f"layout of the result, not in {layout!r}"
                )
            if layout.dim != axis:
                raise SemanticError(
                    f"dimension {layout.dim} was taken out of the layout {layout!r}: that one can "
                    f"be inserted again, not dimension {axis}"
                )
            layout = layout.parent
        shape = (*self.shape[:axis], 1, *self.shape[axis:])
        return distributed_type(self.element_ty, shape, layout)

    def reduced(self, axis: int, element_ty: dtype) -> dtype:
        rest = (*self.shape[:axis], *self.shape[axis + 1 :])
        if not rest:
            return element_ty
        layout = self.layout
        if not is_open(layout):
            layout = SliceLayout(axis, layout)
        return distributed_type(element_ty, rest, layout)

    def _inferred(self, kind: str, shape: Sequence[int], argument: Sequence[int] = ()) -> Any:
        layout = infer(kind, self.layout, self.shape, argument, shape)
        return distributed_type(self.element_ty, shape, layout)

    def permuted(self, order: Sequence[int]) -> distributed_type:
        return self._inferred("trans", [self.shape[i] for i in order], order)

    def reshaped(self, shape: Sequence[int], reorder: bool) -> distributed_type:
        return self._inferred("reshape", shape, shape)

    def joined(self) -> distributed_type:
        return self._inferred("join", (*self.shape, 2))

    def halved(self) -> distributed_type:
        return self._inferred("split", self.shape[:-1])

    def settle(self, values: Sequence[tensor]) -> list[tensor]:
        """Gives the open ones among tensors of one rank the layout of the others."""
        decided: tensor | None = None
        rank: tensor | None = None
        for value in values:
            if not value.type.is_block():
                continue
            rank = value if rank is None else rank
            if value.ndim != rank.ndim:
                raise SemanticError(
                    f"tensors of {rank.ndim} and {value.ndim} dimensions do not fit together: "
                    f"{rank.type} and {value.type}; insert a dimension, as in x[None, :]"
                )
            if isinstance(value.type.layout, AutoLayout):
                continue
            if decided is None:
                decided = value
            elif not is_same(value.type.layout, decided.type.layout, value.shape):
                raise SemanticError(
                    "tensors in two layouts do not fit together; one is\n"
                    f"    {list(decided.shape)} in {decided.type.layout!r},\nthe other\n"
                    f"    {list(value.shape)} in {value.type.layout!r};\n"
                    "convert one of them with gl.convert_layout"
                )
        if decided is None:
            return list(values)
        layout = decided.type.layout
        return [
            _in_layout(v, layout) if v.type.is_block() and v.type.layout != layout else v
            for v in values
        ]

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, distributed_type)
            and self.shape == other.shape
            and self.element_ty == other.element_ty
            and self.layout == other.layout
        )

    def __hash__(self) -> int:
        return hash(self.mlir)

    def mangle(self) -> str:
        return f"{super().mangle()}L{self.layout.mangle()}L"


def set_layout(value: tensor, layout: Any) -> tensor:
    """Decides an open layout."""
    ty = distributed_type(value.dtype, value.shape, layout)
    b = current()
    return tensor(b.create_one("gluon.set_auto_layout", (value.handle,), None, (b.type(ty),)), ty)


class shared_memory_descriptor_type(shared_type):
    """A buffer in shared memory, or a view of one."""

    def __init__(
        self, element_ty: dtype, shape: Sequence[int], layout: Any, alloc_shape: Sequence[int]
    ) -> None:
        layout = unwrap(layout)
        if not isinstance(layout, SharedLayout):
            raise SemanticError(f"a buffer has a layout of shared memory, not {layout!r}")
        rank = len(unwrap_shape(shape))
        if layout.rank not in (rank, rank - 1):
            raise SemanticError(
                f"a buffer of shape {list(unwrap_shape(shape))} has a layout of {rank} dimensions, "
                f"or of {rank - 1} where the first counts buffers, but {layout!r} has {layout.rank}"
            )
        whole = unwrap_shape(alloc_shape)
        of_buffer = layout._of_buffer(whole[len(whole) - layout.rank :])
        super().__init__(element_ty, shape, of_buffer, alloc_shape)
        self.layout = layout
        self.name = f"shared_memory_descriptor<{list(self._shape)}, {self.element_ty}, {layout!r}>"

    @property
    def nbytes_per_cta(self) -> int:
        """The bytes of the part that one block of a cluster has."""
        parts = 1
        for basis in getattr(self.layout, "cga_layout", None) or []:
            parts *= 2 if any(basis) else 1
        return self.numel * self.element_ty.primitive_bitwidth // 8 // parts

    def mangle(self) -> str:
        extents = "_".join(map(str, self._shape))
        return f"MD{self.element_ty.mangle()}S{extents}SL{self.layout.mangle()}LMD"
