"""v_cmp and v_cmpx of every type and predicate, against NumPy's comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from asmlib import TARGETS, floats, halves, integers, lanes

u32 = np.uint32
PREDICATES = {
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
FLOATS = PREDICATES | {
    "lg": lambda a, b: (a < b) | (a > b),
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b),
    "nlt": lambda a, b: ~(a < b),
}
INTEGERS = PREDICATES | {"ne": lambda a, b: a != b}
ALWAYS = lambda a, b: np.full(len(a), True)  # noqa: E731
NEVER = lambda a, b: np.full(len(a), False)  # noqa: E731
TYPES = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i16": np.int16, "u16": np.uint16,
    "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
}  # fmt: skip


def predicates(kind: str, target: str) -> dict:
    """Those that a target has for a type."""
    found = FLOATS if kind[0] == "f" else INTEGERS
    if target == "gfx942":
        return found | {"f": NEVER, "tru" if kind[0] == "f" else "t": ALWAYS}
    if target == "gfx1100" and kind not in ("i16", "u16"):
        return found | {"f": NEVER, "t": ALWAYS}
    return found


def operands(kind: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What registers hold, and the values of the type that are in them."""
    dtype = TYPES[kind]
    if kind[0] == "f":
        values = floats(100, 2, dtype)
        return [halves(v) for v in values] if kind == "f16" else values, values
    words = integers(100, 2, 8 * np.dtype(dtype).itemsize)
    # Some are equal.
    words[1][-40:] = words[0][-40:]
    if words[0].itemsize == np.dtype(dtype).itemsize:
        return words, [w.view(dtype) for w in words]
    return [w | u32(0xABCD0000) for w in words], [w.astype(np.uint16).view(dtype) for w in words]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", TYPES)
def test_comparisons(kind, target):
    """The mask that a comparison gives, and the lanes that one for EXEC leaves."""
    words, values = operands(kind)
    everyone = "s_mov_b64 exec, -1" if target == "gfx942" else "s_mov_b32 exec_lo, -1"
    for name, holds in predicates(kind, target).items():
        want = holds(*values)
        got = lanes(f"v_cmp_{name}_{kind} vcc, {{0}}, {{1}}", words, "mask", target)
        assert (got.astype(bool) == want).all(), name
        mask = "vcc, " if target == "gfx942" else ""
        text = f"v_cmpx_{name}_{kind} {mask}{{0}}, {{1}}\nv_mov_b32 {{d}}, 7\n{everyone}"
        got = lanes(text, words, 1, target, start=np.full(len(want), 5, u32))
        assert (got == np.where(want, 7, 5)).all(), f"{name} for EXEC"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_classes(kind, target):
    """Which of ten classes a number is in: NaN that signals and that does not, negative infinity,
    normal and subnormal number and zero, and the same of the other sign."""
    words, (values, _) = operands(kind)
    info = np.finfo(values.dtype)
    bits = values.view(f"u{values.itemsize}")
    quiet = (bits >> (info.nmant - 1) & 1).astype(bool)
    small = (np.abs(values) < info.tiny) & (values != 0)
    normal = np.isfinite(values) & (np.abs(values) >= info.tiny)
    negative = np.signbit(values)
    sides = [np.isinf(values), normal, small, values == 0]
    classes = [np.isnan(values) & ~quiet, np.isnan(values) & quiet]
    classes += [c & negative for c in sides] + [c & ~negative for c in reversed(sides)]
    assert (sum(c.astype(int) for c in classes) == 1).all()
    for chosen in [*(1 << i for i in range(10)), 0x3FF, 0x2A5, 0]:
        want = np.zeros(len(values), bool)
        for i, member in enumerate(classes):
            want |= member & bool(chosen >> i & 1)
        mask = [words[0], np.full(len(values), chosen, u32)]
        got = lanes(f"v_cmp_class_{kind} vcc, {{0}}, {{1}}", mask, "mask", target)
        assert (got.astype(bool) == want).all(), hex(chosen)
