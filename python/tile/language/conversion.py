"""Conversions between types."""

from __future__ import annotations

from typing import Any

from ..errors import SemanticError
from . import dtypes as dt
from .dtypes import dtype
from .promotion import check_width, constant, is_constant, to_tensor
from .state import current
from .values import builtin, member, tensor, unwrap

_ROUNDING = {"rtz": 0, "rtne": 1}
CMPI = {
    "eq": 0,
    "ne": 1,
    "slt": 2,
    "sle": 3,
    "sgt": 4,
    "sge": 5,
    "ult": 6,
    "ule": 7,
    "ugt": 8,
    "uge": 9,
}
CMPF = {"oeq": 1, "ogt": 2, "oge": 3, "olt": 4, "ole": 5, "une": 13}


def _convert(op: str, value: tensor, ty: dtype, attributes: dict | None = None) -> tensor:
    b = current()
    return tensor(b.create_one(op, (value.handle,), attributes, (b.type(ty),)), ty)


def compare_i(predicate: str, lhs: tensor, rhs: tensor) -> tensor:
    b = current()
    ty = lhs.type.with_element_ty(dt.int1)
    attributes = {"predicate": b.int_attr(64, CMPI[predicate])}
    return tensor(
        b.create_one("arith.cmpi", (lhs.handle, rhs.handle), attributes, (b.type(ty),)), ty
    )


def compare_f(predicate: str, lhs: tensor, rhs: tensor) -> tensor:
    if lhs.dtype.is_fp8():
        lhs, rhs = cast(lhs, dt.float32), cast(rhs, dt.float32)
    b = current()
    ty = lhs.type.with_element_ty(dt.int1)
    attributes = {"predicate": b.int_attr(64, CMPF[predicate])}
    return tensor(
        b.create_one("arith.cmpf", (lhs.handle, rhs.handle), attributes, (b.type(ty),)), ty
    )


def to_bool(value: Any) -> tensor:
    """Whether each element differs from zero."""
    value = to_tensor(value)
    scalar = value.dtype
    if scalar.is_bool():
        return value
    if scalar.is_ptr():
        value = _convert("tt.ptr_to_int", value, value.type.with_element_ty(dt.int64))
    elif scalar.is_fp8():
        value = cast(value, dt.float32)
    zero = constant(0, value.type)
    if scalar.is_floating():
        return compare_f("une", value, zero)
    return compare_i("ne", value, zero)


def bitcast(value: tensor, to: dtype) -> tensor:
    """Reads the bits of a value as another type of the same width."""
    scalar, target = value.dtype, to.scalar
    ty = value.type.with_element_ty(target)
    if scalar == target:
        return value
    if scalar.is_ptr() != target.is_ptr():
        return cast(value, target)
    if not scalar.is_ptr():
        if scalar.primitive_bitwidth != target.primitive_bitwidth:
            raise SemanticError(
                f"cannot bitcast {scalar} ({scalar.primitive_bitwidth} bits) to {target} "
                f"({target.primitive_bitwidth} bits)"
            )
        if scalar.mlir == target.mlir:  # Only the signedness differs.
            return tensor(value.handle, ty)
    return _convert("tt.bitcast", value, ty)


def cast(value: tensor, to: dtype, rounding: str | None = None) -> tensor:
    """Converts the elements of a value."""
    scalar, target = value.dtype, to.scalar
    if scalar == target:
        return value
    ty = value.type.with_element_ty(target)
    if scalar.is_ptr() or target.is_ptr():
        return _cast_pointer(value, scalar, target, ty)
    if target.is_bool():
        return to_bool(value)
    if scalar.is_floating() and target.is_floating():
        return _cast_float(value, scalar, target, ty, rounding)
    if rounding is not None:
        raise SemanticError(
            "fp_downcast_rounding applies to a conversion to a narrower float, not from "
            f"{scalar} to {target}"
        )
    if scalar.is_floating():
        if scalar.is_fp8():
            value = cast(value, dt.float32)
        return _convert("arith.fptosi" if target.is_int_signed() else "arith.fptoui", value, ty)
    signed = scalar.is_int_signed()
    if target.is_floating():
        if target.is_fp8():
            return cast(cast(value, dt.float32), target)
        return _convert("arith.sitofp" if signed else "arith.uitofp", value, ty)
    if not (scalar.is_int() and target.is_int()):
        raise SemanticError(f"cannot convert {scalar} to {target}")
    if scalar.int_bitwidth == target.int_bitwidth:
        return tensor(value.handle, ty)
    if scalar.int_bitwidth > target.int_bitwidth:
        return _convert("arith.trunci", value, ty)
    return _convert("arith.extsi" if signed else "arith.extui", value, ty)


def _cast_pointer(value: tensor, scalar: dtype, target: dtype, ty: dtype) -> tensor:
    if scalar.is_ptr() and target.is_ptr():
        return _convert("tt.bitcast", value, ty)
    if scalar.is_ptr():
        if target.is_bool():
            return to_bool(value)
        if target.is_int() and target.int_bitwidth == 64:
            return _convert("tt.ptr_to_int", value, ty)
        raise SemanticError(
            f"a pointer converts to a 64-bit integer or to another pointer, not to {target}"
        )
    if not scalar.is_int():
        raise SemanticError(f"cannot convert {scalar} to a pointer")
    return _convert("tt.int_to_ptr", cast(value, dt.int64), ty)


def _cast_float(
    value: tensor, scalar: dtype, target: dtype, ty: dtype, rounding: str | None
) -> tensor:
    narrowing = target.primitive_bitwidth < scalar.primitive_bitwidth
    if rounding is not None and (rounding not in _ROUNDING or not narrowing):
        if rounding not in _ROUNDING:
            raise SemanticError(f"fp_downcast_rounding is 'rtne' or 'rtz', not {rounding!r}")
        raise SemanticError(
            f"fp_downcast_rounding applies to a conversion to a narrower float, not {scalar} to "
            f"{target}"
        )
    b = current()
    for format in (scalar, target):
        if (
            format.name in ("fp8e4b8", "fp8e5b16")
            and not b.eager
            and format.name not in getattr(b.options, "supported_fp8_dtypes", ())
        ):
            raise SemanticError(
                f"{format} is a format of AMD's GPUs; NVIDIA's have float8e4nv and float8e5"
            )
    if scalar.is_fp8e4b15():
        return cast(_from_fp8e4b15(value), target, rounding if target.is_fp8() else None)
    if target.is_fp8e4b15():
        return _to_fp8e4b15(value, ty)
    if scalar.is_fp8() or target.is_fp8():
        # Through fp32, which holds all numbers of 8 bits.
        if scalar.is_fp8() and (target.is_fp8() or target.name == "fp64"):
            return cast(cast(value, dt.float32), target, rounding)
        attributes = None
        if narrowing:
            attributes = {"rounding": b.int_attr(32, _ROUNDING[rounding or "rtne"])}
        return _convert("tt.fp_to_fp", value, ty, attributes)
    if scalar.primitive_bitwidth == target.primitive_bitwidth:  # fp16 and bf16
        return cast(cast(value, dt.float32), target, rounding)
    if not narrowing:
        return _convert("arith.extf", value, ty)
    if rounding == "rtz":
        return _convert("tt.fp_to_fp", value, ty, {"rounding": b.int_attr(32, _ROUNDING["rtz"])})
    return _convert("arith.truncf", value, ty)


def _op(op: str, value: tensor, number: int) -> tensor:
    b = current()
    handles = (value.handle, constant(number, value.type).handle)
    return tensor(b.create_one(op, handles, None, (b.type(value.type),)), value.type)


def _from_fp8e4b15(value: tensor) -> tensor:
    """fp16 of the same number: a sign, four bits of exponent (biased by 15, as in
    fp16) and three of mantissa."""
    bits = cast(tensor(value.handle, value.type.with_element_ty(dt.uint8)), dt.int16)
    rest = _op("arith.shli", _op("arith.andi", bits, 0x7F), 7)
    sign = _op("arith.shli", _op("arith.andi", bits, 0x80), 8)
    b = current()
    half = b.create_one("arith.ori", (rest.handle, sign.handle), None, (b.type(rest.type),))
    return bitcast(tensor(half, rest.type), dt.float16)


def _to_fp8e4b15(value: tensor, ty: dtype) -> tensor:
    """The nearest fp8e4b15, of two the larger; 1.75 at most."""
    if not value.dtype.is_fp16():
        # Cut on the way: what is cut lies below the bit that decides.
        value = cast(value, dt.float32, "rtz" if value.dtype.is_fp64() else None)
        value = cast(value, dt.float16, "rtz")
    bits = bitcast(value, dt.int16)
    magnitude = _op("arith.minui", _op("arith.andi", bits, 0x7FFF), 0x3F00)
    rest = _op("arith.shrui", _op("arith.addi", _op("arith.shli", magnitude, 1), 0x80), 8)
    sign = _op("arith.andi", _op("arith.shrui", bits, 8), 0x80)
    b = current()
    both = b.create_one("arith.ori", (rest.handle, sign.handle), None, (b.type(rest.type),))
    narrow = cast(tensor(both, rest.type), dt.int8)
    return tensor(narrow.handle, ty)


@member("to", "cast")
@builtin
def public_cast(
    input: Any, dtype: dtype, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    """Converts `input` to `dtype`.

    `fp_downcast_rounding` ("rtne" or "rtz") rounds a conversion to a narrower
    float; `bitcast` reads the bits as the other type instead of converting.
    `x.to(dtype)` is the same.

    Refused: ``tl.cast(tl.arange(0, 4), "float32")``.

    >>> tl.cast(tl.full([2], 2.75, tl.float32), tl.int32)
    [2 2]
    >>> tl.cast(tl.full([1], 1.0, tl.float32), tl.int32, bitcast=True)
    1065353216
    """
    target = unwrap(dtype)
    if not isinstance(target, dt.dtype):
        name = getattr(target, "__name__", str(target))
        meant = isinstance(getattr(dt, name, None), dt.dtype)
        raise SemanticError(
            f"cast takes a type such as tl.float32, not {target!r}"
            + (f"; use tl.{name}" if meant else "")
        )
    if target.is_block():
        target = target.scalar
    value = unwrap(input)
    rounding = unwrap(fp_downcast_rounding)
    if is_constant(value) and rounding is not None:
        value = constant(value, dt.float64)  # Not rounded by becoming a tensor.
    elif is_constant(value) and not bitcast and not target.is_ptr() and not target.is_bool():
        if target.is_floating() or isinstance(value, int):
            if target.is_int():
                check_width(value)
                value = int(value) & (2**target.int_bitwidth - 1)
            return constant(value, target)
    value = to_tensor(value)
    if unwrap(bitcast):
        return globals()["bitcast"](value, target)
    return cast(value, target, rounding)


public_cast.__name__ = "cast"


@builtin
def public_to_tensor(x: Any) -> tensor:
    """A number as a scalar of the kernel; a tensor as it is.

    `True` is an int1. An integer has the first of int32, uint32, int64 and uint64 that it fits
    into. A float is an fp32, or an fp64 if an fp32 is too narrow.

    Refused: ``tl.to_tensor(None)``.

    >>> tl.to_tensor(3).to(tl.float32) / 2
    1.5
    """
    return to_tensor(x)


public_to_tensor.__name__ = "to_tensor"
