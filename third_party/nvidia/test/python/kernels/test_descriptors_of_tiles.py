"""Descriptors that a persistent kernel makes for each tile, as products of groups do.

Each place in the program has one tensor map. Copies read it until they are done. So a map that is
made again too early is one that copies of the tile before still use.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
import tile.language as tl

#: An H100 or H200 has no second target.
pytestmark = sim_only

TARGETS = ["cuda:90", "cuda:100"]


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> str:
    name = getattr(request, "param", "cuda:90")
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", name)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    return name


@tile.jit
def tiles_of_groups(
    a_ptr, b_ptr, c_ptr, rows, starts, depths, groups, N, K, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, SPECIALIZE: tl.constexpr, FLATTEN: tl.constexpr,
):  # fmt: skip
    """A tile is a group's part of the columns. Groups have few rows, and different depths."""
    columns = tl.cdiv(N, BN)
    for t in tl.range(
        tl.program_id(0), groups * columns, tl.num_programs(0), warp_specialize=SPECIALIZE,
        flatten=FLATTEN,
    ):  # fmt: skip
        g, j = t // columns, t % columns
        m, start, depth = tl.load(rows + g), tl.load(starts + g), tl.load(depths + g)
        a = tl.make_tensor_descriptor(a_ptr + start * K, [m, K], [K, 1], [BM, BK])
        b = tl.make_tensor_descriptor(b_ptr + g.to(tl.int64) * K * N, [K, N], [N, 1], [BK, BN])
        c = tl.make_tensor_descriptor(c_ptr + start * N, [m, N], [N, 1], [BM, BN])
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, depth, BK):
            acc = tl.dot(a.load([0, k]), b.load([k, j * BN]), acc)
        c.store([0, j * BN], acc.to(tl.float16))


@tile.jit
def groups_of_tiles(
    a_ptr, b_ptr, c_ptr, rows, starts, depths, groups, N, K, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, SPECIALIZE: tl.constexpr, FLATTEN: tl.constexpr,
):  # fmt: skip
    """A program goes through the groups, and takes its share of the tiles of each."""
    t, end = tl.program_id(0), 0
    columns = tl.cdiv(N, BN)
    for g in range(0, groups):
        m, start, depth = tl.load(rows + g), tl.load(starts + g), tl.load(depths + g)
        begin = end
        end += tl.cdiv(m, BM) * columns
        if t < end:
            a = tl.make_tensor_descriptor(a_ptr + start * K, [m, K], [K, 1], [BM, BK])
            b = tl.make_tensor_descriptor(b_ptr + g.to(tl.int64) * K * N, [K, N], [N, 1], [BK, BN])
            c = tl.make_tensor_descriptor(c_ptr + start * N, [m, N], [N, 1], [BM, BN])
            while t < end:
                i, j = (t - begin) // columns, (t - begin) % columns
                acc = tl.zeros((BM, BN), tl.float32)
                for k in tl.range(0, depth, BK, warp_specialize=SPECIALIZE):
                    acc = tl.dot(a.load([i * BM, k]), b.load([k, j * BN]), acc)
                c.store([i * BM, j * BN], acc.to(tl.float16))
                t += tl.num_programs(0)


@tile.jit
def groups_in_loops(
    a_ptr, b_ptr, c_ptr, rows, starts, depths, groups, N, K, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, SPECIALIZE: tl.constexpr, FLATTEN: tl.constexpr,
):  # fmt: skip
    """Descriptors of the loop around that over tiles, and of the loop over tiles itself."""
    columns = tl.cdiv(N, BN)
    for g in tl.range(0, groups, warp_specialize=SPECIALIZE):
        m, start, depth = tl.load(rows + g), tl.load(starts + g), tl.load(depths + g)
        a = tl.make_tensor_descriptor(a_ptr + start * K, [m, K], [K, 1], [BM, BK])
        for t in range(tl.program_id(0), tl.cdiv(m, BM) * columns, tl.num_programs(0)):
            i, j = t // columns * BM, t % columns * BN
            b = tl.make_tensor_descriptor(
                b_ptr + g.to(tl.int64) * K * N + j, [K, N - j], [N, 1], [BK, BN]
            )
            acc = tl.zeros((BM, BN), tl.float32)
            for k in range(0, depth, BK):
                acc = tl.dot(a.load([i, k]), b.load([k, 0]), acc)
            offsets = (i + tl.arange(0, BM))[:, None], (j + tl.arange(0, BN))[None, :]
            at = c_ptr + (start + offsets[0]) * N + offsets[1]
            tl.store(at, acc.to(tl.float16), (offsets[0] < m) & (offsets[1] < N))


def multiply(kernel, rows, depths, columns, tiles, specialize, flatten=False, **options):
    """A dot for each group; all elements are small integers, so sums are exact."""
    generator = np.random.default_rng(1)
    bk = tiles[2]
    depth = -(-max(depths) // bk) * bk
    a, b = (
        generator.integers(-2, 3, shape).astype(np.float16)
        for shape in ((sum(rows), depth), (len(rows), depth, columns))
    )
    out = poisoned((sum(rows), columns), "fp16")
    starts = np.concatenate([[0], np.cumsum(rows)[:-1]]).astype(np.int32)
    compiled = kernel[(2,)](
        a, b, out, np.array(rows, np.int32), starts, np.array(depths, np.int32), len(rows),
        columns, depth, *tiles, specialize, flatten, **options,
    )  # fmt: skip
    for g, (m, start) in enumerate(zip(rows, starts, strict=True)):
        k = -(-depths[g] // bk) * bk
        here = slice(start, start + m)
        expected = a[here, :k].astype(np.float64) @ b[g, :k].astype(np.float64)
        np.testing.assert_array_equal(out[here].astype(np.float64), expected)
    return compiled


def partitions(kernel) -> list[int]:
    return [int(n) for n in re.findall(r"partition\d+\(.*num_warps\((\d+)\)", kernel.asm["ttgir"])]


@pytest.mark.parametrize("target", TARGETS, indirect=True)
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize(
    ("kernel", "flatten"),
    [
        (tiles_of_groups, False),
        (tiles_of_groups, True),
        (groups_of_tiles, False),
        (groups_in_loops, False),
    ],
)
def test_products_of_groups(kernel, flatten, specialize, stages, target):
    """Some groups have no rows or no depth, and most have fewer steps than there are buffers."""
    bm = 64 if target == "cuda:90" else 128
    rows = [5, bm, 0, 37, 64, 1, 33, bm] if kernel is tiles_of_groups else [5, 2 * bm + 8, 0, 37]
    depths = [64, 96, 32, 0, 0, 32, 200, 64][: len(rows)]
    compiled = multiply(
        kernel, rows, depths, 72, (bm, 64, 32), specialize, flatten, num_stages=stages
    )
    assert "cp.async.bulk.tensor" in compiled.asm["ptx"]
    assert not specialize or 1 in partitions(compiled)


@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_any_order(target, monkeypatch):
    """Copies that are as late as they may be, and warps that run far ahead."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "16")
    bm = 64 if target == "cuda:90" else 128
    kernel = multiply(
        tiles_of_groups, [7, 40, bm, 1, 30], [32, 64, 96, 32, 160], 136, (bm, 64, 32), True,
        num_stages=3, num_warps=8,
    )  # fmt: skip
    assert partitions(kernel)


@pytest.mark.parametrize("target", ["cuda:100"], indirect=True)
def test_pairs(target):
    """The copies of both blocks arrive in the first one."""
    kernel = multiply(
        tiles_of_groups, [7, 256, 300 - 44, 1], [64, 128, 64, 200], 264, (256, 128, 64), True,
        num_ctas=2, num_stages=3,
    )  # fmt: skip
    assert "cta_group::2" in kernel.asm["ptx"] and partitions(kernel)


def without_waits(text: str) -> str:
    """The IR, in which warps that copy do not wait before they make a map."""
    before, mark, group = text.partition("partition0(")
    start, make, rest = group.partition("ttnvgpu.tensormap_create")
    start, count = re.subn(r"\n *ttnvgpu\.wait_barrier[^\n]*", "", start)
    assert make and count == 3
    return before + mark + start + make + rest


@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_planted_mistake(target):
    """Without the waits, maps are made while copies use them, and the simulator says so. With them
    it has nothing to say, as test_products_of_groups shows."""

    def hook(backend=None, stages=None, options=None, language=None, arch=None):
        if stages is None:
            return "without waits"
        make = stages["ttgir"]

        def edited(source, metadata):
            module = make(source, metadata)
            return type(module).parse(without_waits(str(module)), module.context)

        stages["ttgir"] = edited
        return None

    # What was compiled without the mistake is not compiled again.
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.add_stages_inspection_hook = hook
        with pytest.raises(tile.sim.SimulationError, match="async-race"):
            multiply(
                tiles_of_groups, [5, 40, 64], [96] * 3, 72,
                (64 if target == "cuda:90" else 128, 64, 32), True, num_stages=3, num_warps=4,
            )  # fmt: skip
