"""Findings that were looked at and found harmless."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tile import knobs
from tile.errors import TileError


@dataclass(frozen=True)
class Suppression:
    """Findings of a kind at a place are not held against a kernel.

    `place` is "FILE:LINE" of the source or "PTX:LINE", where FILE may end a longer path and both
    may hold `*`. A reason must be given; reports repeat it.
    """

    kind: str
    place: str
    reason: str

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise TileError(f"the suppression of '{self.kind}' at {self.place} has no reason")
        if ":" not in self.place:
            raise TileError(f"'{self.place}' is not a place: FILE:LINE or PTX:LINE expected")

    def matches(self, finding: dict[str, Any]) -> bool:
        """Is the finding one of these? Never one that ended the launch."""
        file, _, line = self.place.rpartition(":")
        if (place := finding.get("place")) is None:
            return False
        places = [("PTX", place["line"])]
        if file != "PTX" and place["file"]:
            places = [(place["file"], place["source_line"])]
            if place["call_line"]:
                places.append((place["call_file"], place["call_line"]))
        return (
            not finding["fatal"]
            and fnmatch.fnmatchcase(finding["kind"], self.kind)
            and any(
                fnmatch.fnmatchcase(str(number), line)
                and (fnmatch.fnmatchcase(name, file) or fnmatch.fnmatchcase(name, f"*/{file}"))
                for name, number in places
            )
        )


def read_suppressions(path: str | Path) -> list[Suppression]:
    """Those of a file: `KIND FILE:LINE REASON` on each line, `#` before comments."""
    found = []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TileError(f"cannot read the suppressions in {path}: {error}") from None
    for number, text in enumerate(lines, 1):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        parts = text.split(maxsplit=2)
        if len(parts) < 3:
            raise TileError(f"{path}:{number}: expected KIND FILE:LINE REASON")
        try:
            found.append(Suppression(*parts))
        except TileError as error:
            raise TileError(f"{path}:{number}: {error}") from None
    return found


def of_setting() -> list[Suppression]:
    """Those of the file that TILE_SIM_SUPPRESSIONS names."""
    path = knobs.runtime.sim_suppressions
    return read_suppressions(path) if path else []


def split(
    findings: Iterable[dict[str, Any]], suppressions: Sequence[Suppression]
) -> tuple[list[int], list[dict[str, Any]], list[Suppression]]:
    """The numbers of the findings that stay, those that do not with their "reason", and the
    suppressions that nothing matched."""
    kept, dropped, used = [], [], set()
    for index, finding in enumerate(findings):
        match = next((s for s in suppressions if s.matches(finding)), None)
        if match is None:
            kept.append(index)
        else:
            used.add(match)
            dropped.append({**finding, "reason": match.reason})
    return kept, dropped, [s for s in suppressions if s not in used]
