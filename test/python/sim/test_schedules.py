# ruff: noqa: E501  (PTX text reads better unbroken)
"""One launch under several schedules: right kernels give one result, wrong ones show."""

from __future__ import annotations

import numpy as np
import pytest
from test_async import BULK, INIT, IO, STORE, STORE_PARAMS, SYNC, WAIT, kinds, run
from test_warp_specialized import BUGS, launch

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(31)


def schedules(text, grid, block, args, params, **options):
    """Without checks: only results tell."""
    options = {"check": "none", "schedules": 12, "raise_on_finding": False} | options
    return run(text, grid, block, args, params, **options)


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_warp_specialized_product_is_right_in_any_order(seed):
    report, got, want = launch(steps=5, schedule_seed=seed)
    assert report.ok, report.messages
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("bug", ["full not waited for", "empty not waited for", "too few bytes expected"])  # fmt: skip
def test_its_bugs_show_in_the_result(bug):
    """What the checks say at once, some schedule shows without them."""
    wrong = 0
    for seed in range(1, 9):
        report, got, want = launch(*BUGS[bug][0], check="none", schedule_seed=seed)
        wrong += not report.ok or not np.array_equal(got, want)
    assert wrong


COPY = """
mov.u32 %r30, %tid.x; ld.param.u64 %rd1, [in]; mad.wide.u32 %rd1, %r30, 4, %rd1; ld.param.u64 %rd2, [out]; mad.wide.u32 %rd2, %r30, 4, %rd2;
mov.u32 %r1, buffer; mad.lo.u32 %r2, %r30, 4, %r1; st.shared.b32 [%r2], 7;
cp.async.ca.shared.global [%r2], [%rd1], 4; cp.async.commit_group; WAITING ld.shared.b32 %r3, [%r2]; st.global.b32 [%rd2], %r3;
"""
MINE = "mov.u32 %r1, %ctaid.x; ld.param.u64 %rd2, [out]; "
#: (right, wrong) kernels whose mistake no single run shows; arguments are in and out.
LATE = {
    "a copy not waited for": (
        COPY.replace("WAITING", "cp.async.wait_group 0;"),
        COPY.replace("WAITING", ""),
    ),
    "a copy of the wrong group waited for": (
        COPY.replace("WAITING", "cp.async.wait_all;"),
        COPY.replace("WAITING", "cp.async.wait_group 1;"),
    ),
    "a bulk load not waited for": (BULK.replace("WAIT", WAIT), BULK.replace("WAIT", "")),
    "CTAs that write one word": (
        MINE + "red.global.add.u32 [%rd2], %r1;",
        MINE + "st.global.u32 [%rd2], %r1;",
    ),
    "read, add, write": (
        MINE + "red.global.add.u32 [%rd2], 1;",
        MINE
        + "ld.volatile.global.u32 %r3, [%rd2]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%rd2], %r3;",
    ),
    "warps that write one word": (
        MINE + "mov.u32 %r3, %tid.x; atom.global.max.u32 %r4, [%rd2], %r3;",
        MINE + "mov.u32 %r3, %tid.x; shr.u32 %r3, %r3, 5; st.global.u32 [%rd2], %r3;",
    ),
}


@pytest.mark.parametrize("name", LATE)
def test_late_completion_and_other_orders_show(name):
    right, wrong = LATE[name]
    arrays = [rng.integers(1, 1 << 30, 256).astype(np.int32), np.zeros(256, np.int32)]
    grid, block = (1, 32) if "%ctaid" not in right else (8, 128)
    assert schedules(right, grid, block, arrays, IO).ok
    arrays[1][:] = 0
    report = schedules(wrong, grid, block, arrays, IO, schedules=40)
    assert kinds(report) == {"schedule-dependent"}, report.messages
    assert "of 'out' is" in report.messages[0] and "schedule_seed=" in report.messages[0]
    # Memory holds what the first launch, in the plain order, made of it.
    first = np.zeros_like(arrays[1])
    run(wrong, grid, block, [arrays[0], first], IO, check="none", threads=1)
    np.testing.assert_array_equal(arrays[1], first)


def test_a_bulk_store_reads_late():
    """The source is overwritten before the store has read it."""
    array = np.zeros((12, 16), np.int32)
    source = rng.integers(1, 50, (8, 8)).astype(np.int32)
    tensor = tile.sim.tensor_map(array.ctypes.data, "s32", (16, 12), (64,), (8, 8))
    text = STORE.replace("INSTRUCTION", "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group").replace("FENCE", "fence.proxy.async;")  # fmt: skip
    early = text.replace(
        "@%p1 cp.async.bulk.wait_group.read 0;",
        "@%p1 st.shared.b32 [buffer], 0; @%p1 cp.async.bulk.wait_group.read 0;",
    )
    options = {"allocations": [array]}
    assert schedules(text, 1, 16, [tensor, source], STORE_PARAMS, **options).ok
    report = schedules(early, 1, 16, [tensor, source], STORE_PARAMS, **options)
    assert kinds(report) == {"schedule-dependent"} and "'allocation 0'" in report.messages[0]


def test_a_bulk_store_writes_after_it_has_read():
    """`.read` waits for the source, not for the destination."""
    array = np.zeros((12, 16), np.int32)
    source = rng.integers(1, 50, (8, 8)).astype(np.int32)
    seen = np.zeros(1, np.int32)
    tensor = tile.sim.tensor_map(array.ctypes.data, "s32", (16, 12), (64,), (8, 8))
    text = STORE.replace("INSTRUCTION", "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group").replace("FENCE", "fence.proxy.async;")  # fmt: skip
    text += "ld.param.u64 %rd3, [at]; ld.param.u64 %rd4, [seen]; @%p1 ld.global.b32 %r7, [%rd3]; @%p1 st.global.b32 [%rd4], %r7;"
    params = [*STORE_PARAMS, ".param .u64 at", ".param .u64 seen"]
    arguments = [tensor, source, array.ctypes.data + 6 * 64 + 16, seen]
    options = {"allocations": [array]}
    whole = text.replace("wait_group.read", "wait_group")
    assert schedules(whole, 1, 16, arguments, params, **options).ok
    array[:] = 0
    report = schedules(text, 1, 16, arguments, params, **options)
    assert kinds(report) == {"schedule-dependent"} and "'seen'" in report.messages[0]


def test_multicast_and_remote_stores_in_any_order():
    source, out = rng.integers(0, 1000, 64).astype(np.int32), np.zeros((4, 64), np.int32)
    text = INIT + SYNC + """
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
mov.u32 %r1, %cluster_ctarank; setp.eq.and.u32 %p1, %r1, 0, %p15; ld.param.u64 %rd1, [in]; mov.b16 %h1, 15;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [buffer], [%rd1], 256, [bar], %h1;
""" + WAIT + """
mov.u32 %r2, buffer; shl.b32 %r3, %r30, 3; add.u32 %r4, %r2, %r3; ld.shared.v2.b32 {%r5, %r6}, [%r4];
ld.param.u64 %rd2, [out]; mov.u32 %r7, %ctaid.x; mad.wide.u32 %rd2, %r7, 256, %rd2; cvt.u64.u32 %rd3, %r3; add.u64 %rd2, %rd2, %rd3;
st.global.v2.b32 [%rd2], {%r5, %r6};
""" + SYNC  # fmt: skip
    assert run(text, 4, 32, [source, out], IO, cluster=4, schedules=8).ok
    assert (out == source).all()


def test_equal_seeds_give_equal_runs():
    wrong = LATE["read, add, write"][1]

    def once(seed):
        out = np.zeros(1, np.int32)
        arrays = [np.zeros(1, np.int32), out]
        run(wrong, 64, 64, arrays, IO, check="none", schedule_seed=seed)
        return int(out[0])

    results = [once(seed) for seed in range(1, 12)]
    assert results == [once(seed) for seed in range(1, 12)] and len(set(results)) > 1


def test_deadlocks_end_in_any_order():
    for seed in range(4):
        report = run(INIT + WAIT, 1, 64, [], [], schedule_seed=seed, raise_on_finding=False)
        assert kinds(report) == {"deadlock"}


def test_settings(monkeypatch):
    arrays = [np.zeros(32, np.int32), np.zeros(32, np.int32)]
    for option in ({"schedules": 0}, {"schedule_seed": -1}, {"schedules": "many"}):
        with pytest.raises(TileError, match="must be a number from"):
            run("", 1, 32, arrays, IO, **option)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "20")
    arrays[0][:] = 1
    report = run(COPY.replace("WAITING", ""), 1, 32, arrays, IO, check="none", raise_on_finding=False)  # fmt: skip
    assert kinds(report) == {"schedule-dependent"}


def test_seed_of_the_environment(monkeypatch):
    def result(**options):
        arrays = [np.ones(32, np.int32), np.zeros(32, np.int32)]
        run(COPY.replace("WAITING", ""), 1, 32, arrays, IO, check="none", **options)
        return arrays[1].tobytes()

    results = set()
    for seed in range(12):
        monkeypatch.setenv("TILE_SIM_SCHEDULE_SEED", str(seed))
        results.add(result())
        assert result() == result(schedule_seed=seed)
    assert len(results) > 1


def test_a_spinning_warp_does_not_hold_up_copies():
    """A warp waits for a copy and then sets a flag; another one spins on the flag."""
    text = INIT + """
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; setp.ge.u32 %p1, %r30, 32; @%p15 st.shared.u32 [buffer+512], 0; bar.sync 0; @%p1 bra SPIN;
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
@%p15 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [%rd1], 128, [bar];
""" + WAIT + """
@%p15 st.release.cta.shared.u32 [buffer+512], 1; bra DONE;
SPIN: ld.acquire.cta.shared.u32 %r1, [buffer+512]; setp.eq.u32 %p2, %r1, 0; @%p2 bra SPIN;
ld.shared.u32 %r2, [buffer+4]; st.global.u32 [%rd2], %r2; DONE:
"""  # fmt: skip
    for seed in range(1, 9):
        arrays = [np.arange(32, dtype=np.int32), np.zeros(32, np.int32)]
        assert run(text, 1, 64, arrays, IO, schedule_seed=seed).ok
        assert arrays[1][0] == 1


MEETINGS = {
    "all arrive": (
        "red.release.gpu.global.add.u32 [%rd2], 1;"
        "SPIN: ld.acquire.gpu.global.u32 %r2, [%rd2]; setp.lt.u32 %p1, %r2, 40; @%p1 bra SPIN;"
    ),
    "the last one stores": (
        "setp.eq.u32 %p2, %r1, 39; @%p2 st.release.gpu.global.u32 [%rd2], 40;"
        "SPIN: ld.acquire.gpu.global.u32 %r2, [%rd2]; setp.eq.u32 %p1, %r2, 0; @%p1 bra SPIN;"
    ),
}


@pytest.mark.parametrize("text", MEETINGS.values(), ids=MEETINGS.keys())
def test_ctas_wait_for_one_that_starts_late(text):
    """More than have their turns at a time: others start all the same."""
    for seed in range(1, 5):
        out = np.zeros(1, np.int32)
        run(MINE + text, 40, 1, [out, out], IO, schedule_seed=seed, max_instructions=20_000_000)
        assert out[0] == 40


ELECTED = """
mov.u32 %r30, %tid.x; ld.param.u64 %rd2, [out];
elect.sync %r1|%p1, -1; elect.sync %r2|%p2, -1;
mad.wide.u32 %rd1, %r30, 4, %rd2; selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2;
add.u32 %r3, %r3, %r4; st.global.u32 [%rd1], %r3;
"""


def test_any_lane_may_be_elected():
    """The same one each time. Without a schedule, it is the first one."""
    out = np.zeros(32, np.int32)
    leaders = []
    for seed in range(24):
        run(ELECTED, 1, 32, [out], [".param .u64 out"], schedule_seed=seed)
        assert sorted(out) == [0] * 31 + [3]
        leaders.append(int(out.argmax()))
    assert leaders[0] == 0 and len(set(leaders)) > 4


#: One lane of the second warp fills a slot. The first warp waits, and one lane hands it back.
LANES = """
mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0; mov.u32 %r31, bar; mov.u32 %r5, 0;
@%p15 mbarrier.init.shared.b64 [%r31], 1; @%p15 mbarrier.init.shared.b64 [%r31+8], 1; bar.sync 0;
setp.gt.u32 %p3, %r30, 32; @%p3 bra END; setp.eq.u32 %p2, %r30, 32;
STEPS: and.b32 %r6, %r5, 1; @%p2 bra FILL;
WAITFULL: mbarrier.try_wait.parity.shared.b64 %p4, [%r31], %r6; @!%p4 bra WAITFULL;
SYNC
@%p15 mbarrier.arrive.shared.b64 _, [%r31+8]; bra NEXT;
FILL: mbarrier.arrive.shared.b64 _, [%r31];
WAITFREE: mbarrier.try_wait.parity.shared.b64 %p4, [%r31+8], %r6; @!%p4 bra WAITFREE;
NEXT: add.u32 %r5, %r5, 1; setp.lt.u32 %p5, %r5, 60; @%p5 bra STEPS;
END:
"""


def test_lanes_may_leave_waits_late():
    """A lane that is two phases late waits for the third one, which does not come."""
    shared = ".shared .align 8 .b64 bar[2];"
    options = {"shared": shared, "schedules": 40, "schedule_seed": 1, "raise_on_finding": False}
    assert run(LANES.replace("SYNC", "bar.warp.sync -1;"), 1, 64, [], [], **options).ok
    report = run(LANES.replace("SYNC", ""), 1, 64, [], [], **options)
    assert kinds(report) == {"deadlock"}, report.messages


COMMITS = """
mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0; mov.u32 %r31, bar;
@%p15 mbarrier.init.shared.b64 [%r31], 1; @%p15 mbarrier.init.shared.b64 [%r31+8], 1; bar.sync 0;
@%p15 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r31];
@%p15 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r31+8];
FIRST
LAST: mbarrier.try_wait.parity.shared.b64 %p4, [%r31+8], 0; @!%p4 bra LAST;
bar.sync 0; @%p15 mbarrier.inval.shared.b64 [%r31];
"""


def test_commits_arrive_in_any_order():
    """So the last one says nothing of a barrier that others arrive at."""
    options = {
        "shared": ".shared .align 8 .b64 bar[2];", "schedules": 40, "schedule_seed": 1,
        "raise_on_finding": False,
    }  # fmt: skip
    wait = "FIRST: mbarrier.try_wait.parity.shared.b64 %p4, [%r31], 0; @!%p4 bra FIRST;"
    assert run(COMMITS.replace("FIRST\n", wait), 1, 32, [], [], **options).ok
    report = run(COMMITS.replace("FIRST\n", ""), 1, 32, [], [], **options)
    assert kinds(report) == {"mbarrier-misuse"}, report.messages
