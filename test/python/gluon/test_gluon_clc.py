"""Programs that take over the work of others that have not started: each tile is done once."""

from __future__ import annotations

import numpy as np
import pytest
from reference import sim_only

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import clc, cluster, mbarrier

pytestmark = sim_only
targets = pytest.mark.parametrize("target", ["cuda:100", "cuda:120"], indirect=True)


@gluon.jit
def add_one(
    out_ptr, taken_ptr, WIDE: gl.constexpr, BLOCK: gl.constexpr, LAYOUT: gl.constexpr,
    ANSWER: gl.constexpr, CLUSTER: gl.constexpr, WAIT: gl.constexpr, MULTICAST: gl.constexpr,
):  # fmt: skip
    """Adds one to the tile of the program, then to those that it takes over."""
    answer = gl.allocate_shared_memory(gl.int64, [2], ANSWER)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    x, y = gl.program_id(0), gl.program_id(1)
    phase = 0
    found = True
    while found:
        mbarrier.expect(bar, 16)
        # All blocks expect the answer, and have read the last one.
        if CLUSTER:
            cluster.barrier()
        else:
            gl.barrier()
        clc.try_cancel(answer, bar, multicast=MULTICAST)
        offsets = (y * WIDE + x) * BLOCK + gl.arange(0, BLOCK, layout=LAYOUT)
        gl.atomic_add(out_ptr + offsets, 1)
        if WAIT:
            mbarrier.wait(bar, phase)
        phase = phase ^ 1
        got = clc.load_result(answer)
        found = got.is_canceled()
        x, y = got.program_id(0), got.program_id(1)
        if found:
            gl.atomic_add(taken_ptr, 1)
    mbarrier.invalidate(bar)


def run(blocks=1, seed=0, wait=True, multicast=False):
    wide, tall, block = 6, 4, 64
    layout = gl.BlockedLayout([1], [32], [2], [0], cga_layout=[[1]] * (blocks - 1))
    answer = gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout=[[0]] * (blocks - 1))
    out, taken = np.zeros(wide * tall * block, np.int32), np.zeros(1, np.int32)
    report = add_one.simulate(
        out, taken, wide, block, layout, answer, blocks > 1, wait, multicast,
        grid=(wide, tall), num_warps=2, num_ctas=blocks, schedule_seed=seed,
    )  # fmt: skip
    assert report.ok, report.messages
    np.testing.assert_array_equal(out, 1)
    return int(taken[0])


@targets
@pytest.mark.parametrize(("blocks", "multicast"), [(1, False), (2, False), (2, True)])
def test_each_tile_is_done_once(blocks, multicast, target):
    """The blocks of a cluster ask once, and all get the answer, whether the program says so or
    not."""
    assert any([run(blocks, seed, multicast=multicast) for seed in range(6)])


@targets
def test_an_answer_that_is_not_waited_for(target):
    with pytest.raises(tile.sim.SimulationError) as error:
        for seed in range(8):
            run(seed=seed, wait=False)
    kinds = {finding["kind"] for finding in error.value.report.findings}
    assert kinds & {"async-race", "uninitialized", "race", "bad-answer", "mbarrier-misuse"}, kinds
