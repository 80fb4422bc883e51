# ruff: noqa: E501  (PTX text reads better unbroken)
"""Copies of sm_100 and later: rows that are gathered and scattered, mbarriers in the leader of a pair of CTAs."""

from __future__ import annotations

import numpy as np
import pytest
from tensor_memory import HEADER, wait

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(51)
ROWS, COLUMNS, BOX = 40, 128, 32


def kernel(body, target="sm_100a"):
    return f"""{HEADER.format(target=target)}
.visible .entry op(.param .align 64 .b8 map[128], .param .u64 rows, .param .u64 out)
{{
.shared .align 1024 .b8 memory[4096]; .shared .align 8 .b64 barrier;
.reg .b32 %thread, %s, %bar, %a, %rank, %x<8>, %v<8>; .reg .b64 %map, %rows, %out; .reg .pred %first, %done, %leader, %p<4>; .reg .b16 %both;
mov.u32 %thread, %tid.x; setp.eq.u32 %first, %thread, 0; mov.u32 %s, memory; mov.u32 %bar, barrier; mov.b64 %map, map; cvta.param.u64 %map, %map; mov.u32 %rank, %cluster_ctarank; mov.b16 %both, 3;
ld.param.u64 %rows, [rows]; ld.param.u64 %out, [out]; ld.global.v4.b32 {{%x0, %x1, %x2, %x3}}, [%rows]; ld.global.b32 %x4, [%rows+16];
@!%first bra BEGUN; mbarrier.init.shared::cta.b64 [%bar], 1; fence.mbarrier_init.release.cluster; BEGUN:
bar.sync 0;
{body}
ret;
}}
"""


GATHER = "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%s], [%map, {%x4, %x0, %x1, %x2, %x3}], [%bar];"
SCATTER = "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%map, {%x4, %x0, %x1, %x2, %x3}], [%s];"
BYTES = 4 * BOX * 4
COPY_OUT = "shl.b32 %a, %thread, 4; cvt.u64.u32 %rows, %a; add.u64 %out, %out, %rows; add.u32 %a, %s, %a; ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [%a]; st.global.v4.b32 [%out], {%v0, %v1, %v2, %v3};"


def swizzled(image, swizzle):
    """Shared memory's bytes in the order of the box."""
    out = np.zeros_like(image)
    for at in range(image.size):
        shift = {0: 0, 32: 1, 64: 3, 128: 7}[swizzle]
        out[at] = image[at ^ (at >> 7 & shift) << 4]
    return out


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("swizzle", [0, 128])
@pytest.mark.parametrize("rows", [[3, 3, 39, 0], [10, -1, 40, 1000]])
def test_gather(rows, swizzle, seed):
    """Rows outside are zeros."""
    x = rng.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    tensor_map = tile.sim.tensor_map(x.ctypes.data, "f32", (COLUMNS, ROWS), (COLUMNS * 4,), (BOX, 1), swizzle=swizzle)  # fmt: skip
    out = np.zeros(BYTES, np.uint8)
    body = f"@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {BYTES}; @%first {GATHER} {wait('WAIT', '%bar', 0)} {COPY_OUT}"
    where = np.array([*rows, 64], np.int32)
    tile.sim.launch(kernel(body, "sm_120a"), "op", 1, 32, [tensor_map, where, out], allocations=[x], schedule_seed=seed)  # fmt: skip
    got = swizzled(out, swizzle).view(np.float32).reshape(4, BOX)
    for r, row in enumerate(rows):
        want = x[row, 64:96] if 0 <= row < ROWS else np.zeros(BOX, np.float32)
        np.testing.assert_array_equal(got[r], want)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scatter(seed):
    x = np.zeros((ROWS, COLUMNS), np.float32)
    tensor_map = tile.sim.tensor_map(x.ctypes.data, "f32", (COLUMNS, ROWS), (COLUMNS * 4,), (BOX, 1))  # fmt: skip
    body = f"shl.b32 %a, %thread, 4; add.u32 %a, %s, %a; cvt.rn.f32.u32 %v0, %thread; st.shared.v4.b32 [%a], {{%v0, %v0, %v0, %v0}}; fence.proxy.async.shared::cta; bar.sync 0; @%first {SCATTER} @%first cp.async.bulk.commit_group; @%first cp.async.bulk.wait_group 0;"
    rows = [7, 0, 41, 12]
    where = np.array([*rows, 32], np.int32)
    out = np.zeros(BYTES, np.uint8)
    body = body.replace("cvt.rn.f32.u32 %v0, %thread", ".reg .f32 %f; cvt.rn.f32.u32 %f, %thread; mov.b32 %v0, %f")  # fmt: skip
    tile.sim.launch(kernel(body), "op", 1, 32, [tensor_map, where, out], allocations=[x], schedule_seed=seed)  # fmt: skip
    want = np.zeros_like(x)
    for r, row in enumerate(rows):
        if row < ROWS:
            want[row, 32:64] = np.repeat(np.arange(8 * r, 8 * r + 8), 4)
    np.testing.assert_array_equal(x, want)


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        (GATHER, "sm_90a", "needs .target sm_100"),
        (GATHER.replace("shared::cta", "shared::cluster"), "sm_120a", "needs .target sm_100a, sm_100f"),
        (SCATTER, "sm_120a", "needs .target sm_100a, sm_100f"),
        (SCATTER, "sm_100", "needs .target sm_100a, sm_100f"),
        (GATHER.replace("2d", "3d"), "sm_100a", "in .2d"),
        (GATHER.replace(", %x3", ""), "sm_100a", "expected .map, .5 coordinates"),
        (GATHER.replace("tile::gather4", "cta_group::2"), "sm_120a", "needs .target sm_100a, sm_100f"),
    ],
)  # fmt: skip
def test_refused(text, target, message):
    x = np.zeros((ROWS, COLUMNS), np.float32)
    tensor_map = tile.sim.tensor_map(x.ctypes.data, "f32", (COLUMNS, ROWS), (COLUMNS * 4,), (BOX, 1))  # fmt: skip
    with pytest.raises(TileError, match=message):
        tile.sim.launch(kernel(text, target).replace("8.8", "8.8"), "op", 1, 32, [tensor_map, np.zeros(5, np.int32), x])  # fmt: skip


def test_boxes_of_one_row():
    x = np.zeros((ROWS, COLUMNS), np.float32)
    tensor_map = tile.sim.tensor_map(x.ctypes.data, "f32", (COLUMNS, ROWS), (COLUMNS * 4,), (BOX, 4))  # fmt: skip
    with pytest.raises(tile.sim.SimulationError, match="it must have one"):
        tile.sim.launch(kernel(f"@%first {GATHER}"), "op", 1, 32, [tensor_map, np.zeros(5, np.int32), x])  # fmt: skip


# ---- Pairs ----------------------------------------------------------------------------------------------------

CLUSTER = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
LOAD = "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%map, {%x4, %x0}], [%a];"


def pair(body, rows, seed=0, x=None):
    """Each CTA of a pair loads four rows, from row 4 * rank on; the result is what each has then."""
    tensor_map = tile.sim.tensor_map(x.ctypes.data, "f32", (COLUMNS, ROWS), (COLUMNS * 4,), (BOX, 4))  # fmt: skip
    out = np.zeros((2, BYTES), np.uint8)
    where = np.array([0, 0, 0, 0, 64], np.int32)
    text = kernel(
        f"{CLUSTER} shl.b32 %x0, %rank, 2; mad.wide.u32 %out, %rank, {BYTES}, %out; {body}"
    )
    text = text.replace("mbarrier.init.shared::cta.b64 [%bar], 1", f"mbarrier.init.shared::cta.b64 [%bar], {rows}")  # fmt: skip
    tile.sim.launch(text, "op", 2, 32, [tensor_map, where, out], cluster=(2, 1, 1), allocations=[x], schedule_seed=seed)  # fmt: skip
    return out.view(np.float32).reshape(8, BOX)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("mask", ["0xFEFFFFFF", "0xFEFFFFF0"])
def test_the_leader_of_a_pair_hears_of_both(seed, mask):
    """Clearing bit 24 of an address names the even CTA: both announce and load there, it tells the other."""
    x = rng.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    body = f"""and.b32 %a, %bar, {mask};
@%first mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%a], {BYTES};
@%first {LOAD}
setp.ne.u32 %leader, %rank, 0; @%leader bra TOLD;
{wait("WAIT", "%bar", 0)}
TOLD: {CLUSTER}
{COPY_OUT}"""
    np.testing.assert_array_equal(pair(body, 2, seed, x), x[:8, 64:96])


def test_an_mbarrier_of_another_pair():
    x = np.zeros((ROWS, COLUMNS), np.float32)
    tensor_map = tile.sim.tensor_map(x.ctypes.data, "f32", (COLUMNS, ROWS), (COLUMNS * 4,), (BOX, 4))  # fmt: skip
    body = f"{CLUSTER} setp.eq.u32 %p0, %rank, 0; mov.b32 %x5, 2; mapa.shared::cluster.u32 %a, %bar, %x5; @!%first bra NONE; @%p0 {LOAD} NONE: {CLUSTER}"
    with pytest.raises(tile.sim.SimulationError, match="not in the pair of rank 0"):
        tile.sim.launch(kernel(body), "op", 4, 32, [tensor_map, np.zeros(5, np.int32), x], cluster=(4, 1, 1), allocations=[x])  # fmt: skip


def test_addresses_that_name_the_own_cta():
    """What %s and mapa of the own rank give is one place; getctarank and isspacep know it."""
    body = f"""{CLUSTER} st.shared.b32 [%s], %rank; mapa.shared::cluster.u32 %a, %s, %rank; ld.shared::cluster.b32 %v0, [%a]; ld.shared.b32 %v1, [%a]; and.b32 %v2, %s, 0xffffff; ld.shared.b32 %v2, [%v2];
getctarank.shared::cluster.u32 %v3, %a; cvt.u64.u32 %rows, %s; cvta.shared.u64 %rows, %rows; isspacep.shared %p0, %rows; selp.b32 %v4, 1, 0, %p0; ld.b32 %v5, [%rows];
mad.wide.u32 %out, %rank, 32, %out; st.global.v4.b32 [%out], {{%v0, %v1, %v2, %v3}}; st.global.v2.b32 [%out+16], {{%v4, %v5}}; {CLUSTER}"""
    out = np.zeros((2, 8), np.uint32)
    tile.sim.launch(kernel(f"setp.ne.u32 %p1, %thread, 0; {body}"), "op", 2, 1, [bytes(128), np.zeros(5, np.int32), out], cluster=(2, 1, 1))  # fmt: skip
    assert [list(row[:6]) for row in out] == [[0, 0, 0, 0, 1, 0], [1, 1, 1, 1, 1, 1]]
