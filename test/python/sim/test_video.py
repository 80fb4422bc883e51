"""Video instructions: random forms against the ISA's pseudo-code in plain Python integers."""

from __future__ import annotations

import random

import numpy as np
import pytest
from ptxlib import HEADER, elementwise, elementwise_ptx, integers
from test_strict import assemble

import tile.sim
from tile.errors import TileError

SIGNED = {"s32": True, "u32": False}


def part(word: int, width: int, index: int, signed: bool) -> int:
    """Bits of a word as a number."""
    value = (word >> (width * index)) & ((1 << width) - 1)
    return value - (1 << width) if signed and value >> (width - 1) else value


def clamp(value: int, width: int, signed: bool) -> int:
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    return max(low, min(high, value))


def combine(second: str, signed: bool, value: int, c: int) -> int:
    value &= 0xFFFFFFFF
    if second == "add":
        return (value + c) & 0xFFFFFFFF
    return {"min": min, "max": max}[second](value, c, key=lambda v: part(v, 32, 0, signed))


ARITHMETIC = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
    "vavrg": lambda a, b: (a + b + (1 if a + b >= 0 else 0)) // 2,
}
COMPARISONS = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
SELECTORS = [
    ("", 32, 0),
    *[(f".b{i}", 8, i) for i in range(4)],
    *[(f".h{i}", 16, i) for i in range(2)],
]


def scalar_form(rng: random.Random):
    """The text of a scalar form, and its meaning."""
    name = rng.choice(["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"])
    dtype, atype, btype = (rng.choice(["s32", "u32"]) for _ in range(3))
    (asel, awidth, aindex), (bsel, bwidth, bindex) = rng.choice(SELECTORS), rng.choice(SELECTORS)
    dsel, dwidth, dindex = rng.choice(SELECTORS)
    second = rng.choice(["add", "min", "max"]) if not dsel and rng.random() < 0.6 else ""
    saturates = name != "vset" and rng.random() < 0.5
    mode = compare = ""
    if name in ("vshl", "vshr"):
        btype, mode = "u32", rng.choice([".clamp", ".wrap"])
    if name == "vset":
        compare, dtype = rng.choice(list(COMPARISONS)), "u32"

    def operation(a, b):
        if name in ARITHMETIC:
            return ARITHMETIC[name](a, b)
        if name == "vset":
            return int(COMPARISONS[compare](a, b))
        by = min(b, 32) if mode == ".clamp" else b % 32
        return a << by if name == "vshl" else a >> by

    def meaning(a, b, c):
        value = operation(
            part(a, awidth, aindex, SIGNED[atype]), part(b, bwidth, bindex, SIGNED[btype])
        )
        if saturates:
            value = clamp(value, dwidth, SIGNED[dtype])
        if second:
            return combine(second, SIGNED[dtype], value, c)
        kept = ((1 << dwidth) - 1) << (dwidth * dindex)
        return ((value << (dwidth * dindex)) & kept) | (c & ~kept)

    head = (
        f"vset.{atype}.{btype}.{compare}" if name == "vset" else f"{name}.{dtype}.{atype}.{btype}"
    )
    text = head + (".sat" if saturates else "") + mode + (f".{second}" if second else "")
    third = ", {2}" if dsel or second else ""
    return f"{text} {{d}}{dsel}, {{0}}{asel}, {{1}}{bsel}{third};", meaning


def packed_form(rng: random.Random):
    """The text of a SIMD form, and its meaning."""
    name = rng.choice([*ARITHMETIC, "vset"])
    count = rng.choice([2, 4])
    width, letter = 32 // count, {2: "h", 4: "b"}[count]
    dtype, atype, btype = (rng.choice(["s32", "u32"]) for _ in range(3))
    adds = rng.random() < 0.4
    saturates = not adds and name != "vset" and rng.random() < 0.5
    compare = rng.choice(list(COMPARISONS))
    a_parts, b_parts, mask = list(range(count)), list(range(count, 2 * count)), list(range(count))
    asel = bsel = dsel = ""
    if rng.random() < 0.5:
        a_parts = [rng.randrange(2 * count) for _ in range(count)]
        asel = f".{letter}" + "".join(str(i) for i in reversed(a_parts))
    if rng.random() < 0.5:
        b_parts = [rng.randrange(2 * count) for _ in range(count)]
        bsel = f".{letter}" + "".join(str(i) for i in reversed(b_parts))
    if rng.random() < 0.5:
        mask = sorted(rng.sample(range(count), rng.randrange(1, count + 1)))
        dsel = f".{letter}" + "".join(str(i) for i in reversed(mask))

    def meaning(a, b, c):
        both, out = b << 32 | a, c
        for i in mask:
            x = part(both, width, a_parts[i], SIGNED[atype])
            y = part(both, width, b_parts[i], SIGNED[btype])
            value = int(COMPARISONS[compare](x, y)) if name == "vset" else ARITHMETIC[name](x, y)
            if adds:
                out = (out + value) & 0xFFFFFFFF
                continue
            if saturates:
                value = clamp(value, width, SIGNED[dtype])
            kept = ((1 << width) - 1) << (width * i)
            out = (out & ~kept) | ((value << (width * i)) & kept)
        return out

    types = f"{atype}.{btype}.{compare}" if name == "vset" else f"{dtype}.{atype}.{btype}"
    text = f"{name}{count}.{types}" + (".sat" if saturates else "") + (".add" if adds else "")
    return f"{text} {{d}}{dsel}, {{0}}{asel}, {{1}}{bsel}, {{2}};", meaning


def product_form(rng: random.Random):
    """The text of a vmad, and its meaning."""
    dtype, atype, btype = (rng.choice(["s32", "u32"]) for _ in range(3))
    (asel, awidth, aindex), (bsel, bwidth, bindex) = rng.choice(SELECTORS), rng.choice(SELECTORS)
    po = rng.random() < 0.3
    signs = (
        rng.choice([(1, 1, 1), (-1, 1, 1), (1, -1, 1), (-1, -1, 1), (1, 1, -1)])
        if not po
        else (1, 1, 1)
    )
    saturates, shift = rng.random() < 0.5, rng.choice([0, 7, 15])
    signed = SIGNED[atype] or SIGNED[btype] or signs.count(-1) == 1

    def meaning(a, b, c):
        product = part(a, awidth, aindex, SIGNED[atype]) * part(b, bwidth, bindex, SIGNED[btype])
        if signs[2] < 0:  # one's complement and one more: the most negative number stays what it is
            total = product + part(c ^ 0xFFFFFFFF, 32, 0, True) + 1
        else:
            total = signs[0] * signs[1] * product + part(c, 32, 0, signed) + po
        total >>= shift
        return (clamp(total, 32, signed) if saturates else total) & 0xFFFFFFFF

    minus = ["-" if s < 0 else "" for s in signs]
    text = f"vmad.{dtype}.{atype}.{btype}" + (".po" if po else "") + (".sat" if saturates else "")
    text += f".shr{shift}" if shift else ""
    return f"{text} {{d}}, {minus[0]}{{0}}{asel}, {minus[1]}{{1}}{bsel}, {minus[2]}{{2}};", meaning


@pytest.mark.parametrize("make", [scalar_form, packed_form, product_form])
def test_random_forms(make):
    rng = random.Random(3)
    a, b, c = integers(32, 60, 3, seed=5)
    texts = []
    for _ in range(70):
        text, meaning = make(rng)
        texts.append(text)
        got = elementwise(text, "b32", [("b32", a), ("b32", b), ("b32", c)])
        want = [meaning(int(x), int(y), int(z)) for x, y, z in zip(a, b, c, strict=True)]
        assert got.tolist() == want, text
    # One module has all forms, so that ptxas is asked once.
    lines = [t.format("%x0", "%x1", "%x2", d="%out") for t in texts]
    module = elementwise_ptx("\n".join(lines), "b32", ["b32", "b32", "b32"])
    assert assemble(module) in (True, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vadd.u32.u32.u32.add %r1, %r2, %r3;", "expected 4 operands"),
        ("vadd.u32.u32.u32.add %r1.b0, %r2, %r3, %r4;", "merged into a part or combined"),
        ("vadd.u32.u32.u32 %r1, -%r2, %r3;", "only operands of vmad have a sign"),
        ("vadd.u32.u32.u32 %r1, %r2.b4, %r3;", "a part is one of"),
        ("vadd.u32.u32.u32 %r1, %r2.h2, %r3;", "a part is one of"),
        ("vadd.u32.b32.u32 %r1, %r2, %r3;", "not allowed here"),
        ("vadd2.u32.u32.u32.sat.add %r1, %r2, %r3, %r4;", "do not go together"),
        ("vadd2.u32.u32.u32 %r1, %r2.h40, %r3, %r4;", "parts are .hxy"),
        ("vadd2.u32.u32.u32 %r1.h01, %r2, %r3, %r4;", "the highest first"),
        ("vadd4.u32.u32.u32 %r1.h1, %r2, %r3, %r4;", "a mask names parts"),
        ("vadd2.u32.u32.u32 %r1, %r2, 5, %r4;", "expected a register"),
        ("vshl.u32.u32.u32 %r1, %r2, %r3;", "needs .clamp or .wrap"),
        ("vset.u32.u32 %r1, %r2, %r3;", "needs a comparison"),
        ("vmad.s32.s32.s32.po %r1, -%r2, %r3, %r4;", ".po and signs"),
        ("vmad.s32.s32.s32 %r1, -%r2, %r3, -%r4;", "either the product or the addend"),
        ("add.u32 %r1, %r2.b0, %r3;", "takes no parts of registers"),
    ],
)
def test_refused(text, message):
    module = HEADER + ".visible .entry k() { .reg .b32 %r<8>;\n" + text + "\nret; }"
    with pytest.raises(TileError, match=message):
        tile.sim.load(module)
    assert not assemble(module)


def test_parts_of_vectors_and_numbers():
    """A number has no parts; what looks like one is read as PTX's own names are."""
    got = elementwise(
        "vadd.u32.u32.u32 {d}, {0}.b1, 5;", "b32", [("b32", np.array([0x1234], np.uint32))]
    )
    assert got.tolist() == [0x12 + 5]
