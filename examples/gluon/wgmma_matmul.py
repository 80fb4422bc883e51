"""Matrix product on sm_90: bulk copies fill a ring of buffers, warp groups multiply them. Either
the same warps do both, or a partition of one warp copies while the others multiply."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def start_copies(a, b, sa, sb, ready, i, j, k, pred=True):
    """Has the tiles of one step along K copied; `ready` tells when they are there."""
    mbarrier.expect(ready, a.nbytes_per_cta + b.nbytes_per_cta, pred)
    tma.async_load(a, [i * a.block_shape[0], k * a.block_shape[1]], ready, sa, pred)
    tma.async_load(b, [k * b.block_shape[0], j * b.block_shape[1]], ready, sb, pred)


@gluon.jit
def store_tile(c, acc, i, j):
    """Writes a tile by a bulk copy."""
    buffer = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    buffer.store(acc.to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [i * c.block_shape[0], j * c.block_shape[1]], buffer)
    tma.store_wait(0)


@gluon.jit
def make_ring(a, b, STAGES: gl.constexpr):
    """Buffers for the tiles of several steps."""
    sa = gl.allocate_shared_memory(a.dtype, [STAGES, *a.block_shape], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [STAGES, *b.block_shape], b.layout)
    return sa, sb


@gluon.jit
def pipelined_kernel(a, b, c, K, STAGES: gl.constexpr, MMA: gl.constexpr):
    i, j = gl.program_id(0), gl.program_id(1)
    steps = gl.cdiv(K, a.block_shape[1])
    sa, sb = make_ring(a, b, STAGES)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
    for s in gl.static_range(STAGES - 1):
        start_copies(a, b, sa.index(s), sb.index(s), ready.index(s), i, j, s, s < steps)
    acc = warpgroup_mma_init(gl.zeros([c.block_shape[0], c.block_shape[1]], gl.float32, MMA))
    for k in range(steps):
        stage = k % STAGES
        mbarrier.wait(ready.index(stage), (k // STAGES) & 1)
        acc = warpgroup_mma(sa.index(stage), sb.index(stage), acc, is_async=True)
        # All dots but this one are done: the buffers of the last can be filled again.
        acc = warpgroup_mma_init(warpgroup_mma_wait(0, deps=(acc,)))
        ahead = k + STAGES - 1
        slot = ahead % STAGES
        start_copies(
            a, b, sa.index(slot), sb.index(slot), ready.index(slot), i, j, ahead, ahead < steps
        )
    total = warpgroup_mma_wait(0, deps=(acc,))
    for s in gl.static_range(STAGES):
        mbarrier.invalidate(ready.index(s))
    store_tile(c, total, i, j)


@gluon.jit
def multiply_tiles(sa, sb, ready, empty, c, steps, i, j, STAGES: gl.constexpr, MMA: gl.constexpr):
    acc = warpgroup_mma_init(gl.zeros([c.block_shape[0], c.block_shape[1]], gl.float32, MMA))
    for k in range(steps):
        stage = k % STAGES
        mbarrier.wait(ready.index(stage), (k // STAGES) & 1)
        acc = warpgroup_mma(sa.index(stage), sb.index(stage), acc, is_async=True)
        # This dot goes on. The one before it has read its buffers.
        acc = warpgroup_mma_init(warpgroup_mma_wait(1, deps=(acc,)))
        mbarrier.arrive(empty.index((k + STAGES - 1) % STAGES), pred=k > 0)
    store_tile(c, warpgroup_mma_wait(0, deps=(acc,)), i, j)


@gluon.jit
def copy_tiles(a, b, sa, sb, ready, empty, steps, i, j, STAGES: gl.constexpr):
    for k in range(steps):
        stage = k % STAGES
        # Of a barrier that nobody arrived at yet, the phase before the first has ended.
        mbarrier.wait(empty.index(stage), (k // STAGES + 1) & 1)
        start_copies(a, b, sa.index(stage), sb.index(stage), ready.index(stage), i, j, k)


@gluon.jit
def specialized_kernel(a, b, c, K, STAGES: gl.constexpr, MMA: gl.constexpr):
    i, j = gl.program_id(0), gl.program_id(1)
    steps = gl.cdiv(K, a.block_shape[1])
    sa, sb = make_ring(a, b, STAGES)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    gl.warp_specialize(
        [
            (multiply_tiles, (sa, sb, ready, empty, c, steps, i, j, STAGES, MMA)),
            (copy_tiles, (a, b, sa, sb, ready, empty, steps, i, j, STAGES)),
        ],
        worker_num_warps=[1],
        worker_num_regs=[24],
    )


def matmul(a, b, c, specialize: bool = False, block=(128, 128, 64), stages: int = 3, **options):
    """``c = a @ b`` of fp16; rows of all three are multiples of 16 bytes."""
    (m, k), (_, n) = a.shape, b.shape
    bm, bn, bk = block
    num_warps = options.setdefault("num_warps", 4)
    mma = gl.NVMMADistributedLayout([3, 0], [num_warps, 1], [16, bn, 16])
    blocks = {"a": [bm, bk], "b": [bk, bn], "c": [bm, bn]}
    descs = [
        TensorDescriptor.from_tensor(
            tensor, blocks[name], gl.NVMMASharedLayout.get_default_for(blocks[name], gl.float16)
        )
        for name, tensor in (("a", a), ("b", b), ("c", c))
    ]
    kernel = specialized_kernel if specialize else pipelined_kernel
    grid = (tile.cdiv(m, bm), tile.cdiv(n, bn))
    return kernel[grid](*descs, k, stages, mma, **options)


def main(device) -> None:
    rng = np.random.default_rng(5)
    for specialize in (False, True):
        for m, n, k in ((256, 256, 256), (200, 136, 72)):
            a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
            expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
            c = device.empty_like(expected)
            kernel = matmul(device.put(a), device.put(b), c, specialize)
            device.check("wgmma matmul", kernel, device.get(c), expected)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
