"""Every name of the language is there; docs/gluon.md lists them.
`python test/python/gluon/test_gluon_names.py` writes the list of the page anew."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve()
NAMES = [
    line.split() for line in (HERE.parent / "names.txt").read_text().splitlines() if line[0] != "#"
]
PAGE = HERE.parents[3] / "docs" / "gluon.md"
BEGIN, END = "<!-- names -->\n", "<!-- end of names -->\n"


def rendered() -> str:
    """The list of names as the page has it."""
    modules: dict[str, list[str]] = {}
    for module, name in NAMES:
        modules.setdefault(module.replace("gluon.language", "gl", 1), []).append(name)
    lines = ["| where | names |", "|---|---|"]
    for module, found in modules.items():
        lines.append(f"| `{module}` | {' '.join(f'`{n}`' for n in found)} |")
    return "\n".join(lines) + "\n"


def find(module: str):
    """A module or class by its name after ``experimental``."""
    full = f"tile.experimental.{module}"
    try:
        return importlib.import_module(full)
    except ImportError:
        parent, _, name = full.rpartition(".")
    return getattr(importlib.import_module(parent), name)


@pytest.mark.parametrize("module,name", NAMES)
def test_name(module, name):
    assert hasattr(find(module), name)


def test_the_page_lists_the_names():
    text = PAGE.read_text()
    assert text.partition(BEGIN)[2].partition(END)[0] == rendered()


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + rendered() + END + rest.partition(END)[2])
