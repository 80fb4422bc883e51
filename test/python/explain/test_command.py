"""The command `tile explain` on a program."""

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
def double(value):
    return value * 2.0


@tile.jit
def add(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, double(tl.load(x_ptr + offsets, mask)), mask)


@tile.jit
def gather(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets * 16))


x, out = np.random.default_rng(0).random(5000, np.float32), np.full(5000, -1, np.float32)
add[(20,)](x, out, 5000, BLOCK=256)
np.testing.assert_array_equal(out, x * 2)
gather[(1,)](x, out, BLOCK=256)
print("arguments:", sys.argv[1:])
"""


def line_of(text: str) -> int:
    return next(i for i, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


@pytest.fixture
def program(tmp_path, monkeypatch):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    monkeypatch.setenv("TILE_DRIVER", "sim")  # What the command sets is undone.
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    monkeypatch.setattr("sys.argv", [])
    return path


def test_text(program, capsys):
    assert main(["explain", str(program), "--text", "--kernel", "gather", "more", "words"]) == 0
    captured = capsys.readouterr()
    assert "arguments: ['more', 'words']" in captured.err  # The report alone is on stdout.
    assert "arguments" not in captured.out
    assert captured.out.startswith("gather  cuda:90")
    assert f"program.py:{line_of('* 16')}: uncoalesced-access" in captured.out
    assert "What to do: " in captured.out
    assert "occupancy 64 of 64 warps of a multiprocessor (100%)" in captured.out
    assert "\nadd " not in captured.out


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "hip:gfx942"])
def test_json(target, program, capsys):
    assert main(["explain", str(program), "--json", "--target", target]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["name"], second["name"]) == ("add", "gather")
    assert first["target"] == target
    assert first["resources"]["registers"] > 0
    assert first["resources"]["occupancy"]["warps"] <= first["resources"]["occupancy"]["most"]
    # What the simulator counted, line by line, is what it counted in all.
    lines = {line["line"]: line for line in first["lines"]}
    assert (
        sum(line["warp_instructions"] for line in first["lines"])
        == (first["counters"]["warp_instructions"])
    )
    assert lines[line_of("double(tl.load")]["bytes"] == 2 * 4 * 5000
    # A helper of the same file counts for the line that calls it.
    call, helper = lines[line_of("double(tl.load")], lines[line_of("value * 2.0")]
    together = call["warp_instructions"] + helper["warp_instructions"]
    assert helper["warp_instructions"] > 0
    assert call["with_helpers"]["warp_instructions"] == together
    assert helper["with_helpers"]["warp_instructions"] == helper["warp_instructions"]
    assert first["findings"] == []
    assert [f["kind"] for f in second["findings"]].count("uncoalesced-access") == 1
    assert {p["stage"] for p in first["passes"]} == {"ttir", "ttgir", "llir"}


def test_what_cannot_be_explained_is_said(program, tmp_path, capsys):
    assert main(["explain", str(program), "--text", "--kernel", "minus"]) == 1
    assert "launched no kernel `minus`; it launched add, gather" in capsys.readouterr().err
    empty = tmp_path / "empty.py"
    empty.write_text("print('nothing')\n")
    assert main(["explain", str(empty), "--text"]) == 1
    assert "launched no kernel in the simulator" in capsys.readouterr().err
    assert main(["explain", str(tmp_path / "none.py"), "--text"]) == 2
    assert "there is no program" in capsys.readouterr().err


def test_a_program_that_fails_is_explained_as_far_as_it_came(tmp_path, program, capsys):
    path = tmp_path / "fails.py"
    path.write_text(PROGRAM.replace("gather[(1,)](x, out", "gather[(1,)](x[:100], out"))
    assert main(["explain", str(path), "--text", "--kernel", "gather"]) == 0
    captured = capsys.readouterr()
    assert "the simulator says that the kernel is wrong" in captured.out
    assert "out-of-bounds" in captured.out
    assert "what it launched before is explained" in captured.err


@pytest.mark.parametrize("target", ["cuda:75", "cuda:120", "hip:gfx942", "hip:gfx1100"])
def test_pages_of_several_kernels(target, program, tmp_path, capsys):
    output = tmp_path / "page.html"
    assert main(["explain", str(program), "-o", str(output), "--target", target]) == 0
    assert capsys.readouterr().out == ""
    for kernel in ("add", "gather"):
        text = (tmp_path / f"page-{kernel}.html").read_text()
        assert f"<title>{kernel} on {target}</title>" in text
    assert "uncoalesced-access" in text


def test_one_kernel_is_in_the_file_that_was_asked_for(program, tmp_path, capsys):
    output = tmp_path / "page.html"
    assert main(["explain", str(program), "-o", str(output), "--kernel", "add"]) == 0
    assert "<title>add on cuda:90</title>" in output.read_text()
    missing = tmp_path / "none" / "page.html"
    assert main(["explain", str(program), "-o", str(missing), "--kernel", "add"]) == 1
    assert f"cannot write '{missing}'" in capsys.readouterr().err
    assert main(["explain", str(program), "--text", "--json"]) == 2
