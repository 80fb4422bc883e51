"""Attention on sm_90 by two groups of four warps that take turns: while one of them multiplies, the
other one computes its weights. Within a group, values are multiplied while the next weights are
computed. A warp of its own copies queries, keys and values; programs go from block to block."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.aggregate
class Ring:
    """How the warp that copies and the groups that read hand slots of buffers to each other."""

    ready: gl.shared_memory_descriptor
    empty: gl.shared_memory_descriptor
    SLOTS: gl.constexpr

    @gluon.jit
    def wait(self, n):
        """The slot of step `n`, when its copies are there."""
        slot = n % self.SLOTS
        mbarrier.wait(self.ready.index(slot), (n // self.SLOTS) & 1)
        return slot

    @gluon.jit
    def release(self, n):
        mbarrier.arrive(self.empty.index(n % self.SLOTS))

    @gluon.jit
    def fill(self, n, bytes: gl.constexpr):
        """The slot of step `n`, when it may be filled, and its barrier, which waits for `bytes`."""
        slot = n % self.SLOTS
        # Of a barrier that nobody arrived at yet, the phase before the first has ended.
        mbarrier.wait(self.empty.index(slot), (n // self.SLOTS + 1) & 1)
        mbarrier.expect(self.ready.index(slot), bytes)
        return slot, self.ready.index(slot)


@gluon.jit
def make_ring(SLOTS: gl.constexpr, READERS: gl.constexpr):
    ready = mbarrier.allocate_mbarrier(batch=SLOTS)
    empty = mbarrier.allocate_mbarrier(batch=SLOTS)
    for s in gl.static_range(SLOTS):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=READERS)
    return Ring(ready, empty, SLOTS)


@gluon.jit
def work_at(number, N, BM: gl.constexpr, BN: gl.constexpr, CAUSAL: gl.constexpr):
    """The head, the first row of queries, and the number of blocks of keys."""
    blocks = gl.cdiv(N, 2 * BM)
    head, block = number // blocks, number % blocks
    steps = gl.cdiv(N, BN)
    if CAUSAL:
        # Those with most keys begin.
        block = blocks - 1 - block
        steps = gl.minimum(steps, gl.cdiv((block + 1) * 2 * BM, BN))
    return head, block * 2 * BM, steps


@gluon.jit
def soften(
    s, largest, total, scale, row, key, N, dtype: gl.constexpr, O: gl.constexpr,  # noqa: E741
    MASKED: gl.constexpr, CAUSAL: gl.constexpr,
):  # fmt: skip
    """The weights of a block of scores, and what earlier sums are multiplied with."""
    S: gl.constexpr = s.type.layout
    if MASKED:
        keys = key + gl.arange(0, s.shape[1], layout=gl.SliceLayout(0, S))[None, :]
        seen = keys < N
        if CAUSAL:
            rows = row + gl.arange(0, s.shape[0], layout=gl.SliceLayout(1, S))
            seen = seen & (keys <= rows[:, None])
        s = gl.where(seen, s, -float("inf"))
    above = gl.maximum(largest, gl.max(s, 1))
    base = above * scale
    if MASKED:
        # Of a row that has seen nothing yet, all is minus infinity.
        base = gl.where(above == -float("inf"), 0.0, base)
    weights = gl.exp2(s * scale - base[:, None])
    shrink = gl.exp2(largest * scale - base)
    # Each thread adds its own: those of a row are added at the end.
    parts = weights.reshape([s.shape[0], s.shape[1] // 8, 4, 2])
    total = total * gl.convert_layout(
        shrink, gl.SliceLayout(1, total.type.layout), assert_trivial=True
    )[:, None] + gl.convert_layout(gl.sum(gl.sum(parts, 3), 1), total.type.layout)
    p = gl.convert_layout(weights.to(dtype), gl.DotOperandLayout(0, O, 2), assert_trivial=True)
    return p, above, total, shrink


@gluon.jit
def attend(
    o, sq, sk, sv, so, queries, blocks, my_turn, other_turn, heads, N, scale, ME: gl.constexpr,
    TURNS: gl.constexpr, CAUSAL: gl.constexpr,
):  # fmt: skip
    """The part of one group: a half of the rows of each block of queries, all keys."""
    BM: gl.constexpr = o.block_shape[1]
    D: gl.constexpr = o.block_shape[2]
    BN: gl.constexpr = sk.shape[2]
    S: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    O: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])  # noqa: E741
    # Rows as in S, and four threads for each.
    T: gl.constexpr = gl.DistributedLinearLayout(
        [[8, 0]], [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], [[16, 0], [32, 0]], [], [BM, 4]
    )
    # Blocks of keys that not all rows see.
    EDGES: gl.constexpr = gl.cdiv(2 * BM, BN) if CAUSAL else 1
    dtype: gl.constexpr = o.dtype
    none = gl.zeros([BM, BN], gl.float32, S)
    step, turn, tile = 0, 0, 0
    for number in range(gl.program_id(0), heads * gl.cdiv(N, 2 * BM), gl.num_programs(0)):
        head, start, steps = work_at(number, N, BM, BN, CAUSAL)
        row = start + ME * BM
        largest = gl.full([BM], -float("inf"), gl.float32, gl.SliceLayout(1, S))
        total = gl.zeros([BM, 4], gl.float32, T)
        acc = gl.zeros([BM, D], gl.float32, O)
        rows = sq.index(queries.wait(2 * tile + ME)).reshape([BM, D])
        keys = sk.index(blocks.wait(step)).reshape([BN, D])
        s = warpgroup_mma(rows, keys.permute([1, 0]), none, use_acc=False)
        blocks.release(step)
        p, largest, total, shrink = soften(
            s, largest, total, scale, row, (steps - 1) * BN, N, dtype, O, True, CAUSAL
        )
        # First the other blocks that not all rows see, then the rest.
        for INNER in gl.static_range(0 if EDGES > 1 else 1, 2):
            first = gl.minimum(steps, EDGES) if INNER else 1
            last = steps if INNER else gl.minimum(steps, EDGES)
            for n in range(first, last):
                slot = blocks.wait(step + n)
                keys = sk.index(slot).reshape([BN, D])
                values = sv.index(slot).reshape([BN, D])
                if TURNS:
                    # The first group begins; then each waits until the other one has started its.
                    mbarrier.wait(my_turn, (turn + 1 - ME) & 1)
                    turn += 1
                s = warpgroup_mma(rows, keys.permute([1, 0]), none, use_acc=False, is_async=True)
                acc = warpgroup_mma(p, values, acc, is_async=True)
                if TURNS:
                    mbarrier.arrive(other_turn)
                s = warpgroup_mma_wait(1, deps=(s,))
                # The values of the block before are multiplied meanwhile.
                weights, largest, total, shrink = soften(
                    s, largest, total, scale, row, (steps - 1 - n) * BN, N, dtype, O,
                    INNER == 0, CAUSAL,
                )  # fmt: skip
                acc, p = warpgroup_mma_wait(0, deps=(acc, p))
                blocks.release(step + n)
                acc = acc * gl.convert_layout(shrink, gl.SliceLayout(1, O))[:, None]
                p = weights
        queries.release(2 * tile + ME)
        values = sv.index(blocks.wait(step + steps)).reshape([BN, D])
        acc = warpgroup_mma(p, values, acc)
        blocks.release(step + steps)
        share = gl.convert_layout(1.0 / gl.sum(total, 1), gl.SliceLayout(1, O))
        tma.store_wait(0)
        gl.barrier()
        so.reshape([BM, D]).store((acc * share[:, None]).to(dtype))
        fence_async_shared()
        gl.barrier()
        tma.async_store(o, [head, row, 0], so)
        step += steps + 1
        tile += 1
    tma.store_wait(0)


@gluon.jit
def copy(q, k, v, sq, sk, sv, queries, blocks, heads, N, CAUSAL: gl.constexpr):
    """The part of the warp that copies: blocks of keys from the last to the first, and with each
    the values of the block before it."""
    BM: gl.constexpr = q.block_shape[1]
    BN: gl.constexpr = k.block_shape[1]
    step, tile = 0, 0
    for number in range(gl.program_id(0), heads * gl.cdiv(N, 2 * BM), gl.num_programs(0)):
        head, start, steps = work_at(number, N, BM, BN, CAUSAL)
        for i in gl.static_range(2):
            slot, ready = queries.fill(2 * tile + i, q.nbytes_per_cta)
            tma.async_load(q, [head, start + i * BM, 0], ready, sq.index(slot))
        slot, ready = blocks.fill(step, k.nbytes_per_cta)
        tma.async_load(k, [head, (steps - 1) * BN, 0], ready, sk.index(slot))
        for n in range(1, steps):
            slot, ready = blocks.fill(step + n, k.nbytes_per_cta + v.nbytes_per_cta)
            tma.async_load(k, [head, (steps - 1 - n) * BN, 0], ready, sk.index(slot))
            tma.async_load(v, [head, (steps - n) * BN, 0], ready, sv.index(slot))
        slot, ready = blocks.fill(step + steps, v.nbytes_per_cta)
        tma.async_load(v, [head, 0, 0], ready, sv.index(slot))
        step += steps + 1
        tile += 1


@gluon.jit
def attention_kernel(
    q, k, v, o, heads, N, scale, STAGES: gl.constexpr, TURNS: gl.constexpr, CAUSAL: gl.constexpr
):  # fmt: skip
    sq = gl.allocate_shared_memory(q.dtype, [2, *q.block_shape], q.layout)
    sk = gl.allocate_shared_memory(k.dtype, [STAGES, *k.block_shape], k.layout)
    sv = gl.allocate_shared_memory(v.dtype, [STAGES, *v.block_shape], v.layout)
    so = gl.allocate_shared_memory(o.dtype, [2, *o.block_shape], o.layout)
    queries = make_ring(2, 1)
    blocks = make_ring(STAGES, 2)  # Both groups read them.
    turns = mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(turns.index(i), count=1)
    first, second = turns.index(0), turns.index(1)
    gl.warp_specialize(
        [
            (
                attend,
                (o, sq, sk, sv, so.index(0), queries, blocks, first, second, heads, N, scale, 0,
                 TURNS, CAUSAL),
            ),
            (
                attend,
                (o, sq, sk, sv, so.index(1), queries, blocks, second, first, heads, N, scale, 1,
                 TURNS, CAUSAL),
            ),
            (copy, (q, k, v, sq, sk, sv, queries, blocks, heads, N, CAUSAL)),
        ],
        worker_num_warps=[4, 1],
        worker_num_regs=[240, 24],
    )  # fmt: skip


def arguments(q, k, v, o, causal, bn, stages, turns=True):
    heads, n, d = q.shape
    descs = [
        TensorDescriptor.from_tensor(
            tensor, block, gl.NVMMASharedLayout.get_default_for(block, gl.float16)
        )
        for tensor, block in (
            (q, [1, 64, d]), (k, [1, bn, d]), (v, [1, bn, d]), (o, [1, 64, d]),
        )
    ]  # fmt: skip
    scale = d**-0.5 * 1.4426950408889634  # Powers of two are what the machine computes.
    return (*descs, heads, n, scale, stages, turns, causal)


def attention(
    q, k, v, o, causal: bool = False, bn: int = 128, stages: int = 2, turns: bool = True,
    programs: int = 132,
):  # fmt: skip
    """``o = softmax(q @ k.T / sqrt(d)) @ v`` of fp16, for each head: all are heads x rows x d."""
    heads, n, _ = q.shape
    grid = (min(programs, tile.cdiv(n, 128) * heads),)
    return attention_kernel[grid](*arguments(q, k, v, o, causal, bn, stages, turns), num_warps=4)


def reference(q, k, v, causal: bool) -> np.ndarray:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    s = q @ k.transpose(0, 2, 1) * q.shape[-1] ** -0.5
    if causal:
        s = np.where(np.tri(s.shape[1], dtype=bool), s, -np.inf)
    weights = np.exp(s - s.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def main(device) -> None:
    rng = np.random.default_rng(10)
    for heads, n, d, causal in ((2, 256, 64, False), (1, 200, 64, True)):
        q, k, v = (rng.standard_normal((heads, n, d)).astype(np.float16) for _ in range(3))
        expected = reference(q, k, v, causal).astype(np.float16)
        o = device.empty_like(expected)
        kernel = attention(device.put(q), device.put(k), device.put(v), o, causal)
        device.check("ping-pong", kernel, device.get(o), expected)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
