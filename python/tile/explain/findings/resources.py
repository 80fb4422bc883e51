"""What a kernel takes too much of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .finding import Finding

#: Below this share of the warps that there is room for, waiting is not hidden by other warps.
_LOW = 0.25

_REMEDIES = {
    "registers": "Use more warps or smaller blocks, so that a thread has fewer elements.",
    "vector registers": "Use more warps or smaller blocks, so that a lane has fewer elements.",
    "scalar registers": "Pass fewer arguments, or make some of them tl.constexpr.",
    "shared memory": "Use smaller blocks or fewer stages (num_stages).",
    "LDS": "Use smaller blocks or fewer stages (num_stages).",
    "blocks": "Use more warps in a block (num_warps), each with as many elements as now.",
    "threads": "Use another number of warps, of which more blocks fit.",
}


def spills(explanation: Any, backend: Any) -> Iterator[Finding]:
    count = explanation.resources.spills
    if count and not any(
        r.kind == "registers-spilled" for p in explanation.passes for r in p.remarks
    ):
        yield Finding(
            "spills",
            f"{count} registers of each thread live in memory for a while: a thread has "
            f"{explanation.resources.registers}.",
            "Use more warps or smaller blocks, so that a thread has fewer elements; leave out a "
            "limit (maxnreg) that is too low.",
        )


def low_occupancy(explanation: Any, backend: Any) -> Iterator[Finding]:
    found = explanation.resources.occupancy
    if found is None or found.warps >= _LOW * found.most:
        return
    # Matrix products hide what they wait for by pipelines, which take shared memory and registers.
    if explanation.counters["tensor_flops"]:
        return
    yield Finding(
        "low-occupancy",
        f"A {found.unit} holds {found.warps} warps of this kernel at once; it has room for "
        f"{found.most}. The limit is: {found.bound}.",
        _REMEDIES.get(found.bound, "Use smaller blocks."),
    )
