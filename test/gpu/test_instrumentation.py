"""Records in kernels, on a GPU: TILE_DRIVER=cuda python3 -m pytest test/gpu

The same paths run without a GPU in test/python/profiler/test_profiler_device_records.py. Here are
the clocks, the memory and the order of things as a device has them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tile
import tile.language as tl
import tile.profiler as proton
import tile.profiler.language as pl
from tile.errors import TileError

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))
from instrumented_kernels import add, product

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("TILE_DRIVER") != "cuda", reason="needs a GPU")
WARPS = 4


@pytest.fixture(autouse=True)
def _no_session_is_left() -> Iterator[None]:
    yield
    proton.finalize()


@tile.jit
def spin(out, nanoseconds, rounds, BLOCK: tl.constexpr):
    """Waits so many nanoseconds, by the device's timer, in each round."""
    at = tl.arange(0, BLOCK)
    seen = tl.zeros((BLOCK,), tl.int64)
    with pl.scope("all"):
        for _ in range(rounds):
            with pl.scope("round"):
                begin = tl.extra.cuda.globaltimer()
                now = begin
                while now - begin < nanoseconds:
                    now = tl.extra.cuda.globaltimer()
                seen += now - begin
    tl.store(out + tl.program_id(0) * BLOCK + at, seen)


def launch(blocks: int, nanoseconds: int = 20_000, rounds: int = 5) -> Any:
    out = torch.zeros((blocks, 128), dtype=torch.int64, device="cuda")
    spin[(blocks,)](out, nanoseconds, rounds, BLOCK=128, num_warps=WARPS)
    return out


def scopes_of(node: Any) -> dict[str, Any]:
    """The metrics of all that is below a node, by name."""
    found: dict[str, Any] = {}
    for child in node["children"]:
        found |= {child["frame"]["name"]: child["metrics"], **scopes_of(child)}
    return found


def events_of(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.with_suffix(".chrome_trace").read_text())["traceEvents"]


@pytest.mark.parametrize("strategy", ["circular", "flush"])
@pytest.mark.parametrize("kind", ["shared", "global"])
@pytest.mark.parametrize("optimizations", ["", "clock32,time_shift", "sched_stores,sched_barriers"])
def test_times_are_nanoseconds(
    kind: str, strategy: str, optimizations: str, tmp_path: Path
) -> None:
    """A scope that waits 20 us takes 20 us, to the tick of the timer and the clock's error."""
    blocks, rounds = 8, 5
    mode = f"default:buffer_type={kind}:buffer_strategy={strategy}:optimizations={optimizations}"
    proton.start(str(tmp_path / "p"), data="trace", backend="instrumentation", mode=mode)
    launch(blocks, rounds=rounds)
    proton.finalize()
    spans = [e for e in events_of(tmp_path / "p") if e.get("cat") == "spin"]
    counts = Counter((e["name"], e["pid"], e["tid"]) for e in spans)
    assert len(counts) == 2 * blocks * WARPS
    assert all(n == (rounds if name == "round" else 1) for (name, _, _), n in counts.items())
    for event in spans:
        wanted = 20.0 * (rounds if event["name"] == "all" else 1)
        # A timer with ticks of 1 us adds one to each round.
        assert 0.95 * wanted - 1 < event["dur"] < 1.1 * wanted + 2 * rounds, event


def test_blocks_begin_when_they_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more blocks than fit at once, the last begin when the first have ended."""
    monkeypatch.setenv("TILE_PROFILE_LAUNCHES", "1")
    device = torch.cuda.get_device_properties(0)
    blocks = device.multi_processor_count * 64
    proton.start(
        str(tmp_path / "p"), data="trace", backend="instrumentation", mode="default:granularity=cta"
    )
    launch(blocks, nanoseconds=50_000, rounds=1)
    proton.finalize()
    found = events_of(tmp_path / "p")
    (kernel,) = [e for e in found if e.get("cat") == "kernel"]
    spans = sorted((e for e in found if e.get("name") == "all"), key=lambda e: e["ts"])
    assert len(spans) == blocks
    assert spans[0]["ts"] - kernel["ts"] < 20
    assert spans[-1]["ts"] - kernel["ts"] > 90
    assert len({e["pid"].split()[1] for e in spans}) == device.multi_processor_count
    assert all(e["ts"] + e["dur"] <= kernel["ts"] + kernel["dur"] + 20 for e in spans)


def test_launches_do_not_wait(tmp_path: Path) -> None:
    """Ten kernels of 20 ms are launched in a fraction of that."""
    proton.start(str(tmp_path / "p"), backend="instrumentation")
    launch(1, rounds=1)
    torch.cuda.synchronize()
    out = torch.zeros((1, 128), dtype=torch.int64, device="cuda")
    began = time.perf_counter()
    for _ in range(10):
        spin[(1,)](out, 20_000_000, 1, BLOCK=128, num_warps=WARPS)
    took = time.perf_counter() - began
    proton.finalize()
    assert took < 0.1
    root = json.loads((tmp_path / "p.hatchet").read_text())[0]
    (kernel,) = root["children"]
    assert kernel["metrics"]["count"] == 11
    assert kernel["metrics"]["time (ns)"] == pytest.approx(200e6, rel=0.05)
    found = scopes_of(kernel)
    total = found["all"]["warp_time (ns)"] + found["round"]["warp_time (ns)"]
    assert total == pytest.approx(200e6 * WARPS, rel=0.05)


#: What records add at most to the time of a kernel: bench/RESULTS.md has the figures.
@pytest.mark.parametrize("kernel, most", [("rare", 1.1), ("frequent", 1.3)])
@pytest.mark.parametrize("mode", ["default", "default:optimizations=clock32"])
def test_records_cost_little(
    kernel: str, most: float, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of kernels above 100 us, by the times of the device. A warp makes 4 records in the one
    kernel, and 4 in each of 64 iterations of a loop in the other one."""
    monkeypatch.setattr(tile.knobs.proton, "profile_buffer_size", 8 << 30)
    if kernel == "rare":
        size = 1 << 28
        x, y, out = (torch.rand(size, device="cuda") for _ in range(3))

        def run() -> None:
            add[(size // 8192,)](x, y, out, size, BLOCK=8192, num_warps=8)
    else:
        size = 4096
        x, y, out = (torch.rand((size, size), device="cuda", dtype=torch.float16) for _ in "xyo")

        def run() -> None:
            product[(size // 128, size // 128)](
                x, y, out, size, size, BLOCK=128, BLOCK_K=64, num_warps=8, num_stages=3
            )

    def microseconds() -> float:
        times = []
        for _ in range(12):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            run()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1e3)
        return sorted(times)[len(times) // 2]

    plain = microseconds()
    proton.start(str(tmp_path / "p"), backend="instrumentation", mode=mode)
    recorded = microseconds()
    proton.finalize()
    assert plain > 100
    assert recorded < most * plain, (plain, recorded)


def test_streams_and_many_launches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More records than the memory holds, from two streams: every launch is counted once."""
    monkeypatch.setenv("TRITON_PROFILE_BUFFER_SIZE", "1M")
    streams = [torch.cuda.Stream() for _ in range(2)]
    proton.start(str(tmp_path / "p"), backend="instrumentation")
    for i in range(200):
        with torch.cuda.stream(streams[i % 2]):
            launch(16, nanoseconds=1000, rounds=1 + i % 3)
    proton.finalize()
    root = json.loads((tmp_path / "p.hatchet").read_text())[0]
    (kernel,) = root["children"]
    counts = {name: metrics["count"] for name, metrics in scopes_of(kernel).items()}
    rounds = sum(1 + i % 3 for i in range(200))
    assert kernel["metrics"]["count"] == 200
    assert counts == {"all": 200 * 16 * WARPS, "round": rounds * 16 * WARPS}


def test_a_capture_is_refused(tmp_path: Path) -> None:
    launch(1)
    proton.start(str(tmp_path / "p"), backend="instrumentation")
    launch(1)
    graph, out = torch.cuda.CUDAGraph(), torch.zeros((1, 128), dtype=torch.int64, device="cuda")
    with pytest.raises(TileError, match="cannot be captured into a graph: deactivate"):
        with torch.cuda.graph(graph):
            spin[(1,)](out, 20_000, 5, BLOCK=128, num_warps=WARPS)
    torch.cuda.synchronize()
    launch(1)


@pytest.mark.parametrize("mode", ["default", "mma", "default:granularity=warp_group"])
def test_a_product_stays_right(mode: str, tmp_path: Path) -> None:
    n = 512
    a, b = (torch.randn((n, n), device="cuda", dtype=torch.float16) for _ in range(2))
    out = torch.full((n, n), float("nan"), device="cuda", dtype=torch.float32)
    proton.start(str(tmp_path / "p"), backend="instrumentation", mode=mode)
    product[(n // 128, n // 128)](a, b, out, n, n, BLOCK=128, BLOCK_K=64, num_warps=4)
    proton.finalize()
    torch.testing.assert_close(out, a.float() @ b.float(), rtol=1e-3, atol=1e-2)
    root = json.loads((tmp_path / "p.hatchet").read_text())[0]
    found = scopes_of(root["children"][0])
    assert {"load", "dot", "store"} <= set(found)
    assert all(m["cycles"] > 0 and m["warp_time (ns)"] > 0 for m in found.values())
