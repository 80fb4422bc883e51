"""Matrix product on CDNA: buffer loads bring the next step along K into registers while MFMA
multiplies this one from LDS, of which there are two halves."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import AMDMFMALayout, cdna3


@gluon.jit
def load_tiles(
    a_ptr, b_ptr, i, j, k, M, N, K, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr,
    A: gl.constexpr, B: gl.constexpr,
):  # fmt: skip
    """One step along K of both operands; what lies outside is zero. The machine checks the bounds,
    so that a mask costs no branch."""
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, A))
    ks = k + gl.arange(0, BK, layout=gl.SliceLayout(0, A))
    mask = (rows[:, None] < M) & (ks[None, :] < K)
    a = cdna3.buffer_load(a_ptr, rows[:, None] * K + ks[None, :], mask=mask)
    ks = k + gl.arange(0, BK, layout=gl.SliceLayout(1, B))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, B))
    mask = (ks[:, None] < K) & (columns[None, :] < N)
    b = cdna3.buffer_load(b_ptr, ks[:, None] * N + columns[None, :], mask=mask)
    return a, b


@gluon.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr,
    MFMA: gl.constexpr, K_WIDTH: gl.constexpr,
):  # fmt: skip
    WARPS: gl.constexpr = gl.num_warps()
    # A lane loads 16 bytes of a row.
    A: gl.constexpr = gl.BlockedLayout([1, 8], [64 * 8 // BK, BK // 8], [WARPS, 1], [1, 0])
    B: gl.constexpr = gl.BlockedLayout([1, 8], [64 * 8 // BN, BN // 8], [WARPS, 1], [1, 0])
    # Lanes that read a column of A lie in different banks.
    A_SHARED: gl.constexpr = gl.SwizzledSharedLayout(K_WIDTH, 2, 8, [1, 0])
    B_SHARED: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    element: gl.constexpr = a_ptr.dtype.element_ty
    i, j = gl.program_id(0), gl.program_id(1)
    sa = gl.allocate_shared_memory(element, [2, BM, BK], A_SHARED)
    sb = gl.allocate_shared_memory(element, [2, BK, BN], B_SHARED)
    a, b = load_tiles(a_ptr, b_ptr, i, j, 0, M, N, K, BM, BN, BK, A, B)
    sa.index(0).store(a)
    sb.index(0).store(b)
    acc = gl.zeros([BM, BN], gl.float32, MFMA)
    steps = gl.cdiv(K, BK)
    for k in range(0, steps):
        # Behind the end these are zeros, which nobody reads.
        a, b = load_tiles(a_ptr, b_ptr, i, j, (k + 1) * BK, M, N, K, BM, BN, BK, A, B)
        left = sa.index(k & 1).load(gl.DotOperandLayout(0, MFMA, K_WIDTH))
        right = sb.index(k & 1).load(gl.DotOperandLayout(1, MFMA, K_WIDTH))
        acc = cdna3.mfma(left, right, acc)
        # The other halves were read in the iteration before.
        sa.index((k + 1) & 1).store(a)
        sb.index((k + 1) & 1).store(b)
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, MFMA))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, MFMA))
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    cdna3.buffer_store(acc, c_ptr, rows[:, None] * N + columns[None, :], mask=mask)


def matmul(a, b, c, version: int = 3, bm: int = 64, bn: int = 64, bk: int = 32):
    """``c = a @ b``, row-major matrices of fp16 or bf16, into fp32. `version` is 3 on gfx942 and 4
    on gfx950, whose instructions are twice as long."""
    (m, k), (_, n) = a.shape, b.shape
    layout = AMDMFMALayout(version, [32, 32, 8 if version == 3 else 16], True, [2, 2])
    grid = (tile.cdiv(m, bm), tile.cdiv(n, bn))
    k_width = 4 if version == 3 else 8
    return matmul_kernel[grid](a, b, c, m, n, k, bm, bn, bk, layout, k_width)


def main(device) -> None:
    rng = np.random.default_rng(3)
    version = 4 if device.driver.get_current_target().arch == "gfx950" else 3
    for m, n, k in ((128, 128, 128), (100, 72, 200), (64, 64, 8)):
        a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
        expected = a.astype(np.float32) @ b.astype(np.float32)
        c = device.empty_like(expected)
        kernel = matmul(device.put(a), device.put(b), c, version)
        device.check("mfma matmul", kernel, device.get(c), expected)


if __name__ == "__main__":
    import os

    # The instructions are those of AMD's GPUs.
    os.environ.setdefault("TILE_SIM_TARGET", "hip:gfx942")
    from demo import run_examples

    run_examples(main)
