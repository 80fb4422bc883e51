"""The sum of two vectors, in a layout that the program chooses."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl


@gluon.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: gl.constexpr, LAYOUT: gl.constexpr):
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=LAYOUT)
    mask = offsets < n
    total = gl.load(x_ptr + offsets, mask) + gl.load(y_ptr + offsets, mask)
    gl.store(out_ptr + offsets, total, mask)


def add(x, y, out, layout=None, block: int = 1024, num_warps: int = 4, **options):
    """``out = x + y``. Each thread takes four neighbours at a time, unless `layout` says more."""
    if layout is None:
        layout = gl.BlockedLayout([4], [32], [num_warps], [0])
    n = x.shape[0]
    grid = (tile.cdiv(n, block),)
    return add_kernel[grid](x, y, out, n, block, layout, num_warps=num_warps, **options)


def main(device) -> None:
    rng = np.random.default_rng(0)
    layouts = (None, gl.BlockedLayout([1], [32], [4], [0]), gl.CoalescedLayout())
    for dtype, n, layout in zip((np.float32, np.float16, np.int32), (4096, 1000, 77), layouts):  # noqa: B905
        x, y = ((rng.standard_normal(n) * 100).astype(dtype) for _ in range(2))
        out = device.empty_like(x)
        kernel = add(device.put(x), device.put(y), out, layout)
        device.check("vector add", kernel, device.get(out), x + y)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
