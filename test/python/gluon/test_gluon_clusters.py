"""Programs of several blocks: what each has, copies for all of them, and their barrier."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, sim_only
from reference import random as values

import tile
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import (
    cluster,
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor

pytestmark = [sim_only, pytest.mark.parametrize("target", ["cuda:90"], indirect=True)]


def bases(*steps: list[int], num_ctas: int) -> list[list[int]]:
    """How the blocks of a cluster divide a tensor: along the given dimension, or not at all."""
    (step,) = steps
    return [[s << i for s in step] for i in range(num_ctas.bit_length() - 1)]


def descriptor(x, block, num_ctas, step):
    layout = gl.NVMMASharedLayout.get_default_for(
        block, gl.float16, cga_layout=bases(step, num_ctas=num_ctas)
    )
    return TensorDescriptor.from_tensor(x, block, layout)


@gluon.jit
def product(a_desc, b_desc, c_ptr, M, N, K, MMA: gl.constexpr, MEETS: gl.constexpr):
    """Each block has some of the rows of A, and all of B, which every block loads a part of."""
    BM: gl.constexpr = a_desc.block_shape[0]
    BK: gl.constexpr = a_desc.block_shape[1]
    BN: gl.constexpr = b_desc.block_shape[1]
    i, j = gl.program_id(0), gl.program_id(1)
    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_shape, b_desc.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    # No block copies to another one before that has its barrier.
    cluster.barrier()
    acc = gl.zeros([BM, BN], gl.float32, MMA)
    for k in range(gl.cdiv(K, BK)):
        mbarrier.expect(bar, a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
        tma.async_load(a_desc, [i * BM, k * BK], bar, a)
        tma.async_load(b_desc, [k * BK, j * BN], bar, b, multicast=True)
        mbarrier.wait(bar, k & 1)
        acc = warpgroup_mma(a, b, acc)
        if MEETS:
            # The next copies write what other blocks may still read.
            gl.barrier(cluster=True)
    mbarrier.invalidate(bar)
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, MMA))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, MMA))
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    gl.store(c_ptr + rows[:, None] * N + columns[None, :], acc, mask)


def run_product(m, n, k, num_ctas, meets, schedule):
    a, b = (values(s, "i8", i) % 8 for i, s in enumerate(((m, k), (k, n))))
    a, b, c = a.astype(np.float16), b.astype(np.float16), poisoned((m, n), "fp32")
    bm = 64 * num_ctas
    mma = gl.NVMMADistributedLayout(
        [3, 0], [4, 1], [16, 64, 16], cga_layout=bases([1, 0], num_ctas=num_ctas)
    )
    report = product.simulate(
        descriptor(a, [bm, 32], num_ctas, [1, 0]), descriptor(b, [32, 64], num_ctas, [0, 0]), c,
        m, n, k, mma, meets, grid=(tile.cdiv(m, bm), tile.cdiv(n, 64)), num_ctas=num_ctas,
        schedule_seed=schedule,
    )  # fmt: skip
    return report, c, a.astype(np.float32) @ b.astype(np.float32)


@pytest.mark.parametrize("num_ctas", [1, 2, 4])
@pytest.mark.parametrize("m,n,k", [(200, 136, 96), (64, 64, 32), (17, 8, 40)])
def test_product_with_multicast(m, n, k, num_ctas, target):
    for schedule in range(3):
        report, c, expected = run_product(m, n, k, num_ctas, True, schedule)
        assert report.ok, report.messages
        np.testing.assert_array_equal(c, expected)


def test_a_missing_barrier_of_the_cluster_is_found(target):
    def messages(schedule):
        try:
            return " ".join(map(str, run_product(200, 136, 160, 2, False, schedule)[0].messages))
        except TileError as error:
            return str(error)

    found = " ".join(messages(schedule) for schedule in range(4))
    assert "race" in found


@gluon.jit
def copy(x_desc, y_desc, MULTICAST: gl.constexpr):
    buffer = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_shape, x_desc.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    cluster.arrive()
    cluster.wait()
    mbarrier.expect(bar, x_desc.nbytes_per_cta)
    at = [gl.program_id(0) * x_desc.block_shape[0], 0]
    tma.async_load(x_desc, at, bar, buffer, multicast=MULTICAST)
    mbarrier.wait(bar, 0)
    fence_async_shared(cluster=True)
    tma.async_store(y_desc, at, buffer)
    tma.store_wait(0)
    cluster.barrier()


@pytest.mark.parametrize("num_ctas", [2, 4])
@pytest.mark.parametrize("step", [[1, 0], [0, 1], [0, 0]])
@pytest.mark.parametrize("rows", [64, 40])
def test_copies_of_several_blocks(rows, step, num_ctas, target):
    x, y = values((rows, 128), "fp16", 3), poisoned((rows, 128), "fp16")
    descs = [descriptor(t, [32, 128], num_ctas, step) for t in (x, y)]
    report = copy.simulate(*descs, step == [0, 0], grid=(2,), num_ctas=num_ctas)
    assert report.ok, report.messages
    np.testing.assert_array_equal(y, x)


def test_what_blocks_share_is_copied_for_all_of_them(target):
    x = poisoned((32, 128), "fp16")
    desc = descriptor(x, [32, 128], 2, [0, 0])
    with pytest.raises(TileError, match="which async_load says by multicast=True"):
        copy[(1,)](desc, desc, False, num_ctas=2)


def test_the_interpreter_runs_no_clusters(target, monkeypatch):
    monkeypatch.setenv("TILE_INTERPRET", "1")
    x = poisoned((32, 128), "fp16")
    desc = descriptor(x, [32, 128], 2, [1, 0])
    with pytest.raises(TileError, match="runs programs of one block, not of clusters"):
        copy[(1,)](desc, desc, False, num_ctas=2)
