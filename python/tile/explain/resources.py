"""What a compiled kernel takes, and how many of its warps reside at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..backends.base import Occupancy


@dataclass
class Resources:
    #: Registers of a thread, and those that live in memory; None where nobody counted them.
    registers: int | None
    spills: int | None
    #: Bytes of shared memory of a block.
    shared: int
    #: Warps of a block.
    warps: int
    #: Instructions in the text that the assembler reads.
    instructions: int
    occupancy: Occupancy | None


def count_instructions(assembly: str) -> int:
    """Lines of assembly that are instructions."""
    count = 0
    for line in assembly.splitlines():
        code = line.split("//")[0].split(";")[0].strip()
        if code.startswith(".section"):
            break  # What follows is for debuggers.
        count += bool(code) and code[0] not in ".{}()" and not code.endswith((":", ","))
    return count


def resources(kernel: Any, backend: Any, report: Any) -> Resources:
    return Resources(
        registers=kernel.n_regs,
        spills=kernel.n_spills,
        shared=kernel.shared,
        warps=kernel.num_warps,
        instructions=count_instructions(kernel.assembly or ""),
        occupancy=backend.occupancy(kernel, report),
    )
