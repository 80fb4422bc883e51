"""The gradients of attention: scores are computed again, from what rows summed up to.

In one pass, blocks of keys add to the gradients of queries in memory, in no particular order. In
two passes, queries have a kernel of their own. It computes the scores once more.
"""

from __future__ import annotations

import math

import numpy as np

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@tile.jit
def statistics_kernel(
    q_ptr, k_ptr, sums_ptr, scale, L,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """What a forward pass hands over: of each row the logarithm (to base 2) of its weights' sum."""
    block, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * L * D
    rows, dims, keys = block * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    q = tl.load(q_ptr + base + rows[:, None] * D + dims[None, :])
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    last = (block + 1) * BM if CAUSAL else L
    for start in tl.range(0, last, BN):
        cols = start + keys
        k = tl.load(k_ptr + base + dims[:, None] + cols[None, :] * D)
        scores = tl.dot(q, k) * (scale * 1.4426950408889634)
        if CAUSAL:
            scores = tl.where(cols[None, :] <= rows[:, None], scores, -1.0e6)
        new_top = tl.maximum(top, tl.max(scores, axis=1))
        total = total * tl.exp2(top - new_top) + tl.sum(tl.exp2(scores - new_top[:, None]), axis=1)
        top = new_top
    tl.store(sums_ptr + head * L + rows, top + tl.log2(total))


@tile.jit
def prepare_kernel(
    out_ptr, dout_ptr, deltas_ptr, dq_ptr, L, D: tl.constexpr, BM: tl.constexpr, CLEAR: tl.constexpr
):
    """``sum(out * dout)`` of each row, and zeros for the gradients of queries to be added to."""
    head = tl.program_id(1)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    offsets = head.to(tl.int64) * L * D + rows[:, None] * D + tl.arange(0, D)[None, :]
    products = tl.load(out_ptr + offsets).to(tl.float32) * tl.load(dout_ptr + offsets)
    tl.store(deltas_ptr + head * L + rows, tl.sum(products, axis=1))
    if CLEAR:
        tl.store(dq_ptr + offsets, tl.zeros((BM, D), dtype=tl.float32))


@tile.jit
def gradients_kernel(
    q_desc, k_desc, v_desc, dout_desc, dq_desc, dk_desc, dv_desc, sums_ptr, deltas_ptr, scale, L,
    BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, SPECIALIZED: tl.constexpr,
    ONE_LOOP: tl.constexpr,
):  # fmt: skip
    """A block of keys and values goes over the queries, and adds to their gradients."""
    block, head = tl.program_id(0), tl.program_id(1)
    base = head * L
    cols, queries = block * BN + tl.arange(0, BN), tl.arange(0, BM)
    k, v = k_desc.load([base + block * BN, 0]), v_desc.load([base + block * BN, 0])
    dk = tl.zeros(k.shape, dtype=tl.float32)
    dv = tl.zeros(v.shape, dtype=tl.float32)
    # Queries that see some of the keys come first, then those that see all. These are in a loop of
    # their own, or in one loop with the others. That loop looks where it is.
    first = block * BN // BM * BM if CAUSAL else 0
    whole = tl.cdiv((block + 1) * BN, BM) * BM if CAUSAL else 0
    for part in tl.static_range(0 if CAUSAL and not ONE_LOOP else 1, 2):
        low, high = (first, whole) if part == 0 else (first if ONE_LOOP else whole, L)
        for start in tl.range(low, high, BM, warp_specialize=SPECIALIZED):
            rows = start + queries
            # Scores are transposed, so that weights are where their dot with dout needs them.
            q = q_desc.load([base + start, 0])
            scores = tl.dot(k, q.T)
            dout = dout_desc.load([base + start, 0])
            dweights = tl.dot(v, dout.T)
            sums = tl.load(sums_ptr + base + rows)
            weights = tl.exp2(scores * (scale * 1.4426950408889634) - sums[None, :])
            if part == 0:
                weights = tl.where(cols[:, None] <= rows[None, :], weights, 0.0)
            elif CAUSAL and ONE_LOOP:
                if start < whole:
                    weights = tl.where(cols[:, None] <= rows[None, :], weights, 0.0)
            # Both uses take them in 16 bits: half the registers while dots are under way.
            weights = weights.to(dout.dtype)
            dv = tl.dot(weights, dout, dv)
            dscores = weights * (dweights - tl.load(deltas_ptr + base + rows)[None, :])
            dscores = dscores.to(q.dtype)
            dq = tl.dot(dscores.T, k)
            # Warps that load nothing are faster where they send dq off before the last dot.
            if SPECIALIZED:
                dq_desc.atomic_add([base + start, 0], dq)
            dk = tl.dot(dscores, q, dk)
            if not SPECIALIZED:
                dq_desc.atomic_add([base + start, 0], dq)
    dv_desc.store([base + block * BN, 0], dv.to(dv_desc.dtype))
    dk_desc.store([base + block * BN, 0], (dk * scale).to(dk_desc.dtype))


@tile.jit
def scale_kernel(sum_ptr, dq_ptr, scale, BLOCK: tl.constexpr):
    """The gradients of queries from what was added up."""
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dq_ptr + offsets, (tl.load(sum_ptr + offsets) * scale).to(dq_ptr.dtype.element_ty))


@tile.jit
def keys_values_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, dk_ptr, dv_ptr, sums_ptr, deltas_ptr, scale, L,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
    SPECIALIZED: tl.constexpr,
):  # fmt: skip
    """A block of keys and values goes over the queries; scores are transposed."""
    block, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * L * D
    cols, dims, queries = block * BN + tl.arange(0, BN), tl.arange(0, D), tl.arange(0, BM)
    offsets = base + cols[:, None] * D + dims[None, :]
    k, v = tl.load(k_ptr + offsets), tl.load(v_ptr + offsets)
    dk = tl.zeros((BN, D), dtype=tl.float32)
    dv = tl.zeros((BN, D), dtype=tl.float32)
    first = block * BN // BM * BM if CAUSAL else 0
    for start in tl.range(first, L, BM, warp_specialize=SPECIALIZED):
        rows = start + queries
        q_t = tl.load(q_ptr + base + dims[:, None] + rows[None, :] * D)
        scores = tl.dot(k, q_t) * (scale * 1.4426950408889634)
        weights = tl.exp2(scores - tl.load(sums_ptr + head * L + rows)[None, :])
        if CAUSAL:
            weights = tl.where(cols[:, None] <= rows[None, :], weights, 0.0)
        dout = tl.load(dout_ptr + base + rows[:, None] * D + dims[None, :])
        dv = tl.dot(weights.to(dout.dtype), dout, dv)
        dweights = tl.dot(v, tl.trans(dout))
        dscores = weights * (dweights - tl.load(deltas_ptr + head * L + rows)[None, :])
        dk = tl.dot(dscores.to(q_t.dtype), tl.trans(q_t), dk)
    tl.store(dv_ptr + offsets, dv.to(dv_ptr.dtype.element_ty))
    tl.store(dk_ptr + offsets, (dk * scale).to(dk_ptr.dtype.element_ty))


@tile.jit
def queries_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, dq_ptr, sums_ptr, deltas_ptr, scale, L,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
    SPECIALIZED: tl.constexpr,
):  # fmt: skip
    """A block of queries goes over the keys and values."""
    block, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * L * D
    rows, dims, keys = block * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    offsets = base + rows[:, None] * D + dims[None, :]
    q, dout = tl.load(q_ptr + offsets), tl.load(dout_ptr + offsets)
    row_sums = tl.load(sums_ptr + head * L + rows)
    row_deltas = tl.load(deltas_ptr + head * L + rows)
    dq = tl.zeros((BM, D), dtype=tl.float32)
    last = (block + 1) * BM if CAUSAL else L
    for start in tl.range(0, last, BN, warp_specialize=SPECIALIZED):
        cols = start + keys
        k_t = tl.load(k_ptr + base + dims[:, None] + cols[None, :] * D)
        v_t = tl.load(v_ptr + base + dims[:, None] + cols[None, :] * D)
        weights = tl.exp2(tl.dot(q, k_t) * (scale * 1.4426950408889634) - row_sums[:, None])
        if CAUSAL:
            weights = tl.where(cols[None, :] <= rows[:, None], weights, 0.0)
        dscores = weights * (tl.dot(dout, v_t) - row_deltas[:, None])
        dq = tl.dot(dscores.to(k_t.dtype), tl.trans(k_t), dq)
    tl.store(dq_ptr + offsets, (dq * scale).to(dq_ptr.dtype.element_ty))


def statistics(q, k, sums, causal: bool = False, bm: int = 32, bn: int = 32, **options):
    heads, length, size = q.shape
    statistics_kernel[(length // bm, heads)](
        q, k, sums, 1 / math.sqrt(size), length, size, bm, bn, causal, **options
    )


def attention_backward(
    q, k, v, out, dout, dq, dk, dv, sums, deltas, dq_sums, causal: bool = False, bm: int = 32,
    bn: int = 32, specialized: bool = False, one_loop: bool = False, **options,
):  # fmt: skip
    """Gradients for arrays of (heads, length, head size), the length a multiple of the blocks.

    `specialized`: warps of their own load what the others compute with. `one_loop`: causal blocks
    go over the queries that see some of their keys and over those that see all in one loop.
    `sums` are those of `statistics`; `deltas` and `dq_sums` are scratch memory: a float32 for each
    row, and for each element of `q`.
    """
    heads, length, size = q.shape
    prepare_kernel[(length // 32, heads)](out, dout, deltas, dq_sums, length, size, 32, True)
    descriptors = [
        TensorDescriptor(x, [heads * length, size], [size, 1], [rows, size])
        for x, rows in ((q, bm), (k, bn), (v, bn), (dout, bm), (dq_sums, bm), (dk, bn), (dv, bn))
    ]
    scale = 1 / math.sqrt(size)
    kernel = gradients_kernel[(length // bn, heads)](
        *descriptors, sums, deltas, scale, length, bm, bn, causal, specialized, one_loop,
        **options,
    )  # fmt: skip
    scale_kernel[(heads * length // 32,)](dq_sums, dq, scale, 32 * size)
    return kernel


def attention_backward_in_two(
    q, k, v, out, dout, dq, dk, dv, sums, deltas, causal: bool = False, bm: int = 32, bn: int = 32,
    specialized: bool = False, **options,
):  # fmt: skip
    """The same without additions to memory: the same bits every time."""
    heads, length, size = q.shape
    numbers = (sums, deltas, 1 / math.sqrt(size), length, size, bm, bn, causal, specialized)
    prepare_kernel[(length // 32, heads)](out, dout, deltas, None, length, size, 32, False)
    keys_values_kernel[(length // bn, heads)](q, k, v, dout, dk, dv, *numbers, **options)
    return queries_kernel[(length // bm, heads)](q, k, v, dout, dq, *numbers, **options)


def reference(q, k, v, dout, causal: bool = False) -> tuple[np.ndarray, ...]:
    """The output, and the gradients of the three inputs."""
    q, k, v, dout = (x.astype(np.float64) for x in (q, k, v, dout))
    scale = 1 / math.sqrt(q.shape[-1])
    scores = q @ k.transpose(0, 2, 1) * scale
    if causal:
        scores = np.where(np.tri(scores.shape[1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    out = weights @ v
    dweights = dout @ v.transpose(0, 2, 1)
    dscores = weights * (dweights - (out * dout).sum(axis=2, keepdims=True)) * scale
    return out, dscores @ k, dscores.transpose(0, 2, 1) @ q, weights.transpose(0, 2, 1) @ dout


def main(device) -> None:
    rng = np.random.default_rng(8)
    for causal in (False, True):
        q, k, v, dout = rng.standard_normal((4, 2, 128, 64)).astype(np.float16)
        out, *expected = reference(q, k, v, dout, causal)
        inputs = [device.put(x) for x in (q, k, v, out.astype(np.float16), dout)]
        sums, deltas = (device.empty_like(np.empty((2, 128), np.float32)) for _ in range(2))
        dq_sums = device.empty_like(np.empty(q.shape, np.float32))
        statistics(inputs[0], inputs[1], sums, causal)
        for backward, scratch in (
            (attention_backward, [deltas, dq_sums]),
            (attention_backward_in_two, [deltas]),
        ):
            gradients = [device.empty_like(q) for _ in range(3)]
            arguments = [*inputs, *gradients, sums, *scratch, causal]
            kernel = backward(*arguments)
            for name, gradient, values in zip("qkv", gradients, expected, strict=True):
                device.check(f"attention d{name}", kernel, device.get(gradient), values)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
