"""Steps, forwards and backwards, breakpoints, watches, findings."""

from __future__ import annotations

import kernels
import numpy as np
import pytest
from reference import sim_only
from sessions import TARGETS, debug, state

import tile.sim
from tile.debugger import Request
from tile.debugger.memory import watchpoint
from tile.debugger.session import FINDING, WATCH
from tile.errors import TileError

pytestmark = [sim_only, pytest.mark.nvidia("asks for targets itself")]


def arrays(rows=3, n=60, seed=0):
    x = np.random.default_rng(seed).standard_normal((rows, n), dtype=np.float32)
    return x, np.zeros_like(x)


def launch_rows(x, out, block=64, warps=2):
    rows, n = x.shape
    return lambda: kernels.rows[(rows,)](x, out, n, n, BLOCK=block, num_warps=warps)


def line(stop):
    return stop.frames[0].line


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("variables", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_back_and_forth_gives_the_same_state(target, variables, seed):
    """Random positions: whatever was seen at an event is seen there again, from either side."""
    rng = np.random.default_rng(seed)
    x, out = arrays(seed=seed)
    expected = out.copy()
    debug(launch_rows(x, expected), lambda stop: iter(()), target, variables)

    def script(stop):
        seen = {}
        last = 1
        while True:  # Where the launch ends.
            stop = yield Request(event=last * 2)
            if stop is None:
                break
            last *= 2
            seen[stop.event] = state(stop)
        for _ in range(12):
            event = int(rng.integers(1, last))
            stop = yield Request(event=event)
            assert stop.event == event
            now = state(stop)
            assert seen.setdefault(event, now) == now
            for kind in rng.permutation(["step", "next", "instruction"])[:2]:
                stop = yield Request(str(kind), backwards=True)
                assert stop.event < event or stop.event == 1
                now = state(stop)
                assert seen.setdefault(stop.event, now) == now
            stop = yield Request(event=event)
            assert state(stop) == seen[event]

    debug(launch_rows(x, out), script, target, variables)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("target", TARGETS)
def test_steps_go_back_the_way_they_came(target):
    x, out = arrays()

    def script(stop):
        debugger = stop.session.debugger
        debugger.add_breakpoint(kernels.FILE, kernels.line_of("load"), program=(1, 0, 0))
        stop = yield Request()
        debugger.breakpoints.clear()
        way = [(stop.event, line(stop))]
        for kind in ("step", "step", "step", "out", "next", "next", "step"):
            stop = yield Request(kind)
            way.append((stop.event, line(stop)))
        names = ("load", "call", "in scaled", "end of scaled", "sum", "load", "call", "in scaled")
        assert [at for _, at in way] == [kernels.line_of(name) for name in names]
        for event, at in reversed(way[:-1]):
            stop = yield Request("step", backwards=True)
            if line(stop) != at:  # Out of a function, which steps go back into.
                assert line(stop) == kernels.line_of("end of scaled")
                stop = yield Request("out", backwards=True)
                stop = yield Request("next")
            assert (stop.event, line(stop)) == (event, at) or stop.event < event

    debug(launch_rows(x, out), script, target)


@pytest.mark.parametrize("target", TARGETS)
def test_next_back_passes_over_calls(target):
    x, out = arrays()

    def script(stop):
        debugger = stop.session.debugger
        debugger.add_breakpoint(kernels.FILE, kernels.line_of("sum"), program=(2, 0, 0))
        stop = yield Request()
        stop = yield Request("next", backwards=True)
        assert line(stop) == kernels.line_of("call") and stop.program == (2, 0, 0)
        stop = yield Request("next", backwards=True)
        assert line(stop) == kernels.line_of("load")
        stop = yield Request("continue", backwards=True)
        assert stop.event == 1

    debug(launch_rows(x, out), script, target)


@pytest.mark.parametrize("target", TARGETS)
def test_conditions(target):
    x, out = arrays()
    x[:, 7] = [0.5, 2.5, 1.5]

    def script(stop):
        debugger = stop.session.debugger
        one = debugger.add_breakpoint(
            kernels.FILE, kernels.line_of("sum"), condition="i == 2 and x[7] > 1"
        )
        seen = []
        while (stop := (yield Request())) is not None:
            seen.append((stop.program[0], int(stop.evaluate("i")), float(stop.evaluate("x[7]"))))
        assert seen == [(1, 2, 2.5), (2, 2, 1.5)] and one.hits == 2

    debug(launch_rows(x, out), script, target)


def test_a_condition_that_fails_stops_and_says_so():
    x, out = arrays(1)

    def script(stop):
        debugger = stop.session.debugger
        debugger.add_breakpoint(kernels.FILE, kernels.line_of("sum"), condition="nothing > 1")
        stop = yield Request()
        assert stop.notes and "nothing" in stop.notes[0]

    debug(launch_rows(x, out), script, "cuda:90")


@pytest.mark.parametrize("target", TARGETS)
def test_hits_are_counted(target):
    x, out = arrays(1)

    def script(stop):
        stop.session.debugger.add_breakpoint(kernels.FILE, kernels.line_of("sum"), ignore=2)
        stop = yield Request()
        assert stop.evaluate("i") == 2

    debug(launch_rows(x, out), script, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("variables", [True, False])
def test_watch(target, variables):
    x, out = arrays()

    def script(stop):
        debugger = stop.session.debugger
        watch = watchpoint(1, "out_ptr[1, 3:5]", stop.kernel.arguments, 0)
        debugger.watches[1] = watch
        events = []
        while (stop := (yield Request())) is not None:
            assert stop.reason == WATCH and stop.program == (1, 0, 0)
            if variables:
                assert line(stop) == kernels.line_of("store")
            events.append((stop.event, out[1, 3:5].copy()))
        assert events and not (events[-1][1] == 0).any()
        # The same backwards, from the end.
        for event, seen in reversed(events):
            stop = yield Request("continue", backwards=True)
            assert stop.event == event
            np.testing.assert_array_equal(out[1, 3:5], seen)
        stop = yield Request("continue", backwards=True)
        assert stop.event == 1 and not out.any()

    debug(launch_rows(x, out), script, target, variables)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("nothing[1]", "there is no memory `nothing`"),
        ("out_ptr[100, 0]", "has no elements"),
        ("out_ptr[x]", "invalid literal"),
        ("shared[8:4]", "no range"),
        ("1 + 1", "is no memory"),
    ],
)
def test_ranges_that_are_none_are_refused(expression, message):
    with pytest.raises(TileError, match=message.replace("[", r"\[")):
        watchpoint(1, expression, {"out_ptr": np.zeros((3, 4), np.float32)}, 0)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("variables", [True, False])
def test_the_first_finding(target, variables):
    x = np.arange(9, dtype=np.int32)

    def script(stop):
        stop = yield Request()
        assert stop.reason == FINDING
        assert stop.report().findings[0]["kind"] == "race"
        if variables:
            assert line(stop) in (kernels.line_of("racing load"), kernels.line_of("racing store"))

    with pytest.raises(tile.sim.SimulationError, match="race"):
        debug(lambda: kernels.neighbours[(8,)](x), script, target, variables)


@pytest.mark.parametrize("target", TARGETS)
def test_findings_are_those_of_a_launch_without_a_debugger(target):
    from tile import knobs

    def found(debugged):
        x, out = np.zeros(64, np.float32), np.zeros(60, np.float32)
        launch = lambda: kernels.outside[(1,)](x, out, 64, num_warps=1)  # noqa: E731
        with pytest.raises(tile.sim.SimulationError) as error:
            if debugged is None:
                with knobs.runtime.scope():
                    knobs.runtime.driver, knobs.runtime.sim_target = "sim", target
                    launch()
            else:
                debug(launch, lambda stop: iter(()), target, debugged)
        places = [f["place"] for f in error.value.report.findings]
        kinds = [f["kind"] for f in error.value.report.findings]
        return kinds, [(p["file"], p["source_line"]) for p in places]

    assert found(True) == found(False) == found(None)
