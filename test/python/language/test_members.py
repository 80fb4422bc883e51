"""What a number has, however a kernel came by it: assigned, looped over, a constant, an argument.

Each kernel is written for one number and one way to have it; it stores every member, and whether
the member's type is the one that the language says. The expectations are Python's arithmetic.
"""

from __future__ import annotations

import linecache
import math
from typing import Any

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

#: Numbers and what they are when nothing else is said.
NUMBERS = {
    "zero": (0, "int32"), "one": (1, "int32"), "small": (5, "int32"), "negative": (-7, "int32"),
    "most": (2**31 - 1, "int32"), "wide": (2**40 + 3, "int64"), "least": (-(2**63), "int64"),
    "huge": (2**64 - 2, "uint64"), "float": (2.5, "float32"), "negative_float": (-0.75, "float32"),
    "true": (True, "int1"), "false": (False, "int1"),
}  # fmt: skip
BITS = {"int1": 1, "int8": 8, "int16": 16, "int32": 32, "int64": 64,
        "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}  # fmt: skip

#: Ways to have a number {v} as the name `x`: lines of the kernel, and what is passed for `a` and
#: the constant `C`.
WAYS: dict[str, tuple[str, Any, Any]] = {
    "assigned": ("x = {v!r}", None, None),
    "assigned again": ("y = {v!r}\nx = y", None, None),
    "an item": ("x = (1, {v!r})[1]", None, None),
    "a constant": ("x: tl.constexpr = {v!r}", None, None),
    "a constant argument": ("x = C", None, lambda v: v),
    "a constant of NumPy": ("x = C", None, "scalar"),
    "a wrapped constant": ("x = C", None, tl.constexpr),
    "a wrapped constant of NumPy": ("x = C", None, lambda v: tl.constexpr(scalar(v))),
    "a global": ("x = GLOBAL", None, None),
    "a constant loop": ("for i in tl.static_range({v!r}, {v!r} + 1):\n    x = i", None, None),
    "a loop": ("for x in range({v!r}, {v!r} + 1):\n    tl.store(out, 0.0)", None, None),
    "a loop over an argument": ("for x in range(a, a + 1):\n    tl.store(out, 0.0)", "a", None),
    "an argument": ("x = a", "a", None),
    "an argument of NumPy": ("x = a", "scalar", None),
    "a returned number": ("x = same({v!r})", None, None),
}


def scalar(v: Any) -> Any:
    """The number as a scalar of NumPy, of the type that the language gives it."""
    if isinstance(v, bool):
        return np.bool_(v)
    if isinstance(v, float):
        return np.float32(v)
    return np.uint64(v) if v >= 2**63 else np.int32(v) if -(2**31) <= v < 2**31 else np.int64(v)


def wrapped(v: int, name: str) -> int:
    """An integer as it is in an integer type."""
    bits = BITS[name]
    v &= (1 << bits) - 1
    return v - (1 << bits) if name.startswith("int") and bits > 1 and v >> (bits - 1) else v


def members(v: Any, type_name: str) -> dict[str, tuple[Any, str | None]]:
    """Expressions in `x`: the number that each must be, and its type (None for a plain one)."""
    exact: dict[str, tuple[Any, str | None]] = {
        "x": (v, type_name),
        "len(x.shape)": (0, None),
        "x.numel": (1, None),
        "x.ndim": (0, None),
        f"x.dtype == tl.{type_name}": (True, None),
        f"x.type == tl.{type_name}": (True, None),
        "x.dtype.primitive_bitwidth": (getattr(tl, type_name).primitive_bitwidth, None),
        "x.broadcast_to([1]).sum()" if type_name not in ("int1",) else "x": (v, type_name),
    }
    for name in BITS:
        if not isinstance(v, float):
            # Of a truth value, whether it is not zero.
            exact[f"x.to(tl.{name})"] = (bool(v) if name == "int1" else wrapped(int(v), name), name)
        elif name == "int32":
            exact[f"x.to(tl.{name})"] = (int(v), name)
    exact["x.to(tl.float64)"] = (float(v), "float64")
    exact["x.cast(tl.float32)"] = (float(np.float32(v)), "float32")
    if isinstance(v, float):
        exact |= {
            "x.abs()": (abs(v), "float32"),
            "x.floor()": (math.floor(v), "float32"),
            "x.ceil()": (math.ceil(v), "float32"),
            "x.exp()": (math.exp(v), "float32"),
            "x.cos()": (math.cos(v), "float32"),
        }
        if v > 0:
            exact |= {"x.sqrt()": (math.sqrt(v), "float32"), "x.log2()": (math.log2(v), "float32")}
    elif type_name != "int1":
        exact["x.abs()"] = (wrapped(abs(v), type_name), type_name)
        if 0 <= v < 2**31 - 2:
            exact["x.cdiv(3)"] = (-(-v // 3), type_name)
    return exact


def kernel(lines: str, wanted: dict[str, tuple[Any, str | None]], v: Any) -> Any:
    body = [*lines.splitlines()]
    for i, (text, (_, type_name)) in enumerate(wanted.items()):
        body.append(f"m{i} = {text}")
        value = f"m{i}.to(tl.float64)" if type_name == "float64" or type_name is None else f"m{i}"
        # Integers of 64 bits are stored as they are, next to the others.
        whole = type_name in BITS
        body.append(f"tl.store(whole + {i}, m{i})" if whole else f"tl.store(out + {i}, {value})")
        if type_name is not None:
            body.append(f"tl.static_assert(m{i}.dtype == tl.{type_name}, {text!r})")
    head = "@tile.jit\ndef same(x):\n    return x\n\n"
    head += "@tile.jit\ndef kernel(out, whole, a, C: tl.constexpr):\n"
    text = head + "\n".join(f"    {line}" for line in body)
    name = f"<members {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"tile": tile, "tl": tl, "__name__": "members", "GLOBAL": tl.constexpr(v)}
    exec(compile(text, name, "exec"), scope)
    return scope["kernel"]


def cases() -> list[Any]:
    found = []
    for way in WAYS:
        for number, (v, _) in NUMBERS.items():
            if "loop" in way and (isinstance(v, (bool, float)) or not -(2**63) <= v < 2**31 - 1):
                continue
            found.append(pytest.param(way, number, id=f"{number}, {way}"))
    return found


@pytest.mark.sweep
@pytest.mark.parametrize(("way", "number"), cases())
def test_members_of_numbers(way, number):
    v, type_name = NUMBERS[number]
    lines, argument, constant = WAYS[way]
    wanted = members(v, type_name)
    out, whole = np.full(len(wanted), np.nan), np.full(len(wanted), 77, np.int64)
    make = {"a": lambda v: v, "scalar": scalar, None: lambda v: 0}
    kernel(lines.format(v=v), wanted, v)[(1,)](
        out, whole, make[argument](v), constant(v) if callable(constant) else make[constant](v)
    )
    for i, (text, (expected, kind)) in enumerate(wanted.items()):
        if kind in BITS:
            assert whole[i] == wrapped(int(expected), "int64"), text
        else:
            assert out[i] == pytest.approx(float(expected), rel=1e-6), text


@pytest.mark.parametrize("way", [w for w in WAYS if "loop" not in w])
def test_members_that_numbers_do_not_have(way):
    lines, argument, constant = WAYS[way]
    for text in ("x.absolute()", "x.T", "x.value.nothing", "x.sort()"):
        made = kernel(f"{lines.format(v=5)}\ny = {text}", {}, 5)
        make = {"a": lambda v: v, "scalar": scalar, None: lambda v: 0}
        # The interpreter runs Python, which says it in its own way.
        with pytest.raises((tile.TileError, AttributeError)):
            made[(1,)](
                np.zeros(1), np.zeros(1, np.int64), make[argument](5),
                constant(5) if callable(constant) else make[constant](5),
            )  # fmt: skip
