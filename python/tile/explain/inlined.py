"""Counters of source lines with all that was inlined into them."""

from __future__ import annotations

from typing import Any

from .locations import Line, Lines

#: What is counted of a line of the assembly, in the order of `Report.assembly_lines`.
COUNTERS = ("warp_instructions", "sectors", "bank_conflicts")


def with_helpers(
    counted: dict[int, tuple[int, int, int]], places: Lines
) -> dict[Line, dict[str, int]]:
    """Each line of the assembly counts for the line it comes from, and for those that call it."""
    found: dict[Line, dict[str, int]] = {}
    for number, values in counted.items():
        for place in places[number - 1] if number <= len(places) else ():
            sums = found.setdefault(place, dict.fromkeys(COUNTERS, 0))
            for name, value in zip(COUNTERS, values, strict=True):
                sums[name] += value
    return found


def add_helpers(
    lines: list[dict[str, Any]], sums: dict[Line, dict[str, int]]
) -> list[dict[str, Any]]:
    """The counters of lines, each with "with_helpers"; and lines that only call."""
    known = {(line["file"], line["line"]) for line in lines}
    result = []
    for line in lines:
        own = {name: line[name] for name in COUNTERS}
        result.append({**line, "with_helpers": sums.get((line["file"], line["line"]), own)})
    nothing = {key: 0 for line in lines[:1] for key in line if key not in ("file", "line")}
    for (file, number), counters in sums.items():
        if (file, number) not in known:
            result.append({"file": file, "line": number, **nothing, "with_helpers": counters})
    return sorted(result, key=lambda line: (line["file"], line["line"]))
