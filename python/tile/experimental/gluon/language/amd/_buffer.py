"""Accesses by a scalar pointer and offsets: the machine checks their bounds."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language import atomic as _atomic
from tile.language import dtypes as dt
from tile.language import memory as _memory
from tile.language.conversion import cast
from tile.language.promotion import raise_to_common_shape, to_tensor
from tile.language.shared_memory import with_masks
from tile.language.state import current
from tile.language.values import builtin, describe, tensor


def check_address(ptr: Any, offsets: Any, what: str) -> tuple[tensor, tensor]:
    """A scalar pointer, and a tensor of offsets in elements."""
    ptr = _memory._check_pointer(ptr, what)
    if ptr.type.is_block() or ptr.dtype.element_ty.is_block():
        raise SemanticError(f"{what} takes a scalar pointer and offsets, not {ptr.type}")
    if not isinstance(offsets, tensor) or not offsets.type.is_block():
        raise SemanticError(f"the offsets of {what} are a tensor, not {describe(offsets)}")
    if not offsets.dtype.is_int() or offsets.dtype.int_bitwidth != 32:
        raise SemanticError(
            f"the offsets of {what} are of 32 bits, int32 or uint32, not {offsets.dtype}"
        )
    return ptr, offsets


def alike(offsets: tensor, mask: Any, other: Any, element: dt.dtype, what: str) -> list[tensor]:
    """The offsets, then the mask and other values that are given, in one shape and layout."""
    raised = with_masks(offsets, mask, other, element)
    if raised[0].shape != offsets.shape:
        raise SemanticError(
            f"{what} accesses {list(offsets.shape)} elements, one for each offset, but its mask "
            f"or value has shape {list(raised[0].shape)}"
        )
    return raised


def alike_with_value(
    offsets: tensor, value: Any, mask: Any, element: dt.dtype, what: str
) -> list[tensor]:
    """The offsets, the value, then the mask if it is given."""
    places, *masks = alike(offsets, mask, None, element, what)
    raised = list(raise_to_common_shape(places, cast(to_tensor(value), element), *masks))
    if raised[0].shape != offsets.shape:
        raise SemanticError(
            f"{what} accesses {list(offsets.shape)} elements, one for each offset, but its value "
            f"has shape {list(raised[0].shape)}"
        )
    return raised


@builtin
def buffer_load(
    ptr: Any, offsets: Any, mask: Any = None, other: Any = None, cache: Any = None
) -> tensor:
    """Reads the elements `offsets` behind `ptr`, where `mask` holds; elsewhere it is `other`, or
    zero."""
    ptr, offsets = check_address(ptr, offsets, "buffer_load")
    element = ptr.dtype.element_ty
    ptr = _memory._as_memory_type(ptr)
    stored = ptr.dtype.element_ty
    raised = alike(offsets, mask, other, stored, "buffer_load")
    b = current()
    ty = raised[0].type.with_element_ty(stored)
    attributes = {
        "cache": b.int_attr(32, _memory.choose(_memory._LOAD_CACHE, cache, "cache")),
        "operandSegmentSizes": b.i32_array_attr(
            [1, 1, 0, int(len(raised) > 1), int(len(raised) > 2)]
        ),
    }
    handles = [ptr.handle, *[r.handle for r in raised]]
    result = tensor(b.create_one("amdg.buffer_load", handles, attributes, (b.type(ty),)), ty)
    return cast(result, element)


@builtin
def buffer_store(
    stored_value: Any, ptr: Any, offsets: Any, mask: Any = None, cache: Any = None
) -> None:
    """Writes `stored_value` to the elements `offsets` behind `ptr`, where `mask` holds."""
    ptr, offsets = check_address(ptr, offsets, "buffer_store")
    if ptr.dtype.is_const():
        raise SemanticError("Cannot store to a constant pointer: it is declared tl.const")
    value = cast(to_tensor(stored_value), ptr.dtype.element_ty)
    ptr = _memory._as_memory_type(ptr)
    element = ptr.dtype.element_ty
    offsets, value, *masks = alike_with_value(offsets, value, mask, element, "buffer_store")
    b = current()
    attributes = {
        "cache": b.int_attr(32, _memory.choose(_memory._STORE_CACHE, cache, "cache")),
        "operandSegmentSizes": b.i32_array_attr([1, 1, 1, 0, len(masks)]),
    }
    handles = [value.handle, ptr.handle, offsets.handle, *[m.handle for m in masks]]
    b.create("amdg.buffer_store", handles, attributes, ())


#: Of floats, integers with a sign, and those without; None where there is no such operation.
_KINDS = {
    "add": ("fadd", "add", "add"),
    "max": (None, "max", "umax"),
    "min": (None, "min", "umin"),
    "and": (None, "and", "and"),
    "or": (None, "or", "or"),
    "xor": (None, "xor", "xor"),
    "xchg": ("exch", "exch", "exch"),
}


def _kind(name: str, element: dt.dtype) -> str:
    of_float, of_signed, of_unsigned = _KINDS[name]
    if element.is_int() and element.primitive_bitwidth >= 16:
        return of_signed if element.is_int_signed() else of_unsigned
    if of_float is None or not element.is_floating() or element.primitive_bitwidth < 16:
        raise SemanticError(f"buffer_atomic_{name} does not support {element}")
    return of_float


def _atomic_operation(name: str, doc: str) -> Any:
    what = f"buffer_atomic_{name}"

    def fn(
        ptr: Any, offsets: Any, value: Any, mask: Any = None, sem: Any = None, scope: Any = None
    ) -> tensor:
        ptr, offsets = check_address(ptr, offsets, what)
        if ptr.dtype.is_const():
            raise SemanticError(f"{what} cannot write through a pointer declared tl.const")
        element = ptr.dtype.element_ty
        kind = _kind(name, element)
        offsets, value, *masks = alike_with_value(offsets, value, mask, element, what)
        b = current()
        attributes = {
            "atomic_rmw_op": b.int_attr(32, _atomic._RMW[kind]),
            "operandSegmentSizes": b.i32_array_attr([1, 1, 1, 0, len(masks)]),
            **_atomic._ordering(sem, scope),
        }
        handles = [ptr.handle, offsets.handle, value.handle, *[m.handle for m in masks]]
        types = (b.type(value.type),)
        return tensor(
            b.create_one("amdg.buffer_atomic_rmw", handles, attributes, types), value.type
        )

    fn.__name__ = fn.__qualname__ = what
    fn.__doc__ = f"{doc} Returns what was there."
    return builtin(fn)


buffer_atomic_add = _atomic_operation("add", "Adds to memory.")
buffer_atomic_and = _atomic_operation("and", "Bitwise and with memory.")
buffer_atomic_max = _atomic_operation("max", "Keeps the larger in memory.")
buffer_atomic_min = _atomic_operation("min", "Keeps the smaller in memory.")
buffer_atomic_or = _atomic_operation("or", "Bitwise or with memory.")
buffer_atomic_xchg = _atomic_operation("xchg", "Writes to memory.")
buffer_atomic_xor = _atomic_operation("xor", "Bitwise exclusive or with memory.")
