"""docs/findings.md has every kind of finding, and its sections are about kinds that there are."""

from __future__ import annotations

import re

from pages import DOCS

from tile.sim.kinds import KINDS, REMEDIES, RULES

PAGE = (DOCS / "findings.md").read_text()


TABLES = (DOCS / "generated" / "findings.md").read_text()


def test_the_tables_are_those_of_the_code():
    kinds, rules = TABLES.split("## Races and barriers")
    rows = re.findall(r"^\| `([\w-]+)` \| (.+) \| (.*) \|$", kinds, re.M)
    assert {kind: meaning for kind, meaning, _ in rows} == KINDS
    assert {kind: remedy for kind, _, remedy in rows if remedy} == REMEDIES
    assert re.findall(r"^\| `([\w-]+)` \| (.+) \|$", rules, re.M) == RULES
    assert {kind for kind, _ in RULES} <= set(KINDS)


def test_sections_are_about_kinds():
    titles = re.findall(r"^## (.+)$", PAGE, re.M)
    assert titles.pop() == "All kinds"
    named = {kind for title in titles for kind in title.split(", ")}
    assert named <= set(KINDS)
    # Those whose remedy does not fit into a line.
    assert {"race", "out-of-bounds", "undefined-lanes", "deadlock"} <= named
