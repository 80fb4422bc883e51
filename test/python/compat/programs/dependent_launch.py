"""Launches that overlap: the second kernel starts before the first has ended, and
waits where it needs what the first stores."""

import numpy as np
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr, USE_GDC: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    if USE_GDC:
        gdc_wait()
        gdc_launch_dependents()
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
one, two = np.empty_like(x), np.empty_like(x)
grid = (triton.cdiv(x.size, 256),)
add_kernel[grid](x, x, one, x.size, BLOCK=256, USE_GDC=True, launch_pdl=True)
kernel = add_kernel[grid](one, x, two, x.size, BLOCK=256, USE_GDC=True, launch_pdl=True)
assert "griddepcontrol.wait" in kernel.asm["ptx"]
assert kernel.metadata.launch_pdl
np.testing.assert_allclose(two, 3 * x, rtol=1e-6)
