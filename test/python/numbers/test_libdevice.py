"""Every function of the device library, executed and compared with references.

The limits, in units of the last place, are those that NVIDIA documents, plus a half for the
rounding of references. fast_* functions are compared where they are meant to be used.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from device_library import INTEGERS, KINDS, MODES, N, Wide, inputs, rounded, run
from reference import poisoned
from ulp import check_ulps

import tile
import tile.language as tl
from tile.language.extra import cuda, libdevice

pytestmark = pytest.mark.both_ways

PI = 4 * np.arctan(Wide(1))


def _gauss(n):
    """Nodes and weights of Gauss' quadrature, in the wide type."""
    x = np.polynomial.legendre.leggauss(n)[0].astype(Wide)
    for _ in range(2):  # Newton's method: NumPy's nodes have 53 bits.
        last, value = np.ones_like(x), x
        for k in range(2, n + 1):
            last, value = value, ((2 * k - 1) * x * value - (k - 1) * last) / k
        slope = n * (x * value - last) / (x * x - 1)
        x = x - value / slope
    return x, 2 / ((1 - x * x) * slope * slope)


def _quadrature(f, low, high, pieces=24):
    """The integral of a smooth function."""
    nodes, weights = _gauss(32)
    edges = np.linspace(Wide(low), Wide(high), pieces + 1)
    half = (edges[1:] - edges[:-1]) / 2
    t = (edges[:-1] + half)[:, None] + half[:, None] * nodes
    return (f(t.ravel()[:, None]) * np.outer(half, weights).ravel()[:, None]).sum(0)


def _bessel_j(n, x):
    x = x.astype(Wide)
    return _quadrature(lambda t: np.cos(n * t - x * np.sin(t)), 0, PI) / PI


def _bessel_y(n, x):
    x = x.astype(Wide)
    near = _quadrature(lambda t: np.sin(x * np.sin(t) - n * t), 0, PI)
    far = _quadrature(
        lambda t: (np.exp(n * t) + (-1) ** n * np.exp(-n * t)) * np.exp(-x * np.sinh(t)), 0, 8
    )
    return (near - far) / PI


def _bessel_i(n, x):
    x = x.astype(Wide)
    return _quadrature(lambda t: np.exp(x * np.cos(t)) * np.cos(n * t), 0, PI) / PI


def _erfcx(x):
    """exp(x^2) erfc(x), by its integral."""
    x = x.astype(Wide)
    return _quadrature(lambda t: np.exp(-t * t - 2 * x * t), 0, 9) * 2 / np.sqrt(PI)


def _each(f):
    return np.vectorize(lambda v: f(float(v)), otypes=[np.float64])


_quantile = _each(NormalDist().inv_cdf)
_SQRT2 = math.sqrt(2)

#: name -> (reference, lowest and highest input, ulp on fp32, ulp on fp64).
UNARY = {
    "acos": (np.arccos, -1, 1, 2, 2),
    "acosh": (np.arccosh, 1, 1e6, 4, 3),
    "asin": (np.arcsin, -1, 1, 2, 2),
    "asinh": (np.arcsinh, -1e6, 1e6, 3, 3),
    "atan": (np.arctan, -1e6, 1e6, 2, 2),
    "atanh": (np.arctanh, -0.99, 0.99, 3, 2),
    "cbrt": (np.cbrt, -1e9, 1e9, 1, 1),
    "ceil": (np.ceil, -1e5, 1e5, 0, 0),
    "cos": (np.cos, -1e5, 1e5, 2, 2),
    "cosh": (np.cosh, -80, 80, 2, 1),
    "cyl_bessel_i0": (lambda x: _bessel_i(0, x), -8, 8, 6, 6),
    "cyl_bessel_i1": (lambda x: _bessel_i(1, x), 0.5, 8, 6, 6),
    "erf": (_each(math.erf), -6, 6, 2, 2),
    "erfc": (_each(math.erfc), -4, 9, 4, 5),
    "erfcinv": (lambda x: -_quantile(x / 2) / _SQRT2, 1e-3, 0.6, 4, 6),
    "erfcx": (_erfcx, 0.1, 9, 4, 4),
    "erfinv": (lambda x: _quantile((1 + x) / 2) / _SQRT2, 0.3, 0.98, 2, 8),
    "exp": (np.exp, -90, 88, 2, 1),
    "exp10": (lambda x: Wide(10) ** x, -40, 38, 2, 1),
    "exp2": (np.exp2, -140, 127, 2, 1),
    "expm1": (np.expm1, -10, 80, 1, 1),
    "floor": (np.floor, -1e5, 1e5, 0, 0),
    "j0": (lambda x: _bessel_j(0, x), -2, 2, 9, 7),
    "j1": (lambda x: _bessel_j(1, x), 0.5, 3, 9, 7),
    "lgamma": (_each(math.lgamma), 3, 1e6, 6, 8),
    "log": (np.log, 1e-40, 1e38, 1, 1),
    "log10": (np.log10, 1e-40, 1e38, 2, 1),
    "log1p": (np.log1p, -0.99, 1e6, 1, 1),
    "log2": (np.log2, 1e-40, 1e38, 1, 1),
    "nearbyint": (np.rint, -1e3, 1e3, 0, 0),
    "normcdf": (_each(lambda v: math.erfc(-v / _SQRT2) / 2), -1, 5, 5, 7),
    "normcdfinv": (_quantile, 1e-3, 0.4, 5, 8),
    "rcbrt": (lambda x: 1 / np.cbrt(x), -1e9, 1e9, 1, 1),
    "rint": (np.rint, -1e3, 1e3, 0, 0),
    "round": (lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), -1e3, 1e3, 0, 0),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1e-30, 1e30, 2, 1),
    "sin": (np.sin, -1e5, 1e5, 2, 2),
    "sinh": (np.sinh, -80, 80, 3, 2),
    "sqrt": (np.sqrt, 0, 1e30, 1, 0.5),
    "tan": (np.tan, -1e3, 1e3, 4, 2),
    "tanh": (np.tanh, -20, 20, 2, 2),
    "tgamma": (_each(math.gamma), 0.5, 30, 5, 10),
    "trunc": (np.trunc, -1e5, 1e5, 0, 0),
    "y0": (lambda x: _bessel_y(0, x), 1.5, 3, 9, 7),
    "y1": (lambda x: _bessel_y(1, x), 0.7, 1.9, 9, 7),
    "logb": (lambda x: np.frexp(x)[1] - 1.0, 1e-30, 1e30, 0, 0),
}
# Of pi times x: the reference needs the exact fraction of x.
UNARY["cospi"] = (lambda x: np.cos((x % 2) * PI), -0.4, 0.4, 2, 2)
UNARY["sinpi"] = (lambda x: np.sin((x % 2) * PI), -0.5, 0.5, 2, 2)


@pytest.mark.sweep
@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", KINDS)
def test_unary(name, dtype):
    reference, low, high, ulp32, ulp64 = UNARY[name]
    x = inputs(low, high, KINDS[dtype])
    out = run(name, x, out=KINDS[dtype])
    exact = reference(x.astype(Wide))
    limit = ulp32 if dtype == "fp32" else ulp64
    check_ulps(out, exact, limit + 0.5 if limit else 0, x)


def _fdim(x, y):
    return np.where(x > y, x - y, 0)


def _remainder(x, y):
    return np.vectorize(lambda a, b: math.remainder(float(a), float(b)), otypes=[np.float64])(x, y)


def _nextafter(x, y):
    return x


BINARY = {
    "atan2": (np.arctan2, 3, 2),
    "copysign": (np.copysign, 0, 0),
    "fdim": (_fdim, 0.5, 0.5),
    "fmod": (np.fmod, 0, 0),
    "hypot": (np.hypot, 3, 2),
    "remainder": (_remainder, 0, 0),
    "rhypot": (lambda x, y: 1 / np.hypot(x, y), 2, 1),
    "pow": (lambda x, y: np.power(np.abs(x), y), 4, 2),
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", KINDS)
def test_binary(name, dtype):
    reference, ulp32, ulp64 = BINARY[name]
    kind = KINDS[dtype]
    x, y = inputs(-9, 9, kind, 1), inputs(-9, 9, kind, 2)
    if name == "pow":
        x = np.abs(x)
    out = run(name, x, y, out=kind)
    check_ulps(
        out, reference(x.astype(Wide), y.astype(Wide)), ulp32 if kind is np.float32 else ulp64, x, y
    )


@pytest.mark.parametrize("dtype", KINDS)
def test_integer_operands(dtype):
    kind = KINDS[dtype]
    x = inputs(-3, 3, kind)
    n = (np.arange(N) % 11 - 5).astype(np.int32)
    check_ulps(run("ldexp", x, n, out=kind), np.ldexp(x, n), 0, x, n)
    check_ulps(run("scalbn", x, n, out=kind), np.ldexp(x, n), 0, x, n)
    check_ulps(run("pow", x, n, out=kind), np.power(x.astype(Wide), n), 16, x, n)
    order, x = np.full(N, 2, np.int32), np.abs(x) + kind(1)
    np.testing.assert_allclose(run("jn", order, x, out=kind), _bessel_j(2, x).astype(kind), 2e-6)
    np.testing.assert_allclose(run("yn", order, x, out=kind), _bessel_y(2, x).astype(kind), 2e-5)
    exponent = run("ilogb", x, out=np.int32)
    np.testing.assert_array_equal(exponent, np.frexp(x)[1] - 1)
    for name, expected in {"llrint": np.rint(x), "llround": np.floor(x + kind(0.5))}.items():
        np.testing.assert_array_equal(run(name, x, out=np.int64), expected)


@pytest.mark.parametrize("dtype", KINDS)
def test_several_operands(dtype):
    kind = KINDS[dtype]
    values = [inputs(-9, 9, kind, seed) for seed in range(4)]
    x, y, z, w = (v.astype(Wide) for v in values)
    norm3, norm4 = np.sqrt(x * x + y * y + z * z), np.sqrt(x * x + y * y + z * z + w * w)
    check_ulps(run("norm3d", *values[:3], out=kind), norm3, 3, *values[:3])
    check_ulps(run("rnorm3d", *values[:3], out=kind), 1 / norm3, 3, *values[:3])
    check_ulps(run("norm4d", *values, out=kind), norm4, 3, *values)
    check_ulps(run("rnorm4d", *values, out=kind), 1 / norm4, 3, *values)
    check_ulps(run("fma", *values[:3], out=kind), x * y + z, 0.51, *values[:3])
    near = values[0] + np.spacing(values[0])
    np.testing.assert_array_equal(run("nextafter", values[0], near, out=kind), near)


ROUNDED = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "sqrt": lambda x: np.sqrt(x),
    "rcp": lambda x: 1 / x,
    "fma": lambda x, y, z: x * y + z,
}


@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_arithmetic(name):
    reference = ROUNDED[name]
    arity = reference.__code__.co_argcount
    generator = np.random.default_rng(3)
    for dtype, kind in KINDS.items():
        # Few bits on fp64, so that exact results fit into the reference's type.
        values = [
            (generator.integers(1, 1 << 22, N) / 64).astype(kind)
            * generator.choice([1, -1] if name != "sqrt" else [1], N).astype(kind)
            for _ in range(arity)
        ]
        if dtype == "fp64" and name in ("add", "sub", "fma"):
            values[-1] = (values[-1] * 2.0**-32).astype(kind)
        exact = reference(*(v.astype(Wide) for v in values))
        for mode in MODES:
            out = run(f"{name}_{mode}", *values, out=kind)
            np.testing.assert_array_equal(out, rounded(exact, kind, mode), f"{dtype} {mode}")


def test_reciprocal_square_root():
    x = inputs(1e-30, 1e30, np.float32)
    exact = 1 / np.sqrt(x.astype(Wide))
    np.testing.assert_array_equal(run("rsqrt_rn", x, out=np.float32), exact.astype(np.float32))


FAST = {
    "fast_cosf": (np.cos, -3, 3), "fast_exp10f": (lambda x: 10.0**x, -4, 4),
    "fast_expf": (np.exp, -4, 4), "fast_log10f": (np.log10, 0.5, 100),
    "fast_log2f": (np.log2, 0.5, 100), "fast_logf": (np.log, 0.5, 100),
    "fast_sinf": (np.sin, -3, 3), "fast_tanf": (np.tan, -1.4, 1.4),
    "fast_tanhf": (np.tanh, -4, 4),
}  # fmt: skip


@pytest.mark.parametrize("name", FAST)
def test_fast_functions(name):
    reference, low, high = FAST[name]
    x = np.linspace(low, high, N).astype(np.float32)
    out = run(name, x, out=np.float32)
    tolerance = 6e-4 if name == "fast_tanhf" else 2e-6
    np.testing.assert_allclose(out, reference(x.astype(np.float64)), 8 * tolerance, tolerance)


def test_fast_functions_of_two():
    x, y = inputs(0.1, 5, np.float32, 1), inputs(0.1, 5, np.float32, 2)
    x, y = np.abs(x) + np.float32(0.1), np.abs(y) + np.float32(0.1)
    check_ulps(run("fast_dividef", x, y, out=np.float32), x.astype(Wide) / y, 2, x, y)
    power = np.power(x.astype(np.float64), y)
    np.testing.assert_allclose(run("fast_powf", x, y, out=np.float32), power, 1e-5)


#: x -> f(x) where C's standard fixes the result.
EDGES = {
    "exp": {np.inf: np.inf, -np.inf: 0.0, np.nan: np.nan, 0.0: 1.0},
    "log": {0.0: -np.inf, -1.0: np.nan, np.inf: np.inf, np.nan: np.nan, 1.0: 0.0},
    "sqrt": {-0.0: -0.0, -1.0: np.nan, np.inf: np.inf, np.nan: np.nan},
    "sin": {np.inf: np.nan, -0.0: -0.0, np.nan: np.nan},
    "tanh": {np.inf: 1.0, -np.inf: -1.0, -0.0: -0.0, np.nan: np.nan},
    "atan": {np.inf: np.pi / 2, -0.0: -0.0},
    "atanh": {1.0: np.inf, -1.0: -np.inf, 2.0: np.nan},
    "erf": {np.inf: 1.0, -np.inf: -1.0, np.nan: np.nan},
    "tgamma": {0.0: np.inf, -1.0: np.nan, np.inf: np.inf},
    "lgamma": {0.0: np.inf, -2.0: np.inf, np.inf: np.inf, 1.0: 0.0},
    "cbrt": {-np.inf: -np.inf, -0.0: -0.0, -8.0: -2.0},
    "logb": {0.0: -np.inf, np.inf: np.inf},
    "round": {0.5: 1.0, -2.5: -3.0, np.inf: np.inf, -0.0: -0.0},
    "rint": {0.5: 0.0, 2.5: 2.0, -0.0: -0.0},
    "trunc": {-0.5: -0.0, np.inf: np.inf},
    "erfinv": {1.0: np.inf, -1.0: -np.inf, 2.0: np.nan},
    "normcdfinv": {0.0: -np.inf, 1.0: np.inf, 0.5: 0.0},
    "y0": {0.0: -np.inf, -1.0: np.nan},
}


@pytest.mark.parametrize("name", EDGES)
def test_edges(name):
    for kind in KINDS.values():
        x = np.resize(np.array(list(EDGES[name])), 8).astype(kind)
        expected = np.resize(np.array(list(EDGES[name].values())), 8).astype(kind)
        out = run(name, x, out=kind)
        np.testing.assert_allclose(out, expected, 1e-6, err_msg=f"{name}({x})")
        same = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(out[same]), np.signbit(expected[same]))


def test_every_function_is_tested():
    conversions = [f"{s}2{t}_{m}" for s in ("float", "double") for t in INTEGERS for m in MODES]
    conversions += [f"{s}2{t}_{m}" for s in INTEGERS for t in ("float", "double") for m in MODES]
    conversions += [f"double2float_{m}" for m in MODES]
    others = """
    ldexp scalbn jn yn ilogb llrint llround norm3d rnorm3d norm4d rnorm4d fma nextafter rsqrt_rn
    float_as_int float_as_uint int_as_float uint_as_float double_as_longlong longlong_as_double
    double2hiint double2loint hiloint2double rcp64h abs clz popc ffs brev mulhi hadd rhadd sad
    mul24 byte_perm isnan isinf finitef isfinited signbit saturatef fast_dividef fast_powf
    """.split()
    rounded = [f"{name}_{mode}" for name in ROUNDED for mode in MODES]
    tested = {*UNARY, *BINARY, *FAST, *conversions, *others, *rounded}
    assert set(libdevice.__all__) <= tested


def test_scalars_constants_and_the_name_under_cuda():
    assert cuda.libdevice is libdevice
    out = poisoned(8, "fp32")
    scalar_kernel[(1,)](out, 3.0)
    expected = [math.exp(3), 3**2.5, 9, 3 % 2, math.hypot(3, 4), 1, 0, 0]
    np.testing.assert_allclose(out, expected, 1e-6)


@tile.jit
def scalar_kernel(out_ptr, x):
    tl.store(out_ptr, libdevice.exp(x))
    tl.store(out_ptr + 1, libdevice.pow(x, 2.5))
    tl.store(out_ptr + 2, libdevice.pow(x, 2))
    tl.store(out_ptr + 3, libdevice.fmod(x, 2))
    tl.store(out_ptr + 4, libdevice.hypot(x, 4.0))
    tl.store(out_ptr + 5, tl.where(libdevice.isnan(x), 0.0, 1.0))
    tl.store(out_ptr + 6, libdevice.isinf(x).to(tl.float32))
    tl.store(out_ptr + 7, libdevice.finitef(x * float("inf")).to(tl.float32))
