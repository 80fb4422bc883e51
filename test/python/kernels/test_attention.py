"""Attention, forward: causal and full, head sizes 16 to 256, with ragged lengths."""

from __future__ import annotations

import numpy as np
import pytest
from reference import DTYPES, poisoned, random

import tile
import tile.language as tl


@tile.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale, L, S,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(0) * BM
    head = tl.program_id(1)
    rows = start + tl.arange(0, BM)
    d = tl.arange(0, D)
    q_ptr += head * L * D
    k_ptr += head * S * D
    v_ptr += head * S * D
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :], mask=rows[:, None] < L, other=0.0)
    m = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    end = S
    if CAUSAL:
        end = tl.minimum(S, start + BM)
    for begin in range(0, end, BN):
        cols = begin + tl.arange(0, BN)
        k = tl.load(k_ptr + cols[None, :] * D + d[:, None], mask=cols[None, :] < S, other=0.0)
        scores = tl.dot(q, k) * (scale * 1.4426950408889634)
        valid = cols[None, :] < S
        if CAUSAL:
            valid &= rows[:, None] >= cols[None, :]
        scores = tl.where(valid, scores, -1.0e30)
        m_new = tl.maximum(m, tl.max(scores, 1))
        p = tl.math.exp2(scores - m_new[:, None])
        alpha = tl.math.exp2(m - m_new)
        total = total * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + cols[:, None] * D + d[None, :], mask=cols[:, None] < S, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m = m_new
    acc = acc / total[:, None]
    out_ptrs = out_ptr + head * L * D + rows[:, None] * D + d[None, :]
    tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=rows[:, None] < L)
    tl.store(lse_ptr + head * L + rows, m + tl.math.log2(total), mask=rows < L)


def run(dtype, length, keys, d, causal, bm=32, bn=32, **options):
    heads = 2
    q = random((heads, length, d), dtype, 1)
    k, v = random((heads, keys, d), dtype, 2), random((heads, keys, d), dtype, 3)
    out, lse = poisoned((heads, length, d), dtype), poisoned((heads, length), "fp32")
    scale = d**-0.5
    kernel = attention[(tile.cdiv(length, bm), heads)](
        q, k, v, out, lse, scale, length, keys, D=d, BM=bm, BN=bn, CAUSAL=causal, **options
    )
    wide = [t.astype(np.float64) for t in (q, k, v)]
    scores = wide[0] @ wide[1].transpose(0, 2, 1) * scale
    if causal:
        scores = np.where(np.arange(length)[:, None] >= np.arange(keys)[None, :], scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    p = np.exp(scores - top)
    total = p.sum(-1, keepdims=True)
    tolerance = {"fp16": 4e-3, "bf16": 3e-2, "fp32": 4e-3}[dtype]
    assert out.dtype == DTYPES[dtype]
    np.testing.assert_allclose(
        out.astype(np.float64), p / total @ wide[2], rtol=tolerance, atol=tolerance
    )
    np.testing.assert_allclose(
        lse, ((top + np.log(total)) / np.log(2))[..., 0], rtol=tolerance, atol=tolerance
    )
    return kernel


@pytest.mark.sweep
@pytest.mark.parametrize("d", [16, 32, 64, 128, 256])
@pytest.mark.parametrize("causal", [False, True])
def test_head_sizes(d, causal):
    run("fp16", 70, 70, d, causal, bm=64 if d < 128 else 32)


@pytest.mark.sweep
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16])
def test_warps_and_stages(warps, stages):
    run("fp16", 64, 100, 32, stages % 2 == 0, bm=64, num_warps=warps, num_stages=stages)


@pytest.mark.sweep
@pytest.mark.every_target
@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
@pytest.mark.parametrize("causal", [False, True])
def test_types(dtype, causal):
    run(dtype, 45, 45, 32, causal)


@pytest.mark.parametrize(("length", "keys"), [(1, 1), (1, 77), (33, 5), (64, 128)])
def test_lengths(length, keys):
    run("fp16", length, keys, 64, False, bn=64)
