"""What AMD's GPUs have: accesses to buffers."""

from __future__ import annotations

from typing import Any

from .memory import _CACHE, _RMW, _order
from .values import UntranslatedError
from .writer import Writer, operation


def _operands(w: Writer, op: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Operands by name: those that are given."""
    counts = w.integers(op, "operandSegmentSizes")
    given = [name for name, count in zip(names, counts, strict=True) if count]
    found = dict(zip(given, op.operands, strict=True))
    if "stride" in found:
        raise UntranslatedError("an access to a buffer with a stride")
    return found


def _more(w: Writer, op: Any, found: dict[str, Any], *names: str) -> str:
    text = "".join(f", {n}={w.typed(found[n])}" for n in names if n in found)
    cache = _CACHE.get(w.integer(op, "cache", 1))
    if op.name == "amdg.buffer_load" and cache not in (None, ".ca", ".cg", ".cv"):
        raise UntranslatedError(f"a load from a buffer with the cache modifier {cache}")
    return text + (f', cache="{cache}"' if cache else "")


@operation("amdg.buffer_load")
def _load(w: Writer, op: Any) -> str:
    found = _operands(w, op, ("ptr", "offsets", "stride", "mask", "other"))
    more = _more(w, op, found, "mask", "other")
    return f"gl.amd.cdna3.buffer_load({w.get(found['ptr'])}, {w.get(found['offsets'])}{more})"


@operation("amdg.buffer_store")
def _store(w: Writer, op: Any) -> str:
    found = _operands(w, op, ("value", "ptr", "offsets", "stride", "mask"))
    value, ptr, offsets = (w.get(found[n]) for n in ("value", "ptr", "offsets"))
    return f"gl.amd.cdna3.buffer_store({value}, {ptr}, {offsets}{_more(w, op, found, 'mask')})"


@operation("amdg.buffer_atomic_rmw")
def _atomic(w: Writer, op: Any) -> str:
    kind = w.integer(op, "atomic_rmw_op")
    found = _operands(w, op, ("ptr", "offsets", "value", "stride", "mask"))
    if kind in (8, 9):
        raise UntranslatedError("an atomic operation on unsigned integers in a buffer")
    ptr, offsets, value = (w.get(found[n]) for n in ("ptr", "offsets", "value"))
    mask = f", mask={w.typed(found['mask'])}" if "mask" in found else ""
    name = f"gl.amd.cdna3.buffer_atomic_{_RMW[kind]}"
    return f"{name}({ptr}, {offsets}, {value}{mask}{_order(w, op)})"
