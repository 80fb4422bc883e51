# ruff: noqa: E501  (assembly reads better unbroken)
"""Scalar instructions against Python's integers, with SCC."""

from __future__ import annotations

import numpy as np
import pytest
from asmlib import TARGETS, integers, kernel, run

import tile

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def signed(x: int, bits: int = 32) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


def scalar(text: str, operands: list[np.ndarray], words: int, target: str) -> np.ndarray:
    """Runs text on each row of operands, one after the other; gives (result, scc) pairs. The
    sources are s[8:9] and s[10:11], or the first of them; the result is s[12:13]."""
    count = len(operands[0])
    data = np.stack([o.astype(np.uint64) for o in operands], 1)
    out = np.zeros((count, 2), np.uint64)
    body = f"""
	s_load_dwordx2 s[20:21], s[0:1], 0
	s_load_dwordx2 s[22:23], s[0:1], 8
	s_mov_b32 s30, {count}
	s_mov_b32 s31, 0
	s_mov_b32 s13, 0
	v_mov_b32 v3, 0
	v_mov_b32 v2, 0
	s_waitcnt lgkmcnt(0)
loop:
	s_load_dwordx2 s[8:9], s[22:23], 0
	s_load_dwordx2 s[10:11], s[22:23], 8
	s_waitcnt lgkmcnt(0)
	s_bitcmp1_b32 s8, 3
	s_mov_b64 s[12:13], 0
	{text}
	s_cselect_b32 s14, 1, 0
	v_mov_b32 v4, s12
	v_mov_b32 v5, s13
	v_mov_b32 v6, s14
	v_mov_b32 v7, 0
	global_store_dwordx4 v2, v[4:7], s[20:21]
	s_add_u32 s20, s20, 16
	s_addc_u32 s21, s21, 0
	s_add_u32 s22, s22, 16
	s_addc_u32 s23, s23, 0
	s_sub_u32 s30, s30, 1
	s_cmp_lg_u32 s30, 0
	s_cbranch_scc1 loop
"""
    run(kernel(body, [8, 8], target), [out, data], 1, 1)
    return out


def add_overflow(a: int, b: int) -> tuple[int, int]:
    r = signed(a) + signed(b)
    return r & M32, int(r != signed(r & M32))


def sub_overflow(a: int, b: int) -> tuple[int, int]:
    r = signed(a) - signed(b)
    return r & M32, int(r != signed(r & M32))


def nonzero(r: int) -> tuple[int, int]:
    return r, int(r != 0)


def bfe(a: int, b: int, bits: int, sign: bool) -> tuple[int, int]:
    offset, width = b & (bits - 1), min(b >> 16 & 127, bits)
    r = (signed(a, bits) if sign else a) >> offset & ((1 << width) - 1)
    if sign and width and r >> (width - 1):
        r -= 1 << width
    return nonzero(r & ((1 << bits) - 1))


# The SCC that comes in is bit 3 of the first operand.
OPS32 = {
    "s_add_u32": lambda a, b: ((a + b) & M32, a + b >> 32),
    "s_sub_u32": lambda a, b: ((a - b) & M32, int(b > a)),
    "s_addc_u32": lambda a, b: ((a + b + (a >> 3 & 1)) & M32, a + b + (a >> 3 & 1) >> 32),
    "s_subb_u32": lambda a, b: ((a - b - (a >> 3 & 1)) & M32, int(b + (a >> 3 & 1) > a)),
    "s_add_i32": add_overflow,
    "s_sub_i32": sub_overflow,
    "s_min_i32": lambda a, b: (min(signed(a), signed(b)) & M32, int(signed(a) < signed(b))),
    "s_max_u32": lambda a, b: (max(a, b), int(a > b)),
    "s_and_b32": lambda a, b: nonzero(a & b),
    "s_or_b32": lambda a, b: nonzero(a | b),
    "s_xor_b32": lambda a, b: nonzero(a ^ b),
    "s_nand_b32": lambda a, b: nonzero(~(a & b) & M32),
    "s_lshl_b32": lambda a, b: nonzero(a << (b & 31) & M32),
    "s_lshr_b32": lambda a, b: nonzero(a >> (b & 31)),
    "s_ashr_i32": lambda a, b: nonzero((signed(a) >> (b & 31)) & M32),
    "s_mul_i32": lambda a, b: (a * b & M32, a >> 3 & 1),
    "s_mul_hi_u32": lambda a, b: (a * b >> 32, a >> 3 & 1),
    "s_mul_hi_i32": lambda a, b: (signed(a) * signed(b) >> 32 & M32, a >> 3 & 1),
    "s_cselect_b32": lambda a, b: (a if a >> 3 & 1 else b, a >> 3 & 1),
    "s_bfe_u32": lambda a, b: bfe(a, b, 32, False),
    "s_bfe_i32": lambda a, b: bfe(a, b, 32, True),
    "s_absdiff_i32": lambda a, b: nonzero(abs(signed(a) - signed(b)) & M32),
    "s_lshl2_add_u32": lambda a, b: ((a * 4 + b) & M32, int(a * 4 + b > M32)),
    "s_pack_lh_b32_b16": lambda a, b: (a & 0xFFFF | b & 0xFFFF0000, a >> 3 & 1),
}
OPS64 = {
    "s_and_b64": lambda a, b: nonzero(a & b),
    "s_xnor_b64": lambda a, b: nonzero(~(a ^ b) & M64),
    "s_cselect_b64": lambda a, b: (a if a >> 3 & 1 else b, a >> 3 & 1),
}
UNARY32 = {
    "s_mov_b32": lambda a: (a, a >> 3 & 1),
    "s_not_b32": lambda a: nonzero(~a & M32),
    "s_brev_b32": lambda a: (int(f"{a:032b}"[::-1], 2), a >> 3 & 1),
    "s_bcnt1_i32_b32": lambda a: nonzero(a.bit_count()),
    "s_abs_i32": lambda a: nonzero(abs(signed(a)) & M32),
    "s_sext_i32_i8": lambda a: (signed(a & 255, 8) & M32, a >> 3 & 1),
}


def check(name: str, text: str, operands: list[np.ndarray], words: int, target: str, want) -> None:
    got = scalar(text, operands, words, target)
    for row, values in zip(
        got.tolist(), zip(*[o.tolist() for o in operands], strict=True), strict=True
    ):
        assert tuple(row) == tuple(want(*values)), (name, [hex(v) for v in values], row)


@pytest.mark.parametrize("target", TARGETS)
def test_arithmetic(target):
    a, b = integers(20, 2)
    for name, want in OPS32.items():
        check(name, f"{name} s12, s8, s10", [a, b], 1, target, want)
    for name, want in UNARY32.items():
        check(name, f"{name} s12, s8", [a, b], 1, target, lambda x, _, want=want: want(x))
    a, b = integers(20, 2, 64)
    for name, want in OPS64.items():
        check(name, f"{name} s[12:13], s[8:9], s[10:11]", [a, b], 2, target, want)
    check("s_lshl_b64", "s_lshl_b64 s[12:13], s[8:9], s10", [a, b], 2, target,
          lambda x, y: nonzero(x << (y & 63) & M64))  # fmt: skip
    check("s_bfe_i64", "s_bfe_i64 s[12:13], s[8:9], s10", [a, b], 2, target,
          lambda x, y: bfe(x, y & M32, 64, True))  # fmt: skip
    find = "s_ff1_i32_b64" if target == "gfx942" else "s_ctz_i32_b64"
    check(find, f"{find} s12, s[8:9]", [a, b], 1, target,
          lambda x, _: ((x & -x).bit_length() - 1 & M32, x >> 3 & 1))  # fmt: skip


def test_comparisons():
    a, b = integers(20, 2)
    names = {"eq": "==", "lg": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
    for name, sign in names.items():
        for kind in "iu":
            check(name, f"s_cmp_{name}_{kind}32 s8, s10", [a, b], 1, "gfx942",
                  lambda x, y, s=sign, k=kind: (0, int(eval(
                      f"{signed(x) if k == 'i' else x} {s} {signed(y) if k == 'i' else y}"))))  # fmt: skip
    check("s_cmpk_ge_i32", "s_cmpk_ge_i32 s8, 0xfffe", [a, b], 1, "gfx942",
          lambda x, _: (0, int(signed(x) >= -2)))  # fmt: skip
    check("s_bitcmp0_b32", "s_bitcmp0_b32 s8, s10", [a, b], 1, "gfx942",
          lambda x, y: (0, int(not x >> (y & 31) & 1)))  # fmt: skip


def test_constants_and_bits():
    a, b = integers(10, 2)
    check("s_movk_i32", "s_movk_i32 s12, 0x8001", [a, b], 1, "gfx942",
          lambda x, _: (0xFFFF8001, x >> 3 & 1))  # fmt: skip
    check("s_addk_i32", "s_mov_b32 s12, s8\ns_addk_i32 s12, 0xffff", [a, b], 1, "gfx942",
          lambda x, _: add_overflow(x, M32))  # fmt: skip
    check("s_bitset1_b32", "s_mov_b32 s12, s8\ns_bitset1_b32 s12, s10", [a, b], 1, "gfx942",
          lambda x, y: (x | 1 << (y & 31), x >> 3 & 1))  # fmt: skip
    check("s_cmov_b32", "s_mov_b32 s12, 5\ns_cmov_b32 s12, s10", [a, b], 1, "gfx942",
          lambda x, y: (y if x >> 3 & 1 else 5, x >> 3 & 1))  # fmt: skip


MODE = {"gfx942": "HW_REG_MODE", "gfx1100": "HW_REG_MODE", "gfx1200": "HW_REG_WAVE_MODE"}


def hardware_registers(text: str, target: str, count: int) -> list[int]:
    """Runs text, and gives what is then in s12 and those behind it."""
    out = np.zeros(count, np.uint32)
    stores = "".join(
        f"v_mov_b32 v2, s{12 + i}\nglobal_store_dword v1, v2, s[20:21] offset:{4 * i}\n"
        for i in range(count)
    )
    body = f"s_load_dwordx2 s[20:21], s[0:1], 0\nv_mov_b32 v1, 0\ns_waitcnt lgkmcnt(0)\n{text}\n{stores}"
    run(kernel(body, [8], target), [out], block=1)
    return out.tolist()


@pytest.mark.parametrize("target", TARGETS)
def test_getreg_of_mode(target):
    mode = MODE[target]
    text = f"""s_setreg_imm32_b32 hwreg({mode}, 4, 4), 0x9
	s_getreg_b32 s12, hwreg({mode}, 4, 2)
	s_getreg_b32 s13, hwreg({mode}, 6, 2)
	s_getreg_b32 s14, hwreg({mode}, 4, 4)
	s_getreg_b32 s15, hwreg({mode})
	s_mov_b32 s8, 0xfffffff6
	s_setreg_b32 hwreg({mode}, 4, 4), s8
	s_getreg_b32 s16, hwreg({mode})
	s_xor_b32 s16, s15, s16"""
    *fields, whole, changed = hardware_registers(text, target, 5)
    assert fields == [1, 2, 9]
    assert whole >> 4 & 15 == 9 and changed == 0xF0


@pytest.mark.parametrize(("target", "name"), [("gfx1100", ""), ("gfx1200", "_LO")])
def test_clocks_go_on(target, name):
    clock = f"s_getreg_b32 s{{}}, hwreg(HW_REG_SHADER_CYCLES{name}, 0, 20)"
    first, second = hardware_registers("\n".join(map(clock.format, (12, 13))), target, 2)
    assert 0 < first < second


def test_units_are_the_first():
    for target, names in {"gfx942": ["HW_ID", "XCC_ID"], "gfx1100": ["HW_ID1", "HW_ID2"]}.items():
        text = "\n".join(
            f"s_getreg_b32 s{12 + i}, hwreg(HW_REG_{name}, 0, 8)" for i, name in enumerate(names)
        )
        assert hardware_registers(text, target, 2) == [0, 0]


@pytest.mark.parametrize(
    "text",
    [
        "s_getreg_b32 s12, hwreg(HW_REG_STATUS)",
        "s_getreg_b32 s12, hwreg(HW_REG_TRAPSTS, 0, 4)",
        "s_getreg_b32 s12, hwreg(HW_REG_LDS_ALLOC, 12, 9)",
        "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 4), 1",
        "s_setreg_imm32_b32 hwreg(HW_REG_HW_ID, 0, 4), 1",
    ],
)
def test_other_hardware_registers_are_refused(text):
    with pytest.raises(tile.TileError, match=r"is not supported|cannot be written"):
        hardware_registers(text, "gfx942", 1)
