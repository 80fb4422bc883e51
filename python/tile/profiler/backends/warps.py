"""What warps recorded, as traces and trees show it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import TileError
from ..core.in_kernel import Span, Unit
from ..core.sums import Totals
from ..mode import BaseMode, Default, InstrumentationMode


def mode_of(mode: BaseMode) -> InstrumentationMode:
    """The mode of a session with the backend `instrumentation`."""
    if not mode.name:
        return Default()
    if isinstance(mode, InstrumentationMode):
        return mode
    raise TileError(
        f"the profiler backend instrumentation has no mode {mode.name!r}: it has default and mma"
    )


def events(
    kernel: str, units: Sequence[Unit], at: Callable[[Unit, int], float]
) -> list[dict[str, Any]]:
    """A process for each block, a thread for each warp that records. `at` says how many
    microseconds after the kernel's start a unit came to a number of cycles."""
    found: list[dict[str, Any]] = []
    for unit in units:
        common = {
            "Init Time (ns)": unit.time, "Post Final Time (ns)": unit.time + unit.nanoseconds,
            "Finalization Time (ns)": unit.writing,
        }  # fmt: skip
        if unit.lost:
            common["lost"] = unit.lost
        pid = f"{kernel} Core{unit.processor} CTA{unit.block}"
        # Scopes as they were entered, then events.
        scopes = sorted((s for s in unit.spans if s.position is not None), key=_position)
        for span in [*scopes, *(s for s in unit.spans if s.position is None)]:
            # Whoever adds the events to a trace knows the path to the kernel.
            args: dict[str, Any] = {"scopes": span.path, "cycles": span.cycles, **common}
            if span.file:
                args["source"] = f"{span.file}:{span.line}"
            begin, end = at(unit, span.begin), at(unit, span.begin + span.cycles)
            event = {
                "ph": "X", "name": span.name, "cat": kernel, "pid": pid,
                "tid": f"warp {unit.warp}", "ts": begin, "dur": end - begin, "args": args,
            }  # fmt: skip
            if span.end_warp is None:
                found.append(event)
                continue
            # An arrow from the warp that saw it begin to the one that saw it end.
            arrow = f"{next(_ARROWS)}"
            found.append({**event, "dur": 0, "bind_id": arrow, "flow_out": True})
            found.append({
                **event, "tid": f"warp {span.end_warp}", "ts": end, "dur": 0, "bind_id": arrow,
                "flow_in": True,
            })  # fmt: skip
    return found


def _position(span: Span) -> int:
    return span.position or 0


#: Numbers of arrows.
_ARROWS = itertools.count(1)


def scopes(
    totals: Totals, units: int, of_device: dict[str, Any], rate: float | None = None
) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Figures of each scope of a launch, by its path.

    These are the cycles of all warps without those of the scopes inside, the same for one warp in
    the mean, and how often warps came to it. If the cycles of a nanosecond are known, there is also
    the time of all warps.
    """
    own = {path: cycles for path, (cycles, _) in totals.items()}
    for path, (cycles, _) in totals.items():
        if path[:-1] in own:  # Viewers add what is below.
            own[path[:-1]] -= cycles
    found = []
    for path in sorted(totals):
        cycles = max(0, own[path])
        metrics = {
            "cycles": cycles, "normalized_cycles": cycles / units, "count": totals[path][1],
            **of_device,
        }  # fmt: skip
        if rate is not None:
            metrics["warp_time (ns)"] = round(cycles / rate)
        found.append((path, metrics))
    return found
