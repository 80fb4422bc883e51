"""Loads and stores of every width in every space: bytes that are moved, and those that are kept."""

from __future__ import annotations

import numpy as np
import pytest
from asmlib import TARGETS, WAVE, kernel, run

#: gfx9's name, the others', bytes, and what becomes of a register that held 0x11223344.
LOADS = [
    ("ubyte", "u8", 1, lambda b: b),
    ("sbyte", "i8", 1, lambda b: signed(b, 8)),
    ("ushort", "u16", 2, lambda b: b),
    ("sshort", "i16", 2, lambda b: signed(b, 16)),
    ("ubyte_d16", "d16_u8", 1, lambda b: 0x11220000 | b),
    ("ubyte_d16_hi", "d16_hi_u8", 1, lambda b: b << 16 | 0x3344),
    ("sbyte_d16", "d16_i8", 1, lambda b: 0x11220000 | signed(b, 8) & 0xFFFF),
    ("sbyte_d16_hi", "d16_hi_i8", 1, lambda b: (signed(b, 8) & 0xFFFF) << 16 | 0x3344),
    ("short_d16", "d16_b16", 2, lambda b: 0x11220000 | b),
    ("short_d16_hi", "d16_hi_b16", 2, lambda b: b << 16 | 0x3344),
    ("dword", "b32", 4, lambda b: b),
    ("dwordx2", "b64", 8, None),
    ("dwordx3", "b96", 12, None),
    ("dwordx4", "b128", 16, None),
]
#: And the first byte of the register that is stored.
STORES = [
    ("byte", "b8", 1, 0),
    ("byte_d16_hi", "d16_hi_b8", 1, 2),
    ("short", "b16", 2, 0),
    ("short_d16_hi", "d16_hi_b16", 2, 2),
    ("dword", "b32", 4, 0),
    ("dwordx2", "b64", 8, 0),
    ("dwordx3", "b96", 12, 0),
    ("dwordx4", "b128", 16, 0),
]
#: LDS names what is narrow otherwise.
WHOLE = {"dword": "b32", "dwordx2": "b64", "dwordx3": "b96", "dwordx4": "b128"}
LDS_LOADS = WHOLE | {
    "ubyte": "u8", "sbyte": "i8", "ushort": "u16", "sshort": "i16", "ubyte_d16": "u8_d16",
    "ubyte_d16_hi": "u8_d16_hi", "sbyte_d16": "i8_d16", "sbyte_d16_hi": "i8_d16_hi",
    "short_d16": "u16_d16", "short_d16_hi": "u16_d16_hi",
}  # fmt: skip
LDS_STORES = WHOLE | {
    "byte": "b8", "byte_d16_hi": "b8_d16_hi", "short": "b16", "short_d16_hi": "b16_d16_hi",
}  # fmt: skip
SPACES = ("global", "flat", "buffer", "ds", "scratch")


def signed(value: int, bits: int) -> int:
    """In 32 bits."""
    return (value - (1 << bits) if value >> (bits - 1) else value) & 0xFFFFFFFF


def access(space: str, store: bool, gfx9: str, others: str, register: str, target: str) -> str:
    """An access by the lane's offset in v1, of 16 bytes each."""
    old = WAVE[target] == 64
    if space == "ds" and store:
        return f"ds_{'write' if old else 'store'}_{LDS_STORES[gfx9]} v1, {register}"
    if space == "ds":
        return f"ds_{'read' if old else 'load'}_{LDS_LOADS[gfx9]} {register}, v1"
    name = f"{space}_{'store' if store else 'load'}_{gfx9 if old else others} "
    place = {"global": "v1, {}, s[10:11]", "flat": "v[2:3], {}", "scratch": "off, {}, off"}
    if space == "buffer":
        return f"{name}{register}, v1, s[12:15], 0 offen"
    before, _, after = place[space].partition(", {}")
    return name + (f"{before}, {register}{after}" if store else f"{register}, {before}{after}")


def program(text: str, target: str) -> str:
    """Each lane has its 16 bytes of the second argument in v[8:11]; then text runs, and v[20:23] go
    to the first argument."""
    old = WAVE[target] == 64
    return f"""
	s_load_dwordx2 s[8:9], s[0:1], 0
	s_load_dwordx2 s[10:11], s[0:1], 8
	v_lshlrev_b32 v1, 4, v0
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s12, s10
	s_and_b32 s13, s11, 0xffff
	s_movk_i32 s14, 4096
	s_mov_b32 s15, 0x{"27000" if old else "31016000"}
	v_mov_b32 v3, s11
	v_mov_b32 v5, s10
	v_add_co_u32 v2, vcc, v5, v1
	v_addc_co_u32 v3, vcc, 0, v3, vcc
	global_load_dwordx4 v[8:11], v1, s[10:11]
	s_waitcnt vmcnt(0)
	{text}
	s_waitcnt vmcnt(0) & lgkmcnt(0)
	global_store_dwordx4 v1, v[20:23], s[8:9]
"""


def fill(space: str, target: str) -> str:
    """v[8:11] into the space, if it is not memory."""
    if space not in ("ds", "scratch"):
        return ""
    return (
        access(space, True, "dwordx4", "b128", "v[8:11]", target)
        + "\n\ts_waitcnt vmcnt(0) & lgkmcnt(0)\n"
    )


def registers(words: int, first: int = 20) -> str:
    return f"v{first}" if words == 1 else f"v[{first}:{first + words - 1}]"


OLD = [0x11223344, 0x55667788, 0x99AABBCC, 0xDDEEFF00]


def execute(text: str, space: str, target: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bytes before, those afterwards, and v[20:23] of each lane."""
    wave = WAVE[target]
    before = np.random.default_rng(4).integers(0, 256, (wave, 16)).astype(np.uint8)
    memory, out = before.copy(), np.zeros((wave, 4), np.uint32)
    code = kernel(program(text, target), [8, 8], target, lds=16 * wave, scratch=16)
    run(code, [out, memory], 1, wave)
    return before, memory, out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("space", SPACES)
def test_loads(space, target):
    setup = fill(space, target) + "".join(
        f"v_mov_b32 v{20 + i}, {v:#x}\n" for i, v in enumerate(OLD)
    )
    for gfx9, others, size, becomes in LOADS:
        words = max(1, size // 4)
        text = access(space, False, gfx9, others, registers(words), target)
        before, _, out = execute(setup + text, space, target)
        for lane in range(WAVE[target]):
            there = before[lane, :size].tobytes()
            if becomes is None:
                want = np.frombuffer(there, np.uint32).tolist()
            else:
                want = [becomes(int.from_bytes(there, "little"))]
            assert out[lane].tolist() == want + OLD[words:], (gfx9, lane)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("space", SPACES)
def test_stores(space, target):
    """What lies behind the bytes that are stored is kept."""
    values = "".join(f"v_mov_b32 v{24 + i}, {v:#x}\n" for i, v in enumerate(OLD))
    data = np.array(OLD, np.uint32).tobytes()
    for gfx9, others, size, first in STORES:
        text = fill(space, target) + values
        text += access(space, True, gfx9, others, registers(max(1, size // 4), 24), target)
        text += "\n\ts_waitcnt vmcnt(0) & lgkmcnt(0)\n"
        text += access(space, False, "dwordx4", "b128", "v[20:23]", target)
        before, memory, out = execute(text, space, target)
        want = before.copy()
        want[:, :size] = np.frombuffer(data[first : first + size], np.uint8)
        assert (out.view(np.uint8) == want).all(), gfx9
        assert (memory == (before if space in ("ds", "scratch") else want)).all(), gfx9
