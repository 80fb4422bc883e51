"""Attention on sm_100, in the manner of FlashAttention 4. Two groups of four warps each compute the
weights of 128 queries. A fourth of the powers of two are polynomials: the unit for powers is slower
than the rest. A third group corrects the sums, which are in tensor memory, when a row has seen a
much larger score. One warp starts all dots, and one copies."""

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
    tcgen05_mma,
    tma,
)
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor

#: Rows of queries of a group.
ROWS = gl.constexpr(128)
#: By how many powers of two weights may exceed 1 before the sums are corrected.
SLACK = gl.constexpr(8.0)


@gluon.aggregate
class Ring:
    """How one partition hands slots of buffers to another."""

    ready: gl.shared_memory_descriptor
    empty: gl.shared_memory_descriptor
    SLOTS: gl.constexpr

    @gluon.jit
    def wait(self, n):
        """The slot of step `n`, when it is filled."""
        slot = n % self.SLOTS
        mbarrier.wait(self.ready.index(slot), (n // self.SLOTS) & 1)
        return slot

    @gluon.jit
    def acquire(self, n):
        """The slot of step `n`, when it may be filled."""
        slot = n % self.SLOTS
        # Of a barrier that nobody arrived at yet, the phase before the first has ended.
        mbarrier.wait(self.empty.index(slot), (n // self.SLOTS + 1) & 1)
        return slot

    @gluon.jit
    def tell(self, n):
        """The slot of step `n` is filled."""
        mbarrier.arrive(self.ready.index(n % self.SLOTS))

    @gluon.jit
    def release(self, n):
        mbarrier.arrive(self.empty.index(n % self.SLOTS))


@gluon.jit
def make_ring(SLOTS: gl.constexpr):
    ready = mbarrier.allocate_mbarrier(batch=SLOTS)
    empty = mbarrier.allocate_mbarrier(batch=SLOTS)
    for s in gl.static_range(SLOTS):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    return Ring(ready, empty, SLOTS)


@gluon.aggregate
class Group:
    """What a group of warps shares with the others: its scores, weights and sums in tensor memory.
    It sends a number for each row to the warps that correct the sums."""

    scores: gl.nvidia.blackwell.tensor_memory_descriptor
    weights: gl.nvidia.blackwell.tensor_memory_descriptor
    sums: gl.nvidia.blackwell.tensor_memory_descriptor
    factors: gl.shared_memory_descriptor
    scored: Ring
    weighed: Ring
    sent: Ring
    #: Hears of the end of each dot with values.
    added: gl.shared_memory_descriptor
    #: Arrived at when the sums are corrected.
    corrected: gl.shared_memory_descriptor


@gluon.jit
def make_group(
    dtype: gl.constexpr, BN: gl.constexpr, D: gl.constexpr, S: gl.constexpr, P: gl.constexpr,
    O: gl.constexpr,  # noqa: E741
):  # fmt: skip
    added = mbarrier.allocate_mbarrier()
    corrected = mbarrier.allocate_mbarrier()
    mbarrier.init(added, count=1)
    mbarrier.init(corrected, count=1)
    return Group(
        allocate_tensor_memory(gl.float32, [ROWS, BN], S),
        allocate_tensor_memory(dtype, [ROWS, BN], P),
        allocate_tensor_memory(gl.float32, [ROWS, D], O),
        gl.allocate_shared_memory(gl.float32, [ROWS], gl.SwizzledSharedLayout(1, 1, 1, [0])),
        make_ring(1), make_ring(1), make_ring(1), added, corrected,
    )  # fmt: skip


@gluon.jit
def count_steps(start, N, BN: gl.constexpr, CAUSAL: gl.constexpr):
    """How many blocks of keys the queries from `start` on see, and how many of them all see."""
    steps = gl.cdiv(N, BN)
    whole = N // BN
    if CAUSAL:
        steps = gl.minimum(steps, gl.cdiv(start + 2 * ROWS, BN))
        whole = gl.minimum(whole, (start + 1) // BN)
    return steps, whole


@gluon.jit
def power_of_two(x):
    """2 to the `x`, without the unit for powers: a polynomial of the fraction, whose relative error
    is 7.5e-5, and the integer part added to the exponent."""
    x = gl.maximum(x, -126.0)
    whole = gl.floor(x)
    part = x - whole
    value = 0.99992522 + part * (0.69583354 + part * (0.22606716 + part * 0.07802452))
    bits = value.to(gl.int32, bitcast=True) + whole.to(gl.int32) * (1 << 23)
    return bits.to(gl.float32, bitcast=True)


@gluon.jit
def powers_of_two(x):
    """Every fourth element by the polynomial."""
    BM: gl.constexpr = x.shape[0]
    BN: gl.constexpr = x.shape[1]
    even, odd = x.reshape([BM, BN // 2, 2]).split()
    third, fourth = odd.reshape([BM, BN // 4, 2]).split()
    odd = gl.join(gl.exp2(third), power_of_two(fourth)).reshape([BM, BN // 2])
    result = gl.join(gl.exp2(even), odd).reshape([BM, BN])
    return gl.convert_layout(result, x.type.layout, assert_trivial=True)


@gluon.jit
def load_scores(
    buffer, row, key, scale, N, MASKED: gl.constexpr, CAUSAL: gl.constexpr
):  # fmt: skip
    """Scores of the keys from `key` on, by the scale; minus infinity where a key is not seen."""
    s = buffer.load() * scale
    S: gl.constexpr = s.type.layout
    if MASKED:
        keys = key + gl.arange(0, s.shape[1], layout=gl.SliceLayout(0, S))[None, :]
        seen = keys < N
        if CAUSAL:
            rows = row + gl.arange(0, ROWS, layout=gl.SliceLayout(1, S))
            seen = seen & (keys <= rows[:, None])
        s = gl.where(seen, s, -float("inf"))
    return s


@gluon.jit
def soften(
    group, base, total, n, row, scale, N, dtype: gl.constexpr, BN: gl.constexpr,
    MASKED: gl.constexpr, CAUSAL: gl.constexpr,
):  # fmt: skip
    """One block of scores becomes weights: powers of two, relative to the `base` of their row. Half
    of a row at a time is in other registers than those of its scores."""
    HALF: gl.constexpr = BN // 2
    group.scored.wait(n)
    left = load_scores(group.scores.slice(0, HALF), row, n * BN, scale, N, MASKED, CAUSAL)
    right = load_scores(
        group.scores.slice(HALF, HALF), row, n * BN + HALF, scale, N, MASKED, CAUSAL
    )  # fmt: skip
    group.scored.release(n)
    largest = gl.maximum(gl.max(left, 1), gl.max(right, 1))
    # The first block of keys has one that every row sees.
    above = gl.where(largest > base + SLACK, largest, base)
    shrink = gl.exp2(base - above)
    group.sent.acquire(n)
    group.factors.store(shrink)
    group.sent.tell(n)
    total = total * shrink
    # The weights before have been multiplied.
    group.weighed.acquire(n)
    for i in gl.static_range(2):
        weights = powers_of_two((right if i else left) - above[:, None])
        group.weights.slice(i * HALF, HALF).store(weights.to(dtype))
        total += gl.sum(weights, 1)
    group.weighed.tell(n)
    return above, total


@gluon.jit
def weigh(
    group, start, scale, N, ME: gl.constexpr, dtype: gl.constexpr, BN: gl.constexpr,
    CAUSAL: gl.constexpr,
):  # fmt: skip
    """The part of a group: weights of 128 queries, block by block."""
    S: gl.constexpr = gl.SliceLayout(1, group.scores.slice(0, BN // 2).get_reg_layout())
    steps, whole = count_steps(start, N, BN, CAUSAL)
    row = start + ME * ROWS
    base = gl.full([ROWS], -float("inf"), gl.float32, S)
    total = gl.zeros([ROWS], gl.float32, S)
    for n in range(whole):
        base, total = soften(group, base, total, n, row, scale, N, dtype, BN, False, CAUSAL)
    for n in range(whole, steps):
        base, total = soften(group, base, total, n, row, scale, N, dtype, BN, True, CAUSAL)
    # The last number is what the sums are divided by.
    group.sent.acquire(steps)
    group.factors.store(total)
    group.sent.tell(steps)


@gluon.jit
def correct(
    o, first, second, head, start, N, BN: gl.constexpr, CAUSAL: gl.constexpr, PART: gl.constexpr
):
    """The part of the warps that correct the sums of both groups, and store them at the end."""
    D: gl.constexpr = o.block_shape[2]
    R: gl.constexpr = gl.SliceLayout(1, first.sums.slice(0, PART).get_reg_layout())
    steps, _ = count_steps(start, N, BN, CAUSAL)
    for n in range(steps):
        for ME in gl.static_range(2):
            group = second if ME else first
            group.sent.wait(n)
            shrink = group.factors.load(R)
            group.sent.release(n)
            if n > 0:
                mbarrier.wait(group.added, (n - 1) & 1)
                # Most blocks correct no row.
                if gl.min(shrink, 0) < 1.0:
                    for i in gl.static_range(D // PART):
                        part = group.sums.slice(i * PART, PART)
                        part.store(part.load() * shrink[:, None])
            mbarrier.arrive(group.corrected)
    buffer = gl.allocate_shared_memory(o.dtype, o.block_shape, o.layout)
    for ME in gl.static_range(2):
        group = second if ME else first
        group.sent.wait(steps)
        share = 1.0 / group.factors.load(R)
        mbarrier.wait(group.added, (steps - 1) & 1)
        tma.store_wait(0)
        for i in gl.static_range(D // PART):
            part = group.sums.slice(i * PART, PART).load() * share[:, None]
            buffer.reshape([ROWS, D]).slice(i * PART, PART, dim=1).store(part.to(o.dtype))
        fence_async_shared()
        tma.async_store(o, [head, start + ME * ROWS, 0], buffer)
    tma.store_wait(0)


@gluon.jit
def multiply(
    sq, sk, sv, queries, keys, values, first, second, start, N, BN: gl.constexpr,
    CAUSAL: gl.constexpr,
):  # fmt: skip
    """The part of the warp that starts the dots: the scores of a block while the one before it
    becomes weights, and then the sums."""
    D: gl.constexpr = sq.shape[3]
    steps, _ = count_steps(start, N, BN, CAUSAL)
    mbarrier.wait(queries, 0)
    for n in range(steps + 1):
        if n < steps:
            slot = keys.wait(n)
            right = sk.index(slot).reshape([BN, D]).permute([1, 0])
            for ME in gl.static_range(2):
                group = second if ME else first
                group.scored.acquire(n)
                left = sq.index(ME).reshape([ROWS, D])
                bars = [group.scored.ready.index(0)]
                if ME:
                    bars = [group.scored.ready.index(0), keys.empty.index(slot)]
                tcgen05_mma(left, right, group.scores, use_acc=False, mbarriers=bars)
        if n > 0:
            slot = values.wait(n - 1)
            right = sv.index(slot).reshape([BN, D])
            for ME in gl.static_range(2):
                group = second if ME else first
                group.weighed.wait(n - 1)
                mbarrier.wait(group.corrected, (n - 1) & 1)
                bars = [group.added, group.weighed.empty.index(0)]
                if ME:
                    bars = [
                        group.added, group.weighed.empty.index(0), values.empty.index(slot)
                    ]  # fmt: skip
                tcgen05_mma(group.weights, right, group.sums, use_acc=n > 1, mbarriers=bars)


@gluon.jit
def copy(
    q, k, v, sq, sk, sv, queries, keys, values, head, start, N, BN: gl.constexpr,
    CAUSAL: gl.constexpr,
):  # fmt: skip
    steps, _ = count_steps(start, N, BN, CAUSAL)
    mbarrier.expect(queries, 2 * q.nbytes_per_cta)
    for i in gl.static_range(2):
        tma.async_load(q, [head, start + i * ROWS, 0], queries, sq.index(i))
    for n in range(steps):
        slot = keys.acquire(n)
        mbarrier.expect(keys.ready.index(slot), k.nbytes_per_cta)
        tma.async_load(k, [head, n * BN, 0], keys.ready.index(slot), sk.index(slot))
        slot = values.acquire(n)
        mbarrier.expect(values.ready.index(slot), v.nbytes_per_cta)
        tma.async_load(v, [head, n * BN, 0], values.ready.index(slot), sv.index(slot))


@gluon.jit
def attention_kernel(
    q, k, v, o, N, scale, STAGES: gl.constexpr, S: gl.constexpr, P: gl.constexpr,
    O: gl.constexpr, PART: gl.constexpr, CAUSAL: gl.constexpr,  # noqa: E741
):  # fmt: skip
    BN: gl.constexpr = k.block_shape[1]
    D: gl.constexpr = k.block_shape[2]
    head, start = gl.program_id(1), gl.program_id(0) * (2 * ROWS)
    if CAUSAL:
        # Those with most keys begin.
        start = (gl.num_programs(0) - 1 - gl.program_id(0)) * (2 * ROWS)
    sq = gl.allocate_shared_memory(q.dtype, [2, *q.block_shape], q.layout)
    sk = gl.allocate_shared_memory(k.dtype, [STAGES, *k.block_shape], k.layout)
    sv = gl.allocate_shared_memory(v.dtype, [STAGES, *v.block_shape], v.layout)
    queries = mbarrier.allocate_mbarrier()
    mbarrier.init(queries, count=1)
    keys, values = make_ring(STAGES), make_ring(STAGES)
    first = make_group(q.dtype, BN, D, S, P, O)
    second = make_group(q.dtype, BN, D, S, P, O)
    gl.warp_specialize(
        [
            (correct, (o, first, second, head, start, N, BN, CAUSAL, PART)),
            (weigh, (first, start, scale, N, 0, q.dtype, BN, CAUSAL)),
            (weigh, (second, start, scale, N, 1, q.dtype, BN, CAUSAL)),
            (
                multiply,
                (sq, sk, sv, queries, keys, values, first, second, start, N, BN, CAUSAL),
            ),
            (
                copy,
                (q, k, v, sq, sk, sv, queries, keys, values, head, start, N, BN, CAUSAL),
            ),
        ],
        worker_num_warps=[4, 4, 1, 1],
        worker_num_regs=[192, 192, 24, 24],
    )  # fmt: skip


def arguments(q, k, v, o, causal: bool, bn: int, stages: int):
    _, n, d = q.shape
    descs = [
        TensorDescriptor.from_tensor(
            tensor, block, gl.NVMMASharedLayout.get_default_for(block, gl.float16)
        )
        for tensor, block in (
            (q, [1, 128, d]), (k, [1, bn, d]), (v, [1, bn, d]), (o, [1, 128, d]),
        )
    ]  # fmt: skip
    scale = d**-0.5 * 1.4426950408889634  # Powers of two are what the machine computes.
    layouts = [TensorMemoryLayout([128, columns], col_stride=1) for columns in (bn, bn, d)]
    return (*descs, n, scale, stages, *layouts, min(d, 32), causal)


def attention(q, k, v, o, causal: bool = False, bn: int | None = None, stages: int = 2):
    """``o = softmax(q @ k.T / sqrt(d)) @ v`` of fp16, for each head: all are heads x rows x d."""
    heads, n, d = q.shape
    # Scores, weights and sums of two groups are what tensor memory holds.
    bn = bn or (128 if d <= 64 else 64)
    grid = (tile.cdiv(n, 256), heads)
    return attention_kernel[grid](*arguments(q, k, v, o, causal, bn, stages), num_warps=4)


def reference(q, k, v, causal: bool) -> np.ndarray:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    s = q @ k.transpose(0, 2, 1) * q.shape[-1] ** -0.5
    if causal:
        s = np.where(np.tri(s.shape[1], dtype=bool), s, -np.inf)
    weights = np.exp(s - s.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def main(device) -> None:
    rng = np.random.default_rng(12)
    for heads, n, d, causal in ((2, 256, 64, False), (1, 300, 128, True)):
        q, k, v = (rng.standard_normal((heads, n, d)).astype(np.float16) for _ in range(3))
        expected = reference(q, k, v, causal).astype(np.float16)
        o = device.empty_like(expected)
        kernel = attention(device.put(q), device.put(k), device.put(v), o, causal)
        device.check("tcgen05 attention", kernel, device.get(o), expected)


if __name__ == "__main__":
    import os

    # Tensor memory is what these GPUs have.
    os.environ.setdefault("TILE_SIM_TARGET", "cuda:100")
    from demo import run_examples

    run_examples(main)
