"""Loads, stores and block pointers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import SemanticError
from . import dtypes as dt
from .conversion import cast, to_bool
from .dtypes import block_type, dtype, pointer_type
from .promotion import (
    broadcast_to_shape,
    have_one_place,
    is_constant,
    raise_to_common_shape,
    to_tensor,
)
from .promotion import constant as make_constant
from .state import current, current_generator
from .values import builtin, describe, member, tensor, unwrap, unwrap_shape

_LOAD_CACHE = {"": 1, ".ca": 2, ".cg": 3, ".cs": 5, ".cv": 7}
_STORE_CACHE = {"": 1, ".wb": 4, ".cg": 3, ".cs": 5, ".wt": 6}
EVICTION = {"": 1, "evict_normal": 1, "evict_first": 2, "evict_last": 3}
PADDING = {"": None, "zero": 1, "nan": 2}


def choose(table: dict[str, Any], value: Any, what: str) -> Any:
    """Looks up an option that is spelled as a string."""
    value = unwrap(value)
    value = "" if value is None else value
    if value not in table:
        raise SemanticError(f"{what} is one of {', '.join(map(repr, table))}, not {value!r}")
    return table[value]


def _is_obeyed(hint: str, what: str) -> bool:
    """Whether the GPU has what a hint asks for."""
    from .target_info import cuda_capability_geq, is_cuda

    if what == "a compare-and-swap":
        return False
    if what == "an atomic operation":
        return bool(is_cuda() and cuda_capability_geq(8, 0))
    return bool(is_cuda()) or hint in (".cs", ".cv", "evict_first")


def cache_hints(table: dict[str, int], cache: Any, eviction: Any, what: str) -> dict[str, Any]:
    """The attributes of both hints; `table` has the cache modifiers. A remark says, once, what the
    GPU lacks."""
    b = current()
    chosen = {
        "cache": choose(table, cache, "cache_modifier"),
        "evict": choose(EVICTION, eviction, "eviction_policy"),
    }
    for hint, number in zip((unwrap(cache), unwrap(eviction)), chosen.values(), strict=True):
        if number != 1 and not b.eager and not _is_obeyed(hint, what):
            said = f"'{hint}' on {what} has no effect on this GPU"
            current_generator().remark("hint-without-effect", said)
    return {name: b.int_attr(32, number) for name, number in chosen.items()}


def eviction_hint(eviction: Any, what: str) -> dict[str, Any]:
    """The same of an operation that has no attribute of its own for it."""
    policy = cache_hints({"": 1}, "", eviction, what)["evict"]
    if current().eager or choose(EVICTION, eviction, "eviction_policy") == EVICTION[""]:
        return {}
    return {"tt.eviction": policy}


def _is_block_pointer(ty: dtype) -> bool:
    return isinstance(ty, pointer_type) and ty.element_ty.is_block()


def _check_pointer(pointer: Any, what: str) -> tensor:
    if not isinstance(pointer, tensor) or not pointer.dtype.is_ptr():
        raise SemanticError(
            f"{what} takes a pointer or a block of pointers, not {describe(pointer)}"
        )
    return pointer


def _as_memory_type(pointer: tensor) -> tensor:
    """Booleans live in memory as bytes."""
    if pointer.dtype.element_ty.is_bool():
        return cast(pointer, pointer_type(dt.int8, pointer.dtype.address_space))
    return pointer


@builtin
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Sequence[int] = (),
    padding_option: str = "",
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
) -> tensor:
    """Reads the elements that `pointer` points to.

    Where `mask` does not hold nothing is read, and the result is `other`, or
    undefined without one. A block pointer is bounded by `boundary_check`
    instead: the dimensions listed there yield `padding_option` out of bounds.

    `pointer` is a scalar, a block of pointers, or a block pointer. `mask` and `other` are
    broadcast to it. `cache_modifier` is '.ca', '.cg' or '.cv', `eviction_policy` 'evict_first'
    or 'evict_last'.

    Refused: ``tl.load(tl.arange(0, 4))``.

    >>> tl.load(p + tl.arange(0, 4), mask=tl.arange(0, 4) < 2, other=-1)
    [0 1 -1 -1]
    """
    pointer = _check_pointer(pointer, "load")
    b = current()
    attributes = {
        **cache_hints(_LOAD_CACHE, cache_modifier, eviction_policy, "a load"),
        "isVolatile": b.bool_attr(bool(unwrap(volatile))),
    }
    mask, other = unwrap(mask), unwrap(other)
    if _is_block_pointer(pointer.type):
        return _load_block(pointer, mask, other, boundary_check, padding_option, attributes)
    if unwrap(boundary_check) or unwrap(padding_option):
        raise SemanticError(
            "boundary_check and padding_option apply to block pointers; use mask and other here"
        )
    if mask is None and other is not None:
        raise SemanticError("other is what masked-off elements read as, so it needs a mask")
    element = pointer.dtype.element_ty
    pointer = _as_memory_type(pointer)
    stored = pointer.dtype.element_ty
    operands = [pointer]
    if mask is not None:
        mask = as_mask(mask)
        pointer, mask = _match_mask(pointer, mask, "load")
        operands = [pointer, mask]
        if other is not None:
            other = cast(make_other(other, pointer, stored, element), stored)
            if not have_one_place(other.type, pointer.type):
                other = broadcast_to_shape(raise_to_common_shape(other, pointer)[0], pointer.shape)
            operands.append(other)
    ty = pointer.type.with_element_ty(stored)
    attributes["operandSegmentSizes"] = b.i32_array_attr(
        [1, int(mask is not None), int(other is not None)]
    )
    handle = b.create_one("tt.load", [o.handle for o in operands], attributes, (b.type(ty),))
    result = tensor(handle, ty)
    return to_bool(result) if element.is_bool() else result


def make_other(other: Any, pointer: tensor, stored: dtype, element: dtype) -> tensor:
    """`other` in the type of the elements."""
    if is_constant(other):
        return make_constant(other, pointer.type.with_element_ty(stored))
    other = to_tensor(other)
    if other.dtype.is_ptr() != element.is_ptr():
        raise SemanticError(f"other is {other.type}, but the elements are {element}")
    return cast(other, element)


def as_mask(mask: Any) -> tensor:
    """A mask as int1; refuses what is no condition."""
    value = to_tensor(mask)
    if not value.dtype.is_bool() and not (is_constant(mask) and mask in (0, 1)):
        raise SemanticError(
            f"the mask must be a condition (int1), not {describe(mask)}; compare it with something"
        )
    return to_bool(value)


def _match_mask(pointer: tensor, mask: tensor, what: str) -> tuple[tensor, tensor]:
    if not pointer.type.is_block() and mask.type.is_block():
        raise SemanticError(f"{what} has a mask of {mask.type}, but a scalar pointer")
    if have_one_place(pointer.type, mask.type):
        return pointer, mask
    try:
        pointer, mask = raise_to_common_shape(pointer, mask)
    except SemanticError as error:
        raise SemanticError(f"the mask does not fit the pointers: {error}") from None
    return pointer, mask


def _boundary(pointer: tensor, boundary_check: Any) -> list[int]:
    rank = len(pointer.type.element_ty.shape)
    checked = unwrap(boundary_check)
    checked = [checked] if isinstance(checked, int) else [unwrap(d) for d in checked]
    for d in checked:
        if not isinstance(d, int) or not -rank <= d < rank:
            raise SemanticError(f"boundary_check lists dimensions from 0 to {rank - 1}, not {d!r}")
    checked = sorted(d % rank for d in checked)
    if len(set(checked)) != len(checked):
        raise SemanticError(
            f"boundary_check names a dimension twice: {list(unwrap(boundary_check))}"
        )
    return checked


def _load_block(
    pointer: tensor,
    mask: Any,
    other: Any,
    boundary_check: Any,
    padding_option: Any,
    attributes: dict,
) -> tensor:
    if mask is not None or other is not None:
        raise SemanticError(
            "a block pointer is loaded with boundary_check and padding_option, not mask and other"
        )
    b = current()
    ty = pointer.type.element_ty
    if ty.scalar.is_bool():
        raise SemanticError("a block pointer to int1 cannot be loaded; store the values as int8")
    checked = _boundary(pointer, boundary_check)
    padding = choose(PADDING, padding_option, "padding_option")
    if padding == 2 and ty.scalar.is_int():
        raise SemanticError(f"padding_option 'nan' does not apply to {ty.scalar}")
    attributes["boundaryCheck"] = b.i32_array_attr(checked)
    attributes["operandSegmentSizes"] = b.i32_array_attr([1, 0, 0])
    if padding is not None:
        attributes["padding"] = b.int_attr(32, padding)
    return tensor(b.create_one("tt.load", (pointer.handle,), attributes, (b.type(ty),)), ty)


@member()
@builtin
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Sequence[int] = (),
    cache_modifier: str = "",
    eviction_policy: str = "",
) -> None:
    """Writes `value` to where `pointer` points, where `mask` holds.

    `value` and `mask` are broadcast to `pointer`; a value of another type is converted.
    `boundary_check` is for block pointers. `cache_modifier` is '.wb', '.cg', '.cs' or '.wt',
    `eviction_policy` as in `tl.load`.

    Refused: ``tl.store(p, tl.arange(0, 4))``.

    >>> tl.store(p + tl.arange(0, 4), 9, mask=tl.arange(0, 4) < 2)
    >>> tl.load(p + tl.arange(0, 4))
    [9 9 2 3]
    """
    pointer = _check_pointer(pointer, "store")
    b = current()
    attributes = {
        **cache_hints(_STORE_CACHE, cache_modifier, eviction_policy, "a store"),
    }
    if pointer.dtype.is_const():
        raise SemanticError("Cannot store to a constant pointer: it is declared tl.const")
    mask = unwrap(mask)
    if _is_block_pointer(pointer.type):
        if mask is not None:
            raise SemanticError("a block pointer is stored with boundary_check, not mask")
        ty = pointer.type.element_ty
        value = broadcast_to_shape(cast(to_tensor(value), ty.scalar), ty.shape)
        attributes["boundaryCheck"] = b.i32_array_attr(_boundary(pointer, boundary_check))
        b.create("tt.store", (pointer.handle, value.handle), attributes, ())
        return
    if unwrap(boundary_check):
        raise SemanticError("boundary_check applies to block pointers; use mask here")
    element = pointer.dtype.element_ty
    value = make_constant(value, element) if is_constant(value) else to_tensor(value)
    value = cast(value, element)
    pointer = _as_memory_type(pointer)
    value = cast(value, pointer.dtype.element_ty)
    operands = [pointer, value]
    if mask is not None:
        operands.append(as_mask(mask))
    if not pointer.type.is_block() and any(o.type.is_block() for o in operands):
        kind = "value" if value.type.is_block() else "mask"
        raise SemanticError(
            f"cannot store through the scalar pointer {pointer.type}: the {kind} is a block; add "
            "offsets to the pointer, such as p + tl.arange(0, BLOCK)"
        )
    shape = pointer.shape
    if value.type.is_block() and value.ndim > pointer.ndim:
        extents = ", ".join(map(str, shape))
        raise SemanticError(
            f"cannot store {value.type} through pointers of shape {list(shape)}: the ranks differ; "
            f"bring the value to their shape, as in x.reshape({extents})"
        )
    operands = raise_to_common_shape(*operands)
    if operands[0].shape != shape and value.numel > pointer.numel:
        raise SemanticError(f"cannot store {value.type} through pointers of shape {list(shape)}")
    b.create("tt.store", [o.handle for o in operands], attributes, ())


@builtin
def make_block_ptr(
    base: tensor, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any
) -> tensor:
    """A pointer to a block of a strided tensor in memory.

    `shape`, `strides` and `offsets` may be computed; `block_shape` and `order` are constants.

    Refused: ``tl.make_block_ptr(p, (8,), (1,), (0,), (4, 4), (0,))``.

    >>> b = tl.make_block_ptr(p, [2, 4], [4, 1], [0, 2], [2, 2], [1, 0])
    >>> tl.load(b)
    [2 3 6 7]
    """
    base = _check_pointer(base, "make_block_ptr")
    if base.type.is_block():
        raise SemanticError(f"make_block_ptr takes a scalar pointer as base, not {base.type}")
    extents = unwrap_shape(block_shape)
    order = unwrap_shape(order)
    shape, strides = _integers(shape, dt.int64, "shape"), _integers(strides, dt.int64, "strides")
    offsets = _offsets(offsets)
    if not len(shape) == len(strides) == len(offsets) == len(extents) == len(order):
        raise SemanticError(
            "make_block_ptr needs shape, strides, offsets, block_shape and order of one length, "
            "but got "
            f"{len(shape)}, {len(strides)}, {len(offsets)}, {len(extents)} and {len(order)}"
        )
    if sorted(order) != list(range(len(order))):
        raise SemanticError(f"order lists each dimension once, fastest first, not {list(order)}")
    base = _as_memory_type(base)
    ty = pointer_type(block_type(base.dtype.element_ty, extents), base.dtype.address_space)
    b = current()
    handles = [v.handle for v in (base, *shape, *strides, *offsets)]
    handle = b.create_one(
        "tt.make_tensor_ptr", handles, {"order": b.i32_array_attr(order)}, (b.type(ty),)
    )
    return tensor(handle, ty)


def _integers(values: Any, ty: dtype, what: str) -> list[tensor]:
    values = unwrap(values)
    values = values if isinstance(values, (tuple, list)) else [values]
    result = []
    for value in values:
        value = unwrap(value)
        if is_constant(value) and isinstance(value, int):
            result.append(make_constant(value, ty))
            continue
        if not isinstance(value, tensor) or value.type.is_block() or not value.dtype.is_int():
            raise SemanticError(f"{what} takes integers, not {describe(value)}")
        result.append(cast(value, ty))
    return result


def _offsets(values: Any) -> list[tensor]:
    """Offsets in 32 bits, those that need more in 64."""
    values = unwrap(values)
    values = values if isinstance(values, (tuple, list)) else [values]
    return [
        _integers(value, dt.int64 if _is_wide(unwrap(value)) else dt.int32, "offsets")[0]
        for value in values
    ]


def _is_wide(value: Any) -> bool:
    if isinstance(value, int):
        return not -(2**31) <= value < 2**31
    return isinstance(value, tensor) and value.dtype in (dt.int64, dt.uint64, dt.uint32)


@member()
@builtin
def advance(base: tensor, offsets: Any) -> tensor:
    """A block pointer moved by `offsets` elements in each dimension.

    Refused: ``tl.advance(p, [1])``.

    >>> b = tl.make_block_ptr(p, [8], [1], [0], [2], [0])
    >>> tl.load(tl.advance(b, [4]))
    [4 5]
    """
    if not isinstance(base, tensor) or not _is_block_pointer(base.type):
        raise SemanticError(f"advance takes a block pointer, not {describe(base)}")
    offsets = _offsets(offsets)
    rank = len(base.type.element_ty.shape)
    if len(offsets) != rank:
        raise SemanticError(f"advance got {len(offsets)} offsets for a rank of {rank}")
    b = current()
    handle = b.create_one(
        "tt.advance", [base.handle, *[o.handle for o in offsets]], None, (b.type(base.type),)
    )
    return tensor(handle, base.type)
