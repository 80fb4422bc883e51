"""Accesses of memory that cost more than they must, by what the simulator counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .finding import Finding

_SECTOR = 32
#: A line is spoken of if it moves this many times what it needs ...
_FACTOR = 1.8
#: ... and this share of all that the kernel moves.
_SHARE = 0.05


def _place(line: dict[str, Any]) -> tuple[str, int]:
    """Compilers give code that they merged the line 0: it is of the whole kernel."""
    return (line["file"], line["line"]) if line["line"] else ("", 0)


def uncoalesced(explanation: Any, backend: Any) -> Iterator[Finding]:
    """Sectors of 32 bytes of which little is used."""
    most = sum(line["sectors"] for line in explanation.lines)
    for line in explanation.lines:
        sectors, wanted = line["sectors"], line["bytes"]
        # One sector for each request is the least: single elements are no pattern.
        if not wanted or sectors <= line["requests"]:
            continue
        factor = sectors * _SECTOR / wanted
        if factor < _FACTOR or sectors < _SHARE * most:
            continue
        yield Finding(
            "uncoalesced-access",
            f"The accesses of this line move {sectors * _SECTOR} bytes in sectors of {_SECTOR}; "
            f"the kernel uses {wanted} of them ({factor:.1f} times as much as it needs).",
            "Let neighbouring threads access neighbouring elements: make the last index of the "
            "tile the one whose stride is 1, or load the other way round and use tl.trans.",
            *_place(line),
        )


def bank_conflicts(explanation: Any, backend: Any) -> Iterator[Finding]:
    """Accesses of shared memory that wait for each other."""
    every = explanation.counters["shared_wavefronts"]
    for line in explanation.lines:
        conflicts = line["bank_conflicts"]
        if not conflicts or conflicts < _SHARE * every:
            continue
        yield Finding(
            "bank-conflicts",
            f"{conflicts} of the kernel's {every} passes over the banks of shared memory are "
            "conflicts of this line: lanes want different words of one bank.",
            "Another order of the tile's dimensions, another block size or num_warps gives another "
            "layout; a kernel that says its layouts can swizzle or pad the buffer.",
            *_place(line),
        )


def needless_masks(explanation: Any, backend: Any) -> Iterator[Finding]:
    """Masks that switched no lane off."""
    for line in explanation.lines:
        lanes = line["predicated_lanes"]
        if not lanes or (line["file"], line["line"]) in explanation.launched.masked:
            continue
        if not _has_mask(explanation, line):
            continue
        yield Finding(
            "mask-not-needed",
            f"The mask of this line was true for all {lanes} lanes.",
            "If sizes are always multiples of the block, leave the mask out; else launch "
            "the kernel without masks where they are (a constexpr that says EVEN).",
            *_place(line),
        )


def _has_mask(explanation: Any, line: dict[str, Any]) -> bool:
    """Whether the source gave a mask there: the compiler has predicates of its own."""
    stage = explanation.stages[0]
    place = (line["file"], line["line"])
    for text, places in zip(stage.text.splitlines(), stage.places, strict=True):
        if place not in places:
            continue
        operands = text.partition(" : ")[0].split("tt.")[-1]
        given = operands.count(",") + 1 - operands.count("=")
        if operands.startswith("load ") and given > 1:
            return True
        if operands.startswith("store ") and given > 2:
            return True
    return False
