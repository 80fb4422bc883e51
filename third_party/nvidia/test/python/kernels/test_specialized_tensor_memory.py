"""Loops whose loads have warps of their own, and dots whose sums are in tensor memory: one warp
starts the dots of all tiles, while others store the tile before."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import poisoned, random, sim_only
from test_specialized_loops import (
    attention,
    batched,
    compare,
    gathered,
    multiply,
    multiply_by_descriptors,
    persistent_attention,
)

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

#: An H100 or H200 has none of this.
pytestmark = sim_only

MMA = "tcgen05.mma"


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> str:
    name = getattr(request, "param", "cuda:100")
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", name)
    return name


def partitions(kernel) -> list[int]:
    """Warps of each partition beside the default group."""
    assert MMA in kernel.asm["ptx"] and "mma.sync" not in kernel.asm["ptx"]
    return [int(n) for n in re.findall(r"partition\d\(.*num_warps\((\d+)\)", kernel.asm["ttgir"])]


def sums(kernel) -> list[int]:
    """How many there are of each sum that threads take from another warp."""
    return [
        int(n)
        for n in re.findall(
            r"tmem_alloc *: \(\) -> !ttg.memdesc<(\d+)x\d+x\d+x", kernel.asm["ttgir"]
        )
    ]


@pytest.mark.parametrize("name", ["fp16", "bf16", "tf32", "int8", "e4m3"])
@pytest.mark.parametrize("warps", [4, 8])
def test_loops(name, warps):
    bk = {"tf32": 16, "int8": 64, "e4m3": 64}.get(name, 32)
    kernel = multiply(
        name, (144, 80, 3 * bk + 16), (128, 64, bk), (False, True), num_warps=warps, num_stages=3
    )
    assert partitions(kernel) == [4] and sums(kernel) == []


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_stages(stages, steps):
    multiply("fp16", (128, 64, 32 * steps), (128, 64, 32), num_stages=stages)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["fp16", "bf16", "tf32", "int8", "e4m3"])
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("flatten", [False, True])
def test_tiles(name, warps, flatten):
    bk = {"tf32": 16, "int8": 64, "e4m3": 64}.get(name, 32)
    kernel = multiply_by_descriptors(
        name, (400, 144, 3 * bk + 16), (128, 64, bk), name not in ("fp16", "bf16"), flatten,
        num_warps=warps, num_stages=3,
    )  # fmt: skip
    assert partitions(kernel) == [1, 1] and sums(kernel) == [2]


@pytest.mark.parametrize("target", ["cuda:103", "cuda:110"], indirect=True)
def test_targets(target):
    kernel = multiply_by_descriptors("fp16", (400, 144, 80), (128, 64, 32), num_stages=3)
    assert partitions(kernel) == [1, 1]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("programs", [1, 3, 20])
def test_tiles_of_any_length(stages, steps, programs):
    """More programs than tiles, too."""
    multiply_by_descriptors(
        "fp16", (400, 144, 32 * steps), (128, 64, 32), programs=programs, num_stages=stages
    )


@pytest.mark.parametrize(
    ("tiles", "warps", "expected"),
    [
        ((128, 128, 64), 4, 2), ((128, 256, 32), 8, 2), ((64, 64, 32), 4, 2), ((256, 64, 32), 8, 2),
    ],
)  # fmt: skip
def test_sizes(tiles, warps, expected):
    bm, bn, bk = tiles
    kernel = multiply_by_descriptors(
        "bf16", (bm + 16, bn + 48, 2 * bk + 16), tiles, programs=1, num_warps=warps, num_stages=2
    )
    assert partitions(kernel) == [1, 1] and sums(kernel) == [expected]


@pytest.mark.parametrize("run", [multiply, multiply_by_descriptors])
@pytest.mark.parametrize("warps", [4, 8])
def test_any_order(run, warps, monkeypatch):
    """Copies and dots that complete as late as they may, warps that run far ahead: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    run("fp16", (300, 130, 160), (128, 64, 32), num_warps=warps, num_stages=2)


@pytest.mark.parametrize("stages", [2, 3])
def test_lanes_that_fall_behind(stages, monkeypatch):
    """One thread copies, and one multiplies. The other lanes of their warps stay with them."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "24")
    kernel = multiply_by_descriptors(
        "fp16", (400, 208, 136), (128, 64, 32), num_warps=8, num_stages=stages
    )
    assert partitions(kernel) == [1, 1]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("d", "warps", "stages"), [(64, 4, 2), (64, 8, 3), (128, 4, 1), (16, 4, 4)]
)
def test_attention(causal, d, warps, stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")
    bm, bn, length = 128, 32, 150
    q, k, v = (random((length, d), "fp16", seed) for seed in (1, 2, 3))
    out = poisoned((length, d), "fp16")
    kernel = attention[(tile.cdiv(length, bm),)](
        q, k, v, out, d**-0.5, length, length, d, bm, bn, causal,
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    assert set(partitions(kernel)) == {4}
    wide = [t.astype(np.float64) for t in (q, k, v)]
    scores = wide[0] @ wide[1].T * d**-0.5
    if causal:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    expected = p / p.sum(-1, keepdims=True) @ wide[2]
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=4e-3, atol=4e-3)


@pytest.mark.parametrize(("warps", "stages"), [(4, 2), (8, 3)])
def test_persistent_attention(warps, stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    d, bm, bn, length = 64, 128, 32, 300
    q, k, v = (random((length, d), "fp16", seed) for seed in (1, 2, 3))
    out = poisoned((length, d), "fp16")
    blocks = ((q, [bm, d]), (k, [bn, d]), (v, [bn, d]), (out, [bm, d]))
    kernel = persistent_attention[(2,)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks), d**-0.5, length, d,
        bm, bn, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    # With one group, other warps correct its sums.
    assert partitions(kernel) == ([1, 4] if warps == 4 else [1])
    wide = [t.astype(np.float64) for t in (q, k, v)]
    scores = np.where(np.tri(length, dtype=bool), wide[0] @ wide[1].T * d**-0.5, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    expected = p / p.sum(-1, keepdims=True) @ wide[2]
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=4e-3, atol=4e-3)


@pytest.mark.parametrize("warps", [4, 8])
def test_nest_of_other_lengths(warps, monkeypatch):
    """Loads through pointers: a warp group copies, and one warp multiplies."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    count, k, (bm, bn, bk) = 7, 96, (128, 64, 32)
    a, b = random((count, bm, k), "fp16", 1), random((count, bn, k), "fp16", 2)
    out = poisoned((count * bm, bn), "fp16")
    kernel = batched[(2,)](
        a, b, TensorDescriptor.from_tensor(out, [bm, bn // 2]), count, k, bm, bn, bk,
        num_warps=warps, num_stages=2,
    )  # fmt: skip
    for i in range(count):
        length = i % (k // bk + 1) * bk
        compare("fp16", out[i * bm : (i + 1) * bm], a[i, :, :length], b[i, :, :length].T)
    assert partitions(kernel) == [4, 1] and sums(kernel) == [2]


@pytest.mark.parametrize("warps", [4, 8])
def test_addresses_from_memory(warps):
    rng = np.random.default_rng(1)
    steps, page = 5, 32
    rows = rng.integers(0, 100, 64).astype(np.int32)
    table = rng.permutation(9)[:steps].astype(np.int32)
    a, b = random((100, steps * page), "fp16", 1), random((9 * page, 64), "fp16", 2)
    out = poisoned((64, 64), "fp32")
    kernel = gathered[(1,)](rows, table, a, b, out, steps, page, num_warps=warps, num_stages=3)
    picked = b.reshape(9, page, 64)[table].reshape(steps * page, 64)
    compare("fp16", out, a[rows], picked)
    assert partitions(kernel) == [4]


@tile.jit
def two_sums(
    a_desc, b_desc, c_desc, out_ptr, tiles, steps, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    """Tiles of two sums: of one loop, or of a loop each; the second begins with the first's."""
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    for t in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=True):
        first, second = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
        if KIND == "one loop":
            for k in range(0, steps):
                a = a_desc.load([t * BM, k * BK])
                first = tl.dot(a, b_desc.load([k * BK, 0]), first)
                second = tl.dot(a, c_desc.load([k * BK, 0]), second)
        else:
            for k in range(0, steps):
                first = tl.dot(a_desc.load([t * BM, k * BK]), b_desc.load([k * BK, 0]), first)
            if KIND == "in a row":
                second = first * 2
            for k in range(0, steps - 1):
                second = tl.dot(a_desc.load([t * BM, k * BK]), c_desc.load([k * BK, 0]), second)
        at = out_ptr + (t * BM + m[:, None]) * (2 * BN) + n[None, :]
        tl.store(at, first)
        if t % 3 != 1:
            tl.store(at + BN, second)


@pytest.mark.parametrize("kind", ["one loop", "two loops", "in a row"])
@pytest.mark.parametrize(
    ("steps", "stages", "bn"), [(1, 1, 64), (4, 1, 64), (4, 3, 64), (2, 2, 256)]
)
def test_several_sums(kind, steps, stages, bn, monkeypatch):
    """There are 512 columns: two sums for each tile, or one."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    bm, bk, tiles = 128, 32, 5
    rng = np.random.default_rng(2)
    a, b, c = (
        rng.integers(-2, 3, shape).astype(np.float16)
        for shape in ((tiles * bm, steps * bk), (steps * bk, bn), (steps * bk, bn))
    )
    out = poisoned((tiles * bm, 2 * bn), "fp32")
    before = out.copy()
    blocks = ((a, [bm, bk]), (b, [bk, bn]), (c, [bk, bn]))
    kernel = two_sums[(2,)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks), out, tiles, steps,
        bm, bn, bk, kind, num_warps=4 if bn == 64 else 8, num_stages=stages,
    )  # fmt: skip
    wide = [x.astype(np.float64) for x in (a, b, c)]
    first = wide[0] @ wide[1]
    depth = (steps if kind == "one loop" else steps - 1) * bk
    second = wide[0][:, :depth] @ wide[2][:depth] + 2 * first * (kind == "in a row")
    np.testing.assert_array_equal(out[:, :bn], first)
    for t in range(tiles):
        rows = slice(t * bm, t * bm + bm)
        there = before[rows, bn:] if t % 3 == 1 else second[rows]
        np.testing.assert_array_equal(out[rows, bn:], there)
    # A sum that begins with another one is stored between the loops: threads take part in all.
    # There is no loop for one step.
    split = kind != "in a row" and steps > 1
    assert partitions(kernel) == ([1, 1] if split else [1])
    assert sums(kernel) == ([2 if bn == 64 else 1] * 2 if split else [])


@tile.jit
def of_groups(
    a_desc, b_desc, first_ptr, steps_ptr, out_ptr, tiles, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr,
):  # fmt: skip
    """Where the operands of a tile begin, and how many steps it has, is in memory."""
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    for t in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=True):
        first, steps = tl.load(first_ptr + t), tl.load(steps_ptr + t)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(first, first + steps):
            acc = tl.dot(a_desc.load([t * BM, k * BK]), b_desc.load([k * BK, 0]), acc)
        tl.store(out_ptr + (t * BM + m[:, None]) * BN + n[None, :], acc)


@pytest.mark.parametrize("stages", [1, 3])
def test_groups(stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    bm, bn, bk, tiles, most = 128, 64, 32, 7, 5
    rng = np.random.default_rng(3)
    steps = np.array([2, 0, 5, 1, 3, 0, 4], np.int32)
    first = rng.integers(0, most - steps + 1).astype(np.int32)
    a, b = (
        rng.integers(-2, 3, shape).astype(np.float16)
        for shape in ((tiles * bm, most * bk), (most * bk, bn))
    )
    out = poisoned((tiles * bm, bn), "fp32")
    kernel = of_groups[(2,)](
        TensorDescriptor.from_tensor(a, [bm, bk]), TensorDescriptor.from_tensor(b, [bk, bn]), first,
        steps, out, tiles, bm, bn, bk, num_stages=stages,
    )  # fmt: skip
    for t in range(tiles):
        depth, rows = slice(first[t] * bk, (first[t] + steps[t]) * bk), slice(t * bm, t * bm + bm)
        expected = a[rows, depth].astype(np.float64) @ b[depth].astype(np.float64)
        np.testing.assert_array_equal(out[rows], expected)
    assert partitions(kernel) == [1, 1] and sums(kernel) == [2]


@tile.jit
def goes_on(
    a_desc, b_desc, out_ptr, tiles, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """What a tile adds to, others have left there."""
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for t in tl.range(0, tiles, warp_specialize=True):
        for k in range(0, steps):
            acc = tl.dot(a_desc.load([t * BM, k * BK]), b_desc.load([k * BK, 0]), acc)
        tl.store(out_ptr + (t * BM + m[:, None]) * BN + n[None, :], acc)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_sum_of_all_tiles(steps, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    bm, bn, bk, tiles = 128, 64, 32, 5
    rng = np.random.default_rng(2)
    a, b = (
        rng.integers(-2, 3, shape).astype(np.float16)
        for shape in ((tiles * bm, max(1, steps) * bk), (max(1, steps) * bk, bn))
    )
    out = poisoned((tiles * bm, bn), "fp32")
    kernel = goes_on[(1,)](
        TensorDescriptor.from_tensor(a, [bm, bk]), TensorDescriptor.from_tensor(b, [bk, bn]), out,
        tiles, steps, bm, bn, bk,
    )  # fmt: skip
    each = (a.astype(np.float64) @ b.astype(np.float64)).reshape(tiles, bm, bn) * (steps > 0)
    np.testing.assert_array_equal(out.reshape(tiles, bm, bn), np.cumsum(each, 0))
    assert 1 not in partitions(kernel)[1:]


def test_what_a_tile_takes_at_most():
    """Two sums of half the columns each, and the operands of three stages."""
    kernel = multiply_by_descriptors(
        "fp16", (256, 512, 192), (128, 256, 64), programs=1, num_warps=8, num_stages=3
    )
    assert sums(kernel) == [2] and "tcgen05.alloc" in kernel.asm["ptx"]
    assert kernel.n_spills in (None, 0)
