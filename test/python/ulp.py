"""Comparison of floats in units of the last place."""

from __future__ import annotations

import numpy as np


def ulps(actual: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How far results are from exact ones (of a wider type), in the spacing of
    the results' type. NaN for NaN, equal infinities and overflow that is due
    are no distance."""
    kind = actual.dtype.type
    info = np.finfo(kind)
    with np.errstate(all="ignore"):
        rounded = exact.astype(kind)
        wide, result = exact.astype(np.longdouble), actual.astype(np.longdouble)
        spacing = np.spacing(np.abs(rounded)).astype(np.longdouble)
        # An infinity stands for the number that would follow the largest.
        last = np.longdouble(info.max) - np.longdouble(np.nextafter(info.max, kind(0)))
        spacing = np.where(np.abs(rounded) < info.max, spacing, last)
        beyond = np.longdouble(info.max) + last
        result = np.where(np.isinf(result), np.copysign(beyond, result), result)
        wide = np.where(np.isinf(rounded), np.copysign(beyond, wide), wide)
        distance = np.abs(result - wide) / spacing
    distance = np.where(np.isnan(actual) & np.isnan(rounded), 0, distance)
    return np.where(np.isnan(distance), np.inf, distance)


def check_ulps(actual: np.ndarray, exact: np.ndarray, limit: float, *inputs: np.ndarray) -> None:
    """Fails if a result is further than `limit` from the exact one, saying where."""
    distance = ulps(actual, exact)
    worst = int(np.argmax(distance))
    if distance.flat[worst] > limit:
        at = ", ".join(repr(x.flat[worst]) for x in inputs)
        raise AssertionError(
            f"{distance.flat[worst]:.3g} ulp (allowed: {limit}) at ({at}): got "
            f"{actual.flat[worst]!r}, expected {exact.flat[worst]!r}; "
            f"{np.count_nonzero(distance > limit)} of {distance.size} are off"
        )
