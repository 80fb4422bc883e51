"""Several GPUs at once: kernels that wait for other ranks, and what orders their accesses."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from ptxlib import HEADER
from reference import on_nvidia, sim_only

import tile
import tile.language as tl
from tile.errors import TileError

pytestmark = sim_only

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(autouse=True)
def ends(monkeypatch):
    """Who waits in vain does not wait for long."""
    monkeypatch.setenv("TILE_SIM_MAX_INSTRUCTIONS", "2000000")


@pytest.mark.parametrize("world", [2, 3])
def test_the_examples(world, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    import multi_gpu
    from device import Device

    device = Device()
    multi_gpu.main(device, world)
    assert (device.checked, device.failures) == (4, 0)


#: What an exchange may forget. `None` is the right one.
MISTAKES = (None, "no signal", "no wait", "gpu scope", "relaxed", "no end")


@tile.jit
def exchange(addresses, flags, out_ptr, rank, MISTAKE: tl.constexpr, N: tl.constexpr):
    """Each rank stores into the other's memory, and reads what it got."""
    SCOPE: tl.constexpr = "gpu" if MISTAKE == "gpu scope" else "sys"
    SEM: tl.constexpr = "relaxed" if MISTAKE == "relaxed" else "release"
    i = tl.arange(0, N)
    other = 1 - rank
    theirs = tl.load(addresses + other).to(tl.pointer_type(tl.int32))
    mine = tl.load(addresses + rank).to(tl.pointer_type(tl.int32))
    signal = tl.load(flags + other).to(tl.pointer_type(tl.int32))
    waits = tl.load(flags + rank).to(tl.pointer_type(tl.int32))
    tl.store(theirs + i, i * 10 + rank)
    if MISTAKE != "no signal":
        tl.atomic_add(signal, 1, sem=SEM, scope=SCOPE)
    if MISTAKE != "no wait" and MISTAKE != "no signal":
        while tl.atomic_load(waits, sem="acquire", scope="sys") < 1:
            pass
    tl.store(out_ptr + i, tl.load(mine + i))
    if MISTAKE != "no end":
        # The other one has read its memory before this one stores there again.
        tl.atomic_add(signal + 1, 1, sem="release", scope="sys")
        while tl.atomic_load(waits + 1, sem="acquire", scope="sys") < 1:
            pass
    tl.store(theirs + i, i)


def run_exchange(mistake):
    memory = [np.zeros(128, np.int32) for _ in range(2)]
    flags = [np.zeros(2, np.int32) for _ in range(2)]
    out = [np.full(128, -1, np.int32) for _ in range(2)]
    addresses, signals = (np.array([x.ctypes.data for x in of], np.int64) for of in (memory, flags))
    with tile.sim.reachable(*memory, *flags), tile.sim.launch_group() as group:
        for rank in range(2):
            exchange[(1,)](addresses, signals, out[rank], rank, MISTAKE=mistake, N=128)
    return group, out


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_exchange(seed, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULE_SEED", str(seed))
    group, out = run_exchange(None)
    for rank in range(2):
        np.testing.assert_array_equal(out[rank], np.arange(128) * 10 + 1 - rank)
    assert [report.ok for report in group.reports] == [True, True]


@pytest.mark.parametrize("mistake", MISTAKES[1:])
def test_planted_mistakes(mistake):
    if mistake in ("gpu scope", "relaxed") and not on_nvidia():
        pytest.skip("the assembly of AMD GPUs says by other instructions how far an order reaches")
    with pytest.raises(tile.sim.SimulationError) as caught:
        run_exchange(mistake)
    message = str(caught.value)
    assert "race: " in message and "GPU 0, program" in message and "GPU 1, program" in message
    if mistake == "no wait":
        assert "no release and acquire order the two" in message
        assert 'sem="release", scope="sys"' in message


@tile.jit
def produce(to_ptr, flag_ptr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(to_ptr + i, i + 1)
    tl.atomic_add(flag_ptr, 1, sem="release", scope="sys")


@tile.jit
def consume(from_ptr, flag_ptr, out_ptr, count, N: tl.constexpr):
    while tl.atomic_load(flag_ptr, sem="acquire", scope="sys") < count:
        pass
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(from_ptr + i) * 2)


@pytest.mark.parametrize("waits_first", [False, True])
def test_gpus_run_different_kernels(waits_first):
    """Whoever waits may have been launched first."""
    data, flag, out = np.zeros(256, np.int32), np.zeros(1, np.int32), np.zeros(256, np.int32)
    launches = [
        lambda: produce[(8,)](data, flag, N=32),
        lambda: consume[(1,)](data, flag, out, 8, N=256, num_warps=8),
    ]
    with tile.sim.launch_group() as group:
        for launch in reversed(launches) if waits_first else launches:
            launch()
    np.testing.assert_array_equal(out, (np.arange(256) + 1) * 2)
    assert len(group.reports) == 2


def test_more_programs_than_a_gpu_has_room_for():
    """Programs of all GPUs begin in turn, so the first GPU's do not keep out the others'."""
    data, flag, out = (
        np.zeros(2048, np.int32),
        np.zeros(1, np.int32),
        np.zeros((1500, 32), np.int32),
    )

    @tile.jit
    def wait_all(flag_ptr, out_ptr, count, N: tl.constexpr):
        while tl.atomic_load(flag_ptr, sem="acquire", scope="sys") < count:
            pass
        i = tl.arange(0, N)
        tl.store(out_ptr + tl.program_id(0) * N + i, i)

    with tile.sim.launch_group():
        wait_all[(1500,)](flag, out, 64, N=32, num_warps=1)
        produce[(64,)](data, flag, N=32, num_warps=1)
    assert (out == np.arange(32)).all()


def test_a_wait_for_nobody():
    flag, out, data = np.zeros(1, np.int32), np.zeros(32, np.int32), np.zeros(32, np.int32)
    with (
        pytest.raises(tile.sim.SimulationError, match="did not end") as caught,
        tile.sim.launch_group(),
    ):
        consume[(1,)](data, flag, out, 2, N=32)
        produce[(1,)](data, flag, N=32)
    assert "GPU 0, program (0, 0, 0)" in str(caught.value)


def test_an_access_out_of_bounds_names_gpu_and_memory():
    @tile.jit
    def beyond(p, offset):
        tl.store(p + offset, 1)

    memory = [np.zeros(4, np.int32) for _ in range(2)]
    with pytest.raises(tile.sim.SimulationError) as caught, tile.sim.launch_group():
        beyond[(1,)](memory[0], 3)
        beyond[(1,)](memory[1], 5)
    assert "'argument p of GPU 1'" in str(caught.value) and "GPU 1, program" in str(caught.value)


def test_lanes_that_masks_switch_off():
    """The check of undefined lanes launches the whole group again."""

    @tile.jit
    def forgets(p, out_ptr, flag_ptr, n, other: tl.constexpr, N: tl.constexpr):
        i = tl.arange(0, N)
        x = tl.load(p + i, mask=i < n, other=other)
        tl.store(out_ptr, tl.sum(x, axis=0))
        tl.atomic_add(flag_ptr, 1, sem="release", scope="sys")

    def run(other):
        data, flag = np.ones(64, np.int32), np.zeros(1, np.int32)
        sums, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
        with tile.sim.launch_group():
            consume[(1,)](sums, flag, out, 1, N=1)
            forgets[(1,)](data, sums, flag, 40, other, N=64)
        assert out[0] == 80

    run(0)
    with pytest.raises(tile.sim.SimulationError, match="undefined-lanes"):
        run(None)


def test_printing_and_variables_are_of_each_gpu(capfd):
    @tile.jit
    def say(p, rank):
        tl.device_assert(rank < 2, "a message is a variable of the module")
        tl.device_print("rank", rank)
        tl.store(p, rank)

    out = [np.zeros(1, np.int32) for _ in range(2)]
    with tile.sim.launch_group() as group:
        for rank in range(2):
            say[(1,)](out[rank], rank, debug=True, num_warps=1)
    assert [int(o[0]) for o in out] == [0, 1]
    for rank in range(2):
        assert f"{rank}" in group.reports[rank].output


def test_schedules_agree(monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    data, flag, out = np.zeros(64, np.int32), np.zeros(1, np.int32), np.zeros(64, np.int32)
    with tile.sim.launch_group():
        produce[(2,)](data, flag, N=32)
        consume[(1,)](data, flag, out, 2, N=64)
    np.testing.assert_array_equal(out, (np.arange(64) + 1) * 2)


def test_a_group_that_failed_or_is_empty_leaves_nothing():
    x = np.zeros(32, np.int32)
    with pytest.raises(ZeroDivisionError), tile.sim.launch_group():
        produce[(1,)](x, x[:1], N=32)
        raise ZeroDivisionError
    assert not x.any()
    with pytest.raises(TileError, match="no launch of the simulator"), tile.sim.launch_group():
        pass
    flag = np.zeros(1, np.int32)
    produce[(1,)](x, flag, N=32)
    assert flag[0] == 1


#: A chain of three threads: the first stores, and the last one reads. Each hands over by a flag.
CHAIN = """
.visible .entry k(.param .u64 data, .param .u64 roles) {{
  .reg .b64 %rd<5>; .reg .b32 %r<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [roles];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.b32 %r2, [%rd2];
  mov.b32 %r3, 1;
  setp.eq.u32 %p1, %r2, 1;
  @%p1 bra SECOND;
  setp.eq.u32 %p1, %r2, 2;
  @%p1 bra THIRD;
  st.global.b32 [%rd1], 7;
  {release0}
  ret;
SECOND:
  {acquire0}
  setp.ne.u32 %p2, %r4, 1;
  @%p2 bra SECOND;
  {release1}
  ret;
THIRD:
  {acquire1}
  setp.ne.u32 %p2, %r4, 1;
  @%p2 bra THIRD;
  ld.global.b32 %r5, [%rd1];
  st.global.b32 [%rd1+12], %r5;
  ret;
}}
"""
SCOPES = ("cta", "gpu", "sys")


def flag_at(i):
    return f"[%rd1+{4 * i + 4}]"


def store_of(i, scope, fence):
    if fence:
        return f"fence.acq_rel.{scope}; st.relaxed.sys.global.b32 {flag_at(i)}, %r3;"
    return f"st.release.{scope}.global.b32 {flag_at(i)}, %r3;"


def load_of(i, scope, fence):
    if fence:
        return f"ld.relaxed.sys.global.b32 %r4, {flag_at(i)}; fence.acq_rel.sys;"
    return f"ld.acquire.{scope}.global.b32 %r4, {flag_at(i)};"


def finds(gpus, releases, acquires, fence):
    text = HEADER + CHAIN.format(
        **{f"release{i}": store_of(i, releases[i], fence) for i in range(2)},
        **{f"acquire{i}": load_of(i, acquires[i], fence) for i in range(2)},
    )
    data = np.zeros(4, np.int32)
    with tile.sim.launch_group() as group:
        for gpu in sorted(set(gpus)):
            roles = np.array([r for r in range(3) if gpus[r] == gpu], np.int32)
            tile.sim.launch(
                text, "k", len(roles), 1, [data, roles], raise_on_finding=False,
                max_instructions=100_000,
            )  # fmt: skip
    assert all(f["kind"] == "race" for r in group.reports for f in r.findings), group.reports
    return any(report.findings for report in group.reports)


@pytest.mark.parametrize("gpus", list(itertools.product(range(2), repeat=3)))
def test_chains_of_every_scope(gpus):
    """An edge orders two threads if both of its scopes have both threads in them. Order passes on
    through a thread, whatever the scope of the edge before is."""
    reach = [{"gpu", "sys"} if gpus[i] == gpus[i + 1] else {"sys"} for i in range(2)]
    for releases in itertools.product(SCOPES, repeat=2):
        for acquires in itertools.product(SCOPES, repeat=2):
            ordered = all({releases[i], acquires[i]} <= reach[i] for i in range(2))
            assert finds(gpus, releases, acquires, False) != ordered, (releases, acquires)
        # The second thread's fence of the system, behind its load, is one before its store, too.
        ordered = releases[0] in reach[0]
        assert finds(gpus, releases, ("sys", "sys"), True) != ordered, releases
