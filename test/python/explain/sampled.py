"""Stand-ins for profiles with samples of the program counter, in the shape that a GPU's have
(`test_profiler_cupti.py` holds them to that)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def node(name: str, metrics: dict[str, int] | None = None, children: list | None = None) -> dict:
    frame = {"name": name, "type": "function"}
    return {"frame": frame, "metrics": metrics or {}, "children": children or []}


def kernel(name: str, file: str, lines: dict[int, dict[str, int]]) -> dict:
    """A launch, with what was sampled on each line."""
    below = [
        node(f"{file}:{line}@{name}", {"num_samples": sum(reasons.values()), **reasons})
        for line, reasons in lines.items()
    ]
    return node(name, {"count": 1, "time (ns)": 1000}, below)


def write(path: Path, *scopes: dict[str, Any]) -> Path:
    devices = {"CUDA": {"0": {"arch": "90"}}}
    path.write_text(json.dumps([node("ROOT", {}, list(scopes)), devices]))
    return path
