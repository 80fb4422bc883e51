"""Transpose of a matrix through shared memory: read along its rows, written along its columns, and
without bank conflicts in between."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl


@gluon.jit
def transpose_kernel(
    in_ptr, out_ptr, M, N, BLOCK: gl.constexpr, READ: gl.constexpr, WRITE: gl.constexpr,
    SHARED: gl.constexpr,
):  # fmt: skip
    row, column = gl.program_id(0) * BLOCK, gl.program_id(1) * BLOCK
    # As the matrix lies in memory: threads of a warp side by side along rows.
    rows = row + gl.arange(0, BLOCK, layout=gl.SliceLayout(1, READ))
    columns = column + gl.arange(0, BLOCK, layout=gl.SliceLayout(0, READ))
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    x = gl.load(in_ptr + rows[:, None] * N + columns[None, :], mask)
    buffer = gl.allocate_shared_memory(in_ptr.dtype.element_ty, [BLOCK, BLOCK], SHARED)
    buffer.store(x)
    # As the result lies in memory.
    y = buffer.permute((1, 0)).load(WRITE)
    rows = column + gl.arange(0, BLOCK, layout=gl.SliceLayout(1, WRITE))
    columns = row + gl.arange(0, BLOCK, layout=gl.SliceLayout(0, WRITE))
    mask = (rows[:, None] < N) & (columns[None, :] < M)
    gl.store(out_ptr + rows[:, None] * M + columns[None, :], y, mask)


def layouts(block: int, num_warps: int, bits: int):
    """Of both accesses to global memory, which go along rows, and of the buffer between them."""
    registers = gl.BlockedLayout([1, 1], [1, 32], [num_warps, 1], [1, 0])
    # Words of four bytes change places, by another number in each row: a column is spread over all
    # banks.
    shared = gl.SwizzledSharedLayout(max(1, 32 // bits), 1, min(block * bits // 32, 32), [1, 0])
    return registers, registers, shared


def transpose(x, out, block: int = 64, num_warps: int = 4, bits: int = 32, **options):
    """``out = x.T`` for a row-major matrix."""
    m, n = x.shape
    grid = (tile.cdiv(m, block), tile.cdiv(n, block))
    read, write, shared = layouts(block, num_warps, bits)
    return transpose_kernel[grid](
        x, out, m, n, block, read, write, shared, num_warps=num_warps, **options
    )


def main(device) -> None:
    rng = np.random.default_rng(2)
    for dtype, shape in ((np.float32, (256, 128)), (np.float16, (200, 333)), (np.int32, (65, 1))):
        x = (rng.standard_normal(shape) * 1000).astype(dtype)
        out = device.empty_like(x.T)
        kernel = transpose(device.put(x), out, bits=8 * x.itemsize)
        device.check("transpose", kernel, device.get(out), x.T)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
