"""The CUPTI backend, with a stand-in for the library (test/lib/Cupti)."""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_profiler_sessions import find, names, tree

import tile.profiler as proton
from tile import TileError
from tile.explain.stalls import read_samples
from tile.profiler import backends
from tile.profiler.backends.cupti import Cupti, library

LIBRARY = Path(__file__).parents[3] / "build" / "lib" / "libtile_fake_cupti.so"
pytestmark = [
    pytest.mark.skipif(not LIBRARY.exists(), reason="needs the stand-in, which a build makes"),
    pytest.mark.usefixtures("own_settings"),
]


class WithoutGpu(Cupti):
    """The backend, on a machine without a device."""

    capturing: int | None = None

    def _arch(self) -> int:
        return 90

    def _synchronize(self) -> None:
        pass

    def _driver(self) -> Any:
        return _Driver()

    def _captured_graph(self) -> int | None:
        return self.capturing

    def devices(self) -> dict[str, Any]:
        return {}


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[WithoutGpu]:
    monkeypatch.setenv("TRITON_CUPTI_LIB_PATH", str(LIBRARY))
    made = WithoutGpu()
    monkeypatch.setattr(backends, "find", lambda name: made)
    gpu.fakeReset()
    yield made
    proton.finalize()
    gpu.fakeReset()


class _Driver:
    """The driver, without a device."""

    def get_current_device(self) -> int:
        return 0

    def ensure_context(self, device: int) -> None:
        pass


class _Gpu:
    """What a program does, as the library sees it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(ctypes.CDLL(str(LIBRARY)), name)

    def launch(self, name: str, took: int = 100, stream: int = 7, result: int = 0) -> None:
        self.fakeLaunch(name.encode(), ctypes.c_uint64(took), stream, result)

    def sample(self, name: str, line: int, samples: int) -> None:
        self.fakeSample(name.encode(), ctypes.c_uint64(line), samples)

    def capture(self, node: int) -> None:
        self.fakeCapture(ctypes.c_uint64(node))

    def instantiate(self, graph: int, exec: int, nodes: dict[int, str]) -> None:
        ids = (ctypes.c_uint64 * len(nodes))(*nodes)
        texts = (ctypes.c_char_p * len(nodes))(*(n.encode() for n in nodes.values()))
        self.fakeInstantiate(ctypes.c_uint64(graph), ctypes.c_uint64(exec), ids, texts,
                             ctypes.c_size_t(len(nodes)))  # fmt: skip

    def replay(self, exec: int) -> None:
        self.fakeReplay(ctypes.c_uint64(exec), ctypes.c_uint64(10), 7)


gpu = _Gpu()


def test_kernels_stand_below_the_scope_of_their_launch(backend: Cupti, tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "p"))
    with proton.scope("a"):
        gpu.launch("one", 30)
        gpu.launch("one", 12)
        gpu.launch("_ZN2at6native3twoEv", 5)
        with proton.state("s"):
            gpu.launch("one", 1)
    gpu.launch("refused", result=1)
    proton.deactivate(session)
    gpu.launch("unseen")
    proton.finalize()
    root = tree(tmp_path / "p")
    assert names(root) == ["a"]
    one = find(root, "a", "one")["metrics"]
    assert one == {"time (ns)": 42, "count": 2, "device_id": "0", "device_type": "CUDA"}
    assert find(root, "a", "at::native::two()")["metrics"]["time (ns)"] == 5
    assert find(root, "a", "s", "one")["metrics"]["count"] == 1


def test_many_small_buffers(
    backend: Cupti, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_PROFILE_BUFFER_SIZE", "1K")
    proton.start(str(tmp_path / "p"))
    for i in range(500):
        with proton.scope(f"s{i % 3}"):
            gpu.launch(f"k{i % 2}")
    proton.finalize()
    counts = [
        k["metrics"]["count"] for s in tree(tmp_path / "p")["children"] for k in s["children"]
    ]
    assert sum(counts) == 500 and len(counts) == 6


def test_replayed_kernels_keep_the_scopes_that_captured_them(
    backend: WithoutGpu, tmp_path: Path
) -> None:
    session = proton.start(str(tmp_path / "p"))
    backend.capturing = 5
    with proton.scope("capture", {"bytes": 4}):
        gpu.capture(1)
        proton.deactivate(session)
        gpu.capture(2)
        proton.activate(session)
        with proton.scope("inner"):
            gpu.capture(3)
    backend.capturing = None
    gpu.instantiate(5, 50, {1: "first", 2: "unseen", 3: "third"})
    with proton.scope("once"):
        gpu.replay(50)
    with proton.scope("twice"):
        gpu.replay(50)
        gpu.replay(50)
    assert not proton.data.is_phase_complete(session, 0)
    proton.finalize()
    root = tree(tmp_path / "p")
    for scope, count in (("once", 1), ("twice", 2)):
        captured = find(root, scope, "<captured_at>")
        assert names(captured) == ["capture"]
        assert captured["children"][0]["metrics"]["bytes"] == 4 * count
        assert sorted(names(captured["children"][0])) == ["first", "inner"]
        assert find(captured, "capture", "inner", "third")["metrics"]["count"] == count
    assert "bytes" not in find(root, "capture")["metrics"]


def test_graphs_captured_before(backend: Cupti, tmp_path: Path, capfd: Any) -> None:
    gpu.instantiate(5, 50, {1: "first"})
    proton.start(str(tmp_path / "p"))
    for _ in range(2):
        with proton.scope("replay"):
            gpu.replay(50)
    proton.finalize()
    assert find(tree(tmp_path / "p"), "replay", "first")["metrics"]["count"] == 2
    said = capfd.readouterr().err
    assert said.count("Cannot find graph for graphExecId: 50") == 1
    assert "start profiling before the graph is created" in said


def test_a_session_that_starts_after_the_capture(backend: Cupti, tmp_path: Path) -> None:
    proton.start(str(tmp_path / "first"))
    with proton.scope("capture"):
        gpu.capture(1)
    gpu.instantiate(5, 50, {1: "k"})
    proton.start(str(tmp_path / "second"))
    with proton.scope("replay"):
        gpu.replay(50)
    proton.finalize()
    first = find(tree(tmp_path / "first"), "replay", "<captured_at>", "capture")
    assert names(first) == ["k"]
    assert names(find(tree(tmp_path / "second"), "replay")) == ["k"]


def test_phases_end_when_their_kernels_are_there(backend: Cupti, tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "p"), mode="periodic_flushing:format=hatchet")
    for phase in range(3):
        with proton.scope(f"s{phase}"):
            gpu.launch("k")
        if phase < 2:
            proton.data.advance_phase(session)
    proton.finalize()
    files = sorted(tmp_path.glob("*.hatchet"))
    found = [json.loads(f.read_text())[0] for f in files]
    assert [names(root) for root in found] == [["s0"], ["s1"], ["s2"]]
    assert all(names(root["children"][0]) == ["k"] for root in found)


def test_a_trace(backend: Cupti, tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"), data="trace")
    backend.capturing = None
    with proton.scope("c"):
        gpu.capture(1)
        gpu.capture(2)
    gpu.instantiate(5, 50, {1: "a", 2: "b"})
    with proton.scope("s"):
        gpu.launch("k", stream=3)
    with proton.scope("r"):
        gpu.replay(50)
    proton.finalize()
    events = json.loads((tmp_path / "p.chrome_trace").read_text())["traceEvents"]
    kernels = [e for e in events if e.get("cat") == "kernel"]
    assert [k["args"]["call_stack"] for k in kernels] == [
        ["ROOT", "s", "k"], ["ROOT", "r", "<captured_at>", "c", "a"],
        ["ROOT", "r", "<captured_at>", "c", "b"],
    ]  # fmt: skip
    # An arrow for each launch, one for that of the graph.
    assert sum(e.get("cat") == "flow" for e in events) == 4
    titles = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
    assert {"Stream 3", "Stream 7", "Graph: Stream 7"} <= set(titles)
    graph = [e["name"] for e in events if e["tid"] == titles["Graph: Stream 7"] and e["ph"] == "X"]
    assert graph == ["<captured_at>", "c"]


def test_the_stack_of_launches(backend: Cupti, tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"), context="python")
    gpu.launch("k")
    proton.finalize()
    node = tree(tmp_path / "p")
    path = []
    while node["children"]:
        (node,) = node["children"]
        path.append(node["frame"]["name"])
    assert path[-1] == "k" and path[-2].endswith("@launch")
    assert path[-3].endswith("@test_the_stack_of_launches")


def test_nvtx_ranges_are_scopes(backend: Cupti, tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"))
    with proton.scope("s"):
        gpu.fakeRange(b"range")
        gpu.launch("in")
        gpu.fakeRange(None)
        gpu.launch("out")
    proton.finalize()
    assert names(find(tree(tmp_path / "p"), "s")) == ["range", "out"]
    assert names(find(tree(tmp_path / "p"), "s", "range")) == ["in"]


def test_nvtx_ranges_may_be_left_alone(
    backend: Cupti, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_ENABLE_NVTX", "0")
    proton.start(str(tmp_path / "p"))
    gpu.fakeRange(b"range")
    gpu.launch("k")
    gpu.fakeRange(None)
    proton.finalize()
    assert names(tree(tmp_path / "p")) == ["k"]


@pytest.mark.parametrize("arch", [90, 100])
def test_times_from_the_hardware(
    backend: Cupti, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arch: int
) -> None:
    monkeypatch.setenv("TRITON_ENABLE_HW_TRACE", "1")
    monkeypatch.setattr(WithoutGpu, "_arch", lambda self: arch)
    proton.start(str(tmp_path / "p"))
    assert bool(gpu.fakeHasHwTrace()) is (arch >= 100)


def test_threads(backend: Cupti, tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"))
    with proton.scope("main"):

        def work(name: str) -> None:
            for _ in range(50):
                with proton.scope(name):
                    gpu.launch(name)

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    proton.finalize()
    root = tree(tmp_path / "p")
    assert sorted(names(root)) == ["a", "b", "c", "d", "main"]
    for name in "abcd":
        assert find(root, name, name)["metrics"]["count"] == 50


def test_another_subscriber_is_named_and_the_program_goes_on(
    backend: Cupti, tmp_path: Path, capfd: Any
) -> None:
    gpu.fakeOtherSubscriber(b"Nsight Systems")
    proton.start(str(tmp_path / "p"))
    with proton.scope("s", {"m": 1}):
        gpu.launch("k")
    proton.finalize()
    said = capfd.readouterr().err
    assert said.count("Nsight Systems") == 1 and "records no kernels" in said
    assert "Nsight Systems" in backend.why_empty()
    assert find(tree(tmp_path / "p"), "s")["metrics"] == {"m": 1}


def test_dropped_records_are_said(backend: Cupti, tmp_path: Path, capfd: Any) -> None:
    proton.start(str(tmp_path / "p"))
    gpu.launch("k")
    gpu.fakeDrop(17)
    proton.finalize()
    assert "dropped 17 records" in capfd.readouterr().err


def test_a_library_that_is_none(
    backend: Cupti, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CUPTI_LIB_PATH", str(tmp_path))
    with pytest.raises(TileError, match=r"there is no libcupti\.so in"):
        library(90)
    file = tmp_path / "libcupti.so.13"
    file.write_bytes(b"nothing")
    assert library(90) == library(100) == str(file)
    monkeypatch.setenv("TRITON_CUPTI_LIB_BLACKWELL_PATH", str(LIBRARY))
    assert (library(90), library(100)) == (str(file), str(LIBRARY))


def test_samples_of_the_program_counter(backend: Cupti, tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"), mode="pcsampling:interval=500")
    assert gpu.fakePeriod() == 9  # 512 cycles
    with proton.scope("before"):
        gpu.sample("k", 1, 3)
        gpu.launch("k")
    gpu.fakeLoadModule()
    with proton.scope("after"):
        for line, samples in ((10, 5), (11, 7), (10, 1)):
            gpu.sample("k", line, samples)
        gpu.launch("k")
    proton.finalize()
    root = tree(tmp_path / "p")
    # Code that was loaded before has no lines.
    assert find(root, "before", "k")["metrics"]["num_samples"] == 3
    kernel = find(root, "after", "k")
    assert kernel["metrics"]["count"] == 1 and "num_samples" not in kernel["metrics"]
    lines = {c["frame"]["name"]: c["metrics"] for c in kernel["children"]}
    assert lines == {
        "/src/kernel.py:10@k": {"num_samples": 6, "stalled_wait": 6},
        "/src/kernel.py:11@k": {"num_samples": 7, "stalled_wait": 7},
    }
    # `tile explain --samples` reads the file.
    samples = read_samples(tmp_path / "p.hatchet")["k"]
    assert samples.total == 13 and [one.line for one in samples.lines] == [11, 10]


def test_dropped_samples_are_said(backend: Cupti, tmp_path: Path, capfd: Any) -> None:
    proton.start(str(tmp_path / "p"), mode="pcsampling")
    gpu.sample("k", 1, 3)
    gpu.launch("k")
    gpu.fakeDropSamples(19)
    proton.finalize()
    assert capfd.readouterr().err.count("dropped 19 samples") == 1


def test_refused_samples_are_said_and_times_recorded(
    backend: Cupti, tmp_path: Path, capfd: Any
) -> None:
    gpu.fakeRefuseSampling(35)
    proton.start(str(tmp_path / "p"), mode="pcsampling")
    gpu.launch("k", 3)
    proton.finalize()
    assert "the driver refuses samples of the program counter" in capfd.readouterr().err
    assert find(tree(tmp_path / "p"), "k")["metrics"]["time (ns)"] == 3
