# ruff: noqa: E501  (assembly reads better unbroken)
"""Values from other lanes: DPP, permutations, single lanes."""

from __future__ import annotations

import numpy as np
import pytest
from asmlib import TARGETS, WAVE, lanes

u32 = np.uint32
MOVES = {
    "quad_perm:[1,0,3,2]": lambda i: i ^ 1,
    "row_shl:3": lambda i: i + 3 if i % 16 + 3 < 16 else None,
    "row_shr:1": lambda i: i - 1 if i % 16 else None,
    "row_ror:5": lambda i: i // 16 * 16 + (i - 5) % 16,
    "row_mirror": lambda i: i // 16 * 16 + 15 - i % 16,
    "row_half_mirror": lambda i: i // 8 * 8 + 7 - i % 8,
}
OLD = {
    "wave_shr:1": lambda i: i - 1 if i else None,
    "wave_rol:1": lambda i: (i + 1) % 64,
    "row_bcast:15": lambda i: i // 16 * 16 - 1 if i >= 16 else None,
    "row_bcast:31": lambda i: 31 if i >= 32 else None,
    "row_newbcast:4": lambda i: i // 16 * 16 + 4,
}
NEW = {
    "row_share:4": lambda i: i // 16 * 16 + 4,
    "row_xmask:6": lambda i: i ^ 6,
}


@pytest.mark.parametrize("target", TARGETS)
def test_dpp(target):
    wave = WAVE[target]
    x, y = np.arange(100, 100 + wave, dtype=u32), np.arange(wave, dtype=u32) * u32(1000)
    start = np.full(wave, 7, u32)
    for move, source in {**MOVES, **(OLD if target == "gfx942" else NEW)}.items():
        for bound in ("", " bound_ctrl:1"):
            for rows in (0xF, 0xA):
                text = (
                    f"v_add_u32_dpp {{d}}, {{0}}, {{1}} {move} row_mask:{rows} bank_mask:0xd{bound}"
                )
                got = lanes(text, [x, y], 1, target, start=start)
                for i in range(wave):
                    s = source(i)
                    want = 7
                    if rows >> i // 16 & 1 and 0xD >> i % 16 // 4 & 1 and (s is not None or bound):
                        want = (0 if s is None else x[s]) + y[i]
                    assert got[i] == want, (move, bound, rows, i)


@pytest.mark.parametrize("suffix", ["_dpp", ""])
def test_dpp_of_comparisons(suffix):
    """LLVM's disassembler names them without a suffix."""
    x, y = np.arange(32, dtype=u32) ^ u32(5), np.arange(32, dtype=u32)
    i = np.arange(32)
    got = lanes(
        f"v_cmp_lt_u32{suffix} vcc_lo, {{0}}, {{1}} row_xmask:3 row_mask:0xf bank_mask:0xf",
        [x, y],
        "mask",
        "gfx1100",
    )
    assert (got == (x[i ^ 3] < y)).all()
    got = lanes(
        f"v_cmp_gt_u32{suffix} vcc_lo, {{0}}, {{1}} dpp8:[7,6,5,4,3,2,1,0]",
        [x, y],
        "mask",
        "gfx1100",
    )
    assert (got == (x[i ^ 7] > y)).all()
    got = lanes(
        "v_mbcnt_lo_u32_b32_e64_dpp {d}, {0}, {1} dpp8:[1,0,3,2,5,4,7,6]", [x, y], 1, "gfx1100"
    )
    want = [bin(int(x[n ^ 1]) & ((1 << n) - 1)).count("1") + n for n in range(32)]
    assert (got == want).all()


def test_dpp_of_lanes_that_take_no_part():
    x = np.arange(1, 65, dtype=u32)
    text = "s_mov_b64 exec, 0x5555555555555555\nv_mov_b32_dpp {d}, {0} quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf%s\ns_mov_b64 exec, -1"
    start = np.full(64, 9, u32)
    even = np.arange(64) % 2 == 0
    assert (lanes(text % "", [x], start=start) == 9).all()
    assert (lanes(text % " bound_ctrl:1", [x], start=start) == np.where(even, 0, 9)).all()


@pytest.mark.parametrize("target", TARGETS)
def test_permutations(target):
    wave = WAVE[target]
    rng = np.random.default_rng(2)
    x = rng.integers(0, 1 << 32, wave, np.uint64).astype(u32)
    to = rng.permutation(wave).astype(u32)
    wait = "\ns_waitcnt lgkmcnt(0)"
    got = lanes("ds_bpermute_b32 {d}, {1}, {0}" + wait, [x, to * u32(4)], 1, target)
    assert (got == x[to]).all()
    got = lanes("ds_permute_b32 {d}, {1}, {0}" + wait, [x, to * u32(4)], 1, target)
    assert (got[to] == x).all()
    i = np.arange(wave)
    for name, source in {
        "swizzle(QUAD_PERM,3,2,0,1)": i // 4 * 4 + np.array([3, 2, 0, 1])[i % 4],
        "swizzle(SWAP,16)": i ^ 16,
        "swizzle(REVERSE,8)": i ^ 7,
        "swizzle(BROADCAST,4,2)": i // 4 * 4 + 2,
        'swizzle(BITMASK_PERM,"01pip")': (i & ~31) | (i & 7 ^ 2) | 8,
    }.items():
        got = lanes(f"ds_swizzle_b32 {{d}}, {{0}} offset:{name}" + wait, [x], 1, target)
        assert (got == x[source]).all(), name


def test_rows_and_halves():
    x = np.arange(32, dtype=u32) + u32(50)
    i = np.arange(32)
    scalars = "s_mov_b32 s4, 0x76543210\ns_mov_b32 s5, 0xfedcba98"
    swapped = "s_mov_b32 s4, 0xefcdab89\ns_mov_b32 s5, 0x67452301"
    for text, source in [("v_permlane16_b32", i), ("v_permlanex16_b32", i ^ 16)]:
        text = f"{text} {{d}}, {{0}}, s4, s5"
        assert (lanes(text, [x], 1, "gfx1100", prologue=scalars) == x[source]).all()
        want = x[
            source // 16 * 16
            + np.array([9, 8, 11, 10, 13, 12, 15, 14, 1, 0, 3, 2, 5, 4, 7, 6])[i % 16]
        ]
        assert (lanes(text, [x], 1, "gfx1100", prologue=swapped) == want).all()


@pytest.mark.parametrize("text", ["v_swap_b32 {d}, {0}", "v_swap_b16 v40.l, v10.h"])
def test_values_change_places(text):
    """Of whole registers, or of halves."""
    x, start = np.arange(64, dtype=u32) * u32(0x10003), np.full(64, 0x77770000, u32)
    wide = "b32" in text
    got = lanes(text, [x], 1, "gfx1100", start=start)
    assert (got == (x if wide else start | x >> u32(16))).all()
    back = lanes(f"{text}\nv_mov_b32 {{d}}, {{0}}", [x], 1, "gfx1100", start=start)
    assert (back == (start if wide else x & u32(0xFFFF))).all()


@pytest.mark.parametrize("target", TARGETS)
def test_single_lanes(target):
    wave = WAVE[target]
    x = np.arange(wave, dtype=u32) * u32(3) + u32(5)
    assert (lanes("v_readlane_b32 s4, {0}, 7\nv_mov_b32 {d}, s4", [x], 1, target) == x[7]).all()
    assert (lanes("v_readfirstlane_b32 s4, {0}\nv_mov_b32 {d}, s4", [x], 1, target) == x[0]).all()
    got = lanes(
        "v_mov_b32 {d}, {0}\ns_mov_b32 s4, 42\ns_mov_b32 m0, 3\nv_writelane_b32 {d}, s4, m0",
        [x],
        1,
        target,
    )
    assert (got == np.where(np.arange(wave) == 3, 42, x)).all()
    masks = lanes("v_mbcnt_lo_u32_b32 {d}, -1, 0\nv_mbcnt_hi_u32_b32 {d}, -1, {d}", [x], 1, target)
    assert (masks == np.arange(wave)).all()
