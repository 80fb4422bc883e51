"""Matrix product of few tiles and many steps: several programs share the steps of a tile, and
the last one that arrives adds up what they have."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@tile.jit
def split_kernel(
    a, b, c, sums_ptr, arrivals_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, GROUP_M: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    grid_m, grid_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    tile_id, split = tl.program_id(0), tl.program_id(1)
    i, j = tl.swizzle2d(tile_id // grid_n, tile_id % grid_n, grid_m, grid_n, GROUP_M)
    share = tl.cdiv(tl.cdiv(K, BK), SPLITS) * BK
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(split * share, min(K, (split + 1) * share), BK):
        acc = tl.dot(a.load([i * BM, k]), b.load([k, j * BN]), acc)

    within = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    first = sums_ptr + tile_id.to(tl.int64) * (SPLITS * BM * BN)
    tl.store(first + split * (BM * BN) + within, acc)
    # The arrival is one thread's, the sum is all threads'.
    tl.debug_barrier()
    arrived = tl.atomic_add(arrivals_ptr + tile_id, 1, sem="acq_rel", scope="gpu")
    if arrived == SPLITS - 1:
        # In the order of the steps, whoever is the last.
        total = tl.zeros((BM, BN), tl.float32)
        for part in range(SPLITS):
            total += tl.load(first + part * (BM * BN) + within, cache_modifier=".cg")
        c.store([i * BM, j * BN], total.to(c.dtype))
        tl.atomic_xchg(arrivals_ptr + tile_id, 0, sem="relaxed")


def matmul(
    a, b, c, sums, arrivals, bm=64, bn=64, bk=32, group_m=8, splits=2, **options
):  # fmt: skip
    """``c = a @ b`` for row-major matrices. ``sums`` has room for ``splits`` fp32 tiles for each
    tile of ``c``, ``arrivals`` a zero for each, which is zero again behind it."""
    (m, k), n = a.shape, b.shape[1]
    blocks = ((a, [bm, bk]), (b, [bk, bn]), (c, [bm, bn]))
    descriptors = [TensorDescriptor.from_tensor(x, block) for x, block in blocks]
    return split_kernel[(tile.cdiv(m, bm) * tile.cdiv(n, bn), splits)](
        *descriptors, sums, arrivals, m, n, k, BM=bm, BN=bn, BK=bk, GROUP_M=group_m,
        SPLITS=splits, **options,
    )  # fmt: skip


def main(device) -> None:
    rng = np.random.default_rng(23)
    m, n, k, splits = 72, 136, 360, 3
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((k, n)).astype(np.float16)
    c = device.empty_like(np.empty((m, n), np.float16))
    tiles = tile.cdiv(m, 64) * tile.cdiv(n, 64)
    sums = device.empty_like(np.empty(tiles * splits * 64 * 64, np.float32))
    arrivals = device.put(np.zeros(tiles, np.int32))
    for _ in range(2):
        kernel = matmul(device.put(a), device.put(b), c, sums, arrivals, splits=splits)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    device.check("split_matmul", kernel, device.get(c), expected)
