"""A masked copy between two-dimensional views with arbitrary strides."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl


@tile.jit
def copy_kernel(
    in_ptr, out_ptr, M, N, in_s0, in_s1, out_s0, out_s1, BM: tl.constexpr, BN: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    mask = (rows < M) & (cols < N)
    x = tl.load(in_ptr + rows * in_s0 + cols * in_s1, mask=mask)
    tl.store(out_ptr + rows * out_s0 + cols * out_s1, x, mask=mask)


def strided_copy(src, dst, shape, src_strides, dst_strides, block: int = 32, **options):
    """Copies a ``shape`` view of ``src`` to one of ``dst``; strides are in elements."""
    grid = tuple(tile.cdiv(n, block) for n in shape)
    return copy_kernel[grid](
        src, dst, *shape, *src_strides, *dst_strides, BM=block, BN=block, **options
    )


def main(device) -> None:
    rng = np.random.default_rng(4)
    for dtype, shape in ((np.float32, (50, 70)), (np.int32, (1, 129)), (np.float16, (64, 64))):
        m, n = shape
        src = (rng.standard_normal((m, 2 * n)) * 1000).astype(dtype)
        dst = np.zeros((n, m + 3), dtype)
        out = device.put(dst)
        kernel = strided_copy(device.put(src), out, shape, (2 * n, 2), (1, m + 3))
        expected = dst.copy()
        expected[:, :m] = src[:, ::2].T
        device.check("strided copy", kernel, device.get(out), expected)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
