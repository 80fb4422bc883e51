"""Special functions, in extended precision: by their integrals and by
Newton's method. Slow and accurate, as a reference may be."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

Wide = np.longdouble
PI = Wide("3.14159265358979323846264338327950288")
_SQRT2 = np.sqrt(Wide(2))


@functools.cache
def _gauss(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss' quadrature on [-1, 1]."""
    x = np.polynomial.legendre.leggauss(n)[0].astype(Wide)
    slope = x
    for _ in range(2):  # NumPy's nodes have 53 bits; Newton's method adds the rest.
        last, value = np.ones_like(x), x
        for k in range(2, n + 1):
            last, value = value, ((2 * k - 1) * x * value - (k - 1) * last) / k
        slope = n * (x * value - last) / (x * x - 1)
        x = x - value / slope
    return x, 2 / ((1 - x * x) * slope * slope)


def integral(f: Callable[[np.ndarray], np.ndarray], low: Any, high: Any, pieces: int) -> np.ndarray:
    """The integral of a smooth function, which takes a column of places."""
    nodes, weights = _gauss(32)
    edges = np.linspace(Wide(low), Wide(high), pieces + 1)
    half = (edges[1:] - edges[:-1]) / 2
    places = (edges[:-1] + half)[:, None] + half[:, None] * nodes
    return (f(places.reshape(-1, 1)) * np.outer(half, weights).reshape(-1, 1)).sum(0)


def _over_flat(fn: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """For functions of flat arrays of finite numbers: NaN elsewhere."""

    def call(x: np.ndarray) -> np.ndarray:
        flat = np.asarray(x, Wide).reshape(-1)
        good = np.isfinite(flat)
        result = np.full(flat.shape, np.nan, Wide)
        if good.any():
            result[good] = fn(flat[good])
        return result.reshape(np.shape(x))

    return call


def _pieces(x: np.ndarray) -> int:
    """More pieces for integrands that oscillate more."""
    return 24 + int(min(np.abs(x).max(), 1e4) / 8)


def bessel_j(n: int) -> Callable[[np.ndarray], np.ndarray]:
    return _over_flat(
        lambda x: integral(lambda t: np.cos(n * t - x * np.sin(t)), 0, PI, _pieces(x)) / PI
    )


def bessel_i(n: int) -> Callable[[np.ndarray], np.ndarray]:
    return _over_flat(
        lambda x: integral(lambda t: np.exp(x * np.cos(t)) * np.cos(n * t), 0, PI, _pieces(x)) / PI
    )


def bessel_y(n: int) -> Callable[[np.ndarray], np.ndarray]:
    def positive(x: np.ndarray) -> np.ndarray:
        good = x > 0
        result = np.where(x == 0, -np.inf, np.nan).astype(Wide)
        if not good.any():
            return result
        x = x[good]
        near = integral(lambda t: np.sin(x * np.sin(t) - n * t), 0, PI, _pieces(x))
        # The integrand falls as exp(-x sinh t): far enough for the smallest x.
        end = np.arcsinh(60 / x.min()) + n
        both = integral(
            lambda t: (np.exp(n * t) + (-1) ** n * np.exp(-n * t)) * np.exp(-x * np.sinh(t)),
            0, end, 24 + int(end),
        )  # fmt: skip
        result[good] = (near - both) / PI
        return result

    return _over_flat(positive)


def each(fn: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    """A function of Python floats; NaN where it is undefined, infinite at poles."""

    def one(x: float) -> float:
        try:
            return fn(float(x))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    vectorized = np.frompyfunc(one, 1, 1)
    return lambda x: np.asarray(vectorized(x)).astype(Wide)


def _gamma(x: float) -> float:
    return math.copysign(math.inf, x) if x == 0 else math.gamma(x)


def _log_gamma(x: float) -> float:
    pole = x == -math.inf or (x <= 0 and x == math.floor(x))
    return math.inf if pole else math.lgamma(x)


gamma, log_gamma, erf, erfc = each(_gamma), each(_log_gamma), each(math.erf), each(math.erfc)


@_over_flat
def _erfcx_finite(x: np.ndarray) -> np.ndarray:
    result = np.exp(x * x) * erfc(x)  # Exact enough where erfc is not small.
    large = x > 0.1
    if large.any():
        v = x[large]
        tail = integral(lambda t: np.exp(-t * t - 2 * v * t), 0, 9, 24)
        result[large] = np.where(v > 1e3, 1 / (v * np.sqrt(PI)), tail * 2 / np.sqrt(PI))
    return result


def erfcx(x: np.ndarray) -> np.ndarray:
    return np.where(x == np.inf, 0, np.where(x == -np.inf, np.inf, _erfcx_finite(x)))


def _quantile(p: float) -> float:
    if p in (0.0, 1.0):
        return math.inf if p else -math.inf
    return NormalDist().inv_cdf(p) if 0 < p < 1 else math.nan


def normal_cdf(x: np.ndarray) -> np.ndarray:
    return erfc(-x / _SQRT2) / 2


def _polished(start: np.ndarray, error: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Newton's method on the normal distribution."""
    for _ in range(2):
        density = np.exp(-start * start / 2) / np.sqrt(2 * PI)
        step = error(start) / density
        start = np.where(np.isfinite(step) & np.isfinite(start), start - step, start)
    return start


def normal_quantile(p: np.ndarray) -> np.ndarray:
    return _polished(each(_quantile)(p), lambda x: normal_cdf(x) - p)


def erf_inverse(x: np.ndarray) -> np.ndarray:
    # In terms of the smaller tail, which has the digits.
    start = each(_quantile)((1 + x) / 2)
    return _polished(start, lambda z: (erf(z / _SQRT2) - x) / 2) / _SQRT2


def erfc_inverse(x: np.ndarray) -> np.ndarray:
    return -_polished(each(_quantile)(x / 2), lambda z: normal_cdf(z) - x / 2) / _SQRT2
