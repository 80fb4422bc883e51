"""Dots whose sums are in tensor memory, on clusters: each block multiplies its rows."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random, sim_only
from test_cluster_copies import MULTICAST, attention
from test_matmul_sweep import KINDS
from test_persistent_products import multiply as multiply_flattened
from test_specialized_loops import multiply_by_descriptors
from test_tma import multiply

import tile
from tile.tools.tensor_descriptor import TensorDescriptor

#: An H100 or H200 has none of this.
pytestmark = sim_only

MMA = "tcgen05.mma"


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:100")


CASES = [
    *(("fp16", (ta, tb)) for ta in (0, 1) for tb in (0, 1)),
    *((name, (0, 1)) for name in ("tf32", "int8", "e4m3")), ("bf16", (0, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "transposed"), CASES)
@pytest.mark.parametrize("warps", [4, 8])
def test_types(name, transposed, warps):
    bk = {2: 64, 4: 32, 1: 128}[np.dtype(KINDS[name][0]).itemsize]
    tiles = (64 * warps // 2, 64, bk)
    sizes = (tiles[0] + 16, 80, 3 * bk + 16)
    turned = tuple(map(bool, transposed))
    kernel = multiply(name, sizes, tiles, turned, num_warps=warps, num_stages=3, num_ctas=2)
    ptx = kernel.asm["ptx"]
    assert MULTICAST in ptx and MMA in ptx and "mma.sync" not in ptx


@pytest.mark.sweep
@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
@pytest.mark.parametrize("blocks", [2, 4])
def test_stages(stages, steps, blocks):
    kernel = multiply(
        "fp16", (512, 64, 32 * steps), (128 * blocks // 2, 64, 32), num_stages=stages,
        num_ctas=blocks, num_warps=4,
    )  # fmt: skip
    ptx = kernel.asm["ptx"]
    assert (MULTICAST in ptx and MMA in ptx) or steps == 0


@pytest.mark.parametrize(
    ("tiles", "warps", "expect"),
    [
        ((128, 16, 64), 4, True), ((128, 256, 64), 4, True), ((256, 128, 64), 8, True),
        ((256, 64, 16), 4, True), ((64, 32, 32), 4, False), ((512, 32, 64), 8, True),
    ],
)  # fmt: skip
def test_tiles(tiles, warps, expect):
    bm, bn, bk = tiles
    kernel = multiply(
        "bf16", (bm + 16, bn + 48, 2 * bk + 16), tiles, num_warps=warps, num_stages=3, num_ctas=2
    )
    assert (MMA in kernel.asm["ptx"]) == expect


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("warps", [4, 8])
def test_any_order(stages, warps, monkeypatch):
    """Copies and dots that complete as late as they may, blocks that run far ahead: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    multiply("fp16", (264, 136, 200), (128, 64, 32), num_warps=warps, num_stages=stages, num_ctas=2)


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("programs", [1, 2])
def test_flattened(stages, programs, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    kernel = multiply_flattened(
        "fp16", (264, 136, 96), (128, 64, 32), programs, num_stages=stages, num_ctas=2
    )
    assert MMA in kernel.asm["ptx"]


@pytest.mark.parametrize("warps", [4, 8])
def test_loops_of_clusters_are_not_divided(warps, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")
    kernel = multiply_by_descriptors(
        "fp16", (272, 80, 112), (128, 64, 32), num_warps=warps, num_stages=3, num_ctas=2
    )
    assert MMA in kernel.asm["ptx"] and "ttg.warp_specialize" not in kernel.asm["ttgir"]


@pytest.mark.parametrize(("warps", "stages"), [(4, 2), (4, 3), (8, 2)])
def test_attention(warps, stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    q, k, v = (random((256, 64), "fp16", seed) for seed in range(3))
    out = poisoned((64, 256), "fp16")
    bm, bn = 128, 32
    blocks = ((q, [bm, 64]), (k, [bn, 64]), (v, [bn, 64]), (out, [64, bm]))
    kernel = attention[(tile.cdiv(256, bm),)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks), 256, 64, bm, bn,
        num_warps=warps, num_stages=stages, num_ctas=2,
    )  # fmt: skip
    assert MMA in kernel.asm["ptx"]
    wide = [x.astype(np.float64) for x in (q, k, v)]
    weights = np.exp2(wide[0] @ wide[1].T)
    expected = (weights / weights.sum(1, keepdims=True)) @ wide[2]
    np.testing.assert_allclose(out.T.astype(np.float64), expected, rtol=1e-2, atol=1e-2)
