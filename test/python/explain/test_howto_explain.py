"""The commands of docs/howto/explain-a-kernel.md do what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sampled
from reference import sim_only

from tile.explain.findings import RULES
from tile.explain.findings.remarks import _REMEDIES

pytestmark = [sim_only, pytest.mark.nvidia("asks for targets itself")]

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/howto/explain-a-kernel.md").read_text()
KERNELS = ("column_sums", "column_sums_coalesced", "repeat")


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.S | re.M)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the commands run: with the examples, and with PTX that somebody else made."""
    folder = tmp_path_factory.mktemp("howto")
    (folder / "examples").symlink_to(ROOT / "examples")
    program = (
        "import sys; sys.path.insert(0, 'examples'); import kernels_to_explain as k, numpy as np\n"
        "x = np.zeros((128, 256), np.float32)\n"
        "kernel = k.column_sums[(256,)](x, np.empty(256, np.float32), ROWS=128, COLUMNS=256)\n"
        "open('other-compiler.ptx', 'w').write(kernel.asm['ptx'])\n"
    )
    run([sys.executable, "-c", program], folder)
    return folder


def run(command: str | list[str], folder: Path) -> str:
    environment = {**os.environ, "TILE_DRIVER": "sim", "TILE_SIM_TARGET": "cuda:90"}
    done = subprocess.run(
        command, cwd=folder, shell=isinstance(command, str), capture_output=True, text=True,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def write_profile(path: Path) -> None:
    """In the place of a GPU, which would have taken the samples."""
    text = (ROOT / "examples/kernels_to_explain.py").read_text().splitlines()
    line = next(i for i, one in enumerate(text, 1) if "tl.load" in one)
    lines = {line: {"stalled_long_scoreboard": 30, "stalled_wait": 10}}
    sampled.write(path, sampled.kernel("column_sums", "/gpu/kernels_to_explain.py", lines))


def test_every_command_runs(folder):
    """In the order of the page: the one of JSON writes what a later one reads."""
    lines = commands()
    assert len(lines) >= 9
    for line in lines:
        if line.startswith("tile profile "):
            write_profile(folder / "stalls.hatchet")
            continue
        assert line.startswith("tile explain "), line
        out = run(line.replace("tile", f"{sys.executable} -m tile", 1), folder)
        if "--text" in line:
            assert "findings: " in out
        if "--samples" in line:
            assert "stalls on a GPU: 40 samples" in out and ": stalls" in out
    for kernel in KERNELS:
        assert (folder / f"explain-{kernel}.html").is_file()
    assert (folder / "sums.html").is_file() and (folder / "widths.html").is_file()
    assert "findings" in (folder / "before.json").read_text()


def test_the_slow_kernels_are_found_and_the_good_one_is_not(folder):
    command = f"{sys.executable} -m tile explain examples/kernels_to_explain.py --text"
    parts = re.split(r"^(\w+)  cuda:90", run(command, folder), flags=re.M)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert tuple(found) == KERNELS
    assert ": uncoalesced-access" in found["column_sums"]
    assert "findings: none" in found["column_sums_coalesced"]
    assert ": division-in-loop" in found["repeat"]


def test_the_page_has_all_kinds_of_findings():
    table = re.findall(r"^\| `([\w-]+)` \|", PAGE, re.M)
    folder = Path(sys.modules["tile.explain.findings"].__file__).parent
    written = {
        kind
        for file in folder.glob("*.py")
        for kind in re.findall(r'Finding\(\s*"([\w-]+)"', file.read_text())
    }
    assert len(RULES) >= 9
    assert set(table) | {"long-code"} == written | {kind for kind, _ in _REMEDIES.values()}
