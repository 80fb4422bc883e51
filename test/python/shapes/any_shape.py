"""Blocks whose extents are no powers of two: their shapes, and results that are checked."""

from __future__ import annotations

import numpy as np
from blocks import warps_for

#: One piece more than a power of two, one less, tails, several dimensions.
SHAPES = [(96,), (3,), (1000,), (7,), (12, 80), (48, 1), (2, 3, 20), (5, 4, 3)]
CASES = [(shape, axis) for shape in SHAPES for axis in range(len(shape))]
TAIL = 3


def poisoned(shape, dtype) -> np.ndarray:
    """A buffer for a result, and a few elements behind it."""
    size = int(np.prod(shape, dtype=np.int64)) + TAIL
    poison = np.arange(size, dtype=np.int64) * 37 + 11
    return (poison % 89).astype(dtype)


def taken(out: np.ndarray, shape) -> np.ndarray:
    """The result, once nothing behind it has changed."""
    assert (out[-TAIL:] == poisoned((out.size - TAIL,), out.dtype)[-TAIL:]).all()
    return out[:-TAIL].reshape(shape)


def run(kernel, x, shape, dtype, *arguments, **constants) -> np.ndarray:
    out = poisoned(shape, dtype)
    warps = warps_for(kernel.__name__, x.shape, constants)
    kernel[(1,)](x, out, *arguments, **constants, num_warps=warps)
    return taken(out, shape)
