"""tile-opt says of each pass that is not for a file why it changed nothing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "build/bin/tile-opt"

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="no build beside the source")

MODULE = """
module attributes {{"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32,
                   "ttg.threads-per-warp" = {lanes} : i32, ttg.target = "{target}"}} {{
  tt.func public @kernel(%p: !tt.ptr<f32>, %x: f32) {{
    tt.store %p, %x : !tt.ptr<f32>
    tt.return
  }}
}}
"""
#: A GPU of another vendor for the passes whose names are so.
OTHERS = {
    r"^(tritonamdgpu|triton-amdgpu)-": "cuda:90",
    r"^triton-nvidia-|tmem|^triton-tensor-memory": "hip:gfx942",
}


def names_and_summaries() -> list[tuple[str, str]]:
    if not TOOL.exists():
        return []
    done = subprocess.run([TOOL, "--help-list"], capture_output=True, text=True, check=True)
    return re.findall(r"^ *--([\w-]+) +- +(.*)$", done.stdout, re.M)


PASSES = names_and_summaries()
NOTHING = [name for name, summary in PASSES if summary.startswith("Nothing:")]
FOREIGN = [
    (name, target)
    for name, summary in PASSES
    for pattern, target in OTHERS.items()
    if re.search(pattern, name) and name not in NOTHING and "not available" not in summary
    # Other names of passes for all machines.
    if not re.fullmatch(r"(tritongpu-[\w-]+(, )?)+", summary)
]


def run(names: list[str], target: str) -> subprocess.CompletedProcess[str]:
    text = MODULE.format(target=target, lanes=64 if "gfx9" in target else 32)
    command = [TOOL, "-", *(f"-{name}" for name in names)]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_there_are_some():
    assert len(NOTHING) > 10 and len(FOREIGN) > 30


def test_names_that_stand_for_nothing_say_so():
    done = run(NOTHING, "cuda:90")
    assert done.returncode == 0
    told = re.findall(r"^warning: '-([\w-]+)' does nothing: .", done.stderr, re.M)
    assert told == NOTHING


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("name", "target"), FOREIGN)
def test_a_pass_for_other_machines_says_so(name, target):
    """Or it refuses the file, or finds something to do in it all the same."""
    plain, done = run([], target), run([name], target)
    told = f"warning: '-{name}' changed nothing: it is for" in done.stderr
    assert told or "error: " in done.stderr or done.stdout != plain.stdout
