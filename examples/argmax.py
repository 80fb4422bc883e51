"""The place and value of the largest element of each row; the leftmost wins a tie."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl


@tile.jit
def argmax_kernel(in_ptr, index_ptr, value_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"))
    value, index = tl.max(x, axis=0, return_indices=True)
    tl.store(index_ptr + row, index)
    tl.store(value_ptr + row, value)


def argmax(x, index, value, **options):
    """Writes each row's argmax to ``index`` (int32) and its maximum to ``value``."""
    rows, cols = x.shape
    return argmax_kernel[(rows,)](
        x, index, value, cols, BLOCK=tile.next_power_of_2(cols), **options
    )


def main(device) -> None:
    rng = np.random.default_rng(3)
    for dtype, shape in ((np.float32, (31, 1000)), (np.float16, (64, 37))):
        # Few distinct values, so that ties are common.
        x = rng.integers(-50, 50, shape).astype(dtype)
        index = device.empty_like(np.empty(shape[0], np.int32))
        value = device.empty_like(np.empty(shape[0], dtype))
        kernel = argmax(device.put(x), index, value)
        device.check("argmax", kernel, device.get(index), x.argmax(axis=1))
        device.check("max", kernel, device.get(value), x.max(axis=1))


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
