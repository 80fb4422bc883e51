"""Sessions, scopes, states, metrics, hooks and phases, on the simulator."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tile
import tile.language as tl
import tile.profiler as proton
from tile import knobs

pytestmark = [
    pytest.mark.usefixtures("own_settings"),
    pytest.mark.simulator,
]


@pytest.fixture(autouse=True)
def _no_session_is_left() -> Iterator[None]:
    yield
    proton.finalize()


def metadata(grid: tuple, kernel: Any, args: dict) -> dict[str, Any]:
    return {"name": f"add_{args['n']}", "flops32": args["n"], "bytes": 12 * args["n"], "mine": 3}


@tile.jit(launch_metadata=metadata)
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


def launch(n: int = 100) -> None:
    x = np.arange(n, dtype=np.float32)
    out = np.full(n, np.nan, np.float32)
    add[(tile.cdiv(n, 128),)](x, x, out, n, BLOCK=128)
    np.testing.assert_array_equal(out, 2 * x)


def tree(path: Path) -> dict[str, Any]:
    return json.loads(path.with_suffix(".hatchet").read_text())[0]


def find(node: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        node = next(c for c in node["children"] if c["frame"]["name"] == name)
    return node


def names(node: dict[str, Any]) -> list[str]:
    return [child["frame"]["name"] for child in node["children"]]


def test_kernels_stand_below_scopes_and_states(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"))
    with proton.scope("outer", {"flops": 10}), proton.scope("inner"), proton.state("label"):
        launch()
        launch()
    launch()
    proton.finalize()
    root = tree(tmp_path / "p")
    kernel = find(root, "outer", "inner", "label", "add")["metrics"]
    assert kernel["count"] == 2 and kernel["cycles"] > 0
    assert kernel["global_load_bytes"] == 2 * 2 * 400
    assert kernel["device_type"] == "SIM"
    assert find(root, "add")["metrics"]["count"] == 1
    assert root["metrics"] == dict.fromkeys(root["metrics"], 0)


def test_scopes_carry_their_line(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"))
    with proton.scope("here"):
        pass
    proton.finalize()
    frame = find(tree(tmp_path / "p"), "here")["frame"]
    line = Path(__file__).read_text().splitlines()[frame["line"] - 1]
    assert frame["file"] == __file__ and 'scope("here")' in line


def test_the_stack_as_context(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"), context="python")
    with proton.scope("s"):
        launch()
    proton.finalize()
    node, path = tree(tmp_path / "p"), []
    while node["children"]:
        node = node["children"][-1]
        path.append(node["frame"]["name"])
    assert path[-1] == "add" and path[-2].endswith("@launch")
    scope = path.index("s")
    this = "@test_the_stack_as_context"
    assert path[scope - 1].endswith(this) and path[scope + 1].endswith(this)


def test_two_sessions_see_what_was_active(tmp_path: Path) -> None:
    first = proton.start(str(tmp_path / "a"))
    with proton.scope("both"):
        second = proton.start(str(tmp_path / "b"), data="trace")
        proton.deactivate(first)
        with proton.scope("one"):
            launch()
        proton.activate(first)
        launch()
    proton.finalize(first)
    launch(7)
    proton.finalize(second)
    root = tree(tmp_path / "a")
    assert names(root) == ["both"]
    assert names(find(root, "both")) == ["add"]
    assert find(root, "both", "add")["metrics"]["count"] == 1
    events = json.loads((tmp_path / "b.chrome_trace").read_text())["traceEvents"]
    stacks = [e["args"]["call_stack"] for e in events if e.get("cat") == "kernel"]
    assert stacks == [["ROOT", "one", "add"], ["ROOT", "add"], ["ROOT", "add"]]


def test_random_programs_against_a_model(tmp_path: Path) -> None:
    """Random enters, exits, activations and metrics of two sessions, against a simple model."""
    for seed in range(40):
        choose = random.Random(seed)
        ids = [proton.start(str(tmp_path / f"{seed}_{k}")) for k in range(2)]
        active = [True, True]
        stack: list[tuple[str, list[bool]]] = []
        expected: list[dict[tuple[str, ...], int]] = [{}, {}]
        for _ in range(60):
            what = choose.choice(["enter", "enter", "exit", "toggle"])
            if what == "enter":
                name = choose.choice("abc")
                stack.append((name, list(active)))
                proton.enter_scope(name, metrics={"m": 1})
                for k in range(2):
                    if active[k]:
                        path = tuple(n for n, seen in stack if seen[k])
                        expected[k][path] = expected[k].get(path, 0) + 1
            elif what == "exit" and stack:
                proton.exit_scope(stack.pop()[0])
            elif what == "toggle":
                k = choose.randrange(2)
                active[k] = not active[k]
                (proton.activate if active[k] else proton.deactivate)(ids[k])
        while stack:
            proton.exit_scope(stack.pop()[0])
        proton.finalize()
        for k in range(2):
            found: dict[tuple[str, ...], int] = {}

            def visit(node: dict, path: tuple, found: dict = found) -> None:
                if "m" in node["metrics"] and path:
                    found[path] = node["metrics"]["m"]
                for child in node["children"]:
                    visit(child, (*path, child["frame"]["name"]))

            visit(tree(tmp_path / f"{seed}_{k}"), ())
            assert found == expected[k], seed


def test_threads_have_scopes_of_their_own(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"))

    def work(name: str) -> None:
        for i in range(20):
            with proton.scope(f"{name}{i}", {"m": 1}):
                with proton.scope("inner", {"m": 1}):
                    pass

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    proton.finalize()
    root = tree(tmp_path / "p")
    assert sorted(names(root)) == sorted(f"{n}{i}" for n, i in itertools.product("abcd", range(20)))
    assert all(names(child) == ["inner"] for child in root["children"])


def test_a_thread_without_scopes_works_for_the_last_one(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"))
    with proton.scope("backward"):
        thread = threading.Thread(target=launch)
        thread.start()
        thread.join()
    proton.finalize()
    assert names(find(tree(tmp_path / "p"), "backward")) == ["add"]


def test_launch_metadata_names_and_measures(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "plain"))
    proton.start(str(tmp_path / "p"), hook="triton")
    with proton.scope("s"):
        launch(100)
        launch(100)
    proton.finalize()
    metrics = find(tree(tmp_path / "p"), "s", "add_100")["metrics"]
    assert metrics["flops32"] == 200.0 and metrics["bytes"] == 2400 and metrics["mine"] == 6
    assert metrics["count"] == 2
    # The other session has no hook.
    assert names(find(tree(tmp_path / "plain"), "s")) == ["add"]
    assert not knobs.runtime.launch_enter_hook


def test_metrics(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"))
    for _ in range(2):
        with proton.scope(
            "s", {"n": 2, "v": [1, 2], "a (pty)": 5, "b (exc)": 1, "x": np.float32(1)}
        ):
            pass
    with proton.cpu_timed_scope("t", {"n": 1}):
        pass
    proton.finalize()
    root = tree(tmp_path / "p")
    assert find(root, "s")["metrics"] == {"n": 4, "v": [2, 4], "a": 5, "b": 2, "x": 2.0}
    assert find(root, "t")["metrics"]["cpu_time (ns)"] > 0
    assert root["metrics"] == {"n": 0, "x": 0.0, "cpu_time (ns)": 0}


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "p"))
    with pytest.raises(ValueError, match="not been initialized: 12345"):
        proton.activate(12345)
    proton.enter_scope("a")
    with pytest.raises(ValueError, match="'a' is innermost, not 'b'"):
        proton.exit_scope("b")
    proton.exit_scope("a")
    proton.enter_scope("m", metrics={"n": 1})
    with pytest.raises(TypeError, match=r"\(n\): current=int64_t, new=double"):
        proton.enter_scope("m", metrics={"n": 1.0})
    proton.exit_scope("m")
    with pytest.raises(ValueError, match="different mode"):
        proton.start(str(tmp_path / "q"), mode="pcsampling")
    with pytest.raises(ValueError, match="hatchet or hatchet_msgpack"):
        proton.finalize(session, output_format="chrome_trace")
    with pytest.raises(tile.TileError, match="context of a session"):
        proton.start(str(tmp_path / "q"), context="nothing")
    with pytest.raises(ValueError, match="unknown mode: nothing"):
        proton.start(str(tmp_path / "q"), mode="nothing")


def test_off_costs_nothing_and_keeps_scopes_apart(tmp_path: Path) -> None:
    assert proton.enter_scope("off") is None and proton.exit_scope() is None
    with proton.scope("off", {"m": 1}):
        session = proton.start(str(tmp_path / "p"))
        with proton.scope("on"):
            assert proton.context.depth(session) == 1
            proton.finalize()
    session = proton.start(str(tmp_path / "q"))
    assert proton.context.depth(session) == 0
    proton.finalize()
    assert names(tree(tmp_path / "p")) == ["on"] and names(tree(tmp_path / "q")) == []


def test_disabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_PROTON_DISABLE", "1")
    assert proton.start(str(tmp_path / "p")) is None
    proton.finalize()
    assert not list(tmp_path.iterdir())


def test_data_while_it_runs(tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "p"))
    with proton.scope("zero"):
        launch()
    assert names(proton.data.get(session)[0]) == ["zero"]
    assert not proton.data.is_phase_complete(session, 0)
    assert proton.data.advance_phase(session) == 1
    assert proton.data.is_phase_complete(session, 0)
    with proton.scope("one"):
        launch()
    assert names(proton.data.get(session, 1)[0]) == ["one"]
    proton.data.clear(session, 1, clear_up_to_phase=True)
    assert names(proton.data.get(session, 0)[0]) == names(proton.data.get(session, 1)[0]) == []
    with proton.scope("one"):
        pass
    assert names(proton.data.get(session, 1)[0]) == ["one"]


def test_msgpack(tmp_path: Path) -> None:
    msgpack = pytest.importorskip("msgpack")
    session = proton.start(str(tmp_path / "p"))
    with proton.scope("s", {"v": [1, 2]}):
        launch()
    data = proton.data.get(session)
    assert msgpack.loads(proton.data.get_msgpack(session), strict_map_key=False) == data
    proton.finalize(output_format="hatchet_msgpack")
    written = (tmp_path / "p.hatchet_msgpack").read_bytes()
    assert msgpack.loads(written, strict_map_key=False) == data


def test_a_file_for_each_phase(tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "p"), mode="periodic_flushing:format=hatchet")
    for phase in range(4):
        with proton.scope(f"s{phase}", {"m": 1}):
            launch()
        if phase < 3:
            proton.data.advance_phase(session)
            assert len(list(tmp_path.glob("*.hatchet"))) == phase + 1
    proton.finalize()
    files = sorted(tmp_path.glob("*.hatchet"))
    assert [names(json.loads(f.read_text())[0]) for f in files] == [[f"s{i}"] for i in range(4)]


def test_a_decorated_function(tmp_path: Path) -> None:
    @proton.profile(name=str(tmp_path / "p"))
    def work(n: int) -> int:
        launch()
        return n + 1

    assert work(1) == 2 and work(2) == 3
    launch()
    proton.finalize()
    assert find(tree(tmp_path / "p"), "add")["metrics"]["count"] == 2


def test_lines_of_a_kernel(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"), mode="pcsampling")
    launch()
    proton.finalize()
    lines = find(tree(tmp_path / "p"), "add")
    source = Path(__file__).read_text().splitlines()
    found = set()
    for child in lines["children"]:
        place, _, function = child["frame"]["name"].partition("@")
        file, _, line = place.rpartition(":")
        assert file == __file__ and function == "add" and child["metrics"]["num_samples"] > 0
        found.add(source[int(line) - 1].strip().partition("(")[0])
    assert "tl.store" in found


def test_a_trace(tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"), data="trace")
    with proton.scope("a", {"m": 1.5}), proton.scope("b"):
        launch()
    proton.finalize()
    trace = json.loads((tmp_path / "p.chrome_trace").read_text())
    events = trace["traceEvents"]
    assert "cycles" in trace["otherData"]["device time"]
    (kernel,) = [e for e in events if e.get("cat") == "kernel"]
    (scope,) = [e for e in events if e.get("cat") == "scope"]
    (metric,) = [e for e in events if e.get("cat") == "metric"]
    assert kernel["args"]["call_stack"] == ["ROOT", "a", "b", "add"]
    assert metric["name"] == "a: <m, 1.500000>"
    for inner, outer in ((kernel, scope), (scope, metric)):
        assert outer["ts"] <= inner["ts"]
        assert inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    start, finish = sorted(
        (e for e in events if e.get("cat") == "flow"), key=lambda e: e["ph"], reverse=True
    )
    assert (start["ts"], start["tid"]) == (scope["ts"], scope["tid"])
    assert (finish["ts"], finish["tid"]) == (kernel["ts"], kernel["tid"])
    # The warps of the first block, while the kernel runs, each in a process of its own.
    inside = [e for e in events if e.get("cat") == "add"]
    assert {e["tid"] for e in inside} >= {0, 1, 2, 3}
    assert any(e["name"].startswith("wait: ") for e in inside)
    for event in inside:
        assert kernel["ts"] <= event["ts"]
        assert event["ts"] + event["dur"] <= kernel["ts"] + kernel["dur"] + 1e-6
    # Perfetto keeps numbers of processes and threads in 32 bits.
    assert all(e["tid"] < 1 << 32 and e["pid"] < 1 << 32 for e in events)
    # Spans of one thread lie in each other, or apart.
    for _, spans in itertools.groupby(
        sorted(
            (e for e in events if e["ph"] == "X"),
            key=lambda e: (e["pid"], e["tid"], e["ts"], -e["dur"]),
        ),
        key=lambda e: (e["pid"], e["tid"]),
    ):
        ends: list[float] = []
        for span in spans:
            while ends and ends[-1] <= span["ts"] + 1e-6:
                ends.pop()
            assert not ends or span["ts"] + span["dur"] <= ends[-1] + 1e-6
            ends.append(span["ts"] + span["dur"])


@pytest.mark.parametrize("target", ["cuda:80", "cuda:86", "cuda:90", "cuda:100", "cuda:120"])
def test_warps_end_within_their_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """Clocks of GPUs differ, and all of a trace is in cycles of the same one."""
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    proton.start(str(tmp_path / "p"), data="trace")
    launch()
    proton.finalize()
    events = json.loads((tmp_path / "p.chrome_trace").read_text())["traceEvents"]
    (kernel,) = [e for e in events if e.get("cat") == "kernel"]
    last = max(e["ts"] + e["dur"] for e in events if e.get("cat") == "add")
    assert last <= kernel["ts"] + kernel["dur"] + 1e-6


def test_amd_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no latency model: cycles are the roofline's."""
    monkeypatch.setenv("TILE_SIM_TARGET", "hip:gfx942")
    proton.start(str(tmp_path / "p"), data="trace")
    proton.start(str(tmp_path / "q"))
    launch()
    proton.finalize()
    assert find(tree(tmp_path / "q"), "add")["metrics"]["cycles"] > 0
    events = json.loads((tmp_path / "p.chrome_trace").read_text())["traceEvents"]
    assert [e["name"] for e in events if e.get("cat") == "kernel"] == ["add"]


def test_hooks_are_called_by_priority(tmp_path: Path) -> None:
    calls: list[str] = []

    class Mine(proton.hooks.hook.Hook):
        def __init__(self, name: str, priority: int) -> None:
            self.name = name
            self.priority = priority

        def activate(self) -> None:
            calls.append(f"{self.name} on")

        def deactivate(self) -> None:
            calls.append(f"{self.name} off")

        def init_handle(self, *args: Any) -> None:
            pass

        def enter(self, metadata: Any) -> None:
            calls.append(f"{self.name} enter")

        def exit(self, metadata: Any) -> None:
            calls.append(f"{self.name} exit")

    low, high = Mine("low", 1), Mine("high", 2)
    session = proton.start(str(tmp_path / "p"), hook=low)
    proton.hooks.HookManager.register(high, session)
    launch()
    proton.deactivate(session)
    launch()
    assert calls == [
        "low on", "high on", "high enter", "low enter", "low exit", "high exit",
        "high off", "low off",
    ]  # fmt: skip


def test_modes_as_text() -> None:
    mode = proton.mode
    assert mode.parse(str(mode.PCSampling(interval=512))) == mode.PCSampling(interval=512)
    text = str(mode.Default(optimizations="time_shift,clock32"))
    assert text == (
        "default:metric_type=cycle:sampling_strategy=none:sampling_options=:granularity=warp:"
        "buffer_strategy=circular:buffer_type=shared:buffer_size=0:optimizations=time_shift,clock32"
    )
    assert mode.parse(text) == mode.Default(optimizations=["time_shift", "clock32"])
    for wrong in ("default:granularity=x", "pcsampling:interval=0", "mma:nothing=1", "default:x"):
        with pytest.raises(ValueError):
            mode.parse(wrong)
