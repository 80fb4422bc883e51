"""docs/findings.md has every kind of finding, and its sections are about kinds that there are."""

from __future__ import annotations

import re

from pages import DOCS

from tile.sim.kinds import KINDS

PAGE = (DOCS / "findings.md").read_text()


def test_the_table_is_that_of_the_code():
    rows = re.findall(r"^\| `([\w-]+)` \| (.+) \|$", PAGE, re.M)
    assert dict(rows) == KINDS


def test_sections_are_about_kinds():
    titles = re.findall(r"^## (.+)$", PAGE, re.M)
    assert titles.pop() == "All kinds"
    named = {kind for title in titles for kind in title.split(", ")}
    assert named <= set(KINDS)
    # Those whose remedy does not fit into a line.
    assert {"race", "out-of-bounds", "undefined-lanes", "deadlock"} <= named
