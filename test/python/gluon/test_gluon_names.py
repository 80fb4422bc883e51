"""Every name of the language is there, or says in one sentence that it is not; docs/gluon.md lists
them. `python test/python/gluon/test_gluon_names.py` writes the list of the page anew."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tile import compat

HERE = Path(__file__).resolve()
NAMES = [
    line.split() for line in (HERE.parent / "names.txt").read_text().splitlines() if line[0] != "#"
]
PAGE = HERE.parents[3] / "docs" / "gluon.md"
BEGIN, END = "<!-- names -->\n", "<!-- end of names -->\n"


def rendered() -> str:
    """The list of names as the page has it."""
    modules: dict[str, dict[str, list[str]]] = {}
    for module, name, status in NAMES:
        short = module.replace("gluon.language", "gl", 1)
        modules.setdefault(short, {}).setdefault(status, []).append(name)
    lines = ["| where | there | not there yet |", "|---|---|---|"]
    for module, found in modules.items():
        cells = [" ".join(f"`{n}`" for n in found.get(s, [])) for s in ("present", "absent")]
        lines.append(f"| `{module}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def find(module: str):
    """A module or class by its name after ``experimental``; None if a part of it is absent."""
    full = f"tile.experimental.{module}"
    try:
        return importlib.import_module(full)
    except ImportError:
        parent, _, name = full.rpartition(".")
    try:
        return getattr(importlib.import_module(parent), name)
    except (ImportError, AttributeError):
        return None


@pytest.fixture(autouse=True)
def without_the_switch():
    """With the switch, names that are not built have a value that says so when it is used. Tests
    before this one may have left it on."""
    compat.uninstall()


@pytest.mark.parametrize("module,name,status", NAMES)
def test_name(module, name, status):
    owner = find(module)
    if status == "present":
        assert hasattr(owner, name)
        return
    if owner is None:
        parent, _, name = module.rpartition(".")
        owner, module = find(parent), parent
        assert owner is not None
    if isinstance(owner, type):
        owner = owner(None, None)
    with pytest.raises(AttributeError) as error:
        getattr(owner, name)
    assert str(error.value) == f"{module}.{name} is not built in tile yet"


def test_a_misspelt_name_is_no_absent_one():
    from tile.experimental.gluon import language as gl

    with pytest.raises(AttributeError, match=r"^gluon.language has no attribute 'aragne'$"):
        gl.aragne  # noqa: B018


def test_the_page_lists_the_names():
    text = PAGE.read_text()
    assert text.partition(BEGIN)[2].partition(END)[0] == rendered()


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + rendered() + END + rest.partition(END)[2])
