"""The product of a mixture of experts on sm_100. Tokens are sorted by the expert that each is for.
One warp starts copies: of the rows of tokens, and of the weights of their expert. One starts the
dots. Four have the copy engine scatter the results to the rows of their tokens."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
    tma,
)
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor


@gluon.jit
def tokens_of(order_ptr, first, end, BM: gl.constexpr):
    """The numbers of a block's tokens; -1 behind the last one. No matrix has such a row: it is read
    as zeros, and not written. Each warp has four neighbours at a time."""
    LAYOUT: gl.constexpr = gl.SliceLayout(
        0, gl.BlockedLayout([1, 4], [32, 1], [1, gl.num_warps()], [1, 0])
    )
    places = first + gl.arange(0, BM, layout=LAYOUT)
    return gl.load(order_ptr + places, mask=places < end, other=-1)


@gluon.jit
def copy_tiles(
    x, w, sx, sw, ready, empty, order_ptr, expert, first, end, j, steps, STAGES: gl.constexpr
):
    BM: gl.constexpr = sx.shape[1]
    BK: gl.constexpr = sx.shape[2]
    tokens = tokens_of(order_ptr, first, end, BM)
    for k in range(steps):
        slot = k % STAGES
        bar = ready.index(slot)
        # Of a barrier that nobody arrived at yet, the phase before the first has ended.
        mbarrier.wait(empty.index(slot), (k // STAGES + 1) & 1)
        mbarrier.expect(bar, BM * x.nbytes_per_cta + w.nbytes_per_cta)
        tma.async_gather(x, tokens, k * BK, bar, sx.index(slot))
        tma.async_load(w, [expert, k * BK, j * w.block_shape[2]], bar, sw.index(slot))


@gluon.jit
def multiply_tiles(sx, sw, ready, empty, done, acc, steps, STAGES: gl.constexpr):
    BK: gl.constexpr = sw.shape[2]
    BN: gl.constexpr = sw.shape[3]
    for k in range(steps):
        slot = k % STAGES
        mbarrier.wait(ready.index(slot), (k // STAGES) & 1)
        right = sw.index(slot).reshape([BK, BN])
        tcgen05_mma(sx.index(slot), right, acc, use_acc=k > 0, mbarriers=[empty.index(slot)])
    tcgen05_commit(done)


@gluon.jit
def scatter_product(y, sy, acc, done, order_ptr, first, end, j):
    BM: gl.constexpr = sy.shape[0]
    tokens = tokens_of(order_ptr, first, end, BM)
    mbarrier.wait(done, 0)
    sy.store(acc.load().to(y.dtype))
    fence_async_shared()
    tma.async_scatter(y, tokens, j * y.block_shape[1], sy)
    tma.store_wait(0)


@gluon.jit
def grouped_kernel(
    x, w, y, order_ptr, expert_ptr, first_ptr, end_ptr, K, BM: gl.constexpr, STAGES: gl.constexpr,
    ACC: gl.constexpr,
):  # fmt: skip
    BN: gl.constexpr = y.block_shape[1]
    # A block of rows is of one expert: which one, and where its tokens are, is in tables.
    block, j = gl.program_id(0), gl.program_id(1)
    expert, first, end = (gl.load(p + block) for p in (expert_ptr, first_ptr, end_ptr))
    steps = gl.cdiv(K, x.block_shape[1])
    sx = gl.allocate_shared_memory(x.dtype, [STAGES, BM, x.block_shape[1]], x.layout)
    sw = gl.allocate_shared_memory(w.dtype, [STAGES, *w.block_shape], w.layout)
    sy = gl.allocate_shared_memory(y.dtype, [BM, BN], y.layout)
    acc = allocate_tensor_memory(gl.float32, [BM, BN], ACC)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    done = mbarrier.allocate_mbarrier()
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    mbarrier.init(done, count=1)
    gl.warp_specialize(
        [
            (scatter_product, (y, sy, acc, done, order_ptr, first, end, j)),
            (multiply_tiles, (sx, sw, ready, empty, done, acc, steps, STAGES)),
            (
                copy_tiles,
                (x, w, sx, sw, ready, empty, order_ptr, expert, first, end, j, steps, STAGES),
            ),
        ],
        worker_num_warps=[1, 1],
        worker_num_regs=[24, 168],
    )


def tables(experts: np.ndarray, bm: int) -> list[np.ndarray]:
    """The tokens in the order of their experts; the expert of each block of rows, and the first
    and the last place of its tokens."""
    order = np.argsort(experts, kind="stable").astype(np.int32)
    ends = np.cumsum(np.bincount(experts))
    blocks = []
    for expert, end in enumerate(ends):
        start = ends[expert - 1] if expert else 0
        blocks += [(expert, at, end) for at in range(start, end, bm)]
    return [order, *(np.array(column, np.int32) for column in zip(*blocks, strict=True))]


def arguments(x, w, y, found, block, stages):
    bm, bn, bk = block
    descs = [
        TensorDescriptor.from_tensor(
            tensor, shape, gl.NVMMASharedLayout.get_default_for(buffer, gl.float16)
        )
        for tensor, shape, buffer in (
            # One row at a time comes to a buffer of many.
            (x, [1, bk], [bm, bk]), (w, [1, bk, bn], [1, bk, bn]), (y, [1, bn], [bm, bn]),
        )
    ]  # fmt: skip
    return (*descs, *found, x.shape[1], bm, stages, TensorMemoryLayout([bm, bn], col_stride=1))


def matmul(x, w, y, found, block=(128, 128, 64), stages: int = 3, **options):
    """``y[t] = x[t] @ w[expert of t]``, of fp16; `found` are the `tables`. Rows are multiples of 16
    bytes."""
    grid = (found[1].shape[0], tile.cdiv(y.shape[1], block[1]))
    return grouped_kernel[grid](*arguments(x, w, y, found, block, stages), **options)


def reference(x: np.ndarray, w: np.ndarray, experts: np.ndarray) -> np.ndarray:
    return np.stack([row.astype(np.float64) @ w[e] for row, e in zip(x, experts, strict=True)])


def main(device) -> None:
    rng = np.random.default_rng(13)
    for tokens, count, n, k in ((300, 3, 128, 128), (70, 8, 136, 200)):
        experts = rng.integers(0, count, tokens)
        x = rng.standard_normal((tokens, k)).astype(np.float16)
        w = rng.standard_normal((count, k, n)).astype(np.float16)
        expected = reference(x, w, experts).astype(np.float16)
        y = device.empty_like(expected)
        found = [device.put(table) for table in tables(experts, 128)]
        kernel = matmul(device.put(x), device.put(w), y, found)
        device.check("tcgen05 experts", kernel, device.get(y), expected)


if __name__ == "__main__":
    import os

    # Tensor memory is what these GPUs have.
    os.environ.setdefault("TILE_SIM_TARGET", "cuda:100")
    from demo import run_examples

    run_examples(main)
