"""Each line of the tables of docs/python-subset.md compiles, or is refused, as it stands there."""

from __future__ import annotations

import importlib.util
import re
import sys
import textwrap

import pytest
from pages import DOCS, settings_of_a_newcomer

import tile

#: What the page says of the names in its lines.
AROUND = """
import tile
import tile.language as tl

NUMBER = 3

@tile.jit
def recursive(x):
    return recursive(x)

def plain(n):
    return n

@tile.jit
def kernel(p, q, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(p + i)
    y = tl.load(q + i)
    m = tl.zeros((16, 16), tl.float16)
"""
PAGE = (DOCS / "python-subset.md").read_text()


def rows(heading: str) -> list[list[str]]:
    section = PAGE.split(f"## {heading}")[1].split("\n## ")[0]
    return [
        line.strip("| ").split(" | ")
        for line in section.splitlines()
        if "`" in line[:90] and line[0] == "|"
    ]


def code(cell: str) -> str:
    (found,) = re.findall(r"`([^`]+)`", cell)
    return found


WORKS = [code(row[1]) for row in rows("What works")]
REFUSED = [code(row[0]) for row in rows("What is refused, and what to write")]
INSTEAD = [code(row[2]) for row in rows("What is refused, and what to write")]


def compiled(body: str, folder) -> None:
    names = "\n\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M))
    imports, rest = AROUND.split("NUMBER", 1)
    file = folder / "kernel_of_the_page.py"
    file.write_text(f"{imports}{names}NUMBER{rest}{textwrap.indent(body, '    ')}\n")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    pointers = dict.fromkeys(("p", "q", "out"), "*fp32")
    source = tile.compiler.ASTSource(
        module.kernel, {**pointers, "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64}
    )
    tile.compile(source, tile.GPUTarget("cuda", 90, 32), stop_at="ttir")


def test_the_tables_are_read():
    assert (len(WORKS), len(REFUSED), len(INSTEAD)) == (26, 22, 22)


@pytest.mark.parametrize("body", [*WORKS, *INSTEAD])
def test_this_compiles(body, tmp_path, monkeypatch):
    settings_of_a_newcomer(monkeypatch)
    compiled(body, tmp_path)


@pytest.mark.parametrize("body", [*REFUSED, "try: x += 1\nfinally: x += 2", "with n: x += 1"])
def test_this_is_refused(body, tmp_path, monkeypatch):
    settings_of_a_newcomer(monkeypatch)
    with pytest.raises(tile.CompilationError, match=r"line \d\d"):
        compiled(body, tmp_path)


@pytest.mark.parametrize(
    "word", ["class A: pass", "match n:\n    case int(): pass", "yield x", "global NUMBER"]
)
def test_these_words_are_refused(word, tmp_path, monkeypatch):
    settings_of_a_newcomer(monkeypatch)
    with pytest.raises(tile.CompilationError):
        compiled(word, tmp_path)
