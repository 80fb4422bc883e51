"""Conversions round once: every pair of formats at and next to the midpoints of
neighbours, against exact fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from exact import FORMATS, Format
from reference import sim_only

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

FLOATS = {
    "fp8e4nv": (tl.float8e4nv, ml_dtypes.float8_e4m3fn),
    "fp8e5": (tl.float8e5, ml_dtypes.float8_e5m2),
    "fp16": (tl.float16, np.float16),
    "bf16": (tl.bfloat16, ml_dtypes.bfloat16),
    "fp32": (tl.float32, np.float32),
    "fp64": (tl.float64, np.float64),
}
INTEGERS = {
    "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
}  # fmt: skip
NARROWING = [
    (s, t)
    for s in FLOATS
    for t in FLOATS
    if s != t and FORMATS[s].mantissa_bits > FORMATS[t].mantissa_bits
]


@tile.jit
def convert(x, out, T: tl.constexpr, MODE: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(T, fp_downcast_rounding=MODE))


def converted(x: np.ndarray, target: str, mode: str | None = None) -> list[int]:
    """The bits of the numbers in the target's format."""
    kind, element = FLOATS[target]
    padded = np.zeros(-(-x.size // 1024) * 1024, x.dtype)
    padded[: x.size] = x
    word = np.dtype(f"u{np.dtype(element).itemsize}")
    out = np.full(padded.size, 0xA5, word)
    convert[(padded.size // 1024,)](padded, out.view(element), kind, mode, 1024)
    return out[: x.size].tolist()


def midpoints(target: Format, number: int) -> list[Fraction]:
    """Numbers half-way between neighbours of the format: all, or some of each size
    and those at the edges."""
    neighbours = range(target.largest + 1)
    if target.bits > 8:
        chosen = random.Random(target.bits).sample(neighbours, number)
        normal = 2**target.mantissa_bits
        edges = {0, 1, 2, normal - 1, normal, normal + 1, target.largest - 1, target.largest}
        neighbours = sorted({*chosen, *edges})
    return [(target.value(n) + target.value(n + 1)) / 2 for n in neighbours]


def close_to(points: list[Fraction], source: Format) -> list[int]:
    """The bits of numbers of a format at and next to points, with both signs."""
    magnitudes = set()
    for point in points:
        low = source.below(point)
        magnitudes.update(range(max(low - 2, 1), min(low + 3, source.largest) + 1))
        # What only one rounding tells apart from the point.
        for bit in range(0, source.mantissa_bits, 4):
            magnitudes.update({low | 1 << bit, max(low - (1 << bit), 1)})
    sign = 1 << (source.bits - 1)
    inside = sorted(m for m in magnitudes if 0 < m <= source.largest)
    return [*inside, *[m | sign for m in inside[:: 1 + len(inside) // 1024]]]


def number(bits: int, source: Format) -> Fraction:
    sign = 1 << (source.bits - 1)
    return -source.value(bits ^ sign) if bits & sign else source.value(bits)


def test_the_oracle_itself():
    """Known bits, and every number of a format rounded to itself."""
    half, eight = FORMATS["fp16"], FORMATS["fp8e4nv"]
    known = {Fraction(1): 0x3C00, Fraction(65504): 0x7BFF, Fraction(65519): 0x7BFF,
             Fraction(65520): 0x7C00, Fraction(1, 2**24): 1, Fraction(1, 2**25): 0,
             Fraction(3, 2**25): 2, Fraction(-1, 3): 0xB555, Fraction(10**9): 0x7C00}  # fmt: skip
    assert {x: half.nearest(x) for x in known} == known
    assert [eight.nearest(Fraction(x)) for x in (448, 464, 465, 10**6)] == [0x7E] * 4
    for format in (half, eight, FORMATS["fp8e5"]):
        for bits in range(1, format.largest + 1):
            value = format.value(bits)
            assert format.nearest(value) == format.below(value) == bits
            assert format.value(bits - 1) < value


def differences(numbers: list[Fraction], actual: list[int], expected: list[int]) -> list:
    return [
        (str(x), hex(a), hex(e))
        for x, a, e in zip(numbers, actual, expected, strict=True)
        if a != e
    ][:4]


def check(source: str, target: str, mode: str | None = None) -> None:
    wide, narrow = FORMATS[source], FORMATS[target]
    bits = close_to(midpoints(narrow, 40), wide)
    if mode == "rtz":
        some = range(1, narrow.largest, 1 + narrow.largest // 64)
        bits += close_to([narrow.value(n) for n in some], wide)
    x = np.array(bits, np.dtype(f"u{wide.bits // 8}")).view(FLOATS[source][1])
    numbers = [number(b, wide) for b in bits]
    rounded = narrow.toward_zero if mode == "rtz" else narrow.nearest
    wrong = differences(numbers, converted(x, target, mode), [rounded(n) for n in numbers])
    assert not wrong


@pytest.mark.parametrize(("source", "target"), NARROWING)
def test_floats_to_the_nearest(source, target):
    check(source, target)


@pytest.mark.parametrize(("source", "target"), NARROWING)
def test_floats_toward_zero(source, target):
    if FORMATS[source].bits > FORMATS[target].bits:
        check(source, target, "rtz")


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize("machine_name", ["cuda:80", "cuda:89"])
@pytest.mark.parametrize(
    ("source", "target"), [p for p in NARROWING if p[0] in ("fp32", "fp64") and p[1] != "fp32"]
)
def test_floats_on_older_machines(source, target, machine_name, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", machine_name)
    check(source, target)


def integers_close_to(points: list[Fraction], kind: np.dtype) -> list[int]:
    info = np.iinfo(kind)
    found = {int(info.min), int(info.max), int(info.max) - 1, 1}
    for point in points:
        base = int(point)
        for sign in (1, -1):
            found.update(sign * (base + d) for d in (-1, 0, 1, 2))
    return sorted(n for n in found if info.min <= n <= info.max and n)


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", FLOATS)
def test_integers_to_the_nearest(source, target):
    narrow, kind = FORMATS[target], np.dtype(INTEGERS[source])
    values = integers_close_to(midpoints(narrow, 400), kind)
    x = np.array(values, kind)
    numbers = [Fraction(v) for v in values]
    wrong = differences(numbers, converted(x, target), [narrow.nearest(n) for n in numbers])
    assert not wrong


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize("machine_name", ["cuda:80", "cuda:89"])
@pytest.mark.parametrize("source", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("target", ["fp8e4nv", "fp16", "bf16"])
def test_integers_on_older_machines(source, target, machine_name, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", machine_name)
    test_integers_to_the_nearest(source, target)


@tile.jit
def constants(out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, T: tl.constexpr):
    tl.store(out, tl.full((), A, T))
    tl.store(out + 1, tl.cast(B, T))
    x = tl.full((1,), C, tl.float64)
    tl.store(out + 2 + tl.arange(0, 1), x.to(T))


@pytest.mark.parametrize("target", ["fp8e4nv", "fp8e5", "fp16", "bf16", "fp32"])
def test_constants_to_the_nearest(target):
    kind, element = FLOATS[target]
    narrow, wide = FORMATS[target], FORMATS["fp64"]
    bits = close_to(midpoints(narrow, 20), wide)
    picked = random.Random(3).sample(bits, 36) + bits[-3:] + bits[:3]
    for i in range(0, len(picked), 3):
        numbers = [number(b, wide) for b in picked[i : i + 3]]
        out = np.zeros(3, element)
        constants[(1,)](out, *map(float, numbers), kind)
        actual = out.view(f"u{out.itemsize}").tolist()
        assert not differences(numbers, actual, [narrow.nearest(n) for n in numbers])
