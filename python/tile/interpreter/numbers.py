"""How values are held: element types of NumPy, and exact conversions.

A value is an array of its elements. Integers carry no sign, as in the IR:
they are held as signed ones, and operations on unsigned numbers look at the
same bits as such. Pointers are 64-bit integers.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..errors import InterpreterError
from ..language.dtypes import dtype

_ELEMENTS = {
    "int1": np.bool_, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.int8, "uint16": np.int16, "uint32": np.int32, "uint64": np.int64,
    "fp8e4nv": ml_dtypes.float8_e4m3fn, "fp8e5": ml_dtypes.float8_e5m2,
    "fp8e4b8": ml_dtypes.float8_e4m3fnuz, "fp8e5b16": ml_dtypes.float8_e5m2fnuz,
    "fp8e4b15": np.int8, "fp16": np.float16, "bf16": ml_dtypes.bfloat16,
    "fp32": np.float32, "fp64": np.float64,
}  # fmt: skip
ELEMENTS = {name: np.dtype(kind) for name, kind in _ELEMENTS.items()}
_SIZED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
UNSIGNED = {
    np.dtype(f"int{8 * size}"): np.dtype(f"uint{8 * size}") for size in _SIZED
}  # fmt: skip
UNSIGNED[np.dtype(np.bool_)] = np.dtype(np.bool_)
FP8 = {ELEMENTS[n] for n in ("fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16")}
BF16 = ELEMENTS["bf16"]
_FLOAT64, _FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)


def element_of(ty: dtype) -> np.dtype:
    """The NumPy type that holds elements of a type."""
    scalar = ty.scalar
    found = ELEMENTS.get(scalar.name)
    if found is not None:
        return found
    if scalar.is_ptr():
        return ELEMENTS["int64"]
    raise InterpreterError(f"the interpreter has no values of the type {scalar}")


def unsigned(x: np.ndarray) -> np.ndarray:
    """The same bits as unsigned integers."""
    return x.view(UNSIGNED[x.dtype])


def displayed(x: np.ndarray, ty: dtype) -> np.ndarray:
    """The elements as a reader wants to see them."""
    return unsigned(x) if ty.scalar.is_int_unsigned() else x


def bits_of(x: np.ndarray) -> np.ndarray:
    """The bits of a value as signed integers."""
    return x.view(_SIZED[x.dtype.itemsize])


def constant(value: int | float | bool, element: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """A number in every element, converted as the compiler converts constants."""
    if element.kind in "ib":
        if element.kind == "b":
            value = bool(value & 1)
        else:
            width = 8 * element.itemsize
            value = int(value) & ((1 << width) - 1)
            value -= (value >> (width - 1)) << width
    elif element not in (_FLOAT32, _FLOAT64):
        value = round_to(np.asarray(value, np.float64), element)
    return np.full(shape, value, element)


def round_to_odd(wide: np.ndarray, error: np.ndarray, narrow: np.ndarray) -> np.ndarray:
    """`narrow` moved off even results where it is inexact (`error` is what is
    missing): rounded again to fewer bits, it gives what one rounding would."""
    bits = bits_of(narrow)
    inexact = (error != 0) & np.isfinite(wide) & np.isfinite(narrow) & (bits & 1 == 0)
    away = (error > 0) == (narrow > 0)
    # At zero the direction is that of the error itself.
    up = np.nextafter(narrow, np.where(error > 0, np.inf, -np.inf).astype(narrow.dtype))
    step = np.where(away, 1, -1).astype(bits.dtype)
    moved = np.where(narrow == 0, up, (bits + step).view(narrow.dtype))
    return np.where(inexact, moved, narrow)


def _to_odd_float32(wide: np.ndarray) -> np.ndarray:
    """float64 to float32, so that another rounding is as good as one."""
    narrow = wide.astype(np.float32)
    return round_to_odd(wide, wide - narrow.astype(np.float64), narrow)


def round_to(x: np.ndarray, target: np.dtype, toward_zero: bool = False) -> np.ndarray:
    """Converts between floats, rounding once. 8-bit formats saturate."""
    source = x.dtype
    if source == target:
        return x
    if target.itemsize > source.itemsize or (target == _FLOAT32 and source.itemsize < 4):
        return x.astype(target)
    if target in FP8:
        return _round_to_fp8(x, target, toward_zero)
    if target == BF16 and source == _FLOAT64:
        result = _to_odd_float32(x).astype(target)
    elif target == BF16 or source == BF16:
        result = x.astype(np.float32).astype(target)
    else:
        result = x.astype(target)
    return _toward_zero(x, result) if toward_zero else result


def _toward_zero(x: np.ndarray, nearest: np.ndarray) -> np.ndarray:
    """One step back where rounding to nearest went away from zero."""
    wide = np.float64 if x.dtype == _FLOAT64 else np.float32
    away = np.abs(nearest.astype(wide)) > np.abs(x.astype(wide))
    bits = bits_of(nearest)
    return (bits - away.astype(bits.dtype)).view(nearest.dtype)


def _round_to_fp8(x: np.ndarray, target: np.dtype, toward_zero: bool) -> np.ndarray:
    wide = _to_odd_float32(x) if x.dtype == _FLOAT64 else x.astype(np.float32)
    limit = np.float32(ml_dtypes.finfo(target).max)
    bounded = np.clip(wide, -limit, limit)  # NaN stays.
    nearest = bounded.astype(target)
    return _toward_zero(bounded, nearest) if toward_zero else nearest


def integer_to_float(x: np.ndarray, target: np.dtype) -> np.ndarray:
    """Converts integers (signed or unsigned by their type), rounding once."""
    if target in (_FLOAT32, _FLOAT64):
        return x.astype(target)
    wide = x.astype(np.float64)
    if x.dtype.itemsize == 8:
        # To odd: a last bit that is set stands for all below it.
        magnitude = np.where(x < 0, -x, x).astype(np.uint64)
        rest = (magnitude & np.uint64(0x7FF)) != 0
        odd = (((magnitude >> np.uint64(11)) | rest) << np.uint64(11)).astype(np.float64)
        wide = np.where(magnitude >> np.uint64(53) == 0, wide, np.where(x < 0, -odd, odd))
    return round_to(wide, target)


def float_to_integer(x: np.ndarray, target: np.dtype) -> np.ndarray:
    """Truncates toward zero; what does not fit saturates. NaN gives 0, or the
    top bit where either has 64 bits. (The language leaves both open; so does
    the hardware.)"""
    wide = x.astype(np.float64)
    info = np.iinfo(target)
    top = x.dtype.itemsize == 8 or target.itemsize == 8
    result = np.trunc(np.where(np.isnan(wide), 0.0, wide))
    low, high = result <= float(info.min), result >= float(info.max)
    inside = np.where(low | high, 0.0, result).astype(target)
    result = np.where(low, info.min, np.where(high, info.max, inside)).astype(target)
    if top:
        half = target.type(1) << target.type(8 * target.itemsize - 1)
        result = np.where(wide != wide, half, result)
    return result


def scalar_of(value: Any) -> Any:
    """The one element of an array, as a Python number."""
    return np.asarray(value).reshape(-1)[0].item()


def to_tf32(values: np.ndarray) -> np.ndarray:
    """The nearest numbers of tf32, of two the even one; what is not finite stays."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    rounded = bits + (0xFFF + (bits >> 13 & 1)) & ~np.uint32(0x1FFF)
    return np.where(np.isfinite(values), rounded, bits).view(np.float32)
