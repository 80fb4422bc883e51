"""Findings in the format that code-scanning tools read (SARIF 2.1.0)."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .findings import grouped
from .kinds import KINDS

if TYPE_CHECKING:
    from .report import Report


#: What relative addresses of files start from.
_ROOT = "%SRCROOT%"


def _artifact(file: str) -> dict[str, str]:
    """A file, relative to the folder of the process if it is below it."""
    path = Path(file)
    if path.is_absolute():
        if not path.is_relative_to(Path.cwd()):
            return {"uri": path.as_uri()}
        path = path.relative_to(Path.cwd())
    return {"uri": urllib.parse.quote(path.as_posix()), "uriBaseId": _ROOT}


def _location(place: dict[str, Any], ptx_file: str) -> dict[str, Any]:
    file, line, column = place["file"], place["source_line"], place["source_column"]
    # Of what a library inlined, the line of the kernel: scanners leave out files of others.
    if place["call_line"]:
        file, line, column = place["call_file"], place["call_line"], place["call_column"]
    region: dict[str, int] = {"startLine": line if file else place["line"]}
    if file and column:
        region["startColumn"] = column
    return {
        "physicalLocation": {"artifactLocation": _artifact(file or ptx_file), "region": region},
        "logicalLocations": [{"name": f"assembly line {place['line']}", "kind": "instruction"}],
    }


def _thread(thread: dict[str, Any]) -> str:
    return f"cta {tuple(thread['cta'])} thread {tuple(thread['thread'])}"


def _related(place: dict[str, Any], text: str, ptx_file: str) -> dict[str, Any]:
    return {**_location(place, ptx_file), "message": {"text": text}}


def _result(group: Sequence[dict[str, Any]], ptx_file: str) -> dict[str, Any]:
    """One mistake, with all places where it shows."""
    finding = group[0]
    # What shows only in several launches has no place.
    who = f" ({_thread(finding['thread'])})" if "thread" in finding else ""
    result: dict[str, Any] = {
        "ruleId": finding["kind"],
        "level": "error",
        "message": {"text": finding["message"] + who},
    }
    if "place" in finding:
        result["locations"] = [_location(finding["place"], ptx_file)]
    related = []
    for one in group:
        if one is not finding:
            related.append(_related(one["place"], "the same mistake", ptx_file))
        if "other_place" in one:
            text = f"the other access ({_thread(one['other_thread'])})"
            related.append(_related(one["other_place"], text, ptx_file))
    if related:
        result["relatedLocations"] = related
    if "reason" in finding:
        result["suppressions"] = [{"kind": "external", "justification": finding["reason"]}]
    return result


def _rule(kind: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": kind}
    if kind in KINDS:
        rule["shortDescription"] = {"text": KINDS[kind]}
    return rule


def sarif(reports: Iterable[Report], ptx_file: str = "kernel.ptx") -> dict[str, Any]:
    """One run with the findings of all reports; findings with one cause are one result, suppressed
    ones are marked so. `ptx_file` stands for places in PTX without `.loc`."""
    from tile import __version__

    groups = [
        group
        for report in reports
        for group in (
            *grouped(report.findings, report.ptx or ""),
            *([f] for f in report.suppressed),
        )
    ]
    rules = sorted({group[0]["kind"] for group in groups})
    driver = {"name": "tile.sim", "version": __version__, "rules": [_rule(kind) for kind in rules]}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "originalUriBaseIds": {_ROOT: {"uri": f"{Path.cwd().as_uri()}/"}},
                "results": [_result(group, ptx_file) for group in groups],
            }
        ],
    }
