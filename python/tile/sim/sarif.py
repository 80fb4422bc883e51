"""Findings in the format that code-scanning tools read (SARIF 2.1.0)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .report import Report


def _location(place: dict[str, Any], ptx_file: str) -> dict[str, Any]:
    file, line, column = place["file"], place["source_line"], place["source_column"]
    # Of what a library inlined, the line of the kernel: scanners leave out files of others.
    if place["call_line"]:
        file, line, column = place["call_file"], place["call_line"], place["call_column"]
    region: dict[str, int] = {"startLine": line if file else place["line"]}
    if file and column:
        region["startColumn"] = column
    return {
        "physicalLocation": {"artifactLocation": {"uri": file or ptx_file}, "region": region},
        "logicalLocations": [{"name": f"assembly line {place['line']}", "kind": "instruction"}],
    }


def _thread(thread: dict[str, Any]) -> str:
    return f"cta {tuple(thread['cta'])} thread {tuple(thread['thread'])}"


def _result(finding: dict[str, Any], ptx_file: str) -> dict[str, Any]:
    # What shows only in several launches has no place.
    who = f" ({_thread(finding['thread'])})" if "thread" in finding else ""
    result: dict[str, Any] = {
        "ruleId": finding["kind"],
        "level": "error",
        "message": {"text": finding["message"] + who},
    }
    if "place" in finding:
        result["locations"] = [_location(finding["place"], ptx_file)]
    if "other_place" in finding:
        other = _location(finding["other_place"], ptx_file)
        other["message"] = {"text": f"the other access ({_thread(finding['other_thread'])})"}
        result["relatedLocations"] = [other]
    if "reason" in finding:
        result["suppressions"] = [{"kind": "external", "justification": finding["reason"]}]
    return result


def sarif(reports: Iterable[Report], ptx_file: str = "kernel.ptx") -> dict[str, Any]:
    """One run with the findings of all reports; suppressed ones are marked so. `ptx_file` stands
    for places in PTX without `.loc`."""
    findings = [f for report in reports for f in (*report.findings, *report.suppressed)]
    rules = sorted({f["kind"] for f in findings})
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "tile.sim", "rules": [{"id": rule} for rule in rules]}},
                "results": [_result(f, ptx_file) for f in findings],
            }
        ],
    }
