"""Softmax over the rows of a matrix, one row a program, read once and written once."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl


@tile.jit
def softmax_kernel(out_ptr, in_ptr, in_stride, out_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(in_ptr + row * in_stride + cols, mask=mask, other=-float("inf")).to(tl.float32)
    x = x - tl.max(x, axis=0)
    numerator = tl.exp(x)
    result = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * out_stride + cols, result.to(out_ptr.dtype.element_ty), mask=mask)


def softmax(x, out, **options):
    """Row-wise softmax of a matrix of up to 16384 columns."""
    rows, cols = x.shape
    block = tile.next_power_of_2(cols)
    options.setdefault("num_warps", 4 if block <= 2048 else 8)
    return softmax_kernel[(rows,)](out, x, cols, cols, cols, BLOCK=block, **options)


def reference(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def main(device) -> None:
    rng = np.random.default_rng(1)
    for dtype, shape in ((np.float32, (7, 1)), (np.float32, (33, 781)), (np.float16, (5, 8192))):
        x = rng.standard_normal(shape).astype(dtype)
        out = device.empty_like(x)
        kernel = softmax(device.put(x), out)
        device.check("softmax", kernel, device.get(out), reference(x))


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
