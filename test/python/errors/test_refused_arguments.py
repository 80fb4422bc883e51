"""Arguments, options and constants that would be misread are refused."""

from __future__ import annotations

import math
import re

import ml_dtypes
import numpy as np
import pytest

import tile
import tile.language as tl
from tile.compiler.compiler import make_backend

pytestmark = pytest.mark.both_ways


@tile.jit
def copy(x, out, N: tl.constexpr = 4):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i))


class Interface:
    """An array that is known by the array interface only."""

    def __init__(self, array) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__
        self.shape, self.dtype = array.shape, array.dtype


@pytest.mark.parametrize("kind", ["i2", "i4", "u8", "f2", "f4", "f8"])
def test_arrays_of_another_byte_order(kind):
    native, foreign = np.arange(4).astype("=" + kind), np.arange(4).astype(">" + kind)
    out = np.zeros_like(native)
    with pytest.raises(tile.TileError, match=r"order of another machine; convert it with x\.ast"):
        copy[(1,)](foreign, out)
    with pytest.raises(tile.TileError, match="order of another machine"):
        copy[(1,)](Interface(foreign), out)
    assert not out.any()
    copy[(1,)](foreign.astype(foreign.dtype.newbyteorder("=")), out)
    np.testing.assert_array_equal(out, native)


def test_bytes_and_small_floats_have_no_byte_order():
    for kind in (np.int8, np.bool_, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
        x, out = np.array([1, 0, 1, 1]).astype(kind), np.zeros(4, kind)
        copy[(1,)](x, out)
        assert x.tobytes() == out.tobytes()


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("num_stages", -1, "num_stages must be a non-negative integer, not -1"),
        ("num_warps", 0, "num_warps must be a positive integer, not 0"),
        ("num_warps", True, "num_warps must be a positive integer, not True"),
        *[
            pytest.param(
                "maxnreg", value, f"maxnreg must be an integer from 16 to 255, not {value!r}",
                marks=pytest.mark.nvidia("an option of its assembler"),
            )
            for value in (7, 256, "64")
        ],
    ],
)  # fmt: skip
def test_options_out_of_range(option, value, text):
    x = np.zeros(4, np.int32)
    with pytest.raises(tile.TileError, match=text):
        copy[(1,)](x, x.copy(), **{option: value})


@pytest.mark.parametrize(
    "target", [tile.GPUTarget("cuda", 100), tile.GPUTarget("hip", "gfx942", 64)]
)
def test_options_of_other_types(target):
    """Options are refused values of other types than their defaults, but take NumPy's numbers."""
    backend = make_backend(target)
    for name, default in backend.parse_options({}).as_dict().items():
        if name in ("arch", "backend_name"):  # The target says them.
            continue
        wrong = [b"x", 2.5, [1]]
        if not isinstance(default, str | None):
            wrong += ["x"]
        for value in wrong:
            with pytest.raises(tile.TileError, match=f"{name} .*{re.escape(repr(value))}"):
                backend.parse_options({name: value})
        if isinstance(default, bool):
            chosen = [backend.parse_options({name: v}) for v in (1, np.bool_(True), True)]
        elif isinstance(default, int):
            chosen = [backend.parse_options({name: v}) for v in (np.int64(default), default)]
        else:
            continue
        assert len({c.hash() for c in chosen}) == 1


def test_autotune_without_configurations():
    with pytest.raises(tile.TileError, match="autotune needs at least one configuration"):
        tile.autotune(configs=[], key=[])(copy)


@tile.jit
def fill(out, VALUE: tl.constexpr, TYPE: tl.constexpr):
    tl.store(out + tl.arange(0, 4), tl.full((4,), VALUE, TYPE))


@tile.jit
def convert(out, VALUE: tl.constexpr, TYPE: tl.constexpr):
    tl.store(out + tl.arange(0, 4), tl.cast(VALUE, TYPE))


@tile.jit
def add(out, VALUE: tl.constexpr, TYPE: tl.constexpr):
    tl.store(out + tl.arange(0, 4), tl.zeros((4,), TYPE) + VALUE)


@pytest.mark.parametrize("kernel", [fill, convert, add])
@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 3**99])
def test_numbers_beyond_64_bits(kernel, value):
    out = np.zeros(4, np.int64)
    with pytest.raises(tile.CompilationError, match=r"64 bits|out of range"):
        kernel[(1,)](out, value, tl.int64)
    assert not out.any()


@pytest.mark.parametrize(
    ("kind", "value", "stored"),
    [
        ("int8", 300, 44), ("uint8", -1, 255), ("int64", 2**64 - 1, -1), ("int32", 2**32 - 1, -1),
        ("int32", math.inf, 2**31 - 1), ("int32", -math.inf, -(2**31)), ("int32", math.nan, 0),
        ("int16", -1e9, -(2**15)), ("uint16", -2.5, 0), ("uint64", 1e30, 2**64 - 1),
        ("int32", 2.75, 2), ("int32", -2.75, -2), ("int1", 2, 1), ("int1", 0.5, 1), ("int1", 0, 0),
    ],
)  # fmt: skip
def test_constants_of_integer_types(kind, value, stored):
    name = kind if kind != "int1" else "bool"
    out = np.zeros(4, name)
    fill[(1,)](out, value, getattr(tl, kind))
    assert [int(v) for v in out] == [stored] * 4


@tile.jit
def masked(x, out, OTHER: tl.constexpr):
    i = tl.arange(0, 4)
    tl.store(out + i, tl.load(x + i, i < 2, other=OTHER))


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint32, np.int64])
def test_infinite_padding_of_integers(kind):
    x, out = np.array([1, 2, 3, 4], kind), np.zeros(4, kind)
    masked[(1,)](x, out, -math.inf)
    low = np.iinfo(kind).min
    assert out.tolist() == [1, 2, low, low]
