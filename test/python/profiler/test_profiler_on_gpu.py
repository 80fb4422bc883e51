"""The profiler on a GPU, with the real CUPTI."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_profiler_sessions import find, names, tree

import tile
import tile.language as tl
import tile.profiler as proton

pytestmark = pytest.mark.skipif(os.environ["TILE_DRIVER"] != "cuda", reason="needs a GPU")


@pytest.fixture(autouse=True)
def _no_session_is_left() -> Iterator[None]:
    yield
    proton.finalize()


def metadata(grid: tuple, kernel: Any, args: dict) -> dict[str, Any]:
    return {"name": "named", "flops32": 1024, "bytes": args["x"].numel() * 8}


@tile.jit(launch_metadata=metadata)
def increment(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, at < n) + 1, at < n)


def launch(x: Any) -> None:
    increment[(tile.cdiv(x.numel(), 1024),)](x, x.numel(), BLOCK=1024)


def zeros(n: int = 1 << 20) -> Any:
    import torch

    return torch.zeros(n, device="cuda")


def test_times_stand_below_scopes(tmp_path: Path) -> None:
    import torch

    x = zeros()
    proton.start(str(tmp_path / "p"), hook="triton")
    with proton.scope("a"):
        launch(x)
        launch(x)
        with proton.scope("torch"):
            x.mul_(2)
    proton.finalize()
    assert torch.equal(x, torch.full_like(x, 4))
    root = tree(tmp_path / "p")
    kernel = find(root, "a", "named")["metrics"]
    assert kernel["count"] == 2 and kernel["flops32"] == 2048 and kernel["device_type"] == "CUDA"
    # 8 MiB are read and written: at most at 8 TB/s, at least at 50 GB/s.
    assert 2 * (1 << 20) * 8 / 8e12 * 1e9 < kernel["time (ns)"] < 2 * (1 << 20) * 8 / 50e9 * 1e9
    (mul,) = find(root, "a", "torch")["children"]
    assert "elementwise" in mul["frame"]["name"] and mul["metrics"]["time (ns)"] > 0


def test_times_agree_with_events(tmp_path: Path) -> None:
    """A long kernel takes what the device's own events say."""
    import torch

    x = zeros(1 << 28)
    proton.start(str(tmp_path / "p"))
    launch(x)  # The first one takes longer on the host.
    torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    with proton.scope("measured"):
        for _ in range(5):
            launch(x)
    end.record()
    proton.finalize()
    measured = find(tree(tmp_path / "p"), "measured", "increment")["metrics"]["time (ns)"] / 1e6
    assert measured == pytest.approx(begin.elapsed_time(end), rel=0.1)


def test_replayed_graphs(tmp_path: Path) -> None:
    import torch

    x = zeros(1024)
    launch(x)
    x.zero_()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        proton.start(str(tmp_path / "p"), hook="triton")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for i in range(3):
                with proton.scope(f"step{i}", {"tokens": 2}):
                    launch(x)
        for scope, times in (("once", 1), ("often", 50)):
            with proton.scope(scope):
                for _ in range(times):
                    graph.replay()
        proton.finalize()
    assert x.unique().tolist() == [153.0]
    root = tree(tmp_path / "p")
    for scope, times in (("once", 1), ("often", 50)):
        captured = find(root, scope, "<captured_at>")
        assert sorted(names(captured)) == ["step0", "step1", "step2"]
        for step in captured["children"]:
            assert step["metrics"]["tokens"] == 2 * times
            kernel = find(step, "named")["metrics"]
            assert kernel["count"] == times and kernel["flops32"] == 1024.0 * times


def test_a_trace_has_the_time_of_the_host(tmp_path: Path) -> None:
    import torch

    x = zeros()
    launch(x)
    torch.cuda.synchronize()
    proton.start(str(tmp_path / "p"), data="trace")
    for i in range(20):
        with proton.scope(f"s{i}"):
            launch(x)
            torch.cuda.synchronize()
    proton.finalize()
    events = json.loads((tmp_path / "p.chrome_trace").read_text())["traceEvents"]
    scopes = {e["name"]: e for e in events if e.get("cat") == "scope"}
    kernels = [e for e in events if e.get("cat") == "kernel"]
    assert len(kernels) == len(scopes) == 20
    for kernel in kernels:
        scope = scopes[kernel["args"]["call_stack"][1]]
        assert scope["ts"] <= kernel["ts"]
        assert kernel["ts"] + kernel["dur"] <= scope["ts"] + scope["dur"]


def test_threads(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"))

    def work(name: str) -> None:
        x = zeros(1024)
        for _ in range(100):
            with proton.scope(name):
                launch(x)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    proton.finalize()
    for name in "abcd":
        assert find(tree(tmp_path / "p"), name, "increment")["metrics"]["count"] == 100


def test_metrics_of_the_device(tmp_path: Path) -> None:
    import torch

    x = torch.arange(4.0, device="cuda")
    proton.start(str(tmp_path / "p"))
    with proton.scope("s", {"sum": x.sum(), "all": x}):
        x.add_(1)  # What was given is what it was.
    proton.finalize()
    metrics = find(tree(tmp_path / "p"), "s")["metrics"]
    assert metrics["sum"] == 6.0 and metrics["all"] == [0.0, 1.0, 2.0, 3.0]
