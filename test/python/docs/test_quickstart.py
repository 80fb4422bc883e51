"""The quick start: its programs are written, its commands run, and print what the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from pages import DOCS, ROOT, settings_of_a_newcomer
from reference import sim_only
from test_tutorials import without_numbers

pytestmark = sim_only

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.S | re.M)


def steps():
    """The blocks of the page, each with the file that the sentence before it names."""
    page = (DOCS / "quickstart.md").read_text()
    for block in BLOCK.finditer(page):
        before = page[: block.start()].rstrip().rsplit("\n\n", 1)[-1]
        named = re.match(r"Write this to `([\w.]+)`", before)
        yield block[1], block[2], named[1] if named else ""


def test_the_quick_start(tmp_path, monkeypatch):
    settings_of_a_newcomer(monkeypatch)
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    # The command of the package, whether or not it is installed where these tests run.
    command = tmp_path / "bin" / "tile"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m tile "$@"\n')
    command.chmod(0o755)
    folders = [command.parent, Path(sys.executable).parent, os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))
    work = tmp_path / "work"
    work.mkdir()
    printed, programs, commands = "", 0, 0
    for language, text, name in steps():
        if language == "python":
            assert name, "the sentence before a program names its file"
            (work / name).write_text(text)
            programs += 1
        elif language == "sh":
            assert not printed, "the page does not show what a command prints"
            done = subprocess.run(
                ["bash", "-ec", text], cwd=work, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
            printed = done.stdout.replace(f"{work}/", "")
            commands += text.count("\n")
        else:
            assert language == "text"
            assert without_numbers(printed).strip() == without_numbers(text).strip()
            printed = ""
    assert (programs, commands, printed) == (2, 8, "")


def test_the_program_of_the_readme(tmp_path, monkeypatch):
    settings_of_a_newcomer(monkeypatch)
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    program = next(block[2] for block in BLOCK.finditer((ROOT / "README.md").read_text()))
    (tmp_path / "program.py").write_text(program + "assert np.array_equal(out, x + y)\n")
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert ".visible .entry add(" in done.stdout
