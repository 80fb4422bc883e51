"""Kernels that do nothing, for measuring what a launch costs."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor  # noqa: F401


@tile.jit
def nothing():
    pass


@tile.jit
def empty_kernel(a, b, c, d, e, m, n, k, stride_a, stride_b, stride_c):
    pass


@tile.jit
def nineteen(a, b, c, d, e, f, g, h, i, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9):
    pass


@tile.jit
def apart(a, b, count):
    """Loads are started before stores through the other argument: launches compare the two."""
    i = tl.arange(0, 128)
    for k in tl.range(0, count, num_stages=3):
        tl.store(b + k * 128 + i, tl.load(a + k * 128 + i))


@tile.jit
def tuples(pointers, sizes):
    pass


@tile.jit
def descriptor(d):
    pass


def main(device) -> None:
    nothing[(1,)]()
    a = np.random.default_rng(0).standard_normal(256).astype(np.float32)
    b = device.empty_like(a)
    kernel = apart[(1,)](device.put(a), b, 2)
    device.check("copy", kernel, device.get(b), a)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
