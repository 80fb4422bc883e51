#!/usr/bin/env python3
"""Writes docs/generated/findings.md: the kinds of findings, and the rules of races and barriers.

Both are tables in include/tile/Rules. The simulator and the sanitizers say what stands there.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

RULES = Path(__file__).resolve().parent.parent / "include" / "tile" / "Rules"
#: A row: a name, and texts of one or more pieces each.
ROW = re.compile(r"^(?:KIND|RULE)\((.*?)\)$", re.M | re.S)
PIECES = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*|\w+')


def rows(name: str) -> list[list[str]]:
    """The columns of each row of a table."""
    text = re.sub(r"^//.*$", "", (RULES / name).read_text(), flags=re.M)
    return [
        [
            ast.literal_eval(f"({piece})") if piece[0] == '"' else piece
            for piece in PIECES.findall(row)
        ]
        for row in ROW.findall(text)
    ]


def page() -> str:
    lines = [
        "# Kinds of findings, and the rules of races and barriers",
        "",
        "`scripts/findings.py` writes this page from `include/tile/Rules`. The simulator and the",
        "sanitizers take their texts from the same tables. [Findings](../findings.md) says more",
        "about the kinds that you meet most often.",
        "",
        "| kind | meaning | what to do |",
        "|---|---|---|",
        *(f"| `{kind}` | {meaning} | {remedy} |" for kind, meaning, remedy in rows("Kinds.def")),
        "",
        "## Races and barriers",
        "",
        "These rules are checked in the simulator, and in kernels under",
        "[`instrumentation_mode=\"consan\"`](../howto/sanitizers.md).",
        "",
        "| kind | text |",
        "|---|---|",
        *(f"| `{kind}` | {text} |" for _, kind, text in rows("Rules.def")),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
