# ruff: noqa: E501  (PTX text reads better unbroken)
"""Every form of Blackwell's instructions: the simulator takes it for the targets that ptxas takes it for.

data/blackwell_forms.txt has the forms with the verdicts of ptxas 13.5 for ten targets. What differs is on a list here,
with its reason, and so is which test executes a form.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import tile.sim
from tile.errors import TileError


class Form(NamedTuple):
    version: str  # the lowest, or "-"
    targets: list[str]
    entry: str
    text: str


def read_forms() -> dict[str, Form]:
    forms = {}
    text = (Path(__file__).parent / "data" / "blackwell_forms.txt").read_text()
    for block in text.split("\n## ")[1:]:
        head, body = block.split("\n", 1)
        head, _, entry = head.partition(" | ")
        name, version, *targets = head.split()
        body = re.sub(
            r"\{(\d+)\}",
            lambda m: "{" + ", ".join(f"r{i}" for i in range(1, int(m[1]) + 1)) + "}",
            body,
        )
        forms[name] = Form(version, [t for t in targets if t != "none"], entry, body)
    return forms


FORMS = read_forms()

# The targets of the verdicts, and the version that knows each first.
TARGETS = {
    "sm_100a": "8.6", "sm_103a": "8.8", "sm_110a": "9.0", "sm_120a": "8.7", "sm_121a": "8.8",
    "sm_100f": "8.8", "sm_120f": "8.8", "sm_100": "8.6", "sm_120": "8.7", "sm_90a": "8.0",
}  # fmt: skip

# Forms that ptxas takes and the simulator does not: what the message says, and why.
REFUSED = {
    r"mma_.*_sp": ("sparse products into tensor memory", "which columns of the metadata a selector picks is in no public text"),
    r"mmasync_sp_.*": ("sparse matrices of this kind", "where the metadata lies for block scales is in no public text"),
    r"mma_i8_scale_input_d": ("only .kind::f16 and .kind::tf32", "the manual forbids it, and ptxas does not look"),
    r"tma_im2col_w.*": ("bytes of its tensor maps", "nobody can make such a map without the driver"),
    r"cvt_rs": ("random bits", "which random bits an element takes is in no public text"),
}  # fmt: skip

# Forms that the simulator takes for more targets than ptxas does, and why.
LENIENT = {
    "min3_max3": "which target has it is not checked for plain arithmetic",
}

# Which test executes a form and compares it with NumPy; or why there is nothing to compare.
EXECUTED = {
    r"alloc_.*": "test_tcgen05_alloc.test_addresses_follow_each_other",
    r"(ld|st)_(16|32)x.*": "test_tcgen05_access.test_store",
    r"(alt_)?ldred_.*": "test_tcgen05_access.test_load_and_reduce",
    r"cp_all_.*": "test_tcgen05_copy.test_copy",
    r"(alt_)?shift_.*": "test_tcgen05_copy.test_shift",
    r"commit_cg1": "test_blackwell_mistakes.test_mistake",
    r"commit_cg2|loop_pair_leader": "test_tcgen05_mma.test_pairs",
    r"fence_wait": "test_blackwell_mistakes.test_mistake",
    r"mma_.*_ashift": "test_tcgen05_mma.test_shifted_rows",
    r"mma_.*_ws": "test_tcgen05_mma.test_weight_stationary",
    r"mma_.*_ws_zcm": "test_tcgen05_mma.test_zero_columns",
    r"mma_.*_mask_cg\d": "test_tcgen05_mma.test_lanes_that_are_kept",
    r"mma_.*_scale_input_d": "test_tcgen05_mma.test_scaled_d",
    r"mma_i8_.*": "test_tcgen05_mma.test_integers",
    r"mma_f8f6f4_.*": "test_tcgen05_mma.test_narrow_floats",
    r"mma_(f16|tf32)_.*": "test_tcgen05_mma.test_shapes",
    r"mma_mxf8f6f4_.*": "test_tcgen05_mma.test_one_factor",
    r"mma_mxf4_.*|mma_mxf4nvf4_(v2X|block32)": "test_tcgen05_mma.test_two_factors",
    r"mma_mxf4nvf4_.*": "test_tcgen05_mma.test_four_factors",
    r"alt_mma_.*|alt_kind_.*|addr_offsets|pred_guard": "test_tcgen05_mma.test_halves_along_k",
    r"(alt_)?mmasync_(mx|kind).*": "test_mma_scaled.test_bytes",
    r"mmasync_nvf4.*": "test_mma_scaled.test_four_factors",
    r"mmasync_f8f6f4_.*": "test_mma_scaled.test_bytes",
    r"mmasync_fp8_plain": "test_mma_scaled.test_bytes_of_eight_bits_elsewhere",
    r"clc_.*": "test_cluster_launch.test_every_tile_is_done_once",
    r"st_async": "test_async_forms.test_st_async_forms",
    r"st_async_release.*": "test_async_forms.test_st_async_release",
    r"st_bulk": "test_async_forms.test_st_bulk_writes_zeros",
    r"red_async": "test_async_forms.test_red_async",
    r"bulk_cp_mask": "test_async_forms.test_byte_masks_of_bulk_stores",
    r"bulk_cta": "test_async.test_bulk_load_and_missing_wait",
    r"bulk_mc|tma_load_cluster_mc": "test_blackwell_targets.test_multicast",
    r"tma_load_cta.*|tma_load_cluster": "test_blackwell_targets.test_tensor_copies",
    r"tma_load_cluster_mc_cg2": "test_gather_rows.test_the_leader_of_a_pair_hears_of_both",
    r"tma_gather4_.*": "test_gather_rows.test_gather",
    r"tma_scatter4": "test_gather_rows.test_scatter",
    r"cluster_barrier": "test_async_forms.test_getctarank_and_the_address_behind_it",
    r"elect_sync": "test_warp_instructions.test_elect_and_activemask",
    r"redux_f32": "test_warp_instructions.test_redux_f32",
    r"fma_f32x2": "test_pairs.test_f32x2_against_numpy",
    r"cvt_(fp4|fp6)": "test_narrow_floats.test_to_pairs",
    r"cvt_ue8m0": "test_narrow_floats.test_to_scales",
    r"min3_max3": "test_float.test_f32_signs_minmax_copysign",
    r"ld_v8_f32": "test_blackwell_targets.test_accesses_of_32_bytes",
    r"ldmatrix_new": "test_mma.test_ldmatrix_of_bytes",
    r"stmatrix_new": "test_mma.test_stmatrix_of_bytes",
    r"wgmma": "test_wgmma.test_wgmma",
    r"mbarrier_relaxed": "test_async_forms.test_wait_with_a_time_limit_and_parity",
    r"setmaxnreg|griddepcontrol|fence_(proxy_async|mbarrier_init|sync_restrict)": "none: no value depends on it",
    r"tma_prefetch_gather4": "none: a prefetch has no result",
    r"cluster16|blocksareclusters": "none: a directive",
}  # fmt: skip


def listed(table: dict[str, object], name: str):
    return next((value for pattern, value in table.items() if re.fullmatch(pattern, name)), None)


def load(form: Form, target: str, version: str) -> str:
    """Nothing, or why the form is refused."""
    text = f""".version {version}
.target {target}
.address_size 64
.visible .entry f(.param .u64 a0, .param .u32 a1) {form.entry}
{{
.reg .b32 r<160>; .reg .b64 d<16>; .reg .pred p<4>; .reg .b16 h<8>; .reg .b128 q<2>; .reg .f32 x<16>;
.shared .align 1024 .b8 sm[2048];
ld.param.u64 d0, [a0]; ld.param.u32 r0, [a1]; mov.b64 d1, d0; mov.b64 d2, d0; mov.b64 d3, d0;
add.u32 r150, r0, 64; add.u32 r151, r0, 128; mov.b32 r152, 0x08200490; mov.u32 r153, sm;
mov.u32 r154, %tid.x; mov.u32 r155, r154; mov.u32 r156, r154; mov.u32 r157, r154; mov.u32 r158, r154;
mov.b16 h0, 3; mov.b16 h1, 3; setp.ne.u32 p0, r154, 0;
{form.text}
ret;
}}
"""
    try:
        tile.sim.load(text)
    except TileError as error:
        return str(error)
    return ""


def later(one: str, other: str) -> str:
    return max(one, other, key=lambda v: [int(x) for x in v.split(".")])


@pytest.mark.parametrize("name", FORMS)
def test_form(name):
    form, refused = FORMS[name], listed(REFUSED, name)
    for target, first in TARGETS.items():
        taken = target in form.targets
        version = later(form.version, first) if taken else "9.5"
        why = load(form, target, version)
        if taken and refused:
            assert refused[0] in why, (target, why)
        elif name not in LENIENT:
            assert taken == (not why), (target, version, why)


@pytest.mark.parametrize("name", [n for n, f in FORMS.items() if f.version > "8.6" and "sm_100a" in f.targets])  # fmt: skip
def test_version(name):
    """One version before the lowest is too early."""
    if listed(REFUSED, name) or name in LENIENT:
        return
    before = {"8.7": "8.6", "8.8": "8.7", "9.0": "8.8", "9.1": "9.0"}[FORMS[name].version]
    assert load(FORMS[name], "sm_100a", before)


def test_lists():
    """Each form is executed by a test that there is, or a list says why not; no list names what is not there."""
    taken = [name for name, form in FORMS.items() if form.targets]
    assert len(FORMS) == 230 and len(taken) == 183
    for name in taken:
        where = listed(EXECUTED, name)
        if listed(REFUSED, name):
            continue
        assert where, f"no test executes {name}"
        if not where.startswith("none: "):
            module, function = where.split(".")
            assert hasattr(importlib.import_module(module), function), where
    for table in (REFUSED, LENIENT, EXECUTED):
        for pattern in table:
            assert any(re.fullmatch(pattern, name) for name in taken), pattern


def test_page_of_assumptions():
    """The page has a row for each switch, and for no other."""
    page = (Path(__file__).parents[3] / "docs" / "simulator-blackwell.md").read_text()
    table = page[page.index("## Assumptions") : page.index("## Counters")]
    assert re.findall(r"^\| `([a-z0-9-]+)` \|", table, re.M) == list(tile.sim.ASSUMPTIONS)
