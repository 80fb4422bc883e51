"""What the warps, the engines and the barriers of the first block do, by the latency model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

#: Of a row that are drawn, and rows.
_MOST_SPANS, _MOST_ROWS = 400, 24


@dataclass
class Span:
    start: float
    length: float
    name: str

    @property
    def waits(self) -> bool:
        return self.name.startswith("wait")


@dataclass
class Row:
    name: str
    spans: list[Span] = field(default_factory=list)


@dataclass
class Timeline:
    rows: list[Row] = field(default_factory=list)
    cycles: float = 1
    note: str = ""


def timeline(events: list[dict[str, Any]]) -> Timeline:
    """Of the events of a report, those of its first block."""
    result = Timeline()
    rows: dict[int, Row] = {}
    for event in events:
        if event["pid"] != events[0]["pid"]:
            continue
        if event["ph"] == "M" and event["name"] == "thread_name":
            rows[event["tid"]] = Row(event["args"]["name"])
        if event["ph"] == "X" and event["tid"] in rows:
            spans = rows[event["tid"]].spans
            spans.append(Span(event["ts"], event["dur"], event["name"]))
            result.cycles = max(result.cycles, event["ts"] + event["dur"])
    for row in rows.values():
        if len(row.spans) > _MOST_SPANS:
            result.note = f"Rows show their {_MOST_SPANS} longest spans."
            longest = sorted(row.spans, key=lambda span: -span.length)[:_MOST_SPANS]
            row.spans = sorted(longest, key=lambda span: span.start)
    result.rows = [rows[tid] for tid in sorted(rows) if rows[tid].spans][:_MOST_ROWS]
    return result
