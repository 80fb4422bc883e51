"""Blocks of any rank in tests of collective operations."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import tile
import tile.language as tl

KINDS = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "fp64": np.float64,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
}  # fmt: skip
SHAPES = [(64,), (2,), (8, 16), (1, 32), (4, 2, 8), (16, 1, 4), (2, 4, 2, 8), (2, 2, 4, 2, 4)]
CASES = [(shape, axis) for shape in SHAPES for axis in range(len(shape))]
WARPS = (1, 2, 4, 8, 16)


def warps_for(*parts: object) -> int:
    """A number of warps that depends on the case only."""
    return WARPS[sum(map(ord, repr(parts))) % len(WARPS)]


def values(shape, dtype: str, seed: int = 0, ties: bool = False) -> np.ndarray:
    generator = np.random.default_rng(seed)
    kind = KINDS[dtype]
    if ties:
        return generator.integers(0, 4, shape).astype(kind)
    if np.dtype(kind).kind in "iu":
        info = np.iinfo(kind)
        return generator.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
    # Small multiples of a power of two, so that sums are exact in every order.
    return (generator.integers(-32, 32, shape) / 4).astype(kind)


@tile.constexpr_function
def _strides(shape):
    result = [1]
    for extent in shape[:0:-1]:
        result.insert(0, result[0] * extent)
    return result


@tile.jit
def offsets(shape: tl.constexpr):
    """Where the elements of a row-major block are."""
    strides: tl.constexpr = _strides(shape)
    result = tl.zeros(shape, tl.int32)
    for d in tl.static_range(len(shape)):
        index = tl.arange(0, shape[d])
        for e in tl.static_range(len(shape)):
            if e != d:
                index = tl.expand_dims(index, e)
        result += index * strides[d]
    return result


@tile.jit
def put(out_ptr, value):
    if isinstance(value, tl.tensor) and value.type.is_block():
        tl.store(out_ptr + offsets(value.shape), value)
    else:
        tl.store(out_ptr, value)
