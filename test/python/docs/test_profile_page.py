"""The example of docs/howto/profile-a-kernel.md takes what the page says, but for two hundredths:
each change of the compiler's code may move a few cycles. scripts/pictures.py makes the pictures
again, where this fails."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from reference import sim_only

pytestmark = [sim_only, pytest.mark.nvidia("the pictures are those of an H100")]

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/howto/profile-a-kernel.md").read_text()


def tile_command(*arguments: str | Path) -> str:
    return subprocess.run(
        [sys.executable, "-m", "tile", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "TILE_SIM_TARGET": "cuda:90"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def profile(folder: Path, *options: str) -> Path:
    tile_command("profile", *options, "-n", folder / "run", "examples/kernels_to_profile.py")
    return folder / "run"


def test_the_tree(tmp_path):
    text = tile_command("view", "-m", "cycles", profile(tmp_path).with_suffix(".hatchet"))
    known = {name: float(count) for count, name in re.findall(r"([\d.]+) (\w+)", text)}
    said = re.search(
        r"!\[A tree: of (\d+) cycles, each of the two steps has (\d+); in each step `product` has "
        r"(\d+) and `softmax` (\d+)\]",
        PAGE,
    )
    assert said is not None
    names = ("ROOT", "step", "product", "softmax")
    wanted = [float(number) for number in said.groups()]
    assert [known[name] for name in names] == pytest.approx(wanted, rel=0.02)
    percent = re.search(r"Of these, `product` takes\s+(\d+) percent", PAGE)
    assert percent is not None and int(percent[1]) == round(100 * known["product"] / known["step"])


def test_the_scopes(tmp_path):
    """`dot` waits for what `load` starts."""
    options = ("-d", "trace", "-b", "instrumentation", "-m", "default:granularity=warp")
    trace = json.loads(profile(tmp_path, *options).with_suffix(".chrome_trace").read_text())
    took: dict[str, float] = {}
    for event in trace["traceEvents"]:
        name = event.get("name")
        if name in ("load", "dot"):
            took[name] = took.get(name, 0.0) + event["dur"]
    assert took["dot"] > 5 * took["load"] > 0
