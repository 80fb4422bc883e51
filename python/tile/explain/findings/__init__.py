"""What makes a kernel slow: what it is, on which line, and what to do about it.

A rule is a function of an explanation and a backend that gives findings. Each has a module that
says which others are like it.
"""

from __future__ import annotations

from typing import Any

from . import launch, loops, memory, remarks, resources, stalls
from .finding import Finding

__all__ = ["RULES", "Finding", "find"]

RULES = (
    memory.uncoalesced,
    memory.bank_conflicts,
    memory.needless_masks,
    remarks.of_passes,
    loops.copies_without_engine,
    loops.divisions,
    resources.spills,
    resources.low_occupancy,
    launch.tail_wave,
    stalls.stalls,
)


def find(explanation: Any, backend: Any) -> list[Finding]:
    """What all rules find, in the order of the source."""
    found = [finding for rule in RULES for finding in rule(explanation, backend)]
    return sorted(dict.fromkeys(found), key=lambda f: (f.file == "", f.file, f.line))
