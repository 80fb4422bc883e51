# ruff: noqa: E501  (PTX text reads better unbroken)
"""Allocation of tensor memory: who may, how much, in which order, and what must be free at the end."""

from __future__ import annotations

import numpy as np
import pytest

import tile.sim
from tile.errors import TileError


def kernel(body, target="sm_100a"):
    """%w: the warp; where: two words in shared memory."""
    return f""".version 8.8
.target {target}
.address_size 64
.visible .entry op(.param .u64 out)
{{
.shared .align 8 .b32 where[8]; .reg .b32 %w, %thread, %a, %b, %t, %u, %r<8>; .reg .b64 %p; .reg .pred %first, %second, %p<4>;
mov.u32 %thread, %tid.x; shr.u32 %w, %thread, 5; setp.eq.u32 %first, %w, 0; setp.eq.u32 %second, %w, 1; mov.u32 %a, where; add.u32 %b, %a, 4; ld.param.u64 %p, [out];
{body}
ret;
}}
"""


def alloc(n, at="%a", group=1):
    return f"tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [{at}], {n};"


def free(t, n, group=1):
    return f"tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 {t}, {n};"


def relinquish(group=1):
    return f"tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned;"


def branch(body, name, condition="%first"):
    return f"@!{condition} bra {name}; {body} {name}:"


def run(body, warps=2, grid=1, **options):
    out = np.zeros(64, np.uint32)
    report = tile.sim.launch(kernel(body), "op", grid, 32 * warps, [out], **options)
    return out, report


READ = "bar.sync 0; ld.shared.b32 %t, [where];"


def test_addresses_follow_each_other():
    body = branch(
        f"{alloc(256)} {alloc(128, '%b')} ld.shared.b32 %t, [where]; ld.shared.b32 %u, [where+4]; st.global.v2.b32 [%p], {{%t, %u}}; {free('%t', 256)} {alloc(128)} ld.shared.b32 %t, [where]; st.global.b32 [%p+8], %t; {free('%u', 128)} {free('%t', 128)} {relinquish()}",
        "END",
    )
    out, _ = run(body)
    assert list(out[:3]) == [0, 256, 0]


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4])
def test_a_warp_waits_for_columns(seed):
    """The second warp's allocation comes when the first one's has gone."""
    body = (
        branch(alloc(512), "ONE")
        + READ
        + branch(free("%t", 512), "TWO")
        + branch(
            f"{alloc(512, '%b')} ld.shared.b32 %u, [where+4]; {free('%u', 512)}", "END", "%second"
        )
    )
    run(body, schedule_seed=seed)


def test_nobody_gives_columns_back():
    body = branch(f"{alloc(512)} {alloc(32, '%b')}", "END")
    with pytest.raises(tile.sim.SimulationError, match=r"tcgen05.alloc for 32 columns") as caught:
        run(body)
    assert "0 are free" in str(caught.value)


ONE = f"{alloc(64)} ld.shared.b32 %t, [where];"


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        (f"{alloc(32)} {alloc(64, '%b')} ld.shared.b32 %t, [where]; ld.shared.b32 %u, [where+4]; {free('%t', 32)} {free('%u', 64)}",
         f"{alloc(64)} {alloc(32, '%b')} ld.shared.b32 %t, [where]; ld.shared.b32 %u, [where+4]; {free('%t', 64)} {free('%u', 32)}", "must not grow"),
        (f"{ONE}", f"{ONE} {free('%t', 64)}", "tensor-memory-leak"),
        (f"{ONE} {free('%t', 32)}", f"{ONE} {free('%t', 64)}", "has 64 columns, not 32"),
        (f"{ONE} add.u32 %t, %t, 32; {free('%t', 64)}", f"{ONE} add.u32 %t, %t, 0; {free('%t', 64)}", "no allocation begins at"),
        (f"{ONE} {free('%t', 64)} {free('%t', 64)}", f"{ONE} {free('%t', 64)}", "no allocation begins at"),
        (f"{relinquish()} {ONE} {free('%t', 64)}", f"{ONE} {free('%t', 64)} {relinquish()}", "permit"),
        (f"mov.b32 %r0, 48; {alloc('%r0')}", f"mov.b32 %r0, 64; {alloc('%r0')} ld.shared.b32 %t, [where]; {free('%t', '%r0')}", "power of two"),
        (f"add.u32 %r0, %thread, 64; {alloc('%r0')}", f"mov.b32 %r0, 64; {alloc('%r0')} ld.shared.b32 %t, [where]; {free('%t', 64)}", "different numbers"),
        (f"add.u32 %a, %a, 2; {alloc(64)}", f"add.u32 %a, %a, 0; {ONE} {free('%t', 64)}", "misaligned"),
        (f"setp.eq.u32 %p1, %thread, 0; @%p1 {alloc(64)}", f"setp.eq.u32 %p1, %thread, %thread; @%p1 {alloc(64)} ld.shared.b32 %t, [where]; {free('%t', 64)}", "missing-lanes"),
        (f"{ONE} tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {{%thread}}; {free('%t', 64)}",
         f"{ONE} tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {{%thread}}; tcgen05.wait::st.sync.aligned; {free('%t', 64)}", "tcgen05.wait::st is missing"),
        (f"{ONE} tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r0}}, [%t]; tcgen05.wait::ld.sync.aligned; {free('%t', 64)}",
         f"{ONE} tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {{%thread}}; tcgen05.wait::st.sync.aligned; tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r0}}, [%t]; tcgen05.wait::ld.sync.aligned; {free('%t', 64)}", "nobody has written"),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%thread];", f"{ONE} {free('%t', 64)}", "out-of-bounds|divergent"),
    ],
)  # fmt: skip
def test_rules(wrong, right, message):
    run(branch(right, "END"))
    with pytest.raises(tile.sim.SimulationError, match=message):
        run(branch(wrong, "END"))


def test_columns_are_new_again():
    """What one allocation held is nothing to the next."""
    store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {%thread}; tcgen05.wait::st.sync.aligned;"
    load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%t]; tcgen05.wait::ld.sync.aligned;"
    again = f"{ONE} {store} {free('%t', 64)} {ONE}"
    run(branch(f"{again} {store} {load} {free('%t', 64)}", "END"))
    with pytest.raises(tile.sim.SimulationError, match="nobody has written"):
        run(branch(f"{again} {load} {free('%t', 64)}", "END"))


def test_other_warps_need_a_barrier():
    use = f"bar.sync 1; {branch(free('%t', 64), 'END')}"
    run(f"{branch(alloc(64), 'ONE')} bar.sync 0; ld.shared.b32 %t, [where]; {use}")
    with pytest.raises(tile.sim.SimulationError, match="race"):
        run(f"{branch(alloc(64), 'ONE')} ld.shared.b32 %t, [where]; {use}")


def test_a_free_needs_the_others_to_be_done():
    store = "shl.b32 %r0, %w, 21; add.u32 %u, %t, %r0; tcgen05.st.sync.aligned.32x32b.x1.b32 [%u], {%thread}; tcgen05.wait::st.sync.aligned;"
    begin, end = f"{branch(alloc(64), 'ONE')} {READ} {store}", branch(free("%t", 64), "END")
    run(f"{begin} bar.sync 0; {end}")
    with pytest.raises(tile.sim.SimulationError, match="race"):
        run(f"{begin} {end}")


# ---- Pairs ----------------------------------------------------------------------------------------------------

CLUSTER = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_pairs_allocate_together(seed):
    body = f"""{branch(alloc(128, group=2) + alloc(64, "%b", 2) + relinquish(2), "ONE")}
bar.sync 0; ld.shared.b32 %t, [where]; ld.shared.b32 %u, [where+4]; mov.u32 %r0, %ctaid.x; mad.wide.u32 %p, %r0, 8, %p; st.global.v2.b32 [%p], {{%t, %u}};
{CLUSTER} {branch(free("%u", 64, 2) + free("%t", 128, 2), "END")}"""
    out, _ = run(body, grid=4, cluster=(4, 1, 1), schedule_seed=seed)
    assert list(out[:8]) == [0, 128] * 4


@pytest.mark.parametrize(
    ("body", "options", "message"),
    [
        (branch(alloc(64, group=2), "ONE"), {}, "needs a pair of CTAs"),
        (f"mov.u32 %r0, %cluster_ctarank; shl.b32 %r1, 64, %r0; {branch(alloc('%r1', group=2), 'ONE')}", {"grid": 2, "cluster": (2, 1, 1)}, "different numbers of columns"),
        (f"mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p0, %r0, 1; @%p0 bra END; {branch(alloc(64, group=2), 'ONE')} END: {CLUSTER}", {"grid": 2, "cluster": (2, 1, 1)}, "deadlock"),
        (f"mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p0, %r0, 1; @%p0 bra END; {branch(alloc(64, group=2), 'ONE')} END:", {"grid": 2, "cluster": (2, 1, 1)}, "deadlock|has exited"),
    ],
)  # fmt: skip
def test_pairs_that_do_not_meet(body, options, message):
    with pytest.raises(tile.sim.SimulationError, match=message):
        run(body, **options)


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        (alloc(64), "sm_120a", "needs .target sm_100a, sm_100f"),
        (alloc(64), "sm_100", "needs .target sm_100a, sm_100f"),
        (alloc(48), "sm_100a", "must be a multiple of 32"),
        (alloc(96), "sm_100f", "must be a power of two"),
        (alloc(1024), "sm_103a", "out of the range from 32 to 512"),
        (alloc(64) + free("%t", 64, 2), "sm_100a", r"both \.cta_group::1 and \.cta_group::2"),
        (alloc(64).replace(".sync", ""), "sm_100a", "needs .sync.aligned"),
        (alloc(64).replace(".cta_group::1", ""), "sm_100a", "needs .cta_group"),
        ("tcgen05.frobnicate;", "sm_100a", "unknown operation"),
    ],
)
def test_refused(text, target, message):
    with pytest.raises(TileError, match=message):
        tile.sim.launch(kernel(text, target), "op", 1, 32, [np.zeros(64, np.uint32)])
