"""A finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    kind: str
    #: What is so.
    message: str
    #: What to do about it.
    remedy: str
    #: Where in the source; an empty file means the whole kernel.
    file: str = ""
    line: int = 0


def place_of(places: Sequence[tuple[str, int]]) -> tuple[str, int]:
    """The place that is shown of one that was inlined: the innermost line of the file that has the
    kernel. Lines of libraries are not the author's."""
    if not places:
        return ("", 0)
    kernels = places[-1][0]
    return next(place for place in places if place[0] == kernels)
