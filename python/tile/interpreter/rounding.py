"""Arithmetic on floats that is rounded in a direction, by exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

MODES = ("rn", "rz", "ru", "rd")


def round_fraction(exact: Fraction, mode: str, kind: Any) -> Any:
    """An exact number in the type, rounded as `mode` says."""
    largest = kind(np.finfo(kind).max)
    try:
        near = kind(exact.numerator / exact.denominator)
    except OverflowError:
        near = kind(math.inf if exact > 0 else -math.inf)
    if np.isinf(near):
        below, above = (largest, near) if near > 0 else (near, -largest)
    else:
        value = Fraction(float(near))
        down, up = np.nextafter(near, kind(-math.inf)), np.nextafter(near, kind(math.inf))
        below = near if value <= exact else down
        above = near if value >= exact else up
    if mode == "rd":
        return below
    if mode == "ru":
        return above
    if mode == "rz":
        return below if exact > 0 else above
    if below == above or np.isinf(below) or np.isinf(above):
        return near
    low, high = exact - Fraction(float(below)), Fraction(float(above)) - exact
    if low != high:
        return below if low < high else above
    bits = np.asarray(below).view(f"int{8 * below.itemsize}")
    return below if bits & 1 == 0 else above


def _square_root(x: Fraction) -> Fraction:
    """The root, or a number that rounds as the root does."""
    shift = max(0, 160 - x.numerator.bit_length() + x.denominator.bit_length()) // 2
    scaled = (x.numerator << (2 * shift)) // x.denominator
    root = math.isqrt(scaled)
    value = Fraction(root, 1 << shift)
    # Between two neighbours of many bits: any number between them does.
    return value if value * value == x else Fraction(2 * root + 1, 1 << (shift + 1))


_EXACT: dict[str, tuple[Callable[..., Fraction], Callable[..., Any]]] = {
    "add": (lambda x, y: x + y, np.add),
    "sub": (lambda x, y: x - y, np.subtract),
    "mul": (lambda x, y: x * y, np.multiply),
    "div": (lambda x, y: x / y, np.divide),
    "rcp": (lambda x: 1 / x, np.reciprocal),
    "sqrt": (_square_root, np.sqrt),
    "rsqrt": (lambda x: 1 / _square_root(x), lambda x: 1 / np.sqrt(x)),
    "fma": (lambda x, y, z: x * y + z, lambda x, y, z: x * y + z),
    "convert": (lambda x: x, lambda x: x),
}


def rounded(name: str, mode: str) -> Callable[..., np.ndarray]:
    """The arithmetic of a name, on arrays, rounded as `mode` says."""
    exactly, plainly = _EXACT[name]

    def compute(*operands: np.ndarray, kind: Any = None) -> np.ndarray:
        kind = kind or operands[0].dtype.type

        def one(*values: Any) -> Any:
            plain = kind(plainly(*values))
            integers = isinstance(values[0], (int, np.integer))
            numbers = [int(v) if integers else float(v) for v in values]
            if not all(map(math.isfinite, numbers)):
                return plain
            try:
                exact = exactly(*map(Fraction, numbers))
            except (ZeroDivisionError, ValueError):
                return plain  # An infinity, or NaN.
            return plain if exact == 0 else round_fraction(exact, mode, kind)

        shape = np.broadcast_shapes(*[x.shape for x in operands])
        flat = [np.broadcast_to(x, shape).reshape(-1) for x in operands]
        return np.array([one(*v) for v in zip(*flat, strict=True)], kind).reshape(shape)

    return compute
