"""Barriers of copies and dots that loops wait for in the same iteration: they outlive it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

#: Clusters and tensor memory, on simulated machines.
pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> str:
    name = getattr(request, "param", "cuda:100")
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", name)
    return name


def loops_that_make_barriers(kernel) -> int:
    """How many barriers are made behind the first label that a later branch goes back to."""
    ptx = kernel.asm["ptx"]
    back = [
        match.start()
        for match in re.finditer(r"^(\$\w+):", ptx, re.M)
        if re.search(rf"\bbra(?:\.uni)?\s+{re.escape(match[1])};", ptx[match.end() :])
    ]
    return ptx[back[0] :].count("mbarrier.init") if back else 0


@tile.jit
def tiles(a, b, c, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
          HOW: tl.constexpr):  # fmt: skip
    """out = a @ b + c (or without c): each program has many tiles, nothing is started ahead."""
    across = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0), num_stages=1):
        m = t // across * BM
        n = t % across * BN
        acc = tl.zeros((BM, BN), tl.float32)
        if HOW == "while":
            k = 0
            while k < K:
                acc = tl.dot(a.load([m, k]), b.load([k, n]), acc)
                k += BK
        else:
            for k in tl.range(0, K, BK, num_stages=1):
                if HOW != "branch" or k != BK:
                    acc = tl.dot(a.load([m, k]), b.load([k, n]), acc)
        if HOW == "branch":
            if t % 3 != 1:
                acc += c.load([m, n]).to(tl.float32)
        else:
            acc += c.load([m, n]).to(tl.float32)
        out.store([m, n], acc)


def run(how, target, warps=4, ctas=1, shape=(150, 200, 104), blocks=(64, 64, 32), programs=2):
    m, n, k = shape
    bm, bn, bk = blocks
    a, b, c = random((m, k), "fp16", 1), random((k, n), "fp16", 2), random((m, n), "fp16", 3)
    out = poisoned((m, n), "fp32")
    descriptors = [
        TensorDescriptor.from_tensor(x, block)
        for x, block in zip((a, b, c, out), ([bm, bk], [bk, bn], [bm, bn], [bm, bn]), strict=True)
    ]
    kernel = tiles[(programs,)](
        *descriptors, m, n, k, bm, bn, bk, how, num_warps=warps, num_ctas=ctas
    )
    wide = a.astype(np.float64), b.astype(np.float64)
    expected = wide[0] @ wide[1]
    if how == "branch":
        expected -= wide[0][:, bk : 2 * bk] @ wide[1][bk : 2 * bk]
    across = -(-n // bn)
    for t in range(-(-m // bm) * across):
        if how != "branch" or t % 3 != 1:
            at = np.s_[t // across * bm :, t % across * bn :]
            expected[at][:bm, :bn] += c[at][:bm, :bn]
    np.testing.assert_allclose(out, expected, rtol=2e-3, atol=2e-3)
    return kernel


@pytest.mark.parametrize("target", ["cuda:90", "cuda:100", "cuda:120"], indirect=True)
@pytest.mark.parametrize("how", ["for", "while", "branch"])
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_loops_make_no_barriers(how, warps, target):
    kernel = run(how, target, warps)
    assert loops_that_make_barriers(kernel) == 0
    assert "mbarrier.init" in kernel.asm["ptx"]


@pytest.mark.parametrize("target", ["cuda:90", "cuda:100"], indirect=True)
@pytest.mark.parametrize("how", ["for", "while", "branch"])
def test_clusters(how, target):
    """Blocks copy for one another: no block may be a phase ahead."""
    run(how, target, ctas=2, blocks=(128, 64, 32))


@pytest.mark.parametrize("target", ["cuda:90", "cuda:100"], indirect=True)
def test_no_iteration(target):
    """More programs than tiles: the barriers are made and ended without a phase."""
    run("for", target, shape=(50, 56, 40), programs=3)
