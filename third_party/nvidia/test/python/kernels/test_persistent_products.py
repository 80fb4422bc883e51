"""Loops over tiles that are one loop (`flatten=True`), on sm_90: the dots and the copies of
the next tile go on while a tile is stored."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import poisoned
from test_matmul_sweep import KINDS, operand

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@pytest.fixture(autouse=True)
def target(monkeypatch):
    """In place of the targets of the other kernels."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")


@tile.jit
def by_descriptors(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr
):
    columns = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0), flatten=True):
        i, j = t // columns * BM, t % columns * BN
        acc = tl.zeros((BM, BN), ACC)
        for k in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(a.load([i, k * BK]), b.load([k * BK, j]), acc, out_dtype=ACC)
        c.store([i, j], acc.to(c.dtype))


def multiply(name, sizes, tiles, programs=2, **options):
    kind, accumulator, out_kind, tolerance = KINDS[name]
    (m, n, k), (bm, bn, bk) = sizes, tiles
    a, b = operand((m, k), kind, 1, False), operand((k, n), kind, 2, False)
    out = poisoned((m, n), {np.float16: "fp16", np.int32: "i32"}.get(out_kind, "fp32"))
    blocks = ((a, [bm, bk]), (b, [bk, bn]), (out, [bm, bn]))
    kernel = by_descriptors[(programs,)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks),
        m, n, k, bm, bn, bk, accumulator, **options,
    )  # fmt: skip
    wide = np.int64 if kind == np.int8 else np.float64
    expected = a.astype(wide) @ b.astype(wide)
    limit = tolerance * np.sqrt(max(1, k))
    np.testing.assert_allclose(out.astype(wide), expected, rtol=tolerance, atol=limit)
    return kernel


def is_full(kernel) -> bool:
    """Whether in the loop the copies come first, then the wait for the last product of a tile
    and its store, which only that of the next tile waits for."""
    loop = kernel.asm["ttgir"].split("scf.for", 1)[1]
    order = re.findall(
        r"isAsync = true|warp_group_dot_wait [^{]*\{pendings = \d|async_tma_copy_global_to_local"
        r"|async_tma_store_wait|async_tma_copy_local_to_global|scf\.yield .*!|ttg\.local_dealloc",
        loop,
    )
    steps = [step.split(" ")[0] + step[-1] for step in order[: order.index("ttg.local_dealloc")]]
    return steps[:8] == [
        "isAsynce", "warp_group_dot_wait1", "async_tma_copy_global_to_locall",
        "async_tma_copy_global_to_locall", "warp_group_dot_wait0", "async_tma_store_waitt",
        "async_tma_copy_local_to_globall", "async_tma_store_waitt",
    ]  # fmt: skip


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("steps", [1, 2, 3, 7])
def test_steps(stages, steps):
    """Tiles that are shorter than the pipeline, as long, longer: more tiles than programs."""
    kernel = multiply("fp16", (320, 128, 32 * steps), (64, 64, 32), num_stages=stages)
    assert is_full(kernel)


def test_no_steps():
    """Zeros, from the loop for tiles without dots."""
    blocks = ((128, 32), [64, 32]), ((32, 128), [32, 64]), ((128, 128), [64, 64])
    a, b, c = (TensorDescriptor.from_tensor(poisoned(s, "fp16"), block) for s, block in blocks)
    by_descriptors[(3,)](a, b, c, 128, 128, 0, 64, 64, 32, tl.float32, num_stages=3)
    assert not c.base.any()


@pytest.mark.parametrize("name", ["bf16", "tf32", "int8", "e4m3", "fp16 into fp16"])
@pytest.mark.parametrize("warps", [4, 8])
def test_types(name, warps):
    """Sums that the tensor core cannot keep are waited for as before."""
    bk = 64 if np.dtype(KINDS[name][0]).itemsize == 1 else 32
    multiply(name, (272, 144, 3 * bk + 16), (128, 64, bk), num_warps=warps, num_stages=3)


def test_any_order(monkeypatch):
    """Copies that complete as late as they may, warps that run far ahead: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "6")
    multiply("fp16", (264, 136, 96), (128, 64, 32), num_warps=8, num_stages=3)


@tile.jit
def gated(
    x_ptr, up_ptr, gate_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Two dots to a step, pointers, an epilogue that loads and multiplies."""
    columns, ks = tl.cdiv(N, BN), tl.arange(0, BK)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, 2, flatten=True):
        rows = t // columns * BM + tl.arange(0, BM)
        cols = t % columns * BN + tl.arange(0, BN)
        up, gate = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            depth = k * BK + ks
            at = depth[:, None] * N + cols[None, :]
            mask = (depth[:, None] < K) & (cols[None, :] < N)
            x = tl.load(
                x_ptr + rows[:, None] * K + depth[None, :],
                mask=(rows[:, None] < M) & (depth[None, :] < K), other=0,
            )  # fmt: skip
            up = tl.dot(x, tl.load(up_ptr + at, mask=mask, other=0), up)
            gate = tl.dot(x, tl.load(gate_ptr + at, mask=mask, other=0), gate)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        out = out_ptr + rows[:, None] * N + cols[None, :]
        tl.store(out, tl.load(out, mask=mask) + up * gate, mask=mask)


@pytest.mark.parametrize("stages", [2, 3])
def test_two_products(stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    m, n, k = 144, 80, 112
    x, up, gate = (
        operand(shape, np.float16, seed, False)
        for seed, shape in enumerate(((m, k), (k, n), (k, n)))
    )
    out = operand((m, n), np.float32, 4, False)
    x64, up64, gate64 = (v.astype(np.float64) for v in (x, up, gate))
    expected = out + (x64 @ up64) * (x64 @ gate64)
    kernel = gated[(2,)](x, up, gate, out, m, n, k, 64, 64, 32, num_warps=4, num_stages=stages)
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-1)
    loop = kernel.asm["ttgir"].split("scf.for", 1)[1]
    waits = re.findall(r"warp_group_dot_wait .*\{pendings = (\d)", loop)
    assert waits[:2] == ["2", "0"]


@tile.jit
def running_sum(a_ptr, b_ptr, out_ptr, N, EVERY, BLOCK: tl.constexpr):
    """The sum is stored now and then, and goes on: nobody sets it back."""
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for i in range(N):
        a = tl.load(a_ptr + i * BLOCK * BLOCK + at)
        b = tl.load(b_ptr + i * BLOCK * BLOCK + at)
        acc = tl.dot(a, b, acc)
        if i % EVERY == EVERY - 1:
            tl.store(out_ptr + i // EVERY * BLOCK * BLOCK + at, acc)


def test_sum_that_goes_on():
    n, every, block = 7, 3, 64
    a, b = (operand((n, block, block), np.float16, seed, False) for seed in (1, 2))
    out = poisoned((n // every, block, block), "fp32")
    running_sum[(1,)](a, b, out, n, every, block, num_stages=3)
    sums = np.cumsum(a.astype(np.float64) @ b.astype(np.float64), axis=0)
    np.testing.assert_allclose(out, sums[every - 1 :: every][: n // every], rtol=1e-3, atol=1e-1)
