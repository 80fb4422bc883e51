"""Hangs at mbarriers: the barrier, its phase, the partition and the line are said."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from reference import sim_only
from sessions import debug

import tile.sim
from tile import knobs
from tile.debugger import Request
from tile.debugger import text as shown
from tile.debugger.session import FINDING
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import mbarrier

pytestmark = [sim_only, pytest.mark.nvidia("mbarriers are NVIDIA's")]


@gluon.jit
def fill(y, ring, ready, empty, WRONG: gl.constexpr):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    for k in range(4):
        mbarrier.wait(empty, (k + 1) & 1)  # waits for room
        ring.store(gl.full([128], k, gl.int32, LAYOUT))
        mbarrier.arrive(ready)


@gluon.jit
def drain(y, ring, ready, empty, WRONG: gl.constexpr):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    i = gl.arange(0, 128, layout=LAYOUT)
    for k in range(4):
        mbarrier.wait(ready, k & 1)  # waits for data
        gl.store(y + k * 128 + i, ring.load(LAYOUT))
        if not WRONG:
            mbarrier.arrive(empty)


@gluon.jit
def ring(y, WRONG: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    ready, empty = mbarrier.allocate_mbarrier(), mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.init(empty, count=1)
    parts = (y, buffer, ready, empty, WRONG)
    gl.warp_specialize([(drain, parts), (fill, parts)], [1])


def line_of(comment: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))


def launch(wrong):
    y = np.zeros(512, np.int32)
    return lambda: ring[(1,)](y, wrong)


def on_hopper(launch):
    with knobs.runtime.scope():
        knobs.runtime.driver, knobs.runtime.sim_target = "sim", "cuda:90"
        launch()


def test_the_finding_names_partitions():
    with pytest.raises(tile.sim.SimulationError) as error:
        on_hopper(launch(True))
    said = str(error.value)
    assert "deadlock" in said
    # Who waits at which barrier, for which phase, and where.
    for warp, part, comment in ((0, "default partition", "data"), (4, "partition 0", "room")):
        who = rf"warp {warp} \({part}\) lanes 0xffffffff wait at an mbarrier that nobody completes "
        what = r"\(shared memory at 0x\w+, running phase of parity \d, 1 of 1 arrivals"
        line = line_of(f"waits for {comment}")
        assert re.search(who + what + rf".*test_hangs\.py:{line}\b", said), said


def test_a_debugger_stops_there():
    def script(stop):
        stop = yield Request()
        assert stop.reason == FINDING
        waits = {(w.warp, w.line): w for w in stop.waits() if w.waits_for}
        room, data = waits[4, line_of("waits for room")], waits[0, line_of("waits for data")]
        barriers = {offset: rest for _, offset, *rest in stop.native.mbarriers()}
        assert len(barriers) == 2
        for one in (room, data):
            assert one.mbarrier is not None and one.mbarrier[1] in barriers
            phase, pending, expected, count = barriers[one.mbarrier[1]]
            assert (phase, pending, expected, count) == (one.mbarrier[2], 1, 1, 0)
        assert (data.partition, room.partition) == ("default partition", "partition 0")
        assert room.mbarrier[1] != data.mbarrier[1]
        said = shown.waits(stop.waits())
        assert "warps 0, 1, 2, 3 (default partition) at" in said
        assert "warp 4 (partition 0) at" in said
        said = shown.barriers(stop)
        assert f"warp 4 waits for the end of phase {room.mbarrier[2]}" in said
        # And back: before it, warps went on.
        stop = yield Request("step", backwards=True)
        assert any(not w.waits_for for w in stop.waits())

    with pytest.raises(tile.sim.SimulationError, match="deadlock"):
        debug(launch(True), script, "cuda:90")


def test_its_twin_ends():
    on_hopper(launch(False))
    debug(launch(False), lambda stop: iter(()), "cuda:90")
