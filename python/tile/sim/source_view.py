"""A report beside the source: counters and coverage by line, as text."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..compiler.errors import name_of

if TYPE_CHECKING:
    from .report import Report

#: What is shown of a line: the key in `Report.lines`, and its heading.
COLUMNS = {
    "warp_instructions": "warp instr.",
    "lane_instructions": "lane instr.",
    "sectors": "sectors",
    "bank_conflicts": "conflicts",
}
#: How the lines of the PTX are named, which have no file.
PTX = "PTX"


@dataclass
class Coverage:
    """Which lines of a file have code of the kernel, and which of them ran."""

    file: str
    covered: list[int]
    missing: list[int]

    @property
    def fraction(self) -> float:
        """1.0 if every line with code ran."""
        count = len(self.covered) + len(self.missing)
        return len(self.covered) / count if count else 1.0


@dataclass
class Line:
    number: int
    text: str
    counters: Mapping[str, Any] | None
    missing: bool
    #: Texts of the findings there.
    findings: list[str]


def coverage(report: Report) -> list[Coverage]:
    """Coverage of each file; of the PTX's own lines where it has no `.loc`."""
    data = report.to_dict()
    files: dict[str, Coverage] = {}
    missing = {(u["file"], u["line"]) for u in data["uncovered"]}
    for file, line in sorted(missing | {(n["file"], n["line"]) for n in data["lines"]}):
        one = files.setdefault(file, Coverage(file or PTX, [], []))
        (one.missing if (file, line) in missing else one.covered).append(line)
    return list(files.values())


def _text(file: str, ptx: str | None, sources: Mapping[str, str]) -> list[str]:
    """The lines of a file, or nothing if it cannot be read."""
    if file in sources:
        return sources[file].splitlines()
    if file == PTX:
        return (ptx or "").splitlines()
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # A cell of a notebook is in no file.
        return [line.rstrip("\n") for line in linecache.getlines(file)]


def files_of(report: Report, sources: Mapping[str, str]) -> Iterator[tuple[Coverage, list[Line]]]:
    data = report.to_dict()
    counters = {(n["file"] or PTX, n["line"]): n for n in data["lines"]}
    findings: dict[tuple[str, int], list[str]] = {}
    for finding, message in zip(data["findings"], report.messages, strict=True):
        # What shows only in several launches has no place.
        if "place" not in finding:
            continue
        place = finding["place"]
        key = (place["file"], place["source_line"]) if place["file"] else (PTX, place["line"])
        findings.setdefault(key, []).append(message)
        if place["call_line"]:
            findings.setdefault((place["call_file"], place["call_line"]), []).append(message)
    for one in coverage(report):
        lines = _text(one.file, report.ptx, sources)
        named = [*one.covered, *one.missing, *(n for f, n in findings if f == one.file)]
        missing = set(one.missing)
        count = max(len(lines), *named, 0) if named else len(lines)
        yield (
            one,
            [
                Line(
                    n,
                    lines[n - 1] if n <= len(lines) else "",
                    counters.get((one.file, n)),
                    n in missing,
                    findings.get((one.file, n), []),
                )
                for n in range(1, count + 1)
            ],
        )


def annotated(report: Report, sources: Mapping[str, str] | None = None) -> str:
    """The source with the counters of each line before it. Lines that did not run are marked `-`,
    findings follow their line. `sources` gives the text of files that are not on disk."""
    out = []
    head = " ".join(f"{name:>12}" for name in COLUMNS.values())
    for one, lines in files_of(report, sources or {}):
        ran, count = len(one.covered), len(one.covered) + len(one.missing)
        out.append(f"{name_of(one.file)}: {ran} of {count} lines with code ran")
        out.append(f"{'line':>6} {head} | source")
        for line in lines:
            if line.counters and not line.missing:
                cells = " ".join(f"{line.counters[key]:>12,}" for key in COLUMNS)
            else:
                cells = f"{'-' if line.missing else '':>12}".ljust(len(head))
            out.append(f"{line.number:>6} {cells} | {line.text}".rstrip())
            for message in line.findings:
                out += [f"{'':>6} {'^' * 12} {part}" for part in message.splitlines()]
        out.append("")
    return "\n".join(out)
