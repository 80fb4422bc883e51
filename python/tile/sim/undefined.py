"""Whether a launch depends on lanes that masks switched off.

Where its mask is off, the result of a load without `other` is undefined. Code has zeros there, so
a kernel that forgot an `other` goes unnoticed while zero happens to be right. Such a launch runs
again with other values in these lanes: what it computes must stay the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .report import Report

#: What these lanes get in every byte. No type has the same number in all of them. They are NaN or
#: -1, and large numbers of either sign that are finite in every format of floats.
_BYTES = {0xFF: "NaN or -1", 0x7B: "large numbers", 0xFB: "large negative numbers"}

#: Runs with the byte in the lanes of one load, or of all (-1), in so many instructions at most.
Launch = Callable[[int, int, int], Report]
Memory = list[tuple[str, np.ndarray]]


class _Runs:
    """A launch on one input, again and again."""

    def __init__(
        self,
        launch: Launch,
        memory: Memory,
        before: Sequence[np.ndarray],
        first: Report,
        dead: Sequence[str],
    ) -> None:
        self.launch = launch
        self.memory = memory
        self.dead = dead
        self.before = before
        self.after = [data.copy() for _, data in memory]
        # One that runs much longer than the first does not end because of them.
        self.budget = 4 * first.warp_instructions + 10_000

    def _restore(self, contents: Sequence[np.ndarray]) -> None:
        for (_, data), old in zip(self.memory, contents, strict=True):
            data[:] = old

    def difference(self, byte: int, load: int) -> str:
        """What is not as it was; empty if all is."""
        self._restore(self.before)
        try:
            report = self.launch(byte, load, self.budget)
            if not report.ok:
                return " ".join(report.messages) or "the launch does not end"
            for (name, now), want in zip(self.memory, self.after, strict=True):
                if name not in self.dead and not np.array_equal(now, want):
                    different = now != want
                    return (
                        f"{int(different.sum())} bytes of '{name}' differ, the first at byte "
                        f"{int(different.argmax())}"
                    )
            return ""
        finally:
            self._restore(self.after)


def check_undefined(
    places: Sequence[tuple[str, int, int]],
    launch: Launch,
    memory: Memory,
    before: Sequence[np.ndarray],
    report: Report,
    dead: Sequence[str] = (),
) -> None:
    """Adds a finding to `report` for the loads whose undefined lanes matter. `places` are those of
    the module's loads; `memory` is as the launch left it, and was as `before`; nobody reads that of
    the names in `dead` any more."""
    loads = report.undefined_loads
    if not loads or not report.ok:
        return
    runs = _Runs(launch, memory, before, report, dead)
    for byte, name in _BYTES.items():
        found = runs.difference(byte, -1)
        # A launch that differs from itself says nothing about lanes.
        if not found or runs.difference(0, -1):
            continue
        alone = [(load, said) for load in loads if (said := runs.difference(byte, load))]
        for load, said in alone or [(loads[0], found)]:
            report.add(_finding(places[load], name, said, many=not alone))
        return


def _finding(place: tuple[str, int, int], name: str, said: str, many: bool) -> dict[str, Any]:
    file, line, column = place
    load = "loads such as this" if many else "this load"
    return {
        "kind": "undefined-lanes",
        "message": f"{file}:{line}:{column}: what {load} leaves undefined where its mask is off "
        f"matters: with {name} there instead of zeros, {said}. Give the load an `other`, or "
        "choose with `tl.where` before the value is used",
        "place": {
            "line": 0, "file": file, "source_line": line, "source_column": column, "call_file": "",
            "call_line": 0, "call_column": 0, "instruction": "",
        },
        "fatal": False,
    }  # fmt: skip
