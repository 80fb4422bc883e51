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


@pytest.mark.parametrize("num_ctas", [2, 4])
def test_each_block_copies_what_it_shares(num_ctas, target):
    x, y = values((32, 128), "fp16", 4), poisoned((32, 128), "fp16")
    descs = [descriptor(t, [32, 128], num_ctas, [0, 0]) for t in (x, y)]
    report = copy.simulate(*descs, False, grid=(1,), num_ctas=num_ctas)
    assert report.ok, report.messages
    np.testing.assert_array_equal(y, x)


#: How four or eight blocks divide 32 rows and 128 columns, or share them.
DIVISIONS = [
    [[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, 0], [1, 0]], [[0, 1], [0, 0]], [[0, 0], [0, 1]],
    [[1, 0], [0, 0], [0, 1]], [[0, 0], [0, 0], [1, 0]], [[0, 0], [0, 0], [0, 0]],
]  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("multicast", [False, True])
@pytest.mark.parametrize("bases", DIVISIONS)
@pytest.mark.parametrize("swizzle", [0, 32, 128])
def test_blocks_that_divide_and_share(bases, multicast, swizzle, target):
    layout = gl.NVMMASharedLayout(swizzle, 16, rank=2, cga_layout=bases)
    x, y = values((40, 128), "fp16", 5), poisoned((40, 128), "fp16")
    descs = [TensorDescriptor.from_tensor(t, [32, 128], layout) for t in (x, y)]
    for schedule in range(2):
        y[:] = np.nan
        report = copy.simulate(
            *descs, multicast, grid=(2,), num_ctas=1 << len(bases), schedule_seed=schedule
        )
        assert report.ok, report.messages
        np.testing.assert_array_equal(y, x)


@gluon.jit
def copy_to_all(x_desc, y_desc, buffer, bar):
    """One copy fills the buffers of all blocks."""
    mbarrier.expect(bar, x_desc.nbytes_per_cta)
    tma.async_load(x_desc, [0, 0], bar, buffer, multicast=True)
    mbarrier.wait(bar, 0)
    fence_async_shared(cluster=True)
    tma.async_store(y_desc, [0, 0], buffer)
    tma.store_wait(0)
    cluster.barrier()


@gluon.jit
def copy_at_once(x_desc, y_desc):
    """Blocks do not wait for the barriers of each other: the compiler has them wait."""
    buffer = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_shape, x_desc.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    copy_to_all(x_desc, y_desc, buffer, bar)


@pytest.mark.parametrize("num_ctas", [2, 4])
def test_barriers_are_known_to_other_blocks(num_ctas, target):
    x, y = values((32, 128), "fp16", 6), poisoned((32, 128), "fp16")
    descs = [descriptor(t, [32, 128], num_ctas, [0, 0]) for t in (x, y)]
    for schedule in range(3):
        report = copy_at_once.simulate(*descs, grid=(1,), num_ctas=num_ctas, schedule_seed=schedule)
        assert report.ok, report.messages
        np.testing.assert_array_equal(y, x)


@gluon.jit
def exchange_and_copy(in_ptr, out_ptr, x_desc, y_desc, FROM: gl.constexpr, TO: gl.constexpr):
    """A conversion takes shared memory before there is the buffer to which both blocks copy."""
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    values = gl.load(in_ptr + gl.arange(0, 4096, layout=FROM))
    gl.store(out_ptr + gl.arange(0, 4096, layout=TO), gl.convert_layout(values, TO))
    buffer = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_shape, x_desc.layout)
    copy_to_all(x_desc, y_desc, buffer, bar)


@pytest.mark.parametrize("num_ctas", [2, 4])
def test_others_copy_to_memory_that_is_free(num_ctas, target):
    shared = [[0]] * (num_ctas.bit_length() - 1)
    layouts = [gl.BlockedLayout([n], [32], [4], [0], cga_layout=shared) for n in (1, 4)]
    x, y = values((32, 128), "fp16", 7), poisoned((32, 128), "fp16")
    descs = [descriptor(t, [32, 128], num_ctas, [0, 0]) for t in (x, y)]
    z = values((4096,), "fp32", 8)
    for schedule in range(4):
        out = poisoned((4096,), "fp32")
        report = exchange_and_copy.simulate(
            z, out, *descs, *layouts, grid=(1,), num_ctas=num_ctas, schedule_seed=schedule
        )
        assert report.ok, report.messages
        np.testing.assert_array_equal(y, x)
        np.testing.assert_array_equal(out, z)


@gluon.jit
def store_a_part(y_desc, WAY: gl.constexpr):
    """Half of the rows: those that one of the blocks has."""
    layout: gl.constexpr = gl.NVMMASharedLayout(128, 16, rank=2, cga_layout=[[1, 0]])
    buffer = gl.allocate_shared_memory(gl.float16, [64, 64], layout)
    part = buffer.slice(0, 32, dim=0)
    if WAY == "store":
        tma.async_store(y_desc, [0, 0], part)
    elif WAY == "reduce":
        tma.async_atomic_add(y_desc, [0, 0], part)
    else:
        bar = mbarrier.allocate_mbarrier()
        mbarrier.init(bar, count=1)
        tma.async_load(y_desc, [0, 0], bar, part)


@pytest.mark.parametrize("way", ["store", "reduce", "load"])
def test_views_of_some_blocks_are_not_copied(way, target):
    """A view of rows that are in one block is no buffer of which each block has half."""
    layout = gl.NVMMASharedLayout(128, 16, rank=2, cga_layout=[[1, 0]])
    desc = TensorDescriptor.from_tensor(poisoned((32, 64), "fp16"), [32, 64], layout)
    with pytest.raises(TileError, match="TMA does not lay out blocks"):
        store_a_part[(1,)](desc, way, num_ctas=2)


@pytest.mark.parametrize("bases", [[[0, 0]], [[0, 1]], [[0, 0], [0, 1]]])
@pytest.mark.parametrize("multicast", [False, True])
def test_the_same_part_of_each_block(bases, multicast, target):
    """Rows of buffers whose columns blocks divide, or share."""
    layout = gl.NVMMASharedLayout(32, 16, rank=2, cga_layout=bases)
    x, y = values((32, 128), "fp16", 5), poisoned((32, 128), "fp16")
    descs = [TensorDescriptor.from_tensor(t, [32, 128], layout) for t in (x, y)]
    for schedule in range(2):
        y[:] = np.nan
        report = copy_a_part.simulate(
            *descs, multicast, grid=(1,), num_ctas=1 << len(bases), schedule_seed=schedule
        )
        assert report.ok, report.messages
        np.testing.assert_array_equal(y, x)


@gluon.jit
def copy_a_part(x_desc, y_desc, MULTICAST: gl.constexpr):
    buffer = gl.allocate_shared_memory(x_desc.dtype, [64, x_desc.block_shape[1]], x_desc.layout)
    part = buffer.slice(32, 32)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    cluster.barrier()
    mbarrier.expect(bar, x_desc.nbytes_per_cta)
    tma.async_load(x_desc, [0, 0], bar, part, multicast=MULTICAST)
    mbarrier.wait(bar, 0)
    tma.async_store(y_desc, [0, 0], part)
    tma.store_wait(0)
    cluster.barrier()


def test_the_interpreter_runs_no_clusters(target, monkeypatch):
    monkeypatch.setenv("TILE_INTERPRET", "1")
    x = poisoned((32, 128), "fp16")
    desc = descriptor(x, [32, 128], 2, [1, 0])
    with pytest.raises(TileError, match="runs programs of one block, not of clusters"):
        copy[(1,)](desc, desc, False, num_ctas=2)


@gluon.jit
def turned(x_ptr, out_ptr, N: gl.constexpr, RELAXED: gl.constexpr, SPLIT: gl.constexpr):
    """The threads of a block read what other threads of it wrote, with a barrier between."""
    CGA: gl.constexpr = [[N // 2]]
    ROW: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0], cga_layout=[[1]])
    TURNED: gl.constexpr = gl.DistributedLinearLayout(
        [], [[4], [8], [16], [32], [64]], [[1], [2]], CGA, [N]
    )
    BUFFER: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout=[[1]])
    buffer = gl.allocate_shared_memory(gl.int32, [N], BUFFER)
    buffer.store(gl.load(x_ptr + gl.arange(0, N, ROW)))
    if SPLIT:
        cluster.arrive(RELAXED)
        cluster.wait()
    else:
        cluster.barrier(RELAXED)
    gl.store(out_ptr + gl.arange(0, N, TURNED), buffer.load(TURNED) + 1)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("relaxed", [False, True])
def test_relaxed_barriers_order_no_memory(relaxed, split, target):
    x, out = values((256,), "i32", 1), poisoned((256,), "i32")
    turned[(1,)](x, out, 256, relaxed, split, num_warps=4, num_ctas=2)
    np.testing.assert_array_equal(out, x + 1)
