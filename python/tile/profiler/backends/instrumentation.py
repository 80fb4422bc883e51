"""Kernels that record themselves: when each warp came to the scopes of the kernel."""

from __future__ import annotations

from typing import Any

from ...backends.sim_driver import LAUNCHES, SimulatedLaunch
from ...errors import TileError
from ..core.in_kernel import Span, Unit, decode
from ..hooks.instrumentation import InstrumentationHook
from ..mode import BaseMode, Default, InstrumentationMode
from .simulator import Simulator


def _mode_of(mode: BaseMode) -> InstrumentationMode:
    if not mode.name:
        return Default()
    if isinstance(mode, InstrumentationMode):
        return mode
    raise TileError(
        f"the profiler backend instrumentation has no mode {mode.name!r}: it has default and mma"
    )


class Instrumentation(Simulator):
    """Records of launches in the simulator. Beside them, kernels have its counters."""

    name = "instrumentation"

    def start(self, mode: Any) -> None:
        _mode_of(mode)
        LAUNCHES.add(self.launched)

    def hooks(self, mode: Any) -> list[Any]:
        return [InstrumentationHook(_mode_of(mode))]

    def _inside(
        self, launch: SimulatedLaunch, timeline: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """A process for each block, a thread for each warp that records."""
        events: list[dict[str, Any]] = []
        units = _units(launch)
        processes: dict[int, int] = {}
        for unit in units:
            if unit.block not in processes:
                processes[unit.block] = self._processes
                self._processes += 1
                name = f"{launch.name} block {unit.block}"
                events.append(_named("process", processes[unit.block], 0, name))
            pid = processes[unit.block]
            events.append(_named("thread", pid, unit.warp, f"warp {unit.warp}"))
            events += (_event(launch.name, pid, unit, span) for span in unit.spans)
        return events

    def _below(self, launch: SimulatedLaunch) -> list[tuple[str, dict[str, Any]]]:
        """For each scope the cycles of all warps, and how often they came to it."""
        device = {"device_id": "0", "device_type": self.device_type}
        return [
            (span.name, {"cycles": span.cycles, "count": 1, **device})
            for unit in _units(launch)
            for span in unit.spans
        ]


def _units(launch: SimulatedLaunch) -> list[Unit]:
    if launch.records is None:
        return []
    return decode(launch.records, launch.recorded)


def _named(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": f"{what}_name", "pid": pid, "tid": tid, "args": {"name": name}}


def _event(kernel: str, pid: int, unit: Unit, span: Span) -> dict[str, Any]:
    args: dict[str, Any] = {"call_stack": [kernel, *span.path]}
    if span.file:
        args["source"] = f"{span.file}:{span.line}"
    if unit.lost:
        args["lost"] = unit.lost
    # A cycle stands for a nanosecond. Clocks of blocks have nothing to do with each other.
    return {
        "ph": "X", "name": span.name, "cat": kernel, "pid": pid, "tid": unit.warp,
        "ts": (span.begin - unit.origin) / 1000, "dur": span.cycles / 1000, "args": args,
    }  # fmt: skip


__all__ = ["Instrumentation"]
