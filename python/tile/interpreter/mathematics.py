"""Mathematical functions: computed in double precision, then rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from .numbers import bits_of, round_to, round_to_odd
from .registry import elementwise


def in_double(fn: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The function, on the operands as float64, rounded to their type."""

    def rounded(*operands: np.ndarray) -> np.ndarray:
        return round_to(
            np.asarray(fn(*[x.astype(np.float64) for x in operands])), operands[0].dtype
        )

    return rounded


def from_python(fn: Callable[..., float]) -> Callable[..., np.ndarray]:
    """A function of Python floats, element by element; NaN where it is undefined."""

    def total(*values: float) -> float:
        try:
            return fn(*values)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    vectorized = np.frompyfunc(total, fn.__code__.co_argcount if hasattr(fn, "__code__") else 1, 1)
    return lambda *operands: np.asarray(vectorized(*operands), np.float64)


erf = from_python(math.erf)
for _name, _fn in {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "cos": np.cos, "sin": np.sin,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "erf": erf, "floor": np.floor,
    "ceil": np.ceil, "powf": np.power,
}.items():  # fmt: skip
    elementwise(f"math.{_name}", in_double(_fn))
elementwise("tt.precise_sqrt", np.sqrt)
elementwise("math.absi", np.abs)


def _absolute(x: np.ndarray) -> np.ndarray:
    bits = bits_of(x)
    return (bits & np.iinfo(bits.dtype).max).view(x.dtype)


elementwise("math.absf", _absolute)


def _exact_fma(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z  # For the sign of zero.
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def fma(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """x * y + z, rounded once."""
    if x.dtype == np.float64:
        return np.asarray(from_python(_exact_fma)(x, y, z))
    # x * y is exact in float64; the sum is, together with its error.
    product, addend = x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64)
    total = np.asarray(product + addend)
    part = total - product
    error = (product - (total - part)) + (addend - part)
    return round_to(round_to_odd(total, error, total), x.dtype)


elementwise("math.fma", fma)
