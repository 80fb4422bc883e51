"""The quick start: its programs are written, its commands run, and print what the page shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pages import DOCS, ROOT, load_script, settings_of_a_newcomer
from reference import sim_only

pytestmark = sim_only

FROM_WHEEL = load_script("from_wheel")


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
    assert FROM_WHEEL.follow(DOCS / "quickstart.md", work, os.environ) == (2, 8)


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("```python\nx = 1\n```\n", "does not name its file"),
        ("```sh\nexit 3\n```\n", "ended with 3"),
        ("```sh\necho a\n```\n", "does not show what"),
        ("```sh\necho a\n```\n\n```text\nb\n```\n", "the page shows"),
    ],
)
def test_a_page_that_is_wrong_is_found(page, message, tmp_path):
    (tmp_path / "page.md").write_text(page)
    with pytest.raises(FROM_WHEEL.Differs, match=message):
        FROM_WHEEL.follow(tmp_path / "page.md", tmp_path, os.environ)


def test_the_program_of_the_readme(tmp_path, monkeypatch):
    settings_of_a_newcomer(monkeypatch)
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    program = next(
        block[2] for block in FROM_WHEEL.BLOCK.finditer((ROOT / "README.md").read_text())
    )
    (tmp_path / "program.py").write_text(program + "assert np.array_equal(out, x + y)\n")
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert ".visible .entry add(" in done.stdout
