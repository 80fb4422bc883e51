"""Records of kernels on a GPU: the driver `cuda` and the profiler, with kernels that the simulator
runs behind a stand-in for libcuda."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machines
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
from fake_gpu import build
from fake_gpu.simulated import SimulatedGPU

import tile
import tile.language as tl
import tile.profiler as proton
import tile.profiler.language as pl
from tile import knobs
from tile.errors import TileError
from tile.profiler.core.clock import Clock
from tile.profiler.core.in_kernel import Unit
from tile.profiler.core.sums import Times
from tile.runtime import memory, recorded

pytestmark = [
    pytest.mark.usefixtures("own_settings"),
    pytest.mark.simulator,
    pytest.mark.skipif(machines.interpreting(), reason="the interpreter records nothing"),
]
WARPS = 4


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = build(tmp_path_factory.mktemp("gpu"))
    if made is None:
        pytest.skip("no C compiler")
    return made


@pytest.fixture
def gpu(built: Any) -> Iterator[SimulatedGPU]:
    with SimulatedGPU(*built) as fake:
        yield fake
        proton.finalize()


@tile.jit
def steps(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    with pl.scope("all"):
        for step in range(n):
            with pl.scope("load"):
                total += tl.load(x + step * BLOCK + at)
    tl.store(out + tl.program_id(0) * BLOCK + at, total)


def launch(gpu: SimulatedGPU, count: int = 3, blocks: int = 2) -> Any:
    x = np.random.default_rng(count).integers(-9, 9, (count, 128)).astype(np.float32)
    out = np.full((blocks, 128), np.nan, np.float32)
    kernel = steps[(blocks,)](
        gpu.to_device(x), gpu.to_device(out), count, BLOCK=128, num_warps=WARPS
    )
    assert all(report.ok for report in gpu.reports), gpu.reports
    np.testing.assert_array_equal(out, np.broadcast_to(x.sum(0), (blocks, 128)))
    return kernel


def kernels_of(path: Path) -> list[Any]:
    root, _ = json.loads(path.with_suffix(".hatchet").read_text())
    return root["children"]


def scopes_of(node: Any) -> dict[str, Any]:
    """The metrics of all that is below a node, by name."""
    found: dict[str, Any] = {}
    for child in node["children"]:
        found |= {child["frame"]["name"]: child["metrics"], **scopes_of(child)}
    return found


@pytest.mark.parametrize("strategy", ["circular", "flush"])
@pytest.mark.parametrize("kind", ["shared", "global"])
def test_tree(gpu: SimulatedGPU, kind: str, strategy: str, tmp_path: Path) -> None:
    mode = f"default:buffer_type={kind}:buffer_strategy={strategy}"
    proton.start(str(tmp_path / "p"), backend="instrumentation", mode=mode)
    waits = gpu.counter("waits")
    with proton.scope("outer"):
        launch(gpu)
        launch(gpu, count=5)
    assert gpu.counter("waits") == waits, "a launch waited for the device"
    proton.finalize()
    (outer,) = kernels_of(tmp_path / "p")
    (kernel,) = outer["children"]
    assert kernel["frame"]["name"] == "steps" and kernel["metrics"]["count"] == 2
    assert kernel["metrics"]["device_type"] == "CUDA" and kernel["metrics"]["time (ns)"] >= 0
    found = scopes_of(kernel)
    counts = {name: metrics["count"] for name, metrics in found.items()}
    assert counts == {"all": 2 * 2 * WARPS, "load": (3 + 5) * 2 * WARPS}
    assert found["all"]["cycles"] > 0 and found["load"]["cycles"] > 0
    # Two launches of two blocks: the sum of the means of each launch.
    assert 0 < found["all"]["normalized_cycles"] < found["all"]["cycles"]
    assert found["all"]["warp_time (ns)"] > 0
    assert gpu.counter("memories") == 0, "memory was not given back"


def test_trace(gpu: SimulatedGPU, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the kernel alone, and with the scopes and launches of the host."""
    proton.start(str(tmp_path / "alone"), data="trace", backend="instrumentation")
    with proton.scope("outer"):
        launch(gpu)
    proton.finalize()
    alone = json.loads((tmp_path / "alone.chrome_trace").read_text())["traceEvents"]
    assert {e["cat"] for e in alone} == {"steps"}
    assert {tuple(e["args"]["call_stack"]) for e in alone} == {("ROOT", "outer", "steps")}
    for event in alone:
        first, last = (event["args"][f"{n} Time (ns)"] for n in ("Init", "Post Final"))
        assert 0 <= first <= last and event["args"]["Finalization Time (ns)"] >= 0

    monkeypatch.setenv("TILE_PROFILE_LAUNCHES", "1")
    proton.start(str(tmp_path / "p"), data="trace", backend="instrumentation")
    with proton.scope("outer"):
        launch(gpu)
    proton.finalize()
    trace = json.loads((tmp_path / "p.chrome_trace").read_text())
    assert "GHz" in trace["otherData"]["clock of device 0"]
    events = trace["traceEvents"]
    (kernel,) = [e for e in events if e.get("cat") == "kernel"]
    (outer,) = [e for e in events if e.get("cat") == "scope"]
    assert kernel["ts"] >= outer["ts"]
    spans = [e for e in events if e.get("cat") == "steps"]
    assert Counter(e["name"] for e in spans) == {"all": 2 * WARPS, "load": 6 * WARPS}
    for event in spans:
        assert event["ts"] >= kernel["ts"] - 1e-3
        assert Path(event["args"]["source"].rpartition(":")[0]) == Path(__file__)
    assert len({e["pid"] for e in spans}) == 2 and len({e["tid"] for e in spans}) == WARPS


def test_a_full_arena_is_read_and_used_again(
    gpu: SimulatedGPU, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ten launches four fit at once: each is counted, with one piece of memory."""
    monkeypatch.setenv("TRITON_PROFILE_BUFFER_SIZE", "1")
    proton.start(str(tmp_path / "p"), backend="instrumentation")
    before = gpu.counter("waits")
    for count in range(1, 11):
        launch(gpu, count)
        assert gpu.counter("memories") == 1
    assert gpu.counter("waits") == before + 2
    proton.finalize()
    (kernel,) = kernels_of(tmp_path / "p")
    counts = {name: metrics["count"] for name, metrics in scopes_of(kernel).items()}
    assert kernel["metrics"]["count"] == 10
    assert counts == {"all": 10 * 2 * WARPS, "load": 55 * 2 * WARPS}


def test_an_allocator_of_the_users(gpu: SimulatedGPU, tmp_path: Path) -> None:
    given: list[Any] = []

    def allocate(size: int, alignment: int, stream: int) -> Any:
        assert alignment == 16 and size % alignment == 0
        held = np.full(size + alignment, 0x5A, np.uint8)
        start = -held.ctypes.data % alignment
        given.append(held)
        return gpu.to_device(held[start : start + size])

    memory.set_profile_allocator(allocate)
    try:
        proton.start(str(tmp_path / "p"), backend="instrumentation")
        launch(gpu)
        assert gpu.counter("memories") == 0 and len(given) == 1
        proton.finalize()
    finally:
        memory.set_profile_allocator(None)
    (kernel,) = kernels_of(tmp_path / "p")
    assert kernel["metrics"]["count"] == 1 and len(scopes_of(kernel)) == 2


def test_a_capture_is_refused(gpu: SimulatedGPU, tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"), backend="instrumentation")
    gpu.library.fake_set_streams(0, 1)
    try:
        with pytest.raises(TileError, match="cannot be captured into a graph: deactivate"):
            launch(gpu)
    finally:
        gpu.library.fake_set_streams(0, 0)
    launch(gpu)


def test_phases_get_their_own_launches(gpu: SimulatedGPU, tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "p"), backend="instrumentation")
    launch(gpu, 1)
    assert not proton.data.is_phase_complete(session, 0)
    proton.data.advance_phase(session)
    launch(gpu, 2)
    proton.deactivate(session, flushing=True)
    for phase, count in ((0, 1), (1, 2)):
        root = proton.data.get(session, phase)[0]
        found = scopes_of(root["children"][0])
        assert found["load"]["count"] == count * 2 * WARPS
    proton.finalize(session)


def test_what_nobody_asked_for_is_not_read(
    gpu: SimulatedGPU, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting alone makes kernels record; their memory is used again all the same."""
    monkeypatch.setenv("TRITON_PROFILE_BUFFER_SIZE", "1")
    knobs.compilation.instrumentation_mode = "default"
    try:
        for _ in range(3):
            launch(gpu)
        assert gpu.counter("memories") == 1
    finally:
        del knobs.compilation.instrumentation_mode
        recorded.free_all()
    assert gpu.counter("memories") == 0


# The clock.


def unit(time: int, nanoseconds: int, cycles: int, block: int = 0, began: int = 0) -> Unit:
    return Unit(block, 0, 0, 0, began, began + cycles, time, nanoseconds, 0, began)


@pytest.mark.parametrize("seed", range(20))
def test_the_rate_is_measured(seed: int) -> None:
    """Launches of random lengths under a timer with a coarse tick: the rate is right to 5 percent
    as soon as there is enough time in all."""
    random = np.random.default_rng(seed)
    rate, tick = random.uniform(0.5, 2.5), int(random.choice([1, 32, 1024]))
    clock = Clock(1_000_000)
    launches = []
    for _ in range(200):
        start, length = int(random.integers(1 << 40, 1 << 41)), int(random.integers(1, 200_000))
        units = []
        for block in range(int(random.integers(1, 9))):
            begin = start + int(random.integers(0, 1000))
            end = begin + length
            units.append(
                unit(
                    begin // tick * tick, end // tick * tick - begin // tick * tick,
                    round(length * rate), block,
                )
            )  # fmt: skip
        launches.append(units)
        clock.note(Times.of_units(units), start - 1000)
    assert clock.tick == tick
    assert clock.rate == pytest.approx(rate, rel=0.05)
    for units in launches:
        assert clock.rate_of(Times.of_units(units)) == pytest.approx(rate, rel=0.05)


def test_without_a_measurement_the_device_says_the_rate() -> None:
    clock = Clock(1_980_000)
    units = [unit(1024, 0, 500)]
    clock.note(Times.of_units(units), 0)
    assert clock.rate_of(Times.of_units(units)) == 1.98 and "nothing was measured" in clock.about()


def test_launches_do_not_begin_before_the_host_launched_them() -> None:
    clock = Clock(1_000_000)
    for launched, began in ((1000, 50), (2000, 1040), (3000, 2500)):
        clock.note(Times.of_units([unit(began, 10, 10)]), launched)
    assert [clock.to_host(t) for t in (50, 1040, 2500)] == [1010, 2000, 3460]
