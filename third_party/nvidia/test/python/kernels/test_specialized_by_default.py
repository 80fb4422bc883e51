"""Loops over tiles, of which nobody says anything: copies and dots get warps of their own on sm_100
where a tile takes fewer cycles so."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random, sim_only
from test_matmul_sweep import KINDS
from test_persistent_products import multiply as multiply_flattened
from test_specialized_tensor_memory import partitions, sums
from test_tma import multiply

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

#: An H100 or H200 has none of this.
pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> None:
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", getattr(request, "param", "cuda:100"))


CASES = [
    *(("fp16", (ta, tb)) for ta in (0, 1) for tb in (0, 1)),
    *((name, (0, 1)) for name in ("tf32", "int8", "e4m3")), ("bf16", (0, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "transposed"), CASES)
def test_types(name, transposed):
    """Ragged in each dimension."""
    bk = {2: 64, 4: 32, 1: 128}[np.dtype(KINDS[name][0]).itemsize]
    kernel = multiply(
        name, (272, 144, 2 * bk + 16), (128, 64, bk), tuple(map(bool, transposed)), programs=2,
        num_stages=3,
    )  # fmt: skip
    assert partitions(kernel) == [1, 1] and sums(kernel) == [2]


@pytest.mark.parametrize("target", ["cuda:103", "cuda:110"], indirect=True)
def test_targets(target):
    assert partitions(multiply("fp16", (272, 144, 80), (128, 64, 64))) == [1, 1]


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("programs", [1, 3, 9])
def test_tiles_of_any_length(steps, programs):
    """Tiles without dots, and more programs than tiles, too."""
    multiply("fp16", (272, 144, 64 * steps), (128, 64, 64), programs=programs)


@pytest.mark.parametrize("run", [multiply, multiply_flattened])
@pytest.mark.parametrize("warps", [4, 8])
def test_any_order(run, warps, monkeypatch):
    """Copies and dots that complete as late as they may, warps that run far ahead: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "6")
    kernel = run("fp16", (272, 136, 192), (128, 64, 64), programs=1, num_warps=warps)
    assert partitions(kernel) == [1, 1]


def test_who_does_not_want_it(monkeypatch):
    sizes = (144, 80, 80), (128, 64, 64)
    assert partitions(multiply("fp16", *sizes, specialize_warps=False)) == []
    monkeypatch.setenv("TILE_SPECIALIZE_WARPS", "0")
    # No other test has compiled this one already.
    assert partitions(multiply("fp16", *sizes, num_stages=5)) == []


@tile.jit
def wide(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The tiles that are stored fill shared memory: one buffer is left for each copy."""
    columns = tl.cdiv(N, BN)
    for t in range(tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0)):
        i, j = t // columns * BM, t % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, 1024, BK):
            acc = tl.dot(a.load([i, k]), b.load([k, j]), acc)
        c.store([i, j], acc)


def run_wide(bm: int, bn: int, bk: int, **options):
    a, b = random((bm, 1024), "fp16", 1), random((1024, bn), "fp16", 2)
    out = poisoned((bm, bn), "fp32")
    blocks = ((a, [bm, bk]), (b, [bk, bn]), (out, [bm, bn]))
    kernel = wide[(1,)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks), bm, bn, 1024, bm, bn, bk,
        **options,
    )  # fmt: skip
    np.testing.assert_allclose(out, a.astype(np.float64) @ b.astype(np.float64), rtol=0, atol=0.1)
    return kernel


def test_why_not(monkeypatch, capfd):
    monkeypatch.setenv("MLIR_ENABLE_REMARK", "triton-nvidia-choose-warp-specialization")
    assert partitions(run_wide(128, 256, 128, num_stages=2, num_warps=8)) == []
    said = capfd.readouterr().err
    assert "its copies and dots get no warps of their own: a tile would take" in said


@tile.jit
def doubled(a, b, c, M, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    for i in range(tl.program_id(0) * BM, M, tl.num_programs(0) * BM):
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a.load([i, k]) * 2.0, b.load([k, 0]), acc)
        c.store([i, 0], acc)


@tile.jit
def one_tile(a, b, c, M, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([i, k]), b.load([k, 0]), acc)
    c.store([i, 0], acc * 2.0)


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (doubled, "threads take part between the dots of a tile"),
        (one_tile, "no loop over tiles is around it"),
    ],
)
def test_loops_that_are_left_alone(kernel, why, monkeypatch, capfd):
    monkeypatch.setenv("MLIR_ENABLE_REMARK", "triton-nvidia-choose-warp-specialization")
    m, n, k = 272, 64, 144
    a, b, out = random((m, k), "fp16", 1), random((k, n), "fp16", 2), poisoned((m, n), "fp32")
    blocks = ((a, [128, 64]), (b, [64, 64]), (out, [128, 64]))
    compiled = kernel[(3,)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks), m, k, 128, 64, 64
    )
    assert partitions(compiled) == [] and why in capfd.readouterr().err
    expected = 2 * a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=0.1)
