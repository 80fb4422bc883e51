"""Kernels for `tile explain`: two that are slow, and how one of them is written well. The argument
is how many columns a block of the good one has."""

from __future__ import annotations

import sys

import numpy as np

import tile
import tile.language as tl


@tile.jit
def column_sums(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    # Neighbouring threads read neighbouring rows, which are far apart in memory.
    column = tl.program_id(0)
    rows = tl.arange(0, ROWS)
    tl.store(out_ptr + column, tl.sum(tl.load(x_ptr + rows * COLUMNS + column), 0))


@tile.jit
def column_sums_coalesced(
    x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, B: tl.constexpr
):
    # A block has several columns, which lie side by side.
    rows, columns = tl.arange(0, ROWS), tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + rows[:, None] * COLUMNS + columns[None, :])
    tl.store(out_ptr + columns, tl.sum(x, 0))


@tile.jit
def repeat(x_ptr, out_ptr, steps, width, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(steps):
        # A division for each element and each iteration.
        total += tl.load(x_ptr + (i * BLOCK + offsets) // width)
    tl.store(out_ptr + offsets, total)


def main(width: int = 32) -> None:
    rng = np.random.default_rng(38)
    x = rng.standard_normal((128, 256)).astype(np.float32)
    expected = x.astype(np.float64).sum(0)
    for kernel, grid, more in (
        (column_sums, 256, {}),
        (column_sums_coalesced, 256 // width, {"B": width}),
    ):
        out = np.full(256, np.nan, np.float32)
        kernel[(grid,)](x, out, ROWS=128, COLUMNS=256, **more)
        np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)
    steps, width, block = 5, 7, 128
    out = np.full(block, np.nan, np.float32)
    repeat[(1,)](x, out, steps, width, BLOCK=block)
    places = (np.arange(steps * block) // width).reshape(steps, block)
    np.testing.assert_allclose(out, x.ravel()[places].sum(0), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
