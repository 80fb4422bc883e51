"""Loops as the passes on them leave them, executed: flattened nests (persistent
matrix products) and prefetched operands."""

from __future__ import annotations

import numpy as np
import pytest
from reference import close, poisoned, random

import tile
import tile.language as tl

BM, BN = 32, 32


@tile.jit
def persistent_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, PROGRAMS: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FLATTEN: tl.constexpr,
):  # fmt: skip
    grid_n = tl.cdiv(N, BN)
    steps = tl.cdiv(K, BK)
    ks = tl.arange(0, BK)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * grid_n, PROGRAMS, flatten=FLATTEN):
        rows = (t // grid_n) * BM + tl.arange(0, BM)
        cols = (t % grid_n) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(steps):
            at = k * BK + ks
            a = tl.load(
                a_ptr + (rows % M)[:, None] * K + at[None, :], mask=at[None, :] < K, other=0.0
            )
            b = tl.load(
                b_ptr + at[:, None] * N + (cols % N)[None, :], mask=at[:, None] < K, other=0.0
            )
            acc = tl.dot(a, b, acc)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc.to(tl.float16), mask=mask)


def run_persistent(shape, bk=32, programs=3, flatten=True, **options):
    m, n, k = shape
    a, b = random((m, k), "fp16", 1), random((k, n), "fp16", 2)
    c = poisoned((m, n), "fp16")
    kernel = persistent_matmul[(programs,)](
        a, b, c, m, n, k, PROGRAMS=programs, BM=BM, BN=BN, BK=bk, FLATTEN=flatten, **options
    )
    close(c, a.astype(np.float64) @ b.astype(np.float64), "fp16", 10)
    return kernel


@pytest.mark.parametrize("num_stages", [1, 2, 3, 4])
@pytest.mark.parametrize("num_warps", [1, 2, 4, 8])
def test_persistent_matmul(num_warps, num_stages):
    kernel = run_persistent((80, 96, 160), num_warps=num_warps, num_stages=num_stages)
    assert kernel.asm["ttir"].count("tt.flatten") == 1
    # One loop, and one for products without steps.
    assert kernel.asm["ttgir"].count("scf.for") == 2


# A ragged one, fewer steps than stages, no steps at all, fewer tiles than programs.
@pytest.mark.parametrize("shape", [(70, 90, 72), (64, 64, 16), (64, 32, 0), (32, 32, 64)])
@pytest.mark.parametrize("num_stages", [1, 3])
def test_persistent_matmul_shapes(shape, num_stages):
    run_persistent(shape, num_stages=num_stages)


@tile.jit
def nested_sums(x_ptr, bias_ptr, out_ptr, last_ptr, ROWS, STEPS, BLOCK: tl.constexpr):
    # Values through both loops, a load that only the end needs, a moving pointer.
    total = tl.zeros((BLOCK,), dtype=tl.int32)
    highest = 0
    for row in tl.range(0, ROWS, flatten=True):
        bias = tl.load(bias_ptr + row)
        at = x_ptr + row * STEPS * BLOCK + tl.arange(0, BLOCK)
        part = tl.zeros((BLOCK,), dtype=tl.int32)
        for step in range(2, STEPS + 2):
            part += tl.load(at) * step
            total += part
            at += BLOCK
        tl.store(out_ptr + row * BLOCK + tl.arange(0, BLOCK), part + bias)
        highest = tl.maximum(highest, tl.max(part, axis=0))
    tl.store(last_ptr + tl.arange(0, BLOCK), total + highest)


@pytest.mark.parametrize("rows,steps", [(3, 5), (4, 1), (2, 0), (0, 3)])
def test_values_through_a_flattened_nest(rows, steps):
    block = 64
    rng = np.random.default_rng(rows)
    x = rng.integers(-50, 50, (max(rows, 1), max(steps, 1), block), dtype=np.int32)
    bias = rng.integers(-50, 50, max(rows, 1), dtype=np.int32)
    out = np.full((max(rows, 1), block), -1, np.int32)
    last = np.full(block, -1, np.int32)
    nested_sums[(1,)](x, bias, out, last, rows, steps, BLOCK=block)
    total, highest = np.zeros(block, np.int64), 0
    for row in range(rows):
        part = np.zeros(block, np.int64)
        for step in range(steps):
            part += x[row, step].astype(np.int64) * (step + 2)
            total += part
        np.testing.assert_array_equal(out[row], part + bias[row])
        highest = max(highest, part.max())
    np.testing.assert_array_equal(last, total + highest)


@tile.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        at = k + ks
        a = tl.load(a_ptr + rows[:, None] * K + at[None, :], mask=at[None, :] < K, other=0.0)
        b = tl.load(b_ptr + at[:, None] * N + cols[None, :], mask=at[:, None] < K, other=0.0)
        acc += tl.dot(a.to(tl.float16), b.to(tl.float16))
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc)


@pytest.mark.parametrize("num_stages", [1, 2, 3, 4])
@pytest.mark.parametrize("num_warps", [1, 2, 4, 8])
@pytest.mark.parametrize("dtype,k", [("fp16", 160), ("int8", 128)])
def test_prefetched_matmul(dtype, k, num_warps, num_stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    m, n = 64, 64
    if dtype == "int8":
        rng = np.random.default_rng(3)
        a, b = (rng.integers(-8, 8, s, dtype=np.int8) for s in ((m, k), (k, n)))
    else:
        a, b = random((m, k), dtype, 1), random((k, n), dtype, 2)
    c = poisoned((m, n), "fp32")
    kernel = matmul[(m // BM, n // BN)](
        a, b, c, m, n, k, BM=BM, BN=BN, BK=64, num_warps=num_warps, num_stages=num_stages,
        prefetch=True,
    )  # fmt: skip
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-2, atol=0.1)
    prefetched = "memdesc_subslice" in kernel.asm["ttgir"]
    assert prefetched == (num_stages > 2)


def test_passes_can_be_left_out():
    kernel = run_persistent(
        (64, 64, 64), disable_passes="tritongpu-pipeline, tritongpu-fuse-nested-loops"
    )
    assert "ttg.async_copy" not in kernel.asm["ttgir"]
    assert "tt.flatten" in kernel.asm["ttgir"]
