"""Conversion of constants, type promotion and broadcasting of operands."""

from __future__ import annotations

import math
from typing import Any

from ..errors import SemanticError
from . import dtypes as dt
from .dtypes import dtype
from .state import current
from .values import describe, tensor, unwrap

#: The largest numbers of 8-bit formats.
_LARGEST = {"fp8e4nv": 448.0, "fp8e5": 57344.0, "fp8e4b8": 240.0, "fp8e5b16": 57344.0}


def is_constant(value: Any) -> bool:
    """True for numbers that are known when the kernel is compiled."""
    return isinstance(value, (int, float))


def constant_type(value: Any) -> dtype:
    """The type that a constant takes when nothing else decides it."""
    if isinstance(value, bool):
        return dt.int1
    if isinstance(value, int):
        if -(2**31) <= value < 2**31:
            return dt.int32
        if 2**31 <= value < 2**32:
            return dt.uint32
        if -(2**63) <= value < 2**63:
            return dt.int64
        if 2**63 <= value < 2**64:
            return dt.uint64
        check_width(value)
    if isinstance(value, float):
        magnitude = abs(value)
        if (
            value == 0
            or math.isinf(value)
            or math.isnan(value)
            or 2**-126 <= magnitude <= (2 - 2**-23) * 2**127
        ):
            return dt.float32
        return dt.float64
    raise SemanticError(f"a {type(value).__name__} cannot become a run-time value")


def constant(value: Any, ty: dtype) -> tensor:
    """A constant of a scalar or block type."""
    scalar = ty.scalar
    b = current()
    if scalar.is_ptr():
        raise SemanticError("a number cannot become a pointer; use .to() on a 64-bit integer")
    if scalar.is_floating():
        value = float(value)
        if scalar.is_fp8e4b15():
            return tensor(b.constant(b.type(ty), dt.fp8e4b15_bits(value)), ty)
        if scalar.is_fp8():
            # Rounded to the format by the IR's own conversion of constants, which does
            # not saturate as the machine's do.
            limit = _LARGEST[scalar.name]
            value = value if math.isnan(value) else max(-limit, min(limit, value))
            return tensor(b.constant(b.type(ty), value), ty)
    else:
        value = _as_integer(value, scalar)
    return tensor(b.constant(b.type(ty), value), ty)


def _as_integer(value: Any, ty: dtype) -> int:
    """A number as a constant of an integer type: floats are converted as those that
    are known at run time only, integers wrap around."""
    if ty.is_bool():
        return int(value != 0)
    if isinstance(value, float):
        low, high = ty.get_int_min_value(), ty.get_int_max_value()
        return 0 if math.isnan(value) else int(max(low, min(high, value)))
    check_width(value)
    return int(value)


def check_width(value: int) -> None:
    if not -(2**63) <= value < 2**64:
        raise SemanticError(f"the constant {value} does not fit in 64 bits")


def to_tensor(value: Any) -> tensor:
    """The value as a tensor; constants take their own type."""
    if isinstance(value, tensor):
        return value
    value = unwrap(value)
    if is_constant(value):
        return constant(value, constant_type(value))
    raise SemanticError(f"expected a number or a tensor, not {describe(value)}{instead(value)}")


def instead(value: Any) -> str:
    """The end of a message about a value that is no number: what to do."""
    if value is None:
        return "; test an argument that may be None with `is not None`"
    if hasattr(value, "__array__"):
        return "; pass an array as an argument that is no constexpr, or its numbers as a tuple"
    return ""


def integer_promote(a: dtype, b: dtype) -> dtype:
    """The wider of two integer types; unsigned wins between equals."""
    if a.int_bitwidth != b.int_bitwidth:
        if a.int_bitwidth > b.int_bitwidth:
            return a
        return b
    return a if a.is_int_unsigned() else b


def computation_type(a: dtype, b: dtype, div_or_mod: bool = False) -> dtype:
    """The type in which an operation on `a` and `b` is computed."""
    a_float, b_float = a.is_floating(), b.is_floating()
    if a_float or b_float:
        names = (a.name, b.name)
        for wide in ("fp64", "fp32"):
            if wide in names:
                return dt.float64 if wide == "fp64" else dt.float32
        if div_or_mod:  # No narrower float has them.
            return dt.float32
        if "fp16" in names:
            return dt.float16
        if "bf16" in names:
            # Neither integers nor 8-bit floats fit in its mantissa.
            return dt.bfloat16 if a == b else dt.float32
        if a == b:
            return a
        return dt.float16 if a_float and b_float else (a if a_float else b)
    if not a.is_int() or not b.is_int():
        raise SemanticError(f"no arithmetic between {a} and {b}")
    if div_or_mod and a.int_signedness != b.int_signedness:
        raise SemanticError(
            f"Cannot use /, // or % with {a} and {b} because they have different signedness; "
            "convert one of them"
        )
    return integer_promote(a, b)


def _constant_operand_type(value: Any, other: dtype, div_or_mod: bool) -> dtype:
    """The computation type where one operand is a constant."""
    kind = 0 if isinstance(value, bool) else 1 if isinstance(value, int) else 2
    if kind <= other.kind().value:
        if div_or_mod and other.is_floating() and other.name not in ("fp32", "fp64"):
            return dt.float32
        if (
            kind == 1
            and other.is_int()
            and not other.get_int_min_value() <= value <= other.get_int_max_value()
        ):
            raise SemanticError(f"the constant {value} is out of range for type {other}")
        return other
    return constant_type(value)


def splat(value: tensor, ty: dtype) -> tensor:
    """A block of type `ty` with a scalar in every element."""
    b = current()
    return tensor(b.create_one("tt.splat", (value.handle,), None, (b.type(ty),)), ty)


def broadcast_to_shape(value: tensor, shape: tuple[int, ...]) -> tensor:
    """Extends a scalar or a block to `shape`."""
    have = value.type.shape
    if have == shape:
        return value
    if not value.type.is_block():
        return splat(value, current().new_block(value.dtype, shape))
    if len(have) != len(shape):
        raise SemanticError(
            f"cannot broadcast shape {list(have)} to {list(shape)}: the ranks differ"
        )
    for i, (a, w) in enumerate(zip(have, shape, strict=False)):
        if a != w and a != 1:
            raise SemanticError(
                f"cannot broadcast shape {list(have)} to {list(shape)}: dimension {i} has {a} "
                f"elements, not {w} or 1"
            )
    ty = value.type.similar(value.dtype, shape)
    b = current()
    return tensor(b.create_one("tt.broadcast", (value.handle,), None, (b.type(ty),)), ty)


def expand_dim(value: tensor, axis: int) -> tensor:
    """Inserts a dimension of one element."""
    ty = value.type.expanded(axis)
    b = current()
    return tensor(
        b.create_one(
            "tt.expand_dims", (value.handle,), {"axis": b.int_attr(32, axis)}, (b.type(ty),)
        ),
        ty,
    )


def broadcast_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of two blocks; missing leading dimensions count as 1."""
    if a == b:
        return a
    rank = max(len(a), len(b))
    pa, pb = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    result = []
    for i, (x, y) in enumerate(zip(pa, pb, strict=False)):
        if x != y and x != 1 and y != 1:
            raise SemanticError(
                f"shapes {list(a)} and {list(b)} do not fit together: {x} and {y} elements in "
                f"dimension {i}"
            )
        result.append(max(x, y))
    return tuple(result)


def broadcast_pair(x: tensor, y: tensor) -> tuple[tensor, tensor]:
    """Brings two tensors to a common shape."""
    if have_one_place(x.type, y.type):
        return x, y
    x, y = raise_to_common_shape(x, y)
    return x, y


def have_one_place(a: dtype, b: dtype) -> bool:
    """Whether two types have one shape, and one layout if they have any."""
    return a.shape == b.shape and a.layout == b.layout


def _raise_to(value: tensor, shape: tuple[int, ...], model: dtype) -> tensor:
    """Extends a value to `shape`; a scalar becomes a block like one of type `model`."""
    if not value.type.is_block():
        return splat(value, model.similar(value.dtype, shape)) if shape else value
    while len(value.type.shape) < len(shape):
        value = expand_dim(value, 0)
    return broadcast_to_shape(value, shape)


def raise_to_common_shape(*values: tensor) -> list[tensor]:
    """Brings scalars and blocks to a common shape, and to one layout if they have any."""
    model: dtype | None = None
    for value in values:
        if value.type.is_block() and (model is None or model.layout is None):
            model = value.type
    if model is None:
        return list(values)
    if model.layout is not None:
        values = model.settle(values)
        model = next(v.type for v in values if v.type.is_block())
    shape: tuple[int, ...] = ()
    for value in values:
        shape = broadcast_shapes(shape, value.type.shape)
    return [_raise_to(value, shape, model) for value in values]


def check_number(value: Any, what: str) -> None:
    if isinstance(value, tensor) or is_constant(value):
        return
    # Of operators, in the words of Python.
    said = (
        f"{what} takes"
        if what[:1].isalpha()
        else f"unsupported operand type(s) for {what}: it takes"
    )
    raise SemanticError(f"{said} numbers and tensors, not {describe(value)}{instead(value)}")


def binary_operands(
    lhs: Any, rhs: Any, what: str, div_or_mod: bool = False
) -> tuple[tensor, tensor]:
    """Promotes and broadcasts the operands of a binary operation."""
    from .conversion import cast

    lhs, rhs = unwrap(lhs), unwrap(rhs)
    lhs_tensor, rhs_tensor = isinstance(lhs, tensor), isinstance(rhs, tensor)
    if lhs_tensor and rhs_tensor:
        a, b = lhs.dtype, rhs.dtype
        if a.is_ptr() or b.is_ptr():
            raise SemanticError(f"{what} does not take pointers ({lhs.type} and {rhs.type})")
        if a != b or div_or_mod:
            common = computation_type(a, b, div_or_mod)
            lhs, rhs = cast(lhs, common), cast(rhs, common)
        if not have_one_place(lhs.type, rhs.type):
            lhs, rhs = broadcast_pair(lhs, rhs)
        return lhs, rhs
    check_number(lhs, what)
    check_number(rhs, what)
    if not lhs_tensor and not rhs_tensor:
        return binary_operands(to_tensor(lhs), to_tensor(rhs), what, div_or_mod)
    value, number = (lhs, rhs) if lhs_tensor else (rhs, lhs)
    if value.dtype.is_ptr():
        raise SemanticError(f"{what} does not take pointers ({value.type})")
    common = _constant_operand_type(number, value.dtype, div_or_mod)
    value = cast(value, common)
    other = constant(number, value.type)
    return (value, other) if lhs_tensor else (other, value)
