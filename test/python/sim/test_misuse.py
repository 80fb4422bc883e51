# ruff: noqa: E501  (PTX text reads better unbroken)
"""Rules of warps, warp groups and clusters: a kernel that breaks each, and one that keeps it."""

from __future__ import annotations

import numpy as np
import pytest
from test_async import INIT, SYNC, WAIT, kinds, run
from test_wgmma import launch_f16

import tile.sim


def finds(text, kind, message, grid=1, block=32, **options):
    report = run(text, grid, block, [], [], raise_on_finding=False, **options)
    assert kinds(report) == {kind}, report.messages
    assert message in report.messages[0]
    finding = report.findings[0]
    assert finding["place"]["line"] > 0 and finding["thread"]["cta"] is not None


def clean(text, grid=1, block=32, **options):
    assert run(text, grid, block, [], [], **options).ok


REMOTE = "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, buffer; st.shared.b32 [buffer], 1;"


def test_shared_memory_of_a_cta_that_has_left():
    text = (
        REMOTE
        + SYNC
        + "setp.eq.u32 %p1, %r1, 1; @%p1 exit; mov.u32 %r5, 0; LOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 9000; @%p2 bra LOOP; mapa.shared::cluster.u32 %r3, %r2, 1; ld.shared::cluster.b32 %r4, [%r3];"
    )
    finds(text, "exited-cta", "which has exited", 2, cluster=2)
    clean(text.replace("@%p1 exit;", "@%p1 bra END;") + "END:" + SYNC, 2, cluster=2)


def test_ranks_beyond_the_cluster():
    text = REMOTE + SYNC + "mapa.shared::cluster.u32 %r3, %r2, RANK; ld.shared::cluster.b32 %r4, [%r3];" + SYNC  # fmt: skip
    finds(text.replace("RANK", "2"), "bad-cluster-rank", "CTA rank 2 is not in the cluster of 2", 2, cluster=2)  # fmt: skip
    clean(text.replace("RANK", "1"), 2, cluster=2)


#: A store, or a sum, in the memory of the CTA that `%r3` names, which waits for it.
ASYNC = (
    INIT
    + """
mov.u32 %r4, buffer; mad.lo.u32 %r4, %r30, 4, %r4; st.shared.b32 [%r4], 0;
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
"""
    + SYNC
    + """
mov.u32 %r2, %cluster_ctarank; {0} mapa.shared::cluster.u32 %r4, %r4, %r3;
mov.u32 %r5, bar; mapa.shared::cluster.u32 %r5, %r5, %r3;
{1}.shared::cluster.mbarrier::complete_tx::bytes{2} [%r4], %r2, [%r5];
"""
)
STORES = [("st.async", ".b32"), ("st.async.weak", ".u32")]
SUMS = [("red.async.relaxed.cluster", f".{op}.u32") for op in ("add", "max", "inc")]


def asynchronous(target, name, kind):
    text = ASYNC
    for i, part in enumerate((target, name, kind)):
        text = text.replace(f"{{{i}}}", part)
    return text + WAIT


OTHER, OWN = "xor.b32 %r3, %r2, 1;", "mov.u32 %r3, %r2;"


@pytest.mark.parametrize(("name", "kind"), STORES + SUMS)
def test_asynchronous_stores_need_a_cluster(name, kind):
    """PTX says so, and an H200 stops there. A single cluster of one CTA is none."""
    what = name[: name.index(".async") + 6]
    text = asynchronous(OWN, name, kind)
    finds(text, "not-remote", f"{what} needs a cluster of two CTAs or more")
    finds(text, "not-remote", f"{what} needs a cluster of two CTAs or more", 2, cluster=1)
    clean(asynchronous(OTHER, name, kind) + SYNC, 2, cluster=2)


@pytest.mark.parametrize(("name", "kind"), STORES)
def test_asynchronous_stores_at_home(name, kind):
    """In a cluster, they may be for the CTA that executes them."""
    clean(asynchronous(OWN, name, kind) + SYNC, 2, cluster=2)


@pytest.mark.parametrize(("name", "kind"), SUMS)
def test_asynchronous_sums_are_for_another_block(name, kind):
    text = asynchronous(OWN, name, kind) + SYNC
    finds(text, "not-remote", "in its own CTA's", 2, cluster=2)


@pytest.mark.parametrize("instruction", [
    "mapa.shared::cluster.u32 %r3, %r2, 0; ld.shared::cluster.b32 %r4, [%r3];",
    "mapa.shared::cluster.u32 %r3, %r2, 0; st.shared::cluster.b32 [%r3], 1;",
    "mapa.shared::cluster.u32 %r3, %r2, 0; red.relaxed.cluster.shared::cluster.add.u32 [%r3], 1;",
    "mov.u32 %r4, bar; mapa.shared::cluster.u32 %r3, %r4, 0; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];",
    "barrier.cluster.arrive; barrier.cluster.wait;",
])  # fmt: skip
def test_what_a_launch_without_a_cluster_may_do(instruction):
    """PTX asks for no cluster there: a block alone is a cluster of one."""
    clean(INIT + SYNC + "mov.u32 %r2, buffer; @%p15 st.shared.b32 [buffer], 1; @!%p15 bra END;" + instruction + "END:")  # fmt: skip


def test_cluster_barrier_out_of_order():
    arrive, wait = "barrier.cluster.arrive;", "barrier.cluster.wait;"
    finds(arrive + arrive, "bad-barrier", "twice without waiting", 2, cluster=2)
    finds(wait, "bad-barrier", "without having arrived", 2, cluster=2)
    clean((arrive + wait) * 3, 2, cluster=2)


def test_a_value_from_a_lane_that_takes_no_part():
    text = "mov.u32 %r1, %laneid; setp.gt.u32 %p1, %r1, 15; @%p1 bra SKIP; shfl.sync.idx.b32 %r2, %r1, FROM, 31, 0xffff; SKIP:"
    finds(text.replace("FROM", "20"), "inactive-lane", "lane 20, which does not take part")
    clean(text.replace("FROM", "3"))


@pytest.mark.parametrize("instruction", [
    "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;", "vote.sync.ballot.b32 %r2, %p2, -1;", "redux.sync.add.u32 %r2, %r1, -1;",
    "match.any.sync.b32 %r2, %r1, -1;", "bar.warp.sync -1;", "elect.sync %r2|%p3, -1;",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r3,%r4,%r5,%r6}, {%r7,%r8}, {%f1,%f2,%f3,%f4};",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r9];", "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r3;",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%r2,%r3,%r4,%r5}, [%r9];",
])  # fmt: skip
def test_warp_wide_instructions_need_their_lanes(instruction):
    text = "mov.u32 %r1, %laneid; mov.u32 %r9, buffer; setp.lt.u32 %p1, %r1, LIMIT; setp.eq.u32 %p2, 0, 0; @%p1 " + instruction  # fmt: skip
    finds(text.replace("LIMIT", "31"), "missing-lanes", "guard is false", check="races")
    clean(text.replace("LIMIT", "32"), check="races")


def test_wgmma_needs_the_whole_group_and_its_fence():
    assert launch_f16().ok
    assert {f["kind"] for f in launch_f16(order="").findings} == {"missing-fence"}
    (finding,) = (f for f in launch_f16(threads=96).findings if f["fatal"])
    assert finding["kind"] == "missing-lanes"
    assert "the CTA has only 3 of the last one" in finding["message"]


def test_threads_that_left_are_waited_for():
    """A count that includes a warp which has exited is never reached."""
    text = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 LEAVE; bar.sync 1, 64; END:"
    report = run(text.replace("LEAVE", "exit"), 1, 64, [], [], raise_on_finding=False)
    assert kinds(report) == {"deadlock"}
    assert "warp 1" in report.messages[0] and "(32 of 64 threads arrived)" in report.messages[0]
    clean(text.replace("@%p1 LEAVE;", ""), block=64)


def test_barrier_counts_that_disagree():
    text = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 64; bra END; A: bar.sync 1, COUNT; END:"
    finds(text.replace("COUNT", "96"), "bad-barrier", "this one names", block=96)
    clean(text.replace("COUNT", "64"), block=64)
    finds("bar.sync 1, 40;", "bad-barrier", "not a positive multiple of 32", block=64)


def test_findings_name_both_accesses_and_their_source_lines():
    text = """
.loc 1 10 1
st.shared.b32 [buffer], %r1;
.loc 1 20 5
SYNC
ld.shared.b32 %r2, [buffer];
"""
    ptx = f""".version 8.8
.target sm_90a
.address_size 64
.file 1 "kernel.py"
.visible .entry op()
{{
.shared .align 16 .b8 buffer[64]; .reg .b32 %r<4>; .reg .pred %p<2>; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra READ;
{text.replace("ld.shared", "READ: SYNC ld.shared")}
ret;
}}
"""
    broken = ptx.replace("SYNC", "")
    report = tile.sim.launch(broken, "op", 1, 64, [], raise_on_finding=False, check="races")
    (finding,) = report.findings
    assert finding["kind"] == "race"
    lines = {finding["place"]["source_line"], finding["other_place"]["source_line"]}
    assert lines == {10, 20}
    assert finding["place"]["file"] == finding["other_place"]["file"] == "kernel.py"
    threads = sorted([finding["thread"]["thread"][0], finding["other_thread"]["thread"][0]])
    assert threads[0] == 0 and threads[1] > 0
    assert all(f'File "kernel.py", line {n}' in report.messages[0] for n in (10, 20))


def test_null_pointers_say_so():
    with pytest.raises(tile.sim.SimulationError, match="null pointer"):
        run("ld.param.u64 %rd1, [in]; ld.global.b32 %r1, [%rd1+8];", 1, 1, [None], [".param .u64 in"])  # fmt: skip
    run("ld.param.u64 %rd1, [in]; setp.ne.u64 %p1, %rd1, 0; @%p1 trap;", 1, 1, [None], [".param .u64 in"])  # fmt: skip
    array = np.zeros(4, np.int32)
    run("ld.param.u64 %rd1, [in]; ld.global.b32 %r1, [%rd1+8];", 1, 1, [array], [".param .u64 in"])
