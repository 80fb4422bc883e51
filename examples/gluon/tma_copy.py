"""A copy of a matrix by the copy engine of sm_90: bulk copies into shared memory, and out of it."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def scale_kernel(src, dst, factor, REGISTERS: gl.constexpr):
    row = gl.program_id(0) * src.block_shape[0]
    column = gl.program_id(1) * src.block_shape[1]
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta)
    tma.async_load(src, [row, column], barrier, buffer)
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)
    x = buffer.load(REGISTERS)
    buffer.store((x * factor).to(src.dtype))
    fence_async_shared()
    tma.async_store(dst, [row, column], buffer)
    tma.store_wait(0)


def scale(x, out, factor, block=(32, 64), num_warps: int = 4, **options):
    """``out = x * factor``; rows are multiples of 16 bytes."""
    element = {2: gl.float16, 4: gl.float32}[x.dtype.itemsize]
    layout = gl.NVMMASharedLayout.get_default_for(list(block), element)
    registers = gl.BlockedLayout([1, 4], [2, 16], [num_warps, 1], [1, 0])
    grid = tuple(tile.cdiv(extent, b) for extent, b in zip(x.shape, block, strict=True))
    source, target = (TensorDescriptor.from_tensor(t, list(block), layout) for t in (x, out))
    return scale_kernel[grid](source, target, factor, registers, num_warps=num_warps, **options)


def main(device) -> None:
    rng = np.random.default_rng(4)
    for dtype, shape in (("float16", (64, 128)), ("float32", (100, 200)), ("float16", (33, 8))):
        x = rng.standard_normal(shape).astype(dtype)
        out = device.empty_like(x)
        kernel = scale(device.put(x), out, 2.0)
        device.check("tma copy", kernel, device.get(out), x + x)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
