"""Matmul with weights of four or eight bits.

Four bits have a scale for each group along the sum, eight bits one for each row. Few rows are
multiplied with many weights, so memory decides: each byte of weights is read once and becomes one
or two numbers in registers. The weights are the first operand of `dot`, whose rows are many. With
four bits the steps are split, because there are few tiles.
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
def as_float16(nibble):
    """Of a nibble the weight, exactly: fp16 numbers of 1024 and more have steps of one."""
    bits = nibble.to(tl.int16) | 0x6400
    return bits.to(tl.float16, bitcast=True) - 1032.0


@tile.jit
def part_kernel(
    x_ptr, weights_ptr, scales_ptr, parts_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
    GROUP: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    j, split, i = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    n, m, k = j * BN + tl.arange(0, BN), i * BM + tl.arange(0, BM), tl.arange(0, GROUP)
    half = K // 2
    share = tl.cdiv(half // GROUP, SPLITS) * GROUP
    acc = tl.zeros((BN, BM), tl.float32)
    for first in range(split * share, min(half, (split + 1) * share), GROUP):
        places = n[:, None].to(tl.int64) * half + (first + k)
        packed = tl.load(weights_ptr + places, mask=n[:, None] < N, other=0)
        x_ptrs = x_ptr + m.to(tl.int64) * K + (first + k)[:, None]
        # The low nibbles are the weights of the first half of the sum, the high ones the others.
        low = tl.dot(as_float16(packed & 15), tl.load(x_ptrs, mask=m < M, other=0.0))
        high = tl.dot(as_float16(packed >> 4), tl.load(x_ptrs + half, mask=m < M, other=0.0))
        scales = scales_ptr + first // GROUP * N + n
        acc += low * tl.load(scales, mask=n < N, other=0.0)[:, None]
        acc += high * tl.load(scales + half // GROUP * N, mask=n < N, other=0.0)[:, None]
    parts = parts_ptr + (split * M + m).to(tl.int64) * N + n[:, None]
    tl.store(parts, acc.to(parts_ptr.dtype.element_ty), mask=(m < M) & (n[:, None] < N))


@tile.jit
def sum_kernel(parts_ptr, out_ptr, count, BLOCK: tl.constexpr, SPLITS: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for split in tl.static_range(SPLITS):
        total += tl.load(parts_ptr + split * count + places, mask=places < count, other=0.0)
    tl.store(out_ptr + places, total.to(out_ptr.dtype.element_ty), mask=places < count)


@tile.jit
def byte_kernel(
    x_ptr, weights_ptr, scales_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr,
):  # fmt: skip
    j, i = tl.program_id(0), tl.program_id(1)
    n, m, k = j * BN + tl.arange(0, BN), i * BM + tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BN, BM), tl.float32)
    for first in range(0, K, BK):
        places = n[:, None].to(tl.int64) * K + (first + k)
        weights = tl.load(weights_ptr + places, mask=(n[:, None] < N) & (first + k < K), other=0)
        x_ptrs = x_ptr + m.to(tl.int64) * K + (first + k)[:, None]
        x = tl.load(x_ptrs, mask=(m < M) & (first + k < K)[:, None], other=0.0)
        acc = tl.dot(weights.to(x.dtype), x, acc)
    acc *= tl.load(scales_ptr + n, mask=n < N, other=0.0)[:, None]
    out = out_ptr + m.to(tl.int64) * N + n[:, None]
    tl.store(out, acc.to(out_ptr.dtype.element_ty), mask=(m < M) & (n[:, None] < N))


def pack(weights: np.ndarray) -> np.ndarray:
    """``weights``: [N, K], whole numbers from -8 to 7. Two of them are a byte."""
    low, high = np.split((weights - LEAST).astype(np.uint8), 2, axis=1)
    return low | high << 4


def matmul(x, weights, scales, parts, out, bm=16, bn=64, splits=4, **options):
    """``out = x @ (w * scale).T``: ``x`` is [M, K], ``weights`` [N, K / 2] as `pack` makes them,
    ``scales`` [K / 128, N]. K is a multiple of 256. ``parts`` has room for ``splits`` results; one
    split needs none."""
    (m, k), n = x.shape, weights.shape[0]
    if k % (2 * GROUP):
        raise ValueError(f"the sum has {k} steps, which is no multiple of {2 * GROUP}")
    kernel = part_kernel[(tile.cdiv(n, bn), splits, tile.cdiv(m, bm))](
        x, weights, scales, parts if splits > 1 else out, m, n, k,
        BM=bm, BN=bn, GROUP=GROUP, SPLITS=splits, **options,
    )  # fmt: skip
    if splits > 1:
        sum_kernel[(tile.cdiv(m * n, 1024),)](parts, out, m * n, BLOCK=1024, SPLITS=splits)
    return kernel


def matmul_of_bytes(x, weights, scales, out, bm=16, bn=64, bk=128, **options):
    """``out = x @ (w * scale).T``: ``x`` is [M, K], ``weights`` [N, K] of int8 or uint8, ``scales``
    [N]."""
    (m, k), n = x.shape, weights.shape[0]
    return byte_kernel[(tile.cdiv(n, bn), tile.cdiv(m, bm))](
        x, weights, scales, out, m, n, k, BM=bm, BN=bn, BK=bk, **options
    )


def main(device) -> None:
    rng = np.random.default_rng(37)
    m, n, k = 5, 136, 768
    weights = rng.integers(-8, 8, (n, k))
    scales = (rng.random((k // GROUP, n)) * 0.01).astype(np.float16)
    x = rng.standard_normal((m, k)).astype(np.float16)
    exact = x @ (weights * np.repeat(scales.astype(np.float64), GROUP, axis=0).T).T
    inputs = device.put(x), device.put(pack(weights)), device.put(scales)
    for splits in (1, 2):
        parts = device.empty_like(np.empty((splits, m, n), np.float32))
        out = device.empty_like(np.empty((m, n), np.float16))
        kernel = matmul(*inputs, parts, out, splits=splits)
        device.check(f"quantised_matmul, {splits} splits", kernel, device.get(out), exact)

    of_bytes, each = rng.integers(-128, 128, (n, k)), (rng.random(n) * 0.01).astype(np.float16)
    out = device.empty_like(np.empty((m, n), np.float16))
    inputs = device.put(x), device.put(of_bytes.astype(np.int8)), device.put(each)
    kernel = matmul_of_bytes(*inputs, out)
    exact_of_bytes = x @ (of_bytes * each[:, None].astype(np.float64)).T
    device.check("matmul of bytes", kernel, device.get(out), exact_of_bytes)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
