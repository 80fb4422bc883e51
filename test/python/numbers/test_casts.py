"""Conversions between all types, at their edges and in all roundings."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

N = 256
INTS = {
    "i8": (tl.int8, np.int8), "i16": (tl.int16, np.int16), "i32": (tl.int32, np.int32),
    "i64": (tl.int64, np.int64), "u8": (tl.uint8, np.uint8), "u16": (tl.uint16, np.uint16),
    "u32": (tl.uint32, np.uint32), "u64": (tl.uint64, np.uint64),
}  # fmt: skip
FLOATS = {
    "fp8e4nv": (tl.float8e4nv, ml_dtypes.float8_e4m3fn),
    "fp8e5": (tl.float8e5, ml_dtypes.float8_e5m2),
    "fp16": (tl.float16, np.float16),
    "bf16": (tl.bfloat16, ml_dtypes.bfloat16),
    "fp32": (tl.float32, np.float32),
    "fp64": (tl.float64, np.float64),
}
TYPES = {**INTS, **FLOATS}
#: Floats whose overflow gives the largest number instead of an infinity.
SATURATING = ("fp8e4nv", "fp8e5")


@tile.jit
def cast_kernel(x_ptr, out_ptr, T: tl.constexpr, MODE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    y = tl.load(x_ptr + i).to(T, fp_downcast_rounding=MODE)
    tl.store(out_ptr + i, y)


def cast(x: np.ndarray, target: str, mode: str | None = None) -> np.ndarray:
    out = np.full(x.size * TYPES[target][1](0).itemsize, 0xA5, np.uint8).view(TYPES[target][1])
    cast_kernel[(1,)](x, out, T=TYPES[target][0], MODE=mode, N=x.size)
    return out


def numbers(name: str) -> np.ndarray:
    """Numbers of a type: its edges, and some of every size."""
    kind = TYPES[name][1]
    generator = np.random.default_rng(1)
    if name in INTS:
        info = np.iinfo(kind)
        edges = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 127, 100]
        some = generator.integers(info.min, info.max, N, dtype=kind, endpoint=True)
        some >>= (np.arange(N) % info.bits).astype(kind)
        some[: len(edges)] = edges
        return some
    info = ml_dtypes.finfo(kind)
    if kind(0).itemsize == 1:
        return np.arange(256, dtype=np.uint8).view(kind)
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, float(info.max), float(-info.max)]
    edges += [float(info.tiny), float(info.smallest_subnormal), -float(info.smallest_subnormal)]
    # Half-way between two fp8, fp16 or bf16, and next to the largest of each.
    edges += [1.0625, 1.1875, 1.125, 1.375, 1 + 2**-9, 1 + 3 * 2**-9, 1 + 2**-11, 1 + 3 * 2**-11]
    edges += [448, 464, 465, 57344, 61440, 61441, 65504, 65519, 65520, 3.39e38]
    edges += [2**-10, 2**-9, 3 * 2**-10, 2**-17, 2**-16, 3 * 2**-17, 2**-25, 2**-24, 3 * 2**-25]
    some = generator.standard_normal(N) * 2.0 ** generator.uniform(-20, 20, N)
    some[N // 2 :] = np.round(some[N // 2 :])
    with np.errstate(over="ignore"):
        some[: len(edges)] = edges
        return some.astype(kind)


def to_float(x: np.ndarray, target: str) -> np.ndarray:
    """Numbers rounded to the nearest of a float type, once."""
    kind = FLOATS[target][1]
    info = ml_dtypes.finfo(kind)
    if x.dtype.kind in "iu":
        wide = x.astype(np.longdouble)
    else:
        wide = x.astype(np.float64).astype(np.longdouble)
    digits = info.nmant + 1
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(wide)
        lowest = int(np.log2(float(info.tiny))) + 1
        step = np.ldexp(np.longdouble(1), np.maximum(exponent, lowest) - digits)
        near = np.where(np.isfinite(wide), np.rint(wide / step) * step, wide)
        near = np.where(wide == 0, wide, near)
        limit = np.longdouble(float(info.max))
        if target in SATURATING:
            near = np.where(np.isnan(near), near, np.clip(near, -limit, limit))
        return near.astype(np.float64).astype(kind)


def same_floats(actual: np.ndarray, expected: np.ndarray, x: np.ndarray) -> None:
    """The same bits, but for those of NaN."""
    word = f"u{actual.dtype.itemsize}"
    nan = np.isnan(expected.astype(np.float64))
    wrong = np.where(
        nan, ~np.isnan(actual.astype(np.float64)), actual.view(word) != expected.view(word)
    )
    where = np.flatnonzero(wrong)
    assert not where.size, [(x[i], actual[i], expected[i]) for i in where[:8]]


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("target", FLOATS)
def test_to_floats(source, target):
    if source == target:
        return
    x = numbers(source)
    same_floats(cast(x, target), to_float(x, target), x)


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize("target", ["cuda:80", "cuda:89"])
@pytest.mark.parametrize("small", ["fp8e4nv", "fp8e5", "bf16"])
def test_older_machines(small, target, monkeypatch):
    """Ampere has none of the 8-bit conversions, Ada some."""
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    for other in TYPES:
        if other != small:
            x, y = numbers(other), numbers(small)
            same_floats(cast(x, small), to_float(x, small), x)
            if other in FLOATS:
                same_floats(cast(y, other), to_float(y, other), y)
    for wide in ("fp32", "fp64") if small == "bf16" else ():
        x = numbers(wide)
        same_floats(cast(x, small, "rtz"), toward_zero(x, small), x)


@pytest.mark.parametrize("source", INTS)
def test_integers_to_integers_wrap_around(source):
    x = numbers(source)
    for target, (_, kind) in INTS.items():
        np.testing.assert_array_equal(cast(x, target), x.astype(kind), target)


@pytest.mark.parametrize("source", FLOATS)
def test_floats_to_integers_truncate(source):
    x = numbers(source)
    wide = x.astype(np.float64)
    for target, (_, kind) in INTS.items():
        info = np.iinfo(kind)
        inside = np.isfinite(wide) & (np.trunc(wide) >= info.min) & (np.trunc(wide) < 2.0**63)
        inside &= np.trunc(wide) <= float(info.max)
        values = np.where(inside, x, x.dtype.type(1))
        expected = [int(v) for v in np.where(inside, wide, 1)]
        np.testing.assert_array_equal(cast(values, target), np.array(expected, kind), target)


@pytest.mark.parametrize("source", ["fp16", "bf16", "fp32", "fp64"])
def test_integers_out_of_range_saturate(source):
    """As the hardware has it; Triton leaves it open."""
    kind = FLOATS[source][1]
    with np.errstate(over="ignore"):
        x = np.array([1e30, -1e30, np.inf, -np.inf, 3e9, -3e9, 1e19, -1e19], kind)
    for target in ("i32", "i64", "u32"):
        info = np.iinfo(INTS[target][1])
        wide = np.clip(x.astype(np.longdouble), info.min, info.max)
        expected = [int(v) for v in wide]
        np.testing.assert_array_equal(cast(x, target), np.array(expected, INTS[target][1]), target)


@pytest.mark.parametrize("source", TYPES)
def test_booleans(source):
    x = numbers(source)
    out = np.full(N, 0xA5, np.uint8)
    bool_kernel[(1,)](x, out, N=N)
    np.testing.assert_array_equal(out, x.astype(np.float64) != 0)


@tile.jit
def bool_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(tl.int1).to(tl.uint8))


@tile.jit
def from_bool_kernel(x_ptr, out_ptr, T: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, (tl.load(x_ptr + i) > 0).to(T))


@pytest.mark.parametrize("target", TYPES)
def test_booleans_to_numbers(target):
    x = numbers("i32")
    out = np.zeros(N, TYPES[target][1])
    from_bool_kernel[(1,)](x, out, T=TYPES[target][0], N=N)
    np.testing.assert_array_equal(out.astype(np.float64), x > 0)


def toward_zero(x: np.ndarray, target: str) -> np.ndarray:
    """Numbers cut to a float type."""
    near = to_float(x, target)
    kind = FLOATS[target][1]
    word = f"u{kind(0).itemsize}"
    too_large = np.abs(near.astype(np.float64)) > np.abs(x.astype(np.float64))
    return (near.view(word) - too_large.astype(word)).view(kind)


@pytest.mark.parametrize(
    ("source", "target"),
    [("fp32", "fp16"), ("fp32", "bf16"), ("fp64", "fp32"), ("fp64", "fp16"), ("fp64", "bf16")],
)
def test_rounding_toward_zero(source, target):
    x = numbers(source)
    same_floats(cast(x, target, "rtz"), toward_zero(x, target), x)
    same_floats(cast(x, target, "rtne"), to_float(x, target), x)


@tile.jit
def bitcast_kernel(x_ptr, out_ptr, T: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(T, bitcast=True))


@pytest.mark.parametrize("source", TYPES)
def test_bits_as_another_type(source):
    x = numbers(source)
    for target, (kind, numpy_kind) in TYPES.items():
        if numpy_kind(0).itemsize != x.itemsize:
            continue
        out = np.zeros(N, numpy_kind)
        bitcast_kernel[(1,)](x, out, T=kind, N=N)
        assert out.tobytes() == x.tobytes(), target


@tile.jit
def fp8_kernel(x_ptr, y_ptr, out_ptr, flag_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, x + y)
    tl.store(out_ptr + N + i, x - y)
    tl.store(out_ptr + 2 * N + i, x * y)
    tl.store(out_ptr + 3 * N + i, -x)
    tl.store(out_ptr + 4 * N + i, tl.abs(x))
    tl.store(out_ptr + 5 * N + i, tl.maximum(x, y))
    tl.store(out_ptr + 6 * N + i, tl.where(x < y, x, y))
    tl.store(out_ptr + 7 * N + i, x * 2 + 1.0)
    tl.store(flag_ptr + i, x == y)
    tl.store(flag_ptr + N + i, x >= 0)


@pytest.mark.parametrize("name", SATURATING)
def test_arithmetic_in_8_bits_is_rounded_once(name):
    kind = FLOATS[name][1]
    x = np.arange(256, dtype=np.uint8).view(kind)
    y = np.random.default_rng(2).permutation(x)
    y[::5] = x[::5]
    out, flags = np.zeros((8, 256), kind), np.zeros((2, 256), np.int8)
    fp8_kernel[(1,)](x, y, out, flags, N=256)
    a, b = x.astype(np.float64), y.astype(np.float64)
    twice = to_float(a * 2, name).astype(np.float64)
    with np.errstate(invalid="ignore"):
        exact = [a + b, a - b, a * b, -a, np.abs(a), np.fmax(a, b), np.where(a < b, a, b)]
        exact.append(twice + 1)
        comparisons = [a == b, a >= 0]
    for i, values in enumerate(exact):
        expected = to_float(values, name)
        if i == 6:  # Chosen, not computed.
            expected = np.where(a < b, x, y)
        elif i in (3, 4):
            expected = np.where(np.isinf(a), expected, values.astype(kind))
        same_floats(out[i], expected, x)
    np.testing.assert_array_equal(flags, comparisons)


E4B15 = np.array(
    [(1 - 2 * (b >> 7)) * (b & 127) * 2.0**-17 if b & 127 < 8 else
     (1 - 2 * (b >> 7)) * (8 + b % 8) * 2.0 ** ((b & 127) // 8 - 18) for b in range(256)]
)  # fmt: skip


@tile.jit
def e4b15_kernel(x_ptr, wide_ptr, back_ptr, sum_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i).to(tl.float8e4b15, bitcast=True)
    tl.store(wide_ptr + i, x.to(wide_ptr.dtype.element_ty))
    y = tl.load(wide_ptr + N + i).to(tl.float8e4b15)
    tl.store(back_ptr + i, y.to(tl.uint8, bitcast=True))
    tl.store(sum_ptr + i, (x + x).to(tl.float32))
    tl.store(sum_ptr + N + i, tl.where(x < 0.5, x, 0.25).to(tl.float32))


@pytest.mark.parametrize("wide", [np.float16, np.float32, ml_dtypes.bfloat16])
def test_eight_bits_with_a_bias_of_15(wide):
    x = np.arange(256, dtype=np.uint8)
    source = np.random.default_rng(3).standard_normal(256) * 2.0 ** -(np.arange(256) % 20)
    source[:8] = [0, 1.75, 1.8, -3, np.inf, 1.0625, -0.0, 1.1875]
    both = np.concatenate([np.zeros(256), source]).astype(wide)
    back, sums = np.zeros(256, np.uint8), np.zeros((2, 256), np.float32)
    e4b15_kernel[(1,)](x, both, back, sums, N=256)
    np.testing.assert_array_equal(both[:256].astype(np.float64), E4B15)
    exact = np.clip(both[256:].astype(np.float64), -1.75, 1.75)
    error = np.abs(E4B15[back] - exact)
    step = np.maximum(2.0 ** (np.frexp(exact)[1] - 4.0), 2.0**-17)
    assert (error <= step / 2 * 1.002).all()
    assert (np.signbit(exact) == (back >= 128)).all()
    np.testing.assert_array_equal(sums[1], np.where(E4B15 < 0.5, E4B15, 0.25))
    halved = np.clip(2 * E4B15, -1.75, 1.75)
    np.testing.assert_array_equal(np.abs(sums[0]) <= 1.75, True)
    fits = np.abs(2 * E4B15) <= 1.75
    np.testing.assert_array_equal(sums[0][fits], halved[fits])


@tile.jit
def foreign_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr).to(tl.float32))


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["fp8e4b8", "fp8e5b16"])
def test_formats_of_other_machines_are_refused(name):
    from frontend import refusal

    error = refusal(foreign_kernel, {"x_ptr": f"*{name}", "out_ptr": "*fp32"})
    assert f"{name} is a format of AMD's GPUs; NVIDIA's have float8e4nv" in str(error)
