"""Matrix product through tensor descriptors: each program computes several tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@tile.jit
def tile_at(tile_id, grid_m, grid_n, GROUP_M: tl.constexpr):
    """Tiles go down columns of GROUP_M, so that neighbours reuse both operands."""
    per_group = GROUP_M * grid_n
    group = tile_id // per_group
    group_size = min(grid_m - group * GROUP_M, GROUP_M)
    return group * GROUP_M + (tile_id % per_group) % group_size, (tile_id % per_group) // group_size


@tile.jit
def store_in_parts(c, row, column, values, PARTS: tl.constexpr):
    """Stores a tile in so many parts, side by side: one is copied while the next one is written."""
    if PARTS == 1:
        c.store([row, column], values)
    else:
        M: tl.constexpr = values.shape[0]
        HALF: tl.constexpr = values.shape[1] // 2
        left, right = tl.split(tl.permute(tl.reshape(values, (M, 2, HALF)), (0, 2, 1)))
        store_in_parts(c, row, column, left, PARTS // 2)
        store_in_parts(c, row, column + HALF, right, PARTS // 2)


@tile.jit
def multiply_tile(
    a, b, c, i, j, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    SPECIALIZE: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=SPECIALIZE):
        acc = tl.dot(a.load([i * BM, k]), b.load([k, j * BN]), acc)
    store_in_parts(c, i * BM, j * BN, acc.to(c.dtype), PARTS)


@tile.jit
def multiply_tiles(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP_M: tl.constexpr,
    PERSISTENT: tl.constexpr, SPECIALIZE: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    grid_m, grid_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    start, tiles = tl.program_id(0), grid_m * grid_n
    if SPECIALIZE and not PERSISTENT:
        # No memory is kept for a next tile, which would be copied while this one is stored.
        i, j = tile_at(start, grid_m, grid_n, GROUP_M)
        multiply_tile(a, b, c, i, j, K, BM, BN, BK, True, PARTS)
    else:
        for tile_id in tl.range(
            start, tiles, tl.num_programs(0), flatten=PERSISTENT, warp_specialize=SPECIALIZE
        ):
            i, j = tile_at(tile_id, grid_m, grid_n, GROUP_M)
            multiply_tile(a, b, c, i, j, K, BM, BN, BK, False, PARTS)


@tile.jit
def from_host(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP_M: tl.constexpr,
    PERSISTENT: tl.constexpr, SPECIALIZE: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    multiply_tiles(a, b, c, M, N, K, BM, BN, BK, GROUP_M, PERSISTENT, SPECIALIZE, PARTS)


@tile.jit
def from_device(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    GROUP_M: tl.constexpr, PERSISTENT: tl.constexpr, SPECIALIZE: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN // PARTS])
    multiply_tiles(a, b, c, M, N, K, BM, BN, BK, GROUP_M, PERSISTENT, SPECIALIZE, PARTS)


def matmul(
    a, b, c, bm=64, bn=64, bk=32, group_m=None, programs=None, on_host=True, specialize=False,
    parts=1, **options,
):  # fmt: skip
    """``c = a @ b`` for row-major matrices, by ``programs`` programs (as many as there are
    tiles, if that is None); ``specialize`` gives the copies warps of their own. Tiles are stored in
    ``parts`` (a power of two)."""
    (m, k), n = a.shape, b.shape[1]
    # What programs read at a time is about square, where there are many.
    group_m = group_m or (16 if bn > bm >= 128 else 8)
    grid = (min(tile.cdiv(m, bm) * tile.cdiv(n, bn), programs or 1 << 30),)
    constants = {"BM": bm, "BN": bn, "BK": bk, "GROUP_M": group_m}
    # One loop for the steps of all tiles, where there are several.
    constants |= {"PERSISTENT": programs is not None, "SPECIALIZE": specialize}
    constants |= {"PARTS": parts}
    if not on_host:
        return from_device[grid](a, b, c, m, n, k, **constants, **options)
    blocks = ((a, [bm, bk]), (b, [bk, bn]), (c, [bm, bn // parts]))
    descriptors = [TensorDescriptor.from_tensor(x, block) for x, block in blocks]
    return from_host[grid](*descriptors, m, n, k, **constants, **options)


def main(device) -> None:
    rng = np.random.default_rng(5)
    for m, n, k in ((64, 64, 96), (100, 136, 72)):
        a = rng.standard_normal((m, k)).astype(np.float16)
        b = rng.standard_normal((k, n)).astype(np.float16)
        for on_host in (True, False):
            c = device.empty_like(np.empty((m, n), np.float16))
            way: dict[str, Any] = {"programs": 2, "parts": 2} if on_host else {"specialize": True}
            kernel = matmul(device.put(a), device.put(b), c, on_host=on_host, **way)
            expected = a.astype(np.float64) @ b.astype(np.float64)
            device.check("descriptor_matmul", kernel, device.get(c), expected)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
