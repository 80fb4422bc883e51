"""Matrix product of few tiles and many steps: several programs share the steps of a tile, wait for
each other, and each adds up some rows of what they have."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

#: What the programs of a tile add to its counter in one launch, however many they are.
ROUND = tl.constexpr(1 << 16)


@tile.jit
def wait_for_all(counter_ptr, SHARES: tl.constexpr):
    """Returns when SHARES programs have called this in this launch; what they stored before is
    there then. All of them have to be on the GPU at once."""
    # One thread arrives for all, and the counter goes on from launch to launch, wrapping around.
    tl.debug_barrier()
    before = tl.atomic_add(counter_ptr, ROUND // SHARES, sem="release", scope="gpu")
    end = (before | (ROUND - 1)) + 1
    while tl.atomic_add(counter_ptr, 0, sem="acquire", scope="gpu") - end < 0:
        pass
    tl.debug_barrier()


@tile.jit
def split_kernel(
    a, b, c, sums_ptr, counters_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, GROUP_M: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    grid_m, grid_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    tile_id, split = tl.program_id(0), tl.program_id(1)
    i, j = tl.swizzle2d(tile_id // grid_n, tile_id % grid_n, grid_m, grid_n, GROUP_M)
    share = tl.cdiv(tl.cdiv(K, BK), SPLITS) * BK
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(split * share, min(K, (split + 1) * share), BK):
        acc = tl.dot(a.load([i * BM, k]), b.load([k, j * BN]), acc)

    columns = tl.arange(0, BN)[None, :]
    first = sums_ptr + tile_id.to(tl.int64) * (SPLITS * BM * BN)
    tl.store(first + (split * BM + tl.arange(0, BM)[:, None]) * BN + columns, acc)
    wait_for_all(counters_ptr + tile_id, SPLITS)
    # In the order of the steps, whoever adds.
    ROWS: tl.constexpr = BM // SPLITS
    row = split * ROWS
    mine = first + (row + tl.arange(0, ROWS)[:, None]) * BN + columns
    total = tl.load(mine, cache_modifier=".cg")
    for part in tl.static_range(1, SPLITS):
        total += tl.load(mine + part * (BM * BN), cache_modifier=".cg")
    c.store([i * BM + row, j * BN], total.to(c.dtype))


def matmul(
    a, b, c, sums, counters, bm=64, bn=64, bk=32, group_m=8, splits=2, **options
):  # fmt: skip
    """``c = a @ b`` for row-major matrices. ``splits`` is a power of two. ``sums`` has room for as
    many fp32 tiles for each tile of ``c``, ``counters`` a number for each, zero at first. A launch
    of more programs than the GPU has room for at once fails."""
    (m, k), n = a.shape, b.shape[1]
    blocks = ((a, [bm, bk]), (b, [bk, bn]), (c, [bm // splits, bn]))
    descriptors = [TensorDescriptor.from_tensor(x, block) for x, block in blocks]
    return split_kernel[(tile.cdiv(m, bm) * tile.cdiv(n, bn), splits)](
        *descriptors, sums, counters, m, n, k, BM=bm, BN=bn, BK=bk, GROUP_M=group_m,
        SPLITS=splits, launch_cooperative_grid=True, **options,
    )  # fmt: skip


def main(device) -> None:
    rng = np.random.default_rng(23)
    m, n, k = 72, 136, 360
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((k, n)).astype(np.float16)
    c = device.empty_like(np.empty((m, n), np.float16))
    tiles = tile.cdiv(m, 64) * tile.cdiv(n, 64)
    sums = device.empty_like(np.empty(tiles * 4 * 64 * 64, np.float32))
    counters = device.put(np.zeros(tiles, np.int32))
    for splits in (4, 2):
        kernel = matmul(device.put(a), device.put(b), c, sums, counters, splits=splits)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    device.check("split_matmul", kernel, device.get(c), expected)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
