"""Dots of what descriptors of the host give, on sm_80: outside of the tensor zeros or NaNs."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

#: A later GPU copies by its engine.
pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")


@tile.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           FLATTEN: tl.constexpr):  # fmt: skip
    columns = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * columns
    for t in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=FLATTEN):
        i, j = t // columns * BM, t % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(a.load([i, k * BK]), b.load([k * BK, j]), acc)
        c.store([i, j], acc)


@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize("paddings", [("zero", "zero"), ("zero", "nan"), ("nan", "zero")])
@pytest.mark.parametrize("k", [96, 104])
def test_padding_is_known_at_run_time(paddings, k, flatten):
    m, n, bm, bn, bk = 40, 56, 32, 64, 32
    a, b = random((m, k), "fp16", 1), random((k, n), "fp16", 2)
    out = poisoned((m, n), "fp32")
    blocks = ((a, [bm, bk], paddings[0]), (b, [bk, bn], paddings[1]), (out, [bm, bn], "zero"))
    kernel = matmul[(2,)](
        *(TensorDescriptor(x, [*x.shape], [x.shape[1], 1], block, pad) for x, block, pad in blocks),
        m, n, k, bm, bn, bk, flatten, num_warps=4, num_stages=3,
    )  # fmt: skip
    # Both operands end within a block along K, so a NaN of either is in every sum.
    ends_inside = k % bk != 0 and "nan" in paddings
    expected = a.astype(np.float64) @ b.astype(np.float64)
    if ends_inside:
        expected[:] = np.nan
    np.testing.assert_allclose(out, expected, rtol=2e-3, atol=2e-3)
    assert re.search(r"async_copy_global_to_local", kernel.asm["ttgir"])
