"""A report as one page: launch, findings, counters beside what is ideal, annotated source."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..compiler.errors import is_python, name_of
from ..pages import SourceFile, SourceLine, render
from .findings import Finding, grouped, program_of, text_of_group
from .source_view import COLUMNS, PTX, Line, files_of

if TYPE_CHECKING:
    from .report import Report

#: Bytes of a sector of global memory.
_SECTOR = 32


@dataclass
class Found:
    """Findings with one cause."""

    #: Where on the page it is.
    id: str
    kind: str
    text: str
    #: Its lines: what they are called, and their keys.
    lines: list[tuple[str, str]]


@dataclass
class Count:
    """A counter, and what it would be at best, where that is known."""

    name: str
    value: int
    ideal: int | None = None

    @property
    def is_bad(self) -> bool:
        return self.ideal is not None and self.value > self.ideal


Place = tuple[str, int]


def _places(finding: Finding) -> list[Place]:
    """The lines that a finding names, and those that call them."""
    found: list[Place] = []
    for side in ("place", "other_place"):
        place = finding.get(side)
        if place is None:
            continue
        if place["file"]:
            found.append((place["file"], place["source_line"]))
        elif place["line"]:
            found.append((PTX, place["line"]))
        if place.get("call_line"):
            found.append((place["call_file"], place["call_line"]))
    return found


def _groups(report: Report) -> list[tuple[list[Finding], str]]:
    program = program_of(report)
    return [(g, text_of_group(g, program)) for g in grouped(report.findings, program.text)]


def _counts(counters: Mapping[str, Any]) -> list[Count]:
    """The counters of a launch that are not zero, or would best be zero."""
    result = [
        Count("warp instructions", counters["warp_instructions"]),
        Count("lane instructions", counters["lane_instructions"]),
    ]
    for what in ("load", "store"):
        size, sectors = counters[f"global_{what}_bytes"], counters[f"global_{what}_sectors"]
        # Lanes that share an address need fewer.
        ideal = min(sectors, math.ceil(size / _SECTOR))
        result.append(Count(f"sectors of global {what}s", sectors, ideal))
        result.append(Count(f"bytes of global {what}s", size))
    result.append(Count("bank conflicts", counters["bank_conflicts"], 0))
    result.append(Count("divergent branches", counters["divergent_branches"], 0))
    spilled = counters["local_load_bytes"] + counters["local_store_bytes"]
    result.append(Count("bytes of local memory (spilled registers)", spilled, 0))
    for name in ("shared_load_bytes", "shared_store_bytes", "async_bytes", "tensor_flops"):
        result.append(Count(name.replace("_", " "), counters[name]))
    for name in ("barriers", "atomics"):
        result.append(Count(name, counters[name]))
    return [count for count in result if count.value or count.ideal is not None]


def _facts(report: Report) -> list[tuple[str, str]]:
    """What was launched."""
    data = report.to_dict()

    def size(name: str) -> str:
        return " x ".join(map(str, data[name]))

    facts = [("kernel", program_of(report).entry), ("grid", size("grid"))]
    facts.append(("threads of a block", size("block")))
    if data["cluster"] != [1, 1, 1]:
        facts.append(("blocks of a cluster", size("cluster")))
    facts.append(("shared memory of a block", f"{data['shared_bytes']:,} bytes"))
    if report.occupancy:
        kept = report.occupancy
        facts.append(("occupancy", f"{kept['waves']} of {kept['most']} waves ({kept['bound']})"))
    roof = report.roofline()
    parts = ", ".join(f"{name} {roof[name] * 1e6:.3f}" for name in ("memory", "tensor", "issue"))
    facts.append((f"the {roof['gpu']} needs at least", f"{roof['seconds'] * 1e6:.3f} us ({parts})"))
    facts.append(("the simulation took", f"{data['seconds']:.3f} s"))
    return facts


def _source_line(line: Line, most: int, key: str, found: Sequence[Found]) -> SourceLine:
    ran = line.counters if line.counters and not line.missing else None
    return SourceLine(
        line.number,
        line.text,
        [ran[name] for name in COLUMNS] if ran else None,
        ran["warp_instructions"] / most if ran else 0.0,
        line.missing,
        found=[(one.id, f"{one.kind}, in {one.id.replace('-', ' ')}") for one in found],
        key=key if found else "",
    )


def _of_library(file: str) -> bool:
    return is_python(file) and "/tile/language/" in file


def page(report: Report, sources: Mapping[str, str] | None = None) -> str:
    """One HTML page that needs nothing else. A line of the source is the darker the more of the
    warp instructions it is; findings and lines lead to each other."""
    data = report.to_dict()
    most = max((n["warp_instructions"] for n in data["lines"]), default=0) or 1
    # The kernel's own file is read first.
    files = sorted(files_of(report, sources or {}), key=lambda pair: _of_library(pair[0].file))
    keys = {
        (one.file, line.number): f"f{number}-{line.number}"
        for number, (one, lines) in enumerate(files)
        for line in lines
    }
    found: list[Found] = []
    at: dict[Place, list[Found]] = {}
    for number, (group, text) in enumerate(_groups(report), 1):
        places = list(dict.fromkeys(place for finding in group for place in _places(finding)))
        lines = [(f"{name_of(f)}:{n}", keys[f, n]) for f, n in places if (f, n) in keys]
        found.append(Found(f"finding-{number}", group[0]["kind"], text, lines))
        for place in places:
            at.setdefault(place, []).append(found[-1])
    shown = []
    for one, lines in files:
        ran, count = len(one.covered), len(one.covered) + len(one.missing)
        note = f"{ran} of {count} lines with code ran."
        part = [
            _source_line(n, most, keys[one.file, n.number], at.get((one.file, n.number), []))
            for n in lines
        ]
        shown.append(SourceFile(name_of(one.file), list(COLUMNS.values()), [part], note))
    return render(
        "simulator.html.j2",
        title=program_of(report).entry,
        facts=_facts(report),
        findings=found,
        suppressed=report.suppressed,
        counts=_counts(data["counters"]),
        classes=sorted(data["counters"]["by_class"].items(), key=lambda c: -c[1]["warp"]),
        files=shown,
    )
