"""Matrix product on sm_90 by programs that go from tile to tile, in three partitions: one warp
copies, two groups of four warps multiply. The groups share a tile, or each has tiles of its own:
then one of them stores its tile while the other one multiplies."""

from __future__ import annotations

import numpy as np
from persistent_matmul import store_in_parts, tile_at
from pingpong_attention import make_ring

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import (
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def tiles_of_program(M, N, a, b, ALONG_K: gl.constexpr):
    """The rows and columns of tiles, and how many of them this program has."""
    BN: gl.constexpr = b.block_shape[0] if ALONG_K else b.block_shape[1]
    rows, columns = gl.cdiv(M, a.block_shape[0]), gl.cdiv(N, BN)
    return rows, columns, gl.cdiv(rows * columns - gl.program_id(0), gl.num_programs(0))


@gluon.jit
def copy(
    a, b, sa, sb, operands, M, N, K, GROUP: gl.constexpr, ALONG_K: gl.constexpr
):  # fmt: skip
    """The part of the warp that copies: all steps of all tiles of this program, in their order."""
    BM: gl.constexpr = a.block_shape[0]
    BK: gl.constexpr = a.block_shape[1]
    rows, columns, mine = tiles_of_program(M, N, a, b, ALONG_K)
    step = 0
    for n in range(mine):
        i, j = tile_at(gl.program_id(0) + n * gl.num_programs(0), rows, columns, GROUP)
        for k in range(0, K, BK):
            slot, ready = operands.fill(step, a.nbytes_per_cta + b.nbytes_per_cta)
            tma.async_load(a, [i * BM, k], ready, sa.index(slot))
            if ALONG_K:
                tma.async_load(b, [j * b.block_shape[0], k], ready, sb.index(slot))
            else:
                tma.async_load(b, [k, j * b.block_shape[1]], ready, sb.index(slot))
            step += 1


@gluon.jit
def multiply(
    a, b, c, sa, sb, sc, operands, my_turn, other_turn, M, N, K, ME: gl.constexpr,
    SHARED: gl.constexpr, GROUP: gl.constexpr, ALONG_K: gl.constexpr, MMA: gl.constexpr,
):  # fmt: skip
    """The part of one group: a half of the rows of each tile (`SHARED`), or every second tile."""
    BM: gl.constexpr = a.block_shape[0] // 2 if SHARED else a.block_shape[0]
    BN: gl.constexpr = b.block_shape[0] if ALONG_K else b.block_shape[1]
    PARTS: gl.constexpr = BN // c.block_shape[1]
    TILES: gl.constexpr = 1 if SHARED else 2
    rows, columns, mine = tiles_of_program(M, N, a, b, ALONG_K)
    steps = gl.cdiv(K, a.block_shape[1])
    for n in range(0 if SHARED else ME, mine, TILES):
        step = n * steps
        if not SHARED:
            # A group that waited for slots earlier could take an older phase for its own.
            mbarrier.wait(my_turn, (n // 2 + 1 - ME) & 1)
        acc = warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, MMA))
        for k in range(steps):
            slot = operands.wait(step + k)
            left, right = sa.index(slot), sb.index(slot)
            if SHARED:
                left = left.slice(ME * BM, BM, dim=0)
            if ALONG_K:
                right = right.permute([1, 0])
            acc = warpgroup_mma(left, right, acc, use_acc=k > 0, is_async=True)
            # This dot goes on. The one before it has read its slot.
            acc = warpgroup_mma_init(warpgroup_mma_wait(1, deps=(acc,)))
            if k > 0:
                operands.release(step + k - 1)
        if not SHARED:
            mbarrier.arrive(other_turn)
        result = warpgroup_mma_wait(0, deps=(acc,))
        operands.release(step + steps - 1)
        i, j = tile_at(gl.program_id(0) + n * gl.num_programs(0), rows, columns, GROUP)
        row = i * a.block_shape[0] + (ME * BM if SHARED else 0)
        store_in_parts(c, row, j * BN, result.to(c.dtype), sc, 0, PARTS)
    tma.store_wait(0)


@gluon.jit
def group_kernel(
    a, b, c, M, N, K, STAGES: gl.constexpr, BUFFERS: gl.constexpr, SHARED: gl.constexpr,
    GROUP: gl.constexpr, ALONG_K: gl.constexpr, MMA: gl.constexpr,
):  # fmt: skip
    sa = gl.allocate_shared_memory(a.dtype, [STAGES, *a.block_shape], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [STAGES, *b.block_shape], b.layout)
    first = gl.allocate_shared_memory(c.dtype, [BUFFERS, *c.block_shape], c.layout)
    second = gl.allocate_shared_memory(c.dtype, [BUFFERS, *c.block_shape], c.layout)
    # A slot that both groups read is released by both.
    operands = make_ring(STAGES, 2 if SHARED else 1)
    turns = mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(turns.index(i), count=1)
    even, odd = turns.index(0), turns.index(1)
    gl.warp_specialize(
        [
            (
                multiply,
                (a, b, c, sa, sb, first, operands, even, odd, M, N, K, 0, SHARED, GROUP, ALONG_K,
                 MMA),
            ),
            (
                multiply,
                (a, b, c, sa, sb, second, operands, odd, even, M, N, K, 1, SHARED, GROUP, ALONG_K,
                 MMA),
            ),
            (copy, (a, b, sa, sb, operands, M, N, K, GROUP, ALONG_K)),
        ],
        worker_num_warps=[4, 1],
        worker_num_regs=[240, 24],
    )  # fmt: skip


def arguments(
    a, b, c, block, stages, shared=True, parts=1, group=8, dtype=gl.float16, along_k=False
):  # fmt: skip
    (m, k), n = a.shape, c.shape[1]
    bm, bn, bk = block
    layout_for = gl.NVMMASharedLayout.get_default_for
    descs = [
        TensorDescriptor.from_tensor(tensor, shape, layout_for(shape, element))
        for tensor, shape, element in (
            (a, [bm, bk], dtype),
            (b, [bn, bk] if along_k else [bk, bn], dtype),
            (c, [bm // 2 if shared else bm, bn // parts], gl.float16),
        )
    ]
    mma = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, bn, 256 // dtype.primitive_bitwidth])
    return (*descs, m, n, k, stages, min(parts, 2), shared, group, along_k, mma)


def matmul(a, b, c, programs: int = 132, block=(128, 128, 64), stages: int = 3, **options):
    """``c = a @ b`` in fp16; rows of all three are multiples of 16 bytes. Two groups share a tile
    of `block`, or (``shared=False``) each has its own. Tiles are stored in `parts`, and go down
    columns of `group`. `along_k`: `b` is given as its transpose."""
    tiles = tile.cdiv(c.shape[0], block[0]) * tile.cdiv(c.shape[1], block[1])
    given = arguments(a, b, c, block, stages, **options)
    return group_kernel[(min(programs, tiles),)](*given, num_warps=4)


def main(device) -> None:
    rng = np.random.default_rng(6)
    for m, n, k, shared in ((256, 384, 128, True), (200, 136, 72, False)):
        a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
        expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
        c = device.empty_like(expected)
        given = (device.put(a), device.put(b), c)
        block = (128 if shared else 64, 128, 64)
        kernel = matmul(*given, programs=2, block=block, shared=shared, parts=2)
        device.check("groups", kernel, device.get(c), expected)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
