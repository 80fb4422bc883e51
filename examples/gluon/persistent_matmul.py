"""Matrix product on sm_90 by as many programs as there are multiprocessors. Each goes from tile to
tile: while the copy engine stores one tile, the next one is multiplied. One dot is always
under way while the operands of a later one are copied."""

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
def tile_at(number, rows, columns, GROUP: gl.constexpr):
    """Tiles go down columns of GROUP: what programs read at a time is about square."""
    in_group = GROUP * columns
    first = number // in_group * GROUP
    height = gl.minimum(rows - first, GROUP)
    return first + number % in_group % height, number % in_group // height


@gluon.jit
def start_step(a, b, sa, sb, ready, step, pred, i, j, k, ALONG_K: gl.constexpr):
    """Has the operands of a step copied. Steps are counted through all tiles of the program, so
    that the ring is never empty between two tiles."""
    BM: gl.constexpr = a.block_shape[0]
    BK: gl.constexpr = a.block_shape[1]
    slot = step % sa.shape[0]
    bar = ready.index(slot)
    mbarrier.expect(bar, a.nbytes_per_cta + b.nbytes_per_cta, pred)
    tma.async_load(a, [i * BM, k * BK], bar, sa.index(slot), pred)
    if ALONG_K:
        tma.async_load(b, [j * b.block_shape[0], k * BK], bar, sb.index(slot), pred)
    else:
        tma.async_load(b, [k * BK, j * b.block_shape[1]], bar, sb.index(slot), pred)


@gluon.jit
def next_step(number, i, j, k, steps, rows, columns, GROUP: gl.constexpr):
    """Where the step behind step `k` of a tile copies from."""
    k += 1
    if k == steps:
        k = 0
        number += gl.num_programs(0)
        i, j = tile_at(number, rows, columns, GROUP)
    return number, i, j, k


@gluon.jit
def store_in_parts(c, row, column, values, buffers, FIRST: gl.constexpr, PARTS: gl.constexpr):
    """Stores a tile in so many parts, side by side: one is copied while the next one is written."""
    if PARTS == 1:
        buffer = buffers.index(FIRST % buffers.shape[0])
        # At most the copies from the other buffers still go on.
        tma.store_wait(buffers.shape[0] - 1)
        gl.barrier()
        buffer.store(values)
        fence_async_shared()
        gl.barrier()
        tma.async_store(c, [row, column], buffer)
    else:
        HALF: gl.constexpr = values.shape[1] // 2
        left, right = values.reshape([values.shape[0], 2, HALF]).permute([0, 2, 1]).split()
        store_in_parts(c, row, column, left, buffers, FIRST, PARTS // 2)
        store_in_parts(c, row, column + HALF, right, buffers, FIRST + PARTS // 2, PARTS // 2)


@gluon.jit
def persistent_kernel(
    a, b, c, M, N, K, STAGES: gl.constexpr, BUFFERS: gl.constexpr, GROUP: gl.constexpr,
    ALONG_K: gl.constexpr, MMA: gl.constexpr,
):  # fmt: skip
    BM: gl.constexpr = a.block_shape[0]
    BK: gl.constexpr = a.block_shape[1]
    BN: gl.constexpr = b.block_shape[0] if ALONG_K else b.block_shape[1]
    steps = gl.cdiv(K, BK)
    rows, columns = gl.cdiv(M, BM), gl.cdiv(N, BN)
    tiles = rows * columns
    first, programs = gl.program_id(0), gl.num_programs(0)
    mine = gl.cdiv(tiles - first, programs)
    total = mine * steps
    sa = gl.allocate_shared_memory(a.dtype, [STAGES, *a.block_shape], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [STAGES, *b.block_shape], b.layout)
    sc = gl.allocate_shared_memory(c.dtype, [BUFFERS, *c.block_shape], c.layout)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
    # The step that is copied next, and its tile.
    number, k = first, 0
    i, j = tile_at(number, rows, columns, GROUP)
    for s in gl.static_range(STAGES - 1):
        start_step(a, b, sa, sb, ready, s, s < total, i, j, k, ALONG_K)
        number, i, j, k = next_step(number, i, j, k, steps, rows, columns, GROUP)
    step = 0
    for n in range(mine):
        acc = warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, MMA))
        for t in range(steps):
            slot = step % STAGES
            mbarrier.wait(ready.index(slot), (step // STAGES) & 1)
            right = sb.index(slot)
            if ALONG_K:
                right = right.permute([1, 0])
            acc = warpgroup_mma(sa.index(slot), right, acc, use_acc=t > 0, is_async=True)
            # This dot goes on. The one before it has read its slot, which is filled again.
            acc = warpgroup_mma_init(warpgroup_mma_wait(1, deps=(acc,)))
            gl.barrier()
            ahead = step + STAGES - 1
            start_step(a, b, sa, sb, ready, ahead, ahead < total, i, j, k, ALONG_K)
            number, i, j, k = next_step(number, i, j, k, steps, rows, columns, GROUP)
            step += 1
        result = warpgroup_mma_wait(0, deps=(acc,))
        row, column = tile_at(first + n * programs, rows, columns, GROUP)
        PARTS: gl.constexpr = BN // c.block_shape[1]
        store_in_parts(c, row * BM, column * BN, result.to(c.dtype), sc, 0, PARTS)
    tma.store_wait(0)
    for s in gl.static_range(STAGES):
        mbarrier.invalidate(ready.index(s))


def arguments(
    a, b, c, block, stages, num_warps=4, parts=1, group=8, dtype=gl.float16, along_k=False
):  # fmt: skip
    (m, k), n = a.shape, c.shape[1]
    bm, bn, bk = block
    layout_for = gl.NVMMASharedLayout.get_default_for
    descs = [
        TensorDescriptor.from_tensor(tensor, shape, layout_for(shape, element))
        for tensor, shape, element in (
            (a, [bm, bk], dtype),
            (b, [bn, bk] if along_k else [bk, bn], dtype),
            (c, [bm, bn // parts], gl.float16),
        )
    ]
    mma = gl.NVMMADistributedLayout(
        [3, 0], [num_warps, 1], [16, bn, 256 // dtype.primitive_bitwidth]
    )
    return (*descs, m, n, k, stages, min(parts, 2), group, along_k, mma)


def matmul(a, b, c, programs: int = 132, block=(128, 128, 64), stages: int = 3, **options):
    """``c = a @ b`` in fp16; rows of all three are multiples of 16 bytes. Tiles are stored in
    `parts`, and go down columns of `group`. `along_k`: `b` is given as its transpose, as products
    of 8-bit types need it."""
    keys = ("parts", "group", "dtype", "along_k")
    more = {key: options.pop(key) for key in keys if key in options}
    num_warps = options.setdefault("num_warps", 4)
    tiles = tile.cdiv(c.shape[0], block[0]) * tile.cdiv(c.shape[1], block[1])
    given = arguments(a, b, c, block, stages, num_warps, **more)
    return persistent_kernel[(min(programs, tiles),)](*given, **options)


def main(device) -> None:
    rng = np.random.default_rng(6)
    for m, n, k in ((256, 384, 128), (200, 136, 72)):
        a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
        expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
        c = device.empty_like(expected)
        kernel = matmul(device.put(a), device.put(b), c, programs=2, parts=2)
        device.check("persistent", kernel, device.get(c), expected)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
