"""The pages that messages name: their programs fail as they say, and what they say instead runs."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from pages import DOCS
from reference import sim_only

import tile
import tile.language as tl
from tile import hints
from tile.cli import main

pytestmark = [sim_only, pytest.mark.nvidia("the limits are those of an H200")]

FOLDER = DOCS / "diagnostics"
PAGES = sorted(page.stem for page in FOLDER.glob("*.md") if page.stem != "index")
#: A program, and the message that it ends with, if it fails.
PROGRAM = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)\n```)?", re.S)


def programs():
    for name in PAGES:
        for number, match in enumerate(PROGRAM.finditer((FOLDER / f"{name}.md").read_text())):
            yield pytest.param(name, match[1], match[2], id=f"{name}-{number}")


def run(code: str, path) -> None:
    path.write_text(code)
    names = {
        "tile": tile, "tl": tl, "np": np, "x": np.arange(64, dtype=np.float32),
        "out": np.zeros(64, np.float32), "__name__": "program", "__file__": str(path),
    }  # fmt: skip
    exec(compile(code, str(path), "exec"), names)


@pytest.mark.parametrize(("page", "code", "message"), list(programs()))
def test_programs_do_what_the_page_says(page, code, message, tmp_path, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    path = tmp_path / "program.py"
    if message is None:
        run(code, path)
        return
    with pytest.raises(tile.TileError) as caught:
        run(code, path)
    text = str(caught.value)
    assert message in text
    assert text.endswith(f"\nmore: tile help {page}")
    assert str(path) in text


def test_each_page_is_named_by_messages_and_listed():
    index = (FOLDER / "index.md").read_text()
    assert list(hints._PAGES) == re.findall(r"^\| \[(\S+)\]\(\1\.md\)", index, re.M)
    assert sorted(hints._PAGES) == PAGES
    wrong = {p.values[0] for p in programs() if p.values[2] is not None}
    assert sorted(wrong) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_the_command_prints_it(page, capsys):
    assert main(["help", page]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"# {page}\n") and ".md)" not in text


def test_the_command_lists_pages(capsys):
    assert main(["help", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == PAGES
    assert main(["help"]) == 0
    assert capsys.readouterr().out.split() == PAGES
    assert main(["help", "shape"]) == 2
    assert "there is no page 'shape'" in (error := capsys.readouterr().err)
    assert error.endswith("did you mean `shapes`?\n")
