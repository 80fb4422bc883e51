"""Attention whose loop over tiles is specialised with the loops over keys in it, on sm_90."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")


@tile.jit
def over_tiles(
    q_desc, k_desc, v_desc, out_desc, scale, L, tiles,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
    PARTS: tl.constexpr,
):  # fmt: skip
    blocks = L // BM
    for t in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=True):
        block, first = blocks - 1 - t % blocks, t // blocks * L
        rows = block * BM + tl.arange(0, BM)
        q = q_desc.load([first + block * BM, 0])
        top = tl.full((BM,), -float("inf"), tl.float32)
        total = tl.zeros((BM,), tl.float32)
        acc = tl.zeros((BM, D), tl.float32)
        whole = block * BM // BN * BN if CAUSAL else L
        end = (block + 1) * BM if CAUSAL else L
        for part in tl.static_range(PARTS):
            low, high = (0, end) if PARTS == 1 else (0, whole) if part == 0 else (whole, end)
            for start in tl.range(low, high, BN):
                scores = tl.dot(q, k_desc.load([first + start, 0]).T) * scale
                if CAUSAL and start >= whole:
                    cols = start + tl.arange(0, BN)
                    scores = tl.where(cols[None, :] <= rows[:, None], scores, -1.0e6)
                new_top = tl.maximum(top, tl.max(scores, 1))
                weights = tl.exp2(scores - new_top[:, None])
                shrink = tl.exp2(top - new_top)
                total = total * shrink + tl.sum(weights, 1)
                v = v_desc.load([first + start, 0])
                acc = tl.dot(weights.to(v.dtype), v, acc * shrink[:, None])
                top = new_top
        out_desc.store([first + block * BM, 0], (acc / total[:, None]).to(out_desc.dtype))


@pytest.mark.parametrize(("causal", "parts"), [(False, 1), (True, 1), (True, 2)])
@pytest.mark.parametrize(
    ("d", "bm", "bn", "warps", "stages"), [(128, 64, 32, 4, 3), (128, 128, 128, 8, 2)]
)
def test_over_tiles(d, bm, bn, warps, stages, causal, parts):
    """The partition copies queries, too, while the tile before is finished."""
    heads, length = 2, 2 * max(bm, bn)
    q, k, v = (random((heads, length, d), "fp16", seed) for seed in (1, 2, 3))
    out = poisoned(q.shape, "fp16")
    tiles = heads * length // bm
    descriptors = [
        TensorDescriptor.from_tensor(x.reshape(-1, d), [rows, d])
        for x, rows in ((q, bm), (k, bn), (v, bn), (out, bm))
    ]
    kernel = over_tiles[(tiles // 2,)](
        *descriptors, d**-0.5 * 1.4426950408889634, length, tiles, d, bm, bn, causal, parts,
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    consumer, producer = kernel.asm["ttgir"].split("partition0(")
    copy = "async_tma_copy_global_to_local"
    assert copy not in consumer and producer.count(copy) == 1 + 2 * parts
    assert "wgmma.wait_group.sync.aligned 1" in kernel.asm["ptx"]
    wide = [x.astype(np.float64) for x in (q, k, v)]
    scores = wide[0] @ wide[1].transpose(0, 2, 1) * d**-0.5
    if causal:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    expected = weights / weights.sum(axis=2, keepdims=True) @ wide[2]
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=4e-3, atol=4e-3)
