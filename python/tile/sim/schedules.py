"""One launch under several schedules, whose results must agree."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .report import Report

Allocation = tuple[int, int, str, bool]


#: What kernels put down for themselves in memory that is given back behind the launch. Which block
#: runs a program may depend on the schedule, and so does where in this memory it writes.
_SCRATCH = "scratch"


def memory_of(allocations: Sequence[Allocation]) -> list[tuple[str, np.ndarray]]:
    """The bytes that a launch may change."""
    return [
        (name, np.frombuffer((ctypes.c_uint8 * size).from_address(low), np.uint8))
        for low, size, name, writable in allocations
        if writable and size
    ]


def _difference(
    memory: list[tuple[str, np.ndarray]], first: list[np.ndarray], plain: str, seed: int
) -> dict[str, Any] | None:
    for (name, now), want in zip(memory, first, strict=True):
        if name == _SCRATCH or np.array_equal(now, want):
            continue
        at = int((now != want).argmax())
        return {
            "kind": "schedule-dependent",
            "message": f"byte {at} of '{name}' is {int(want[at])} {plain} and "
            f"{int(now[at])} with schedule_seed={seed}; {int((now != want).sum())} of its bytes "
            "differ",
            "fatal": False,
        }
    return None


def run_schedules(
    launch: Callable[[int], Report], allocations: Sequence[Allocation], seed: int, count: int
) -> Report:
    """Launches with `seed`, then with `count - 1` other seeds on the same input.

    The report is that of the first launch that went wrong, or of the first one. A launch whose
    results differ from the first one's has gone wrong; memory holds the first one's results.
    """
    memory = memory_of(allocations) if count > 1 else []
    before = [data.copy() for _, data in memory]
    report = launch(seed)
    first = [data.copy() for _, data in memory]
    plain = f"with schedule_seed={seed}" if seed else "in the plain order"
    for other in range(seed + 1, seed + count) if report.ok else ():
        for (_, data), old in zip(memory, before, strict=True):
            data[:] = old
        again = launch(other)
        different = _difference(memory, first, plain, other) if again.ok else None
        for (_, data), result in zip(memory, first, strict=True):
            data[:] = result
        if different:
            again.add(different)
        if not again.ok:
            return again
    return report
