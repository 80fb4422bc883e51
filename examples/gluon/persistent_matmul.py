"""Matrix product on sm_90 by as many programs as there are multiprocessors. Each goes from tile to
tile: while the copy engine stores one tile, the next one is multiplied."""

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
def start_step(a, b, sa, sb, ready, step, total, steps, columns, STAGES: gl.constexpr):
    """Has the operands of a step copied. Steps are counted through all tiles of the program, so
    that the ring is never empty between two tiles."""
    slot = step % STAGES
    number = gl.program_id(0) + step // steps * gl.num_programs(0)
    i, j, k = number // columns, number % columns, step % steps
    bar, pred = ready.index(slot), step < total
    mbarrier.expect(bar, a.nbytes_per_cta + b.nbytes_per_cta, pred)
    tma.async_load(a, [i * a.block_shape[0], k * a.block_shape[1]], bar, sa.index(slot), pred)
    tma.async_load(b, [k * b.block_shape[0], j * b.block_shape[1]], bar, sb.index(slot), pred)


@gluon.jit
def persistent_kernel(a, b, c, M, N, K, STAGES: gl.constexpr, MMA: gl.constexpr):
    BM: gl.constexpr = c.block_shape[0]
    BN: gl.constexpr = c.block_shape[1]
    steps = gl.cdiv(K, a.block_shape[1])
    columns = gl.cdiv(N, BN)
    tiles = gl.cdiv(M, BM) * columns
    first, programs = gl.program_id(0), gl.num_programs(0)
    mine = gl.cdiv(tiles - first, programs)
    total = mine * steps
    sa = gl.allocate_shared_memory(a.dtype, [STAGES, *a.block_shape], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [STAGES, *b.block_shape], b.layout)
    sc = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
    for s in gl.static_range(STAGES - 1):
        start_step(a, b, sa, sb, ready, s, total, steps, columns, STAGES)
    step = 0
    for n in range(mine):
        acc = warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, MMA))
        for _ in range(steps):
            slot = step % STAGES
            mbarrier.wait(ready.index(slot), (step // STAGES) & 1)
            acc = warpgroup_mma(sa.index(slot), sb.index(slot), acc, is_async=True)
            acc = warpgroup_mma_init(warpgroup_mma_wait(0, deps=(acc,)))
            # All warps have read the slot before this one, which is filled again.
            gl.barrier()
            start_step(a, b, sa, sb, ready, step + STAGES - 1, total, steps, columns, STAGES)
            step += 1
        result = warpgroup_mma_wait(0, deps=(acc,))
        # The last tile was stored while this one was multiplied: its buffer is free by now.
        tma.store_wait(0)
        gl.barrier()
        sc.store(result.to(c.dtype))
        fence_async_shared()
        gl.barrier()
        number = first + n * programs
        tma.async_store(c, [number // columns * BM, number % columns * BN], sc)
    tma.store_wait(0)
    for s in gl.static_range(STAGES):
        mbarrier.invalidate(ready.index(s))


def arguments(a, b, c, block, stages, num_warps=4):
    (m, k), (_, n) = a.shape, b.shape
    bm, bn, bk = block
    mma = gl.NVMMADistributedLayout([3, 0], [num_warps, 1], [16, bn, 16])
    descs = [
        TensorDescriptor.from_tensor(
            tensor, shape, gl.NVMMASharedLayout.get_default_for(shape, gl.float16)
        )
        for tensor, shape in ((a, [bm, bk]), (b, [bk, bn]), (c, [bm, bn]))
    ]
    return (*descs, m, n, k, stages, mma)


def matmul(a, b, c, programs: int = 132, block=(128, 128, 64), stages: int = 3, **options):
    """``c = a @ b`` of fp16; rows of all three are multiples of 16 bytes."""
    num_warps = options.setdefault("num_warps", 4)
    tiles = tile.cdiv(c.shape[0], block[0]) * tile.cdiv(c.shape[1], block[1])
    given = arguments(a, b, c, block, stages, num_warps)
    return persistent_kernel[(min(programs, tiles),)](*given, **options)


def main(device) -> None:
    rng = np.random.default_rng(6)
    for m, n, k in ((256, 384, 128), (200, 136, 72)):
        a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
        expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
        c = device.empty_like(expected)
        kernel = matmul(device.put(a), device.put(b), c, programs=2)
        device.check("persistent", kernel, device.get(c), expected)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
