"""Products of the matrices of two batches, through tensor descriptors of three dimensions."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@tile.jit
def store_in_parts(c, batch, row, column, values, PARTS: tl.constexpr):
    """Stores a tile in so many parts, side by side: one is copied while the next one is written."""
    M: tl.constexpr = values.shape[0]
    if PARTS == 1:
        c.store([batch, row, column], values.reshape(1, M, values.shape[1]))
    else:
        HALF: tl.constexpr = values.shape[1] // 2
        left, right = tl.split(values.reshape(M, 2, HALF).permute(0, 2, 1))
        store_in_parts(c, batch, row, column, left, PARTS // 2)
        store_in_parts(c, batch, row, column + HALF, right, PARTS // 2)


@tile.jit
def batched_kernel(
    a, b, c, BATCH, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    GROUP_M: tl.constexpr, FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    grid_m, grid_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    tiles = grid_m * grid_n
    for tile_id in tl.range(
        tl.program_id(0), BATCH * tiles, tl.num_programs(0), flatten=FLATTEN,
        warp_specialize=SPECIALIZE,
    ):  # fmt: skip
        batch, tile_of_batch = tile_id // tiles, tile_id % tiles
        i, j = tl.swizzle2d(
            tile_of_batch // grid_n, tile_of_batch % grid_n, grid_m, grid_n, GROUP_M
        )
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            x = a.load([batch, i * BM, k]).reshape(BM, BK)
            y = b.load([batch, k, j * BN]).reshape(BK, BN)
            acc = tl.dot(x, y, acc)
        store_in_parts(c, batch, i * BM, j * BN, acc.to(c.dtype), PARTS)


def matmul(
    a, b, c, bm=64, bn=64, bk=32, group_m=None, programs=None, specialize=False, parts=1, **options
):  # fmt: skip
    """``c[i] = a[i] @ b[i]`` for contiguous tensors of three dimensions, by ``programs``
    programs (as many as there are tiles, if that is None), which store a tile in ``parts``."""
    (batch, m, k), n = a.shape, b.shape[2]
    # What programs read at a time is about square, where there are many.
    group_m = group_m or (16 if bn > bm >= 128 else 8)
    grid = (min(batch * tile.cdiv(m, bm) * tile.cdiv(n, bn), programs or 1 << 30),)
    blocks = ((a, [1, bm, bk]), (b, [1, bk, bn]), (c, [1, bm, bn // parts]))
    descriptors = [TensorDescriptor.from_tensor(x, block) for x, block in blocks]
    return batched_kernel[grid](
        *descriptors, batch, m, n, k, BM=bm, BN=bn, BK=bk, GROUP_M=group_m,
        FLATTEN=programs is not None, SPECIALIZE=specialize, PARTS=parts, **options,
    )  # fmt: skip


def main(device) -> None:
    rng = np.random.default_rng(17)
    batch, m, n, k = 3, 72, 136, 40
    a = rng.standard_normal((batch, m, k)).astype(np.float16)
    b = rng.standard_normal((batch, k, n)).astype(np.float16)
    c = device.empty_like(np.empty((batch, m, n), np.float16))
    kernel = matmul(device.put(a), device.put(b), c, programs=4, parts=2)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    device.check("batched_matmul", kernel, device.get(c), expected)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
