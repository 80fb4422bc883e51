"""Chosen elements of buffers in shared memory."""

from __future__ import annotations

from typing import Any

from ..errors import SemanticError
from .atomic import _RMW
from .creation import checked_axis
from .memory import as_mask
from .promotion import raise_to_common_shape
from .state import current
from .values import builtin, describe, tensor, unwrap


def _tensor(value: Any, what: str) -> tensor:
    if not isinstance(value, tensor) or not value.type.is_block():
        raise SemanticError(f"{what}, not {describe(value)}")
    return value


class IndexedAccess:
    """An element is at the coordinates that it has in the tensor of indices, but for `axis`: there
    its index says where."""

    handle: Any
    type: Any

    def _places(self, indices: Any, axis: Any, what: str) -> tuple[tensor, int]:
        indices = _tensor(indices, f"{what} takes a tensor of indices")
        if not indices.dtype.is_int():
            raise SemanticError(f"indices of {what} are integers, not {indices.dtype}")
        shape = self.type.shape
        if len(indices.shape) != len(shape):
            raise SemanticError(
                f"{what} needs indices of {len(shape)} dimensions, like the buffer, not of shape "
                f"{list(indices.shape)}"
            )
        if indices.numel & (indices.numel - 1):
            raise SemanticError(
                f"{what} takes indices whose extents are powers of two, not {indices.type}; take "
                "the next one, and do not use the rest"
            )
        axis = checked_axis(axis, len(shape), what)
        for d, extent in enumerate(indices.shape):
            if d != axis and extent > shape[d]:
                raise SemanticError(
                    f"{what} got {extent} indices along dimension {d}, where the buffer has "
                    f"{shape[d]} elements"
                )
        return indices, axis

    def _values(self, values: Any, indices: Any, what: str) -> tuple[tensor, tensor]:
        """Values, and an index for each of them."""
        values = _tensor(values, f"{what} takes a tensor of values")
        indices = _tensor(indices, f"{what} takes a tensor of indices")
        if values.dtype != self.type.element_ty:
            raise SemanticError(
                f"{what} needs values of {self.type.element_ty}, like the buffer, not of "
                f"{values.dtype}"
            )
        pairs = zip(values.shape, indices.shape, strict=False)
        if values.ndim != indices.ndim or any(a != b and 1 not in (a, b) for a, b in pairs):
            raise SemanticError(
                f"{what} needs an index for each value, but got {list(indices.shape)} indices and "
                f"{list(values.shape)} values"
            )
        values, indices = raise_to_common_shape(values, indices)
        return values, indices

    @builtin
    def gather(self, indices: Any, axis: Any) -> tensor:
        """Reads the elements that `indices` name along `axis`."""
        indices, axis = self._places(indices, axis, "gather")
        ty = indices.type.with_element_ty(self.type.element_ty)
        b = current()
        attributes = {"axis": b.int_attr(32, axis)}
        handles = (self.handle, indices.handle)
        return tensor(b.create_one("ttg.local_gather", handles, attributes, (b.type(ty),)), ty)

    @builtin
    def scatter(self, values: Any, indices: Any, axis: Any) -> None:
        """Writes to the elements that `indices` name along `axis`. Values and indices of one
        element along a dimension are repeated there."""
        values, indices = self._values(values, indices, "scatter")
        indices, axis = self._places(indices, axis, "scatter")
        b = current()
        attributes = {"axis": b.int_attr(32, axis)}
        handles = (self.handle, indices.handle, values.handle)
        b.create("ttg.local_scatter", handles, attributes, ())

    def _combine(self, op: str, values: Any, indices: Any, axis: Any, mask: Any) -> tensor:
        what = f"atomic_scatter_{'xchg' if op == 'exch' else op}"
        values, indices = self._values(values, indices, what)
        indices, axis = self._places(indices, axis, what)
        found = [values, indices]
        if unwrap(mask) is not None:
            found.append(as_mask(mask))
        values, indices, *masks = raise_to_common_shape(*found)
        element = self.type.element_ty
        if element.is_floating():
            if op not in ("add", "exch"):
                raise SemanticError(f"{what} does not support {element}")
            op = "fadd" if op == "add" else op
        elif op in ("max", "min") and not element.is_int_signed():
            op = f"u{op}"
        if element.primitive_bitwidth not in ((16, 32, 64) if op == "fadd" else (32, 64)):
            raise SemanticError(f"{what} does not support {element}")
        b = current()
        attributes = {
            "atomic_rmw_op": b.int_attr(32, _RMW[op]),
            "axis": b.int_attr(32, axis),
        }
        handles = (self.handle, values.handle, indices.handle, *[m.handle for m in masks])
        ty = values.type
        return tensor(
            b.create_one("ttg.local_atomic_scatter_rmw", handles, attributes, (b.type(ty),)), ty
        )

    @builtin
    def atomic_scatter_add(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Adds to the elements that `indices` name along `axis`; returns what was there."""
        return self._combine("add", values, indices, axis, mask)

    @builtin
    def atomic_scatter_max(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Keeps the larger in the elements that `indices` name; returns what was there."""
        return self._combine("max", values, indices, axis, mask)

    @builtin
    def atomic_scatter_min(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Keeps the smaller in the elements that `indices` name; returns what was there."""
        return self._combine("min", values, indices, axis, mask)

    @builtin
    def atomic_scatter_and(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Bitwise and with the elements that `indices` name; returns what was there."""
        return self._combine("and", values, indices, axis, mask)

    @builtin
    def atomic_scatter_or(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Bitwise or with the elements that `indices` name; returns what was there."""
        return self._combine("or", values, indices, axis, mask)

    @builtin
    def atomic_scatter_xor(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Bitwise exclusive or with the elements that `indices` name; returns what was there."""
        return self._combine("xor", values, indices, axis, mask)

    @builtin
    def atomic_scatter_xchg(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Writes to the elements that `indices` name; returns what was there."""
        return self._combine("exch", values, indices, axis, mask)
