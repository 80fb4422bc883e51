"""Matrix product on sm_100: bulk copies fill a ring of buffers, one thread has the tensor cores
multiply them, and the sum is in tensor memory. Either all warps do all of this, or a partition of
one warp copies, one of one warp multiplies, and the others store the result."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
    tma,
)
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor


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
    buffer.store(acc.load().to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [i * c.block_shape[0], j * c.block_shape[1]], buffer)
    tma.store_wait(0)


@gluon.jit
def make_ring(a, b, STAGES: gl.constexpr):
    """Buffers for the tiles of several steps, and barriers: `ready` when a buffer is filled,
    `empty` when it has been multiplied."""
    sa = gl.allocate_shared_memory(a.dtype, [STAGES, *a.block_shape], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [STAGES, *b.block_shape], b.layout)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    return sa, sb, ready, empty


@gluon.jit
def pipelined_kernel(a, b, c, K, STAGES: gl.constexpr, ACC: gl.constexpr):
    i, j = gl.program_id(0), gl.program_id(1)
    steps = gl.cdiv(K, a.block_shape[1])
    sa, sb, ready, empty = make_ring(a, b, STAGES)
    acc = allocate_tensor_memory(gl.float32, [c.block_shape[0], c.block_shape[1]], ACC)
    for s in gl.static_range(STAGES - 1):
        start_copies(a, b, sa.index(s), sb.index(s), ready.index(s), i, j, s, s < steps)
    for k in range(steps):
        stage = k % STAGES
        mbarrier.wait(ready.index(stage), (k // STAGES) & 1)
        tcgen05_mma(
            sa.index(stage), sb.index(stage), acc, use_acc=k > 0, mbarriers=[empty.index(stage)]
        )
        # This dot goes on. The buffers of the one before it can be filled again when it is done.
        ahead = k + STAGES - 1
        slot = ahead % STAGES
        mbarrier.wait(empty.index(slot), ((k - 1) // STAGES) & 1, k > 0)
        start_copies(
            a, b, sa.index(slot), sb.index(slot), ready.index(slot), i, j, ahead, ahead < steps
        )
    last = steps - 1
    mbarrier.wait(empty.index(last % STAGES), (last // STAGES) & 1)
    for s in gl.static_range(STAGES):
        mbarrier.invalidate(ready.index(s))
        mbarrier.invalidate(empty.index(s))
    store_tile(c, acc, i, j)


@gluon.jit
def copy_tiles(a, b, sa, sb, ready, empty, steps, i, j, STAGES: gl.constexpr):
    for k in range(steps):
        stage = k % STAGES
        # Of a barrier that nobody arrived at yet, the phase before the first has ended.
        mbarrier.wait(empty.index(stage), (k // STAGES + 1) & 1)
        start_copies(a, b, sa.index(stage), sb.index(stage), ready.index(stage), i, j, k)


@gluon.jit
def multiply_tiles(sa, sb, ready, empty, done, acc, steps, STAGES: gl.constexpr):
    for k in range(steps):
        stage = k % STAGES
        mbarrier.wait(ready.index(stage), (k // STAGES) & 1)
        tcgen05_mma(
            sa.index(stage), sb.index(stage), acc, use_acc=k > 0, mbarriers=[empty.index(stage)]
        )
    # Hears of the end of all of them.
    tcgen05_commit(done)


@gluon.jit
def store_product(c, acc, done, i, j):
    mbarrier.wait(done, 0)
    store_tile(c, acc, i, j)


@gluon.jit
def specialized_kernel(a, b, c, K, STAGES: gl.constexpr, ACC: gl.constexpr):
    i, j = gl.program_id(0), gl.program_id(1)
    steps = gl.cdiv(K, a.block_shape[1])
    sa, sb, ready, empty = make_ring(a, b, STAGES)
    acc = allocate_tensor_memory(gl.float32, [c.block_shape[0], c.block_shape[1]], ACC)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    gl.warp_specialize(
        [
            (store_product, (c, acc, done, i, j)),
            (multiply_tiles, (sa, sb, ready, empty, done, acc, steps, STAGES)),
            (copy_tiles, (a, b, sa, sb, ready, empty, steps, i, j, STAGES)),
        ],
        worker_num_warps=[1, 1],
        worker_num_regs=[24, 24],
    )


def arguments(a, b, c, block, stages):
    bm, bn, bk = block
    descs = [
        TensorDescriptor.from_tensor(
            tensor, shape, gl.NVMMASharedLayout.get_default_for(shape, gl.float16)
        )
        for tensor, shape in ((a, [bm, bk]), (b, [bk, bn]), (c, [bm, bn]))
    ]
    return (*descs, a.shape[1], stages, TensorMemoryLayout([min(bm, 128), bn], col_stride=1))


def matmul(a, b, c, specialize: bool = False, block=(128, 128, 64), stages: int = 3, **options):
    """``c = a @ b`` of fp16; rows of all three are multiples of 16 bytes."""
    kernel = specialized_kernel if specialize else pipelined_kernel
    grid = (tile.cdiv(c.shape[0], block[0]), tile.cdiv(c.shape[1], block[1]))
    return kernel[grid](*arguments(a, b, c, block, stages), **options)


def main(device) -> None:
    rng = np.random.default_rng(8)
    for specialize in (False, True):
        for m, n, k in ((256, 256, 256), (200, 136, 72)):
            a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
            expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
            c = device.empty_like(expected)
            kernel = matmul(device.put(a), device.put(b), c, specialize)
            device.check("tcgen05 matmul", kernel, device.get(c), expected)


if __name__ == "__main__":
    import os

    # Tensor memory is what these GPUs have.
    os.environ.setdefault("TILE_SIM_TARGET", "cuda:100")
    from demo import run_examples

    run_examples(main)
