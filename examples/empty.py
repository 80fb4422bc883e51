"""Kernels that do nothing, for measuring what a launch costs."""

from __future__ import annotations

import tile
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
def tuples(pointers, sizes):
    pass


@tile.jit
def descriptor(d):
    pass
