"""An explanation as one HTML page that needs nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..compiler.watch import PipelineRun
from ..pages import render
from ..runtime.source import line_of
from .explanation import Explanation
from .findings import Finding
from .layouts import CELL_HEIGHT, CELL_WIDTH, MARGIN, Drawing, draw_layouts
from .passes import split_dump
from .reproducer import reproducer
from .rings import Ring, rings
from .roofline import HEIGHT, LEFT, TOP, WIDTH, roofline
from .schedule import schedules
from .shared_memory import memory_map
from .source_files import Links, source_files
from .stage_texts import StageText
from .stalls import Stalls
from .text import head
from .timeline import timeline


@dataclass
class StageLine:
    text: str
    #: What it is linked by: names of source lines.
    keys: str
    #: Instructions of warps that ran, of the assembly that ran.
    count: int | None = None


@dataclass
class StageView:
    name: str
    lines: list[StageLine]
    missing: str


@dataclass
class FindingView:
    finding: Finding
    where: str
    source: str
    key: str


#: What only says where a line comes from, which the page shows by links.
_NOISE = re.compile(r" loc\((?:[^()]|\([^()]*\))*\)|, !dbg !\d+")
_ONLY_NOISE = re.compile(r"^#loc|^\s*\.loc\s|^!\d+ = (?:distinct )?!DI|^\s*//#")


def _stage(stage: StageText, links: Links, report: Any) -> StageView:
    counted = report.assembly_lines if report is not None and report.ptx == stage.text else None
    lines = []
    for i, (text, places) in enumerate(zip(stage.text.splitlines(), stage.places, strict=True), 1):
        if not _ONLY_NOISE.match(text):
            keys = " ".join(links.key(place) for place in places)
            count = counted.get(i, (0,))[0] if counted and places else None
            lines.append(StageLine(_NOISE.sub("", text), keys, count))
    return StageView(stage.name, lines, stage.missing)


def _finding(finding: Finding, links: Links) -> FindingView:
    if not finding.file:
        return FindingView(finding, "the whole kernel", "", "")
    return FindingView(
        finding,
        f"{Path(finding.file).name}:{finding.line}",
        line_of(finding.file, finding.line).strip(),
        links.key((finding.file, finding.line)),
    )


@dataclass
class StalledView:
    """A line of the source, with the shares of what was waited for, in percent of the kernel."""

    where: str
    key: str
    source: str
    share: float
    parts: list[tuple[str, str, float, float]]


#: Lines with samples that are drawn, and what was waited for on each.
_MOST_STALLED, _MOST_CAUSES = 12, 6


def _stalled(one: Stalls, links: Links) -> StalledView:
    parts, start = [], 0.0
    for name, meaning, share in one.causes[:_MOST_CAUSES]:
        width = 100 * share * one.share
        parts.append((name, meaning, start, width))
        start += width
    return StalledView(
        f"{Path(one.file).name}:{one.line}",
        links.key((one.file, one.line)),
        line_of(one.file, one.line).strip(),
        100 * one.share,
        parts,
    )


def _stalls(explanation: Explanation, links: Links) -> list[StalledView]:
    lines = explanation.stalls.lines if explanation.stalls is not None else []
    return [_stalled(one, links) for one in lines[:_MOST_STALLED]]


def _after(runs: list[PipelineRun], name: str) -> str:
    """The IR behind the pass whose name begins so; nothing where it did not run."""
    for run in runs:
        for its_name, ir in split_dump(run.dump):
            if its_name.startswith(name):
                return ir
    return ""


def _layouts(explanation: Explanation) -> list[Drawing]:
    stage = explanation.stage("ttgir")
    return draw_layouts(stage.text) if stage is not None else []


def _rings(explanation: Explanation) -> list[Ring]:
    stage = explanation.stage("ttgir")
    return rings(stage) if stage is not None else []


def render_page(explanation: Explanation) -> str:
    """The page. Raises TileError where jinja2 is not installed."""
    links = Links()
    files = source_files(explanation, links)
    report: Any = explanation.launched.report if explanation.launched else None
    return render(
        "explain.html.j2",
        title=f"{explanation.name} on {explanation.target}",
        it=explanation,
        options=head(explanation),
        findings=[_finding(finding, links) for finding in explanation.findings],
        files=files,
        stages=[_stage(stage, links, report) for stage in explanation.stages],
        layouts=_layouts(explanation),
        cell=(CELL_WIDTH, CELL_HEIGHT, MARGIN),
        memory=memory_map(_after(explanation.runs, "allocate-shared-memory")),
        rings=_rings(explanation),
        schedules=schedules(_after(explanation.runs, "tritongpu-schedule-loops")),
        timeline=timeline(report.warp_events if report is not None else []),
        roofline=roofline(explanation.counters, explanation.roofline),
        stalls=_stalls(explanation, links),
        roofline_size=(WIDTH, HEIGHT, LEFT, TOP),
        reproducer=reproducer(explanation),
    )
