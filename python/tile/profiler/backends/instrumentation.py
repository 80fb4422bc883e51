"""Kernels that record themselves, in the simulator: when each warp came to the kernel's scopes."""

from __future__ import annotations

from typing import Any

from ... import knobs
from ...backends.sim_driver import LAUNCHES, SimulatedLaunch
from ..core import sums
from ..core.in_kernel import Unit, decode
from ..hooks.instrumentation import InstrumentationHook
from . import warps
from .simulator import Simulator


class Instrumentation(Simulator):
    """Records of launches in the simulator. Beside them, kernels have its counters."""

    name = "instrumentation"
    shows_launches = False

    def start(self, mode: Any) -> None:
        warps.mode_of(mode)
        LAUNCHES.add(self.launched)

    def hooks(self, mode: Any) -> list[Any]:
        return [InstrumentationHook(warps.mode_of(mode))]

    def _inside(
        self, launch: SimulatedLaunch, timeline: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        events = warps.events(launch.name, _units(launch), _microseconds)
        if knobs.proton.launches_in_trace:  # With what each warp waits for, copies and barriers.
            events += super()._inside(launch, timeline)
        return events

    def _below(self, launch: SimulatedLaunch) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
        device = {"device_id": "0", "device_type": self.device_type}
        units = _units(launch)
        return warps.scopes(sums.of_units(units), len(units), device)


def _units(launch: SimulatedLaunch) -> list[Unit]:
    if launch.records is None:
        return []
    return decode(launch.records, launch.recorded.reshape(-1, launch.records["unit_bytes"]))


def _microseconds(unit: Unit, cycles: int) -> float:
    """A cycle stands for a nanosecond. Clocks of blocks have nothing to do with each other."""
    return (cycles - unit.origin) / 1000


__all__ = ["Instrumentation"]
