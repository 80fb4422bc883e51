"""The site that `make site` builds of these pages, with Sphinx."""

from __future__ import annotations

import os
import re
from pathlib import Path

project = "tile"
author = "The tile authors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "tile"
# A heading is a target of links, under the name that code hosts give it.
myst_heading_anchors = 4
# Blocks of several programs' output name no language that Pygments knows.
suppress_warnings = ["misc.highlighting_failure"]

DOCS = Path(__file__).parent
LINK = re.compile(r"\[([^\[\]]+)\]\(([^()#\s:]+)(?:#[\w-]+)?\)")


def with_title(page: str, text: str) -> str:
    """TableGen writes pages that begin with a heading of the third level."""
    if re.match(r"#{1,2} ", text.lstrip()) or not page.startswith("generated/"):
        return text
    name = page.removeprefix("generated/passes-").replace("-", " / ")
    return f"# Passes: {name}\n" + re.sub(r"^##(#+ )", r"#\1", text, flags=re.M)


def to_files_of_the_repository(page: str, text: str) -> str:
    """The site holds the files outside of docs/ that pages link to; a folder stays a name."""

    def replace(link: re.Match) -> str:
        name, path = link.groups()
        target = Path(os.path.normpath(DOCS / Path(page).parent / path))
        if target.is_dir():
            return f"{name} (`{target.relative_to(DOCS.parent)}`)"
        if target.is_file() and not target.is_relative_to(DOCS):
            return f"{{download}}`{name.replace('`', '')} <{path}>`"
        return link.group()

    return LINK.sub(replace, text)


def setup(app) -> None:
    def read(app, page: str, source: list[str]) -> None:
        source[0] = to_files_of_the_repository(page, with_title(page, source[0]))

    app.connect("source-read", read)
