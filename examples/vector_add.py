"""Vector add with a ragged tail: the smallest kernel."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl


@tile.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x, y, out, block: int = 1024, **options):
    """``out = x + y`` for one-dimensional arrays or tensors of one length."""
    n = x.shape[0]
    return add_kernel[(tile.cdiv(n, block),)](x, y, out, n, BLOCK=block, **options)


def main(device) -> None:
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float16, np.int32):
        x, y = ((rng.standard_normal(98_432) * 100).astype(dtype) for _ in range(2))
        out = device.empty_like(x)
        kernel = add(device.put(x), device.put(y), out)
        device.check("vector add", kernel, device.get(out), np.add(x, y))


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
