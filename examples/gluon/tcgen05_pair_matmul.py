"""Matrix product on sm_100 by clusters of two blocks whose tensor cores work together. Each block
loads half of the rows of A and half of the columns of B, for both. It keeps half of the rows of the
sum in its tensor memory."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    cluster,
    mbarrier,
    tcgen05_mma,
    tma,
)
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor


@gluon.jit
def start_copies(a, b, sa, sb, ready, i, j, k, pred=True):
    """Has this block's halves of the tiles copied."""
    mbarrier.expect(ready, a.nbytes_per_cta + b.nbytes_per_cta, pred)
    tma.async_load(a, [i * a.block_shape[0], k * a.block_shape[1]], ready, sa, pred)
    tma.async_load(b, [k * b.block_shape[0], j * b.block_shape[1]], ready, sb, pred)


@gluon.jit
def pair_kernel(a, b, c_ptr, M, N, K, STAGES: gl.constexpr, ACC: gl.constexpr, OUT: gl.constexpr):
    BM: gl.constexpr = a.block_shape[0]
    BN: gl.constexpr = b.block_shape[1]
    i, j = gl.program_id(0), gl.program_id(1)
    steps = gl.cdiv(K, a.block_shape[1])
    sa = gl.allocate_shared_memory(a.dtype, [STAGES, *a.block_shape], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [STAGES, *b.block_shape], b.layout)
    acc = allocate_tensor_memory(gl.float32, [BM, BN], ACC)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    for s in gl.static_range(STAGES - 1):
        start_copies(a, b, sa.index(s), sb.index(s), ready.index(s), i, j, s, s < steps)
    for k in range(steps):
        stage = k % STAGES
        mbarrier.wait(ready.index(stage), (k // STAGES) & 1)
        # The halves of both blocks are there, and at first the barriers, too. The first block
        # starts the dot of both.
        cluster.barrier()
        tcgen05_mma(
            sa.index(stage), sb.index(stage), acc, use_acc=k > 0, mbarriers=[empty.index(stage)]
        )
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
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, OUT))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, OUT))
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    gl.store(c_ptr + rows[:, None] * N + columns[None, :], acc.load(OUT).to(gl.float16), mask)


def arguments(a, b, c, block, stages):
    (m, k), (_, n) = a.shape, b.shape
    bm, bn, bk = block
    descs = [
        TensorDescriptor.from_tensor(
            tensor, shape,
            gl.NVMMASharedLayout.get_default_for(shape, gl.float16, cga_layout=[basis]),
        )
        for tensor, shape, basis in ((a, [bm, bk], [1, 0]), (b, [bk, bn], [0, 1]))
    ]  # fmt: skip
    acc = TensorMemoryLayout([bm // 2, bn], 1, cga_layout=[[1, 0]], two_ctas=True)
    # A row to a lane, 32 rows to a warp, half of the rows to a block.
    registers = [[0, 1 << bit] for bit in range(bn.bit_length() - 1)]
    lanes = [[1 << bit, 0] for bit in range(5)]
    out = gl.DistributedLinearLayout(registers, lanes, [[32, 0], [64, 0]], [[bm // 2, 0]], [bm, bn])
    return (*descs, c, m, n, k, stages, acc, out)


def matmul(a, b, c, block=(256, 128, 64), stages: int = 3):
    """``c = a @ b`` of fp16; rows of `a` and `b` are multiples of 16 bytes."""
    grid = (tile.cdiv(c.shape[0], block[0]), tile.cdiv(c.shape[1], block[1]))
    return pair_kernel[grid](*arguments(a, b, c, block, stages), num_ctas=2)


def main(device) -> None:
    rng = np.random.default_rng(11)
    for m, n, k in ((256, 256, 192), (400, 136, 72)):
        a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
        expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
        c = device.empty_like(expected)
        kernel = matmul(device.put(a), device.put(b), c)
        device.check("tcgen05 pairs", kernel, device.get(c), expected)


if __name__ == "__main__":
    import os

    # Tensor memory is what these GPUs have.
    os.environ.setdefault("TILE_SIM_TARGET", "cuda:100")
    from demo import run_examples

    run_examples(main)
