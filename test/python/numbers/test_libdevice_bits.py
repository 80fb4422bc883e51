"""Conversions, bits and integers of the device library, executed and compared."""

from __future__ import annotations

import numpy as np
import pytest
from device_library import INTEGERS, KINDS, MODES, N, Wide, inputs, rounded, run

pytestmark = pytest.mark.both_ways

_ROUND = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}


@pytest.mark.sweep
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("source", "kind"), [("float", np.float32), ("double", np.float64)])
def test_conversions_to_integers(source, kind, mode):
    for suffix, integer in INTEGERS.items():
        low, high = (-1e6, 1e6) if suffix in ("int", "ll") else (0, 1e6)
        x = np.clip(inputs(-1e6, 1e6, kind), low, high).astype(kind)
        info = np.iinfo(integer)
        # Beyond the range: the nearest number in it.
        x[:4] = [kind(-1e30), kind(1e30), kind(np.inf), kind(-np.inf)]
        bits = np.int32 if info.bits == 32 else np.int64
        out = run(f"{source}2{suffix}_{mode}", x, out=bits).view(integer)
        inside = _ROUND[mode](x[4:].astype(np.float64)).astype(integer)
        np.testing.assert_array_equal(out[4:], inside, f"{suffix}")
        np.testing.assert_array_equal(out[:4], [info.min, info.max, info.max, info.min])


@pytest.mark.parametrize("mode", MODES)
def test_conversions_to_floats(mode):
    generator = np.random.default_rng(5)
    for suffix, integer in INTEGERS.items():
        info = np.iinfo(integer)
        x = generator.integers(info.min, info.max, N, dtype=integer, endpoint=True)
        x[:2] = info.min, info.max
        for target, kind in {"float": np.float32, "double": np.float64}.items():
            if target == "double" and info.bits == 32 and mode != "rn":
                continue
            out = run(f"{suffix}2{target}_{mode}", x, out=kind)
            np.testing.assert_array_equal(out, rounded(x.astype(Wide), kind, mode), suffix)
    x = generator.standard_normal(N) * 1e3
    out = run(f"double2float_{mode}", x, out=np.float32)
    np.testing.assert_array_equal(out, rounded(x.astype(Wide), np.float32, mode))


def test_bits_of_floats():
    generator = np.random.default_rng(6)
    words = generator.integers(0, 2**31 - 2**24, N).astype(np.int32)
    floats = words.view(np.float32)
    np.testing.assert_array_equal(run("float_as_int", floats, out=np.int32), words)
    np.testing.assert_array_equal(run("float_as_uint", floats, out=np.int32), words)
    np.testing.assert_array_equal(run("int_as_float", words, out=np.float32), floats)
    as_uint = words.view(np.uint32)
    np.testing.assert_array_equal(run("uint_as_float", as_uint, out=np.float32), floats)
    double = generator.standard_normal(N)
    long = double.view(np.int64)
    np.testing.assert_array_equal(run("double_as_longlong", double, out=np.int64), long)
    np.testing.assert_array_equal(run("longlong_as_double", long, out=np.float64), double)
    high, low = (long >> 32).astype(np.int32), long.astype(np.int32)
    np.testing.assert_array_equal(run("double2hiint", double, out=np.int32), high)
    np.testing.assert_array_equal(run("double2loint", double, out=np.int32), low)
    np.testing.assert_array_equal(run("hiloint2double", high, low, out=np.float64), double)
    approximate = run("rcp64h", double, out=np.float64)
    np.testing.assert_allclose(approximate, 1 / double, 1e-5)


def _bits(x: int, width: int) -> str:
    return format(int(x) & (2**width - 1), f"0{width}b")


@pytest.mark.parametrize(("integer", "width"), [(np.int32, 32), (np.int64, 64)])
def test_integer_functions(integer, width):
    generator = np.random.default_rng(7)
    info = np.iinfo(integer)
    x = generator.integers(info.min, info.max, N, dtype=integer) >> (np.arange(N) % width).astype(
        integer
    )
    x[:3] = 0, -1, info.max
    text = [_bits(v, width) for v in x]
    np.testing.assert_array_equal(run("abs", x, out=integer), np.abs(x))
    clz = [len(t) - len(t.lstrip("0")) for t in text]
    np.testing.assert_array_equal(run("clz", x, out=np.int32), clz)
    np.testing.assert_array_equal(run("popc", x, out=np.int32), [t.count("1") for t in text])
    ffs = [t[::-1].find("1") + 1 for t in text]
    np.testing.assert_array_equal(run("ffs", x, out=np.int32), ffs)
    brev = np.array([int(t[::-1], 2) for t in text], dtype=np.uint64).astype(integer)
    np.testing.assert_array_equal(run("brev", x, out=integer), brev)
    unsigned = np.uint32 if width == 32 else np.uint64
    y = generator.permutation(x)
    for a, b, kind in ((x, y, integer), (x.view(unsigned), y.view(unsigned), unsigned)):
        high = [(int(p) * int(q)) >> width for p, q in zip(a, b, strict=True)]
        expected = np.array([h & (2**width - 1) for h in high], np.uint64).astype(kind)
        np.testing.assert_array_equal(run("mulhi", a, b, out=kind), expected)


@pytest.mark.parametrize("kind", [np.int32, np.uint32])
def test_averages_and_small_products(kind):
    generator = np.random.default_rng(8)
    info = np.iinfo(kind)
    x, y, z = (generator.integers(info.min, info.max, N, dtype=kind) for _ in range(3))
    a, b = x.astype(np.int64), y.astype(np.int64)
    np.testing.assert_array_equal(run("hadd", x, y, out=kind), ((a + b) >> 1).astype(kind))
    np.testing.assert_array_equal(run("rhadd", x, y, out=kind), ((a + b + 1) >> 1).astype(kind))
    z = z.view(np.uint32)
    sad = np.abs(a - b) + z.astype(np.int64)
    np.testing.assert_array_equal(run("sad", x, y, z, out=kind), sad.astype(kind))
    x, y = x >> kind(8), y >> kind(8)
    product = (x.astype(np.int64) * y.astype(np.int64)).astype(kind)
    np.testing.assert_array_equal(run("mul24", x, y, out=kind), product)


def test_permutation_of_bytes():
    generator = np.random.default_rng(9)
    x, y, s = (generator.integers(0, 2**31, N).astype(np.int32) for _ in range(3))
    s &= 0x7777
    both = np.stack([x, y], 1).copy().view(np.uint8)
    picks = np.stack([(s >> (4 * i)) & 7 for i in range(4)], 1)
    expected = np.take_along_axis(both, picks, 1).astype(np.uint8).view(np.int32).ravel()
    np.testing.assert_array_equal(run("byte_perm", x, y, s, out=np.int32), expected)


def test_questions_about_floats():
    for kind in KINDS.values():
        x = np.resize([0, -0.0, 1, -2.5, np.inf, -np.inf, np.nan, 1e-300], N).astype(kind)
        np.testing.assert_array_equal(run("isnan", x, out=np.int32), np.isnan(x))
        np.testing.assert_array_equal(run("isinf", x, out=np.int32), np.isinf(x))
        finite = "finitef" if kind is np.float32 else "isfinited"
        np.testing.assert_array_equal(run(finite, x, out=np.int32), np.isfinite(x))
        np.testing.assert_array_equal(run("signbit", x, out=np.int32) != 0, np.signbit(x))
        np.testing.assert_array_equal(run("abs", x, out=kind), np.abs(x))
    x = np.array([-1, 0, 0.25, 1, 7, np.inf, -np.inf, np.nan], np.float32)
    expected = np.array([0, 0, 0.25, 1, 1, 1, 0, 0], np.float32)
    np.testing.assert_array_equal(run("saturatef", x, out=np.float32), expected)
