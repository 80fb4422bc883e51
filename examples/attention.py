"""Attention in one pass over the keys: the softmax is rescaled as larger scores come by."""

from __future__ import annotations

import math

import numpy as np

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@tile.jit
def rescale(scores, scale, total, top):
    """One step of a softmax: the weights of these scores, by how much earlier results shrink, the
    weights' sum and the largest score so far."""
    new_top = tl.maximum(top, tl.max(scores, axis=1) * scale)
    weights = tl.exp2(scores * scale - new_top[:, None])
    shrink = tl.exp2(top - new_top)
    total = total * shrink + tl.sum(weights, axis=1)
    return weights, shrink, total, new_top


@tile.jit
def attend(
    acc, total, top, q, k_ptrs, v_ptrs, scale, first, last, rows, L,
    D: tl.constexpr, BN: tl.constexpr, MASKED: tl.constexpr, CAUSAL: tl.constexpr,
    SPECIALIZED: tl.constexpr,
):  # fmt: skip
    """Goes over the keys from `first` to `last`; masks only where some of them do not count."""
    for start in tl.range(first, last, BN, warp_specialize=SPECIALIZED):
        cols = start + tl.arange(0, BN)
        if MASKED:
            k = tl.load(k_ptrs + start * D, mask=cols[None, :] < L, other=0.0)
            v = tl.load(v_ptrs + start * D, mask=cols[:, None] < L, other=0.0)
        else:
            k = tl.load(k_ptrs + start * D)
            v = tl.load(v_ptrs + start * D)
        scores = tl.dot(q, k)
        if MASKED:
            seen = cols[None, :] < L
            if CAUSAL:
                seen = seen & (cols[None, :] <= rows[:, None])
            scores = tl.where(seen, scores, -1.0e6)
        weights, shrink, total, top = rescale(scores, scale, total, top)
        acc = acc * shrink[:, None]
        acc = tl.dot(weights.to(v.dtype), v, acc)
    return acc, total, top


@tile.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, L,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, EVEN: tl.constexpr,
    SPECIALIZED: tl.constexpr,
):  # fmt: skip
    block = tl.num_programs(0) - 1 - tl.program_id(0)  # in causal attention, the longest first
    base = tl.program_id(1).to(tl.int64) * L * D
    rows = block * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    keys = tl.arange(0, BN)
    q_offsets = rows[:, None] * D + dims[None, :]
    k_ptrs = k_ptr + base + dims[:, None] + keys[None, :] * D
    v_ptrs = v_ptr + base + keys[:, None] * D + dims[None, :]
    if EVEN:
        q = tl.load(q_ptr + base + q_offsets)
    else:
        q = tl.load(q_ptr + base + q_offsets, mask=rows[:, None] < L, other=0.0)
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    scale = scale * 1.4426950408889634  # of exp2 instead of exp

    if CAUSAL:
        whole = block * BM // BN * BN
        last = tl.minimum((block + 1) * BM, L)
    else:
        whole = L // BN * BN
        last = L
    acc, total, top = attend(
        acc, total, top, q, k_ptrs, v_ptrs, scale, 0, whole, rows, L, D, BN, False, CAUSAL,
        SPECIALIZED,
    )  # fmt: skip
    if CAUSAL or not EVEN:
        acc, total, top = attend(
            acc, total, top, q, k_ptrs, v_ptrs, scale, whole, last, rows, L, D, BN, True, CAUSAL,
            SPECIALIZED,
        )  # fmt: skip
    acc = acc / total[:, None]
    out = acc.to(out_ptr.dtype.element_ty)
    if EVEN:
        tl.store(out_ptr + base + q_offsets, out)
    else:
        tl.store(out_ptr + base + q_offsets, out, mask=rows[:, None] < L)


@tile.jit
def attend_block(
    q, k_desc, v_desc, first, block, scale, L,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
    SPECIALIZED: tl.constexpr,
):  # fmt: skip
    """What a block of queries sees; the copy engine loads keys and values."""
    rows = block * BM + tl.arange(0, BM)
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    scale = scale * 1.4426950408889634
    whole = block * BM // BN * BN if CAUSAL else L
    last = (block + 1) * BM if CAUSAL else L
    for start in tl.range(0, last, BN, warp_specialize=SPECIALIZED):
        scores = tl.dot(q, k_desc.load([first + start, 0]).T)
        if CAUSAL:
            if start >= whole:
                cols = start + tl.arange(0, BN)
                scores = tl.where(cols[None, :] <= rows[:, None], scores, -1.0e6)
        weights, shrink, total, top = rescale(scores, scale, total, top)
        v = v_desc.load([first + start, 0])
        acc = tl.dot(weights.to(v.dtype), v, acc * shrink[:, None])
    return acc / total[:, None]


@tile.jit
def by_descriptors_kernel(
    q_desc, k_desc, v_desc, out_desc, scale, L, tiles,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
    SPECIALIZED: tl.constexpr,
):  # fmt: skip
    """One block of queries for each program; in causal attention, the longest first."""
    blocks = L // BM
    block, first = blocks - 1 - tl.program_id(0) % blocks, tl.program_id(0) // blocks * L
    q = q_desc.load([first + block * BM, 0])
    out = attend_block(
        q, k_desc, v_desc, first, block, scale, L, D, BM, BN, CAUSAL, SPECIALIZED
    )  # fmt: skip
    out_desc.store([first + block * BM, 0], out.to(out_desc.dtype))


@tile.jit
def over_blocks_kernel(
    q_desc, k_desc, v_desc, out_desc, scale, L, tiles,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
    SPECIALIZED: tl.constexpr,
):  # fmt: skip
    """Each program goes over several blocks of queries: the next one's keys and values are
    copied while the last one's results are stored."""
    blocks = L // BM
    for t in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=SPECIALIZED):
        block, first = blocks - 1 - t % blocks, t // blocks * L
        q = q_desc.load([first + block * BM, 0])
        out = attend_block(
            q, k_desc, v_desc, first, block, scale, L, D, BM, BN, CAUSAL, False
        )  # fmt: skip
        out_desc.store([first + block * BM, 0], out.to(out_desc.dtype))


def by_descriptors(
    q, k, v, out, causal: bool = False, bm: int = 64, bn: int = 32, specialized: bool = False,
    programs: int | None = None, **options,
):  # fmt: skip
    """The same for lengths that blocks divide. `programs`: how many go over all blocks of
    queries; by default each has one.
    """
    heads, length, size = q.shape
    assert length % bm == 0 and length % bn == 0, "blocks have to divide the length"
    descriptors = [
        TensorDescriptor(x, [heads * length, size], [size, 1], [rows, size])
        for x, rows in ((q, bm), (k, bn), (v, bn), (out, bm))
    ]
    tiles = heads * length // bm
    kernel = over_blocks_kernel if programs else by_descriptors_kernel
    return kernel[(min(programs or tiles, tiles),)](
        *descriptors, 1 / math.sqrt(size), length, tiles, size, bm, bn, causal, specialized,
        **options,
    )  # fmt: skip


def attention(
    q, k, v, out, causal: bool = False, scale: float | None = None, bm: int = 64, bn: int = 32,
    specialized: bool = False, **options,
):  # fmt: skip
    """``softmax(q @ k.T * scale) @ v`` for arrays of shape (heads, length, head size).

    `specialized`: warps of their own load keys and values, where the GPU lets warps wait for
    each other.
    """
    heads, length, size = q.shape
    scale = 1 / math.sqrt(size) if scale is None else scale
    even = length % bm == 0 and length % bn == 0
    return attention_kernel[(tile.cdiv(length, bm), heads)](
        q, k, v, out, scale, length, D=size, BM=bm, BN=bn, CAUSAL=causal, EVEN=even,
        SPECIALIZED=specialized, **options,
    )  # fmt: skip


def reference(q, k, v, causal: bool = False) -> np.ndarray:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(scores.shape[1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return weights / weights.sum(axis=2, keepdims=True) @ v


def main(device) -> None:
    rng = np.random.default_rng(7)
    for length, causal in ((128, False), (150, True)):
        q, k, v = rng.standard_normal((3, 2, length, 64)).astype(np.float16)
        out = device.empty_like(q)
        kernel = attention(device.put(q), device.put(k), device.put(v), out, causal)
        device.check("attention", kernel, device.get(out), reference(q, k, v, causal))
    for causal in (False, True):
        q, k, v = rng.standard_normal((3, 2, 128, 64)).astype(np.float16)
        for programs in (None, 2):
            out = device.empty_like(q)
            kernel = by_descriptors(
                device.put(q), device.put(k), device.put(v), out, causal, programs=programs
            )
            device.check("attention by TMA", kernel, device.get(out), reference(q, k, v, causal))


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
