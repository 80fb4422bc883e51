"""What a loop does again and again, read from the IR behind the loop passes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ... import _C
from ..locations import places_of
from .finding import Finding, place_of

_DIVISIONS = ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui")
_LOOPS = ("scf.for", "scf.while")


def operations_in_loops(text: str) -> Iterator[Any]:
    """The operations of a module that loops hold, at any depth."""
    module = _C.ir.Module.parse(text, _C.ir.Context())
    found: list[Any] = []

    def visit(op: Any) -> None:
        parent = op.parent
        while parent is not None and parent.name not in _LOOPS:
            parent = parent.parent
        if parent is not None:
            found.append(op)

    module.operation.walk(visit)
    yield from found


def runs_each_time(op: Any) -> bool:
    """Whether each iteration of an innermost loop runs it. What a loop around others computes once
    for each tile, or under a condition, is no matter."""
    parent = op.parent
    if parent.name not in _LOOPS:
        return False
    inner: list[Any] = []

    def visit(other: Any) -> None:
        if other.name in _LOOPS and other != parent:
            inner.append(other)

    parent.walk(visit)
    return not inner


def is_constant(value: Any) -> bool:
    owner = value.owner
    while owner is not None and owner.name in ("tt.splat", "ttg.convert_layout"):
        owner = owner.operands[0].owner
    return owner is not None and owner.name == "arith.constant"


def _ir_of_loops(explanation: Any) -> str:
    stage = explanation.stage("ttgir")
    return stage.text if stage is not None else ""


def divisions(explanation: Any, backend: Any) -> Iterator[Finding]:
    """Integer division by what is no constant: some twenty instructions for each element."""
    for op in operations_in_loops(_ir_of_loops(explanation)):
        if op.name not in _DIVISIONS or is_constant(op.operands[1]):
            continue
        is_tensor = str(op.result.type).startswith("tensor<")
        if not (is_tensor or runs_each_time(op)):
            continue
        file, line = place_of(places_of(str(op.location)))
        yield Finding(
            "division-in-loop",
            "Each iteration of a loop computes an integer quotient or remainder. The divisor is no "
            "constant.",
            "Compute it before the loop, keep a running value (add, and subtract the divisor where "
            "it is reached), or make the divisor a tl.constexpr.",
            file,
            line,
        )


def copies_without_engine(explanation: Any, backend: Any) -> Iterator[Finding]:
    """Loads that threads copy, on a target whose engine would copy whole boxes."""
    if not backend.copies_by_descriptors:
        return
    for op in operations_in_loops(_ir_of_loops(explanation)):
        if op.name != "ttg.async_copy_global_to_local":
            continue
        file, line = place_of(places_of(str(op.location)))
        yield Finding(
            "no-tma",
            "The loop copies this tile by pointers: each thread computes addresses and copies 16 "
            "bytes at a time.",
            "Load it through tl.make_tensor_descriptor (or a descriptor that the host passes): one "
            "thread then asks the copy engine (TMA) for the whole tile.",
            file,
            line,
        )
