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
import test_libdevice
import test_libdevice_bits
from device_library import MODES

from tile.language.extra import libdevice

SOURCES = sorted((Path(__file__).parents[2] / "device").glob("*.c"))
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
        [CLANG, "-O2", "-fPIC", "-shared", "-ffp-contract=off", "-fno-builtin", *SOURCES, "-o",
         path, "-lm"],
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


def test_pow_of_fp64(library):
    rng = np.random.default_rng(5)
    x, y = magnitudes(1e-9, 1e9, rng), rng.uniform(-30, 30, COUNT)
    found = call(library, "pow", np.float64, x, y)
    assert ulps(found, x.astype(long) ** y.astype(long)) <= 1.5


@pytest.mark.parametrize("name", ["fmod", "remainder"])
def test_remainders_are_exact(name, library):
    rng = np.random.default_rng(6)
    x, y = both_signs(1e-300, 1e300)(rng)[:2000], both_signs(1e-300, 1e300)(rng)[:2000]
    x[:9], y[:9] = [1, 3, -3, 5e-324, 1e308, 7, 0.0, -0.0, 1], [2, 2, 2, 3e-323, 5e-324, 7, 1, 2, 9]
    expected = np.array([getattr(math, name)(a, b) for a, b in zip(x, y, strict=True)])
    found = call(library, name, np.float64, x, y)
    assert found.view(np.int64).tolist() == expected.view(np.int64).tolist()


def test_pow(library):
    rng = np.random.default_rng(4)
    x = magnitudes(1e-3, 1e3, rng).astype(np.float32)
    y = rng.uniform(-12, 12, COUNT).astype(np.float32)
    found = call(library, "pow", np.float32, x, y)
    assert ulps(found, x.astype(long) ** y.astype(long)) <= 0.501


NUMBERS = {
    "fp32": (ctypes.c_float, np.float32), "fp64": (ctypes.c_double, np.float64),
    "int32": (ctypes.c_int32, np.int32), "uint32": (ctypes.c_uint32, np.uint32),
    "int64": (ctypes.c_int64, np.int64), "uint64": (ctypes.c_uint64, np.uint64),
}  # fmt: skip


@pytest.fixture
def on_the_host(library, monkeypatch) -> None:
    """The tests of libdevice call the functions that are compiled for the host."""

    def run(name: str, *inputs: np.ndarray, out: type) -> np.ndarray:
        types = tuple(next(t for t, (_, k) in NUMBERS.items() if k == x.dtype) for x in inputs)
        overloads = {tuple(map(str, a)): found for a, found in libdevice._TABLE[name].items()}
        symbol, result = overloads[types]
        function, (number, kind) = getattr(library, symbol), NUMBERS[str(result)]
        function.restype, function.argtypes = number, [NUMBERS[t][0] for t in types]
        arguments = zip(*(x.tolist() for x in inputs), strict=True)
        values = np.array([function(*a) for a in arguments], kind)
        same_bits = kind != out and values.itemsize == np.dtype(out).itemsize
        return values.view(out) if same_bits and np.dtype(out).kind in "iu" else values.astype(out)

    monkeypatch.setattr(test_libdevice, "run", run)
    monkeypatch.setattr(test_libdevice_bits, "run", run)


@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
@pytest.mark.parametrize("name", [*test_libdevice.UNARY, *test_libdevice.BINARY])
def test_every_function_of_libdevice(name, dtype, on_the_host):
    test = test_libdevice.test_unary if name in test_libdevice.UNARY else test_libdevice.test_binary
    test(name, dtype)


@pytest.mark.parametrize("name", [*test_libdevice.ROUNDED, *test_libdevice.FAST])
def test_arithmetic_of_libdevice(name, on_the_host):
    if name in test_libdevice.FAST:
        test_libdevice.test_fast_functions(name)
    else:
        test_libdevice.test_rounded_arithmetic(name)


def test_the_rest_of_libdevice(on_the_host):
    for dtype in ("fp32", "fp64"):
        test_libdevice.test_integer_operands(dtype)
        test_libdevice.test_several_operands(dtype)
    test_libdevice.test_reciprocal_square_root()
    test_libdevice.test_fast_functions_of_two()
    for name in test_libdevice.EDGES:
        test_libdevice.test_edges(name)
    for mode in MODES:
        test_libdevice_bits.test_conversions_to_floats(mode)
        for source, kind in (("float", np.float32), ("double", np.float64)):
            test_libdevice_bits.test_conversions_to_integers(source, kind, mode)
    test_libdevice_bits.test_integer_functions(np.int32, 32)
    test_libdevice_bits.test_integer_functions(np.int64, 64)
    test_libdevice_bits.test_bits_of_floats()
    test_libdevice_bits.test_averages_and_small_products(np.int32)
    test_libdevice_bits.test_averages_and_small_products(np.uint32)
    test_libdevice_bits.test_permutation_of_bytes()
    test_libdevice_bits.test_questions_about_floats()


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


@pytest.mark.parametrize(
    "name, ty", [("pow", np.float32), ("pow", np.float64), ("atan2", np.float64)]
)
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
