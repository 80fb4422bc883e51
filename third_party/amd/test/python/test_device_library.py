"""The device library for AMD GPUs, compiled for the host: how far from exact its functions are."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(__file__).parents[2] / "device/math.c"
CLANG = shutil.which("clang", path="/usr/lib/llvm-22/bin")
pytestmark = [
    pytest.mark.skipif(CLANG is None, reason="needs clang"),
    pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs long doubles of 64 bits"),
]
COUNT = 20000
long = np.longdouble


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("device") / "math.so"
    subprocess.run(
        [CLANG, "-O2", "-fPIC", "-shared", "-ffp-contract=off", "-fno-builtin", SOURCE, "-o", path,
         "-lm"],
        check=True,
    )  # fmt: skip
    return ctypes.CDLL(str(path))


def call(library: ctypes.CDLL, name: str, ty: type, *arguments: np.ndarray) -> np.ndarray:
    """A function on each element."""
    single = ty is np.float32
    function = getattr(library, f"__nv_{name}{'f' if single else ''}")
    number = ctypes.c_float if single else ctypes.c_double
    function.restype, function.argtypes = number, [number] * len(arguments)
    return np.array([function(*map(float, x)) for x in zip(*arguments, strict=True)], ty)


def magnitudes(low: float, high: float, rng: np.random.Generator) -> np.ndarray:
    return np.exp(rng.uniform(math.log(low), math.log(high), COUNT))


def both_signs(low: float, high: float) -> Callable:
    return lambda rng: magnitudes(low, high, rng) * rng.choice([-1.0, 1.0], COUNT)


def positive(low: float, high: float) -> Callable:
    return lambda rng: magnitudes(low, high, rng)


def even(low: float, high: float) -> Callable:
    return lambda rng: rng.uniform(low, high, COUNT)


def arrays(function: Callable) -> Callable:
    return lambda x: np.array([function(v) for v in x.astype(np.float64)], long)


#: name -> the exact function, arguments in fp32, ulps in fp64 (None: no exact one here).
FUNCTIONS = {
    "acos": (np.arccos, even(-1, 1), 2),
    "acosh": (np.arccosh, positive(1, 1e30), 2),
    "asin": (np.arcsin, even(-1, 1), 2),
    "asinh": (np.arcsinh, both_signs(1e-6, 1e30), 2),
    "atan": (np.arctan, both_signs(1e-6, 1e20), 1.5),
    "atanh": (np.arctanh, even(-0.999, 0.999), 1.5),
    "cbrt": (np.cbrt, both_signs(1e-35, 1e35), 0.6),
    "cos": (np.cos, both_signs(1e-6, 1e38), 1),
    "cosh": (np.cosh, both_signs(1e-6, 88), 2),
    "erf": (arrays(math.erf), both_signs(1e-6, 6), None),
    "erfc": (arrays(math.erfc), even(-5, 9), None),
    "exp": (np.exp, even(-87, 88), 1),
    "exp10": (lambda x: long(10) ** x, even(-37, 38), 1.5),
    "exp2": (np.exp2, even(-126, 127), 1),
    "expm1": (np.expm1, both_signs(1e-8, 88), 1.5),
    "log": (np.log, positive(1e-37, 1e38), 1),
    "log10": (np.log10, positive(1e-37, 1e38), 1),
    "log1p": (np.log1p, positive(1e-8, 1e38), 1),
    "log2": (np.log2, positive(1e-37, 1e38), 1),
    "rsqrt": (lambda x: 1 / np.sqrt(x), positive(1e-37, 1e38), 1.5),
    "sin": (np.sin, both_signs(1e-6, 1e38), 1),
    "sinh": (np.sinh, both_signs(1e-6, 88), 2),
    "sqrt": (np.sqrt, positive(1e-37, 1e38), 0.5),
    "tan": (np.tan, both_signs(1e-6, 1e38), 2),
    "tanh": (np.tanh, both_signs(1e-6, 30), 2),
}


def ulps(found: np.ndarray, exact: np.ndarray) -> float:
    """The largest distance, in units of the last place of the exact results."""
    unit = np.spacing(np.abs(exact).astype(found.dtype)).astype(long)
    return float(np.max(np.abs(found.astype(long) - exact) / unit))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_fp32_is_almost_the_nearest_float(name, library):
    exact, draw, _ = FUNCTIONS[name]
    x = draw(np.random.default_rng(1)).astype(np.float32)
    assert ulps(call(library, name, np.float32, x), exact(x.astype(long))) <= 0.501


@pytest.mark.parametrize("name", [n for n, (_, _, bound) in FUNCTIONS.items() if bound])
def test_fp64(name, library):
    exact, draw, bound = FUNCTIONS[name]
    x = draw(np.random.default_rng(2))
    assert ulps(call(library, name, np.float64, x), exact(x.astype(long))) <= bound


def test_atan2(library):
    rng = np.random.default_rng(3)
    y, x = both_signs(1e-6, 1e6)(rng), both_signs(1e-6, 1e6)(rng)
    found = call(library, "atan2", np.float64, y, x)
    assert ulps(found, np.arctan2(y.astype(long), x.astype(long))) <= 1.5
    y, x = y.astype(np.float32), x.astype(np.float32)
    found = call(library, "atan2", np.float32, y, x)
    assert ulps(found, np.arctan2(y.astype(long), x.astype(long))) <= 0.501


def test_pow(library):
    rng = np.random.default_rng(4)
    x = magnitudes(1e-3, 1e3, rng).astype(np.float32)
    y = rng.uniform(-12, 12, COUNT).astype(np.float32)
    found = call(library, "pow", np.float32, x, y)
    assert ulps(found, x.astype(long) ** y.astype(long)) <= 0.501


EDGES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 2.0, 3.0, -3.0, np.inf, -np.inf, np.nan])
#: Smallest denormal, smallest normal and largest numbers.
EXTREMES = [1e-45, 1.1754944e-38, 3.4028235e38, -3.4028235e38]


@pytest.mark.parametrize("ty", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_edges_are_those_of_c(name, ty, library):
    x = np.concatenate([EDGES, EXTREMES]).astype(ty)
    exact = FUNCTIONS[name][0]
    with np.errstate(all="ignore"):
        expected = exact(x.astype(long)).astype(ty)
    found = call(library, name, ty, x)
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    numbers = ~np.isnan(expected)
    np.testing.assert_allclose(found[numbers], expected[numbers], rtol=4 * np.finfo(ty).eps)
    assert np.array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("name, ty", [("pow", np.float32), ("atan2", np.float64)])
def test_edges_of_two_arguments_are_those_of_c(name, ty, library):
    x, y = (grid.ravel().astype(ty) for grid in np.meshgrid(EDGES, EDGES))
    exact = {"pow": math.pow, "atan2": math.atan2}[name]

    def expect(a: float, b: float) -> float:
        try:
            return exact(a, b)
        except ValueError:  # As Python says NaN and a division by zero.
            if a == 0.0:
                odd = b == np.trunc(b) and b % 2 == 1
                return math.copysign(np.inf, a) if odd else np.inf
            return np.nan

    expected = np.array([expect(float(a), float(b)) for a, b in zip(x, y, strict=True)], ty)
    np.testing.assert_allclose(call(library, name, ty, x, y), expected, rtol=1e-6)
