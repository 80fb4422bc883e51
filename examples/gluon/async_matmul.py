"""Matrix product on sm_80 and later: ``cp.async`` fills a ring of buffers while ``mma.sync``
multiplies."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2


@gluon.jit
def copy_tiles(
    a_ptr, b_ptr, sa, sb, i, j, k, M, N, K, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr,
    COPY: gl.constexpr,
):  # fmt: skip
    """Starts the copies of one step along K; past its end they fill the buffers with zeros."""
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, COPY))
    ks = k + gl.arange(0, BK, layout=gl.SliceLayout(0, COPY))
    mask = (rows[:, None] < M) & (ks[None, :] < K)
    async_copy.async_load(sa, a_ptr + rows[:, None] * K + ks[None, :], mask)
    ks = k + gl.arange(0, BK, layout=gl.SliceLayout(1, COPY))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, COPY))
    mask = (ks[:, None] < K) & (columns[None, :] < N)
    async_copy.async_load(sb, b_ptr + ks[:, None] * N + columns[None, :], mask)
    async_copy.commit_group()


@gluon.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr,
    STAGES: gl.constexpr,
):  # fmt: skip
    WARPS: gl.constexpr = gl.num_warps()
    COPY: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [WARPS, 1], [1, 0])
    MMA: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [WARPS // 2, 2], [16, 8])
    # Eight rows of the fragments that ldmatrix reads lie in different banks.
    A_SHARED: gl.constexpr = gl.SwizzledSharedLayout(8, 2, 4, [1, 0])
    B_SHARED: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    element: gl.constexpr = a_ptr.dtype.element_ty
    i, j = gl.program_id(0), gl.program_id(1)
    sa = gl.allocate_shared_memory(element, [STAGES, BM, BK], A_SHARED)
    sb = gl.allocate_shared_memory(element, [STAGES, BK, BN], B_SHARED)
    for s in gl.static_range(STAGES - 1):
        copy_tiles(a_ptr, b_ptr, sa.index(s), sb.index(s), i, j, s * BK, M, N, K, BM, BN, BK, COPY)
    acc = gl.zeros([BM, BN], gl.float32, MMA)
    for k in range(0, gl.cdiv(K, BK)):
        async_copy.wait_group(STAGES - 2)
        a = sa.index(k % STAGES).load(gl.DotOperandLayout(0, MMA, 2))
        b = sb.index(k % STAGES).load(gl.DotOperandLayout(1, MMA, 2))
        # Its buffers were multiplied in the iteration before.
        ahead = k + STAGES - 1
        copy_tiles(
            a_ptr, b_ptr, sa.index(ahead % STAGES), sb.index(ahead % STAGES), i, j, ahead * BK,
            M, N, K, BM, BN, BK, COPY,
        )  # fmt: skip
        acc = mma_v2(a, b, acc)
    async_copy.wait_group(0)
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, MMA))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, MMA))
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    gl.store(c_ptr + rows[:, None] * N + columns[None, :], acc.to(c_ptr.dtype.element_ty), mask)


def matmul(a, b, c, bm: int = 64, bn: int = 64, bk: int = 32, stages: int = 3, **options):
    """``c = a @ b``, row-major matrices of fp16 or bf16."""
    (m, k), (_, n) = a.shape, b.shape
    grid = (tile.cdiv(m, bm), tile.cdiv(n, bn))
    return matmul_kernel[grid](a, b, c, m, n, k, bm, bn, bk, stages, **options)


def main(device) -> None:
    rng = np.random.default_rng(3)
    for m, n, k in ((128, 128, 128), (100, 72, 200), (64, 64, 8)):
        a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
        expected = a.astype(np.float32) @ b.astype(np.float32)
        c = device.empty_like(expected)
        kernel = matmul(device.put(a), device.put(b), c)
        device.check("async matmul", kernel, device.get(c), expected)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
