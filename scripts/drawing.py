#!/usr/bin/env python3
"""Writes the drawing of docs/architecture.md: the stages of a compile, and their folders.

scripts/docs.sh calls it with the file to write.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

#: What a stage is called, what its text is, and the folders that make it.
STAGES = [
    ("Python", "a kernel", ["@tile.jit"]),
    ("ttir", "tt", ["python/tile/compiler", "Dialect/Triton"]),
    ("ttgir", "ttg, ttnvgpu, amdg", ["MiddleEnd", "Dialect/TritonGPU", "a backend"]),
    ("llir", "llvm, nvvm, rocdl", ["Conversion", "a backend"]),
    ("ptx, amdgcn", "assembly", ["Target", "LLVM"]),
    ("cubin, hsaco", "machine code", ["a backend"]),
]
#: What runs the last stages, below them.
RUNS = [
    ("simulator", "every access is checked", ["lib/Simulator"], 4),
    ("GPU", "CUDA and HIP drivers", ["python/tile/runtime"], 5),
]
#: What many stages ask, with the first and the last stage that do.
ASKED = [
    ("Layout", "which thread holds which element", 2, 3),
    ("Analysis", "axis info, aliases, memory model, allocation, barriers", 1, 3),
    ("TargetModel", "what the machine has, asked by name", 2, 3),
]
WIDTH, GAP, TOP = 148, 26, 14
BOX_HEIGHT, LINE = 52, 15


def text(x: float, y: float, content: str, style: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(content)}</text>'


def box(x: float, y: float, width: float, height: float, fill: str) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" '
        f'fill="{fill}" stroke="#456"/>'
    )


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#456" '
        'stroke-width="1.5" marker-end="url(#head)"/>'
    )


def left(stage: int) -> float:
    return TOP + stage * (WIDTH + GAP)


def labelled(stage: int, y: float, name: str, about: str, folders: list[str], fill: str) -> list:
    middle = left(stage) + WIDTH / 2
    parts = [
        box(left(stage), y, WIDTH, BOX_HEIGHT, fill),
        text(middle, y + 22, name, 'font-weight="bold" text-anchor="middle"'),
        text(middle, y + 40, about, 'font-size="11" text-anchor="middle"'),
    ]
    for i, folder in enumerate(folders):
        style = 'font-size="11" text-anchor="middle" fill="#456" font-family="monospace"'
        parts.append(text(middle, y + BOX_HEIGHT + LINE * (i + 1), folder, style))
    return parts


def drawing() -> str:
    parts = []
    for i, (name, about, folders) in enumerate(STAGES):
        parts += labelled(i, TOP, name, about, folders, "#e8f0fa")
        if i:
            middle = TOP + BOX_HEIGHT / 2
            parts.append(arrow(left(i) - GAP, middle, left(i) - 3, middle))
    below = TOP + BOX_HEIGHT + 4 * LINE
    for name, about, folders, stage in RUNS:
        middle = left(stage) + WIDTH / 2
        parts.append(arrow(middle, below - 1.4 * LINE, middle, below + 6))
        parts += labelled(stage, below + 10, name, about, folders, "#e9f6ea")
    # What is asked stands under the stages that ask.
    for i, (name, about, first, last) in enumerate(ASKED):
        y = below + 10 + i * 34
        width = (last - first) * (WIDTH + GAP) + WIDTH
        parts.append(box(left(first), y, width, 28, "#fdf3e1"))
        label = f"{name}: {about}"
        parts.append(text(left(first) + 10, y + 18, label, 'font-size="11"'))
    width = left(len(STAGES)) - GAP + TOP
    height = below + 10 + 3 * 34 + TOP
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="13">',
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto">'
        '<path d="M0,0 L6,3 L0,6 z" fill="#456"/></marker></defs>',
        f'<rect width="{width:g}" height="{height:g}" fill="white"/>',
        *parts,
        "</svg>",
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(drawing())
