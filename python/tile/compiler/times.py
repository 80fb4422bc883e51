"""What the parts of a compile took, for those who listen."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class CompileTimes:
    """Microseconds of a compile."""

    ir_initialization: int = 0
    lowering_stages: list[tuple[str, int]] = field(default_factory=list)
    store_results: int = 0

    @property
    def total_lowering(self) -> int:
        return sum(time for _, time in self.lowering_stages)

    @property
    def total(self) -> int:
        return self.ir_initialization + self.total_lowering + self.store_results


class Stopwatch:
    """Measures one part after the other."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> int:
        """The microseconds since the last lap."""
        before, self._last = self._last, time.perf_counter()
        return round((self._last - before) * 1e6)
