"""Samples of the program counter that a GPU took, on the page, in the text and as a finding.

The profile is a stand-in (`sampled.py`).
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import planted
import pytest
import sampled
from reference import sim_only

from tile.errors import TileError
from tile.explain import explain, watch_launches
from tile.explain.page import render_page
from tile.explain.stalls import read_samples
from tile.explain.text import render

pytestmark = [sim_only, pytest.mark.nvidia("pages show what these GPUs have")]


def line_with(text: str) -> int:
    lines, first = inspect.getsourcelines(planted.strided.fn)
    return first + next(i for i, line in enumerate(lines) if text in line)


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """As a GPU on another machine writes it: `strided` was launched in two scopes."""
    file = f"/home/somebody/{Path(planted.__file__).name}"

    def launch(loads: int) -> dict:
        lines = {
            line_with("tl.load"): {"stalled_long_scoreboard": loads, "selected": 10},
            line_with("tl.store"): {"stalled_lg_throttle": 5, "stalled_wait": 15},
        }
        return sampled.kernel("strided", file, lines)

    scopes = (sampled.node(name, {}, [launch(n)]) for name, n in (("a", 50), ("b", 90)))
    return sampled.write(tmp_path / "proton.hatchet", *scopes)


@pytest.fixture
def explained(profile):
    with watch_launches() as launched:
        planted.run_strided(8)
    return explain(launched[0], read_samples(profile)["strided"])


def test_scopes_are_added_and_reasons_sorted(profile):
    found = read_samples(profile)["strided"]
    assert found.total == 200
    load, store = found.lines
    assert (load.samples, load.reasons) == (160, {"long_scoreboard": 140})
    assert load.share == 0.8 and load.causes == [
        ("long_scoreboard", "global or local memory", 0.875)
    ]
    assert list(store.reasons) == ["wait", "lg_throttle"]


def test_lines_are_found_where_the_sources_are_here(explained):
    assert {one.file for one in explained.stalls.lines} == {planted.__file__}
    assert explained.to_dict()["stalls"]["total"] == 200


def test_the_finding_names_the_line_and_a_remedy(explained):
    (found,) = [one for one in explained.findings if one.kind == "stalls"]
    assert (found.file, found.line) == (planted.__file__, line_with("tl.load"))
    assert "80%" in found.message and "global or local memory" in found.message
    assert "num_stages" in found.remedy


def test_the_page_and_the_text_show_them(explained):
    page = render_page(explained)
    assert "200 sampled warps" in page and '<th class="extra">samples</th>' in page
    assert "it waits for global or local memory" in page
    text = render(explained)
    assert "stalls on a GPU: 200 samples" in text and "long_scoreboard 88%" in text


def test_without_samples_the_page_says_how_to_take_them():
    with watch_launches() as launched:
        planted.run_strided(8)
    one = explain(launched[0])
    assert one.stalls is None and "tile profile -m pcsampling" in render_page(one)
    assert "stalls" not in render(one)


@pytest.mark.parametrize(
    "text, said",
    [
        ("{", "is no profile"),
        ("[]", "has no samples of source lines"),
        (json.dumps([sampled.node("k", {"num_samples": 3})]), "has no samples of source lines"),
        # The simulator's profiler counts instructions.
        (json.dumps([sampled.node("f.py:3@k", {"num_samples": 3})]), "is not of a GPU"),
    ],
)
def test_files_without_samples(tmp_path, text, said):
    path = tmp_path / "p.hatchet"
    path.write_text(text)
    with pytest.raises(TileError, match=said):
        read_samples(path)


def test_the_command(profile, tmp_path):
    def run(*words: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "tile", "explain", "--text", "--samples", str(profile)]
        return subprocess.run(
            [*command, *words], capture_output=True, text=True, cwd=Path(planted.__file__).parent
        )

    program = tmp_path / "program.py"
    program.write_text("import planted\nplanted.run_strided(8)\n")
    found = run("--", str(program))
    assert found.returncode == 1  # `planted` is not beside the program.
    program.write_text(
        f"import sys\nsys.path[:0] = {sys.path!r}\nimport planted\nplanted.run_strided(8)\n"
    )
    found = run("--", str(program))
    assert found.returncode == 0 and "stalls on a GPU: 200 samples" in found.stdout
    # A profile of other kernels is another program's.
    program.write_text(
        f"import sys\nsys.path[:0] = {sys.path!r}\nimport planted\nplanted.run_divides(8)\n"
    )
    found = run("--", str(program))
    assert found.returncode == 1 and "has samples of strided, and of none of" in found.stderr
