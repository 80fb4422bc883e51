"""Atomic operations."""

from __future__ import annotations

from typing import Any

from ..errors import SemanticError
from . import dtypes as dt
from .arithmetic import _binary, where
from .conversion import bitcast, cast, compare_i
from .memory import _check_pointer, as_mask, choose, eviction_hint
from .promotion import constant, is_constant, raise_to_common_shape, to_tensor
from .state import current
from .values import builtin, member, tensor, unwrap

_SEMANTICS = {"acq_rel": 4, "": 4, "relaxed": 1, "acquire": 2, "release": 3}
_SCOPES = {"gpu": 1, "": 1, "cta": 2, "sys": 3}
_RMW = {
    "and": 1, "or": 2, "xor": 3, "add": 4, "fadd": 5, "max": 6, "min": 7, "umax": 8, "umin": 9,
    "exch": 10,
}  # fmt: skip


def _ordering(sem: Any, scope: Any, eviction: Any = "", what: str = "an atomic operation") -> dict:
    b = current()
    return {
        "sem": b.int_attr(32, choose(_SEMANTICS, sem, "sem")),
        "scope": b.int_attr(32, choose(_SCOPES, scope, "scope")),
        **eviction_hint(eviction, what),
    }


def _one_way(sem: Any, default: str, what: str) -> str:
    """`sem` of what only loads or only stores."""
    sem = unwrap(sem) or default
    if sem not in (default, "relaxed"):
        raise SemanticError(f"{what} takes the sem '{default}' or 'relaxed', not {sem!r}")
    return sem


def _operands(name: str, pointer: Any, val: Any, mask: Any) -> tuple[tensor, tensor, tensor]:
    pointer = _check_pointer(pointer, f"atomic_{name}")
    element = pointer.dtype.element_ty
    if element.is_block():
        raise SemanticError(f"atomic_{name} takes pointers, not a block pointer")
    if pointer.dtype.is_const():
        raise SemanticError(f"atomic_{name} cannot write through a pointer declared tl.const")
    if element.is_bool() or (element.primitive_bitwidth < 16 and name != "cas"):
        raise SemanticError(f"atomic_{name} does not support {element}")
    val = (
        constant(unwrap(val), element)
        if is_constant(unwrap(val))
        else cast(to_tensor(val), element)
    )
    mask = constant(True, dt.int1) if unwrap(mask) is None else as_mask(unwrap(mask))
    if not pointer.type.is_block():
        if val.type.is_block() or mask.type.is_block():
            raise SemanticError(f"atomic_{name} has a scalar pointer, but a block as value or mask")
        return pointer, val, mask
    pointer, val, mask = raise_to_common_shape(pointer, val, mask)
    return pointer, val, mask


def _rmw(op: str, pointer: tensor, val: tensor, mask: tensor, ordering: dict) -> tensor:
    b = current()
    attributes = {"atomic_rmw_op": b.int_attr(32, _RMW[op]), **ordering}
    handles = (pointer.handle, val.handle, mask.handle)
    return tensor(b.create_one("tt.atomic_rmw", handles, attributes, (b.type(val.type),)), val.type)


@member()
@builtin
def atomic_add(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None,
    eviction_policy: str = "",
) -> tensor:  # fmt: skip
    """Adds to memory; returns what was there.

    `pointer` is a scalar or a block; `val` and `mask` are broadcast to it. `sem` is 'relaxed',
    'acquire', 'release' or 'acq_rel' (the default); `scope` is 'cta', 'gpu' (the default) or
    'sys'; `eviction_policy` is as in `tl.load`.

    Refused: ``tl.atomic_add(p, 1, sem="strong")``.

    >>> tl.atomic_add(p, 5)
    >>> tl.load(p)
    5
    """
    pointer, val, mask = _operands("add", pointer, val, mask)
    op = "fadd" if val.dtype.is_floating() else "add"
    return _rmw(op, pointer, val, mask, _ordering(sem, scope, eviction_policy))


@member()
@builtin
def atomic_xchg(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None,
    eviction_policy: str = "",
) -> tensor:  # fmt: skip
    """Writes to memory; returns what was there.

    `pointer` is a scalar or a block; `val` and `mask` are broadcast to it. `sem` is 'relaxed',
    'acquire', 'release' or 'acq_rel' (the default); `scope` is 'cta', 'gpu' (the default) or
    'sys'; `eviction_policy` is as in `tl.load`.

    Refused: ``tl.atomic_xchg(p, 1, sem="strong")``.

    >>> tl.atomic_xchg(p, 5)
    >>> tl.load(p)
    5
    """
    pointer, val, mask = _operands("xchg", pointer, val, mask)
    return _rmw("exch", pointer, val, mask, _ordering(sem, scope, eviction_policy))


@member()
@builtin
def atomic_load(pointer: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
    """Loads what other programs may be storing atomically.

    `pointer` is a scalar or a block of pointers to elements of 16 to 64 bits, in memory that may
    be written. Where `mask` is off, the result is undefined. `sem` is 'acquire' (the default) or
    'relaxed'; `scope` is as in `tl.atomic_add`.

    Refused: ``tl.atomic_load(p, sem='release')``.

    >>> tl.atomic_store(p, 5)
    >>> tl.atomic_load(p)
    5
    """
    sem = _one_way(sem, "acquire", "atomic_load")
    pointer, val, mask = _operands("load", pointer, 0, mask)
    # An operation that changes nothing: it is ordered with others as they are among themselves.
    element = val.dtype
    if not element.is_int():
        as_int = dt.get_int_dtype(element.primitive_bitwidth, False)
        pointer = cast(pointer, dt.pointer_type(as_int, pointer.dtype.address_space))
        val = constant(0, val.type.with_element_ty(as_int))
    found = _rmw("or", pointer, val, mask, _ordering(sem, scope))
    return found if found.dtype == element else bitcast(found, element)


@member()
@builtin
def atomic_store(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> None:
    """Stores what other programs may be loading atomically.

    `pointer` is a scalar or a block of pointers to elements of 16 to 64 bits; `val` and `mask` are
    broadcast to it. `sem` is 'release' (the default) or 'relaxed'; `scope` is as in
    `tl.atomic_add`.

    Refused: ``tl.atomic_store(p, 1, sem='acquire')``.

    >>> tl.atomic_store(p + 1, 7)
    >>> tl.atomic_load(p + 1, sem="relaxed")
    7
    """
    sem = _one_way(sem, "release", "atomic_store")
    pointer, val, mask = _operands("store", pointer, val, mask)
    _rmw("exch", pointer, val, mask, _ordering(sem, scope))


def _bitwise(op: str, pointer: Any, val: Any, mask: Any, ordering: dict) -> tensor:
    pointer, val, mask = _operands(op, pointer, val, mask)
    if not val.dtype.is_int():
        raise SemanticError(f"atomic_{op} takes integers, not {val.dtype}")
    return _rmw(op, pointer, val, mask, ordering)


@member()
@builtin
def atomic_and(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None,
    eviction_policy: str = "",
) -> tensor:  # fmt: skip
    """Bitwise and with memory; returns what was there.

    `pointer` is a scalar or a block; `val` and `mask` are broadcast to it. `sem` is 'relaxed',
    'acquire', 'release' or 'acq_rel' (the default); `scope` is 'cta', 'gpu' (the default) or
    'sys'; `eviction_policy` is as in `tl.load`.

    Refused: ``tl.atomic_and(f, 1)``.

    >>> tl.atomic_and(p + 7, 3)
    >>> tl.load(p + 7)
    3
    """
    return _bitwise("and", pointer, val, mask, _ordering(sem, scope, eviction_policy))


@member()
@builtin
def atomic_or(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None,
    eviction_policy: str = "",
) -> tensor:  # fmt: skip
    """Bitwise or with memory; returns what was there.

    `pointer` is a scalar or a block; `val` and `mask` are broadcast to it. `sem` is 'relaxed',
    'acquire', 'release' or 'acq_rel' (the default); `scope` is 'cta', 'gpu' (the default) or
    'sys'; `eviction_policy` is as in `tl.load`.

    Refused: ``tl.atomic_or(f, 1)``.

    >>> tl.atomic_or(p + 1, 6)
    >>> tl.load(p + 1)
    7
    """
    return _bitwise("or", pointer, val, mask, _ordering(sem, scope, eviction_policy))


@member()
@builtin
def atomic_xor(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None,
    eviction_policy: str = "",
) -> tensor:  # fmt: skip
    """Bitwise exclusive or with memory; returns what was there.

    `pointer` is a scalar or a block; `val` and `mask` are broadcast to it. `sem` is 'relaxed',
    'acquire', 'release' or 'acq_rel' (the default); `scope` is 'cta', 'gpu' (the default) or
    'sys'; `eviction_policy` is as in `tl.load`.

    Refused: ``tl.atomic_xor(f, 1)``.

    >>> tl.atomic_xor(p + 3, 1)
    >>> tl.load(p + 3)
    2
    """
    return _bitwise("xor", pointer, val, mask, _ordering(sem, scope, eviction_policy))


def _minmax(op: str, pointer: Any, val: Any, mask: Any, ordering: dict) -> tensor:
    pointer, val, mask = _operands(op, pointer, val, mask)
    element = val.dtype
    if element.is_int():
        return _rmw(op if element.is_int_signed() else "u" + op, pointer, val, mask, ordering)
    if element.name not in ("fp32", "fp64"):
        raise SemanticError(f"atomic_{op} takes integers, fp32 and fp64, not {element}")
    # Floats of one sign compare as integers do: those with the sign bit clear
    # in the same order, those with it set in the opposite one, unsigned.
    width = element.primitive_bitwidth
    as_int = dt.get_int_dtype(width, True)
    bits = bitcast(val, as_int)
    int_pointer = cast(pointer, dt.pointer_type(as_int, pointer.dtype.address_space))
    sign = _binary("arith.shrui", bits, constant(width - 1, bits.type))
    zero = constant(0, bits.type)
    negative, positive = compare_i("ne", sign, zero), compare_i("eq", sign, zero)
    other = "umin" if op == "max" else "umax"
    when_positive = _rmw(op, int_pointer, bits, _binary("arith.andi", mask, positive), ordering)
    when_negative = _rmw(other, int_pointer, bits, _binary("arith.andi", mask, negative), ordering)
    return bitcast(where(positive, when_positive, when_negative), element)


@member()
@builtin
def atomic_max(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None,
    eviction_policy: str = "",
) -> tensor:  # fmt: skip
    """Keeps the larger in memory; returns what was there.

    `pointer` is a scalar or a block; `val` and `mask` are broadcast to it. `sem` is 'relaxed',
    'acquire', 'release' or 'acq_rel' (the default); `scope` is 'cta', 'gpu' (the default) or
    'sys'; `eviction_policy` is as in `tl.load`.

    Refused: ``tl.atomic_max(p, 1, sem="strong")``.

    >>> tl.atomic_max(p, 5)
    >>> tl.load(p)
    5
    """
    return _minmax("max", pointer, val, mask, _ordering(sem, scope, eviction_policy))


@member()
@builtin
def atomic_min(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None,
    eviction_policy: str = "",
) -> tensor:  # fmt: skip
    """Keeps the smaller in memory; returns what was there.

    `pointer` is a scalar or a block; `val` and `mask` are broadcast to it. `sem` is 'relaxed',
    'acquire', 'release' or 'acq_rel' (the default); `scope` is 'cta', 'gpu' (the default) or
    'sys'; `eviction_policy` is as in `tl.load`.

    Refused: ``tl.atomic_min(p, 1, sem="strong")``.

    >>> tl.atomic_min(p + 7, 5)
    >>> tl.load(p + 7)
    5
    """
    return _minmax("min", pointer, val, mask, _ordering(sem, scope, eviction_policy))


@member()
@builtin
def atomic_cas(
    pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None, eviction_policy: str = ""
) -> tensor:
    """Writes `val` where memory holds `cmp`; returns what was there.

    `pointer` is a scalar or a block; `cmp` and `val` have its shape. `sem`, `scope` and
    `eviction_policy` are as in `tl.atomic_add`.

    Refused: ``tl.atomic_cas(p, 1, 2, sem="strong")``.

    >>> tl.atomic_cas(p, 0, 9)
    >>> tl.load(p)
    9
    """
    pointer = _check_pointer(pointer, "atomic_cas")
    element = pointer.dtype.element_ty
    if element.primitive_bitwidth not in (16, 32, 64):
        raise SemanticError(f"atomic_cas supports types of 16, 32 and 64 bits, not {element}")
    cmp = (
        constant(unwrap(cmp), element)
        if is_constant(unwrap(cmp))
        else cast(to_tensor(cmp), element)
    )
    val = (
        constant(unwrap(val), element)
        if is_constant(unwrap(val))
        else cast(to_tensor(val), element)
    )
    pointer, cmp, val = raise_to_common_shape(pointer, cmp, val)
    b = current()
    handles = (pointer.handle, cmp.handle, val.handle)
    ordering = _ordering(sem, scope, eviction_policy, "a compare-and-swap")
    handle = b.create_one("tt.atomic_cas", handles, ordering, (b.type(val.type),))
    return tensor(handle, val.type)
