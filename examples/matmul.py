"""Matrix product with ragged edges, in tiles that share the L2 cache."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl


@tile.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    # Programs go down columns of GROUP_M tiles, so that neighbours reuse both operands.
    pid = tl.program_id(0)
    grid_m = tl.cdiv(M, BM)
    grid_n = tl.cdiv(N, BN)
    per_group = GROUP_M * grid_n
    group = pid // per_group
    group_size = min(grid_m - group * GROUP_M, GROUP_M)
    pid_m = group * GROUP_M + (pid % per_group) % group_size
    pid_n = (pid % per_group) // group_size

    rows = (pid_m * BM + tl.arange(0, BM)) % M
    cols = (pid_n * BN + tl.arange(0, BN)) % N
    ks = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * stride_am + ks[None, :] * stride_ak
    b_ptrs = b_ptr + ks[:, None] * stride_bk + cols[None, :] * stride_bn
    # Small integers are summed up exactly.
    acc = tl.zeros((BM, BN), dtype=tl.int32 if a_ptr.dtype.element_ty == tl.int8 else tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=ks[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=ks[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc, out_dtype=acc.dtype)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    rows = pid_m * BM + tl.arange(0, BM)
    cols = pid_n * BN + tl.arange(0, BN)
    c_ptrs = c_ptr + rows[:, None] * stride_cm + cols[None, :] * stride_cn
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask)


def matmul(a, b, c, bm: int = 64, bn: int = 64, bk: int = 32, group_m: int = 8, **options):
    """``c = a @ b`` for row-major matrices."""
    (m, k), n = a.shape, b.shape[1]
    grid = (tile.cdiv(m, bm) * tile.cdiv(n, bn),)
    return matmul_kernel[grid](
        a, b, c, m, n, k, k, 1, n, 1, n, 1, BM=bm, BN=bn, BK=bk, GROUP_M=group_m, **options
    )  # fmt: skip


def main(device) -> None:
    rng = np.random.default_rng(5)
    for m, n, k in ((64, 64, 96), (100, 130, 70)):
        a = rng.standard_normal((m, k)).astype(np.float16)
        b = rng.standard_normal((k, n)).astype(np.float16)
        c = device.empty_like(np.empty((m, n), np.float16))
        kernel = matmul(device.put(a), device.put(b), c)
        device.check("matmul", kernel, device.get(c), a.astype(np.float64) @ b.astype(np.float64))


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
