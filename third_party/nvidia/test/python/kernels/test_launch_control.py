"""Launches whose programs go on with others that have not begun (`clc=True`): each program is
run once, whoever runs it."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random, sim_only
from test_block_pairs import is_pair
from test_specialized_tensor_memory import partitions
from test_tma import multiply

import tile
import tile.language as tl
from tile.compiler.errors import CompilationError
from tile.errors import TileError
from tile.tools.tensor_descriptor import TensorDescriptor

#: An H100 or H200 has none of this.
pytestmark = sim_only

ASKS = "clusterlaunchcontrol.try_cancel"


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> str:
    name = getattr(request, "param", "cuda:100")
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", name)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    return name


@tile.jit
def transpose(x, out, counts, L, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Of three axes. Counts programs, too."""
    i, j, k = tl.program_id(2), tl.program_id(0), tl.program_id(1)
    rows, cols = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    block = tl.load(x + k * M * N + rows[:, None] * N + cols[None, :], inside)
    at = out + k * M * N + cols[:, None] * M + rows[None, :]
    tl.store(at, block.T, (cols[:, None] < N) & (rows[None, :] < M))
    tl.atomic_add(counts + (i * tl.num_programs(1) + k) * tl.num_programs(0) + j, 1)


@pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110", "cuda:120"], indirect=True)
@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_each_program_runs_once(target, blocks):
    if target == "cuda:120" and blocks > 1:
        pytest.skip("its clusters have one block")
    depth, m, n = 2, 50, 70
    x = random((depth, m, n), "i32", 1)
    out, counts = poisoned((depth, n, m), "i32"), np.zeros((4, depth, 3), np.int32)
    kernel = transpose[(3, depth, 4)](
        x, out, counts, depth, m, n, 16, 32, num_ctas=blocks, clc=True
    )
    assert ASKS in kernel.asm["ptx"]
    np.testing.assert_array_equal(out, x.transpose(0, 2, 1))
    np.testing.assert_array_equal(counts, 1)


@tile.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One tile, by descriptors, whose sum is stored through shared memory."""
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([i, k]), b.load([k, j]), acc)
    c.store([i, j], acc)


@pytest.mark.parametrize("target", ["cuda:100", "cuda:120"], indirect=True)
@pytest.mark.parametrize(("blocks", "tiles"), [(1, (128, 64, 64)), (2, (256, 128, 64))])
@pytest.mark.parametrize("stages", [1, 3])
def test_products(target, blocks, tiles, stages):
    if target == "cuda:120" and blocks > 1:
        pytest.skip("its clusters have one block")
    (m, n, k), (bm, bn, bk) = (600, 200, 136), tiles
    a, b, out = random((m, k), "fp16", 1), random((k, n), "fp16", 2), poisoned((m, n), "fp32")
    blocks_ = ((a, [bm, bk]), (b, [bk, bn]), (out, [bm, bn]))
    kernel = product[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks_), m, n, k, *tiles,
        num_stages=stages, num_ctas=blocks, clc=True,
    )  # fmt: skip
    assert ASKS in kernel.asm["ptx"]
    if blocks == 2:
        assert is_pair(kernel)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b.astype(np.float64), rtol=0, atol=0.05)


@pytest.mark.parametrize(("blocks", "tiles"), [(1, (128, 64, 64)), (2, (256, 128, 64))])
def test_loops_over_tiles(blocks, tiles):
    """A persistent kernel, launched with more programs than fit: each has a loop over its tiles,
    which is divided among warps."""
    kernel = multiply("fp16", (600, 200, 136), tiles, programs=5, num_ctas=blocks, clc=True)
    assert ASKS in kernel.asm["ptx"] and partitions(kernel) == [1, 1]


@tile.jit
def made_here(a_ptr, b_ptr, c_ptr, counts, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
              BK: tl.constexpr, SPECIALIZE: tl.constexpr):  # fmt: skip
    """Each program makes descriptors, where the one before made its own."""
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    i, j = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=SPECIALIZE):
        acc = tl.dot(a.load([i * BM, k]), b.load([k, j * BN]), acc)
    c.store([i * BM, j * BN], acc)
    tl.atomic_add(counts + i * tl.num_programs(1) + j, 1)


@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize(("blocks", "tiles"), [(1, (128, 128, 64)), (2, (256, 128, 64))])
def test_descriptors_of_each_program(blocks, tiles, specialize):
    """Groups of warps go on to the next program, and wait before they make its descriptors."""
    (m, n, k), (bm, bn, _) = (300, 136, 88), tiles
    a, b, out = random((m, k), "fp16", 1), random((k, n), "fp16", 2), poisoned((m, n), "fp32")
    grid = (tile.cdiv(m, bm), tile.cdiv(n, bn))
    counts = np.zeros(grid, np.int32)
    kernel = made_here[grid](
        a, b, out, counts, m, n, k, *tiles, specialize, num_ctas=blocks, clc=True, launch_maps=False
    )  # fmt: skip
    assert partitions(kernel) == [1, 1]
    np.testing.assert_array_equal(counts, 1)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b.astype(np.float64), rtol=0, atol=0.05)


@tile.jit
def copy(x, out):
    i = tl.program_id(0) * 2
    out.store([i, 0], x.load([i, 0]))


def test_sanitizer_of_concurrency(monkeypatch):
    """It knows that the answer arrives by itself."""
    monkeypatch.setenv("TRITON_INSTRUMENTATION_MODE", "consan")
    x, out = random((40, 16), "fp16", 1), poisoned((40, 16), "fp16")
    kernel = copy[(20,)](*(TensorDescriptor.from_tensor(y, [2, 16]) for y in (x, out)), clc=True)
    assert ASKS in kernel.asm["ptx"]
    np.testing.assert_array_equal(out, x)


def test_rows(monkeypatch):
    """A program that leaves early, and numbers of programs that are used in loops and branches."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")

    @tile.jit
    def sums(x, out, M, N, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        if row >= M:
            return
        total = 0
        for start in range(0, N, BLOCK):
            at = start + tl.arange(0, BLOCK)
            total += tl.sum(tl.load(x + row * N + at, at < N, 0))
        if row % 2:
            total = -total
        tl.store(out + row, total)

    x, out = random((37, 300), "i32", 1) % 1000, poisoned((37,), "i32")
    sums[(48,)](x, out, 37, 300, 128, clc=True)
    expected = x.sum(1)
    expected[1::2] *= -1
    np.testing.assert_array_equal(out, expected)


@tile.jit(noinline=True)
def number():
    return tl.program_id(0)


@tile.jit
def asks_elsewhere(out):
    tl.store(out + number(), 1)


def test_what_is_refused():
    out = np.zeros(4, np.int32)
    with pytest.raises(CompilationError, match="in the root function of this kernel"):
        asks_elsewhere[(4,)](out, clc=True)
    with pytest.raises(TileError, match="exclude each other"):
        transpose[(1,)](out, out, out, 1, 1, 1, 16, 16, clc=True, launch_cooperative_grid=True)


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
def test_older_machines(target):
    out = np.zeros(4, np.int32)
    with pytest.raises(TileError, match=r"clc requires NVIDIA SM100\+"):
        transpose[(1,)](out, out, out, 1, 1, 1, 16, 16, clc=True)
