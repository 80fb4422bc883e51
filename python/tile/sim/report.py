"""What a simulated launch did."""

from __future__ import annotations

import json
from typing import Any

from tile.errors import TileError


class Report:
    """Findings and counters of one launch.

    The counters are deterministic: the same kernel on the same input gives the same numbers.
    """

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._data: dict[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """True if no checker found anything."""
        return self._raw.ok

    @property
    def output(self) -> str:
        """What the kernel printed."""
        return self._raw.output

    @property
    def seconds(self) -> float:
        """Host time of the simulation."""
        return self._raw.seconds

    @property
    def messages(self) -> list[str]:
        """One text for each finding."""
        return self._raw.messages

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings: kind, message, place, thread, and the other access of a race."""
        return self.to_dict()["findings"]

    @property
    def counters(self) -> dict[str, Any]:
        """The counters of the whole launch."""
        return self.to_dict()["counters"]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The counters by source line (by PTX line where the PTX has no `.loc`)."""
        return self.to_dict()["lines"]

    @property
    def warp_instructions(self) -> int:
        """Executed instructions, counted once for each warp."""
        return self._raw.warp_instructions

    @property
    def lane_instructions(self) -> int:
        """Executed instructions, counted once for each active lane."""
        return self._raw.lane_instructions

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dictionaries and numbers."""
        if self._data is None:
            self._data = json.loads(self._raw.to_json())
        return self._data

    def roofline(self, gpu: str = "H200") -> dict[str, Any]:
        """Seconds that memory, tensor cores and instruction issue of a GPU need at least, the
        largest of them, and which it is ("bound"). Raises TileError for a GPU that is not known."""
        try:
            return json.loads(self._raw.to_json(gpu))["roofline"]
        except ValueError as error:
            raise TileError(str(error)) from None

    def summary(self, gpu: str = "H200") -> str:
        """A table for people, with the roofline estimate for a GPU."""
        try:
            return self._raw.summary(gpu)
        except ValueError as error:
            raise TileError(str(error)) from None

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        state = "ok" if self.ok else f"{len(self.messages)} findings"
        return f"<tile.sim.Report {state}, {self.warp_instructions} warp instructions>"
