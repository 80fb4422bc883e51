"""Attention on sm_90 by two groups of four warps that take turns: while one of them multiplies
queries and keys, the other one computes its weights. A warp of its own copies keys and values."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import (
    mbarrier,
    tma,
    warpgroup_mma,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def attend(
    q, o_ptr, sq, sk, sv, q_ready, ready, empty, my_turn, other_turn, head, start, N, scale,
    steps, ME: gl.constexpr, STAGES: gl.constexpr, CAUSAL: gl.constexpr,
):  # fmt: skip
    """The part of one group: 64 rows of queries, all keys."""
    BM: gl.constexpr = q.block_shape[0]
    D: gl.constexpr = q.block_shape[1]
    BN: gl.constexpr = sk.shape[1]
    S: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    O: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])  # noqa: E741
    rows = start + ME * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, S))
    largest = gl.full([BM], -float("inf"), gl.float32, gl.SliceLayout(1, S))
    total = gl.zeros([BM], gl.float32, gl.SliceLayout(1, S))
    acc = gl.zeros([BM, D], gl.float32, O)
    mbarrier.wait(q_ready, 0)
    for n in range(steps):
        slot = n % STAGES
        mbarrier.wait(ready.index(slot), (n // STAGES) & 1)
        # The first group begins; after that, each waits until the other one has multiplied.
        mbarrier.wait(my_turn, (n + 1 - ME) & 1)
        s = gl.zeros([BM, BN], gl.float32, S)
        s = warpgroup_mma(sq, sk.index(slot).permute([1, 0]), s, use_acc=False)
        mbarrier.arrive(other_turn)
        keys = n * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, S))
        seen = keys[None, :] < N
        if CAUSAL:
            seen = seen & (keys[None, :] <= rows[:, None])
        s = gl.where(seen, s * scale, -float("inf"))
        above = gl.maximum(largest, gl.max(s, 1))
        # Of a row that has seen nothing yet, all is minus infinity.
        base = gl.where(above == -float("inf"), 0.0, above)
        weights = gl.exp2(s - base[:, None])
        shrink = gl.exp2(largest - base)
        total = total * shrink + gl.sum(weights, 1)
        largest = above
        acc = acc * gl.convert_layout(shrink, gl.SliceLayout(1, O))[:, None]
        p = gl.convert_layout(weights.to(sv.dtype), gl.DotOperandLayout(0, O, 2))
        acc = warpgroup_mma(p, sv.index(slot), acc)
        mbarrier.arrive(empty.index(slot))
    total = gl.convert_layout(total, gl.SliceLayout(1, O))
    rows = start + ME * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, O))
    columns = gl.arange(0, D, layout=gl.SliceLayout(0, O))
    places = o_ptr + (head * N + rows[:, None]) * D + columns[None, :]
    gl.store(places, (acc / total[:, None]).to(sv.dtype), mask=rows[:, None] < N)


@gluon.jit
def copy(q, k, v, sq, sk, sv, q_ready, ready, empty, first, steps, STAGES: gl.constexpr):
    """The part of the warp that copies. What lies behind the rows of this head is not counted."""
    BM: gl.constexpr = q.block_shape[0]
    BN: gl.constexpr = k.block_shape[0]
    rows, keys = first
    mbarrier.expect(q_ready, 2 * q.nbytes_per_cta)
    for i in gl.static_range(2):
        tma.async_load(q, [rows + i * BM, 0], q_ready, sq.index(i))
    for n in range(steps):
        slot = n % STAGES
        mbarrier.wait(empty.index(slot), (n // STAGES + 1) & 1)
        mbarrier.expect(ready.index(slot), k.nbytes_per_cta + v.nbytes_per_cta)
        tma.async_load(k, [keys + n * BN, 0], ready.index(slot), sk.index(slot))
        tma.async_load(v, [keys + n * BN, 0], ready.index(slot), sv.index(slot))


@gluon.jit
def attention_kernel(
    q, k, v, o_ptr, N, scale, STAGES: gl.constexpr, CAUSAL: gl.constexpr
):  # fmt: skip
    BM: gl.constexpr = q.block_shape[0]
    BN: gl.constexpr = k.block_shape[0]
    block, head = gl.program_id(0), gl.program_id(1)
    start = block * 2 * BM
    steps = gl.cdiv(N, BN)
    if CAUSAL:
        steps = gl.minimum(steps, gl.cdiv(start + 2 * BM, BN))
    sq = gl.allocate_shared_memory(q.dtype, [2, *q.block_shape], q.layout)
    sk = gl.allocate_shared_memory(k.dtype, [STAGES, *k.block_shape], k.layout)
    sv = gl.allocate_shared_memory(v.dtype, [STAGES, *v.block_shape], v.layout)
    q_ready = mbarrier.allocate_mbarrier()
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    turns = mbarrier.allocate_mbarrier(batch=2)
    mbarrier.init(q_ready, count=1)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=2)  # One arrival of each group.
    for i in gl.static_range(2):
        mbarrier.init(turns.index(i), count=1)
    first, second = turns.index(0), turns.index(1)
    gl.warp_specialize(
        [
            (
                attend,
                (q, o_ptr, sq.index(0), sk, sv, q_ready, ready, empty, first, second, head, start,
                 N, scale, steps, 0, STAGES, CAUSAL),
            ),
            (
                attend,
                (q, o_ptr, sq.index(1), sk, sv, q_ready, ready, empty, second, first, head, start,
                 N, scale, steps, 1, STAGES, CAUSAL),
            ),
            (
                copy,
                (q, k, v, sq, sk, sv, q_ready, ready, empty, (head * N + start, head * N), steps,
                 STAGES),
            ),
        ],
        worker_num_warps=[4, 1],
        worker_num_regs=[240, 24],
    )  # fmt: skip


def arguments(q, k, v, o, causal, bn, stages):
    heads, n, d = q.shape
    descs = [
        TensorDescriptor.from_tensor(
            tensor.reshape(heads * n, d), block,
            gl.NVMMASharedLayout.get_default_for(block, gl.float16),
        )
        for tensor, block in ((q, [64, d]), (k, [bn, d]), (v, [bn, d]))
    ]  # fmt: skip
    scale = d**-0.5 * 1.4426950408889634  # Powers of two are what the machine computes.
    return (*descs, o, n, scale, stages, causal)


def attention(q, k, v, o, causal: bool = False, bn: int = 128, stages: int = 2):
    """``o = softmax(q @ k.T / sqrt(d)) @ v`` of fp16, for each head: all are heads x rows x d."""
    heads, n, _ = q.shape
    grid = (tile.cdiv(n, 128), heads)
    return attention_kernel[grid](*arguments(q, k, v, o, causal, bn, stages), num_warps=4)


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
        kernel = attention(*(device.put(x) for x in (q, k, v)), o, causal)
        device.check("ping-pong", kernel, device.get(o), expected)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
