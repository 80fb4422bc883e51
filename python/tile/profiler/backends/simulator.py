"""Kernels that run in the simulator: its counters, and cycles of its model.

A cycle is no measurement. Of a launch it is the larger of two bounds: what the first cluster of
blocks takes by the latency model, and what the roofline of the whole GPU takes.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

from ... import knobs
from ...backends.sim_driver import LAUNCHES, SimulatedLaunch
from ...errors import TileError
from ..core.paths import ROOT
from ..core.records import Kernel
from ..core.sessions import sessions
from ..core.stack import Place
from ..core.threads import threads
from .base import Backend

#: Counters of a launch that are metrics of its kernel.
_COUNTERS = (
    "warp_instructions", "lane_instructions", "global_load_bytes", "global_store_bytes",
    "global_load_sectors", "global_store_sectors", "shared_load_bytes", "shared_store_bytes",
    "bank_conflicts", "local_load_bytes", "local_store_bytes", "async_bytes", "atomics",
    "barriers", "divergent_branches", "tensor_flops",
)  # fmt: skip

#: Processes of a trace: those before are the host and the device.
_FIRST_PROCESS = 16


class Simulator(Backend):
    name = "simulator"
    device_type = "SIM"

    def __init__(self) -> None:
        self.with_lines = False
        self.with_timelines = False
        self._properties: dict[str, Any] = {}
        self._processes = itertools.count(_FIRST_PROCESS)

    def start(self, mode: Any) -> None:
        if mode.name not in ("", "pcsampling", "periodic_flushing"):
            raise TileError(
                f"the profiler of the simulator has no mode {mode.name!r}: it has pcsampling "
                "(instructions by source line) and periodic_flushing"
            )
        self.with_lines = mode.name == "pcsampling"
        LAUNCHES.add(self.launched)

    def stop(self) -> None:
        LAUNCHES.remove(self.launched)

    def changed(self, epoch: int, active: Sequence[Any]) -> None:
        self.with_timelines = any(s.data == "trace" for s in active)

    def launched(self, launch: SimulatedLaunch) -> None:
        """Called by the driver, on the thread that launched."""
        epoch = sessions.epoch
        if not any(s.backend is self for s, _ in sessions.in_epoch(epoch)):
            return
        began = time.time_ns() - launch.nanoseconds
        report = launch.report
        timeline = report.warp_events
        self._properties = launch.properties
        cycles = self._cycles(launch)
        counters = report.counters
        metrics = {
            "cycles": cycles, "count": 1, "device_id": "0", "device_type": self.device_type,
            **{name: counters[name] for name in _COUNTERS if counters.get(name)},
        }  # fmt: skip
        innermost = threads.innermost
        sessions.add_kernel(
            Kernel(
                threads.node() or ROOT, epoch, launch.name, metrics,
                scope=innermost.id if innermost else 0, stream=launch.stream or 0, backend=self,
                # A cycle stands for a nanosecond.
                start=began, end=began + cycles,
                inside=self._inside(launch, timeline) if self.with_timelines else [],
                below=self._below(launch),
            )
        )  # fmt: skip

    def _cycles(self, launch: SimulatedLaunch) -> int:
        roofline = launch.report.roofline()
        return max(1, round(roofline["expected"] * roofline["clock"]))

    def _inside(
        self, launch: SimulatedLaunch, timeline: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """The warps of the first cluster: a process for each kernel and block, a thread for each
        warp."""
        processes: dict[int, int] = {}
        events = []
        for event in timeline:
            pid = processes.get(event["pid"])
            if pid is None:
                pid = processes[event["pid"]] = next(self._processes)
            event = {**event, "pid": pid}
            if event["ph"] == "X":
                event |= {
                    "ts": event["ts"] / 1000, "dur": event["dur"] / 1000, "cat": launch.name,
                }  # fmt: skip
            elif event["name"] == "process_name":
                event["args"] = {"name": f"{launch.name} {event['args']['name']}"}
            events.append(event)
        return events

    def _below(self, launch: SimulatedLaunch) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
        """What stands below the kernel in a tree."""
        return _lines(launch) if self.with_lines else []

    def devices(self) -> dict[str, Any]:
        known = self._properties
        if not known:
            return {}
        return {
            self.device_type: {
                "0": {
                    "arch": knobs.runtime.sim_target,
                    "bus_width": known.get("mem_bus_width", 0),
                    "clock_rate": known.get("sm_clock_rate", 0),
                    "memory_clock_rate": known.get("mem_clock_rate", 0),
                    "num_sms": known.get("multiprocessor_count", 0),
                    "time": "cycles of the simulator's model, no measurement",
                }
            }
        }

    def about(self) -> dict[str, Any]:
        return {
            "otherData": {
                "device time": "cycles of the simulator's model, one for each nanosecond shown; "
                "a kernel begins when its simulation began"
            }
        }


def _lines(launch: SimulatedLaunch) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Instructions by source line, as a GPU's samples of the program counter."""
    found = []
    for line in launch.report.lines:
        if line.get("file"):
            name = str(Place(line["file"], line["line"], launch.name))
            found.append(((name,), {"num_samples": line["warp_instructions"]}))
    return found
