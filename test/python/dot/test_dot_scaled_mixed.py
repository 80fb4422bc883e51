"""Products of fp8 with fp4 on sm_100: 4-bit elements take a byte each in shared memory."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from machines import run_on
from reference import sim_only

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(monkeypatch):
    run_on("cuda:100", monkeypatch)


KINDS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def aligned(array, size=64):
    """A copy at an address that TMA takes."""
    memory = np.empty(array.nbytes + size, np.uint8)
    start = -memory.ctypes.data % size
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def operand(rng, kind, rows, k):
    """Bytes with K along rows, and what they are worth with their scales; the scales."""
    scales = rng.integers(120, 134, (rows, k // 32), np.uint8)
    factor = np.repeat(2.0 ** (scales.astype(int) - 127), 32, 1)
    if kind == "e2m1":
        codes = rng.integers(0, 256, (rows, k // 2), np.uint8)
        single = np.stack([codes & 15, codes >> 4], -1).reshape(rows, k)
        return codes, E2M1[single & 7] * np.where(single & 8, -1, 1) * factor, scales
    codes = rng.standard_normal((rows, k)).astype(KINDS[kind])
    return codes.view(np.uint8), codes.astype(np.float64) * factor, scales


@tile.jit
def by_pointers(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K, A: tl.constexpr, B: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    AP: tl.constexpr = 2 if A == "e2m1" else 1
    BP: tl.constexpr = 2 if B == "e2m1" else 1
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        ka = k * (BK // AP) + tl.arange(0, BK // AP)
        kb = k * (BK // BP) + tl.arange(0, BK // BP)
        ks = k * (BK // 32) + tl.arange(0, BK // 32)
        a_mask = (m[:, None] < M) & (ka[None, :] < K // AP)
        b_mask = (n[None, :] < N) & (kb[:, None] < K // BP)
        a = tl.load(a_ptr + m[:, None] * (K // AP) + ka[None, :], a_mask, other=0)
        b = tl.load(b_ptr + n[None, :] * (K // BP) + kb[:, None], b_mask, other=0)
        s_mask = ks[None, :] < K // 32
        a_scale = tl.load(
            a_scale_ptr + m[:, None] * (K // 32) + ks[None, :], (m[:, None] < M) & s_mask, other=0
        )
        b_scale = tl.load(
            b_scale_ptr + n[:, None] * (K // 32) + ks[None, :], (n[:, None] < N) & s_mask, other=0
        )
        acc = tl.dot_scaled(a, a_scale, A, b, b_scale, B, acc)
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask)


@tile.jit
def by_descriptors(
    a_desc, b_desc, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K, A: tl.constexpr, B: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    AP: tl.constexpr = 2 if A == "e2m1" else 1
    BP: tl.constexpr = 2 if B == "e2m1" else 1
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = a_desc.load([tl.program_id(0) * BM, k * (BK // AP)])
        b = b_desc.load([tl.program_id(1) * BN, k * (BK // BP)])
        ks = k * (BK // 32) + tl.arange(0, BK // 32)
        s_mask = ks[None, :] < K // 32
        a_scale = tl.load(
            a_scale_ptr + m[:, None] * (K // 32) + ks[None, :], (m[:, None] < M) & s_mask, other=0
        )
        b_scale = tl.load(
            b_scale_ptr + n[:, None] * (K // 32) + ks[None, :], (n[:, None] < N) & s_mask, other=0
        )
        acc = tl.dot_scaled(a, a_scale, A, b.T, b_scale, B, acc)
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask)


def run(kernel, a_kind, b_kind, m, n, k, block, **options):
    rng = np.random.default_rng(m * n + k)
    a, a_values, a_scale = operand(rng, a_kind, m, k)
    b, b_values, b_scale = operand(rng, b_kind, n, k)
    bm, bn, bk = block
    if kernel is by_descriptors:
        shapes = [(bm, bk // (1 + (a_kind == "e2m1"))), (bn, bk // (1 + (b_kind == "e2m1")))]
        a, b = (
            TensorDescriptor.from_tensor(aligned(x), list(s))
            for x, s in zip((a, b), shapes, strict=True)
        )
    c = np.full((m, n), np.nan, np.float32)
    grid = (tile.cdiv(m, bm), tile.cdiv(n, bn))
    found = kernel[grid](
        a, b, a_scale, b_scale, c, m, n, k, a_kind, b_kind, bm, bn, bk, **options
    )  # fmt: skip
    size = np.abs(a_values) @ np.abs(b_values).T
    assert (np.abs(c - a_values @ b_values.T) <= size * 1e-5).all()
    return found


PAIRS = [("e4m3", "e2m1"), ("e2m1", "e5m2")]


@pytest.mark.parametrize("kinds", PAIRS)
@pytest.mark.parametrize(("m", "n", "k"), [(128, 64, 256), (200, 72, 416)])
@pytest.mark.parametrize("block", [(128, 64, 128), (128, 32, 64)])
def test_pointers(kinds, m, n, k, block):
    kernel = run(by_pointers, *kinds, m, n, k, block)
    assert "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale" in kernel.asm["ptx"]


@pytest.mark.parametrize("kinds", PAIRS)
@pytest.mark.parametrize(("m", "n", "k"), [(128, 64, 256), (200, 72, 384), (136, 128, 768)])
@pytest.mark.parametrize("stages", [1, 3])
def test_descriptors(kinds, m, n, k, stages):
    kernel = run(by_descriptors, *kinds, m, n, k, (128, 64, 128), num_stages=stages)
    assert "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale" in kernel.asm["ptx"]
    types = {m["element_type"] for m in kernel._metadata["tensor_maps"]}
    assert types == {0, 14}


@pytest.mark.parametrize("kinds", PAIRS)
def test_rows_that_no_map_takes(kinds):
    """A row of 96 bytes is no multiple of 64: the blocks are loaded through pointers."""
    run(by_descriptors, *kinds, 130, 40, 192, (128, 32, 128))
