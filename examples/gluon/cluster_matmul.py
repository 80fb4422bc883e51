"""Matrix product on sm_90 by clusters of two blocks. Each block has half of the rows; the columns
that both multiply come from memory once, half by each block for both."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import (
    cluster,
    mbarrier,
    tma,
    warpgroup_mma,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def cluster_kernel(a, b, c_ptr, M, N, K, STAGES: gl.constexpr, MMA: gl.constexpr):
    BM: gl.constexpr = a.block_shape[0]
    BK: gl.constexpr = a.block_shape[1]
    BN: gl.constexpr = b.block_shape[1]
    i, j = gl.program_id(0), gl.program_id(1)
    steps = gl.cdiv(K, BK)
    sa = gl.allocate_shared_memory(a.dtype, [STAGES, BM, BK], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [STAGES, BK, BN], b.layout)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
    # A block writes to the other one only when that one has its barriers.
    cluster.barrier()
    for s in gl.static_range(STAGES - 1):
        bar = ready.index(s)
        mbarrier.expect(bar, a.nbytes_per_cta + b.nbytes_per_cta, s < steps)
        tma.async_load(a, [i * BM, s * BK], bar, sa.index(s), s < steps)
        tma.async_load(b, [s * BK, j * BN], bar, sb.index(s), s < steps, multicast=True)
    acc = gl.zeros([BM, BN], gl.float32, MMA)
    for k in range(steps):
        slot = k % STAGES
        mbarrier.wait(ready.index(slot), (k // STAGES) & 1)
        acc = warpgroup_mma(sa.index(slot), sb.index(slot), acc)
        # Both blocks have multiplied: what both read can be filled again.
        cluster.barrier()
        ahead = k + STAGES - 1
        free, pred = ahead % STAGES, ahead < steps
        bar = ready.index(free)
        mbarrier.expect(bar, a.nbytes_per_cta + b.nbytes_per_cta, pred)
        tma.async_load(a, [i * BM, ahead * BK], bar, sa.index(free), pred)
        tma.async_load(b, [ahead * BK, j * BN], bar, sb.index(free), pred, multicast=True)
    for s in gl.static_range(STAGES):
        mbarrier.invalidate(ready.index(s))
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, MMA))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, MMA))
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    gl.store(c_ptr + rows[:, None] * N + columns[None, :], acc.to(gl.float16), mask)


def arguments(a, b, c, block, stages):
    (m, k), (_, n) = a.shape, b.shape
    bm, bn, bk = block
    descs = [
        TensorDescriptor.from_tensor(
            tensor, shape,
            gl.NVMMASharedLayout.get_default_for(shape, gl.float16, cga_layout=[basis]),
        )
        for tensor, shape, basis in ((a, [bm, bk], [1, 0]), (b, [bk, bn], [0, 0]))
    ]  # fmt: skip
    mma = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, bn, 16], cga_layout=[[1, 0]])
    return (*descs, c, m, n, k, stages, mma)


def grid_of(c, block):
    return (tile.cdiv(c.shape[0], block[0]), tile.cdiv(c.shape[1], block[1]))


def matmul(a, b, c, block=(128, 128, 64), stages: int = 3):
    """``c = a @ b`` of fp16; rows of `a` and `b` are multiples of 16 bytes."""
    given = arguments(a, b, c, block, stages)
    return cluster_kernel[grid_of(c, block)](*given, num_ctas=2)


def main(device) -> None:
    rng = np.random.default_rng(7)
    for m, n, k in ((256, 128, 192), (200, 136, 72)):
        a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
        expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
        c = device.empty_like(expected)
        kernel = matmul(device.put(a), device.put(b), c)
        device.check("cluster matmul", kernel, device.get(c), expected)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
