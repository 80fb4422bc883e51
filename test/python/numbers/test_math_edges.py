"""Mathematical functions at the edges of their types: NaN, infinities, zeros, denormals."""

from __future__ import annotations

import math

import numpy as np
import operators
import pytest
from ulp import check_ulps

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

N = 128
Wide = np.longdouble
KINDS = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}


@tile.jit
def unary_kernel(x_ptr, out_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, F(tl.load(x_ptr + i)))


@tile.jit
def binary_kernel(x_ptr, y_ptr, out_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, F(tl.load(x_ptr + i), tl.load(y_ptr + i)))


def unary(op, x: np.ndarray) -> np.ndarray:
    out = np.full(x.size, 77, x.dtype)
    unary_kernel[(1,)](x, out, F=op, N=x.size)
    return out


def binary(op, x: np.ndarray, y: np.ndarray, out: type | None = None) -> np.ndarray:
    result = np.full(x.size, 77, out or x.dtype)
    binary_kernel[(1,)](x, y, result, F=op, N=x.size)
    return result


def edges(kind: type, seed: int = 0) -> np.ndarray:
    """What functions stumble over, and numbers of every size."""
    info, generator = np.finfo(kind), np.random.default_rng(seed)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, info.max, -info.max, info.tiny]
    special += [-info.tiny, info.smallest_subnormal, -info.smallest_subnormal]
    special += [info.tiny / 2, 1 - info.eps, 1 + info.eps, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5]
    with np.errstate(over="ignore", under="ignore"):
        numbers = generator.standard_normal(N) * 10.0 ** generator.uniform(
            *((-6, 4) if kind is np.float16 else (-30, 30)), N
        )
        numbers[: len(special)] = special
        if seed:
            numbers = generator.permutation(numbers)
        return numbers.astype(kind)


def _each(f):
    def apply(v):
        try:
            return f(float(v))
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(apply, otypes=[np.float64])


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


#: name -> (reference, ulp in fp32, ulp in fp64, whether denormals may count as zero in fp32).
FUNCTIONS = {
    "exp": (np.exp, 2, 1, False),
    "exp2": (np.exp2, 2, 1, True),
    "log": (np.log, 1, 1, False),
    "log2": (np.log2, 1, 1, False),
    "sqrt": (np.sqrt, 1, 0.01, False),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2, 1, False),
    "erf": (_each(math.erf), 2, 2, False),
    "floor": (np.floor, 0, 0, False),
    "ceil": (np.ceil, 0, 0, False),
    "abs": (np.abs, 0, 0, False),
    "sqrt_rn": (np.sqrt, 0.5, 0.5, False),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_functions(name, dtype):
    reference, ulp32, ulp64, flushes = FUNCTIONS[name]
    if name == "sqrt_rn" and dtype == "fp64":
        return
    x = edges(KINDS[dtype])
    if name in ("exp", "exp2"):  # The argument's own rounding is in the result.
        x = np.where(np.abs(x) > 20, np.sign(x) * 20 * (np.abs(x) % 7), x).astype(x.dtype)
    with np.errstate(all="ignore"):
        exact = np.asarray(reference(x.astype(Wide)))
    out = unary(getattr(tl, name), x)
    if name == "exp" and dtype == "fp32":
        # x log2(e) is rounded, so the error grows with x: 2 + |x| ulp.
        near = np.abs(x) < 2
        check_ulps(out[near], exact[near], 3, x[near])
        np.testing.assert_allclose(out, exact.astype(np.float32), 2e-5, 1e-44)
        return
    if flushes and dtype == "fp32":
        small = np.abs(exact) < np.finfo(np.float32).tiny
        assert (np.abs(out[small].astype(Wide) - exact[small]) <= np.abs(exact[small])).all()
        out, exact, x = out[~small], exact[~small], x[~small]
    limit = ulp32 if dtype == "fp32" else ulp64
    check_ulps(out, exact, limit + (0.5 if limit else 0), x)
    zero = (exact == 0) & (name not in ("log", "log2"))
    np.testing.assert_array_equal(np.signbit(out[zero]), np.signbit(exact[zero]))


@pytest.mark.parametrize("name", ["sin", "cos"])
@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_periodic_functions(name, dtype):
    kind = KINDS[dtype]
    x = np.concatenate([edges(kind)[:22], np.linspace(-1e4, 1e4, N - 22)]).astype(kind)
    x[np.abs(x) > 1e18] = 0.75
    x[:4] = 1e5, -2.5e5, np.inf, np.nan
    out = unary(getattr(tl, name), x)
    with np.errstate(invalid="ignore"):
        check_ulps(out, getattr(np, name)(x.astype(Wide)), 2.5, x)


def test_exponentials_and_denormals():
    x = np.array([-87, -88, -90, -95, -100, -103, -104, -200], np.float32)
    exact = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(unary(tl.exp, x), exact, 1e-4, 3e-45)
    out = unary(tl.exp2, np.array([-125, -126, -126.5, -127, -149, -150, 127, 128], np.float32))
    np.testing.assert_array_equal(out[[0, 1, 6, 7]], np.float32([2**-125, 2**-126, 2**127, np.inf]))
    assert (out[2:6] <= 2.0**-126).all()


@tile.jit
def _minimum_nan(x, y):
    return tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)


@tile.jit
def _maximum_nan(x, y):
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


ARITHMETIC = {
    "add": (operators.add, np.add),
    "sub": (operators.sub, np.subtract),
    "mul": (operators.mul, np.multiply),
    "minimum": (tl.minimum, np.fmin), "maximum": (tl.maximum, np.fmax),
    "minimum_nan": (_minimum_nan, np.minimum), "maximum_nan": (_maximum_nan, np.maximum),
    "div_rn": (tl.div_rn, np.divide),
}  # fmt: skip


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("dtype", KINDS)
def test_arithmetic_is_exact(name, dtype):
    if name == "div_rn" and dtype != "fp32":
        return
    op, reference = ARITHMETIC[name]
    x, y = edges(KINDS[dtype]), edges(KINDS[dtype], 1)
    y[::9] = x[::9]
    with np.errstate(all="ignore"):
        expected = reference(x, y)
    np.testing.assert_array_equal(binary(op, x, y), expected)


@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_division(dtype):
    kind = KINDS[dtype]
    x, y = edges(kind), edges(kind, 1)
    with np.errstate(all="ignore"):
        exact = x.astype(Wide) / y.astype(Wide)
        # Where the machine's full-range quotient is good to 2 ulp.
        size = np.abs(y.astype(Wide))
        fine = (size >= 2.0**-126) & (size <= 2.0**126) | ~np.isfinite(size) | (size == 0)
        fine &= (np.abs(exact) >= np.finfo(kind).tiny) | ~np.isfinite(exact) | (exact == 0)
    if dtype == "fp64":
        fine[:] = True
    for op in (operators.div, tl.fdiv):
        out = binary(op, x, y)
        check_ulps(out[fine], exact[fine], 2.5 if dtype == "fp32" else 0.5, x[fine], y[fine])


@tile.jit
def _mod(x, y):
    return x % y


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("spread", [3, 24, 200])
def test_remainders(dtype, spread):
    """Remainders are exact, however large the quotient is."""
    kind = KINDS[dtype]
    spread = min(spread, np.finfo(kind).maxexp - 8)
    generator = np.random.default_rng(spread)
    sign = generator.choice([-1, 1], (2, N))
    x, y = (sign * generator.uniform(0.5, 9, (2, N))).astype(kind)
    x *= (2.0 ** generator.integers(0, spread, N)).astype(kind)
    x[4:9] = y[4:9] * kind(3)
    y[0], y[1], x[2], x[3], x[9], x[10] = np.inf, 0, np.nan, 0, np.inf, -0.0
    x[11] = y[11]
    out = binary(_mod, x, y)
    with np.errstate(invalid="ignore"):
        expected = np.fmod(x, y)
    np.testing.assert_array_equal(out, expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(out)[number], np.signbit(expected)[number])


@tile.jit
def clamp_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.clamp(x, -1.5, 2.0))
    tl.store(out_ptr + N + i, tl.clamp(x, -1.5, 2.0, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out_ptr + 2 * N + i, -x)
    tl.store(out_ptr + 3 * N + i, tl.fma(x, x, -x))
    tl.store(out_ptr + 4 * N + i, tl.where(x > 0, x, -x))
    tl.store(out_ptr + 5 * N + i, tl.where(x != x, 0.0, x))


@pytest.mark.parametrize("dtype", KINDS)
def test_choices(dtype):
    x = edges(KINDS[dtype])
    out = np.zeros((6, N), KINDS[dtype])
    clamp_kernel[(1,)](x, out, N=N)
    with np.errstate(all="ignore"):
        low, high = KINDS[dtype](-1.5), KINDS[dtype](2)
        np.testing.assert_array_equal(out[0], np.fmin(np.fmax(x, low), high))
        np.testing.assert_array_equal(out[1], np.clip(x, low, high))
        np.testing.assert_array_equal(out[2], -x)
        number = ~np.isnan(x)
        np.testing.assert_array_equal(np.signbit(out[2])[number], ~np.signbit(x)[number])
        exact = x.astype(Wide) * x.astype(Wide) - x.astype(Wide)
        check_ulps(out[3], exact, 0.51 if dtype != "fp64" else 1.01, x)
        np.testing.assert_array_equal(out[4], np.where(x > 0, x, -x))
        np.testing.assert_array_equal(out[5], np.where(np.isnan(x), 0, x))


@tile.jit
def compare_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, x < y)
    tl.store(out_ptr + N + i, x <= y)
    tl.store(out_ptr + 2 * N + i, x > y)
    tl.store(out_ptr + 3 * N + i, x >= y)
    tl.store(out_ptr + 4 * N + i, x == y)
    tl.store(out_ptr + 5 * N + i, x != y)
    tl.store(out_ptr + 6 * N + i, not (x < y))
    tl.store(out_ptr + 7 * N + i, (x < y) or (x == y))
    tl.store(out_ptr + 8 * N + i, x.to(tl.int1))


@pytest.mark.parametrize("dtype", KINDS)
def test_comparisons_with_nan_and_zeros(dtype):
    x, y = edges(KINDS[dtype]), edges(KINDS[dtype], 1)
    y[::3] = x[::3]
    out = np.full((9, N), 7, np.int8)
    compare_kernel[(1,)](x, y, out, N=N)
    with np.errstate(invalid="ignore"):
        expected = [x < y, x <= y, x > y, x >= y, x == y, x != y, ~(x < y)]
        expected += [(x < y) | (x == y), x != 0]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_sigmoid_and_softmax(dtype):
    x = np.array([0, 1, -1, 30, -30, 90, -90, np.inf], KINDS[dtype])
    out = unary(tl.sigmoid, x)
    np.testing.assert_allclose(out, _sigmoid(x.astype(np.float64)), 3e-6, 1e-37)
    x = np.random.default_rng(3).standard_normal(N).astype(KINDS[dtype]) * 10
    e = np.exp(x.astype(np.float64) - x.max())
    np.testing.assert_allclose(unary(tl.softmax, x), e / e.sum(), 1e-5)
