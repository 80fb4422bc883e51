"""The backend of rocprofiler-sdk, with a stand-in for the library (test/lib/Rocprofiler)."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_profiler_sessions import find, names, tree

import tile.profiler as proton
from tile import TileError
from tile.profiler import backends
from tile.profiler.backends.rocprofiler import Rocprofiler, library

SOURCE = Path(__file__).parents[2] / "lib" / "Rocprofiler" / "FakeRocprofiler.c"
pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler"),
    pytest.mark.usefixtures("own_settings"),
]


class WithoutGpu(Rocprofiler):
    """The backend, on a machine without a device."""

    def _synchronize(self) -> None:
        pass

    def devices(self) -> dict[str, Any]:
        return {}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rocprofiler") / "librocprofiler-sdk.so.1"
    command = ["cc", "-shared", "-fPIC", "-Wall", "-Werror", str(SOURCE), "-o", str(made)]
    subprocess.run(command, check=True)
    return made


@pytest.fixture
def gpu(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("TRITON_ROCPROFILER_SDK_LIB_PATH", str(path))
    made = WithoutGpu()
    monkeypatch.setattr(backends, "find", lambda name: made)
    fake = ctypes.CDLL(str(path))
    for name in ("fake_launch", "fake_load", "fake_drop"):
        getattr(fake, name).argtypes = [ctypes.c_uint64] * 4 if name == "fake_launch" else None
    fake.backend = made
    reset(fake)
    yield fake
    proton.finalize()


def reset(
    fake: Any, version: int = 10000, refused: int = 0, kind: bytes = b"KERNEL_DISPATCH"
) -> None:
    # The stand-in keeps the text.
    fake.kind = ctypes.c_char_p(kind)
    fake.fake_set(version, refused, fake.kind)


def load(fake: Any, kernel: int, name: bytes) -> None:
    fake.fake_load(ctypes.c_uint64(kernel), ctypes.c_char_p(name))


@pytest.mark.parametrize("version", [600, 10100])
def test_kernels_stand_below_the_scopes_that_launched_them(
    gpu: Any, version: int, tmp_path: Path
) -> None:
    """In the layouts before and since release 1.0."""
    reset(gpu, version)
    session = proton.start(str(tmp_path / "p"), backend="rocprofiler")
    load(gpu, 3, b"add.kd")
    with proton.scope("outer"):
        gpu.fake_launch(3, 101, 10, 25)
        with proton.scope("inner"):
            gpu.fake_launch(3, 102, 30, 31)
            gpu.fake_launch(3, 102, 40, 42)
    gpu.fake_launch(3, 101, 50, 57)
    gpu.fake_launch(4, 101, 60, 61)
    proton.finalize(session)
    root = tree(tmp_path / "p")
    assert find(root, "outer", "add")["metrics"]["time (ns)"] == 15
    inner = find(root, "outer", "inner", "add")["metrics"]
    assert (inner["time (ns)"], inner["count"], inner["device_id"]) == (3, 2, "1")
    assert find(root, "add")["metrics"]["time (ns)"] == 7
    # Nobody told its name.
    assert "kernel 4" in names(root)


def test_threads_and_phases(gpu: Any, tmp_path: Path) -> None:
    """A thread has its own place; a launch belongs to the phase in which it was made."""
    session = proton.start(str(tmp_path / "p"), backend="rocprofiler")
    load(gpu, 1, b"k")
    entered, go_on = threading.Event(), threading.Event()

    def work() -> None:
        with proton.scope("thread"):
            entered.set()
            go_on.wait()
            gpu.fake_launch(1, 101, 0, 5)

    thread = threading.Thread(target=work)
    thread.start()
    entered.wait()
    with proton.scope("main"):
        gpu.fake_launch(1, 101, 0, 3)
        # The thread stays where it is, and its launch is one of the next phase.
        proton.data.advance_phase(session)
        go_on.set()
        thread.join()
        gpu.fake_launch(1, 101, 0, 2)
    proton.deactivate(session, flushing=True)
    first, second = (proton.data.get(session, phase)[0] for phase in (0, 1))
    assert find(first, "main", "k")["metrics"]["time (ns)"] == 3
    assert find(second, "main", "k")["metrics"]["time (ns)"] == 2
    assert find(second, "thread", "k")["metrics"]["time (ns)"] == 5
    assert not find(first, "thread")["children"]


def test_what_is_launched_while_no_session_is_active_is_left_out(gpu: Any, tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "p"), backend="rocprofiler")
    load(gpu, 1, b"k")
    gpu.fake_launch(1, 101, 0, 1)
    proton.deactivate(session)
    gpu.fake_launch(1, 101, 0, 100)
    proton.activate(session)
    gpu.fake_launch(1, 101, 0, 1)
    proton.finalize(session)
    metrics = find(tree(tmp_path / "p"), "k")["metrics"]
    assert (metrics["count"], metrics["time (ns)"]) == (2, 2)
    # It is told nothing any more.
    assert not gpu.fake_is_active() and gpu.fake_depth() == 0


def test_a_trace_has_the_times_of_the_host(gpu: Any, tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "p"), data="trace", backend="rocprofiler")
    load(gpu, 1, b"k")
    with proton.scope("here"):
        gpu.fake_launch(1, 101, 2000, 5000)
    proton.finalize(session)
    trace = json.loads((tmp_path / "p.chrome_trace").read_text())
    (kernel,) = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
    assert kernel["dur"] == 3 and kernel["args"]["call_stack"][-2:] == ["here", "k"]


def test_a_busy_buffer_and_dropped_records(
    gpu: Any, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    session = proton.start(str(tmp_path / "p"), backend="rocprofiler")
    load(gpu, 1, b"k")
    gpu.fake_launch(1, 101, 0, 1)
    gpu.fake_be_busy(3)
    gpu.fake_drop(ctypes.c_uint64(12))
    proton.finalize(session)
    assert "dropped 12 records" in capsys.readouterr().err
    assert "k" in names(tree(tmp_path / "p"))


@pytest.mark.parametrize(
    "how, words",
    [
        ({"refused": 1}, "not valid outside of rocprofiler configuration"),
        ({"kind": b"SOMETHING_ELSE"}, "numbers its records in another way"),
    ],
)
def test_what_is_refused_is_said_in_a_sentence(
    gpu: Any, how: dict, words: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    """The program goes on, with its scopes."""
    reset(gpu, **how)
    session = proton.start(str(tmp_path / "p"), backend="rocprofiler")
    assert re.search(f"the profiler records no kernels: .*{words}", capsys.readouterr().err)
    with proton.scope("here", {"x": 1.0}):
        pass
    proton.finalize(session)
    assert "here" in names(tree(tmp_path / "p"))
    assert words in gpu.backend.why_empty()


def test_where_the_library_is(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_ROCPROFILER_SDK_LIB_PATH", str(path.parent))
    assert library() == str(path)
    monkeypatch.setenv("TRITON_ROCPROFILER_SDK_LIB_PATH", str(tmp_path))
    with pytest.raises(TileError, match=r"no librocprofiler-sdk\.so in"):
        library()
    monkeypatch.delenv("TRITON_ROCPROFILER_SDK_LIB_PATH")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "librocprofiler-sdk.so.0").touch()
    assert library().endswith("librocprofiler-sdk.so.0")
