"""Pages that need nothing else: one HTML file each, made of the templates beside this module."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from ..errors import TileError


@dataclass
class SourceLine:
    """A line of a source, with what is known of it."""

    number: int
    text: str
    #: One for each column; None where nothing was counted.
    cells: list[int] | None = None
    #: Its share of the whole, from 0 to 1: the larger, the darker.
    heat: float = 0.0
    #: It has code, and none of it ran.
    missing: bool = False
    #: What was found there.
    notes: list[str] = field(default_factory=list)
    #: What links it to lines of other texts; empty for none.
    key: str = ""
    #: Findings elsewhere on the page that name this line: where they are, and what to call them.
    found: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class SourceFile:
    """A source, whole or in parts."""

    name: str
    columns: list[str]
    #: Runs of lines; what lies between them is left out.
    parts: list[list[SourceLine]]
    note: str = ""


@functools.cache
def _environment() -> Any:
    try:
        import jinja2
    except ImportError:
        raise TileError(
            "pages are made with jinja2, which is not installed: pip install jinja2"
        ) from None
    return jinja2.Environment(
        loader=jinja2.PackageLoader("tile.pages"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def render(template: str, **values: Any) -> str:
    """The text of a page. Raises TileError, naming what to install, where jinja2 is missing."""
    return _environment().get_template(template).render(**values)
