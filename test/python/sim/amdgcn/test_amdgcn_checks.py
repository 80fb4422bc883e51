# ruff: noqa: E501  (assembly reads better unbroken)
"""What the checks find, each beside a twin without the mistake."""

from __future__ import annotations

import numpy as np
import pytest
from asmlib import TARGETS, WAVE, findings, kernel, run

import tile.sim
from tile.errors import TileError

START = """
	s_load_dwordx2 s[8:9], s[0:1], 0
	s_load_dwordx2 s[10:11], s[0:1], 8
	v_lshlrev_b32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
"""
# (kind of finding, wrong, right); {w0} waits for all that a wave has stored.
PAIRS = {
    "load": ("missing-wait",
        "global_load_dword v2, v1, s[10:11]\nglobal_store_dword v1, v2, s[8:9]",
        "global_load_dword v2, v1, s[10:11]\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v2, s[8:9]"),
    "scalar load": ("missing-wait",
        "s_load_dword s12, s[10:11], 0\nv_mov_b32 v2, s12\nglobal_store_dword v1, v2, s[8:9]",
        "s_load_dword s12, s[10:11], 0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, s12\nglobal_store_dword v1, v2, s[8:9]"),
    "scalar loads come in any order": ("missing-wait",
        "s_load_dword s12, s[10:11], 0\ns_load_dword s13, s[10:11], 4\ns_waitcnt lgkmcnt(1)\nv_mov_b32 v2, s12\nglobal_store_dword v1, v2, s[8:9]",
        "s_load_dword s12, s[10:11], 0\ns_load_dword s13, s[10:11], 4\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, s12\nglobal_store_dword v1, v2, s[8:9]"),
    "the second of two loads": ("missing-wait",
        "global_load_dword v2, v1, s[10:11]\nglobal_load_dword v3, v1, s[10:11]\ns_waitcnt vmcnt(1)\nglobal_store_dword v1, v3, s[8:9]",
        "global_load_dword v2, v1, s[10:11]\nglobal_load_dword v3, v1, s[10:11]\ns_waitcnt vmcnt(1)\nglobal_store_dword v1, v2, s[8:9]"),
    "a register is written again": ("missing-wait",
        "global_load_dword v2, v1, s[10:11]\nv_mov_b32 v2, 1\ns_waitcnt vmcnt(0)",
        "global_load_dword v2, v1, s[10:11]\ns_waitcnt vmcnt(0)\nv_mov_b32 v2, 1"),
    "LDS": ("missing-wait",
        "ds_write_b32 v1, v0\nds_read_b32 v2, v1\nglobal_store_dword v1, v2, s[8:9]",
        "ds_write_b32 v1, v0\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[8:9]"),
    "the wrong counter": ("missing-wait",
        "global_load_dword v2, v1, s[10:11]\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[8:9]",
        "global_load_dword v2, v1, s[10:11]\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v2, s[8:9]"),
    "LDS before a barrier": ("missing-wait",
        "ds_write_b32 v1, v0\ns_barrier\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[8:9]",
        "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[8:9]"),
    "vector register": ("uninitialized",
        "global_store_dword v1, v9, s[8:9]",
        "v_mov_b32 v9, 1\nglobal_store_dword v1, v9, s[8:9]"),
    "through arithmetic": ("uninitialized",
        "v_add_f32 v9, v9, v9\nglobal_store_dword v1, v9, s[8:9]",
        "v_add_f32 v9, v9, v9\nv_mov_b32 v9, v0\nglobal_store_dword v1, v9, s[8:9]"),
    "in some lanes": ("uninitialized",
        "v_cmp_lt_u32 vcc, 3, v0\n{save}v_mov_b32 v9, 1\n{all}global_store_dword v1, v9, s[8:9]",
        "v_cmp_lt_u32 vcc, 3, v0\n{save}v_mov_b32 v9, 1\nglobal_store_dword v1, v9, s[8:9]\n{all}"),
    "address": ("uninitialized",
        "v_add_u32 v9, 0, v9\nglobal_store_dword v9, v0, s[8:9]",
        "v_mov_b32 v9, 0\nv_cmp_gt_u32 vcc, 1, v0\n{save}global_store_dword v9, v0, s[8:9]\n{all}"),
    "branch": ("uninitialized",
        "s_cmp_eq_u32 s40, 0\ns_cbranch_scc1 there\nthere:",
        "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 there\nthere:"),
    "LDS without a value": ("uninitialized",
        "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[8:9]",
        "ds_write_b32 v1, v0\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[8:9]"),
    "scratch without a value": ("uninitialized",
        "scratch_load_dword v10, off, off offset:4\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v10, s[8:9]",
        "scratch_load_dword v10, off, off offset:4\ns_waitcnt vmcnt(0)\nscratch_store_dword off, v10, off offset:8"),
    "scratch of some lanes": ("uninitialized",
        "v_cmp_lt_u32 vcc, 3, v0\n{save}scratch_store_dword off, v0, off offset:4\n{all}scratch_load_dword v10, off, off offset:4\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v10, s[8:9]",
        "v_cmp_lt_u32 vcc, 3, v0\n{save}scratch_store_dword off, v0, off offset:4\n{all}scratch_load_dword v10, off, off offset:4\ns_waitcnt vmcnt(0)\n{save}global_store_dword v1, v10, s[8:9]\n{all}"),
    "scratch of which one word was written": ("uninitialized",
        "scratch_store_dword off, v0, off offset:4\nscratch_load_dwordx2 v[10:11], off, off\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v10, s[8:9]",
        "scratch_store_dword off, v0, off offset:4\nscratch_load_dwordx2 v[10:11], off, off\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v11, s[8:9]"),
    "scratch by a flat address": ("uninitialized",
        "s_mov_b64 s[14:15], src_private_base\nv_mov_b32 v12, 4\nv_mov_b32 v13, s15\nflat_load_dword v10, v[12:13]\ns_waitcnt vmcnt(0) & lgkmcnt(0)\nglobal_store_dword v1, v10, s[8:9]",
        "s_mov_b64 s[14:15], src_private_base\nv_mov_b32 v12, 4\nv_mov_b32 v13, s15\nscratch_store_dword off, v0, off offset:4\nflat_load_dword v10, v[12:13]\ns_waitcnt vmcnt(0) & lgkmcnt(0)\nglobal_store_dword v1, v10, s[8:9]"),
    "through scratch": ("uninitialized",
        "scratch_store_dword off, v9, off offset:4\nscratch_load_dword v10, off, off offset:4\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v10, s[8:9]",
        "v_mov_b32 v9, 1\nscratch_store_dword off, v9, off offset:4\nscratch_load_dword v10, off, off offset:4\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v10, s[8:9]"),
    "global bounds": ("out-of-bounds",
        "global_store_dword v1, v0, s[8:9] offset:4",
        "global_store_dword v1, v0, s[8:9] offset:0"),
    "LDS bounds": ("out-of-bounds",
        "ds_write_b32 v1, v0 offset:772",
        "ds_write_b32 v1, v0 offset:768"),
    "scalar bounds": ("out-of-bounds",
        "s_load_dwordx2 s[12:13], s[10:11], 0x3fc\ns_waitcnt lgkmcnt(0)",
        "s_load_dwordx2 s[12:13], s[10:11], 0x3f8\ns_waitcnt lgkmcnt(0)"),
    "arguments": ("out-of-bounds",
        "s_load_dwordx2 s[12:13], s[0:1], 12\ns_waitcnt lgkmcnt(0)",
        "s_load_dwordx2 s[12:13], s[0:1], 8\ns_waitcnt lgkmcnt(0)"),
    "misaligned atomic": ("misaligned",
        "v_mov_b32 v2, 2\nds_add_u32 v2, v0",
        "v_mov_b32 v2, 4\nds_write_b32 v2, v2\nds_add_u32 v2, v0"),
    "trap": ("trap", "s_trap 2", "s_nop 2"),
}  # fmt: skip


def result(text: str, target: str, block: int | None = None) -> list[str]:
    save = (
        "s_and_saveexec_b64 s[20:21], vcc\n"
        if target == "gfx942"
        else "s_and_saveexec_b32 s20, vcc_lo\n"
    )
    everyone = "s_mov_b64 exec, s[20:21]\n" if target == "gfx942" else "s_mov_b32 exec_lo, s20\n"
    text = text.format(save=save, all=everyone) if "{" in text else text
    block = block or WAVE[target]
    # The arrays are as long as the block, or as LDS.
    out, x = np.zeros(block, np.uint32), np.zeros(256, np.uint32)
    body = START + text + "\n"
    text = kernel(body, [8, 8], target, lds=768 + 4 * block, scratch=16)
    return findings(text, [out, x], 1, block)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name, target):
    kind, wrong, right = PAIRS[name]
    assert kind in result(wrong, target)
    assert result(right, target) == []


@pytest.mark.parametrize(
    ("target", "load", "most"),
    [("gfx942", "global_load_dword v2, v1, s[10:11]", 63), ("gfx942", "ds_read_b32 v2, v1", 15),
     ("gfx1100", "ds_read_b32 v2, v1", 63), ("gfx1200", "global_load_dword v2, v1, s[10:11]", 63)],
)  # fmt: skip
def test_counters_have_an_end(target, load, most):
    """Behind as many operations as it counts, the one before them is done."""
    more = "\n".join(load.replace("v2", f"v{3 + i}") for i in range(most))
    text = f"ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n{load}\n{more}\nglobal_store_dword v1, v2, s[8:9]"
    assert result(text, target) == []
    assert result(text.replace(f"{more}", more[: more.rfind("\n")]), target) == ["missing-wait"]


EXCHANGE = """v_mov_b32 v2, 255
v_xor_b32 v3, v0, v2
v_lshlrev_b32 v3, 2, v3
ds_write_b32 v1, v0
s_waitcnt lgkmcnt(0)
{}
ds_read_b32 v4, v3
s_waitcnt lgkmcnt(0)
global_store_dword v1, v4, s[8:9]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_races_between_waves(target):
    assert "race" in result(EXCHANGE.format(""), target, 256)
    assert result(EXCHANGE.format("s_barrier"), target, 256) == []


@pytest.mark.parametrize("target", TARGETS)
def test_one_wave_needs_no_barrier(target):
    """Operations of one wave are done in order, whoever of its lanes they are of."""
    text = EXCHANGE.replace("255", str(WAVE[target] - 1)).format("")
    assert result(text, target, WAVE[target]) == []


MASKS = """s_mov_{b} s40, {first}
s_mov_{b} {exec}, s40
v_cmp_lt_u32 {m12}, 3, v0
s_andn2_{b} {m20}, {m22}, {exec}
s_and_{b} {m12}, {m12}, {exec}
s_or_{b} {m22}, {m20}, {m12}
s_mov_{b} {exec}, {second}
{use}
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "use",
    [
        "v_cndmask_b32 v9, v0, v1, {m22}\nglobal_store_dword v1, v9, s[8:9]",
        "s_and_saveexec_{b} {m24}, {m22}\nglobal_store_dword v1, v0, s[8:9]",
        "s_and_{b} {m24}, {m22}, {exec}\ns_cbranch_scc0 there\nthere:",
        "v_cndmask_b32 v9, v40, v1, {m22}\nglobal_store_dword v1, v9, s[8:9]",
    ],
)
def test_masks_hold_values_lane_by_lane(use, target):
    """Lanes that took no part when a mask was put together have none in it; neither has a register
    that was never written, nor what is chosen from it."""
    wide = target == "gfx942"
    names = {f"m{n}": f"s[{n}:{n + 1}]" if wide else f"s{n}" for n in (12, 20, 22, 24)}
    names |= {"b": "b64" if wide else "b32", "exec": "exec" if wide else "exec_lo"}
    text = MASKS.replace("s40", "s[40:41]" if wide else "s40").replace("{use}", use)

    def found(first: int, second: int) -> list[str]:
        return result(text.format(**names, first=first, second=second), target)

    bad = ["uninitialized"] if "v40" in use else []
    assert found(15, 15) == found(15, 3) == bad
    if not bad:
        assert "uninitialized" in found(1, 15)
    else:
        # Where the mask is set, the register without a value is not looked at.
        assert result(text.replace("v_cmp_lt_u32 {m12}, 3, v0", "v_cmp_eq_u32 {m12}, v0, v0")
                      .format(**names, first=15, second=15), target) == []  # fmt: skip


@pytest.mark.parametrize("op", ["v_pk_add_f32", "v_pk_mov_b32"])
def test_words_that_are_not_selected(op):
    """Of a pair of registers, only what is selected must hold a value."""
    text = f"v_mov_b32 v8, v0\nv_mov_b32 v2, v0\nv_mov_b32 v3, v0\n{op} v[4:5], v[8:9], v[2:3] {{}}\nglobal_store_dword v1, v4, s[8:9]\nglobal_store_dword v1, v5, s[8:9]"
    low, high = ("op_sel:[0,1]", "op_sel:[1,0]") if "mov" in op else ("op_sel_hi:[0,1]", "")
    assert result(text.format(low), "gfx942") == []
    assert "uninitialized" in result(text.format(high), "gfx942")


@pytest.mark.parametrize(
    "op", ["v_mov_b64 v[4:5], v[8:9]", "v_pk_mov_b32 v[4:5], v[8:9], v[8:9] op_sel:[0,1]"]
)
def test_words_are_moved_one_by_one(op):
    """Of two registers that are moved together, one may hold a value."""
    for written, read in ((8, 4), (9, 5)):
        text = f"v_mov_b32 v{written}, v0\n{op}\nglobal_store_dword v1, v{{}}, s[8:9]"
        assert result(text.format(read), "gfx942") == []
        assert "uninitialized" in result(text.format(9 - read), "gfx942")


@pytest.mark.parametrize("target", TARGETS)
def test_far_branches(target):
    """What is farther than s_branch goes is reached by its distance from here."""
    add, carry = ("s_add_u32", "s_addc_u32")
    text = f"""s_mov_b32 s20, 0
again:
s_add_u32 s20, s20, 1
s_cmp_eq_u32 s20, 3
s_cbranch_scc1 done
s_getpc_b64 s[16:17]
.Lpost_getpc0:
{add} s16, s16, (again-.Lpost_getpc0)&4294967295
{carry} s17, s17, (again-.Lpost_getpc0)>>32
s_setpc_b64 s[16:17]
done:
s_cmp_eq_u32 s20, 3
s_cbranch_scc1 good
s_trap 2
good:
"""
    assert result(text, target) == []
    with pytest.raises(TileError, match="is no source"):
        result(text.replace("(again-.Lpost_getpc0)>>32", "(again-done)>>32"), target)


SWAPS = """v_mov_b32 v2, 0
v_readfirstlane_b32 s12, v0
{one}
s_cmp_eq_u32 s12, 0
s_cbranch_scc0 second
global_load_dword v4, v2, s[8:9]
s_waitcnt vmcnt(0)
again:
v_add_u32 v3, 1, v4
{swap}
s_waitcnt vmcnt(0)
v_cmp_ne_u32 vcc, v5, v4
v_mov_b32 v4, v5
s_cbranch_vccnz again
s_branch done
second:
global_load_dword v4, v2, s[8:9]
s_waitcnt vmcnt(0)
more:
v_sub_u32 v3, v4, 1
OTHER
{swap}
s_waitcnt vmcnt(0)
v_cmp_ne_u32 vcc, v5, v4
v_mov_b32 v4, v5
s_cbranch_vccnz more
done:
"""


@pytest.mark.parametrize("target", TARGETS)
def test_loops_of_compare_and_swap(target):
    """The load before such a loop may race with other loops on the place: its value is compared
    later. It may not if the swap is of another place, or missing."""
    old = target == "gfx942"
    one = "s_mov_b64 exec, 1" if old else "s_mov_b32 exec_lo, 1"
    swap = "global_atomic_cmpswap" + ("" if old else "_b32") + " v5, v2, v[3:4], s[8:9] "
    swap += "sc0" if old else "glc"
    text = SWAPS if old else SWAPS.replace("v_sub_u32", "v_sub_nc_u32")
    text = text.replace("{one}", one).replace("{swap}", swap)
    waves = 2 * WAVE[target]
    assert result(text.replace("OTHER", ""), target, waves) == []
    # A scalar load of the place will do, if the offset of the swap is zero.
    scalar = ("s_load_dword" if old else "s_load_b32") + " s13, s[8:9], 0"
    scalar += "\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, s13"
    by_scalar = text.replace("global_load_dword v4, v2, s[8:9]", scalar)
    assert result(by_scalar.replace("OTHER", ""), target, waves) == []
    elsewhere = by_scalar.replace("v_mov_b32 v2, 0", "v_mov_b32 v2, 4", 1).replace("OTHER", "")
    assert result(elsewhere.replace("s13, s[8:9], 0", "s13, s[8:9], 4", 1), target, waves) == [
        "race"
    ]
    # It may stand far before, if the swap compares with what it gave.
    far = text.replace("more:", "v_mov_b32 v9, 0\n" * 200 + "more:").replace("OTHER", "")
    assert result(far, target, waves) == []
    other = far.replace("more:", "v_mov_b32 v4, 0\nmore:")
    assert "race" in result(other, target, waves)
    assert "race" in result(text.replace("OTHER", "v_mov_b32 v2, 4"), target, waves)
    assert "race" in result(text.replace(f"OTHER\n{swap}", "v_mov_b32 v5, v4"), target, waves)


INTO_LDS = """v_lshrrev_b32 v5, 6, v0
v_readfirstlane_b32 s12, v5
s_lshl_b32 s12, s12, 8
s_mov_b32 m0, s12
{load}
global_load_dword v6, v1, s[10:11]
{wait}
{barrier}
v_xor_b32 v3, {far}, v1
ds_read_b32 v4, v3
s_waitcnt vmcnt(0) lgkmcnt(0)
global_store_dword v1, v4, s[8:9]
"""


def loaded(wait: str, barrier: str, far: int, load: str = "global_load_lds_dword v1, s[10:11]"):
    body = START + INTO_LDS.format(load=load, wait=wait, barrier=barrier, far=far)
    out, x = np.zeros(128, np.uint32), np.arange(7, 135, dtype=np.uint32)
    found = findings(kernel(body, [8, 8], lds=512), [out, x], 1, 128)
    return found, out, x


def test_loads_into_lds():
    """They are waited for by vmcnt, in order with other loads, and before a barrier by those whose
    values other waves want."""
    lane = np.arange(128)
    for far, barrier in ((4, ""), (256, "s_barrier")):
        found, out, x = loaded("s_waitcnt vmcnt(1)", barrier, far)
        assert found == [] and (out == x[lane ^ (far // 4)]).all()
        assert "async-race" in loaded("s_waitcnt vmcnt(2)", barrier, far)[0]
    assert "async-race" in loaded("s_barrier", "s_waitcnt vmcnt(0)", 256)[0]


def test_buffer_loads_into_lds():
    """What is beyond the buffer becomes zero."""
    load = """s_mov_b32 s16, s10
s_and_b32 s17, s11, 0xffff
s_movk_i32 s18, 40
s_mov_b32 s19, 0
buffer_load_dword v1, s[16:19], 0 offen lds"""
    found, out, x = loaded("s_waitcnt vmcnt(1)", "", 4, load)
    expected = np.where(np.arange(128) < 10, x, 0)
    assert found == [] and (out == expected[np.arange(128) ^ 1]).all()


def test_threads_are_named():
    """Lanes of the upper half of a wave, too."""
    body = (
        START
        + "v_mov_b32 v2, 0\nv_cmp_eq_u32 vcc, 40, v0\ns_and_saveexec_b64 s[20:21], vcc\nglobal_store_dword v2, v0, s[8:9] offset:2048\n"
    )
    text = kernel(body, [8, 8])
    report = run(text, [np.zeros(64, np.uint32)] * 2, raise_on_finding=False)
    assert report.to_dict()["findings"][0]["thread"]["thread"] == [40, 0, 0]


@pytest.mark.parametrize("target", TARGETS)
def test_races_between_workgroups(target):
    wrong = START + "v_mov_b32 v2, 0\nv_mov_b32 v3, s2\nglobal_store_dword v2, v3, s[8:9]\n"
    arrays = [np.zeros(64, np.uint32), np.zeros(64, np.uint32)]
    assert "race" in findings(kernel(wrong, [8, 8], target), arrays, 4, 1)
    right = (
        START
        + "s_lshl_b32 s4, s2, 2\nv_mov_b32 v2, s4\nv_mov_b32 v3, s2\nglobal_store_dword v2, v3, s[8:9]\n"
    )
    assert findings(kernel(right, [8, 8], target), arrays, 4, 1) == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_wave_that_ends_does_not_keep_others_waiting(target):
    body = """v_readfirstlane_b32 s4, v0
s_cmp_eq_u32 s4, 0
s_cbranch_scc1 last
s_barrier
last:
"""
    assert result(body, target, 256) == []


def test_deadlock():
    """Waves that wait at a barrier for one that never ends."""
    body = """v_readfirstlane_b32 s4, v0
s_cmp_eq_u32 s4, 0
s_cbranch_scc0 others
again:
s_sleep 1
s_branch again
others:
s_barrier
"""
    text = kernel(body, [8])
    kinds = findings(text, [np.zeros(4, np.uint32)], 1, 128, max_instructions=10000)
    assert kinds == ["instruction-budget"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("s_nop 0", "v_frobnicate_b32 v0, v1", "unknown instruction 'v_frobnicate_b32'"),
        ("s_nop 0", "v_mov_b32 v0", "1 operands, 2 expected"),
        ("s_nop 0", "v_mov_b32 v0, v256", "there is no register 'v256'"),
        ("s_nop 0", "v_add_f64 v[0:1], v2, v[4:5]", "has 1 registers, 2 expected"),
        ("s_nop 0", "s_branch nowhere", "unknown label 'nowhere'"),
        ("s_nop 0", "s_mov_b32 s0, v1", "no scalar register"),
        ("s_nop 0", "v_and_b32_e64 v0, -v1, v2", "no numbers with a sign"),
        ("s_nop 0", "global_load_dword v0, v1, s[2:3] lds", "the modifier 'lds' is not supported"),
        ("s_nop 0", "global_load_lds_dwordx4 v1, s[2:3]", "loads of this size into LDS are not"),
        ("s_nop 0", "buffer_load_ushort v1, s[4:7], 0 offen lds", "loads of this size into LDS"),
        ("s_nop 0", "v_mov_b32 v0, 1 strange:3", "'strange' is not supported"),
        ("gfx942", "gfx803", "does not run 'gfx803'"),
        (".offset: 8", ".offset: 4", "lies before the end of another"),
        (".text", ".frobnicate", "unknown directive '.frobnicate'"),
        ("s_waitcnt vmcnt(0)", "s_waitcnt pmcnt(0)", "unknown counter 'pmcnt'"),
    ],
)
def test_diagnostics(old, new, message):
    text = kernel("s_nop 0\ns_waitcnt vmcnt(0)\n", [8, 8])
    with pytest.raises(TileError, match=message.replace("(", r"\(").replace("[", r"\[")) as error:
        tile.sim.load(text.replace(old, new, 1 if old != "gfx942" else -1))
    assert ":" in str(error.value)


def test_the_end():
    text = kernel("s_nop 0\n", [8]).replace("s_endpgm", "s_nop 1")
    assert findings(text, [np.zeros(4, np.uint32)]) == ["past-end"]


def test_entry_state():
    """Ids of workgroups and work-items, hidden arguments, and the size of the grid."""
    body = """
	s_load_dwordx2 s[8:9], s[0:1], 0
	v_and_b32 v1, 0x3ff, v0
	v_bfe_u32 v2, v0, 10, 10
	v_lshrrev_b32 v3, 20, v0
	v_lshl_add_u32 v4, v2, 3, v1
	v_lshl_add_u32 v4, v3, 4, v4
	s_lshl_b32 s10, s3, 1
	s_add_u32 s10, s10, s2
	s_mul_i32 s11, s4, 6
	s_add_u32 s10, s10, s11
	s_lshl_b32 s10, s10, 5
	v_add_u32 v4, s10, v4
	v_lshlrev_b32 v5, 2, v4
	s_waitcnt lgkmcnt(0)
	global_store_dword v5, v4, s[8:9]
"""
    out = np.zeros(32 * 2 * 3 * 2, np.uint32)
    run(kernel(body, [8], ids=2), [out], (2, 3, 2), (8, 2, 2))
    assert (out == np.arange(len(out))).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("stride", "conflicts"), [(4, 0), (8, 1), (16, 3), (128, 31), (132, 0)])
def test_bank_conflicts(target, stride, conflicts):
    """Of 32 banks; a wave of 64 lanes is served half by half."""
    wave = WAVE[target]
    body = f"v_mul_u32_u24 v1, {stride}, v0\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)"
    report = run(kernel(body, [8], target, lds=16384), [np.zeros(4, np.uint32)], 1, wave)
    assert report.to_dict()["counters"]["bank_conflicts"] == conflicts * wave // 32


def test_counters():
    body = (
        START
        + "global_load_dword v2, v1, s[10:11]\ns_waitcnt vmcnt(0)\nv_add_f32 v2, v2, v2\nglobal_store_dword v1, v2, s[8:9]\n"
    )
    x = np.zeros(64, np.float32)
    counters = run(kernel(body, [8, 8]), [x.copy(), x]).to_dict()["counters"]
    assert counters["global_store_bytes"] == 256


@pytest.mark.parametrize(
    ("target", "atomic"),
    [("gfx942", "global_atomic_add v2, v1, v0, s[8:9] sc0"),
     ("gfx1100", "global_atomic_add_u32 v2, v1, v0, s[8:9] glc")],
)  # fmt: skip
def test_results_of_atomics_come_back_behind_loads(target, atomic):
    """They may overwrite what a load brings to the same register and nobody reads."""
    load = "global_load_dword v2, v1, s[10:11]"
    wait, use = "s_waitcnt vmcnt(0)", "global_store_dword v1, v2, s[8:9]"
    assert result("\n".join([load, atomic, wait, use]), target) == []
    assert result("\n".join([atomic, load, wait, use]), target) == []
    assert result("\n".join([load, atomic, use]), target) == ["missing-wait"]
