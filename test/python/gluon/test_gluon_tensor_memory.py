"""Buffers in tensor memory: what is stored by some instructions is loaded by others."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from addresses import pointers

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia import blackwell
from tile.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout

sm100 = pytest.mark.parametrize("target", ["cuda:100"], indirect=True)

TYPES = {
    "f32": (gl.float32, np.float32), "i32": (gl.int32, np.int32), "f16": (gl.float16, np.float16),
    "bf16": (gl.bfloat16, ml_dtypes.bfloat16), "i16": (gl.int16, np.int16),
    "i8": (gl.int8, np.int8), "e5m2": (gl.float8e5, ml_dtypes.float8_e5m2),
}  # fmt: skip
VARIANTS = ["32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2", "32x32b_splitn"]


def bits_of(rng, dtype, shape) -> np.ndarray:
    """Any bits that a move keeps."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape)) * kind.itemsize
    return rng.integers(0, 256, size, np.uint8).view(kind).reshape(shape)


def same_bits(actual: np.ndarray, expected: np.ndarray) -> None:
    bytes_of = [np.ascontiguousarray(x).view(np.uint8) for x in (actual, expected)]
    np.testing.assert_array_equal(*bytes_of)


def poison(shape, dtype) -> np.ndarray:
    out = np.empty(shape, dtype)
    out.view(np.uint8)[...] = 0xA5
    return out


def type_of(dtype, shape, layout):
    return blackwell.tensor_memory_descriptor_type(dtype, shape, layout, shape)


def registers_of(dtype, shape, layout, warps, variant):
    """The layout of registers, or None where no such instruction loads the buffer."""
    from tile.experimental.gluon.language.nvidia.blackwell._layouts import register_layout

    try:
        return register_layout(type_of(dtype, shape, layout), warps, variant)
    except tile.TileError as error:
        assert f"no '{variant}' loads" in str(error)
        return None


@gluon.jit
def move(
    x_ptr, y_ptr, DTYPE: gl.constexpr, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr,
    STORE: gl.constexpr, LOAD: gl.constexpr,
):  # fmt: skip
    buffer = blackwell.allocate_tensor_memory(DTYPE, [M, N], LAYOUT)
    buffer.store(gl.load(pointers(x_ptr, M, N, STORE)))
    gl.store(pointers(y_ptr, M, N, LOAD), buffer.load(LOAD))


@sm100
@pytest.mark.parametrize("warps", [4])
@pytest.mark.parametrize("rows", [64, 128])
@pytest.mark.parametrize("store", VARIANTS)
@pytest.mark.parametrize("load", VARIANTS)
def test_variants(warps, rows, store, load, target):
    layout = TensorMemoryLayout([rows, 32], 1)
    to, back = (registers_of(gl.float32, [rows, 32], layout, warps, v) for v in (store, load))
    if to is None or back is None:
        pytest.skip("no such instruction")
    x = bits_of(np.random.default_rng(0), np.float32, (rows, 32))
    y = poison(x.shape, x.dtype)
    move[(1,)](x, y, gl.float32, rows, 32, layout, to, back, num_warps=warps)
    same_bits(y, x)


def random_case(rng):
    """A buffer, and layouts to store and to load it."""
    while True:
        name = str(rng.choice(list(TYPES)))
        dtype, kind = TYPES[name]
        width = np.dtype(kind).itemsize
        stride = int(rng.choice([s for s in (1, 2, 4) if s * width <= 4]))
        block = [int(rng.choice([64, 128])), 1 << int(rng.integers(0, 8))]
        shape = [block[0] * int(rng.choice([1, 1, 2, 4])), block[1] * int(rng.choice([1, 1, 2]))]
        columns = shape[0] // 64 * shape[1] * width * stride // 4
        if columns > 512 or shape[0] * shape[1] > 1 << 14:
            continue
        layout = TensorMemoryLayout(block, stride)
        warps = 4
        fits = [registers_of(dtype, shape, layout, warps, v) for v in VARIANTS]
        fits = [layout for layout in fits if layout is not None]
        if fits:
            store, load = (fits[int(rng.integers(len(fits)))] for _ in range(2))
            return name, shape, layout, store, load, warps


@sm100
@pytest.mark.parametrize("seed", range(24))
def test_random_buffers(seed, target):
    rng = np.random.default_rng(seed)
    name, shape, layout, store, load, warps = random_case(rng)
    dtype, kind = TYPES[name]
    x = bits_of(rng, kind, shape)
    y = poison(shape, kind)
    move[(1,)](x, y, dtype, *shape, layout, store, load, num_warps=warps)
    same_bits(y, x)
