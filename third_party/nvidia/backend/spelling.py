"""PTX as Triton spells it: programs look for its instructions by their text."""

from __future__ import annotations

import re

_ATOMIC = re.compile(
    r"\b(atom|red)\.(relaxed|acquire|release|acq_rel)\.(cta|cluster|gpu|sys)\.global\.(\w+)"
)


def _space_first(found: re.Match) -> str:
    name, order, scope, operation = found.groups()
    first, second = (order, scope) if operation == "cas" else (scope, order)
    return f"{name}.global.{first}.{second}.{operation}"


def with_space_first(ptx: str) -> str:
    """Atomic operations with their memory before their order and scope; ptxas takes any order."""
    if "atom." not in ptx and "red." not in ptx:
        return ptx
    return _ATOMIC.sub(_space_first, ptx)
