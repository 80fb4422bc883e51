# ruff: noqa: E501  (assembly reads better unbroken)
"""Loads, stores and atomics of every space."""

from __future__ import annotations

import numpy as np
import pytest
from asmlib import TARGETS, WAVE, findings, kernel, lanes, run

u32, u64 = np.uint32, np.uint64

# gfx9's name, gfx11's name, and what a load does to a register that held 0x11223344.
LOADS = [
    ("ubyte", "u8", lambda b: b & u32(255)),
    ("sbyte", "i8", lambda b: b.astype(np.int8).astype(np.int32).view(u32)),
    ("ushort", "u16", lambda b: b & u32(0xFFFF)),
    ("sshort", "i16", lambda b: b.astype(np.int16).astype(np.int32).view(u32)),
    ("short_d16", "d16_b16", lambda b: b & u32(0xFFFF) | u32(0x11220000)),
    ("short_d16_hi", "d16_hi_b16", lambda b: b << u32(16) | u32(0x3344)),
    ("ubyte_d16", "d16_u8", lambda b: b & u32(255) | u32(0x11220000)),
    (
        "sbyte_d16_hi", "d16_hi_i8",
        lambda b: b.astype(np.int8).astype(np.int32).view(u32) << u32(16) | u32(0x3344),
    ),
    ("dword", "b32", lambda b: b),
]  # fmt: skip


def words(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, count, np.uint64).astype(u32)


@pytest.mark.parametrize("target", TARGETS)
def test_loads(target):
    x = words(WAVE[target])
    for old, new, want in LOADS:
        load = "global_load_" + (old if target == "gfx942" else new)
        out = np.zeros_like(x)
        body = f"""
	s_load_dwordx2 s[8:9], s[0:1], 0
	s_load_dwordx2 s[10:11], s[0:1], 8
	v_lshlrev_b32 v1, 2, v0
	v_mov_b32 v4, 0x11223344
	v_mov_b32 v6, s3
	s_waitcnt lgkmcnt(0)
	v_mov_b32 v3, s11
	v_add_u32 v5, 8, v1
	{load} v4, v5, s[10:11] offset:-8
	s_waitcnt vmcnt(0)
	global_store_dword v1, v4, s[8:9]
"""
        run(kernel(body, [8, 8], target), [out, x], 1, WAVE[target])
        assert (out == want(x)).all(), load


@pytest.mark.parametrize("target", TARGETS)
def test_stores_of_parts(target):
    x = words(WAVE[target])
    cases = [("byte", "b8", 255, 0), ("short", "b16", 0xFFFF, 0),
             ("byte_d16_hi", "d16_hi_b8", 255, 16), ("short_d16_hi", "d16_hi_b16", 0xFFFF, 16)]  # fmt: skip
    for old, new, mask, shift in cases:
        store = "global_store_" + (old if target == "gfx942" else new)
        out = np.full_like(x, 0x55555555)
        body = f"""
	s_load_dwordx2 s[8:9], s[0:1], 0
	s_load_dwordx2 s[10:11], s[0:1], 8
	v_lshlrev_b32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_dword v4, v1, s[10:11]
	s_waitcnt vmcnt(0)
	{store} v1, v4, s[8:9]
"""
        run(kernel(body, [8, 8], target), [out, x], 1, WAVE[target])
        assert (out == (0x55555555 & ~mask | x >> u32(shift) & u32(mask))).all(), store


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("space", ["flat", "lds", "scratch"])
def test_round_trips(space, target):
    """Two words of each lane through memory and back, in another order."""
    x = np.random.default_rng(1).integers(0, 1 << 63, WAVE[target], np.uint64)
    old = target == "gfx942"
    two = "dwordx2" if old else "b64"
    if space == "flat":
        # LDS through a generic address.
        text = f"""v_lshlrev_b32 v20, 3, v0
s_mov_b64 s[4:5], src_shared_base
v_mov_b32 v21, s5
flat_store_{two} v[20:21], {{0}}
flat_load_{two} {{d}}, v[20:21]
s_waitcnt vmcnt(0) lgkmcnt(0)
"""
    elif space == "lds":
        read2, write2 = (
            ("ds_read2_b32", "ds_write2_b32")
            if old
            else ("ds_load_2addr_b32", "ds_store_2addr_b32")
        )
        text = f"""v_lshlrev_b32 v20, 3, v0
{write2} v20, v10, v11 offset0:1 offset1:0
{read2} v[40:41], v20 offset0:1 offset1:0
s_waitcnt lgkmcnt(0)
"""
    else:
        text = f"""v_mov_b32 v20, 8
scratch_store_{two} v20, {{0}}, off offset:8
scratch_load_{two} {{d}}, off, off offset:16
s_waitcnt vmcnt(0)
"""
    directives = (
        "\t\t.amdhsa_group_segment_fixed_size 2048\n\t\t.amdhsa_private_segment_fixed_size 32"
    )
    got = lanes(text, [x], 2, target, directives=directives)
    assert (got == x).all()


BUFFER = """
	s_load_dwordx2 s[8:9], s[0:1], 0
	s_load_dwordx2 s[12:13], s[0:1], 8
	s_load_dword s14, s[0:1], 16
	s_mov_b32 s15, 0x27000
	v_lshlrev_b32 v1, 2, v0
	v_lshlrev_b32 v2, 4, v0
	v_mov_b32 v4, 7
	s_waitcnt lgkmcnt(0)
	{text}
	s_waitcnt vmcnt(0)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_buffer_bounds(target):
    """Beyond the records, loads give 0 and stores do nothing, word by word."""
    wave = WAVE[target]
    old = target == "gfx942"
    x = words(wave)
    out = np.full(wave, 9, u32)
    load = "buffer_load_" + ("dword" if old else "b32")
    text = BUFFER.format(text=f"{load} v4, v1, s[12:15], 0 offen offset:8\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v4, s[8:9]")  # fmt: skip
    run(kernel(text, [8, 8, 4], target), [out, x, 4 * 20], 1, wave)
    assert (out[:18] == x[2:20]).all() and (out[18:] == 0).all()

    store = "buffer_store_" + ("dwordx4" if old else "b128")
    y = np.zeros(4 * wave, u32)
    text = BUFFER.format(text=f"v_mov_b32 v5, 8\nv_mov_b32 v6, 9\nv_mov_b32 v7, 10\n{store} v[4:7], v2, s[12:15], 0 offen")  # fmt: skip
    run(kernel(text, [8, 8, 4], target), [out, y, 4 * 10], 1, wave)
    assert (y[:10] == [7, 8, 9, 10, 7, 8, 9, 10, 7, 8]).all() and (y[10:] == 0).all()

    # The lane's offset and the instruction's make 32 bits; what comes before the base, too.
    text = BUFFER.format(text=f"v_add_u32 v5, -8, v1\n{load} v4, v5, s[12:15], 0 offen offset:8\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v4, s[8:9]")  # fmt: skip
    run(kernel(text, [8, 8, 4], target), [out, x, 4 * wave], 1, wave)
    assert (out == x).all()

    # What the records promise must be there.
    text = BUFFER.format(text=f"{load} v4, v1, s[12:15], 0 offen")
    assert findings(kernel(text, [8, 8, 4], target), [out, x[:5].copy(), 4 * 64], 1, wave) == [
        "out-of-bounds"
    ]


ATOMICS = [
    ("add", "add_u32", lambda old, x: old + x),
    ("umax", "max_u32", max),
    ("smin", "min_i32", lambda old, x: min(np.int32(old & 0xFFFFFFFF if old < 1 << 31 else old - (1 << 32)), np.int64(x).astype(np.int32))),
    ("and", "and_b32", lambda old, x: old & x),
    ("xor", "xor_b32", lambda old, x: old ^ x),
    ("swap", "swap_b32", lambda old, x: x),
]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("space", ["global", "lds"])
def test_atomics(space, target):
    """Lanes update one word one after the other, and each sees what was there."""
    wave = WAVE[target]
    old = target == "gfx942"
    x = words(wave, 3)
    for name, other, apply in ATOMICS:
        out, place = np.zeros(wave, u32), np.array([0x12345678], u32)
        if space == "global":
            text = f"global_atomic_{name if old else other} v5, v3, v4, s[12:13] {'sc0' if old else 'glc'}\ns_waitcnt vmcnt(0)"
        else:
            kind = {"add": "add_rtn_u32", "umax": "max_rtn_u32", "smin": "min_rtn_i32", "and": "and_rtn_b32",
                    "xor": "xor_rtn_b32", "swap": "wrxchg_rtn_b32" if old else "storexchg_rtn_b32"}[name]  # fmt: skip
            text = f"""v_mov_b32 v6, 0x12345678
ds_write_b32 v3, v6
ds_{kind} v5, v3, v4
ds_read_b32 v6, v3
s_waitcnt lgkmcnt(0)
v_readfirstlane_b32 s20, v6
v_mov_b32 v6, s20
global_store_dword v3, v6, s[12:13]
"""
        body = f"""
	s_load_dwordx2 s[8:9], s[0:1], 0
	s_load_dwordx2 s[10:11], s[0:1], 8
	s_load_dwordx2 s[12:13], s[0:1], 16
	v_lshlrev_b32 v1, 2, v0
	v_mov_b32 v3, 0
	s_waitcnt lgkmcnt(0)
	global_load_dword v4, v1, s[10:11]
	s_waitcnt vmcnt(0)
	{text}
	global_store_dword v1, v5, s[8:9]
"""
        run(kernel(body, [8, 8, 8], target, lds=64), [out, x, place], 1, wave)
        value = 0x12345678
        for lane in range(wave):
            assert out[lane] == value, (name, lane)
            value = int(apply(value, int(x[lane]))) & 0xFFFFFFFF
        assert place[0] == value, name


@pytest.mark.parametrize("target", TARGETS)
def test_compare_and_swap_and_floats(target):
    wave, old = WAVE[target], target == "gfx942"
    flag = "sc0" if old else "glc"
    body = f"""
	s_load_dwordx2 s[8:9], s[0:1], 0
	s_load_dwordx2 s[12:13], s[0:1], 8
	v_lshlrev_b32 v1, 2, v0
	v_mov_b32 v3, 0
	v_add_u32 v4, 1, v0
	v_mov_b32 v5, v0
	v_mov_b32 v7, 0.5
	s_waitcnt lgkmcnt(0)
	global_atomic_cmpswap{"" if old else "_b32"} v6, v3, v[4:5], s[12:13] {flag}
	global_atomic_add_f32 v3, v7, s[12:13] offset:4
	s_waitcnt vmcnt(0)
	global_store_dword v1, v6, s[8:9]
"""
    out, place = np.zeros(wave, u32), np.zeros(2, u32)
    run(kernel(body, [8, 8], target), [out, place], 1, wave)
    # Each lane finds the number of its own that the one before it left.
    assert (out == np.arange(wave)).all() and place[0] == wave
    assert place.view(np.float32)[1] == wave / 2


@pytest.mark.parametrize("target", TARGETS)
def test_a_loop_of_compare_and_swap(target):
    """Waves add to one float; what a wave loads before its loop races with nobody."""
    wave, old = WAVE[target], target == "gfx942"
    exec_, scc = ("exec", "b64") if old else ("exec_lo", "b32")
    pair = "s[20:21]" if old else "s20"
    drop = "s_andn2" if old else "s_and_not1"
    body = f"""
	s_load_dwordx2 s[8:9], s[0:1], 0
	v_mov_b32 v3, 0
	s_mov_{scc} {pair}, 0
	s_waitcnt lgkmcnt(0)
	global_load_dword v5, v3, s[8:9]
again:
	s_waitcnt vmcnt(0)
	v_add_f32 v4, 1.0, v5
	global_atomic_cmpswap{"" if old else "_b32"} v6, v3, v[4:5], s[8:9] {"sc0" if old else "glc"}
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32 vcc, v6, v5
	v_mov_b32 v5, v6
	s_or_{scc} {pair}, {"vcc" if old else "vcc_lo"}, {pair}
	{drop}_{scc} {exec_}, {exec_}, {pair}
	s_cbranch_execnz again
"""
    place = np.zeros(1, np.float32)
    run(kernel(body, [8], target), [place], 2, 2 * wave)
    assert place[0] == 4 * wave
