"""Transpose of a matrix, tile by tile: reads and writes are both coalesced."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl


@tile.jit
def transpose_kernel(in_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(in_ptr + rows[:, None] * N + cols[None, :], mask=mask)
    tl.store(out_ptr + cols[:, None] * M + rows[None, :], tl.trans(x), mask=tl.trans(mask))


def transpose(x, out, block: int = 64, **options):
    """``out = x.T`` for a row-major matrix."""
    m, n = x.shape
    grid = (tile.cdiv(m, block), tile.cdiv(n, block))
    return transpose_kernel[grid](x, out, m, n, BM=block, BN=block, **options)


def main(device) -> None:
    rng = np.random.default_rng(2)
    for dtype, shape in ((np.float32, (256, 128)), (np.float16, (200, 333)), (np.int32, (65, 1))):
        x = (rng.standard_normal(shape) * 1000).astype(dtype)
        out = device.empty_like(x.T)
        kernel = transpose(device.put(x), out)
        device.check("transpose", kernel, device.get(out), x.T)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
