"""A page of rows and spans from a Chrome trace, as viewers of traces draw it."""

from __future__ import annotations

import html
from typing import Any

ROW, HEAD, LEFT, WIDTH = 22, 24, 230, 1240
#: Colours of spans, by the name.
COLOURS = ("#8ecae6", "#ffb703", "#90be6d", "#f28482", "#cdb4db", "#f6bd60", "#84a59d", "#a0c4ff")


def _names(trace: dict[str, Any], kind: str) -> dict[Any, str]:
    """Of processes, or of their threads."""
    found = {}
    for event in trace["traceEvents"]:
        if event.get("ph") == "M" and event["name"] == kind:
            key = event["pid"] if kind == "process_name" else (event["pid"], event["tid"])
            found[key] = event["args"]["name"]
    return found


def _depths(spans: list[dict[str, Any]]) -> list[int]:
    """How many of the earlier spans each one lies in."""
    open_until: list[float] = []
    depths = []
    for span in spans:
        while open_until and open_until[-1] <= span["ts"] + 1e-9:
            open_until.pop()
        depths.append(len(open_until))
        open_until.append(span["ts"] + span["dur"])
    return depths


def _clipped(row: list[dict[str, Any]], first: float, last: float) -> list[dict[str, Any]]:
    """The parts of spans that lie between two times."""
    found = []
    for span in row:
        begin, end = max(span["ts"], first), min(span["ts"] + span["dur"], last)
        if begin < end:
            found.append({**span, "ts": begin, "dur": end - begin})
    return found


def _span(span: dict[str, Any], left: float, width: float, top: int, colours: dict) -> str:
    name = span["name"].rpartition("/")[2]  # Of a source line, the file alone.
    colour = colours.setdefault(name, COLOURS[len(colours) % len(COLOURS)])
    return (
        f'<div class="span" style="left:{left:.1f}px;width:{max(width, 1):.1f}px;top:{top}px;'
        f'background:{colour}">{html.escape(name) if width > 24 else ""}</div>'
    )


def page(
    trace: dict[str, Any], title: str, most_rows: int = 16, during: str = "", length: float = 0
) -> str:
    """The first rows of a trace, and of those what happens during the first span whose name begins
    so, or in the first so many microseconds."""
    processes, threads = _names(trace, "process_name"), _names(trace, "thread_name")
    rows: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for event in trace["traceEvents"]:
        if event.get("ph") == "X":
            rows.setdefault((event["pid"], event["tid"]), []).append(event)
    spans = [span for row in rows.values() for span in row if span["name"].startswith(during)]
    first = min(span["ts"] for span in spans)
    last = max(span["ts"] + span["dur"] for span in (spans[:1] if during else spans))
    last = first + length if length else last
    shown = [(key, _clipped(row, first, last)) for key, row in rows.items()]
    shown = [(key, row) for key, row in shown if row][:most_rows]
    scale = (WIDTH - LEFT - 10) / max(last - first, 1e-9)
    parts, top, process, colours = [], 0, object(), {}
    for (pid, tid), row in shown:
        if pid != process:
            process = pid
            name = html.escape(str(processes.get(pid, pid)))
            parts.append(f'<div class="process" style="top:{top}px">{name}</div>')
            top += HEAD
        row.sort(key=lambda span: (span["ts"], -span["dur"]))
        depths = _depths(row)
        name = html.escape(str(threads.get((pid, tid), tid)))
        parts.append(f'<div class="thread" style="top:{top}px">{name}</div>')
        for span, depth in zip(row, depths, strict=True):
            left = LEFT + (span["ts"] - first) * scale
            parts.append(_span(span, left, span["dur"] * scale, top + depth * ROW, colours))
        top += (max(depths) + 1) * ROW + 4
    return f"""<!doctype html><meta charset="utf-8"><style>
body {{ font: 12px sans-serif; margin: 10px; width: {WIDTH}px; color: #222; background: white; }}
h1 {{ font-size: 14px; }} #rows {{ position: relative; height: {top}px; }}
.process, .thread, .span {{ position: absolute; white-space: nowrap; overflow: hidden; }}
.process {{ left: 0; right: 0; height: {HEAD - 4}px; background: #e8edf2; font-weight: bold;
  padding: 2px 4px 0; }}
.thread {{ left: 8px; width: {LEFT - 16}px; padding-top: 3px; }}
.span {{ height: {ROW - 5}px; padding-top: 2px; border-radius: 2px; font-size: 11px;
  outline: 1px solid white; text-indent: 3px; }}
</style><h1>{html.escape(title)}</h1><div id="rows">{"".join(parts)}</div>"""


def text_page(command: str, text: str) -> str:
    """What a command printed, as on a terminal."""
    return f"""<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: white; }}
pre {{ font: 14px/1.35 monospace; margin: 10px; padding: 12px 16px; background: #1e2430;
  color: #e6e6e6; border-radius: 6px; display: inline-block; min-width: 560px; }}
b {{ color: #9ecbff; font-weight: normal; }}</style>
<pre><b>$ {html.escape(command)}</b>\n{html.escape(text.rstrip())}</pre>"""


__all__ = ["page", "text_page"]
