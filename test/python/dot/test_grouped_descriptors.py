"""Grouped matmuls, whose descriptors are made of pointers and sizes that the kernel loads.

Where these are as TMA takes them, which the kernel asks, blocks are copied by maps that it makes.
Other groups are loaded through pointers. Numbers are small integers, so that sums are exact.
"""

from __future__ import annotations

import numpy as np
import pytest
from machines import run_on
from reference import sim_only

import tile
import tile.language as tl

pytestmark = sim_only


@pytest.fixture(params=["cuda:90", "cuda:100"], autouse=True)
def target(request, monkeypatch):
    run_on(request.param, monkeypatch)


@tile.jit
def grouped(
    pool, a_ptrs, b_ptrs, c_ptrs, sizes, GROUPS, PROGRAMS: tl.constexpr, BM: tl.constexpr,
    BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """All matrices are in `pool`."""
    at = tl.program_id(0)
    first = 0
    for group in range(GROUPS):
        m = tl.load(sizes + group * 3)
        n = tl.load(sizes + group * 3 + 1)
        k = tl.load(sizes + group * 3 + 2)
        columns = tl.cdiv(n, BN)
        tiles = tl.cdiv(m, BM) * columns
        if at >= first and at < first + tiles:
            a = tl.load(a_ptrs + group).to(tl.pointer_type(tl.float16))
            b = tl.load(b_ptrs + group).to(tl.pointer_type(tl.float16))
            c = tl.load(c_ptrs + group).to(tl.pointer_type(tl.float32))
            a_desc = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
            b_desc = tl.make_tensor_descriptor(b, [n, k], [k, 1], [BN, BK])
            while at >= first and at < first + tiles:
                row = (at - first) // columns * BM
                column = (at - first) % columns * BN
                acc = tl.zeros((BM, BN), tl.float32)
                for i in range(0, tl.cdiv(k, BK)):
                    x = a_desc.load([row, i * BK])
                    y = b_desc.load([column, i * BK])
                    acc = tl.dot(x, y.T, acc)
                rows = row + tl.arange(0, BM)[:, None]
                cells = column + tl.arange(0, BN)[None, :]
                tl.store(c + rows * n + cells, acc, (rows < m) & (cells < n))
                at += PROGRAMS
        first += tiles


class Pool:
    """Matrices in one array, at multiples of 64 bytes and `more`."""

    def __init__(self) -> None:
        self.memory = np.zeros(1 << 19, np.uint8)
        self.end = -self.memory.ctypes.data % 64

    def take(self, shape, dtype, more=0):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        start = self.end + more
        self.end += (size + more + 127) // 64 * 64
        return self.memory[start : start + size].view(dtype).reshape(shape)


#: Sizes, and where A begins. TMA takes the first ones; of the others, it takes no row of 100
#: elements, and no base that is two bytes behind a multiple of 16.
FITTING = [(128, 128, 192, 0), (130, 72, 136, 0), (64, 40, 64, 16)]
OTHERS = [(100, 64, 100, 0), (64, 64, 128, 2)]


def run(groups, seed=0):
    rng = np.random.default_rng(seed)
    pool = Pool()
    a, b, c = [], [], []
    for m, n, k, more in groups:
        for matrices, shape, at in ((a, (m, k), more), (b, (n, k), 0)):
            matrices.append(pool.take(shape, np.float16, at))
            matrices[-1][...] = rng.integers(-3, 4, shape)
        c.append(pool.take((m, n), np.float32))
        c[-1][...] = np.nan
    addresses = [np.array([x.ctypes.data for x in xs], np.int64) for xs in (a, b, c)]
    sizes = np.array([group[:3] for group in groups], np.int32).ravel()
    report = grouped.simulate(
        pool.memory, *addresses, sizes, len(groups), 2, 128, 64, 64, grid=(2,), schedule_seed=seed
    )
    assert report.ok, report.messages
    for left, right, found in zip(a, b, c, strict=True):
        np.testing.assert_array_equal(found, left.astype(np.float32) @ right.astype(np.float32).T)
    return report.ptx


@pytest.mark.parametrize("seed", range(3))
def test_groups_of_all_kinds(seed):
    groups = [*FITTING, *OTHERS]
    np.random.default_rng(seed).shuffle(groups)
    ptx = run([tuple(map(int, group)) for group in groups], seed)
    # One thread makes a map for each matrix of a group, and others see it.
    assert "cp.async.bulk.tensor.2d" in ptx and "tensormap.replace" in ptx
    assert "fence.proxy.tensormap" in ptx


@pytest.mark.parametrize("groups", [FITTING, OTHERS], ids=["fitting", "others"])
def test_groups_of_one_kind(groups):
    run(groups)
