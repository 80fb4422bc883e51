"""Elements that masked loads leave undefined, and what comes of them.

Where its mask is off, the result of a load without `other` is undefined. Here, as in compiled
code, it is 0. Beside it, the array keeps what the elements would be with other values instead.
Each operation on such an array is computed once more with each of these values. An element is
undefined exactly where the results differ: `tl.where(mask, x, 0)` has none. It is an error to
store such an element, to use it as an address, or to decide something by it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InterpreterError
from .memory import Memory
from .registry import OPERATIONS

#: The other values, by what they have in every byte: NaN or -1, and large numbers of either sign
#: that are finite in every format of floats.
_BYTES = (0xFF, 0x7B, 0xFB)
_PACKAGE = str(Path(__file__).resolve().parents[1])
_EFFECTS = ("tt.load", "tt.store", "tt.atomic", "tt.descriptor", "tt.assert", "llvm.intr.assume")


class Undefined(np.ndarray):
    """An array of which some elements are undefined.

    (What NumPy makes of one without asking `compute` has no variants: it counts as defined.)"""

    #: The same array for each of `_BYTES`.
    variants: tuple[np.ndarray, ...] | None = None
    #: The loads that its elements come from.
    loads: frozenset[str] = frozenset()


def is_undefined(value: Any) -> bool:
    return value.__class__ is Undefined and value.variants is not None


def plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Undefined) else value


def _variant(value: Any, k: int) -> Any:
    return value.variants[k] if is_undefined(value) else plain(value)


def _same(x: np.ndarray, y: np.ndarray) -> bool:
    """Bit for bit, but that all NaN are one."""
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.dtype.kind in "iub":
        return bool(np.array_equal(x, y))
    bits = np.dtype(f"u{x.dtype.itemsize}")
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    return bool(((x.view(bits) == y.view(bits)) | ((x != x) & (y != y))).all())


def _marked(result: Any, variants: Sequence[Any], loads: frozenset[str]) -> Any:
    """The result of an operation; undefined where that of a variant is another one."""
    result = np.asarray(result) if isinstance(result, np.generic) else result
    if not isinstance(result, np.ndarray):
        return result
    result = plain(result)
    variants = tuple(np.asarray(plain(v)) for v in variants)
    if all(_same(result, v) for v in variants):
        return result
    marked = result.view(Undefined)
    marked.variants, marked.loads = variants, loads
    return marked


def left_by_load(result: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The result of a load whose mask is off in some elements."""

    def variant(byte: int) -> np.ndarray:
        filled = result.copy()
        if filled.dtype == np.bool_:
            filled[~mask] = True
        else:
            fill = np.full(filled.dtype.itemsize, byte, np.uint8).view(filled.dtype)
            filled[~mask] = fill[0]
        return filled

    return _marked(result, [variant(byte) for byte in _BYTES], frozenset([_place()]))


def _place() -> str:
    """The line of the kernel that runs."""
    frame = sys._getframe(1)
    while frame and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back  # type: ignore[assignment]
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "?"


def _error(what: str, loads: frozenset[str]) -> InterpreterError:
    names = " and ".join(sorted(loads))
    return InterpreterError(
        f"{what} depends on what a masked load leaves undefined: that at {names} has no `other`. "
        "Give it one, or choose with `tl.where` before the value is used "
        "(TILE_UNDEFINED_LANES=0 leaves this out)"
    )


def check_scalar(value: Any, what: str) -> Any:
    """A value that decides something, which must not be undefined."""
    if is_undefined(value):
        raise _error(what, value.loads)
    return plain(value)


class _Trial(Memory):
    """Memory for the time of one operation, which it forgets."""

    def __init__(self, memory: Memory) -> None:
        self.__dict__.update(memory.__dict__)
        self.reads: list[tuple[str, bytes]] = []
        self.before: list[tuple[np.ndarray, np.ndarray]] = []
        #: The places whose contents are other ones after the operation, and these.
        self.changed: tuple[np.ndarray, np.ndarray] | None = None

    def read(
        self, addresses: np.ndarray, element: np.dtype, what: str = "load", mask: Any = None
    ) -> np.ndarray:
        self.reads.append((what, np.ascontiguousarray(addresses).tobytes()))
        return super().read(addresses, element, what, mask)

    def write(
        self, addresses: np.ndarray, values: np.ndarray, what: str = "store", mask: Any = None
    ) -> None:
        old = super().read(addresses, values.dtype, what, mask)
        super().write(addresses, values, what, mask)
        self.before.append((np.array(addresses).reshape(-1), np.array(old).reshape(-1)))

    def end(self) -> None:
        if not self.before:
            return
        addresses, first = np.unique(np.concatenate([a for a, _ in self.before]), return_index=True)
        before = np.concatenate([old for _, old in self.before])[first]
        after = super().read(addresses, before.dtype)
        bits = np.dtype(f"u{before.dtype.itemsize}")
        changed = before.view(bits) != after.view(bits)
        self.changed = addresses[changed], after[changed]
        for where, old in reversed(self.before):
            super().write(where, old)

    def differs(self, other: _Trial) -> bool:
        if self.changed is None or other.changed is None:
            return self.reads != other.reads or self.changed is not other.changed
        return (
            self.reads != other.reads
            or not np.array_equal(self.changed[0], other.changed[0])
            or not _same(self.changed[1], other.changed[1])
        )


def compute(builder: Any, name: str, operands: Sequence[Any], *rest: Any) -> list[Any] | Any:
    """The results of an operation of which some operands are undefined."""
    operation = OPERATIONS[name]
    loads = frozenset().union(*[o.loads for o in operands if is_undefined(o)])
    base = [plain(o) for o in operands]
    has_effects = name.startswith(_EFFECTS)
    if name == "tt.print" or builder.phantom is not None:
        return operation(builder, base, *rest)
    what = "what is stored" if "store" in name or "atomic" in name else "an address or a condition"
    memory, first = builder.memory, _Trial(builder.memory)
    variants = []
    if has_effects:
        _attempt(builder, first, operation, base, rest)
    for k in range(len(_BYTES)):
        trial = _Trial(memory)
        try:
            tried = _attempt(builder, trial, operation, [_variant(o, k) for o in operands], rest)
        except InterpreterError as error:
            raise _error(what, loads) from error
        if trial.differs(first):
            raise _error(what, loads)
        variants.append(tried)
    result = operation(builder, base, *rest)
    if isinstance(result, (list, tuple)):
        columns = zip(*variants, strict=True)
        return [_joined(r, v, loads) for r, v in zip(result, columns, strict=True)]
    return _joined(result, variants, loads)


def _joined(result: Any, variants: Sequence[Any], loads: frozenset[str]) -> Any:
    if is_undefined(result):
        loads |= result.loads
    return _marked(result, [_variant(v, k) for k, v in enumerate(variants)], loads)


def _attempt(builder: Any, memory: _Trial, operation: Any, operands: Any, rest: Any) -> Any:
    kept, builder.memory = builder.memory, memory
    try:
        return operation(builder, operands, *rest)
    finally:
        memory.end()
        builder.memory = kept
