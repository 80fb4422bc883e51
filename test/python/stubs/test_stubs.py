"""What type checkers and editors know of the language: its stub, by mypy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tile.tools import stubs

ROOT = Path(__file__).parents[3]
STUB = ROOT / "python" / "tile" / "language" / "__init__.pyi"
MISTAKES = Path(__file__).with_name("mistakes.py")

#: Parameters of kernels have no types: the arguments of a launch give them.
OPTIONS = [
    "--strict", "--allow-untyped-defs", "--allow-untyped-calls", "--allow-incomplete-defs",
    "--allow-untyped-decorators", "--no-warn-return-any", "--ignore-missing-imports",
    "--follow-imports=silent", "--no-error-summary",
]  # fmt: skip


def check(cache: Path, *files: Path) -> str:
    """What mypy says about files, in a folder of their own."""
    pytest.importorskip("mypy")
    path = f"{ROOT / 'python'}:{ROOT / 'examples'}"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *OPTIONS, f"--cache-dir={cache}", *map(str, files)],
        env={"MYPYPATH": path, "PATH": ""}, capture_output=True, text=True, cwd=cache,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.stdout


def test_the_stub_says_what_is_there():
    assert STUB.read_text() == stubs.render(), (
        "run `python -m tile.tools.stubs python/tile/language/__init__.pyi`"
    )


def test_correct_programs_pass(tmp_path):
    assert check(tmp_path, STUB, *sorted((ROOT / "examples").glob("*.py"))) == ""


def test_mistakes_are_marked_and_nothing_else(tmp_path):
    marked = {int(line) for line in re.findall(r":(\d+): error:", check(tmp_path, MISTAKES))}
    lines = MISTAKES.read_text().splitlines()
    assert marked == {n for n, line in enumerate(lines, 1) if line.endswith("# error")}
