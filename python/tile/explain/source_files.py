"""The sources that a kernel is made of, with counters, findings and links to the stages' lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..pages import SourceFile, SourceLine
from ..runtime.source import lines_of
from .explanation import Explanation
from .locations import Line
from .text import COLUMNS, cells

#: Lines that are shown around those with code.
_AROUND = 3


class Links:
    """Short names for source lines, which the page links by."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def key(self, place: Line) -> str:
        file, line = place
        if file not in self.files:
            self.files.append(file)
        return f"{self.files.index(file)}:{line}"


def _linked(explanation: Explanation) -> dict[str, set[int]]:
    """The lines of each file that something was made from; the kernel's file is the first."""
    found: dict[str, set[int]] = {}
    for stage in explanation.stages:
        for places in stage.places:
            for file, line in reversed(places):
                if file:
                    found.setdefault(file, set()).add(line)
    for line in explanation.lines:
        if line["file"]:
            found.setdefault(line["file"], set()).add(line["line"])
    own = explanation.launched and getattr(explanation.launched.kernel.fn, "__code__", None)
    first = own.co_filename if own else next(iter(found), "")
    return dict(sorted(found.items(), key=lambda item: item[0] != first))


def _parts(numbers: set[int], count: int) -> list[range]:
    """Runs of lines around these."""
    parts: list[range] = []
    for number in sorted(n for n in numbers if 0 < n <= count):
        low, high = max(1, number - _AROUND), min(count, number + _AROUND)
        if parts and low <= parts[-1].stop:
            parts[-1] = range(parts[-1].start, high + 1)
        else:
            parts.append(range(low, high + 1))
    return parts


def source_files(explanation: Explanation, links: Links) -> list[SourceFile]:
    counters = {(n["file"], n["line"]): n for n in explanation.lines}
    notes: dict[Line, list[str]] = {}
    for finding in explanation.findings:
        text = f"{finding.kind}: {finding.message} {finding.remedy}"
        notes.setdefault((finding.file, finding.line), []).append(text)
    most = max((cells(n)[1] for n in explanation.lines), default=0) or 1
    sampled = explanation.stalls.lines if explanation.stalls is not None else []
    samples = {(one.file, one.line): one.samples for one in sampled}
    columns = [*COLUMNS, "samples"] if samples else list(COLUMNS)
    files = []
    for file, numbers in _linked(explanation).items():
        texts = lines_of(file)

        def line(
            number: int, file: str = file, texts: Any = texts, numbers: Any = numbers
        ) -> SourceLine:
            found = counters.get((file, number))
            shown = cells(found) if found else None
            if shown is not None and samples:
                shown = [*shown, samples.get((file, number), 0)]
            return SourceLine(
                number,
                texts[number - 1].rstrip("\n"),
                shown,
                cells(found)[1] / most if found else 0.0,
                notes=notes.get((file, number), []),
                key=links.key((file, number)) if number in numbers else "",
            )

        parts = [[line(n) for n in part] for part in _parts(numbers, len(texts))]
        note = "" if parts else "The file is not there, so its lines cannot be shown."
        files.append(SourceFile(Path(file).name, columns, parts, note))
    return files
