"""Constants among run-time arguments: alone, in tuples, in named tuples, beside arrays and None."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.both_ways
C = tl.constexpr


class Shape(NamedTuple):
    rows: Any
    columns: Any


@tile.constexpr_function
def twice(x):
    return 2 * x


@tile.jit
def fill(out, shape, value):
    o = tl.arange(0, shape[0])
    tl.store(out + o, o * shape[1] + value)


@tile.jit
def fill_named(out, shape, scale):
    tl.static_assert(shape.columns % 4 == 0)
    o = tl.arange(0, shape.rows)
    v = o * twice(shape.columns)
    if scale is not None:
        v = v * scale
    tl.store(out + o, v)


@tile.jit
def gather(out, sources, N: tl.constexpr):
    o = tl.arange(0, N)
    for i in tl.static_range(len(sources)):
        array, factor, how = sources[i]
        if array is not None:
            v = tl.load(array + o)
            if how == "negated":
                v = -v
            tl.store(out + i * N + o, v * factor)


def run(kernel, *arguments, size: int = 64, dtype=np.int32) -> np.ndarray:
    out = np.full(size, 99, dtype)
    kernel[(1,)](out, *arguments)
    return out


def test_alone(machine):
    """A parameter that is annotated with nothing takes a constant, too."""
    for value in (3, 1, 0, -5):
        out = run(fill, (C(16), C(2)), C(value))
        np.testing.assert_array_equal(out[:16], np.arange(16) * 2 + value)
        assert (out[16:] == 99).all()


@pytest.mark.parametrize("rows", [8, 32])
@pytest.mark.parametrize("second", [1, 5, C(1), C(5), np.int32(5)])
def test_in_tuples(machine, rows, second):
    out = run(fill, (C(rows), second), 7)
    number = getattr(second, "value", second)
    np.testing.assert_array_equal(out[:rows], np.arange(rows) * number + 7)
    assert (out[rows:] == 99).all()


@pytest.mark.parametrize("scale", [None, C(None), 3, C(3)])
def test_in_named_tuples(machine, scale):
    out = run(fill_named, Shape(C(16), C(4)), scale)
    factor = getattr(scale, "value", scale) or 1
    np.testing.assert_array_equal(out[:16], np.arange(16) * 8 * factor)


def test_beside_arrays_and_none(machine):
    x = np.arange(16, dtype=np.float32)
    sources = (
        (x, 2.0, C("plain")), (None, C(1), C("plain")), (x, C(0.5), C("negated")),
        (x[4:], C(1), C(None)),
    )  # fmt: skip
    out = run(gather, sources, 8, dtype=np.float32)
    expected = np.full(64, 99, np.float32)
    expected[:8], expected[16:24], expected[24:32] = 2 * x[:8], -0.5 * x[:8], x[4:12]
    np.testing.assert_array_equal(out, expected)


def test_descriptors_in_tuples(machine):
    @tile.jit
    def total(out, pair):
        d, place, factor = pair
        tl.store(out + place, tl.sum(tl.sum(d.load([0, 0]), 1), 0) * factor)

    x = np.random.default_rng(2).integers(0, 9, (16, 16)).astype(np.float32)
    d = TensorDescriptor(x, [16, 16], [16, 1], [16, 16])
    out = run(total, (d, C(3), C(2.0)), dtype=np.float32)
    assert out[3] == 2 * x.sum() and (np.delete(out, 3) == 99).all()


@pytest.mark.compiled
def test_a_kernel_for_each_constant(machine):
    kernels = {}
    out = np.zeros(64, np.int32)
    for value in (C(2), C(2.0), C(True), C(1), 2, 1, C(None), C("two"), C(tl.float16), C((1, 2))):

        def launch(value=value):
            return keep[(1,)](out, (value, 5))

        first = launch()
        assert launch() is first, value
        again = keep[(1,)](out, (type(value)(value.value) if isinstance(value, C) else value, 5))
        assert again is first, "an equal constant"
        kernels.setdefault(first.hash, []).append(value)
    # 1 and True are arguments that kernels are compiled for as constants.
    assert [len(v) for v in kernels.values()].count(1) >= 8, kernels


@tile.jit
def keep(out, pair):
    tl.store(out, pair[1])


class Function(NamedTuple):
    call: Any
    captured: Any


@tile.jit
def scaled(x, factor):
    return x * tl.load(factor)


@tile.jit
def shifted(x, offset):
    return x + tl.load(offset) + 1


@tile.jit
def apply(out, alone, function, other):
    o = tl.arange(0, 64)
    tl.store(out + o, other[0](function.call(alone(o, out), *function.captured), out))


@tile.jit
def of_nothing(x, ignored):
    return x * 2


def test_jit_functions(machine):
    """A kernel for each: alone, in tuples and in named tuples, with what they are called with."""
    seven, o = np.array([7], np.int32), np.arange(64)
    expected = {scaled: 2 * o * 7, shifted: 2 * o + 8, of_nothing: 4 * o}
    for function in (scaled, shifted, of_nothing, scaled):
        found = run(apply, of_nothing, Function(function, (seven,)), (of_nothing,))
        assert np.array_equal(found, 2 * expected[function])


def test_no_such_constant(machine):
    with pytest.raises(tile.TileError, match="a list cannot be an argument of a kernel"):
        run(keep, [C(1), 2])


@pytest.mark.parametrize("padding", ["zero", "nan"])
@pytest.mark.parametrize("shape", [(0, 16), (16, 0), (0, 0)])
@pytest.mark.parametrize("of_tensor", [False, True])
def test_descriptors_of_nothing(machine, shape, padding, of_tensor):
    """All that is read is padding, and nothing is written."""

    @tile.jit
    def copy(out, source, target, N: tl.constexpr):
        v = source.load([0, 0])
        o = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
        tl.store(out + o, v)
        target.store([0, 0], v + 1)

    x = np.random.default_rng(2).random((16, 16)).astype(np.float32)
    before = x.copy()
    if of_tensor:
        made = TensorDescriptor.from_tensor(np.empty(shape, np.float32), [16, 16], padding)
    else:
        made = TensorDescriptor(x, shape, [16, 1], [16, 16], padding)
    target = TensorDescriptor(x, shape, [16, 1], [16, 16])
    out = np.full((16, 16), 5, np.float32)
    copy[(1,)](out, made, target, 16)
    np.testing.assert_array_equal(out, np.full((16, 16), 0 if padding == "zero" else np.nan))
    np.testing.assert_array_equal(x, before)


class Width(enum.Enum):
    NARROW = 0
    WIDE = 1


TYPES = tl.constexpr({Width.NARROW: tl.float16, Width.WIDE: tl.float32})
NUMBERS = tl.constexpr({0: 5, 1: 7})


@tile.jit
def of_members(out_ptr, WIDTH: tl.constexpr):
    tl.store(out_ptr, TYPES[WIDTH.value].primitive_bitwidth)
    tl.store(out_ptr + 1, TYPES[WIDTH].primitive_bitwidth)
    tl.store(out_ptr + 2, NUMBERS[WIDTH.value])
    tl.store(out_ptr + 3, WIDTH.value)


@pytest.mark.parametrize(
    ("width", "expected"), [(Width.NARROW, [16, 16, 5, 0]), (Width.WIDE, [32, 32, 7, 1])]
)
def test_dicts_of_members(width, expected):
    """In Triton `WIDTH.value` is the member, in Python its number: dicts take both."""
    out = np.full(4, -1, np.int32)
    for _ in range(2):
        of_members[(1,)](out, width)
        assert out.tolist() == expected
