"""Sums that dots still add to, in variables of loops: alone, in tuples and in aggregates."""

from __future__ import annotations

import numpy as np
import pytest
from addresses import pointers
from reference import poisoned, random, sim_only

import tile
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor

hopper = pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
MMA = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
SHARED = gl.NVMMASharedLayout(128, 16)
ROWS = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])


@gluon.aggregate
class Sum:
    """A sum, and whether something was added to it."""

    acc: gl.tensor
    begun: gl.tensor

    @gluon.jit
    def add(self, a, b):
        acc = warpgroup_mma(a, b, self.acc, use_acc=self.begun, is_async=True)
        return Sum(acc, gl.to_tensor(True))

    @gluon.jit
    def wait(self):
        return Sum(warpgroup_mma_wait(0, deps=(self.acc,)), self.begun)


@gluon.jit
def sums_kernel(a_ptr, b_ptr, c_ptr, n, HOW: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], SHARED)
    b = gl.allocate_shared_memory(gl.float16, [64, 64], SHARED)
    a.store(gl.load(pointers(a_ptr, 64, 64, ROWS)))
    b.store(gl.load(pointers(b_ptr, 64, 64, ROWS)))
    fence_async_shared()
    zero = gl.zeros([64, 64], gl.float32, MMA)
    if HOW == "alone":
        acc = zero
        for _ in range(n):
            acc = warpgroup_mma(a, b, acc, is_async=True)
        result = warpgroup_mma_wait(0, deps=(acc,))
    elif HOW == "tuple":
        pair = (1, (zero, 2))
        for _ in range(n):
            pair = (pair[0] + 1, (warpgroup_mma(a, b, pair[1][0], is_async=True), 2))
        result = warpgroup_mma_wait(0, deps=(pair[1][0],))
    elif HOW == "while":
        total = Sum(zero, gl.to_tensor(False))
        i = 0
        while i < n:
            total = total.add(a, b)
            i += 1
        result = warpgroup_mma_wait(0, deps=(total.acc,))
    elif HOW == "break":
        total = Sum(zero, gl.to_tensor(False))
        for i in range(100):
            if i >= n:
                break
            total = total.add(a, b)
        result = warpgroup_mma_wait(0, deps=(total.acc,))
    elif HOW == "branch":
        acc = zero
        if n > 0:
            acc = warpgroup_mma(a, b, acc, is_async=True)
        if n > 1:
            acc = warpgroup_mma(a, b, acc, is_async=True)
            acc = warpgroup_mma(a, b, warpgroup_mma_wait(0, deps=(acc,)))
        result = warpgroup_mma_wait(0, deps=(acc,))
    elif HOW == "nested":
        total = Sum(zero, gl.to_tensor(False))
        for i in range(n):
            for _ in range(i, i + 1):
                total = total.add(a, b)
        result = warpgroup_mma_wait(0, deps=(total.acc,))
    elif HOW == "waited":  # Of the last iteration, a tensor is left.
        total = Sum(warpgroup_mma_init(zero), gl.to_tensor(False))
        for _ in range(n):
            total = total.add(a, b).wait()
        result = total.wait().acc
    else:
        total = Sum(zero, gl.to_tensor(False))
        for _ in range(n):
            total = total.wait()
            total = total.add(a, b)
        result = total.wait().acc
    gl.store(pointers(c_ptr, 64, 64, MMA), result)


@hopper
@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "how", ["alone", "tuple", "while", "break", "branch", "nested", "waited", "aggregate"]
)
def test_a_sum_that_loops_carry(how, n, target):
    a, b = random((64, 64), "fp16", 1), random((64, 64), "fp16", 2)
    c = poisoned((64, 64), "fp32")
    sums_kernel[(1,)](a, b, c, n, how)
    expected = n * (a.astype(np.float64) @ b.astype(np.float64))
    np.testing.assert_allclose(c, expected, rtol=1e-3, atol=1e-3)


@gluon.jit
def unwaited_kernel(a_ptr, c_ptr, n, AFTER: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], SHARED)
    total = Sum(gl.zeros([64, 64], gl.float32, MMA), gl.to_tensor(False))
    for _ in range(n):
        if not AFTER:
            gl.store(pointers(c_ptr, 64, 64, MMA), total.acc + 1)
        total = total.add(a, a)
    gl.store(pointers(c_ptr, 64, 64, MMA), total.acc + 1)


@hopper
@pytest.mark.parametrize("after", [False, True])
def test_a_sum_is_waited_for_before_it_is_read(after, target):
    c = poisoned((64, 64), "fp32")
    with pytest.raises(tile.CompilationError, match="unsupported operand") as error:
        unwaited_kernel[(1,)](random((64, 64), "fp16", 1), c, 2, after)
    assert "warpgroup_mma_accumulator" in str(error.value)


@gluon.jit
def other_kernel(n):
    pair = (gl.zeros([64, 64], gl.float32, MMA), 1)
    for _ in range(n):
        pair = (gl.zeros([64, 64], gl.float16, MMA), 1)
    gl.static_assert(pair[0].dtype == gl.float16)


@hopper
def test_other_types_do_not_change(target):
    with pytest.raises(tile.CompilationError, match="changes its type in the loop"):
        other_kernel[(1,)](2)


# A mistake that does no harm to the result: a copy that nobody waits for.


@gluon.jit
def copies_kernel(x_desc, y_ptr, steps, L: gl.constexpr):
    M: gl.constexpr = x_desc.block_shape[0]
    N: gl.constexpr = x_desc.block_shape[1]
    buffers = gl.allocate_shared_memory(x_desc.dtype, [2, M, N], x_desc.layout)
    bars = mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(bars.index(i), count=1)
    mbarrier.expect(bars.index(0), x_desc.nbytes_per_cta)
    tma.async_load(x_desc, [0, 0], bars.index(0), buffers.index(0))
    for i in range(steps):
        ahead = i + 1
        bar = bars.index(ahead % 2)
        # Behind the last step, this should have a predicate.
        mbarrier.expect(bar, x_desc.nbytes_per_cta)
        tma.async_load(x_desc, [ahead * M, 0], bar, buffers.index(ahead % 2))
        mbarrier.wait(bars.index(i % 2), (i // 2) & 1)
        x = buffers.index(i % 2).load(L)
        gl.barrier()
        gl.store(pointers(y_ptr + i * M * N, M, N, L), x)


@sim_only
@hopper
def test_a_copy_that_nobody_waits_for(target, tmp_path, monkeypatch):
    x, y = random((40, 64), "fp16", 3), poisoned((40, 64), "fp16")
    given = (TensorDescriptor.from_tensor(x, [8, 64], SHARED), y, 5)
    rows = gl.BlockedLayout([1, 2], [1, 32], [4, 1], [1, 0])
    with pytest.raises(tile.sim.SimulationError, match="async-exit") as error:
        copies_kernel[(1,)](*given, rows)
    assert "tma.async_load(x_desc, [ahead * M, 0]" in str(error.value)
    # The program runs where this finding is known.
    reason = "the copy behind the last step writes what nobody reads"
    known = tile.sim.Suppression("async-exit", "test_gluon_in_flight.py:*", reason)
    y.fill(-1)
    report = copies_kernel.simulate(*given, rows, grid=(1,), suppressions=[known])
    np.testing.assert_array_equal(y, x)
    assert report.suppressed and {f["kind"] for f in report.suppressed} == {"async-exit"}
    path = tmp_path / "known"
    path.write_text(f"async-exit test_gluon_in_flight.py:* {reason}\n")
    monkeypatch.setenv("TILE_SIM_SUPPRESSIONS", str(path))
    y.fill(-1)
    copies_kernel[(1,)](*given, rows)
    np.testing.assert_array_equal(y, x)
    path.write_text(f"async-race test_gluon_in_flight.py:* {reason}\n")
    with pytest.raises(TileError, match="async-exit"):
        copies_kernel[(1,)](*given, rows)
