"""What docs/install.md names is there."""

from __future__ import annotations

import re

from pages import DOCS, ROOT

PAGE = (DOCS / "install.md").read_text()
PROJECT = (ROOT / "pyproject.toml").read_text()


def test_the_extras_are_those_of_the_package():
    section = PROJECT.split("[project.optional-dependencies]")[1].split("\n[")[0]
    there = set(re.findall(r"^(\w+) = ", section, re.M)) - {"test"}
    assert set(re.findall(r"^\| `\[(\w+)\]` \|", PAGE, re.M)) == there


def test_the_pythons_are_those_of_the_package():
    (first, last) = re.search(r"^\| Python \| (3\.\d+) to (3\.\d+) \|", PAGE, re.M).groups()
    named = re.findall(r"Python :: (3\.\d+)", PROJECT)
    assert (first, last) == (named[0], named[-1])
    assert f'requires-python = ">={first}"' in PROJECT


def test_the_commands_are_targets_of_make():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    named = re.findall(r"`make (\w+)|^make (\w+)", PAGE, re.M)
    assert {a or b for a, b in named} == {"build", "wheel"}
    assert {"build", "wheel", "site", "tutorials"} <= set(targets)
