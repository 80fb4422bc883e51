"""A function of the device library."""

import inspect

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

assert inspect.ismodule(libdevice)


@triton.jit
def asin_kernel(x_ptr, y_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    x = libdevice.asin(x)
    tl.store(y_ptr + offsets, x, mask=mask)


x = np.random.default_rng(0).random(100, np.float32)
y = np.zeros_like(x)
grid = lambda meta: (triton.cdiv(x.size, meta["BLOCK_SIZE"]),)  # noqa: E731
asin_kernel[grid](x, y, x.size, BLOCK_SIZE=64)
np.testing.assert_allclose(y, np.arcsin(x), rtol=1e-5)
