# ruff: noqa: E501  (PTX text reads better unbroken)
"""Integer, logic and bit-field instructions against exact integer arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from ptxlib import elementwise, integers


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def check(text, result, kinds, arrays, reference):
    got = elementwise(text, result, list(zip(kinds, arrays, strict=True)))
    mask = (1 << (8 * got.dtype.itemsize)) - 1
    want = [int(reference(*(int(v) for v in row))) & mask for row in zip(*arrays, strict=True)]
    bad = [i for i, (g, w) in enumerate(zip(got, want, strict=True)) if int(g) != w]
    assert not bad, (
        f"{text}: {len(bad)} differ; first: {[hex(int(a[bad[0]])) for a in arrays]} gave {got[bad[0]]:#x}, not {want[bad[0]]:#x}"
    )


def typed(kind):
    bits = int(kind[1:])
    return bits, (lambda v: signed(v, bits)) if kind[0] == "s" else (lambda v: v)


TYPES = ["u16", "s16", "u32", "s32", "u64", "s64"]


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "min": min,
    "max": max,
    "div": lambda a, b: trunc_div(a, b) if b else -1,
    "rem": lambda a, b: a - b * trunc_div(a, b) if b else -1,
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("op", BINARY)
def test_binary(op, kind):
    bits, view = typed(kind)
    reference = BINARY[op]
    check(
        f"{op}.{kind} {{d}}, {{0}}, {{1}};",
        f"b{bits}",
        [f"b{bits}"] * 2,
        integers(bits, 300, 2),
        lambda a, b: reference(view(a), view(b)),
    )


@pytest.mark.parametrize("kind", TYPES)
def test_multiply_high_wide_and_mad(kind):
    bits, view = typed(kind)
    two, three = integers(bits, 300, 2), integers(bits, 300, 3)
    reg = f"b{bits}"
    check(
        f"mul.hi.{kind} {{d}}, {{0}}, {{1}};",
        reg,
        [reg] * 2,
        two,
        lambda a, b: (view(a) * view(b)) >> bits,
    )
    check(
        f"mad.lo.{kind} {{d}}, {{0}}, {{1}}, {{2}};",
        reg,
        [reg] * 3,
        three,
        lambda a, b, c: a * b + c,
    )
    check(
        f"mad.hi.{kind} {{d}}, {{0}}, {{1}}, {{2}};",
        reg,
        [reg] * 3,
        three,
        lambda a, b, c: ((view(a) * view(b)) >> bits) + c,
    )
    check(
        f"sad.{kind} {{d}}, {{0}}, {{1}}, {{2}};",
        reg,
        [reg] * 3,
        three,
        lambda a, b, c: c + abs(view(a) - view(b)),
    )
    if bits < 64:
        wide = f"b{2 * bits}"
        check(
            f"mul.wide.{kind} {{d}}, {{0}}, {{1}};",
            wide,
            [reg] * 2,
            two,
            lambda a, b: view(a) * view(b),
        )
        wider = integers(2 * bits, 0, 1)[0]
        wider = np.resize(wider, len(two[0]))
        check(
            f"mad.wide.{kind} {{d}}, {{0}}, {{1}}, {{2}};",
            wide,
            [reg, reg, wide],
            [*two, wider],
            lambda a, b, c: view(a) * view(b) + c,
        )


@pytest.mark.parametrize("kind", ["s16", "s32", "s64"])
def test_neg_abs(kind):
    bits, view = typed(kind)
    (a,) = integers(bits, 100, 1)
    check(f"neg.{kind} {{d}}, {{0}};", f"b{bits}", [f"b{bits}"], [a], lambda v: -view(v))
    check(f"abs.{kind} {{d}}, {{0}};", f"b{bits}", [f"b{bits}"], [a], lambda v: abs(view(v)))


def clamp32(v):
    return max(-(1 << 31), min((1 << 31) - 1, v))


def test_saturating():
    a, b = integers(32, 300, 2)
    check(
        "add.sat.s32 {d}, {0}, {1};",
        "b32",
        ["b32"] * 2,
        [a, b],
        lambda x, y: clamp32(signed(x, 32) + signed(y, 32)),
    )
    check(
        "sub.sat.s32 {d}, {0}, {1};",
        "b32",
        ["b32"] * 2,
        [a, b],
        lambda x, y: clamp32(signed(x, 32) - signed(y, 32)),
    )


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_logic_and_shifts(bits):
    reg = f"b{bits}"
    a, b = integers(bits, 200, 2)
    for op, f in {
        "and": lambda x, y: x & y,
        "or": lambda x, y: x | y,
        "xor": lambda x, y: x ^ y,
    }.items():
        check(f"{op}.{reg} {{d}}, {{0}}, {{1}};", reg, [reg] * 2, [a, b], f)
    check(f"not.{reg} {{d}}, {{0}};", reg, [reg], [a], lambda x: ~x)
    check(f"cnot.{reg} {{d}}, {{0}};", reg, [reg], [a], lambda x: x == 0)
    amount = np.resize(
        np.array([0, 1, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 0xFFFFFFFF], np.uint32), len(a)
    )
    check(
        f"shl.{reg} {{d}}, {{0}}, {{1}};",
        reg,
        [reg, "b32"],
        [a, amount],
        lambda x, n: x << n if n < bits else 0,
    )
    check(
        f"shr.u{bits} {{d}}, {{0}}, {{1}};",
        reg,
        [reg, "b32"],
        [a, amount],
        lambda x, n: x >> n if n < bits else 0,
    )
    check(
        f"shr.s{bits} {{d}}, {{0}}, {{1}};",
        reg,
        [reg, "b32"],
        [a, amount],
        lambda x, n: signed(x, bits) >> min(n, bits),
    )


def test_funnel_shift():
    a, b, c = integers(32, 300, 3)
    both = lambda lo, hi: hi << 32 | lo  # noqa: E731
    check(
        "shf.l.wrap.b32 {d}, {0}, {1}, {2};",
        "b32",
        ["b32"] * 3,
        [a, b, c],
        lambda lo, hi, n: both(lo, hi) << (n & 31) >> 32,
    )
    check(
        "shf.r.wrap.b32 {d}, {0}, {1}, {2};",
        "b32",
        ["b32"] * 3,
        [a, b, c],
        lambda lo, hi, n: both(lo, hi) >> (n & 31),
    )
    check(
        "shf.l.clamp.b32 {d}, {0}, {1}, {2};",
        "b32",
        ["b32"] * 3,
        [a, b, c],
        lambda lo, hi, n: both(lo, hi) << min(n, 32) >> 32,
    )
    check(
        "shf.r.clamp.b32 {d}, {0}, {1}, {2};",
        "b32",
        ["b32"] * 3,
        [a, b, c],
        lambda lo, hi, n: both(lo, hi) >> min(n, 32),
    )


@pytest.mark.parametrize("bits", [32, 64])
def test_bits(bits):
    reg = f"b{bits}"
    (a,) = integers(bits, 200, 1)
    check(f"popc.{reg} {{d}}, {{0}};", "b32", [reg], [a], lambda x: x.bit_count())
    check(f"clz.{reg} {{d}}, {{0}};", "b32", [reg], [a], lambda x: bits - x.bit_length())
    check(f"brev.{reg} {{d}}, {{0}};", reg, [reg], [a], lambda x: int(f"{x:0{bits}b}"[::-1], 2))
    check(f"bfind.u{bits} {{d}}, {{0}};", "b32", [reg], [a], lambda x: x.bit_length() - 1)
    top = lambda x: (~x if signed(x, bits) < 0 else x) & ((1 << bits) - 1)  # noqa: E731
    check(f"bfind.s{bits} {{d}}, {{0}};", "b32", [reg], [a], lambda x: top(x).bit_length() - 1)
    shift = lambda x: bits - x.bit_length() if x else -1  # noqa: E731
    check(f"bfind.shiftamt.u{bits} {{d}}, {{0}};", "b32", [reg], [a], shift)


def bfe_reference(bits, is_signed):
    def reference(a, pos, length):
        pos, length = pos & 255, length & 255
        sign = (a >> min(pos + length - 1, bits - 1)) & 1 if is_signed and length else 0
        out = 0
        for i in range(bits):
            bit = (a >> (pos + i)) & 1 if i < length and pos + i < bits else sign
            out |= bit << i
        return out

    return reference


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_bfe_bfi(kind):
    bits = int(kind[1:])
    reg = f"b{bits}"
    a, b = integers(bits, 300, 2)
    pos = np.resize(np.array([0, 1, 8, 31, 32, 40, 63, 64, 255, 17, 100], np.uint32), len(a))
    length = np.resize(np.array([0, 1, 4, 8, 16, 31, 32, 33, 64, 255, 7, 5, 6], np.uint32), len(a))
    check(
        f"bfe.{kind} {{d}}, {{0}}, {{1}}, {{2}};",
        reg,
        [reg, "b32", "b32"],
        [a, pos, length],
        bfe_reference(bits, kind[0] == "s"),
    )
    if kind[0] == "u":

        def bfi(x, y, p, n):
            p, n = p & 255, n & 255
            for i in range(n):
                if p + i < bits:
                    y = (y & ~(1 << (p + i))) | ((x >> i & 1 if i < bits else 0) << (p + i))
            return y

        check(
            f"bfi.{reg} {{d}}, {{0}}, {{1}}, {{2}}, {{3}};",
            reg,
            [reg, reg, "b32", "b32"],
            [a, b, pos, length],
            bfi,
        )


def prmt_reference(a, b, selector):
    data = b << 32 | a
    out = 0
    for i in range(4):
        s = selector >> 4 * i & 15
        byte = data >> 8 * (s & 7) & 255
        if s & 8:
            byte = 255 if byte & 128 else 0
        out |= byte << 8 * i
    return out


def test_prmt_lop3_and_dot_products():
    a, b, c = integers(32, 300, 3)
    reg = ["b32"] * 3
    check("prmt.b32 {d}, {0}, {1}, {2};", "b32", reg, [a, b, c], prmt_reference)
    modes = {
        "f4e": [0x3210, 0x4321, 0x5432, 0x6543],
        "rc16": [0x1010, 0x3232, 0x1010, 0x3232],
        "ecl": [0x3210, 0x3211, 0x3222, 0x3333],
    }
    for mode, table in modes.items():
        check(
            f"prmt.b32.{mode} {{d}}, {{0}}, {{1}}, {{2}};",
            "b32",
            reg,
            [a, b, c],
            lambda x, y, s, t=table: prmt_reference(x, y, t[s & 3]),
        )
    for lut in (0x80, 0xE8, 0x96, 0x01, 0xCA, 0xFF, 0x00):

        def lop3(x, y, z, lut=lut):
            return sum(
                ((lut >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | (z >> i & 1))) & 1) << i
                for i in range(32)
            )

        check(f"lop3.b32 {{d}}, {{0}}, {{1}}, {{2}}, {lut};", "b32", reg, [a, b, c], lop3)
    for ta in "us":
        for tb in "us":

            def dp4a(x, y, z, ta=ta, tb=tb):
                byte = lambda v, i, t: signed(v >> 8 * i, 8) if t == "s" else v >> 8 * i & 255  # noqa: E731
                return z + sum(byte(x, i, ta) * byte(y, i, tb) for i in range(4))

            def dp2a(x, y, z, ta=ta, tb=tb):
                half = lambda v, i: signed(v >> 16 * i, 16) if ta == "s" else v >> 16 * i & 0xFFFF  # noqa: E731
                byte = lambda v, i: signed(v >> 8 * i, 8) if tb == "s" else v >> 8 * i & 255  # noqa: E731
                return z + sum(half(x, i) * byte(y, i + 2) for i in range(2))

            check(f"dp4a.{ta}32.{tb}32 {{d}}, {{0}}, {{1}}, {{2}};", "b32", reg, [a, b, c], dp4a)
            check(f"dp2a.hi.{ta}32.{tb}32 {{d}}, {{0}}, {{1}}, {{2}};", "b32", reg, [a, b, c], dp2a)


def test_mul24_and_carry_chain():
    a, b, c = integers(32, 200, 3)
    low = lambda v: v & 0xFFFFFF  # noqa: E731
    low_signed = lambda v: signed(v, 24)  # noqa: E731
    check("mul24.lo.u32 {d}, {0}, {1};", "b32", ["b32"] * 2, [a, b], lambda x, y: low(x) * low(y))
    check(
        "mul24.hi.s32 {d}, {0}, {1};",
        "b32",
        ["b32"] * 2,
        [a, b],
        lambda x, y: (low_signed(x) * low_signed(y)) >> 16,
    )
    check(
        "mad24.lo.s32 {d}, {0}, {1}, {2};",
        "b32",
        ["b32"] * 3,
        [a, b, c],
        lambda x, y, z: low_signed(x) * low_signed(y) + z,
    )
    wide = integers(64, 200, 2)
    split = "mov.b64 {{%w0, %w1}}, {0}; mov.b64 {{%w2, %w3}}, {1}; "
    for op in ("add", "sub"):
        text = (
            split
            + f"{op}.cc.u32 %w0, %w0, %w2; {op}c.u32 %w1, %w1, %w3; mov.b64 {{d}}, {{{{%w0, %w1}}}};"
        )
        check(
            text,
            "b64",
            ["b64"] * 2,
            wide,
            (lambda x, y: x + y) if op == "add" else (lambda x, y: x - y),
        )
    text = (
        "mad.lo.cc.u32 %w0, {0}, {1}, {2}; madc.hi.u32 %w1, {0}, {1}, 0; mov.b64 {d}, {{%w0, %w1}};"
    )
    check(text, "b64", ["b32"] * 3, [a, b, c], lambda x, y, z: x * y + z)


def test_packed_halves_bmsk_szext_fns():
    a, b = integers(32, 200, 2)

    def halves(f, view):
        return lambda x, y: (
            (f(view(x >> 16), view(y >> 16)) & 0xFFFF) << 16 | (f(view(x), view(y)) & 0xFFFF)
        )

    s16, u16 = lambda v: signed(v, 16), lambda v: v & 0xFFFF
    check("add.u16x2 {d}, {0}, {1};", "b32", ["b32"] * 2, [a, b], halves(lambda x, y: x + y, u16))
    check("min.s16x2 {d}, {0}, {1};", "b32", ["b32"] * 2, [a, b], halves(min, s16))
    check("max.u16x2 {d}, {0}, {1};", "b32", ["b32"] * 2, [a, b], halves(max, u16))
    check(
        "max.relu.s16x2 {d}, {0}, {1};",
        "b32",
        ["b32"] * 2,
        [a, b],
        halves(lambda x, y: max(x, y, 0), s16),
    )
    pos = np.resize(np.arange(0, 40, dtype=np.uint32), len(a))
    length = np.resize(np.arange(0, 37, dtype=np.uint32), len(a))
    check(
        "bmsk.clamp.b32 {d}, {0}, {1};",
        "b32",
        ["b32"] * 2,
        [pos, length],
        lambda p, n: ((1 << n) - 1) << p if p < 32 else 0,
    )
    check(
        "szext.clamp.s32 {d}, {0}, {1};",
        "b32",
        ["b32"] * 2,
        [a, length],
        lambda x, n: signed(x, min(n, 32)) if n else 0,
    )
    check(
        "szext.wrap.u32 {d}, {0}, {1};",
        "b32",
        ["b32"] * 2,
        [a, length],
        lambda x, n: x & ((1 << (n & 31)) - 1),
    )

    def fns(x, base, offset):
        found = [
            i
            for i in (range(base & 31, 32) if offset > 0 else range(base & 31, -1, -1))
            if x >> i & 1
        ]
        if offset == 0:
            return base & 31 if x >> (base & 31) & 1 else 0xFFFFFFFF
        return found[abs(offset) - 1] if len(found) >= abs(offset) else 0xFFFFFFFF

    offset = np.resize(np.array([1, 2, -1, -2, 0, 5], np.int32), len(a))
    base = np.resize(np.arange(32, dtype=np.uint32), len(a))
    check("fns.b32 {d}, {0}, {1}, {2};", "b32", ["b32"] * 3, [a, base, offset], fns)
