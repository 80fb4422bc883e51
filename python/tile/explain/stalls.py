"""What warps waited for on a GPU: samples of the program counter, from a profile of its own.

The simulator counts; it does not know what warps of a GPU wait for. A profile that was taken with
`pcsampling` does, line by line. Its file may come from another machine, where sources lie in other
folders.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import TileError

#: A line of a kernel, as the profiler names it (`profiler.core.records.Location`).
_LINE = re.compile(r"^(?P<file>.+):(?P<line>\d+)@(?P<function>.+)$")
_REASON = "stalled_"
#: Samples of warps that had issued an instruction, or might have.
_NO_STALLS = ("selected", "not_selected")

#: What a reason means. NVIDIA's names, without `smsp__pcsamp_warps_issue_` in front of them.
MEANINGS = {
    "barrier": "other warps at a barrier",
    "branch_resolving": "where a branch goes",
    "dispatch_stall": "the dispatcher",
    "drain": "stores at the end of the kernel",
    "gmma": "matrix products of warp groups",
    "imc_miss": "constants",
    "lg_throttle": "the queue of accesses to global memory, which is full",
    "long_scoreboard": "global or local memory",
    "math_pipe_throttle": "an arithmetic unit that is busy",
    "membar": "a fence of memory",
    "mio_throttle": "the queue of shared memory and special instructions, which is full",
    "no_instructions": "the instruction cache",
    "short_scoreboard": "shared memory, or a special function",
    "sleeping": "a sleep that the program asks for",
    "tex_throttle": "the queue of textures, which is full",
    "wait": "a fixed number of cycles between two instructions",
    "warpgroup_arrive": "the warps of a warp group",
}


@dataclass
class Stalls:
    """Of a source line."""

    file: str
    line: int
    samples: int = 0
    #: Samples by what was waited for, the most frequent first.
    reasons: dict[str, int] = field(default_factory=dict)
    #: The share of the kernel's samples.
    share: float = 0.0

    @property
    def causes(self) -> list[tuple[str, str, float]]:
        """What was waited for: the name, what it means, and the share of the line's samples."""
        return [
            (name, MEANINGS.get(name, ""), count / self.samples)
            for name, count in self.reasons.items()
        ]


@dataclass
class Samples:
    """Of one kernel."""

    total: int = 0
    lines: list[Stalls] = field(default_factory=list)


def read_samples(path: Path) -> dict[str, Samples]:
    """The kernels of a profile (`.hatchet`) that have samples, by their names."""
    try:
        roots = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TileError(f"cannot read '{path}': {error.strerror}") from None
    except ValueError as error:
        raise TileError(f"'{path}' is no profile: {error}") from None
    counted: dict[str, dict[tuple[str, int], Counter[str]]] = {}
    for node in roots if isinstance(roots, list) else ():
        for function, place, metrics in _lines(node):
            line = counted.setdefault(function, {}).setdefault(place, Counter())
            line.update({k: v for k, v in metrics.items() if _is_number(v)})
    found = {name: _samples(lines) for name, lines in counted.items()}
    if not any(samples.total for samples in found.values()):
        raise TileError(
            f"'{path}' has no samples of source lines: take the profile with "
            "`tile profile -m pcsampling PROGRAM`, on a GPU"
        )
    if not any(one.reasons for samples in found.values() for one in samples.lines):
        raise TileError(
            f"'{path}' is not of a GPU: it counts the instructions of lines, and does not say what "
            "warps waited for"
        )
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _lines(node: Any) -> Iterator[tuple[str, tuple[str, int], dict[str, Any]]]:
    """The lines below a node: their function, their place, and their metrics."""
    if not isinstance(node, dict):
        return
    metrics = node.get("metrics") or {}
    match = _LINE.match(str((node.get("frame") or {}).get("name", "")))
    if match and "num_samples" in metrics:
        yield match["function"], (match["file"], int(match["line"])), metrics
    for child in node.get("children") or ():
        yield from _lines(child)


def _samples(lines: dict[tuple[str, int], Counter[str]]) -> Samples:
    total = sum(counts["num_samples"] for counts in lines.values())
    result = Samples(int(total))
    for (file, line), counts in lines.items():
        reasons = Counter(
            {
                name.removeprefix(_REASON): int(count)
                for name, count in counts.items()
                if name.startswith(_REASON) and name.removeprefix(_REASON) not in _NO_STALLS
            }
        )
        samples = int(counts["num_samples"])
        share = samples / total if total else 0.0
        result.lines.append(Stalls(file, line, samples, dict(reasons.most_common()), share))
    result.lines.sort(key=lambda one: -one.samples)
    return result


def placed(samples: Samples, files: set[str]) -> Samples:
    """The same, with the paths that files have here: another machine has them elsewhere."""
    here: dict[str, str] = {}
    for file in files:
        here.setdefault(Path(file).name, file)
    lines = [
        one if one.file in files else replace(one, file=here.get(Path(one.file).name, one.file))
        for one in samples.lines
    ]
    return Samples(samples.total, lines)
