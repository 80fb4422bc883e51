"""What warps recorded, as traces and trees show it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...errors import TileError
from ..core.in_kernel import Unit
from ..mode import BaseMode, Default, InstrumentationMode

#: Processes of a trace: those before are the host and the device.
_FIRST_PROCESS = 16


def mode_of(mode: BaseMode) -> InstrumentationMode:
    """The mode of a session with the backend `instrumentation`."""
    if not mode.name:
        return Default()
    if isinstance(mode, InstrumentationMode):
        return mode
    raise TileError(
        f"the profiler backend instrumentation has no mode {mode.name!r}: it has default and mma"
    )


def processes() -> Iterator[int]:
    """Numbers for processes of a trace."""
    return itertools.count(_FIRST_PROCESS)


def events(
    kernel: str, units: Sequence[Unit], numbers: Iterator[int], at: Callable[[Unit, int], float]
) -> list[dict[str, Any]]:
    """A process for each block, a thread for each warp that records. `at` says how many
    microseconds after the kernel's start a unit came to a number of cycles."""
    found: list[dict[str, Any]] = []
    of_block: dict[int, int] = {}
    for unit in units:
        pid = of_block.get(unit.block)
        if pid is None:
            pid = of_block[unit.block] = next(numbers)
            found.append(_named("process", pid, 0, f"{kernel} block {unit.block}"))
        found.append(_named("thread", pid, unit.warp, f"warp {unit.warp}"))
        for span in unit.spans:
            args: dict[str, Any] = {"call_stack": [kernel, *span.path], "cycles": span.cycles}
            if span.file:
                args["source"] = f"{span.file}:{span.line}"
            if unit.lost:
                args["lost"] = unit.lost
            begin, end = at(unit, span.begin), at(unit, span.begin + span.cycles)
            found.append({
                "ph": "X", "name": span.name, "cat": kernel, "pid": pid, "tid": unit.warp,
                "ts": begin, "dur": end - begin, "args": args,
            })  # fmt: skip
    return found


def _named(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": f"{what}_name", "pid": pid, "tid": tid, "args": {"name": name}}


def scopes(
    units: Sequence[Unit], of_device: dict[str, Any], rate: float | None = None
) -> list[tuple[str, dict[str, Any]]]:
    """For each scope of a launch the cycles of all warps, those of one warp in the mean, and how
    often warps came to it; with the cycles of a nanosecond also the time of all warps."""
    cycles: dict[str, int] = {}
    counts: dict[str, int] = {}
    for unit in units:
        for span in unit.spans:
            cycles[span.name] = cycles.get(span.name, 0) + span.cycles
            counts[span.name] = counts.get(span.name, 0) + 1
    found = []
    for name, total in cycles.items():
        metrics = {
            "cycles": total, "normalized_cycles": total / len(units), "count": counts[name],
            **of_device,
        }  # fmt: skip
        if rate is not None:
            metrics["warp_time (ns)"] = round(total / rate)
        found.append((name, metrics))
    return found
