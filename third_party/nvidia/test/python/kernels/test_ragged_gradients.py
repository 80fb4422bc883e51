"""Gradients of attention for any number of queries and keys, by pointers and by descriptors."""

from __future__ import annotations

import numpy as np
import pytest
from machines import run_on
from reference import poisoned, random

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@tile.jit
def gradients_kernel(
    q, k, v, dout, dq, dk, dv, sums_ptr, deltas_ptr, scale, M, N,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
    BY_POINTERS: tl.constexpr, SPECIALIZED: tl.constexpr,
):  # fmt: skip
    """Blocks of keys add to the gradients of queries. What lies behind the last query counts as a
    row whose weights are zero, what lies behind the last key as a key of zeros."""
    block, head = tl.program_id(0), tl.program_id(1)
    cols, queries, dims = block * BN + tl.arange(0, BN), tl.arange(0, BM), tl.arange(0, D)
    offsets = (head * N + cols[:, None]) * D + dims[None, :]
    if BY_POINTERS:
        keys = tl.load(k + offsets, mask=cols[:, None] < N, other=0.0)
        values = tl.load(v + offsets, mask=cols[:, None] < N, other=0.0)
    else:
        keys = k.load([head, block * BN, 0]).reshape(BN, D)
        values = v.load([head, block * BN, 0]).reshape(BN, D)
    dkeys = tl.zeros((BN, D), dtype=tl.float32)
    dvalues = tl.zeros((BN, D), dtype=tl.float32)
    # The last query sees the last key.
    first = tl.maximum(block * BN + M - N, 0) // BM * BM if CAUSAL else 0
    for start in tl.range(first, M, BM, warp_specialize=SPECIALIZED):
        rows = start + queries
        places = (head * M + rows[:, None]) * D + dims[None, :]
        if BY_POINTERS:
            x = tl.load(q + places, mask=rows[:, None] < M, other=0.0)
            dy = tl.load(dout + places, mask=rows[:, None] < M, other=0.0)
        else:
            x = q.load([head, start, 0]).reshape(BM, D)
            dy = dout.load([head, start, 0]).reshape(BM, D)
        sums = tl.load(sums_ptr + head * M + rows, mask=rows < M, other=float("inf"))
        deltas = tl.load(deltas_ptr + head * M + rows, mask=rows < M, other=0.0)
        weights = tl.exp2(tl.dot(keys, x.T) * (scale * 1.4426950408889634) - sums[None, :])
        if CAUSAL:
            weights = tl.where(cols[:, None] <= rows[None, :] + N - M, weights, 0.0)
        dvalues = tl.dot(weights.to(dy.dtype), dy, dvalues)
        dscores = weights * (tl.dot(values, dy.T) - deltas[None, :])
        dscores = dscores.to(x.dtype)
        part = tl.dot(dscores.T, keys)
        dkeys = tl.dot(dscores, x, dkeys)
        if BY_POINTERS:
            tl.atomic_add(dq + places, part, mask=rows[:, None] < M, sem="relaxed")
        else:
            dq.atomic_add([head, start, 0], part.reshape(1, BM, D))
    dkeys = (dkeys * scale).to(keys.dtype)
    dvalues = dvalues.to(keys.dtype)
    if BY_POINTERS:
        tl.store(dk + offsets, dkeys, mask=cols[:, None] < N)
        tl.store(dv + offsets, dvalues, mask=cols[:, None] < N)
    else:
        dk.store([head, block * BN, 0], dkeys.reshape(1, BN, D))
        dv.store([head, block * BN, 0], dvalues.reshape(1, BN, D))


def expected(q, k, v, dout, causal: bool) -> tuple[np.ndarray, ...]:
    """What a forward pass hands over (logarithms to base 2 of the sums of weights, and
    ``sum(out * dout)``), and the three gradients."""
    q, k, v, dout = (x.astype(np.float64) for x in (q, k, v, dout))
    m, n, scale = q.shape[1], k.shape[1], q.shape[2] ** -0.5
    scores = q @ k.transpose(0, 2, 1) * scale
    if causal:
        scores = np.where(np.tri(m, n, n - m, dtype=bool), scores, -np.inf)
    sums = np.log(np.exp(scores).sum(axis=2))
    weights = np.exp(scores - sums[:, :, None])
    deltas = ((weights @ v) * dout).sum(axis=2)
    dscores = weights * (dout @ v.transpose(0, 2, 1) - deltas[:, :, None]) * scale
    gradients = dscores @ k, dscores.transpose(0, 2, 1) @ q, weights.transpose(0, 2, 1) @ dout
    return sums / np.log(2), deltas, *gradients


# Two blocks of keys at most: the sum of two is the same in any order.
@pytest.mark.parametrize("by_pointers", [False, True])
@pytest.mark.parametrize(
    ("dtype", "d", "m", "n", "causal", "specialized", "bm", "bn", "warps", "stages"),
    [
        ("fp16", 16, 70, 100, True, False, 64, 64, 4, 2),
        ("bf16", 32, 130, 120, False, True, 64, 64, 4, 2),
        ("fp16", 64, 67, 67, True, True, 64, 64, 4, 3),
        ("bf16", 64, 150, 200, False, False, 64, 128, 8, 3),
        ("fp16", 128, 1, 200, False, True, 64, 128, 8, 2),
        ("bf16", 128, 120, 125, True, False, 64, 64, 4, 2),
        ("fp16", 256, 65, 66, True, False, 64, 64, 8, 1),
        ("bf16", 256, 64, 33, False, False, 64, 64, 8, 1),
    ],
)
def test_ragged(
    dtype, d, m, n, causal, specialized, bm, bn, warps, stages, by_pointers, monkeypatch
):  # fmt: skip
    run_on("cuda:90", monkeypatch)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")
    heads, scale = 2, d**-0.5
    q, dout = (random((heads, m, d), dtype, seed) for seed in (1, 2))
    k, v = (random((heads, n, d), dtype, seed) for seed in (3, 4))
    sums, deltas, *gradients = expected(q, k, v, dout, causal)
    sums, deltas = sums.astype(np.float32), deltas.astype(np.float32)
    dq = np.zeros(q.shape, np.float32)
    dk, dv = (poisoned(k.shape, dtype) for _ in "kv")
    tensors = (q, k, v, dout, dq, dk, dv)
    if not by_pointers:
        blocks = (bm, bn, bn, bm, bm, bn, bn)
        tensors = tuple(
            TensorDescriptor.from_tensor(x, [1, rows, d])
            for x, rows in zip(tensors, blocks, strict=True)
        )
    kernel = gradients_kernel[(tile.cdiv(n, bn), heads)](
        *tensors, sums, deltas, scale, m, n, d, bm, bn, causal, by_pointers, specialized,
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    assert "wgmma" in kernel.asm["ptx"]
    assert ("cp.reduce.async.bulk" in kernel.asm["ptx"]) != by_pointers
    # Weights and gradients of scores are rounded to the type before they are multiplied.
    tolerance = 2 * float(np.finfo(np.float16).eps if dtype == "fp16" else 2**-8)
    for actual, wanted in zip((dq * scale, dk, dv), gradients, strict=True):
        error = np.linalg.norm(actual.astype(np.float64) - wanted) / np.linalg.norm(wanted)
        assert error < tolerance
        assert actual.shape == wanted.shape and np.isfinite(actual.astype(np.float64)).all()
