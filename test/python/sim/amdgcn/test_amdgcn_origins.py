# ruff: noqa: E501  (assembly reads better unbroken)
"""From which argument an address comes, through registers that are used again and again: accesses
that leave it for one which has no memory in common with it (`overlapping-arguments`)."""

from __future__ import annotations

import numpy as np
import pytest
from asmlib import WAVE, findings, kernel

TARGETS = ("gfx942", "gfx1100", "gfx1200")

#: s[8:9] and s[10:11]: the two arguments, of 256 bytes each, the second right behind the first,
#: between memory of nobody; v1: 4 bytes for each lane.
START = """s_load_dwordx2 s[8:9], s[0:1], 0
s_load_dwordx2 s[10:11], s[0:1], 8
v_lshlrev_b32 v1, 2, v0
v_mov_b32 v2, 0
v_mov_b32 v3, 0
s_waitcnt lgkmcnt(0)
"""
#: A lane's address, of a scalar one in s[12:13].
LANE = "v_mov_b32 v4, s12\nv_mov_b32 v5, s13\n"
BUFFER = """s_mov_b32 s16, s{}
s_and_b32 s17, s{}, 0xffff
s_mov_b32 s18, 512
s_mov_b32 s19, 0
buffer_load_dword v2, v1, s[16:19], 0 offen"""
#: Lanes 0 to 3 go on with one argument, the others with another one.
BOTH = """s_mov_b32 s12, s{0}
s_mov_b32 s13, s{1}
v_mov_b32 v4, s12
v_mov_b32 v5, s13
v_cmp_lt_u32 vcc, 3, v0
{{save}}v_mov_b32 v4, s{2}
v_mov_b32 v5, s{3}
{{all}}"""
FAR = "s_add_u32 s12, s8, 256\ns_addc_u32 s13, s9, 0\n"
NEAR = "s_add_u32 s12, s8, 4\ns_addc_u32 s13, s9, 0\n"

#: name: (wrong, right)
PAIRS = {
    "a scalar base": (
        "global_load_dword v2, v2, s[8:9] offset:256",
        "global_load_dword v2, v2, s[10:11]"),
    "before the argument": (
        "global_load_dword v2, v3, s[10:11] offset:-4",
        "global_load_dword v2, v3, s[10:11]"),
    "a store": (
        "global_store_dword v3, v3, s[8:9] offset:256",
        "global_store_dword v3, v3, s[8:9] offset:252"),
    "an atomic": (
        "global_atomic_add v3, v0, s[8:9] offset:256",
        "global_atomic_add v3, v0, s[8:9] offset:252"),
    "a scalar load": (
        "s_load_dword s12, s[8:9], 0x100",
        "s_load_dword s12, s[8:9], 0xfc"),
    "the address of a lane": (
        FAR + LANE + "global_load_dword v2, v[4:5], off",
        NEAR + LANE + "global_load_dword v2, v[4:5], off"),
    "a flat access": (
        FAR + LANE + "flat_load_dword v2, v[4:5]",
        NEAR + LANE + "flat_load_dword v2, v[4:5]"),
    "a load over its address": (
        FAR + LANE + "global_load_dwordx2 v[4:5], v[4:5], off",
        NEAR + LANE + "global_load_dwordx2 v[4:5], v[4:5], off"),
    "a scalar load over its address": (
        "s_load_dwordx2 s[8:9], s[8:9], 0x100",
        "s_load_dwordx2 s[8:9], s[8:9], 0xf8"),
    "a buffer": (
        BUFFER.format(8, 9) + " offset:256",
        BUFFER.format(10, 11)),
    "a register that held the other one": (
        "s_mov_b64 s[12:13], s[10:11]\nglobal_load_dword v2, v3, s[12:13]\ns_mov_b64 s[12:13], s[8:9]\nglobal_load_dword v2, v3, s[12:13] offset:256",
        "s_mov_b64 s[12:13], s[8:9]\nglobal_load_dword v2, v3, s[12:13]\ns_mov_b64 s[12:13], s[10:11]\nglobal_load_dword v2, v3, s[12:13]"),
    "lanes of both": (
        BOTH.format(8, 9, 10, 11) + "global_load_dword v2, v[4:5], off offset:256",
        BOTH.format(8, 9, 10, 11) + "global_load_dword v2, v[4:5], off"),
    "other lanes of both": (
        BOTH.format(10, 11, 8, 9) + "global_load_dword v2, v[4:5], off offset:-4",
        BOTH.format(10, 11, 8, 9) + "global_load_dword v2, v[4:5], off"),
    "a scalar register in a lane": (
        "v_writelane_b32 v20, s8, 3\nv_writelane_b32 v20, s9, 4\nv_writelane_b32 v20, s10, 5\nv_readlane_b32 s12, v20, 3\nv_readlane_b32 s13, v20, 4\nglobal_load_dword v2, v3, s[12:13] offset:256",
        "v_writelane_b32 v20, s10, 3\nv_writelane_b32 v20, s11, 4\nv_writelane_b32 v20, s8, 5\nv_readlane_b32 s12, v20, 3\nv_readlane_b32 s13, v20, 4\nglobal_load_dword v2, v3, s[12:13]"),
    "the first lane's": (
        BOTH.format(8, 9, 10, 11) + "v_readfirstlane_b32 s12, v4\nv_readfirstlane_b32 s13, v5\nglobal_load_dword v2, v3, s[12:13] offset:256",
        BOTH.format(10, 11, 8, 9) + "v_readfirstlane_b32 s12, v4\nv_readfirstlane_b32 s13, v5\nglobal_load_dword v2, v3, s[12:13]"),
    "lanes that get each other's": (
        FAR + LANE + "ds_swizzle_b32 v4, v4 offset:0x041F\ns_waitcnt lgkmcnt(0)\nglobal_load_dword v2, v[4:5], off",
        NEAR + LANE + "ds_swizzle_b32 v4, v4 offset:0x041F\ns_waitcnt lgkmcnt(0)\nglobal_load_dword v2, v[4:5], off"),
    "a register that M0 chooses": (
        LANE.replace("s12", "s10").replace("s13", "s11") + "v_mov_b32 v6, s8\nv_mov_b32 v7, s9\n{chosen}global_load_dword v2, v[4:5], off offset:256",
        LANE.replace("s12", "s8").replace("s13", "s9") + "v_mov_b32 v6, s10\nv_mov_b32 v7, s11\n{chosen}global_load_dword v2, v[4:5], off"),
    "sums": (
        "v_lshlrev_b32 v6, 6, v3\ns_add_u32 s12, s8, 128\ns_addc_u32 s13, s9, 0\ns_add_u32 s12, s12, 128\ns_addc_u32 s13, s13, 0\nglobal_load_dword v2, v6, s[12:13]",
        "v_lshlrev_b32 v6, 6, v3\ns_add_u32 s12, s8, 128\ns_addc_u32 s13, s9, 0\ns_sub_u32 s12, s12, 128\ns_subb_u32 s13, s13, 0\nglobal_load_dword v2, v6, s[12:13]"),
}  # fmt: skip

#: v[4:5] becomes v[6:7], through registers that M0 chooses.
CHOSEN = {
    True: "s_mov_b32 s12, 2\ns_set_gpr_idx_on s12, gpr_idx(SRC0)\nv_mov_b32 v4, v4\ns_set_gpr_idx_off\ns_set_gpr_idx_on s12, gpr_idx(SRC0)\nv_mov_b32 v5, v5\ns_set_gpr_idx_off\n",
    False: "s_mov_b32 m0, 2\nv_movrels_b32 v4, v4\nv_movrels_b32 v5, v5\n",
}


def found(
    body: str, target: str, pairs: str = "\n; disjoint arguments of op: 0 1\n", **options
) -> list[str]:
    old = WAVE[target] == 64
    save = "s_and_saveexec_b64 s[20:21], vcc\n" if old else "s_and_saveexec_b32 s20, vcc_lo\n"
    everyone = "s_mov_b64 exec, s[20:21]\n" if old else "s_mov_b32 exec_lo, s20\n"
    body = body.format(save=save, all=everyone, chosen=CHOSEN[old])
    if not old:
        body = body.replace("global_atomic_add ", "global_atomic_add_u32 ")
        body = body.replace("flat_load_dword ", "flat_load_b32 ")
        body = body.replace("buffer_load_dword ", "buffer_load_b32 ")
    if target == "gfx1200":
        body = body.replace("s[16:19], 0 offen", "s[16:19], null offen")
    before, first, second, behind = np.zeros((4, 64), np.uint32)
    text = kernel(START + body + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n", [8, 8], target, **options)
    return findings(text + pairs, [first, second], 1, 32, allocations=[before, behind])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name, target):
    wrong, right = PAIRS[name]
    assert found(wrong, target) == ["overlapping-arguments"]
    assert found(right, target) == []
    # A kernel that was compiled for any arguments may do both.
    assert found(wrong, target, "") == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "body",
    [
        # An address that comes from both may be of either.
        "s_sub_u32 s12, s10, s8\ns_subb_u32 s13, s11, s9\ns_add_u32 s12, s12, s8\ns_addc_u32 s13, s13, s9\nglobal_load_dword v2, v3, s[12:13]",
        # A pointer in memory, and one that was in the register before.
        "s_mov_b64 s[12:13], s[8:9]\n" + LANE + "global_store_dwordx2 v3, v[4:5], s[8:9]\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, s10\nv_mov_b32 v5, s11\nglobal_store_dwordx2 v3, v[4:5], s[8:9]\n{stored}global_load_dwordx2 v[6:7], v3, s[8:9]\ns_waitcnt vmcnt(0)\nglobal_load_dword v2, v[6:7], off",
        # Lanes that get those of others, of which some have the other argument.
        BOTH.format(8, 9, 10, 11) + "ds_swizzle_b32 v6, v4 offset:0x101F\nds_swizzle_b32 v7, v5 offset:0x101F\ns_waitcnt lgkmcnt(0)\nglobal_load_dword v2, v[6:7], off",
        # A mask of lanes is no address: what was chosen by comparing one argument comes from another.
        "v_mov_b32 v6, s8\nv_cmp_ne_u32 vcc, 0, v6\nv_mov_b32 v4, s10\nv_mov_b32 v5, s11\nv_cndmask_b32 v4, v3, v4, vcc\nglobal_load_dword v2, v[4:5], off",
        # So is a carry.
        "s_add_u32 s12, s8, 0\ns_addc_u32 s13, s11, 0\ns_mov_b32 s12, s10\nglobal_load_dword v2, v3, s[12:13]",
    ],
)  # fmt: skip
def test_no_false_alarms(body, target):
    waits = "s_waitcnt_vscnt null, 0x0\n" if target == "gfx1100" else ""
    waits = "s_wait_storecnt 0x0\n" if target == "gfx1200" else waits
    assert found(body.replace("{stored}", waits), target) == []


def test_preloaded_arguments():
    """They come into registers before the first instruction."""
    preload = """		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_kernarg_preload_length 4
		.amdhsa_user_sgpr_kernarg_preload_offset 0"""
    wrong = "global_load_dword v2, v3, s[2:3] offset:256"
    right = "global_load_dword v2, v3, s[4:5]"
    assert found(wrong, "gfx942", directives=preload) == ["overlapping-arguments"]
    assert found(right, "gfx942", directives=preload) == []


@pytest.mark.parametrize("load", ["global_load_lds_dword v1, s[{}:{}]", BUFFER + " lds"])
def test_loads_into_lds(load):
    load = load.replace("buffer_load_dword v2, v1", "buffer_load_dword v1")
    body = "s_mov_b32 m0, 0\n" + load + " offset:{}"
    # The offset is one in LDS, too.
    assert found(body.format(8, 9, 256), "gfx942", lds=1024) == ["overlapping-arguments"]
    assert found(body.format(8, 9, 0), "gfx942", lds=1024) == []
