"""Bytes of two fp4 elements that are neighbours along rows of A or columns of B.

Instructions take neighbours along K. So the bytes are made anew, and the dot is the same as with
operands that were packed along K.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from machines import run_on
from reference import sim_only

import tile
import tile.language as tl

pytestmark = sim_only

KINDS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def operand(rng, kind, rows, k, along_k):
    """Bytes, K along the second dimension; what they are worth with their scales; the scales."""
    scales = rng.integers(120, 134, (rows, k // 32), np.uint8)
    factor = np.repeat(2.0 ** (scales.astype(int) - 127), 32, 1)
    if kind != "e2m1":
        codes = rng.standard_normal((rows, k)).astype(KINDS[kind])
        return codes.view(np.uint8), codes.astype(np.float64) * factor, scales
    single = rng.integers(0, 16, (rows, k), np.uint8)
    if along_k:
        codes = single[:, ::2] | single[:, 1::2] << 4
    else:
        codes = single[::2] | single[1::2] << 4
    values = E2M1[single & 7] * np.where(single & 8, -1, 1) * factor
    return np.ascontiguousarray(codes), values, scales


@tile.jit
def product(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K, A: tl.constexpr, B: tl.constexpr,
    A_ALONG_K: tl.constexpr, B_ALONG_K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr,
):  # fmt: skip
    AK: tl.constexpr = 2 if A == "e2m1" and A_ALONG_K else 1
    AM: tl.constexpr = 2 if A == "e2m1" and not A_ALONG_K else 1
    BPK: tl.constexpr = 2 if B == "e2m1" and B_ALONG_K else 1
    BPN: tl.constexpr = 2 if B == "e2m1" and not B_ALONG_K else 1
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    am = tl.program_id(0) * (BM // AM) + tl.arange(0, BM // AM)
    bn = tl.program_id(1) * (BN // BPN) + tl.arange(0, BN // BPN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        ka = k * (BK // AK) + tl.arange(0, BK // AK)
        kb = k * (BK // BPK) + tl.arange(0, BK // BPK)
        ks = k * (BK // 32) + tl.arange(0, BK // 32)
        a_mask = (am[:, None] < M // AM) & (ka[None, :] < K // AK)
        b_mask = (bn[None, :] < N // BPN) & (kb[:, None] < K // BPK)
        a = tl.load(a_ptr + am[:, None] * (K // AK) + ka[None, :], a_mask, other=0)
        b = tl.load(b_ptr + kb[:, None] * (N // BPN) + bn[None, :], b_mask, other=0)
        s_mask = ks[None, :] < K // 32
        a_scale = tl.load(
            a_scale_ptr + m[:, None] * (K // 32) + ks[None, :], (m[:, None] < M) & s_mask, other=0
        )
        b_scale = tl.load(
            b_scale_ptr + n[:, None] * (K // 32) + ks[None, :], (n[:, None] < N) & s_mask, other=0
        )
        acc = tl.dot_scaled(
            a, a_scale, A, b, b_scale, B, acc, lhs_k_pack=A_ALONG_K, rhs_k_pack=B_ALONG_K
        )
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask)


def run(kinds, along_k, m, n, k, block, **options):
    rng = np.random.default_rng(m * n + k)
    a, a_values, a_scale = operand(rng, kinds[0], m, k, along_k[0])
    b, b_values, b_scale = operand(rng, kinds[1], n, k, along_k[1])
    bm, bn, bk = block
    c = np.full((m, n), np.nan, np.float32)
    found = product[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        a, np.ascontiguousarray(b.T), a_scale, b_scale, c, m, n, k, *kinds, *along_k, bm, bn, bk,
        **options,
    )  # fmt: skip
    size = np.abs(a_values) @ np.abs(b_values).T
    assert (np.abs(c - a_values @ b_values.T) <= size * 1e-5).all()
    return found.asm["ptx"]


#: Formats, whether elements are packed along K, and what multiplies them.
CASES = [
    (("e4m3", "e2m1"), (True, False), "kind::mxf8f6f4"),
    (("e2m1", "e5m2"), (False, True), "kind::mxf8f6f4"),
    (("e2m1", "e2m1"), (True, False), "kind::mxf4"),
    (("e2m1", "e2m1"), (False, True), "kind::mxf4"),
    (("e2m1", "e2m1"), (False, False), "kind::mxf4"),
]


@pytest.mark.parametrize("target", ["cuda:100", "cuda:120"])
@pytest.mark.parametrize(("kinds", "along_k", "instruction"), CASES)
@pytest.mark.parametrize(("m", "n", "k"), [(128, 64, 256), (200, 72, 416)])
def test_bytes_are_packed_along_k(kinds, along_k, instruction, m, n, k, target, monkeypatch):
    run_on(target, monkeypatch)
    ptx = run(kinds, along_k, m, n, k, (128, 64, 128))
    assert instruction in ptx
    assert "kind::f16" not in ptx and "bf16" not in ptx


@pytest.mark.parametrize(("kinds", "along_k", "instruction"), CASES[:2])
@pytest.mark.parametrize("packed", [True, False])
def test_groups_of_32_elements(kinds, along_k, instruction, packed, monkeypatch):
    """One instruction takes 32 elements where fp4 is beside fp8."""
    run_on("cuda:100", monkeypatch)
    ptx = run(kinds, (True, True) if packed else along_k, 130, 40, 96, (128, 32, 32))
    assert f"tcgen05.mma.cta_group::1.{instruction}.block_scale" in ptx


@pytest.mark.parametrize("block", [(64, 64, 64), (128, 16, 64)])
def test_blocks_that_no_instruction_takes(block, monkeypatch):
    """The elements become bf16, as they do where they are packed along K."""
    run_on("cuda:100", monkeypatch)
    ptx = run(("e4m3", "e2m1"), (True, False), 128, 64, 128, block)
    assert "kind::f16" in ptx and "block_scale" not in ptx


@pytest.mark.parametrize("kinds", [("e4m3", "e2m1"), ("e2m1", "e4m3")])
def test_fewer_stages_where_buffers_do_not_fit(kinds, monkeypatch):
    """Four stages would take more shared memory than there is. Three do not."""
    run_on("cuda:100", monkeypatch)
    ptx = run(kinds, (True, True), 128, 128, 512, (128, 128, 256), num_stages=4)
    assert "kind::mxf8f6f4.block_scale" in ptx and "mma.sync" not in ptx


@pytest.mark.parametrize("kinds", [("e4m3", "e2m1"), ("e2m1", "e4m3")])
@pytest.mark.parametrize("num_ctas", [2, 4])
def test_blocks_of_a_cluster_exchange_operands(kinds, num_ctas, monkeypatch):
    """No instruction scales for them. The elements become bf16, and add in tensor memory."""
    run_on("cuda:100", monkeypatch)
    m = 128 * num_ctas
    ptx = run(kinds, (True, True), m, 72, 192, (m, 64, 64), num_ctas=num_ctas)
    assert "tcgen05.mma.cta_group::1.kind::f16" in ptx and "mma.sync" not in ptx
