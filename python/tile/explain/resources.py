"""What a compiled kernel takes, and how many of its warps reside at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
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
    #: The same by their names, those that are there most often first.
    opcodes: dict[str, int]
    occupancy: Occupancy | None


def opcodes(assembly: str) -> Iterator[str]:
    """The names of the instructions of assembly, without what says their types."""
    for line in assembly.splitlines():
        code = line.split("//")[0].split(";")[0].strip()
        if code.startswith(".section"):
            return  # What follows is for debuggers.
        if not code or code[0] in ".{}()" or code.endswith((":", ",")):
            continue
        name = re.sub(r"^@!?%?\w+\s+", "", code).split()[0]
        yield ".".join(name.split(".")[:2])


def resources(kernel: Any, backend: Any, report: Any) -> Resources:
    found = Counter(opcodes(kernel.assembly or ""))
    return Resources(
        registers=kernel.n_regs,
        spills=kernel.n_spills,
        shared=kernel.shared,
        warps=kernel.num_warps,
        instructions=found.total(),
        opcodes=dict(found.most_common()),
        occupancy=backend.occupancy(kernel, report),
    )
