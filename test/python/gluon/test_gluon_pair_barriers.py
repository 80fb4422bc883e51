"""Barriers that one block of a cluster holds for others, and arrivals of some blocks for others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia import rubin
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    cluster,
    mbarrier,
    tcgen05_mma,
    tcgen05_mma_barrier_count,
    tma,
)
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor

pytestmark = sim_only
hopper = pytest.mark.parametrize("target", ["cuda:90", "cuda:100"], indirect=True)
blackwell = pytest.mark.parametrize("target", ["cuda:100", "cuda:103"], indirect=True)


@gluon.jit
def arrive_kernel(y_ptr, FIRST: gl.constexpr, SECOND: gl.constexpr, L: gl.constexpr):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=2)
    mbarrier.arrive(barrier, from_cta=FIRST)
    mbarrier.arrive(barrier, from_cta=SECOND)
    mbarrier.wait(barrier, 0)
    i = gl.arange(0, 128, layout=L)
    gl.store(y_ptr + i, i)
    cluster.barrier()


@hopper
@pytest.mark.parametrize("blocks", [2, 4])
def test_each_barrier_gets_one_arrival(blocks, target):
    """Whichever blocks arrive for others. The simulator finds one arrival too many."""
    bits = blocks.bit_length() - 1
    layout = gl.BlockedLayout([1], [32], [4], [0], cga_layout=[[0]] * bits)
    for first, second in itertools.combinations_with_replacement(range(blocks), 2):
        y = poisoned(128, "i32")
        arrive_kernel[(1,)](y, first, second, layout, num_ctas=blocks)
        np.testing.assert_array_equal(y, np.arange(128))
    with pytest.raises(tile.TileError, match=r"from_cta of mbarrier\.arrive has bits of"):
        arrive_kernel[(1,)](y, blocks, 0, layout, num_ctas=blocks)


@gluon.jit
def together_kernel(
    x_ptr, y_ptr, N: gl.constexpr, MASK: gl.constexpr, OTHER: gl.constexpr, COUNT: gl.constexpr,
    ARRIVALS: gl.constexpr, L: gl.constexpr,
):  # fmt: skip
    """Each block reads what another one that arrives at its barrier has written."""
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=COUNT)
    i = gl.arange(0, N, layout=L)
    for phase in range(2):
        gl.store(x_ptr + phase * N + i, 3 * i + phase)
        rubin.mbarrier.arrive(barrier, count=ARRIVALS, multicast_cta=MASK)
        mbarrier.wait(barrier, phase)
        gl.store(y_ptr + phase * N + i, gl.load(x_ptr + phase * N + (i ^ (128 * OTHER))))
    cluster.barrier()


@hopper
@pytest.mark.parametrize("blocks", [2, 4])
@pytest.mark.parametrize("arrivals", [1, 4])
def test_blocks_arrive_at_barriers_of_each_other(blocks, arrivals, target):
    """One thread arrives, or each warp; at the barriers of all blocks, or of some."""
    layout = gl.BlockedLayout([1], [32], [4], [0], cga_layout=[[1], [2]][: blocks // 2])
    n = 128 * blocks
    i = np.arange(n)
    for mask in range(1, blocks):
        others = [other for other in range(blocks) if other & ~mask == 0]
        for other in others:
            x, y = poisoned(2 * n, "i32"), poisoned(2 * n, "i32")
            together_kernel[(1,)](
                x, y, n, mask, other, arrivals * len(others), arrivals, layout, num_ctas=blocks
            )
            there = i ^ (128 * other)
            np.testing.assert_array_equal(y, np.concatenate([3 * there, 3 * there + 1]))
    with pytest.raises(tile.TileError, match="multicast_cta must be <= num_ctas - 1"):
        together_kernel[(1,)](x, y, n, blocks, 0, 1, 1, layout, num_ctas=blocks)


@gluon.jit
def arrive_last(y_ptr, N, L: gl.constexpr):
    """Block 0 arrives at the barriers of all, and the others do not wait."""
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    i = gl.arange(0, 128, layout=L)
    x = i
    for _ in range(N):
        x = x * 3 + 1
    mbarrier.arrive(barrier, from_cta=0)
    # The epilogue may have other data where the barrier was.
    turned = gl.convert_layout(x, gl.BlockedLayout([4], [32], [4], [0], cga_layout=L.cga_layout))
    gl.store(y_ptr + gl.arange(0, 128, layout=turned.type.layout), turned)


@gluon.jit
def init_in_loop(y_ptr, N, L: gl.constexpr):
    for _ in range(N):
        barrier = mbarrier.allocate_mbarrier()
        mbarrier.init(barrier, count=1)
        mbarrier.arrive(barrier, from_cta=0)
        mbarrier.wait(barrier, 0)
        mbarrier.invalidate(barrier)
    i = gl.arange(0, 128, layout=L)
    gl.store(y_ptr + i, i)


@gluon.jit
def init_in_branch(y_ptr, N, L: gl.constexpr):
    barrier = mbarrier.allocate_mbarrier()
    if N > 2:
        mbarrier.init(barrier, count=1)
    else:
        mbarrier.init(barrier, count=2)
        mbarrier.arrive(barrier, count=1)
    mbarrier.arrive(barrier, from_cta=0)
    mbarrier.wait(barrier, 0)
    i = gl.arange(0, 128, layout=L)
    gl.store(y_ptr + i, i)


@hopper
@pytest.mark.parametrize("blocks", [2, 4])
def test_the_compiler_knows_where_blocks_meet(blocks, target):
    """Wherever barriers are made, and whether or not somebody waits for the last arrival."""
    layout = gl.BlockedLayout([1], [32], [4], [0], cga_layout=[[0]] * (blocks.bit_length() - 1))
    for n, (kernel, changes) in itertools.product(
        (0, 1, 3), ((arrive_last, True), (init_in_loop, False), (init_in_branch, False))
    ):
        y = poisoned(128, "i32")
        kernel[(1,)](y, n, layout, num_ctas=blocks)
        expected = np.arange(128, dtype=np.int32)
        for _ in range(n if changes else 0):
            expected = expected * 3 + 1
        np.testing.assert_array_equal(y, expected)


@gluon.jit
def pair_kernel(y_ptr, COUNT: gl.constexpr, ARRIVALS: gl.constexpr, L: gl.constexpr):
    barrier = mbarrier.allocate_mbarrier(two_ctas=True)
    mbarrier.init(barrier, count=COUNT)
    for phase in range(3):
        for _ in gl.static_range(ARRIVALS):
            mbarrier.arrive(barrier, count=1)
        mbarrier.wait(barrier, phase & 1)
        # The block that does not wait stays in the same phase.
        cluster.barrier()
    mbarrier.invalidate(barrier)
    i = gl.arange(0, 128, layout=L)
    gl.store(y_ptr + i, i)


@hopper
@pytest.mark.parametrize("blocks", [2, 4])
@pytest.mark.parametrize("count", [1, 3])
def test_both_blocks_of_a_pair_arrive(blocks, count, target):
    bits = blocks.bit_length() - 1
    layout = gl.BlockedLayout([1], [32], [4], [0], cga_layout=[[0]] * bits)
    y = poisoned(128, "i32")
    pair_kernel[(1,)](y, count, count, layout, num_ctas=blocks)
    np.testing.assert_array_equal(y, np.arange(128))


@hopper
def test_a_block_alone_is_no_pair(target):
    layout = gl.BlockedLayout([1], [32], [4], [0])
    with pytest.raises(tile.TileError, match="allocate_mbarrier with two_ctas needs num_ctas"):
        pair_kernel[(1,)](poisoned(128, "i32"), 1, 1, layout)


@gluon.jit
def start(a, b, sa, sb, ready, i, j, k, MULTICAST: gl.constexpr, pred=True):
    mbarrier.expect(ready, a.nbytes_per_cta + b.nbytes_per_cta, pred)
    tma.async_load(
        a, [i * a.block_shape[0], k * a.block_shape[1]], ready, sa, pred, multicast=MULTICAST
    )
    tma.async_load(
        b, [k * b.block_shape[0], j * b.block_shape[1]], ready, sb, pred, multicast=MULTICAST
    )


@gluon.jit
def product(a, b, c_ptr, M, N, K, STAGES: gl.constexpr, ACC: gl.constexpr, MULTICAST: gl.constexpr):
    """The first block of a pair waits for the copies of both, and starts the dots of both."""
    BM: gl.constexpr = a.block_shape[0]
    BN: gl.constexpr = b.block_shape[1]
    i, j = gl.program_id(0), gl.program_id(1)
    steps = gl.cdiv(K, a.block_shape[1])
    sa = gl.allocate_shared_memory(a.dtype, [STAGES, *a.block_shape], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [STAGES, *b.block_shape], b.layout)
    acc = allocate_tensor_memory(gl.float32, [BM, BN], ACC)
    ready = mbarrier.allocate_mbarrier(batch=STAGES, two_ctas=True)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(
            empty.index(s),
            count=tcgen05_mma_barrier_count([sa.index(0), sb.index(0)], MULTICAST, True),
        )
    for s in gl.static_range(STAGES - 1):
        start(a, b, sa.index(s), sb.index(s), ready.index(s), i, j, s, MULTICAST, s < steps)
    for k in range(steps):
        stage = k % STAGES
        mbarrier.wait(ready.index(stage), (k // STAGES) & 1)
        tcgen05_mma(
            sa.index(stage), sb.index(stage), acc, use_acc=k > 0, multicast=MULTICAST,
            mbarriers=[empty.index(stage)],
        )  # fmt: skip
        ahead = k + STAGES - 1
        slot = ahead % STAGES
        mbarrier.wait(empty.index(slot), ((k - 1) // STAGES) & 1, k > 0)
        start(
            a, b, sa.index(slot), sb.index(slot), ready.index(slot), i, j, ahead, MULTICAST,
            ahead < steps,
        )  # fmt: skip
    last = steps - 1
    mbarrier.wait(empty.index(last % STAGES), (last // STAGES) & 1)
    OUT: gl.constexpr = acc.get_reg_layout()
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, OUT))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, OUT))
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    gl.store(c_ptr + rows[:, None] * N + columns[None, :], acc.load(), mask)


@blackwell
@pytest.mark.parametrize("blocks", [2, 4])
@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("multicast", [False, True])
def test_products_of_pairs(blocks, stages, multicast, target):
    rows, n, k, bk = 128 * blocks, 64, 200, 64
    m, columns = rows + 72, 56
    of_a = [[1, 0], [2, 0]][: blocks.bit_length() - 1]
    of_b = [[0, 1], [0, 0]][: blocks.bit_length() - 1]
    rng = np.random.default_rng(blocks * stages)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, columns)))
    descs = [
        TensorDescriptor.from_tensor(
            x, shape, gl.NVMMASharedLayout.get_default_for(shape, gl.float16, cga_layout=bases)
        )
        for x, shape, bases in ((a, [rows, bk], of_a), (b, [bk, n], of_b))
    ]
    acc = TensorMemoryLayout([128, n], 1, cga_layout=of_a, two_ctas=True)
    c = poisoned((m, columns), "fp32")
    grid = (tile.cdiv(m, rows), tile.cdiv(columns, n))
    kernel = product[grid](*descs, c, m, columns, k, stages, acc, multicast, num_ctas=blocks)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, expected, rtol=1e-3, atol=1e-3)
    ptx = kernel.asm["ptx"]
    assert "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster" in ptx
    assert ("multicast::cluster" in ptx) or not multicast


@gluon.jit
def gather_kernel(
    desc, rows_ptr, out_ptr, COUNT: gl.constexpr, ROWS: gl.constexpr, L: gl.constexpr
):
    """Both blocks gather their rows, and the first one waits for all of them."""
    N: gl.constexpr = desc.block_shape[1]
    buffer = gl.allocate_shared_memory(desc.dtype, [COUNT, N], desc.layout)
    bar = mbarrier.allocate_mbarrier(two_ctas=True)
    mbarrier.init(bar, count=1)
    rows = gl.load(rows_ptr + gl.arange(0, COUNT, layout=ROWS))
    mbarrier.expect(bar, COUNT * N)
    tma.async_gather(desc, rows, 0, bar, buffer)
    mbarrier.wait(bar, 0)
    cluster.barrier()
    places = gl.arange(0, COUNT, layout=gl.SliceLayout(1, L))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, L))
    gl.store(out_ptr + places[:, None] * N + columns[None, :], buffer.load(L))


@blackwell
def test_gathers_arrive_at_the_barrier_of_the_pair(target):
    count, n = 32, 64
    half = [[count // 2]]
    rows = gl.DistributedLinearLayout([[1], [2], [4], [8]], [[0]] * 5, [[0]] * 2, half, [count])
    layout = gl.NVMMASharedLayout(128, 16, cga_layout=[[1, 0]])
    registers = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0], cga_layout=[[1, 0]])
    rng = np.random.default_rng(1)
    x = rng.standard_normal((50, n)).astype(np.float16)
    chosen = rng.integers(0, 50, count).astype(np.int32)
    desc = TensorDescriptor.from_tensor(x, [1, n], layout)
    for schedule in range(4):
        out = poisoned((count, n), "fp16")
        report = gather_kernel.simulate(
            desc, chosen, out, count, rows, registers, grid=(1,), num_ctas=2,
            schedule_seed=schedule,
        )  # fmt: skip
        assert report.ok, report.messages
        np.testing.assert_array_equal(out, x[chosen])
