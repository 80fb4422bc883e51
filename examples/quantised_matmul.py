"""Matmul with weights of four or eight bits.

Four bits have a scale for each group along the sum, eight bits one for each row. Few rows are
multiplied with many weights, so memory decides: each byte of weights is read once and becomes one
or two numbers in registers. The weights are the first operand of `dot`, whose rows are many. Small
blocks and splits of the sum make many programs, which read at once. The last program of a block
adds up what the splits gave.
"""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl

#: How many weights along the sum share a scale.
GROUP = 128
#: The weight that a nibble of zero is.
LEAST = -8


@tile.jit
def pair(words, mask: tl.constexpr, exponent: tl.constexpr):
    """The numbers of fp16 whose last bits are the nibbles in the lower and in the upper half."""
    bits = (words & mask) | exponent
    low, high = bits.to(tl.int16), (bits >> 16).to(tl.int16)
    return tl.join(low.to(tl.float16, bitcast=True), high.to(tl.float16, bitcast=True))


@tile.jit
def unpack(words, BN: tl.constexpr):
    """Of the [BN, 16] words of a group [BN, 128] numbers. Where the column has a bit of 8, a number
    is 64 and the nibble. Elsewhere it is 1024 and the nibble. So no nibble is shifted by four."""
    upper = words >> 8
    first = tl.join(pair(words, 0x000F000F, 0x64006400), pair(words, 0x00F000F0, 0x54005400))
    second = tl.join(pair(upper, 0x000F000F, 0x64006400), pair(upper, 0x00F000F0, 0x54005400))
    # The dimensions are row, column / 2 % 4, column / 32, column % 2, column / 8 % 2 and
    # column / 16 % 2.
    parts = tl.join(first, second).reshape(BN, 4, 4, 2, 2, 2)
    return parts.permute(0, 2, 5, 4, 1, 3).reshape(BN, 128)


@tile.jit
def part_kernel(
    x_ptr, words_ptr, scales_ptr, parts_ptr, out_ptr, counters_ptr, M, N, K, groups,
    BM: tl.constexpr, BN: tl.constexpr, STEP: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    j, split, i = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    n, m, k = j * BN + tl.arange(0, BN), i * BM + tl.arange(0, BM), tl.arange(0, 128)
    share = tl.cdiv(groups, SPLITS * STEP) * STEP
    words_ptrs = words_ptr + n[:, None].to(tl.int64) * (groups * 16) + tl.arange(0, 16)
    x_ptrs = x_ptr + m.to(tl.int64) * K + k[:, None]
    # A weight of zero is the nibble 8. `unpack` makes 1032 or 72 of it.
    zero = tl.where((k & 8) == 0, -1032.0, -72.0).to(tl.float16)
    zeros = tl.broadcast_to(zero[None, :], (BN, 128))
    acc = tl.zeros((BN, BM), tl.float32)
    for first in range(split * share, min(groups, (split + 1) * share), STEP):
        for step in tl.static_range(STEP):
            group = first + step
            there = (n < N) & (group < groups)
            words = tl.load(words_ptrs + group * 16, mask=there[:, None], other=0)
            x = tl.load(x_ptrs + group * 128, mask=(m < M) & (group < groups), other=0.0)
            # One more dot costs less than a subtraction from each number.
            part = tl.dot(unpack(words, BN), x) + tl.dot(zeros, x)
            scales = tl.load(scales_ptr + group * N + n, mask=there, other=0.0)
            acc += part * scales[:, None]
    add_up(acc, parts_ptr, out_ptr, counters_ptr, i, j, split, n, m, M, N, SPLITS)


@tile.jit
def add_up(
    acc, parts_ptr, out_ptr, counters_ptr, i, j, split, n, m, M, N, SPLITS: tl.constexpr
):  # fmt: skip
    """Stores the sum of what all splits have of a block: the last one that comes does."""
    mask = (m < M) & (n[:, None] < N)
    out = out_ptr + m.to(tl.int64) * N + n[:, None]
    if SPLITS == 1:
        tl.store(out, acc.to(out_ptr.dtype.element_ty), mask=mask)
    else:
        tl.store(parts_ptr + (split * M + m).to(tl.int64) * N + n[:, None], acc, mask=mask)
        counter = counters_ptr + i * tl.num_programs(0) + j
        # One thread counts for all.
        tl.debug_barrier()
        if tl.atomic_add(counter, 1, sem="acq_rel", scope="gpu") == SPLITS - 1:
            tl.debug_barrier()
            total = tl.zeros_like(acc)
            for part in tl.static_range(SPLITS):
                places = (part * M + m).to(tl.int64) * N + n[:, None]
                total += tl.load(parts_ptr + places, mask=mask, other=0.0, cache_modifier=".cg")
            tl.store(out, total.to(out_ptr.dtype.element_ty), mask=mask)
            # For the next launch.
            tl.store(counter, 0)


@tile.jit
def byte_kernel(
    x_ptr, weights_ptr, scales_ptr, parts_ptr, out_ptr, counters_ptr, M, N, K, BM: tl.constexpr,
    BN: tl.constexpr, BK: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    j, split, i = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    n, m, k = j * BN + tl.arange(0, BN), i * BM + tl.arange(0, BM), tl.arange(0, BK)
    share = tl.cdiv(tl.cdiv(K, BK), SPLITS) * BK
    acc = tl.zeros((BN, BM), tl.float32)
    for first in range(split * share, min(K, (split + 1) * share), BK):
        places = n[:, None].to(tl.int64) * K + (first + k)
        weights = tl.load(weights_ptr + places, mask=(n[:, None] < N) & (first + k < K), other=0)
        x_ptrs = x_ptr + m.to(tl.int64) * K + (first + k)[:, None]
        x = tl.load(x_ptrs, mask=(m < M) & (first + k < K)[:, None], other=0.0)
        acc = tl.dot(weights.to(x.dtype), x, acc)
    acc *= tl.load(scales_ptr + n, mask=n < N, other=0.0)[:, None]
    add_up(acc, parts_ptr, out_ptr, counters_ptr, i, j, split, n, m, M, N, SPLITS)


def pack(weights: np.ndarray) -> np.ndarray:
    """``weights``: [N, K], whole numbers from -8 to 7. Eight of them are a word, and 16 words are
    a group. The order is that in which tensor cores take them. What a thread needs of a group is
    four words side by side."""
    n, k = weights.shape
    nibbles = (weights - LEAST).astype(np.uint32).reshape(n, k // GROUP, 4, 2, 2, 4, 2)
    # The bits of a column: 64 and 32 say which of a thread's words it is in. 16, 8 and 1 say the
    # place in the word, 4 and 2 the thread.
    nibbles = nibbles.transpose(0, 1, 5, 2, 3, 4, 6).reshape(n, k // 8, 2, 2, 2)
    words = np.zeros((n, k // 8), np.uint32)
    for place in np.ndindex(2, 2, 2):
        of_16, of_8, of_1 = place
        words |= nibbles[:, :, of_16, of_8, of_1] << (8 * of_16 + 4 * of_8 + 16 * of_1)
    return words.view(np.int32)


def unpacked(words: np.ndarray) -> np.ndarray:
    """The weights of which `pack` makes these words."""
    n, k = words.shape[0], words.shape[1] * 8
    nibbles = np.empty((n, k // 8, 2, 2, 2), np.int8)
    for place in np.ndindex(2, 2, 2):
        of_16, of_8, of_1 = place
        nibbles[:, :, of_16, of_8, of_1] = words >> (8 * of_16 + 4 * of_8 + 16 * of_1) & 15
    parts = nibbles.reshape(n, k // GROUP, 4, 4, 2, 2, 2).transpose(0, 1, 3, 4, 5, 2, 6)
    return parts.reshape(n, k) + np.int8(LEAST)


def matmul(
    x, words, scales, parts, counters, out, bm=16, bn=32, step=1, splits=4, **options
):  # fmt: skip
    """``out = x @ (w * scale).T``: ``x`` is [M, K], ``words`` [N, K / 8] as `pack` makes them,
    ``scales`` [K / 128, N]. K is a multiple of 128. ``parts`` has room for ``splits`` results in
    fp32, ``counters`` a number for each block of a result, zero at first."""
    (m, k), n = x.shape, words.shape[0]
    if k % GROUP:
        raise ValueError(f"the sum has {k} steps, which is no multiple of {GROUP}")
    return part_kernel[(tile.cdiv(n, bn), splits, tile.cdiv(m, bm))](
        x, words, scales, parts, out, counters, m, n, k, k // GROUP, BM=bm, BN=bn, STEP=step,
        SPLITS=splits, **options,
    )  # fmt: skip


def matmul_of_bytes(
    x, weights, scales, parts, counters, out, bm=16, bn=32, bk=128, splits=4, **options
):  # fmt: skip
    """``out = x @ (w * scale).T``: ``x`` is [M, K], ``weights`` [N, K] of int8 or uint8, ``scales``
    [N]. ``parts`` and ``counters`` are those of `matmul`."""
    (m, k), n = x.shape, weights.shape[0]
    return byte_kernel[(tile.cdiv(n, bn), splits, tile.cdiv(m, bm))](
        x, weights, scales, parts, out, counters, m, n, k, BM=bm, BN=bn, BK=bk, SPLITS=splits,
        **options,
    )  # fmt: skip


def main(device) -> None:
    rng = np.random.default_rng(37)
    m, n, k = 5, 136, 640
    weights = rng.integers(-8, 8, (n, k))
    scales = (rng.random((k // GROUP, n)) * 0.01).astype(np.float16)
    x = rng.standard_normal((m, k)).astype(np.float16)
    exact = x @ (weights * np.repeat(scales.astype(np.float64), GROUP, axis=0).T).T
    counters = device.put(np.zeros(tile.cdiv(n, 32), np.int32))
    inputs = device.put(x), device.put(pack(weights)), device.put(scales)
    for splits in (1, 2):
        parts = device.empty_like(np.empty((splits, m, n), np.float32))
        out = device.empty_like(np.empty((m, n), np.float16))
        kernel = matmul(*inputs, parts, counters, out, splits=splits)
        device.check(f"quantised_matmul, {splits} splits", kernel, device.get(out), exact)

    of_bytes, each = rng.integers(-128, 128, (n, k)), (rng.random(n) * 0.01).astype(np.float16)
    inputs = device.put(x), device.put(of_bytes.astype(np.int8)), device.put(each)
    exact_of_bytes = x @ (of_bytes * each[:, None].astype(np.float64)).T
    for splits in (1, 2):
        parts = device.empty_like(np.empty((splits, m, n), np.float32))
        out = device.empty_like(np.empty((m, n), np.float16))
        kernel = matmul_of_bytes(*inputs, parts, counters, out, splits=splits)
        device.check(f"matmul of bytes, {splits} splits", kernel, device.get(out), exact_of_bytes)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
