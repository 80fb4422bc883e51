"""Kernels that record themselves, on a GPU: when each warp came to the kernel's scopes.

Launches only take memory for their records. It is read when the session's data is asked for, or
when there is no more of it; see `tile.runtime.recorded`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...runtime import recorded
from ...runtime.recorded import RecordedLaunch
from ..core import sums
from ..core.clock import Clock
from ..core.in_kernel import Unit, decode
from ..core.records import Kernel
from ..core.sessions import sessions
from ..core.sums import Times
from ..core.threads import threads
from ..hooks.instrumentation import InstrumentationHook
from . import warps
from .base import Backend


@dataclass(slots=True)
class _Launch:
    """A launch, and where the program was."""

    launch: RecordedLaunch
    node: int
    epoch: int
    scope: int


class DeviceInstrumentation(Backend):
    """Records of launches on a GPU. Kernels without scopes record nothing, and are left out."""

    name = "instrumentation"
    shows_launches = False

    def __init__(self, device_type: str) -> None:
        self.device_type = device_type
        self._launches: list[_Launch] = []
        self._clocks: dict[int, Clock] = {}

    def start(self, mode: Any) -> None:
        warps.mode_of(mode)
        recorded.RECORDED.add(self.launched)

    def stop(self) -> None:
        recorded.RECORDED.remove(self.launched)
        self._launches.clear()
        recorded.free_all()

    def hooks(self, mode: Any) -> list[Any]:
        return [InstrumentationHook(warps.mode_of(mode))]

    def launched(self, launch: RecordedLaunch) -> None:
        """Called by the driver, on the thread that launched."""
        innermost = threads.innermost
        scope = innermost.id if innermost else 0
        self._launches.append(_Launch(launch, threads.node(), sessions.epoch, scope))

    def collect(self, sessions: Any, wait: bool) -> None:
        if wait:
            recorded.read_all()
        known, self._launches = self._launches, []
        ready = [one for one in known if one.launch.data is not None]
        self._launches = [one for one in known if one.launch.data is None] + self._launches
        times = [Times.of_rows(one.launch.described, one.launch.data) for one in ready]
        for one, when in zip(ready, times, strict=True):  # The clock is that of all of them.
            self._clock(one.launch.device).note(when, one.launch.launched)
        for one, when in zip(ready, times, strict=True):
            sessions.add_kernel(self._kernel(one, when, sessions))
            one.launch.data = None

    def pending(self, epochs: Sequence[int]) -> bool:
        return any(one.epoch in epochs for one in self._launches)

    def _kernel(self, one: _Launch, times: Times, sessions: Any) -> Kernel:
        launch = one.launch
        described, rows = launch.described, launch.data
        clock = self._clock(launch.device)
        rate = clock.rate_of(times)
        of_device = {"device_id": str(launch.device), "device_type": self.device_type}
        wanted = {s.data for s, _ in sessions.in_epoch(one.epoch) if s.backend is self}
        # To look at each warp takes a while, where there are many.
        totals = sums.of_rows(described, rows) if "tree" in wanted else {}
        units = decode(described, rows) if "trace" in wanted or totals is None else []
        events = []
        if "trace" in wanted:
            at = _microseconds(units, times.first, rate)
            events = warps.events(launch.name, units, at)
        if totals is None:
            totals = sums.of_units(units)
        took, start = times.last - times.first, clock.to_host(times.first)
        return Kernel(
            one.node, one.epoch, launch.name, {"time (ns)": took, "count": 1, **of_device},
            scope=one.scope, backend=self, device=launch.device, stream=launch.stream,
            start=start, end=start + took, inside=events,
            below=warps.scopes(totals, times.units, of_device, rate),
        )  # fmt: skip

    # The device.

    def _clock(self, device: int) -> Clock:
        clock = self._clocks.get(device)
        if clock is None:
            rate = _driver().device_properties(device).get("sm_clock_rate", 0)
            clock = self._clocks[device] = Clock(rate)
        return clock

    def devices(self) -> dict[str, Any]:
        found = {}
        for device, clock in sorted(self._clocks.items()):
            known = _driver().device_properties(device)
            found[str(device)] = {
                "arch": str(_driver().get_current_target().arch),
                "bus_width": known["mem_bus_width"], "clock_rate": known["sm_clock_rate"],
                "memory_clock_rate": known["mem_clock_rate"],
                "num_sms": known["multiprocessor_count"], "time": clock.about(),
            }  # fmt: skip
        return {self.device_type: found} if found else {}

    def about(self) -> dict[str, Any]:
        clocks = {f"clock of device {d}": c.about() for d, c in sorted(self._clocks.items())}
        return {"otherData": clocks} if clocks else {}

    def why_empty(self) -> str:
        return "no kernel that was launched has scopes (`tile.profiler.language`)"


def _microseconds(units: list[Unit], began: int, rate: float) -> Callable[[Unit, int], float]:
    """How long after the launch's first warp a unit came to a number of cycles. Blocks begin when
    the device's timer says so; warps of a block share the clock that counts cycles."""
    starts: dict[int, float] = {}
    for unit in units:
        time = unit.time - (unit.began - unit.origin) / rate
        starts[unit.block] = max(starts.get(unit.block, time), time)
    return lambda unit, cycles: (starts[unit.block] - began + (cycles - unit.origin) / rate) / 1000


def _driver() -> Any:
    from ...runtime.driver import driver

    return driver.active


__all__ = ["DeviceInstrumentation"]
