"""Loops of clusters whose copies have warps of their own (sm_90): each block's copy half of what
both need, and its consumers tell both when they have read it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from machines import run_on
from reference import poisoned, random, sim_only
from test_attention_nests import over_tiles
from test_specialized_loops import groups, multiply_by_descriptors

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

MULTICAST = ".multicast::cluster"
HARDWARE = r"barrier\.cluster\.arrive\S*;\s*barrier\.cluster\.wait\S*;"
MBARRIER_ARRIVAL = r"mbarrier\.arrive(?:\.release\.cluster)?\.shared::cluster\.b64 _, \[there\]; }"


@pytest.fixture(autouse=True)
def target(monkeypatch):
    """In place of the targets of the other kernels."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")


def check(kernel, warps: int) -> None:
    assert MULTICAST in kernel.asm["ptx"] and "cp.async.cg" not in kernel.asm["ptx"]
    assert groups(kernel)[0] == max(warps, 4) + 4


@pytest.mark.parametrize("name", ["fp16", "bf16", "tf32", "int8", "e4m3"])
@pytest.mark.parametrize("warps", [4, 8])
def test_types(name, warps):
    bk = {"tf32": 16, "int8": 64, "e4m3": 64}.get(name, 32)
    tiles = (64 * warps // 2, 64, bk)
    kernel = multiply_by_descriptors(
        name, (tiles[0] + 16, 80, 3 * bk + 16), tiles, name not in ("fp16", "bf16"),
        num_warps=warps, num_stages=3, num_ctas=2,
    )  # fmt: skip
    check(kernel, warps)


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("steps", [0, 1, 5])
def test_stages(stages, steps):
    multiply_by_descriptors(
        "fp16", (256, 128, 32 * steps), (128, 64, 32), num_stages=stages, num_ctas=2
    )


@pytest.mark.parametrize(
    ("tiles", "warps"),
    [((64, 16, 64), 4), ((256, 128, 64), 8), ((16, 32, 32), 4), ((32, 64, 16), 1)],
)
def test_tiles(tiles, warps):
    """With mma.sync as well, where a block has too few rows for a warp group."""
    bm, bn, bk = tiles
    kernel = multiply_by_descriptors(
        "bf16", (bm + 16, bn + 48, 2 * bk + 16), tiles,
        num_warps=warps, num_stages=3, num_ctas=2,
    )  # fmt: skip
    check(kernel, warps)


@pytest.mark.parametrize("name", ["fp16", "e4m3"])
def test_four_blocks(name):
    """Each loads a quarter of what all need, and is told by all when to go on."""
    bk = 64 if name == "fp16" else 128
    tiles = (256, 64, bk)
    kernel = multiply_by_descriptors(
        name, (tiles[0] + 16, 80, 3 * bk + 16), tiles, name == "e4m3",
        num_warps=4, num_stages=3, num_ctas=4,
    )  # fmt: skip
    check(kernel, 4)


def test_any_order(monkeypatch):
    """Copies that complete as late as they may, blocks and warps that run far ahead."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    multiply_by_descriptors(
        "fp16", (264, 136, 200), (128, 64, 32), num_warps=8, num_stages=2, num_ctas=2
    )


@tile.jit
def product(a, b, out, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr):
    """One tile. Its sums, which come from both blocks, are written, too."""
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        acc = tl.dot(a.load([0, k]), b.load([k, 0]), acc)
    rows, columns = tl.arange(0, BM), tl.arange(0, BN)
    if SUM:
        tl.store(out + BM * BN + columns, tl.sum(acc, 0))
    tl.store(out + rows[:, None] * BN + columns[None, :], acc)


def multiply_once(k: int, with_sums: bool, tiles=(128, 64, 32), **options):
    bm, bn, bk = tiles
    a, b, out = (
        random((bm, k), "fp16", 1),
        random((k, bn), "fp16", 2),
        poisoned((bm + 1, bn), "fp32"),
    )
    descriptors = (
        TensorDescriptor.from_tensor(x, block) for x, block in ((a, [bm, bk]), (b, [bk, bn]))
    )
    kernel = product[(1,)](*descriptors, out, k, *tiles, with_sums, num_ctas=2, **options)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(out[:-1], expected, rtol=1e-3, atol=1e-2)
    if with_sums:
        np.testing.assert_allclose(out[-1], expected.sum(0), rtol=1e-3, atol=1e-1)
    return kernel


@pytest.mark.parametrize("with_sums", [False, True])
@pytest.mark.parametrize("warps", [1, 8])
def test_one_tile(with_sums, warps):
    """Blocks meet before the loop by the cluster's barrier, at which all threads arrive, and later
    without those of the copies."""
    kernel = multiply_once(200, with_sums, num_warps=warps)
    check(kernel, warps)
    ptx = kernel.asm["ptx"]
    assert len(re.findall(HARDWARE, ptx)) == 2  # of the warps that multiply, and of the others
    barriers = re.findall(MBARRIER_ARRIVAL, ptx)
    # The last one says no more than that nobody arrives any more.
    assert sum("release" not in barrier for barrier in barriers) == 1
    assert (len(barriers) > 1) == with_sums


@tile.jit
def sums_of_tiles(a, b, sums, tiles, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    for t in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=True):
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a.load([t * BM, k]), b.load([k, 0]), acc)
        tl.store(sums + t * BN + tl.arange(0, BN), tl.sum(acc, 0))


@pytest.mark.parametrize("steps", [1, 3])
def test_blocks_meet_in_the_loop(steps, monkeypatch):
    """Results are added up over both blocks while the next tile is copied."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    tiles, bm, bn, bk = 5, 128, 32, 32
    a, b = random((tiles * bm, steps * bk), "fp16", 1), random((steps * bk, bn), "fp16", 2)
    sums = poisoned((tiles, bn), "fp32")
    kernel = sums_of_tiles[(2,)](
        TensorDescriptor.from_tensor(a, [bm, bk]), TensorDescriptor.from_tensor(b, [bk, bn]),
        sums, tiles, steps * bk, bm, bn, bk, num_warps=4, num_stages=2, num_ctas=2,
    )  # fmt: skip
    check(kernel, 4)
    expected = (a.astype(np.float64) @ b.astype(np.float64)).reshape(tiles, bm, bn).sum(1)
    np.testing.assert_allclose(sums, expected, rtol=1e-3, atol=1e-1)


@pytest.mark.parametrize(("warps", "stages"), [(4, 2), (8, 2)])
@pytest.mark.parametrize("causal", [False, True])
def test_attention(warps, stages, causal):
    """Keys and values are for both blocks, queries for one of them."""
    heads, length, d, bm, bn = 2, 256, 64, 32 * warps, 64
    q, k, v = (random((heads, length, d), "fp16", seed) for seed in (1, 2, 3))
    out = poisoned((heads, length, d), "fp16")
    blocks = ((q, [bm, d]), (k, [bn, d]), (v, [bn, d]), (out, [bm, d]))
    kernel = over_tiles[(2,)](
        *(TensorDescriptor.from_tensor(x.reshape(-1, d), block) for x, block in blocks),
        d**-0.5 * 1.4426950408889634, length, heads * length // bm, d, bm, bn, causal, 1,
        num_warps=warps, num_stages=stages, num_ctas=2,
    )  # fmt: skip
    check(kernel, warps)
    wide = [x.astype(np.float64) for x in (q, k, v)]
    scores = wide[0] @ wide[1].swapaxes(1, 2) * d**-0.5
    if causal:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ wide[2]
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=4e-3, atol=4e-3)


@tile.jit
def by_pointers(a_ptr, b, out, K, SIZE: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros((SIZE, SIZE), tl.float32)
    rows, ks = tl.arange(0, SIZE), tl.arange(0, BK)
    for k in tl.range(0, K, BK, warp_specialize=True):
        a = tl.load(a_ptr + rows[:, None] * K + k + ks[None, :])
        acc = tl.dot(a, b.load([k, 0]), acc)
    tl.store(out + rows[:, None] * SIZE + rows[None, :], acc)


def test_pointers_are_not_divided():
    size, bk, k = 64, 32, 96
    a, b, out = (
        random((size, k), "fp16", 1),
        random((k, size), "fp16", 2),
        poisoned((size, size), "fp32"),
    )
    kernel = by_pointers[(1,)](
        a, TensorDescriptor.from_tensor(b, [bk, size]), out, k, size, bk, num_ctas=2
    )
    assert "ttg.warp_specialize" not in kernel.asm["ttgir"]
    np.testing.assert_allclose(out, a.astype(np.float64) @ b, rtol=1e-3, atol=1e-2)


@tile.jit(noinline=True)
def turned(x):
    return x.trans()


@tile.jit
def calls(a, b, out, K, SIZE: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros((SIZE, SIZE), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        acc = tl.dot(a.load([0, k]), b.load([k, 0]), acc)
    rows = tl.arange(0, SIZE)
    tl.store(out + rows[:, None] * SIZE + rows[None, :], turned(acc))


def test_blocks_that_meet_in_a_function():
    size, bk, k = 64, 32, 96
    a, b, out = (
        random((size, k), "fp16", 1),
        random((k, size), "fp16", 2),
        poisoned((size, size), "fp32"),
    )
    kernel = calls[(1,)](
        TensorDescriptor.from_tensor(a, [size, bk]), TensorDescriptor.from_tensor(b, [bk, size]),
        out, k, size, bk, num_ctas=2,
    )  # fmt: skip
    assert "ttg.warp_specialize" not in kernel.asm["ttgir"] and MULTICAST in kernel.asm["ptx"]
    np.testing.assert_allclose(out.T, a.astype(np.float64) @ b, rtol=1e-3, atol=1e-2)


MISTAKES = {
    # What is planted, and what the simulator calls it.
    "consumers tell their own block alone": (
        r"mapa\.shared::cluster\.u32 there, (\S+), \S+;(\s*@\S+ mbarrier\.arrive\.shared::cluster)",
        r"mapa.shared::cluster.u32 there, \1, %cluster_ctarank;\2", "deadlock|race|mbarrier",
    ),
    "blocks leave alone": (
        r"\{ \.reg \.pred complete; WAIT: mbarrier\.try_wait\.shared[^}]*\}", "",
        "exited|race|unstarted|mbarrier",
    ),
    "barriers may not be there yet": (HARDWARE, "", "unstarted|mbarrier|uninit"),
}  # fmt: skip


@sim_only
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found(mistake, monkeypatch):
    run_on("cuda:90", monkeypatch)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    pattern, instead, findings = MISTAKES[mistake]

    def edited(text: str) -> str:
        text, count = re.subn(pattern, instead, text)
        assert count >= 1, text
        return text

    def hook(backend=None, stages=None, options=None, language=None, arch=None):
        if stages is None:
            return mistake
        make = stages["ptx"]
        stages["ptx"] = lambda source, metadata: edited(make(source, metadata))
        return None

    with tile.knobs.runtime.scope():
        tile.knobs.runtime.add_stages_inspection_hook = hook
        with pytest.raises(tile.sim.SimulationError, match=findings):
            multiply_once(520, False, num_warps=4, num_stages=2)
