"""What passes say that they could not make fast, with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .finding import Finding, place_of

#: The kind of a remark -> the kind of the finding, and the remedy.
_REMEDIES = {
    "scalar-product": (
        "no-tensor-core",
        "Give tl.dot element types and block sizes that the tensor cores of the target take: "
        "16-bit floats, or input_precision='tf32' for 32-bit ones, and at least 16 along each "
        "dimension.",
    ),
    "product-as-on-ampere": (
        "slow-tensor-core",
        "Nothing in the kernel: tile has no instructions for the newer matrix unit of this GPU "
        "yet. Count on the rate of mma.sync.",
    ),
    "product-in-registers": (
        "slow-tensor-core",
        "Change what the message names: tcgen05.mma multiplies faster than mma.sync, and its sums "
        "take no registers.",
    ),
    "loop-with-fewer-stages": (
        "serialised-waits",
        "Use smaller blocks, so that the stages fit, or ask for as many as there are.",
    ),
    "descriptor-by-pointers": (
        "no-tma",
        "Change what the message names; a descriptor needs a base and strides that are multiples "
        "of 16 bytes, and a last stride of 1.",
    ),
    "load-not-pipelined": (
        "serialised-waits",
        "Compute the addresses of the load without results of other loads of the same iteration, "
        "and load at least 4 bytes a thread that lie together.",
    ),
    "loop-not-pipelined": (
        "serialised-waits",
        "Change what the message names, so that the loads of the next iteration can begin early.",
    ),
    "single-elements": (
        "single-elements",
        "Make the elements of a thread neighbours: a last stride of 1, and offsets that are "
        "multiples of 16 bytes (tl.multiple_of, tl.max_contiguous say so where it cannot be seen).",
    ),
    "registers-spilled": ("spills", "Use more warps or smaller blocks."),
    "operations-not-packed": ("long-code", "Use a loop in place of code that is written out."),
}
_OTHER = "Change what the message names."


def of_passes(explanation: Any, backend: Any) -> Iterator[Finding]:
    for change in explanation.passes:
        for remark in change.remarks:
            kind, remedy = _REMEDIES.get(remark.kind, (remark.kind, _OTHER))
            file, line = place_of([(file, line) for file, line, _ in remark.places])
            message = remark.message[:1].upper() + remark.message[1:]
            yield Finding(kind, message, remedy, file, line)
