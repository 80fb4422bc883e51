"""Matmul on sm_90 with few rows and columns and a long K: two blocks of a cluster have
half of K each. They exchange halves of their sums through each other's shared memory, and each one
stores half of the result."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import (
    async_store,
    cluster,
    mbarrier,
    mma_v2,
)


@gluon.jit
def split_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr,
):  # fmt: skip
    # Tensors have a first dimension of two: the parts of K, of which each block has one.
    MMA: gl.constexpr = gl.NVMMADistributedLayout(
        [2, 0], [1, 2, 2], [1, 16, 8], cga_layout=[[1, 0, 0]]
    )
    A: gl.constexpr = gl.BlockedLayout(
        [1, 1, 8], [1, 8, 4], [1, 4, 1], [2, 1, 0], cga_layout=[[1, 0, 0]]
    )
    # Of what is exchanged, each block gets both parts of half of the rows.
    HALVES: gl.constexpr = gl.BlockedLayout(
        [1, 1, 4], [1, 8, 4], [1, 4, 1], [2, 1, 0], cga_layout=[[0, 1, 0]]
    )
    SHARED: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [2, 1, 0], cga_layout=[[0, 1, 0]])
    i, j = gl.program_id(0), gl.program_id(1)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    buffer = gl.allocate_shared_memory(gl.float32, [2, BM, BN], SHARED)
    mbarrier.expect(bar, buffer.nbytes_per_cta)
    part = gl.arange(0, 2, layout=gl.SliceLayout(1, gl.SliceLayout(2, A)))[:, None, None]
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(0, gl.SliceLayout(2, A)))[None, :, None]
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, gl.SliceLayout(1, A)))[None, None]
    ks = gl.arange(0, BK, layout=gl.SliceLayout(0, gl.SliceLayout(1, A)))[None, None]
    steps = gl.cdiv(K, 2 * BK)
    acc = gl.zeros([2, BM, BN], gl.float32, MMA)
    for step in range(steps):
        start = (part * steps + step) * BK
        k = start + ks
        a = gl.load(a_ptr + rows * K + k, mask=(rows < M) & (k < K), other=0.0)
        k = start + gl.arange(0, BK, layout=gl.SliceLayout(0, gl.SliceLayout(2, A)))[None, :, None]
        b = gl.load(b_ptr + k * N + columns, mask=(k < K) & (columns < N), other=0.0)
        left = gl.convert_layout(a, gl.DotOperandLayout(0, MMA, 2))
        right = gl.convert_layout(b, gl.DotOperandLayout(1, MMA, 2))
        acc = mma_v2(left, right, acc)
    # The other block has its barrier, and has said what it expects.
    cluster.barrier()
    async_store(buffer, acc, bar)
    mbarrier.wait(bar, 0, deps=[buffer])
    total = gl.sum(buffer.load(HALVES), 0)
    mbarrier.invalidate(bar)
    R: gl.constexpr = gl.SliceLayout(0, HALVES)
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, R))[:, None]
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, R))[None, :]
    gl.store(c_ptr + rows * N + columns, total, mask=(rows < M) & (columns < N))


def matmul(a, b, c, bm: int = 64, bn: int = 64, bk: int = 32):
    """``c = a @ b`` of fp16 into fp32."""
    (m, k), (_, n) = a.shape, b.shape
    grid = (tile.cdiv(m, bm), tile.cdiv(n, bn))
    return split_kernel[grid](a, b, c, m, n, k, bm, bn, bk, num_ctas=2)


def main(device) -> None:
    rng = np.random.default_rng(8)
    for m, n, k in ((64, 64, 512), (50, 70, 200)):
        a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
        expected = a.astype(np.float32) @ b.astype(np.float32)
        c = device.empty_like(expected)
        kernel = matmul(device.put(a), device.put(b), c)
        device.check("split K", kernel, device.get(c), expected)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
