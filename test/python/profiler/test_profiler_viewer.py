"""The viewer, and the commands `proton`, `proton-viewer`, `tile profile` and `tile view`."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tile import TileError
from tile.cli import tile as tile_command

pytest.importorskip("hatchet")
from tile.profiler import viewer


def node(name: str, metrics: dict[str, Any], *children: dict[str, Any]) -> dict[str, Any]:
    frame = {"name": name, "type": "function"}
    return {"frame": frame, "metrics": metrics, "children": list(children)}


def kernel(name: str, time: int, count: int, device: int = 0, **more: Any) -> dict[str, Any]:
    metrics = {"time (ns)": time, "count": count, "device_id": str(device), "device_type": "CUDA"}
    return node(name, {**metrics, **more})


DEVICES = {
    "CUDA": {
        "0": {
            "arch": "90", "bus_width": 6144, "clock_rate": 1980000,
            "memory_clock_rate": 2619000, "num_sms": 132,
        }
    }
}  # fmt: skip


def profile(path: Path, scale: int = 1, extra: bool = False) -> str:
    """A tree with inclusive and exclusive metrics, metadata and two kernels."""
    root = node(
        "ROOT",
        {"time (ns)": 0, "count": 0, "flops16": 0.0, "bytes": 0},
        node(
            "layer",
            {"cpu_time (ns)": 5000},
            node("__proton_launch_metadata", {}, kernel("hidden", 10**6, 1)),
            kernel("matmul", 3000 * scale, 3, flops16=6e9, bytes=3 * 10**6),
            node("/home/user/a.py:12@norm", {}, kernel("norm", 1000, 1, bytes=2 * 10**6)),
        ),
        *([kernel("new", 500, 1)] if extra else []),
    )
    path.write_text(json.dumps([root, DEVICES]))
    return str(path)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return profile(tmp_path / "p.hatchet")


def column(gf: Any, name: str) -> dict[str, float]:
    return dict(zip(gf.dataframe["name"], gf.dataframe[name], strict=True))


def test_inclusive_metrics_add_up_and_metadata_is_left_out(file: str) -> None:
    gf, inclusive, exclusive, devices = viewer.read(file)
    assert inclusive == ["time (ns)", "count", "flops16", "bytes"]
    assert exclusive == ["cpu_time (ns)"] and devices == DEVICES
    assert column(gf, "time (ns) (inc)")["ROOT"] == 4000
    assert column(gf, "time (ns) (inc)")["layer"] == 4000
    assert "hidden" not in column(gf, "time (ns)")


@pytest.mark.parametrize(
    ("metric", "name", "values"),
    [
        ("time/us", "time/us (inc)", {"layer": 4.0, "matmul": 3.0}),
        ("avg_time/ns", "avg_time/ns (inc)", {"layer": 1000.0, "matmul": 1000.0}),
        ("cpu_time/ms", "cpu_time/ms", {"layer": 0.005}),
        ("tflop16/s", "tflop16/s (inc)", {"layer": 1500.0, "matmul": 2000.0}),
        ("flop/s", "flop/s (inc)", {"matmul": 2e15}),
        ("gbyte/s", "gbyte/s (inc)", {"layer": 1250.0, "norm": 2000.0}),
        ("time/%", "time/% (inc)", {"ROOT": 100.0, "matmul": 75.0}),
        ("count", "count (inc)", {"layer": 4, "matmul": 3}),
    ],
)
def test_derived_metrics(file: str, metric: str, name: str, values: dict[str, float]) -> None:
    gf, columns = viewer.parse([metric], file)
    assert columns == [name]
    found = column(gf, name)
    for frame, value in values.items():
        assert found[frame] == pytest.approx(value)


def test_util(file: str) -> None:
    gf, _ = viewer.parse(["util"], file)
    peak = 2 * 6144 * 2619000e3 / 8
    assert column(gf, "util")["norm"] == pytest.approx(2e6 / peak / 1000e-9)
    assert math.isnan(column(gf, "util")["ROOT"])


def test_filters(file: str) -> None:
    frames = {"ROOT", "layer", "matmul", "/home/user/a.py:12@norm", "norm"}
    for options, expected in (
        ({"include": "matmul"}, {"ROOT", "layer", "matmul"}),
        ({"exclude": "a.py"}, {"ROOT", "layer", "matmul"}),
        ({"threshold": 0.5}, {"ROOT", "layer", "matmul"}),
        ({"include": "layer"}, frames),
    ):
        gf, _ = viewer.parse(["time/ns"], file, **options)
        assert set(gf.dataframe["name"]) == expected, options
        # What is left out still counts.
        assert column(gf, "time/ns (inc)")["ROOT"] == 4000
    with pytest.raises(TileError, match="no frame is left"):
        viewer.parse(["time/ns"], file, include="nothing")


def test_difference(tmp_path: Path, file: str) -> None:
    later = profile(tmp_path / "q.hatchet", scale=2, extra=True)
    gf, columns = viewer.parse(["time/ns"], later)
    gf = viewer.apply_diff_profile(gf, columns, file, ["time/ns"])
    found = column(gf, "time/ns (inc)")
    assert (found["matmul"], found["new"], found["norm"], found["ROOT"]) == (3000, 500, 0, 3500)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(tile_command, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_tile_view(file: str, tmp_path: Path) -> None:
    text = run("view", "-m", "time/us", "--print-sorted", "-f", "file_function_line", file)
    assert "4.000" in text and "a.py:12@norm" in text and "/home/user" not in text
    assert text.index("Sorted by time/us (inc)") < text.rindex("matmul")
    assert "matmul" not in run("view", "-m", "time/us", "-d", "1", file)
    listed = run("view", "-l", file)
    assert "cpu_time (ns)" in listed and "util" in listed and "{,g,t}flop16/s" in listed
    later = profile(tmp_path / "q.hatchet", scale=2)
    assert "3.000" in run("view", "-m", "time/us", "-diff", file, later)


def test_what_is_wrong_is_said(file: str, tmp_path: Path) -> None:
    with pytest.raises(TileError, match="unknown metric 'nothing'; the profile has time"):
        viewer.parse(["nothing"], file)
    with pytest.raises(TileError, match="needs 'flops8', which this profile does not have"):
        viewer.parse(["flop8/s"], file)
    trace = tmp_path / "t.chrome_trace"
    trace.write_text('{"traceEvents": []}')
    with pytest.raises(TileError, match=r"is a trace: open it at ui\.perfetto\.dev"):
        viewer.read(str(trace))
    broken = tmp_path / "b.hatchet"
    broken.write_text("[")
    with pytest.raises(TileError, match="is no profile"):
        viewer.read(str(broken))


PROGRAM = """
import sys
import numpy as np
import {module}
import {module}.language as tl
import {module}.profiler as proton

@{module}.jit
def add(x):
    tl.store(x, tl.load(x) + 1)

def work():
    x = np.zeros(1, np.float32)
    with proton.scope("work"):
        add[(1,)](x)

def test_work():
    work()

if __name__ == "__main__":
    session = proton.start("of_the_program")
    if "nothing" not in sys.argv:
        work()
    proton.finalize()
    sys.exit(3 if "fails" in sys.argv else 0)
"""


def shell(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "TILE_DRIVER": "sim"}
    environment.pop("TILE_COMPAT", None)
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_commands_profile_programs(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.format(module="tile"))
    (tmp_path / "test_program.py").write_text(PROGRAM.format(module="triton"))
    for name, arguments in (
        ("script", ["tile", "profile", "-n", "script", "program.py"]),
        ("peer", ["tile.profiler.proton", "-n", "peer", "test_program.py"]),
        ("tests", ["tile.profiler.proton", "-n", "tests", "pytest", "-q", "test_program.py"]),
    ):
        done = shell(tmp_path, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        root = json.loads((tmp_path / f"{name}.hatchet").read_text())[0]
        (scope,) = root["children"]
        assert scope["frame"]["name"] == "work"
        assert scope["children"][0]["metrics"]["count"] == 1
    # The session is the command's.
    assert not (tmp_path / "of_the_program.hatchet").exists()


def test_no_empty_profile_with_exit_status_0(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.format(module="tile"))
    done = shell(tmp_path, "tile", "profile", "-d", "trace", "program.py", "nothing")
    assert done.returncode == 1 and "the profile has no kernels: " in done.stderr
    assert shell(tmp_path, "tile", "profile", "program.py", "fails").returncode == 3
    done = shell(tmp_path, "tile", "profile", "-b", "cupti", "program.py")
    assert done.returncode == 1 and "needs an NVIDIA GPU" in done.stderr
