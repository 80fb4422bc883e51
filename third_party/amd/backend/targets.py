"""What is known about an AMD GPU, from the compiler's table."""

from __future__ import annotations

from typing import Any

from tile import _C
from tile.errors import TileError

#: General registers of a compute unit, a word each: 4 times 256 of 64 lanes, or 2 times 1024 (on
#: some 1536) of 32 lanes. Accumulators are not among them.
REGISTERS_OF_A_CU = 65536


def find_facts(arch: Any) -> Any:
    """The row of a processor such as gfx942."""
    # As the run time reports it, features follow: gfx942:sramecc+:xnack-.
    facts = _C.targets.lookup(f"hip:{arch.split(':')[0]}") if isinstance(arch, str) else None
    if facts is None:
        known = ", ".join(map(str, _C.targets.known("hip")))
        raise TileError(f"unknown target hip:{arch}: known ones are {known}")
    return facts
