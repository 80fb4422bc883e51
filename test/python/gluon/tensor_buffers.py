"""Buffers in tensor memory: their types, their targets, and the layouts of registers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tile
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia import blackwell
from tile.experimental.gluon.language.nvidia.blackwell._layouts import register_layout

blackwells = pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)
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


def ty_registers(ty, warps, variant):
    """The layout of registers, or None where no such instruction loads the buffer."""
    try:
        return register_layout(ty, warps, variant)
    except tile.TileError as error:
        assert f"no '{variant}' loads" in str(error)
        return None


def registers_of(dtype, shape, layout, warps, variant):
    ty = blackwell.tensor_memory_descriptor_type(dtype, shape, layout, shape)
    return ty_registers(ty, warps, variant)
