"""tl.gather inside warps and across them."""

from __future__ import annotations

import numpy as np
import pytest
from reference import on_nvidia, poisoned, random

import tile
import tile.language as tl


@tile.jit
def gather_kernel(
    x, index, out, AXIS: tl.constexpr,
    ROWS: tl.constexpr, COLS: tl.constexpr, OUT_ROWS: tl.constexpr, OUT_COLS: tl.constexpr,
):  # fmt: skip
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    out_rows, out_cols = tl.arange(0, OUT_ROWS), tl.arange(0, OUT_COLS)
    at = out_rows[:, None] * OUT_COLS + out_cols[None, :]
    source = tl.load(x + rows[:, None] * COLS + cols[None, :])
    tl.store(out + at, tl.gather(source, tl.load(index + at), AXIS))


@pytest.mark.sweep
@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("dtype", ["i8", "fp16", "fp32", "i64"])
@pytest.mark.parametrize(
    ("shape", "axis", "length"),
    [
        ((16, 32), 1, 32),
        ((16, 32), 0, 16),
        ((64, 8), 1, 16),
        ((32, 64), 1, 8),
        ((4, 4), 0, 32),
        ((1, 256), 1, 64),
        ((128, 2), 0, 128),
    ],
)
def test_gather(shape, axis, length, dtype, num_warps):
    out_shape = tuple(length if d == axis else n for d, n in enumerate(shape))
    x = random(shape, dtype, 1)
    index = np.random.default_rng(2).integers(0, shape[axis], out_shape).astype(np.int32)
    out = poisoned(out_shape, dtype)
    gather_kernel[(1,)](x, index, out, axis, *shape, *out_shape, num_warps=num_warps)
    np.testing.assert_array_equal(out, np.take_along_axis(x, index, axis))


def test_rows_of_a_warp_are_exchanged():
    x = random((16, 32), "fp32", 1)
    index = np.random.default_rng(2).integers(0, 32, (16, 32)).astype(np.int32)
    out = poisoned((16, 32), "fp32")
    kernel = gather_kernel[(1,)](x, index, out, 1, 16, 32, 16, 32)
    if on_nvidia():
        assert "shfl.sync.idx" in kernel.asm["ptx"]
    else:
        assert "ds_bpermute_b32" in kernel.asm["amdgcn"]
    np.testing.assert_array_equal(out, np.take_along_axis(x, index, 1))
