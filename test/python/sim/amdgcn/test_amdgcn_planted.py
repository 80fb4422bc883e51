# ruff: noqa: E501  (assembly reads better unbroken)
"""Planted mistakes and their correct twins for the checks that AMDGCN shares with PTX. Those of
waits and of single registers are in test_amdgcn_checks.py, those of arguments that overlap in
test_amdgcn_origins.py. A test counts all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import test_amdgcn_checks
import test_amdgcn_origins
from asmlib import TARGETS, WAVE, kernel, run

DOCUMENT = Path(__file__).parents[4] / "docs" / "simulator.md"

#: s[8:9] is the output, s[10:11] the input, of 256 words each; v1 is 4 bytes for each lane.
START = test_amdgcn_checks.START
OUT = "\nglobal_store_dword v1, v2, s[8:9]"
VALUE = "v_mov_b32 v9, v0\n"
HALF = "v_cmp_lt_u32 vcc, 15, v0\n{save}v_mov_b32 v9, v0\n"
LDS = "s_waitcnt lgkmcnt(0)\n"
FROM_LDS = "ds_read_b32 v2, v3\n" + LDS + OUT
#: The word of another wave.
FAR = "v_xor_b32 v3, 128, v0\nv_lshlrev_b32 v3, 2, v3\n"
LOOP = (
    "s_mov_b32 s20, 0\nagain:\ns_add_u32 s20, s20, {}\ns_cmp_lg_u32 s20, 10\ns_cbranch_scc1 again"
)

#: name: (kind, wrong, right)
PAIRS = {
    # Values that come from other lanes.
    "a lane of nothing": ("uninitialized",
        "v_readlane_b32 s12, v9, 3\nv_mov_b32 v2, s12" + OUT,
        VALUE + "v_readlane_b32 s12, v9, 3\nv_mov_b32 v2, s12" + OUT),
    "the first lane of nothing": ("uninitialized",
        "v_readfirstlane_b32 s12, v9\nv_mov_b32 v2, s12" + OUT,
        VALUE + "v_readfirstlane_b32 s12, v9\nv_mov_b32 v2, s12" + OUT),
    "a lane that took no part": ("uninitialized",
        HALF + "{all}v_readlane_b32 s12, v9, 3\nv_mov_b32 v2, s12" + OUT,
        HALF + "{all}v_readlane_b32 s12, v9, 17\nv_mov_b32 v2, s12" + OUT),
    "the lane beside the one written": ("uninitialized",
        "v_writelane_b32 v9, s2, 3\nv_readlane_b32 s12, v9, 4\nv_mov_b32 v2, s12" + OUT,
        "v_writelane_b32 v9, s2, 3\nv_readlane_b32 s12, v9, 3\nv_mov_b32 v2, s12" + OUT),
    "nothing into a lane": ("uninitialized",
        VALUE + "v_writelane_b32 v9, s40, 3\nv_mov_b32 v2, v9" + OUT,
        VALUE + "v_writelane_b32 v9, s2, 3\nv_mov_b32 v2, v9" + OUT),
    "a permutation of nothing": ("uninitialized",
        "ds_bpermute_b32 v2, v1, v9\n" + LDS + OUT,
        VALUE + "ds_bpermute_b32 v2, v1, v9\n" + LDS + OUT),
    "a permutation forward of nothing": ("uninitialized",
        "ds_permute_b32 v2, v1, v9\n" + LDS + OUT,
        VALUE + "ds_permute_b32 v2, v1, v9\n" + LDS + OUT),
    "a swizzle of nothing": ("uninitialized",
        "ds_swizzle_b32 v2, v9 offset:0x041F\n" + LDS + OUT,
        VALUE + "ds_swizzle_b32 v2, v9 offset:0x041F\n" + LDS + OUT),
    "a swizzle of other lanes": ("uninitialized",
        HALF + "{all}ds_swizzle_b32 v9, v9 offset:0x041F\n" + LDS + "v_mov_b32 v2, v9" + OUT,
        HALF + "ds_swizzle_b32 v9, v9 offset:0x041F\n" + LDS + "v_mov_b32 v2, v9" + OUT + "\n{all}"),
    "DPP of nothing": ("uninitialized",
        "v_mov_b32_dpp v2, v9 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf" + OUT,
        VALUE + "v_mov_b32_dpp v2, v9 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf" + OUT),
    "DPP into nothing": ("uninitialized",
        "v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf" + OUT,
        "v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1" + OUT),
    "a sum with DPP of nothing": ("uninitialized",
        "v_mov_b32 v2, 0\nv_add_f32_dpp v2, v9, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf" + OUT,
        "v_mov_b32 v2, 0\nv_add_f32_dpp v2, v0, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf" + OUT),
    # Registers on some paths.
    "a value on one path": ("uninitialized",
        "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 skip\nv_mov_b32 v2, 1\nskip:" + OUT,
        "v_mov_b32 v2, 2\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc1 skip\nv_mov_b32 v2, 1\nskip:" + OUT),
    "a counter that starts nowhere": ("uninitialized",
        LOOP.format(1).replace("s_mov_b32 s20, 0\n", ""),
        LOOP.format(1)),
    "a choice of nothing": ("uninitialized",
        "v_cmp_lt_u32 vcc, 3, v0\nv_cndmask_b32 v2, v0, v9, vcc" + OUT,
        "v_cmp_lt_u32 vcc, 999, v0\nv_cndmask_b32 v2, v0, v9, vcc" + OUT),
    # LDS and its races.
    "no barrier before writing again": ("race",
        "ds_write_b32 v1, v0\n" + LDS + "s_barrier\n" + FAR + "ds_read_b32 v2, v3\n" + LDS + "ds_write_b32 v1, v2\n" + LDS,
        "ds_write_b32 v1, v0\n" + LDS + "s_barrier\n" + FAR + "ds_read_b32 v2, v3\n" + LDS + "s_barrier\nds_write_b32 v1, v2\n" + LDS),
    "stores of lanes that overlap": ("race",
        "v_lshrrev_b32 v3, 1, v0\nv_lshlrev_b32 v3, 2, v3\nds_write_b32 v3, v0\n" + LDS,
        "v_lshrrev_b32 v3, 1, v0\nv_lshlrev_b32 v3, 2, v3\nds_write_b32 v3, v3\n" + LDS),
    "atomic here, plain there": ("race",
        "v_mov_b32 v3, 0\nds_write_b32 v3, v3\n" + LDS + "s_barrier\nds_add_u32 v3, v0\n" + LDS + FROM_LDS,
        "v_mov_b32 v3, 0\nds_write_b32 v3, v3\n" + LDS + "s_barrier\nds_add_u32 v3, v0\n" + LDS + "s_barrier\n" + FROM_LDS),
    "stores to one word of memory": ("race",
        "v_mov_b32 v3, 0\nglobal_store_dword v3, v0, s[8:9]",
        "v_mov_b32 v3, 0\nglobal_store_dword v3, v3, s[8:9]"),
    # Memory.
    "before an array": ("out-of-bounds",
        "global_load_dword v2, v1, s[10:11] offset:-4",
        "global_load_dword v2, v1, s[10:11]"),
    "past scratch memory": ("out-of-bounds",
        "scratch_store_dword off, v0, off offset:16",
        "scratch_store_dword off, v0, off offset:12"),
    "past an array by an atomic": ("out-of-bounds",
        "v_mov_b32 v3, 0x400\n{atomic} v3, v0, s[8:9]",
        "v_mov_b32 v3, 0x3fc\n{atomic} v3, v0, s[8:9]"),
    "a misaligned atomic in memory": ("misaligned",
        "v_mov_b32 v3, 2\n{atomic} v3, v0, s[8:9]",
        "v_mov_b32 v3, 4\n{atomic} v3, v0, s[8:9]"),
    "an array to read": ("read-only",
        "global_store_dword v1, v0, s[10:11]",
        "global_store_dword v1, v0, s[8:9]"),
    # Control.
    "an endless loop": ("instruction-budget",
        LOOP.format(3),
        LOOP.format(2)),
    "a call of no code": ("bad-call",
        "s_mov_b64 s[16:17], 8\ns_setpc_b64 s[16:17]",
        "s_getpc_b64 s[16:17]\n.Lpost_getpc0:\ns_add_u32 s16, s16, (there-.Lpost_getpc0)&4294967295\ns_addc_u32 s17, s17, (there-.Lpost_getpc0)>>32\ns_setpc_b64 s[16:17]\nthere:"),
    "a register that there is not": ("bad-register",
        VALUE + "{index99}",
        VALUE + "{index5}"),
    "a trap for some": ("trap",
        "v_cmp_lt_u32 vcc, 3, v0\ns_cbranch_vccz skip\ns_trap 2\nskip:",
        "v_cmp_lt_u32 vcc, 999, v0\ns_cbranch_vccz skip\ns_trap 2\nskip:"),
}  # fmt: skip


def index(by: int, old: bool) -> str:
    """v2 = the register that is so far behind v4."""
    if old:
        return f"s_mov_b32 s12, {by}\ns_set_gpr_idx_on s12, gpr_idx(SRC0)\nv_mov_b32 v2, v4\ns_set_gpr_idx_off\n"
    return f"s_mov_b32 m0, {by}\nv_movrels_b32 v2, v4\n"


def result(text: str, target: str) -> list[str]:
    old = WAVE[target] == 64
    words = {
        "save": f"s_and_saveexec_b{64 if old else 32} {'s[20:21], vcc' if old else 's20, vcc_lo'}\n",
        "all": "s_mov_b64 exec, s[20:21]\n" if old else "s_mov_b32 exec_lo, s20\n",
        "atomic": "global_atomic_add" if old else "global_atomic_add_u32",
        "index99": index(99, old),
        "index5": index(5, old),
    }
    for name, by in words.items():
        text = text.replace("{" + name + "}", by)
    out, x = np.zeros(256, np.uint32), np.zeros(256, np.uint32)
    x.flags.writeable = False
    program = kernel(START + text + "\n", [8, 8], target, lds=1024, scratch=16)
    report = run(program, [out, x], 1, 256, max_instructions=5000, raise_on_finding=False)
    return sorted({f["kind"] for f in report.to_dict()["findings"]})


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name, target):
    kind, wrong, right = PAIRS[name]
    assert result(wrong, target) == [kind]
    assert result(right, target) == []


def test_rows_that_change_places():
    """Lanes that took no part, too."""
    text = (
        HALF
        + "{all}v_mov_b32 v2, v0\nv_permlane32_swap_b32 v9, v2\nglobal_store_dword v1, {}, s[8:9]"
    )
    text = text.replace("15, v0", "31, v0")
    # The upper half of v9, which has values, is now the lower half of v2.
    assert result(text.replace("{}", "v2"), "gfx950") == []
    assert result(text.replace("{}", "v9"), "gfx950") == ["uninitialized"]


def test_results_that_depend_on_the_order():
    """Workgroups that add what the others have added before."""
    body = (
        START
        + "v_mov_b32 v3, 0\nv_mov_b32 v4, 1\nglobal_atomic_add v5, v3, v4, s[8:9] sc0\ns_waitcnt vmcnt(0)\n"
    )
    body += "v_mov_b32 v6, s2\nv_lshlrev_b32 v6, 2, v6\n"
    found = {}
    for stored in ("v5", "v6"):
        text = kernel(body + f"global_store_dword v6, {stored}, s[10:11]\n", [8, 8])
        arrays = [np.zeros(64, np.uint32), np.zeros(64, np.uint32)]
        report = run(text, arrays, 8, 1, schedules=8, raise_on_finding=False)
        found[stored] = [f["kind"] for f in report.to_dict()["findings"]]
    assert found == {"v5": ["schedule-dependent"], "v6": []}


def test_there_are_many():
    """docs/simulator.md says how many."""
    files = [test_amdgcn_checks, test_amdgcn_origins]
    count = len(PAIRS) + sum(len(file.PAIRS) for file in files)
    assert f"and {count} of AMDGCN" in DOCUMENT.read_text().replace("\n", " ")
