"""Findings as text: like a compiler's errors, with the source, both accesses, and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tile import hints
from tile._C import sim as _sim
from tile.compiler.errors import SourceRange, is_python, source_place

from .kinds import REMEDIES
from .partitions import Partition, name_warps

if TYPE_CHECKING:
    from .report import Report

Finding = dict[str, Any]


@dataclass(frozen=True)
class Program:
    """What was launched, as far as texts about it need it."""

    entry: str
    cluster: tuple[int, int, int]
    #: The text of the module; empty if it is not known.
    text: str
    #: What the module is called where a place has no source line.
    file: str
    #: Groups of warps with code of their own.
    partitions: list[Partition] = field(default_factory=list)


def program_of(report: Report) -> Program:
    data = report.to_dict()
    entry = _sim.demangle(data["entry"])
    return Program(entry, tuple(data["cluster"]), report.ptx or "", report.file, report.partitions)


def _places(place: dict[str, Any], program: Program) -> list[SourceRange]:
    """The place, behind the call that inlined it."""
    if not place["file"]:
        lines = program.text.splitlines()
        line = place["line"]
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        column = len(text) - len(text.lstrip())
        return [SourceRange(program.file, line, column, len(text.rstrip()), program.entry, text)]
    found = []
    if place["call_line"]:
        found.append(source_place(place["call_file"], place["call_line"], place["call_column"]))
    found.append(source_place(place["file"], place["source_line"], place["source_column"]))
    # Only Python says which function a line is in.
    return [
        SourceRange(p.file, p.line, p.column, p.end_column, p.function or program.entry)
        for p in found
    ]


def _is_of_python(finding: Finding) -> bool:
    return "place" in finding and is_python(finding["place"]["file"])


def _who(finding: Finding, other: bool, program: Program) -> str:
    """Which thread, and which instruction."""
    place, thread = ("other_place", "other_thread") if other else ("place", "thread")
    said = []
    if thread in finding:
        cta, number = finding[thread]["cta"], tuple(finding[thread]["thread"])
        if "gpu" in finding[thread]:
            said.append(f"GPU {finding[thread]['gpu']}")
        if _is_of_python(finding):
            size = program.cluster
            said.append(f"program {tuple(c // n for c, n in zip(cta, size, strict=True))}")
            if size != (1, 1, 1):
                rank = tuple(c % n for c, n in zip(cta, size, strict=True))
                said.append(f"block {rank} of its cluster")
        else:
            said.append(f"block {tuple(cta)}")
        said.append(f"thread {number}")
    if finding[place]["line"]:
        name = finding[place]["instruction"]
        said.append(f"assembly line {finding[place]['line']}" + (f" ({name})" if name else ""))
    return ", ".join(said)


def _same_block(finding: Finding) -> bool:
    return all(
        finding["thread"].get(key) == finding["other_thread"].get(key) for key in ("cta", "gpu")
    )


#: An access so many bytes from all arrays is perhaps of an array that the launch does not know.
_FAR = 4096


def _remedy(finding: Finding, program: Program) -> str:
    """What to write instead; empty if nobody knows."""
    kind, message, python = finding["kind"], finding["message"], _is_of_python(finding)
    if kind == "race" and "other_thread" in finding:
        if finding["thread"].get("gpu") != finding["other_thread"].get("gpu"):
            if python:
                return (
                    'signal with `tl.atomic_add(flag, 1, sem="release", scope="sys")`, and wait '
                    'with `tl.atomic_load(flag, sem="acquire", scope="sys")`'
                )
            return "signal with a release, and wait with an acquire, of scope `.sys`"
        if not _same_block(finding):
            atomic = (
                "`tl.atomic_add` or another atomic" if python else "`atomicAdd` or another atomic"
            )
            what = "programs" if python else "blocks"
            return f"{what} of one launch run in any order: use {atomic}, or two launches"
        if python:
            return "put `tl.debug_barrier()` between the two accesses"
        if "the warp's lanes" in message:
            return "put `__syncwarp()` (bar.warp.sync) between the two accesses"
        return "put `__syncthreads()` (bar.sync) between the two accesses"
    if kind == "out-of-bounds":
        if "shared memory has" in message and ".extern .shared" in program.text:
            return (
                "give the launch the bytes of its `extern __shared__` array: `--dynamic-shared N` "
                "of `tile sim`, `dynamic_shared=` in Python"
            )
        if message.startswith("global"):
            what = "load" if message.startswith("global load") else "access"
            what = "store" if message.startswith("global store") else what
            if python:
                far = re.search(r"(\d+) bytes (?:before|past)", message)
                is_elsewhere = far is not None and int(far[1]) >= _FAR
                return hints.mask(what) + (f"; {hints.REACHABLE}" if is_elsewhere else "")
            return f"compare the index with the size of the array before the {what}"
    if kind == "read-only" and message.startswith("global"):
        return hints.WRITABLE if python else "give the launch memory that may be written"
    if kind == "barrier-divergence" and not python:
        return "move the barrier out of the branch, so that all threads reach it"
    if kind == "instruction-budget" and "interrupted" not in message:
        return "if the kernel is meant to run so long: `max_instructions` allows for more"
    return REMEDIES.get(kind, "")


def _access(finding: Finding, other: bool, program: Program) -> str:
    places = _places(finding["other_place" if other else "place"], program)
    return "\n".join(place.render() for place in places)


def text_of(finding: Finding, program: Program) -> str:
    """One finding, and how to read more about it."""
    return _alone(finding, program) + hints.more(f"{finding['kind']}: ")


def _alone(finding: Finding, program: Program) -> str:
    """One finding: the place, what is wrong, who did it, the other access, the remedy."""
    lines = []
    # What shows only in several launches has no place.
    if "place" in finding:
        lines.append(_access(finding, False, program))
    message = name_warps(finding["message"], program.partitions)
    lines.append(f"{finding['kind']}: {message}")
    if "place" in finding and (who := _who(finding, False, program)):
        lines.append(f"  in {who}")
    if "other_place" in finding:
        is_barrier = finding["kind"] == "barrier-divergence"
        lines.append("what others did instead:" if is_barrier else "the other access:")
        lines.append(_access(finding, True, program))
        lines.append(f"  in {_who(finding, True, program)}")
    if remedy := _remedy(finding, program):
        lines.append(f"help: {remedy}")
    return "\n".join(lines)


def _source(place: dict[str, Any]) -> tuple[str, int]:
    return (place["file"], place["source_line"]) if place["file"] else ("", place["line"])


#: Instructions at which the threads of a block meet.
_BARRIER = re.compile(r"^\s*(?:@!?\S+\s+)?(?:bar|barrier|s_barrier)\b", re.M)


def _barrier_range(finding: Finding, text: Sequence[str]) -> tuple[int, int] | None:
    """Between which lines of the assembly a barrier is missing, for accesses of one block. Where
    there is one, as in a loop whose end lacks another, nobody knows."""
    if finding["kind"] != "race" or "other_thread" not in finding:
        return None
    if not _same_block(finding):
        return None
    if "the warp's lanes" in finding["message"]:
        return None
    low, high = sorted((finding["place"]["line"], finding["other_place"]["line"]))
    if low == high or any(_BARRIER.match(line) for line in text[low : high - 1]):
        return None
    return low, high


def grouped(findings: Sequence[Finding], text: str = "") -> list[list[Finding]]:
    """Findings with one cause together, in the order in which they were found; `text` is that of
    the module.

    One barrier orders all pairs of accesses of a block that it stands between. So as few barriers
    as possible are taken, each of them in as many pairs as it can be. Other findings that name the
    same source lines are one mistake, too.
    """
    lines = text.splitlines()
    ranges = [_barrier_range(finding, lines) for finding in findings]
    groups: dict[tuple, list[int]] = {}
    barrier = -1  # Just before this line.
    for (low, high), i in sorted(
        ((found, i) for i, found in enumerate(ranges) if found), key=lambda item: item[0][1]
    ):
        if barrier <= low:
            barrier = high
        groups.setdefault(("barrier", barrier), []).append(i)
    for i, finding in enumerate(findings):
        if ranges[i]:
            continue
        if "other_place" not in finding:
            groups[("alone", i)] = [i]
            continue
        sides = frozenset(_source(finding[side]) for side in ("place", "other_place"))
        same = _same_block(finding)
        groups.setdefault((finding["kind"], sides, same), []).append(i)
    ordered = sorted(sorted(group) for group in groups.values())
    return [[findings[i] for i in group] for group in ordered]


def text_of_group(group: Sequence[Finding], program: Program) -> str:
    """Findings with one cause: the first of them, and where else it shows."""
    return _together(group, program) + hints.more(f"{group[0]['kind']}: ")


def _together(group: Sequence[Finding], program: Program) -> str:
    text = _alone(group[0], program)
    if len(group) == 1:
        return text
    where: dict[tuple, None] = {}
    for finding in group:
        sides = sorted(map(_source, (finding["place"], finding["other_place"])))
        where[tuple(sides)] = None
    more = [
        " and ".join(f"{file or program.file}:{line}" for file, line in sides) for sides in where
    ][1:]
    if not more:
        return text
    what = "place" if len(more) == 1 else "places"
    lines = [f"note: the same mistake shows in {len(more)} more {what}:"]
    return "\n".join([text, *lines, *(f"  {one}" for one in more)])
