"""The product of a mixture of experts: tokens, sorted by the expert that each is for, times the
weights of their experts. Rows of tokens are gathered by asynchronous copies, two steps ahead."""

from __future__ import annotations

import numpy as np

from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2


@gluon.jit
def start_copies(
    x_ptr, w_ptr, sx, sw, tokens, has_token, expert, j, k, N, K, X: gl.constexpr, W: gl.constexpr,
    BN: gl.constexpr, BK: gl.constexpr,
):  # fmt: skip
    """One step along K of the rows of these tokens, and of the weights of their expert."""
    ks = k * BK + gl.arange(0, BK, layout=gl.SliceLayout(0, X))
    mask = has_token[:, None] & (ks[None, :] < K)
    async_copy.async_load(sx, x_ptr + tokens[:, None] * K + ks[None, :], mask)
    ks = k * BK + gl.arange(0, BK, layout=gl.SliceLayout(1, W))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, W))
    mask = (ks[:, None] < K) & (columns[None, :] < N)
    async_copy.async_load(sw, w_ptr + (expert * K + ks[:, None]) * N + columns[None, :], mask)
    async_copy.commit_group()


@gluon.jit
def grouped_kernel(
    x_ptr, w_ptr, y_ptr, order_ptr, expert_ptr, first_ptr, end_ptr, N, K, BM: gl.constexpr,
    BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
):  # fmt: skip
    X: gl.constexpr = gl.BlockedLayout([1, 8], [256 // BK, BK // 8], [4, 1], [1, 0])
    W: gl.constexpr = gl.BlockedLayout([1, 8], [256 // BN, BN // 8], [4, 1], [1, 0])
    X_SHARED: gl.constexpr = gl.SwizzledSharedLayout(8, 2, 4, [1, 0])
    W_SHARED: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    MMA: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    # A block of rows is of one expert: which one, and where its tokens are, is in tables.
    block, j = gl.program_id(0), gl.program_id(1)
    expert, first, end = (gl.load(p + block) for p in (expert_ptr, first_ptr, end_ptr))
    places = first + gl.arange(0, BM, layout=gl.SliceLayout(1, X))
    has_token = places < end
    tokens = gl.load(order_ptr + places, mask=has_token, other=0)
    sx = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [STAGES, BM, BK], X_SHARED)
    sw = gl.allocate_shared_memory(w_ptr.dtype.element_ty, [STAGES, BK, BN], W_SHARED)
    for s in gl.static_range(STAGES - 1):
        start_copies(
            x_ptr, w_ptr, sx.index(s), sw.index(s), tokens, has_token, expert, j, s, N, K, X, W,
            BN, BK,
        )  # fmt: skip
    acc = gl.zeros([BM, BN], gl.float32, MMA)
    for k in range(gl.cdiv(K, BK)):
        async_copy.wait_group(STAGES - 2)
        left = sx.index(k % STAGES).load(gl.DotOperandLayout(0, MMA, 2))
        right = sw.index(k % STAGES).load(gl.DotOperandLayout(1, MMA, 2))
        acc = mma_v2(left, right, acc)
        ahead = k + STAGES - 1
        # Copies behind the end of K read nothing.
        start_copies(
            x_ptr, w_ptr, sx.index(ahead % STAGES), sw.index(ahead % STAGES), tokens, has_token,
            expert, j, ahead, N, K, X, W, BN, BK,
        )  # fmt: skip
    async_copy.wait_group(0)
    # Results go to where their tokens are.
    rows = gl.convert_layout(tokens, gl.SliceLayout(1, MMA))
    valid = gl.convert_layout(has_token, gl.SliceLayout(1, MMA))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, MMA))
    gl.store(
        y_ptr + rows[:, None] * N + columns[None, :], acc,
        mask=valid[:, None] & (columns[None, :] < N),
    )  # fmt: skip


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


def matmul(x, w, y, found, bm: int = 64, bn: int = 64, bk: int = 32, stages: int = 3):
    """``y[t] = x[t] @ w[expert of t]``, of fp16 into fp32; `found` are the `tables`."""
    blocks, n, k = found[1].shape[0], w.shape[2], w.shape[1]
    grid = (blocks, -(-n // bn))
    return grouped_kernel[grid](x, w, y, *found, n, k, bm, bn, bk, stages)


def reference(x: np.ndarray, w: np.ndarray, experts: np.ndarray) -> np.ndarray:
    return np.stack([row.astype(np.float64) @ w[e] for row, e in zip(x, experts, strict=True)])


def main(device) -> None:
    rng = np.random.default_rng(9)
    for tokens, count, n, k in ((150, 4, 128, 64), (37, 8, 72, 104)):
        experts = rng.integers(0, count, tokens)
        x = rng.standard_normal((tokens, k)).astype(np.float16)
        w = rng.standard_normal((count, k, n)).astype(np.float16)
        expected = reference(x, w, experts).astype(np.float32)
        y = device.empty_like(expected)
        found = [device.put(table) for table in tables(experts, 64)]
        kernel = matmul(device.put(x), device.put(w), y, found)
        device.check("experts", kernel, device.get(y), expected)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
