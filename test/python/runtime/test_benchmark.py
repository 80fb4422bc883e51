"""How long `do_bench` and the autotuner take, on a GPU whose clock is a number."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile import testing
from tile.runtime import tuning
from tile.runtime.driver import driver

pytestmark = sim_only

#: Milliseconds that emptying the second-level cache takes.
FLUSH = 0.07


class Clock:
    """What `do_bench` uses of torch, on one stream that calls add to."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls = 0

    def call(self, milliseconds: float) -> None:
        self.now += milliseconds
        self.calls += 1

    def module(self) -> types.ModuleType:
        clock = self

        class Event:
            def __init__(self, enable_timing: bool = False) -> None:
                self.time = 0.0

            def record(self) -> None:
                self.time = clock.now

            def elapsed_time(self, end: Event) -> float:
                return end.time - self.time

        class Flush:
            def zero_(self) -> None:
                clock.now += FLUSH

        torch = types.ModuleType("torch")
        torch.int8 = None
        torch.empty = lambda *size, **how: Flush()
        torch.cuda = types.SimpleNamespace(
            Event=Event, synchronize=lambda: None, is_initialized=lambda: False
        )
        return torch


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setitem(sys.modules, "torch", made.module())
    monkeypatch.setattr(type(driver.active), "has_events", True)
    return made


@pytest.mark.parametrize("cost", [0.002, 0.01, 0.1, 1.0, 40.0, 500.0])
def test_it_takes_the_time_it_was_given(clock, cost):
    """Also where the call is short beside what is done around it."""
    assert testing.do_bench(lambda: clock.call(cost), warmup=25, rep=100) == pytest.approx(cost)
    # Whole calls: one to begin with, five for the estimate, and at least one of each kind.
    assert 25 + 100 - 2 * (cost + FLUSH) <= clock.now <= 25 + 100 + 8 * (cost + FLUSH)


@pytest.mark.parametrize("cost", [0.002, 1.0])
def test_it_makes_no_more_calls_than_it_may(clock, cost):
    testing._bench_calls(lambda: clock.call(cost), 25, 100, quantiles=(0.5,), max_calls=30)
    assert clock.calls == 6 + int(min(30, 25 / (cost + FLUSH))) + 30


def test_quantiles(clock):
    costs = iter([0.1] * 10 + [0.1, 0.2, 0.3, 0.4] * 100000)
    times = testing.do_bench(
        lambda: clock.call(next(costs)), warmup=1, rep=100, quantiles=(0.5, 0.0, 1.0)
    )
    assert times == pytest.approx([0.25, 0.1, 0.4], abs=0.051)


def test_the_autotuner_spends_its_time_on_the_good_ones(clock):
    """Eighteen configurations, as a public library tries: each of them looked at for a moment, two
    measured."""
    costs = {n: 0.005 * (1 + n) for n in range(18)}

    def bench(warmup: float, rep: float):
        return lambda n: [testing.do_bench(lambda: clock.call(costs[n]), warmup=warmup, rep=rep)]

    found = tuning.compare(list(costs), bench(1, 5), bench(25, 100), lambda *_: None)
    assert tuning.choose(found) == 0 and list(found) == list(costs)
    each = 125 + 8 * FLUSH
    assert clock.now < 0.2 * len(costs) * each


@pytest.mark.parametrize(("rep", "fewest", "most"), [(None, 200, 420), (100, 1300, 1800)])
def test_the_autotuner_measures_short_kernels_for_as_long_as_they_need(clock, rep, fewest, most):
    """Unless it is told for how long."""

    def empty(BLOCK: tile.language.constexpr):
        pass

    tuner = tile.autotune([tile.Config({"BLOCK": 1})], key=[], rep=rep)(tile.jit(empty))
    assert tuner.do_bench(lambda: clock.call(0.002)) == pytest.approx(0.002)
    assert fewest <= clock.calls <= most


def test_without_torch_the_host_measures(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(type(driver.active), "has_events", True)
    calls = []
    assert tile.testing.do_bench(lambda: calls.append(1), warmup=1, rep=1) > 0 and calls


@tile.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


def test_without_a_gpu_it_estimates_and_says_so():
    x = np.ones(5000, np.float32)

    def launches(count):
        for _ in range(count):
            double[(5,)](x, 5000, BLOCK=1024)

    with pytest.warns(UserWarning, match="no measurement: .* needs at least, .* in 1 launch,") as w:
        once = testing.do_bench(lambda: launches(1))
    assert w[0].filename == __file__
    assert (x == 2).all()  # One call.
    report = driver.active.last_report
    assert once == tuning.estimate(report) and 5000 * 8 / 5e12 * 1e3 < once < 0.001
    with pytest.warns(UserWarning, match="in 3 launches,"):
        quantiles = testing.do_bench(lambda: launches(3), quantiles=(0.2, 0.8))
    assert quantiles == pytest.approx([3 * once, 3 * once])
    with pytest.warns(UserWarning, match="launched no kernel in the simulator"):
        assert testing.do_bench(lambda: None) > 0
