"""Operations on each element: arithmetic, comparisons, conversions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .numbers import (
    UNSIGNED,
    bits_of,
    element_of,
    float_to_integer,
    integer_to_float,
    round_to,
    unsigned,
)
from .registry import elementwise, operation


def _is_bool(x: np.ndarray) -> bool:
    return x.dtype == np.bool_


# Integers wrap around; booleans are integers of one bit.
elementwise("arith.addi", lambda x, y: x ^ y if _is_bool(x) else x + y)
elementwise("arith.subi", lambda x, y: x ^ y if _is_bool(x) else x - y)
elementwise("arith.muli", lambda x, y: x & y if _is_bool(x) else x * y)
elementwise("arith.andi", np.bitwise_and)
elementwise("arith.ori", np.bitwise_or)
elementwise("arith.xori", np.bitwise_xor)


def _divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rounds toward zero. By zero it gives what NVIDIA's GPUs give: all bits are set."""
    return np.where(y == 0, -1, np.floor_divide(x - np.fmod(x, y), y)).astype(x.dtype)


def _divide_unsigned(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    x, y = unsigned(x), unsigned(y)
    return np.where(y == 0, ~np.zeros_like(x), x // y).astype(x.dtype)


def _rest(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of a division by zero the dividend remains."""
    return np.where(y == 0, x, np.fmod(x, y)).astype(x.dtype)


def _shift_count(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A shift by the width or more moves all bits out."""
    return np.minimum(unsigned(y), 8 * x.dtype.itemsize).astype(x.dtype)


elementwise("arith.divsi", lambda x, y: x & y if _is_bool(x) else _divide(x, y))
elementwise(
    "arith.divui",
    lambda x, y: x & y if _is_bool(x) else _divide_unsigned(x, y).view(x.dtype),
)
elementwise("arith.remsi", lambda x, y: x & ~y if _is_bool(x) else _rest(x, y))
elementwise(
    "arith.remui",
    lambda x, y: x & ~y if _is_bool(x) else _rest(unsigned(x), unsigned(y)).view(x.dtype),
)
elementwise(
    "arith.shli", lambda x, y: x & ~y if _is_bool(x) else np.left_shift(x, _shift_count(x, y))
)
elementwise("arith.shrsi", lambda x, y: x if _is_bool(x) else np.right_shift(x, _shift_count(x, y)))
elementwise(
    "arith.shrui",
    lambda x, y: (
        x & ~y
        if _is_bool(x)
        else np.right_shift(unsigned(x), unsigned(_shift_count(x, y))).view(x.dtype)
    ),
)
elementwise("arith.minsi", np.minimum)
elementwise("arith.maxsi", np.maximum)
elementwise("arith.minui", lambda x, y: np.minimum(unsigned(x), unsigned(y)).view(x.dtype))
elementwise("arith.maxui", lambda x, y: np.maximum(unsigned(x), unsigned(y)).view(x.dtype))


def high_product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    x, y = unsigned(x), unsigned(y)
    if x.dtype.itemsize == 4:
        return ((x.astype(np.uint64) * y.astype(np.uint64)) >> np.uint64(32)).astype(np.int32)
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    x1, x0, y1, y0 = x >> half, x & mask, y >> half, y & mask
    middle = x1 * y0 + ((x0 * y0) >> half)
    low = (middle & mask) + x0 * y1
    return (x1 * y1 + (middle >> half) + (low >> half)).view(np.int64)


elementwise("tt.mulhiui", high_product)

# Floats: NumPy and ml_dtypes round each result to its type.
elementwise("arith.addf", np.add)
elementwise("arith.subf", np.subtract)
elementwise("arith.mulf", np.multiply)
elementwise("arith.divf", np.divide)
elementwise("tt.precise_divf", np.divide)


def _sign_flipped(x: np.ndarray) -> np.ndarray:
    bits = bits_of(x)
    return (bits ^ np.iinfo(bits.dtype).min).view(x.dtype)


elementwise("arith.negf", _sign_flipped)


def _remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.itemsize >= 4:
        return np.fmod(x, y)
    return np.fmod(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)


elementwise("arith.remf", _remainder)


def _nan(x: np.ndarray) -> np.ndarray:
    return x != x


# A NaN operand yields the other one, or NaN, by the operation's name.
elementwise(
    "arith.minnumf", lambda x, y: np.where(_nan(x), y, np.where(_nan(y) | _less(x, y), x, y))
)
elementwise(
    "arith.maxnumf", lambda x, y: np.where(_nan(x), y, np.where(_nan(y) | _less(y, x), x, y))
)
elementwise("arith.minimumf", lambda x, y: np.where(_nan(x) | (~_nan(y) & _less(x, y)), x, y))
elementwise("arith.maximumf", lambda x, y: np.where(_nan(x) | (~_nan(y) & _less(y, x)), x, y))


def _less(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether x comes before y, where -0 comes before +0."""
    return (x < y) | ((x == y) & (bits_of(x) < 0) & (bits_of(y) >= 0))


@operation("tt.clampf")
def _clamp(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    x, low, high = operands
    propagate = attributes["propagateNan"] != 0
    below, above = (
        ("arith.maximumf", "arith.minimumf") if propagate else ("arith.maxnumf", "arith.minnumf")
    )
    return b.create_one(above, (b.create_one(below, (x, low)), high))


_ORDERED = {2: np.less, 3: np.less_equal, 4: np.greater, 5: np.greater_equal}
_INTEGER = {0: np.equal, 1: np.not_equal, **_ORDERED}
_FLOATING = {
    1: np.equal, 2: np.greater, 3: np.greater_equal, 4: np.less, 5: np.less_equal,
    13: np.not_equal,
}  # fmt: skip


@operation("arith.cmpi")
def _compare_integers(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    x, y = operands
    predicate = attributes["predicate"]
    if predicate > 5:
        return _INTEGER[predicate - 4](unsigned(x), unsigned(y))
    return _INTEGER[predicate](x, y)


@operation("arith.cmpf")
def _compare_floats(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return _FLOATING[attributes["predicate"]](*operands)


elementwise("arith.select", np.where)

# Conversions.


@operation("arith.extsi", "arith.trunci")
def _resize(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    (x,) = operands
    target = element_of(types[0])
    if target == np.bool_:
        return (x & 1).astype(np.bool_)
    return -x.astype(target) if _is_bool(x) else x.astype(target)


@operation("arith.extui")
def _extend_unsigned(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return unsigned(operands[0]).astype(element_of(types[0]))


@operation("arith.sitofp")
def _from_signed(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return integer_to_float(operands[0], element_of(types[0]))


@operation("arith.uitofp")
def _from_unsigned(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return integer_to_float(unsigned(operands[0]), element_of(types[0]))


@operation("arith.fptosi")
def _to_signed(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return float_to_integer(operands[0], element_of(types[0]))


@operation("arith.fptoui")
def _to_unsigned(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    target = element_of(types[0])
    return float_to_integer(operands[0], UNSIGNED[target]).view(target)


@operation("arith.extf", "arith.truncf", "tt.fp_to_fp")
def _between_floats(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    toward_zero = attributes is not None and attributes.get("rounding") == 0
    return round_to(operands[0], element_of(types[0]), toward_zero)


@operation("tt.bitcast")
def _bitcast(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return operands[0].view(element_of(types[0]))


elementwise("tt.ptr_to_int", lambda x: x)
elementwise("tt.int_to_ptr", lambda x: x)


@operation("tt.addptr")
def _move_pointer(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    pointer, offset = operands
    return pointer + offset.astype(np.int64) * types[0].scalar.element_ty.itemsize
