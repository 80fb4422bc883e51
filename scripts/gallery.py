#!/usr/bin/env python3
"""Draws the figures of docs/gallery.md: how fast each example is beside the library that it is
compared with.

scripts/docs.sh calls it with the file to write.
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[1] / "docs"
#: `| [name.py](...) | what | case: 4371 GB/s (torch 4354) |`
ROW = re.compile(
    r"^\| \[(\w+)\.py\]\([^)]*\) \| [^|]* \| (.*): ([\d.]+) (GB/s|TFLOP/s) \((\w+) ([\d.]+)\) \|$",
    re.M,
)
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1b1f24; }
.small { font-size: 11px; fill: #515a64; } .ours { fill: #0b57d0; } .other { fill: #c9d1d9; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .small { fill: #a3adb8; }
  .ours { fill: #8ab4f8; } .other { fill: #3a434d; }
}
"""
LEFT, WIDTH, ROW_HEIGHT = 200, 380, 52


class Figure(NamedTuple):
    name: str
    case: str
    value: float
    unit: str
    other: str
    reference: float


def figures(page: str) -> list[Figure]:
    return [
        Figure(name, case, float(value), unit, other, float(reference))
        for name, case, value, unit, other, reference in ROW.findall(page)
    ]


def bar(y: int, share: float, label: str, kind: str) -> str:
    width = round(share * WIDTH)
    return (
        f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{width}" height="15" rx="2"/>'
        f'<text class="small" x="{LEFT + width + 6}" y="{y + 12}">{escape(label)}</text>'
    )


def draw(found: list[Figure]) -> str:
    """Two bars for each figure; the faster one is as wide as there is room."""
    parts = []
    for number, one in enumerate(found):
        y = 10 + number * ROW_HEIGHT
        most = max(one.value, one.reference)
        parts += [
            f'<text x="0" y="{y + 13}">{escape(one.name)}</text>',
            f'<text class="small" x="0" y="{y + 29}">{escape(one.case)}</text>',
            bar(y, one.value / most, f"tile {one.value:g} {one.unit}", "ours"),
            bar(y + 18, one.reference / most, f"{one.other} {one.reference:g}", "other"),
        ]
    height = 10 + len(found) * ROW_HEIGHT
    width = LEFT + WIDTH + 130
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="Examples beside libraries, on an H200">\n'
        f"<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(figures((DOCS / "gallery.md").read_text())))
