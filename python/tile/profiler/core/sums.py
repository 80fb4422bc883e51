"""What the warps of a launch recorded, in sums.

Launches of many blocks have too many warps to look at each of them. Those that made the same
records in the same order are taken together: the scopes are found in one of them, and their cycles
are differences of columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .in_kernel import Record, Span, Unit, find_spans

#: For each path of scopes the cycles of all warps, and how often warps came to it.
Totals = dict[tuple[str, ...], tuple[int, int]]
#: Warps that tell the tick of a clock.
_MANY = 4096
#: Orders of records that are looked for one by one.
_FEW = 32


@dataclass
class Times:
    """When the warps of a launch ran, by both clocks."""

    units: int
    cycles: int
    nanoseconds: int
    #: The greatest time that all readings are multiples of.
    tick: int
    first: int
    last: int

    @classmethod
    def of_units(cls, units: Sequence[Unit]) -> Times:
        return cls(
            len(units), sum(u.ended - u.began for u in units), sum(u.nanoseconds for u in units),
            math.gcd(*(t for u in units for t in (u.time, u.time + u.nanoseconds))),
            min(u.time for u in units), max(u.time + u.nanoseconds for u in units),
        )  # fmt: skip

    @classmethod
    def of_rows(cls, described: dict[str, Any], rows: np.ndarray) -> Times:
        words = _words(rows)
        began, time, ended, end = (words[:, i].astype(np.int64) for i in range(2, 6))
        unit = described["nanoseconds"]
        some = np.concatenate([time[:_MANY], end[:_MANY]])
        return cls(
            len(rows), int((ended - began).sum()), int((end - time).sum()) * unit,
            int(np.gcd.reduce(some)) * unit, int(time.min()) * unit, int(end.max()) * unit,
        )  # fmt: skip


def _words(rows: np.ndarray) -> np.ndarray:
    """The headers, in words of 64 bits."""
    return np.ascontiguousarray(rows[:, :64]).view(np.uint64)


def of_units(units: Iterable[Unit]) -> Totals:
    """The sums of warps that were decoded one by one."""
    return _added(
        (tuple(span.path), span.cycles, 1) for unit in units for span in unit.spans
    )  # fmt: skip


def of_rows(described: dict[str, Any], rows: np.ndarray) -> Totals | None:
    """The sums of the memory of a launch; None where there are events, which may begin in another
    warp than they end in."""
    if any(known["event"] for known in described["records"]):
        return None
    made = _words(rows)[:, 7] & 0xFFFFFFFF
    found = []
    for count in np.unique(made):
        found += _of_rows_with(described, rows[made == count], int(count))
    return _added(found)


def _of_rows_with(
    described: dict[str, Any], rows: np.ndarray, made: int
) -> list[tuple[tuple[str, ...], int, int]]:
    """Of warps that made so many records."""
    capacity, size = described["capacity"], described["record_bytes"]
    kept = min(made, capacity)
    if not kept:
        return []
    first = 0 if described["keeps_first"] else made - kept
    columns = (first + np.arange(kept)) % capacity
    start = described["header_bytes"]
    records = np.ascontiguousarray(rows[:, start : start + (int(columns.max()) + 1) * size])
    words = records.view(np.uint32).reshape(len(rows), -1, size // 4)[:, columns]
    headers = _words(rows)
    if size == 8:
        # The lower halves: each differs by less than 2^32 from the one before.
        low = np.concatenate([headers[:, 2:3].astype(np.uint32), words[:, :, 1]], axis=1)
        cycles = np.diff(low, axis=1).astype(np.int64).cumsum(axis=1)
    else:
        cycles = np.ascontiguousarray(words[:, :, 2:]).view(np.uint64)[:, :, 0].astype(np.int64)
    cost = (headers[:, 0] >> np.uint64(32)).astype(np.int64)
    found = []
    for mine in _alike(words[:, :, 0]):
        pattern = words[mine[0], :, 0]
        for span in _spans_of(described["records"], pattern):
            begin, end = span.begin, span.begin + span.cycles
            # Each record delays those that follow by its cost.
            took = cycles[mine, end] - cycles[mine, begin] - cost[mine] * (end - begin)
            found.append((tuple(span.path), int(took.clip(0).sum()), len(mine)))
    return found


def _alike(rows: np.ndarray) -> Iterator[np.ndarray]:
    """The numbers of rows that are equal to each other."""
    left = np.arange(len(rows))
    for _ in range(_FEW):  # Warps do much the same, and to sort rows takes long.
        if not len(left):
            return
        same = (rows[left] == rows[left[0]]).all(axis=1)
        yield left[same]
        left = left[~same]
    if len(left):
        patterns, which = np.unique(rows[left], axis=0, return_inverse=True)
        for i in range(len(patterns)):
            yield left[which.reshape(-1) == i]


def _spans_of(names: list[dict[str, Any]], pattern: np.ndarray) -> list[Span]:
    """The scopes of records in this order, with the numbers of columns for cycles."""
    return find_spans(names, [Record(i, int(n), i) for i, n in enumerate(pattern)], 0)


def _added(found: Iterable[tuple[tuple[str, ...], int, int]]) -> Totals:
    totals: Totals = {}
    for path, cycles, count in found:
        known = totals.get(path, (0, 0))
        totals[path] = known[0] + cycles, known[1] + count
    return totals
