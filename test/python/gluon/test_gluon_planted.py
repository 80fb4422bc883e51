"""Mistakes in explicit programs: the simulator finds each of them, and nothing in its corrected
twin. Each kernel has a switch for the mistake."""

from __future__ import annotations

import re

import pytest
from reference import poisoned, sim_only
from reference import random as values

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.ampere import async_copy
from tile.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor

pytestmark = [sim_only, pytest.mark.parametrize("target", ["cuda:90"], indirect=True)]

GRID = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
SHARED = gl.constexpr(gl.NVMMASharedLayout(128, 16))


@gluon.jit
def offsets(M: gl.constexpr, N: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, GRID))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, GRID))
    return rows[:, None] * N + columns[None, :]


@gluon.jit
def copy_not_waited_for(x, y, WRONG: gl.constexpr):
    """cp.async: the buffer is read while it is filled."""
    buffer = gl.allocate_shared_memory(gl.float16, [64, 64], SHARED)
    async_copy.async_load(buffer, x + offsets(64, 64))
    async_copy.commit_group()
    async_copy.wait_group(1 if WRONG else 0)
    gl.store(y + offsets(64, 64), buffer.load(GRID))


@gluon.jit
def copy_not_committed(x, y, WRONG: gl.constexpr):
    """A wait counts groups: it does not wait for what is in none."""
    buffer = gl.allocate_shared_memory(gl.float16, [64, 64], SHARED)
    async_copy.async_load(buffer, x + offsets(64, 64))
    if not WRONG:
        async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(y + offsets(64, 64), buffer.load(GRID))


@gluon.jit
def bulk_copy_not_waited_for(src, y, WRONG: gl.constexpr):
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta)
    tma.async_load(src, [0, 0], barrier, buffer)
    if not WRONG:
        mbarrier.wait(barrier, 0)
    gl.store(y + offsets(64, 64), buffer.load(GRID))
    if WRONG:
        mbarrier.wait(barrier, 0)


@gluon.jit
def wrong_phase(src, y, WRONG: gl.constexpr):
    """The phase before the first has ended: the wait does not wait."""
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta)
    tma.async_load(src, [0, 0], barrier, buffer)
    mbarrier.wait(barrier, 1 if WRONG else 0)
    gl.store(y + offsets(64, 64), buffer.load(GRID))
    if WRONG:
        mbarrier.wait(barrier, 0)


@gluon.jit
def too_few_bytes(src, y, WRONG: gl.constexpr):
    """The phase ends when half of the block has arrived."""
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta // 2 if WRONG else src.nbytes_per_cta)
    tma.async_load(src, [0, 0], barrier, buffer)
    mbarrier.wait(barrier, 0)
    gl.store(y + offsets(64, 64), buffer.load(GRID))


@gluon.jit
def too_many_bytes(src, y, WRONG: gl.constexpr):
    """The phase never ends."""
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta * 2 if WRONG else src.nbytes_per_cta)
    tma.async_load(src, [0, 0], barrier, buffer)
    mbarrier.wait(barrier, 0)
    gl.store(y + offsets(64, 64), buffer.load(GRID))


@gluon.jit
def barrier_not_initialised(src, y, WRONG: gl.constexpr):
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    if not WRONG:
        mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta)
    tma.async_load(src, [0, 0], barrier, buffer)
    mbarrier.wait(barrier, 0)
    gl.store(y + offsets(64, 64), buffer.load(GRID))


@gluon.jit
def source_of_a_store_written(dst, y, WRONG: gl.constexpr):
    """A bulk store reads its buffer while the next tile is written to it."""
    buffer = gl.allocate_shared_memory(dst.dtype, dst.block_shape, dst.layout)
    for k in gl.static_range(2):
        buffer.store(gl.full([64, 64], k, gl.float16, GRID))
        fence_async_shared()
        tma.async_store(dst, [0, k * 64], buffer)
        tma.store_wait(1 if WRONG else 0)
    tma.store_wait(0)


@gluon.jit
def sum_not_waited_for(a, y, WRONG: gl.constexpr):
    """The buffers of a dot are filled again while it reads them."""
    MMA: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    sa = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, a.nbytes_per_cta)
    tma.async_load(a, [0, 0], barrier, sa)
    mbarrier.wait(barrier, 0)
    acc = warpgroup_mma_init(gl.zeros([64, 64], gl.float32, MMA))
    acc = warpgroup_mma(sa, sa, acc, is_async=True)
    if WRONG:
        sa.store(gl.full([64, 64], 1.0, gl.float16, GRID))
        acc = warpgroup_mma_wait(0, deps=(acc,))
    else:
        acc = warpgroup_mma_wait(0, deps=(acc,))
        sa.store(gl.full([64, 64], 1.0, gl.float16, GRID))
    rows = gl.arange(0, 64, layout=gl.SliceLayout(1, MMA))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, MMA))
    gl.store(y + rows[:, None] * 64 + columns[None, :], acc.to(gl.float16))


@gluon.jit
def fill(y, ring, ready, empty, WRONG: gl.constexpr):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    for k in range(4):
        if not WRONG:
            mbarrier.wait(empty, (k + 1) & 1)
        ring.store(gl.full([128], k, gl.int32, LAYOUT))
        mbarrier.arrive(ready)


@gluon.jit
def drain(y, ring, ready, empty):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    i = gl.arange(0, 128, layout=LAYOUT)
    for k in range(4):
        mbarrier.wait(ready, k & 1)
        gl.store(y + k * 128 + i, ring.load(LAYOUT))
        mbarrier.arrive(empty)


@gluon.jit
def ring_not_empty(x, y, WRONG: gl.constexpr):
    """A partition fills a buffer that the other one still reads."""
    ring = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    ready, empty = mbarrier.allocate_mbarrier(), mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.init(empty, count=1)
    gl.warp_specialize(
        [(drain, (y, ring, ready, empty)), (fill, (y, ring, ready, empty, WRONG))], [1]
    )


@gluon.jit
def waits_for_nobody(x, y, WRONG: gl.constexpr):
    """Two arrivals are expected, one comes."""
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=2 if WRONG else 1)
    mbarrier.arrive(barrier)
    mbarrier.wait(barrier, 0)
    i = gl.arange(0, 128, layout=gl.BlockedLayout([1], [32], [4], [0]))
    gl.store(y + i, gl.load(x + i))


@gluon.jit
def out_of_bounds(x, y, WRONG: gl.constexpr):
    i = gl.arange(0, 8192, layout=gl.BlockedLayout([4], [32], [4], [0]))
    mask = i < (8192 if WRONG else 4096)
    gl.store(y + i, gl.load(x + i, mask), mask)


def descriptor(array):
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    return TensorDescriptor.from_tensor(array, [64, 64], layout)


#: What finds the mistake, and which argument is a descriptor.
PLANTED = [
    (copy_not_waited_for, "async-race", ""),
    (copy_not_committed, "async-race", ""),
    (bulk_copy_not_waited_for, "async-race", "x"),
    (wrong_phase, "async-race", "x"),
    (too_few_bytes, "deadlock", "x"),
    (too_many_bytes, "deadlock", "x"),
    (barrier_not_initialised, "mbarrier-misuse", "x"),
    (source_of_a_store_written, "async-race", "y"),
    (sum_not_waited_for, "async-race", "x"),
    (ring_not_empty, "race", ""),
    (waits_for_nobody, "deadlock", ""),
    (out_of_bounds, "out-of-bounds", ""),
]


def arguments(function, described):
    dtype = "i32" if function is ring_not_empty else "fp16"
    x, y = values((64, 64), dtype, 1), poisoned((64, 128), dtype)
    if function is out_of_bounds:
        y = poisoned((64, 64), dtype)
    if described == "x":
        return descriptor(x), y
    if described == "y":
        return descriptor(y), x
    return x, y


def lines_of(text):
    """The lines of this file that a finding names."""
    return {int(line) for line in re.findall(r"test_gluon_planted\.py(?::|\", line )(\d+)", text)}


cases = pytest.mark.parametrize(
    "function,kind,described", PLANTED, ids=[case[0].__name__ for case in PLANTED]
)


@cases
def test_the_mistake_is_found(function, kind, described, target):
    found = {}
    for seed in range(8):
        try:
            function.simulate(*arguments(function, described), True, grid=(1,), schedule_seed=seed)
        except tile.sim.SimulationError as error:
            found.setdefault(error.report.findings[0]["kind"], str(error))
    assert kind in found, found
    # It names a line of the kernel or of a partition of it.
    first = function.fn.__code__.co_firstlineno
    last = first + len(function.raw_src)
    partitions = [fill, drain] if function is ring_not_empty else []
    named = set(range(first, last)).union(
        *(range(p.fn.__code__.co_firstlineno, first) for p in partitions)
    )
    assert lines_of(found[kind]) & named, found[kind]


@cases
def test_its_twin_is_clean(function, kind, described, target):
    for seed in range(8):
        report = function.simulate(
            *arguments(function, described), False, grid=(1,), schedule_seed=seed
        )
        assert report.ok, report.messages
