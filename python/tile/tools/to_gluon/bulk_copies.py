"""Descriptors of the host, and bulk copies."""

from __future__ import annotations

from typing import Any

from .values import UntranslatedError
from .writer import Writer, operation


@operation("ttnvgpu.reinterpret_tensor_descriptor")
def _descriptor(w: Writer, op: Any) -> None:
    """A tensor map of the host. The program says how blocks lie in shared memory."""
    name, layout = w.get(op.operands[0]), w.layout(w.type(op.results[0]))
    w.put(f'gl.static_assert({name}.layout == {layout}, "{name} needs the layout {layout}")')
    w.bind(op.results[0], name)


def _place(w: Writer, values: Any) -> str:
    return f"[{', '.join(w.get(v) for v in values)}]"


def _start(w: Writer, op: Any, text: str) -> None:
    """A copy, whose token says what the order of the program says as well."""
    w.program.imports.add("hopper")
    for result in op.results:
        w.bind(result, "None")
    w.put(f"hopper.tma.{text}")


@operation("ttnvgpu.async_tma_copy_global_to_local")
def _load(w: Writer, op: Any) -> None:
    _, rank, offsets, *_ = w.integers(op, "operandSegmentSizes")
    if offsets or w.integer(op, "cache", 1) != 1 or w.integer(op, "evict", 1) != 1:
        raise UntranslatedError("a copy of pixels, or one that says how caches treat it")
    desc, *places = op.operands[: 1 + rank]
    barrier, buffer, pred = op.operands[1 + rank :]
    more = ", multicast=True" if op.attributes.get("multicast") is not None else ""
    _start(
        w, op,
        f"async_load({w.get(desc)}, {_place(w, places)}, {w.get(barrier)}, {w.get(buffer)}, "
        f"pred={w.get(pred)}{more})",
    )  # fmt: skip


@operation("ttnvgpu.async_tma_copy_local_to_global")
def _store(w: Writer, op: Any) -> None:
    desc, *places, buffer = op.operands
    _start(w, op, f"async_store({w.get(desc)}, {_place(w, places)}, {w.get(buffer)})")


_REDUCTIONS = {1: "add", 2: "min", 3: "max", 6: "and", 7: "or", 8: "xor"}


@operation("ttnvgpu.async_tma_reduce")
def _reduce(w: Writer, op: Any) -> None:
    desc, *places, buffer = op.operands
    kind = _REDUCTIONS.get(w.integer(op, "kind"))
    if kind is None:
        raise UntranslatedError("a reduction that the language has no name for")
    _start(w, op, f"async_atomic_{kind}({w.get(desc)}, {_place(w, places)}, {w.get(buffer)})")


@operation("ttnvgpu.async_tma_store_wait")
def _store_wait(w: Writer, op: Any) -> None:
    more = ", read_only=False" if op.attributes.get("complete") is not None else ""
    _start(w, op, f"store_wait({w.integer(op, 'pendings')}{more})")


@operation("ttnvgpu.barrier_expect")
def _expect(w: Writer, op: Any) -> str:
    w.program.imports.add("hopper")
    barrier, pred = op.operands
    return f"hopper.mbarrier.expect({w.get(barrier)}, {w.integer(op, 'size')}, pred={w.get(pred)})"
