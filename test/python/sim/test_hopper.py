"""Kernels as they are written for Hopper run without a finding, and are right."""

from __future__ import annotations

import hopper
import numpy as np
import pytest


def test_copy():
    x = np.arange(128 * 192, dtype=np.float32).reshape(128, 192)
    y = np.zeros_like(x)
    hopper.launch_copy(x, y)
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("steps", [1, 2, 5, 9])
@pytest.mark.parametrize("kernel", ["product", "warp_specialized"])
def test_product(kernel, steps):
    rng = np.random.default_rng(steps)
    a, b = (rng.integers(-4, 5, (256, 64 * steps)).astype(np.float16) for _ in range(2))
    c = np.full((256, 256), np.nan, np.float32)
    hopper.launch_product(getattr(hopper, kernel)(), a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
