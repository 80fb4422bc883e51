"""What the generator knows about the values of a program it writes.

Integers wrap, so every operation on them is exact and all values are comparable. Floats come in
three kinds, so that a comparison of two executions means something:

- exact: multiples of 2**-grid of at most `bound`, few enough for the type to hold all that the
  generator adds and multiplies of them, in whatever order. They may be NaN or infinite too
  (`special`).
- wild: any bits. They are only compared, selected, moved, converted, or added once.
- approx: results of functions that devices round differently; `error` bounds the difference.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Type:
    """A scalar type: its names here and in the language, and its properties."""

    name: str
    tl: str
    numpy: type
    bits: int
    kind: str  # "b", "i", "u" or "f".
    digits: int = 0  # Of the significand.
    largest: float = 0.0  # That the generator lets arise.


TYPES = {
    t.name: t
    for t in (
        Type("i1", "tl.int1", np.bool_, 1, "b"),
        Type("i8", "tl.int8", np.int8, 8, "i"),
        Type("i16", "tl.int16", np.int16, 16, "i"),
        Type("i32", "tl.int32", np.int32, 32, "i"),
        Type("i64", "tl.int64", np.int64, 64, "i"),
        Type("u8", "tl.uint8", np.uint8, 8, "u"),
        Type("u16", "tl.uint16", np.uint16, 16, "u"),
        Type("u32", "tl.uint32", np.uint32, 32, "u"),
        Type("u64", "tl.uint64", np.uint64, 64, "u"),
        Type("fp8e5", "tl.float8e5", ml_dtypes.float8_e5m2, 8, "f", 3, 2.0**15),
        Type("fp8e4nv", "tl.float8e4nv", ml_dtypes.float8_e4m3fn, 8, "f", 4, 448.0),
        Type("fp16", "tl.float16", np.float16, 16, "f", 11, 65504.0),
        Type("bf16", "tl.bfloat16", ml_dtypes.bfloat16, 16, "f", 8, 2.0**100),
        Type("fp32", "tl.float32", np.float32, 32, "f", 24, 2.0**100),
        Type("fp64", "tl.float64", np.float64, 64, "f", 53, 2.0**100),
    )
}
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("fp16", "bf16", "fp32", "fp64")
SMALL_FLOATS = ("fp8e5", "fp8e4nv")


@dataclass(frozen=True)
class Value:
    """A variable of the program: its type, its shape (() is a scalar), what is known of it."""

    name: str
    type: str
    shape: tuple[int, ...]
    # Integers: the range, if it is narrower than the type's.
    low: int | None = None
    high: int | None = None
    # Floats.
    kind: str = "exact"
    bound: float = 0.0
    grid: int = 0
    special: bool = False
    error: float = 0.0

    @property
    def info(self) -> Type:
        return TYPES[self.type]

    @property
    def is_float(self) -> bool:
        return self.info.kind == "f"

    @property
    def is_int(self) -> bool:
        return self.info.kind in "iu"

    @property
    def is_bool(self) -> bool:
        return self.info.kind == "b"

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def is_exact(self) -> bool:
        """Every execution computes the same value."""
        return not self.is_float or self.kind != "approx"

    @property
    def is_plain(self) -> bool:
        """An exact float that is finite."""
        return self.is_float and self.kind == "exact" and not self.special

    def replace(self, **changes: object) -> Value:
        return dataclasses.replace(self, **changes)

    def domain(self) -> dict[str, object]:
        """All that is known beside name, type and shape."""
        skip = ("name", "type", "shape")
        return {
            f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in skip
        }


def limits(type_name: str) -> tuple[int, int]:
    """The range of an integer type."""
    info = TYPES[type_name]
    if info.kind == "i":
        return -(2 ** (info.bits - 1)), 2 ** (info.bits - 1) - 1
    return 0, 2**info.bits - 1


def fits(bound: float, grid: int, type_name: str) -> bool:
    """Whether a float type holds all multiples of 2**-grid up to `bound`."""
    info = TYPES[type_name]
    return bound * 2.0**grid <= 2.0**info.digits and bound <= info.largest and grid <= 8


def join(a: Value, b: Value) -> dict[str, object]:
    """What is known of a value that is `a` or `b`."""
    if not a.is_float:
        if None in (a.low, a.high, b.low, b.high):
            return {}
        return {"low": min(a.low, b.low), "high": max(a.high, b.high)}
    kinds = {a.kind, b.kind}
    if kinds == {"exact"}:
        kind = "exact"
    else:
        kind = "approx" if "approx" in kinds else "wild"
    return {
        "kind": kind,
        "bound": max(a.bound, b.bound),
        "grid": max(a.grid, b.grid),
        "special": a.special or b.special,
        "error": max(a.error, b.error),
    }


def fits_join(a: Value, b: Value) -> bool:
    if "approx" in (a.kind, b.kind):
        return True
    return fits(max(a.bound, b.bound), max(a.grid, b.grid), a.type)


def promote(a: str, b: str) -> str:
    """The type in which integers of two types are computed: the wider, or the unsigned one."""
    x, y = TYPES[a], TYPES[b]
    if x.bits != y.bits:
        return a if x.bits > y.bits else b
    return a if x.kind in "ub" else b


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The common shape, if there is one."""
    rank = max(len(a), len(b))
    x, y = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    if any(m != n and m != 1 and n != 1 for m, n in zip(x, y, strict=True)):
        return None
    return tuple(max(m, n) for m, n in zip(x, y, strict=True))
