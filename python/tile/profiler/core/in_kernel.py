"""What warps recorded: from the memory of a launch to spans of time."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

#: Records made, warp, cost of a record, multiprocessor; cycles and time at the start and at the
#: end; the time when the records were written.
_HEADER = struct.Struct("<III4xQQQQQI4x")


@dataclass(slots=True)
class Span:
    """A scope that a warp was in."""

    name: str
    file: str
    line: int
    begin: int
    cycles: int
    #: The scopes around it, and itself.
    path: list[str]
    #: The warp that saw it end, if it is not the one that saw it begin.
    end_warp: int | None = None
    #: The number of the record that began it, if it is a scope.
    position: int | None = None


@dataclass(slots=True)
class Record:
    """One record: its number among those that the unit made, which it is, and the cycles."""

    position: int
    which: int
    cycles: int


@dataclass(slots=True)
class Unit:
    """The records of one warp, which may stand for several."""

    block: int
    warp: int
    #: How many records it made.
    made: int
    #: What a record costs, in cycles; 0 where that was not measured.
    cost: int
    #: Cycles at which it began and ended.
    began: int
    ended: int
    #: When it began, and for how long it went on, by the clock of a constant rate.
    time: int
    nanoseconds: int
    #: Records for which there was no room.
    lost: int
    #: The number of its multiprocessor.
    processor: int = 0
    #: How long it wrote its records at the end, in nanoseconds.
    writing: int = 0
    #: The cycles at which the first unit of its block began.
    origin: int = 0
    spans: list[Span] = field(default_factory=list)


def decode(described: dict[str, Any], rows: Any) -> list[Unit]:
    """The units of a launch, by block and warp. `described` is what the compiler says about the
    memory, of which `rows` has one for each unit: its header and, from the first on, records."""
    units: list[Unit] = []
    made: list[list[Record]] = []
    for number, row in enumerate(rows):
        piece = memoryview(row)
        unit = _header(described, piece, number)
        records = _records(described, piece, unit)
        unit.spans = find_spans(described["records"], records, unit.cost)
        units.append(unit)
        made.append(records)
    for block in range(len(units) // described["units"]):
        first = block * described["units"]
        of_block = slice(first, first + described["units"])
        _add_events(described["records"], units[of_block], made[of_block])
    origins: dict[int, int] = {}
    for unit in units:
        origins[unit.block] = min(origins.get(unit.block, unit.began), unit.began)
    for unit in units:
        unit.origin = origins[unit.block]
    return units


def _header(described: dict[str, Any], data: memoryview, number: int) -> Unit:
    warp, cost, processor, began, time, ended, end_time, written, made = _HEADER.unpack_from(data)
    tick = described["nanoseconds"]
    return Unit(
        number // described["units"], warp, made, cost, began, ended,
        time * tick, (end_time - time) * tick, max(0, made - described["capacity"]), processor,
        max(0, written - end_time) * tick,
    )  # fmt: skip


def _records(described: dict[str, Any], data: memoryview, unit: Unit) -> list[Record]:
    """The records that are there, in their order."""
    capacity, size = described["capacity"], described["record_bytes"]
    first = 0 if described["keeps_first"] else unit.lost
    found = []
    before = unit.began
    for position in range(first, min(unit.made, first + capacity)):
        at = described["header_bytes"] + position % capacity * size
        if size == 8:
            which, low = struct.unpack_from("<II", data, at)
            # The upper half is that of the record before, or the next one.
            before += (low - before) & 0xFFFFFFFF
        else:
            which, _, before = struct.unpack_from("<IIQ", data, at)
        found.append(Record(position, which, before))
    return found


def find_spans(names: list[dict[str, Any]], records: list[Record], cost: int) -> list[Span]:
    """Beginnings with their ends. An end belongs to the last beginning of its name. What has lost
    its other half is left out. Each record delays those that follow by its cost."""
    spans: list[Span] = []
    entered: list[Span] = []
    for record in records:
        known = names[record.which]
        if known["event"]:
            continue
        name = known["name"]
        now = record.cycles - cost * record.position
        if known["start"]:
            path = [*(span.name for span in entered), name]
            span = Span(name, known["file"], known["line"], now, 0, path, position=record.position)
            entered.append(span)
            continue
        at = next((i for i in range(len(entered) - 1, -1, -1) if entered[i].name == name), None)
        if at is None:
            continue
        span = entered.pop(at)
        # A shift may be more than what a scope takes that does nothing.
        span.cycles = max(0, now - span.begin)
        spans.append(span)
    return spans


#: Where an event begins or ends: the cycles, and what is known of the record.
_Moment = tuple[int, dict[str, Any]]


def _moments(
    names: list[dict[str, Any]], unit: Unit, records: list[Record], start: bool
) -> dict[str, list[_Moment]]:
    """By name of the event, when a unit saw it begin, or end."""
    found: dict[str, list[_Moment]] = {}
    for record in records:
        known = names[record.which]
        if known["event"] and known["start"] == start:
            now = record.cycles - unit.cost * record.position
            found.setdefault(known["name"], []).append((now, known))
    return found


def _add_events(
    names: list[dict[str, Any]], units: list[Unit], records: list[list[Record]]
) -> None:
    """The events of a block.

    An event that begins and ends in one unit is that unit's. An event may also begin in some units
    and end in others. Then it goes from the first unit where it begins to the first where it ends.
    If there are as many units of both kinds, another goes from the second to the second, and so on.
    """
    starts = [_moments(names, *pair, True) for pair in zip(units, records, strict=True)]
    ends = [_moments(names, *pair, False) for pair in zip(units, records, strict=True)]
    for name in sorted({name for found in starts for name in found}):
        begin = [i for i in range(len(units)) if name in starts[i]]
        end = [i for i in range(len(units)) if name in ends[i]]
        both = [(i, i) for i in begin if i in end]
        pairs = list(zip(begin, end, strict=False))
        for i, j in both or (pairs if len(begin) == len(end) else pairs[:1]):
            for (began, known), (ended, _) in zip(starts[i][name], ends[j][name], strict=False):
                span = Span(
                    name, known["file"], known["line"], began, max(0, ended - began), [name],
                    None if i == j else units[j].warp,
                )  # fmt: skip
                units[i].spans.append(span)
