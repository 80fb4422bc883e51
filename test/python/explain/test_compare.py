"""`tile explain --compare`: two versions, options, targets, or compilers."""

from __future__ import annotations

import json

import pytest
from reference import sim_only

from tile.cli import main

pytestmark = [sim_only, pytest.mark.nvidia("asks for targets itself")]

PROGRAM = """
import sys
import numpy as np
import tile
import tile.language as tl


@tile.jit
def copy(x_ptr, out_ptr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets * STEP))


step = int(sys.argv[1])
kernel = copy[(1,)](np.zeros(4096, np.float32), np.empty(256, np.float32), STEP=step, BLOCK=256)
if len(sys.argv) > 2:
    open(sys.argv[2], "w").write(kernel.asm["ptx"])
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    return path


def compared(capsys, *arguments: str) -> dict:
    assert main(["explain", "--json", "--compare", *arguments]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    return one | {"rows": {row["name"]: (row["a"], row["b"]) for row in one["rows"]}}


def test_two_configurations(program, capsys):
    one = compared(capsys, f"{program} 1", f"{program} 8")
    # 256 floats of 4 bytes in sectors of 32 bytes; then each float has a sector of its own.
    assert one["rows"]["sectors loaded"] == (32, 256)
    assert one["rows"]["sectors stored"] == (32, 32)
    assert [f["kind"] for f in one["new"]] == ["uncoalesced-access", "single-elements"]
    assert one["gone"] == [] and one["stay"] == 0
    back = compared(capsys, f"{program} 8", f"{program} 1")
    assert [f["kind"] for f in back["gone"]] == ["uncoalesced-access", "single-elements"]


def test_two_targets(program, capsys):
    one = compared(capsys, "cuda:90", "hip:gfx942", str(program), "8")
    assert (one["a"][:7], one["b"][:10]) == ("cuda:90", "hip:gfx942")
    assert one["rows"]["warps of a block"] == (4, 4)
    assert one["rows"]["sectors loaded"] == (256, 256)


def test_two_versions_by_their_json(program, tmp_path, capsys):
    paths = []
    for step in (1, 8):
        assert main(["explain", "--json", "--", str(program), str(step)]) == 0
        paths.append(tmp_path / f"{step}.json")
        paths[-1].write_text(capsys.readouterr().out)
    one = compared(capsys, *map(str, paths))
    assert one["rows"]["sectors loaded"] == (32, 256)
    same = compared(capsys, str(paths[0]), str(paths[0]))
    assert same["opcodes"] == same["lines"] == same["gone"] == same["new"] == []
    assert all(a == b for a, b in same["rows"].values())


def test_assembly_of_another_compiler(program, tmp_path, capsys):
    other = tmp_path / "other.ptx"
    assert main(["explain", "--json", "--", str(program), "8", str(other)]) == 0
    capsys.readouterr()
    one = compared(capsys, str(other), f"{program} 8")
    registers = one["rows"]["registers"]
    assert registers[0] == registers[1]  # It is the same code.
    assert one["rows"]["instructions in the text"][0] == one["rows"]["instructions in the text"][1]
    assert one["rows"]["executed warp instructions"][0] is None
    assert one["opcodes"] == [] and not one["looked"]


def test_text_and_page(program, tmp_path, capsys):
    page = tmp_path / "page.html"
    sides = ["--compare", f"{program} 1", f"{program} 8"]
    assert main(["explain", *sides, "--text", "-o", str(page)]) == 0
    text = capsys.readouterr().out
    assert "sectors loaded" in text and "x 8.00  worse" in text
    assert "only B has: uncoalesced-access program.py:11" in text
    assert "Only B has: uncoalesced-access" in page.read_text()
    assert "tl.load(x_ptr + offsets * STEP)" in page.read_text()


@pytest.mark.parametrize(
    "sides, message",
    [
        (("cuda:80", "cuda:90"), "--compare cuda:80: for which program?"),
        (("none.json", "none.json"), "cannot read 'none.json'"),
        (("what", "that"), "--compare what: a program, a target"),
        (("none.py", "none.py"), "-- none.py: it could not be explained"),
    ],
)
def test_sides_that_are_none(sides, message, capsys):
    assert main(["explain", "--compare", *sides]) == 1
    assert message in capsys.readouterr().err
