"""From cycles of warps to nanoseconds.

Each warp reads two clocks when its kernel begins and ends: one that counts cycles of its
multiprocessor, and one of a constant rate for the whole device. Their quotient is the rate of the
cycles, which changes with load and temperature. The second clock has a coarse tick on some devices,
so a short kernel alone does not tell it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from .in_kernel import Unit

#: A launch tells its own rate if its warps ran for so many ticks of the clock: to 2 percent.
_ENOUGH_TICKS = 50


class Clock:
    """The clocks of one device."""

    def __init__(self, kilohertz: int) -> None:
        #: What the device says that it runs at, for want of a measurement.
        self._nominal = kilohertz / 1e6 if kilohertz > 0 else 1.0
        self._cycles = 0
        self._nanoseconds = 0
        #: The greatest time that all readings of the second clock are multiples of.
        self.tick = 0
        #: The host's time less the device's.
        self._offset: int | None = None

    def note(self, units: Sequence[Unit], launched: int) -> None:
        """A launch, which did not begin before the host launched it."""
        for unit in units:
            self.tick = math.gcd(self.tick, unit.time, unit.time + unit.nanoseconds)
        self._cycles += sum(u.ended - u.began for u in units)
        self._nanoseconds += sum(u.nanoseconds for u in units)
        offset = launched - first_time(units)
        self._offset = offset if self._offset is None else max(self._offset, offset)

    @property
    def rate(self) -> float:
        """Cycles of a nanosecond, of all launches so far."""
        return self._cycles / self._nanoseconds if self._is_known else self._nominal

    @property
    def _is_known(self) -> bool:
        return self._cycles > 0 and self._nanoseconds > 0

    def rate_of(self, units: Sequence[Unit]) -> float:
        """Cycles of a nanosecond in one launch."""
        nanoseconds = sum(u.nanoseconds for u in units)
        cycles = sum(u.ended - u.began for u in units)
        if cycles > 0 and nanoseconds >= _ENOUGH_TICKS * max(1, self.tick) * len(units):
            return cycles / nanoseconds
        return self.rate

    def to_host(self, time: int) -> int:
        """A time of the device as one of the host. The launch that began soonest after the host
        launched it, is taken to have begun at once."""
        return time + (self._offset or 0)

    def about(self) -> str:
        """In words, for outputs."""
        if not self._is_known:
            return f"{self._nominal:.3f} GHz, which the device says; nothing was measured"
        return (
            f"{self.rate:.3f} GHz, measured by the device's timer, which has ticks of "
            f"{self.tick} ns"
        )


def first_time(units: Iterable[Unit]) -> int:
    """When the first warp began, by the device's timer."""
    return min(u.time for u in units)


def last_time(units: Iterable[Unit]) -> int:
    """When the last one ended."""
    return max(u.time + u.nanoseconds for u in units)
