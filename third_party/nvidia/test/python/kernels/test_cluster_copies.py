"""Bulk tensor copies on clusters of two and four blocks (sm_90): each copies its part, and one
part, for all, of what all need."""

from __future__ import annotations

import re

import numpy as np
import pytest
from machines import run_on
from reference import poisoned, random, sim_only
from test_matmul_sweep import KINDS
from test_persistent_products import multiply as multiply_flattened
from test_tma import multiply

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

MULTICAST = ".multicast::cluster"


@pytest.fixture(autouse=True)
def target(monkeypatch):
    """In place of the targets of the other kernels."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")


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
    assert MULTICAST in ptx and "wgmma" in ptx and "cp.async.cg" not in ptx


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_stages(stages, steps):
    kernel = multiply(
        "fp16", (256, 64, 32 * steps), (128, 64, 32), num_stages=stages, num_ctas=2, num_warps=4
    )
    assert MULTICAST in kernel.asm["ptx"] or steps == 0


@pytest.mark.parametrize(
    ("tiles", "warps"),
    [
        ((64, 16, 64), 4), ((128, 256, 64), 4), ((256, 128, 64), 8), ((128, 64, 16), 4),
        ((16, 32, 32), 4), ((256, 32, 128), 4), ((32, 64, 16), 1),
    ],
)  # fmt: skip
def test_tiles(tiles, warps):
    """With mma.sync as well, where a block has too few rows for a warp group."""
    bm, bn, bk = tiles
    multiply(
        "bf16", (bm + 16, bn + 48, 2 * bk + 16), tiles, num_warps=warps, num_stages=3, num_ctas=2
    )


def test_any_order(monkeypatch):
    """Copies that complete as late as they may, blocks that run far ahead: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "6")
    multiply("fp16", (264, 136, 200), (128, 64, 32), num_warps=8, num_stages=2, num_ctas=2)


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("programs", [1, 2])
def test_flattened(stages, programs, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    kernel = multiply_flattened(
        "fp16", (264, 136, 96), (128, 64, 32), programs, num_stages=stages, num_ctas=2
    )
    assert MULTICAST in kernel.asm["ptx"]


@tile.jit
def attention(q, k, v, out, L, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Keys and values are for both blocks; the output is stored turned."""
    start = tl.program_id(0) * BM
    queries = q.load([start, 0])
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for at in range(0, L, BN):
        scores = tl.dot(queries, k.load([at, 0]).T)
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(weights, 1)
        acc = tl.dot(weights.to(v.dtype), v.load([at, 0]), acc * shrink[:, None])
        top = new_top
    out.store([0, start], (acc / total[:, None]).to(out.dtype).T)


@pytest.mark.parametrize(("warps", "stages"), [(4, 2), (4, 3), (8, 2)])
def test_attention(warps, stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    q, k, v = (random((256, 64), "fp16", seed) for seed in range(3))
    out = poisoned((64, 256), "fp16")
    blocks = ((q, [128, 64]), (k, [64, 64]), (v, [64, 64]), (out, [64, 128]))
    kernel = attention[(2,)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks),
        256, 64, 128, 64, num_warps=warps, num_stages=stages, num_ctas=2,
    )  # fmt: skip
    scores = q.astype(np.float64) @ k.T.astype(np.float64)
    weights = np.exp2(scores - scores.max(1, keepdims=True))
    expected = weights @ v.astype(np.float64) / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(out.T, expected, rtol=1e-2, atol=1e-2)
    assert kernel.asm["ptx"].count(MULTICAST) >= 2


@sim_only
@pytest.mark.parametrize(
    ("pattern", "instead", "finding"),
    [
        (r"barrier\.cluster\.arrive\S*;\s*barrier\.cluster\.wait\S*;", "bar.sync 0;", "unstarted"),
        (r"(bra DONE; WAIT:) mbarrier\.try_wait[^;]*;\s*@!complete bra WAIT;", r"\1", "race"),
    ],
)
def test_blocks_have_to_meet(pattern, instead, finding, monkeypatch):
    """Without the barrier of the cluster behind the mbarriers' making, or without the wait for the
    other block's reads in the loop, the simulator finds what goes wrong."""
    run_on("cuda:90", monkeypatch)

    def edited(text: str) -> str:
        text, count = re.subn(pattern, instead, text)
        assert count == 1
        return text

    def hook(backend=None, stages=None, options=None, language=None, arch=None):
        if stages is None:
            return finding
        make = stages["ptx"]
        stages["ptx"] = lambda source, metadata: edited(make(source, metadata))
        return None

    # Of each kernel a variant of its own is compiled.
    stages = {"unstarted": 2, "race": 3}[finding]
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.add_stages_inspection_hook = hook
        with pytest.raises(tile.sim.SimulationError, match=finding):
            multiply(
                "fp16", (256, 64, 520), (128, 64, 32), num_warps=8, num_stages=stages, num_ctas=2
            )


@tile.jit
def doubled(a, b, out, K):
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 32):
        acc = tl.dot(a.load([0, k]) * 2.0, b.load([k, 0]), acc)
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(out + at, acc)


@pytest.mark.parametrize("transposed", [(False, False), (True, True)])
@pytest.mark.parametrize("stages", [1, 3])
def test_four_blocks(transposed, stages):
    tiles = (256, 64, 64)
    kernel = multiply(
        "fp16", (272, 80, 200), tiles, transposed, num_warps=4, num_stages=stages, num_ctas=4
    )
    assert MULTICAST in kernel.asm["ptx"]


@pytest.mark.parametrize("ctas", [2, 8])
def test_what_stays_pointers(ctas):
    """What is not loaded for a dot alone, or by eight blocks."""
    a, b, out = random((64, 96), "fp16", 1), random((96, 64), "fp16", 2), poisoned((64, 64), "fp32")
    descriptors = [
        TensorDescriptor.from_tensor(x, block) for x, block in ((a, [64, 32]), (b, [32, 64]))
    ]
    kernel = doubled[(1,)](*descriptors, out, 96, num_ctas=ctas)
    np.testing.assert_allclose(out, 2 * a.astype(np.float64) @ b, rtol=1e-3, atol=1e-1)
    assert kernel.asm["ptx"].count("cp.async.bulk.tensor") == 0 or ctas == 2
