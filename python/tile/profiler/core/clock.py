"""From cycles of warps to nanoseconds.

Each warp reads two clocks when its kernel begins and ends: one that counts cycles of its
multiprocessor, and one of a constant rate for the whole device. Their quotient is the rate of the
cycles, which changes with load and temperature. The second clock has a coarse tick on some devices,
so a short kernel alone does not tell it.
"""

from __future__ import annotations

import math

from .sums import Times

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

    def note(self, times: Times, launched: int) -> None:
        """A launch, which did not begin before the host launched it."""
        self.tick = math.gcd(self.tick, times.tick)
        self._cycles += times.cycles
        self._nanoseconds += times.nanoseconds
        offset = launched - times.first
        self._offset = offset if self._offset is None else max(self._offset, offset)

    @property
    def rate(self) -> float:
        """Cycles of a nanosecond, of all launches so far."""
        return self._cycles / self._nanoseconds if self._is_known else self._nominal

    @property
    def _is_known(self) -> bool:
        return self._cycles > 0 and self._nanoseconds > 0

    def rate_of(self, times: Times) -> float:
        """Cycles of a nanosecond in one launch."""
        enough = _ENOUGH_TICKS * max(1, self.tick) * times.units
        if times.cycles > 0 and times.nanoseconds >= enough:
            return times.cycles / times.nanoseconds
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
