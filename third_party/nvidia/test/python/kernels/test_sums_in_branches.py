"""Sums of loops in tensor memory that an iteration adds to, or changes, in some cases alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
import tile.language as tl

#: An H100 or H200 has none of this.
pytestmark = sim_only

KINDS = ["skips", "begins", "selects", "scales", "twice", "all"]


@pytest.fixture(autouse=True)
def target(monkeypatch) -> None:
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:100")
    monkeypatch.setenv("TILE_TENSOR_MEMORY", "1")


@tile.jit
def sums_kernel(
    a, b, flags, ends, out, M, N, K, STEPS,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    rows, cols, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    at = rows[:, None] * N + cols[None, :]
    acc = tl.full((BM, BN), 0.5, tl.float32)
    for step in tl.range(STEPS, num_stages=STAGES):
        flag = tl.load(flags + step) > 0
        x = tl.load(
            a + (step * M + rows[:, None]) * K + k[None, :],
            (rows[:, None] < M) & (k[None, :] < K), 0.0,
        )  # fmt: skip
        y = tl.load(
            b + (step * K + k[:, None]) * N + cols[None, :],
            (k[:, None] < K) & (cols[None, :] < N), 0.0,
        )  # fmt: skip
        if KIND == "skips":
            if flag:
                acc = tl.dot(x, y, acc)
        elif KIND == "twice":
            acc = tl.dot(x, y, acc)
            acc = tl.dot(x, y, acc)
        else:
            acc = tl.dot(x, y, acc)
        if KIND == "begins" or KIND == "all":
            if flag:
                tl.store(ends + step * M * N + at, acc, inside)
                acc = tl.full((BM, BN), 2.0, tl.float32)
        if KIND == "selects":
            acc = tl.where(flag, acc, 3.0)
        if KIND == "scales" or KIND == "all":
            acc = acc * 0.5
    tl.store(out + at, acc, inside)


def expected_sums(a, b, flags, kind):
    steps, m, _ = a.shape
    n = b.shape[2]
    acc, ends = np.full((m, n), 0.5, np.float32), np.full((steps, m, n), np.nan, np.float32)
    for step in range(steps):
        dot = a[step].astype(np.float32) @ b[step].astype(np.float32)
        if kind != "skips" or flags[step]:
            acc = acc + dot
        if kind == "twice":
            acc = acc + dot
        if kind in ("begins", "all") and flags[step]:
            ends[step], acc = acc, np.full((m, n), 2.0, np.float32)
        if kind == "selects" and not flags[step]:
            acc = np.full((m, n), 3.0, np.float32)
        if kind in ("scales", "all"):
            acc = acc * 0.5
    return acc, ends


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize(("tile_", "warps"), [((128, 64), 4), ((128, 32), 8), ((64, 64), 4)])
def test_sums(kind, stages, tile_, warps):
    """With flags in any order, ragged sizes, and loops without iterations."""
    (bm, bn), bk = tile_, 32
    m, n, k = bm - 3, bn - 5, bk - 7
    for steps, seed in itertools.product((0, 1, 4), (1, 2)):
        a, b = random((steps, m, k), "fp16", seed), random((steps, k, n), "fp16", seed + 10)
        flags = np.random.default_rng(seed).integers(0, 2, steps).astype(np.int32)
        out, ends = poisoned((m, n), "fp32"), np.full((steps, m, n), np.nan, np.float32)
        sums_kernel[(1,)](
            a, b, flags, ends, out, m, n, k, steps, bm, bn, bk, kind, stages, num_warps=warps
        )
        expected, expected_ends = expected_sums(a, b, flags, kind)
        np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(ends, expected_ends, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_loops_hand_no_sums_on_in_registers(kind):
    (bm, bn), bk, steps = (128, 64), 32, 2
    a, b = random((steps, bm, bk), "fp16", 1), random((steps, bk, bn), "fp16", 2)
    flags, out = np.ones(steps, np.int32), poisoned((bm, bn), "fp32")
    ends = np.zeros((steps, bm, bn), np.float32)
    kernel = sums_kernel[(1,)](
        a, b, flags, ends, out, bm, bn, bk, steps, bm, bn, bk, kind, 1, num_warps=4
    )
    text = kernel.asm["ttgir"]
    loop = next(line for line in text.splitlines() if "scf.for" in line)
    assert f"tensor<{bm}x{bn}xf32" not in loop
    assert text.count("ttnvgpu.tmem_alloc") == 1
