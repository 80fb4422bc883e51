# ruff: noqa: E501  (PTX text reads better unbroken)
"""What orders accesses and what does not: a planted bug and its correct twin for each."""

from __future__ import annotations

import numpy as np
import pytest
from ptxlib import HEADER
from test_async import INIT, IO, SYNC, WAIT, box_of
from test_async import run as run_async

import tile.sim
from tile.errors import TileError


def run(text, grid=1, block=64, size=64, entry="k", **options):
    """`in` is 0, 1, 2, ...; `out` zeros. %r1: thread, %r2: CTA, %r4: a word of `buffer` for each thread,
    %rd2 and %rd4: a word of `in` and `out` for each thread of the grid."""
    ptx = f"""{HEADER}.visible .entry {entry}(.param .u64 in, .param .u64 out)
{{
.shared .align 128 .b8 buffer[1024]; .reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .pred %p<10>; .reg .b16 %h<4>;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, buffer; mad.lo.u32 %r4, %r1, 4, %r3;
mov.u32 %r5, %ntid.x; mad.lo.u32 %r5, %r2, %r5, %r1; mul.lo.u32 %r6, %r5, 4; cvt.u64.u32 %rd9, %r6;
ld.param.u64 %rd1, [in]; add.u64 %rd2, %rd1, %rd9; ld.param.u64 %rd3, [out]; add.u64 %rd4, %rd3, %rd9;
setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0;
{text}
ret;
}}
"""
    source, out = np.arange(size, dtype=np.int32), np.zeros(size, np.int32)
    options.setdefault("max_instructions", 1_000_000)
    report = tile.sim.launch(
        ptx, entry, grid, block, [source, out], raise_on_finding=False, **options
    )
    return report, out


def kinds(report):
    return {f["kind"] for f in report.findings}


NEIGHBOUR = "xor.b32 %r7, %r1, 1; mad.lo.u32 %r7, %r7, 4, %r3; ld.shared.b32 %r8, [%r7]; st.global.b32 [%rd4], %r8;"
#: Two warps, each with a loop of its own, on one place; what they load first is only a guess.
SWAPS = """
and.b32 %r12, %r1, 31; setp.ne.u32 %p4, %r12, 0; @%p4 bra DONE; setp.ge.u32 %p3, %r1, 32; @%p3 bra SECOND;
ld.global.b32 %r7, [%rd3];
AGAIN: add.u32 %r8, %r7, 1; atom.relaxed.gpu.global.cas.b32 %r9, [%rd3], %r7, %r8; setp.ne.u32 %p7, %r9, %r7; mov.b32 %r7, %r9; @%p7 bra AGAIN; bra DONE;
SECOND: ld.global.b32 %r7, [%rd3];
MORE: sub.u32 %r8, %r7, 1; atom.relaxed.gpu.global.cas.b32 %r9, AT2, %r7, %r8; setp.ne.u32 %p7, %r9, %r7; mov.b32 %r7, %r9; @%p7 bra MORE;
DONE:"""
#: (correct, planted bugs): the kinds of findings of the bugs.
PAIRS = {
    "order within a warp": (
        "st.shared.b32 [%r4], %r1; bar.warp.sync 0xffffffff;" + NEIGHBOUR,
        ["st.shared.b32 [%r4], %r1;" + NEIGHBOUR],
        "race",
    ),
    "a shuffle orders nothing": (
        "st.shared.b32 [%r4], %r1; shfl.sync.idx.b32 %r9, %r1, 0, 31, 0xffffffff; bar.warp.sync 0xffffffff;" + NEIGHBOUR,
        ["st.shared.b32 [%r4], %r1; shfl.sync.idx.b32 %r9, %r1, 0, 31, 0xffffffff;" + NEIGHBOUR],
        "race",
    ),
    "the copy of a neighbouring lane": (
        "cp.async.ca.shared.global [%r4], [%rd2], 4; cp.async.wait_all; bar.warp.sync 0xffffffff;" + NEIGHBOUR,
        ["cp.async.ca.shared.global [%r4], [%rd2], 4; cp.async.wait_all;" + NEIGHBOUR],
        "async-race",
    ),
    "more than two readers": (
        # Four warps read a word; one of them writes it.
        "@%p1 st.shared.b32 [buffer], 7; bar.sync 0; ld.shared.b32 %r7, [buffer]; bar.sync 0; @%p1 st.shared.b32 [buffer], %r1; st.global.b32 [%rd4], %r7;",
        ["@%p1 st.shared.b32 [buffer], 7; bar.sync 0; ld.shared.b32 %r7, [buffer]; setp.ge.u32 %p3, %r1, 96; @%p3 bar.sync 1, 64; @%p1 bar.arrive 1, 64; setp.eq.u32 %p4, %r1, 96; @%p4 st.shared.b32 [buffer], %r1; st.global.b32 [%rd4], %r7;".replace("@%p1 bar.arrive", "setp.lt.u32 %p5, %r1, 32; @%p5 bar.arrive")],
        "race",
    ),
    "a relaxed flag publishes nothing": (
        "@%p1 st.shared.b32 [buffer], 0; bar.sync 0; setp.lt.u32 %p3, %r1, 32; @%p3 bra READ; setp.eq.u32 %p4, %r1, 32; @%p4 st.shared.b32 [buffer+64], 5; @%p4 st.release.cta.shared.b32 [buffer], 1; bra DONE; READ: ld.acquire.cta.shared.b32 %r7, [buffer]; setp.eq.u32 %p5, %r7, 0; @%p5 bra READ; ld.shared.b32 %r8, [buffer+64]; st.global.b32 [%rd4], %r8; DONE:",
        ["@%p1 st.shared.b32 [buffer], 0; bar.sync 0; setp.lt.u32 %p3, %r1, 32; @%p3 bra READ; setp.eq.u32 %p4, %r1, 32; @%p4 st.shared.b32 [buffer+64], 5; @%p4 st.ORDER.shared.b32 [buffer], 1; bra DONE; READ: ld.ORDER.shared.b32 %r7, [buffer]; setp.eq.u32 %p5, %r7, 0; @%p5 bra READ; ld.shared.b32 %r8, [buffer+64]; st.global.b32 [%rd4], %r8; DONE:".replace("ORDER", o) for o in ("relaxed.cta", "volatile")],
        "race",
    ),
    "shared data behind a global flag": (
        "setp.lt.u32 %p3, %r1, 32; @%p3 bra READ; setp.eq.u32 %p4, %r1, 32; @%p4 st.shared.b32 [buffer], 5; @%p4 st.release.gpu.global.b32 [%rd3], 1; bra DONE; READ: ld.acquire.gpu.global.b32 %r7, [%rd3]; setp.eq.u32 %p5, %r7, 0; @%p5 bra READ; ld.shared.b32 %r8, [buffer]; DONE:",
        ["setp.lt.u32 %p3, %r1, 32; @%p3 bra READ; setp.eq.u32 %p4, %r1, 32; @%p4 st.shared.b32 [buffer], 5; @%p4 st.relaxed.gpu.global.b32 [%rd3], 1; bra DONE; READ: ld.acquire.gpu.global.b32 %r7, [%rd3]; setp.eq.u32 %p5, %r7, 0; @%p5 bra READ; ld.shared.b32 %r8, [buffer]; DONE:"],
        "race",
    ),
    "loops of compare and swap": (
        SWAPS.replace("AT2", "[%rd3]"),
        [SWAPS.replace("AT2", "[%rd3+4]"), SWAPS.replace("@%p7 bra MORE", "").replace("atom.relaxed.gpu.global.cas.b32 %r9, AT2, %r7, %r8;", "")],
        "race",
    ),
    "fences beside relaxed accesses": (
        "setp.lt.u32 %p3, %r1, 32; @%p3 bra READ; setp.eq.u32 %p4, %r1, 32; @%p4 st.shared.b32 [buffer], 5; @%p4 fence.acq_rel.gpu; @%p4 st.relaxed.gpu.global.b32 [%rd3], 1; bra DONE; READ: ld.relaxed.gpu.global.b32 %r7, [%rd3]; setp.eq.u32 %p5, %r7, 0; @%p5 bra READ; fence.acq_rel.gpu; ld.shared.b32 %r8, [buffer]; DONE:",
        ["setp.lt.u32 %p3, %r1, 32; @%p3 bra READ; setp.eq.u32 %p4, %r1, 32; @%p4 st.shared.b32 [buffer], 5; @%p4 fence.acq_rel.gpu; @%p4 st.relaxed.gpu.global.b32 [%rd3], 1; bra DONE; READ: ld.relaxed.gpu.global.b32 %r7, [%rd3]; setp.eq.u32 %p5, %r7, 0; @%p5 bra READ; ld.shared.b32 %r8, [buffer]; DONE:"],
        "race",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name):
    right, wrong, kind = PAIRS[name]
    report, _ = run(right, block=128, size=128)
    assert report.ok, report.messages
    for text in wrong:
        report, _ = run(text, block=128, size=128)
        assert kinds(report) == {kind}, (text, report.messages)


FENCES = """
setp.gt.u32 %p3, %r2, 1; @%p3 bra DONE; @!%p2 bra READ;
st.global.u32 [%rd4+256], %r1; fence.KIND.gpu; bar.sync 0; @%p1 st.relaxed.gpu.global.u32 [%rd3], 1; bra DONE;
READ: ld.relaxed.gpu.global.u32 %r7, [%rd3]; setp.eq.u32 %p4, %r7, 0; @%p4 bra READ; fence.KIND.gpu; ld.global.u32 %r8, [%rd4];
DONE:"""
#: Global memory: 8 CTAs of 64 threads unless said otherwise.
GLOBAL = {
    "read, add, write": (
        "@%p1 red.global.add.u32 [%rd3], 1;",
        ["@%p1 ld.global.u32 %r7, [%rd3]; add.u32 %r7, %r7, 1; @%p1 st.global.u32 [%rd3], %r7;"],
    ),
    "overlapping stores of different values": (
        "st.global.u32 [%rd4], %r2; @%p1 st.global.u32 [%rd3], 0;",
        ["@%p1 st.global.u32 [%rd3], %r2;", "add.u64 %rd5, %rd4, 4; setp.lt.u32 %p3, %r5, 511; @%p3 st.global.v2.u32 [%rd4], {%r5, %r2};".replace("v2.u32 [%rd4], {%r5, %r2}", "u32 [%rd5], %r2; st.global.u32 [%rd4], %r1")],
    ),
    "a neighbour's input overwritten": (
        "ld.global.u32 %r7, [%rd2]; st.global.u32 [%rd2], %r5;",
        ["ld.global.u32 %r7, [%rd2]; setp.lt.u32 %p3, %r5, 511; @%p3 ld.global.u32 %r7, [%rd2+4]; st.global.u32 [%rd2], %r5;"],
    ),
    "between warps of a CTA": (
        "st.global.u32 [%rd4], %r5; bar.sync 0; xor.b32 %r7, %r6, 128; cvt.u64.u32 %rd5, %r7; add.u64 %rd5, %rd3, %rd5; ld.global.u32 %r8, [%rd5];",
        ["st.global.u32 [%rd4], %r5; xor.b32 %r7, %r6, 128; cvt.u64.u32 %rd5, %r7; add.u64 %rd5, %rd3, %rd5; ld.global.u32 %r8, [%rd5];"],
    ),
    "an atomic's scope": (
        "@%p1 atom.relaxed.gpu.global.add.u32 %r7, [%rd3], 1;",
        ["@%p1 atom.relaxed.cta.global.add.u32 %r7, [%rd3], 1;"],
    ),
    "a message to another CTA": (
        "setp.gt.u32 %p3, %r2, 1; @%p3 bra DONE; @!%p1 bra DONE; @!%p2 bra READ; st.global.u32 [%rd3+64], 9; st.release.gpu.global.u32 [%rd3], 1; bra DONE; READ: ld.acquire.gpu.global.u32 %r7, [%rd3]; setp.eq.u32 %p4, %r7, 0; @%p4 bra READ; ld.global.u32 %r8, [%rd3+64]; DONE:",
        [
            "setp.gt.u32 %p3, %r2, 1; @%p3 bra DONE; @!%p1 bra DONE; @!%p2 bra READ; st.global.u32 [%rd3+64], 9; st.relaxed.gpu.global.u32 [%rd3], 1; bra DONE; READ: ld.acquire.gpu.global.u32 %r7, [%rd3]; setp.eq.u32 %p4, %r7, 0; @%p4 bra READ; ld.global.u32 %r8, [%rd3+64]; DONE:",
            "setp.gt.u32 %p3, %r2, 1; @%p3 bra DONE; @!%p1 bra DONE; @!%p2 bra READ; st.global.u32 [%rd3+64], 9; st.release.gpu.global.u32 [%rd3], 1; bra DONE; READ: ld.relaxed.gpu.global.u32 %r7, [%rd3]; setp.eq.u32 %p4, %r7, 0; @%p4 bra READ; ld.global.u32 %r8, [%rd3+64]; DONE:",
        ],
    ),
    "a message from a whole CTA": (
        # All threads write; one publishes after the barrier.
        "setp.gt.u32 %p3, %r2, 1; @%p3 bra DONE; @!%p2 bra READ; st.global.u32 [%rd4+256], %r1; bar.sync 0; @%p1 st.release.gpu.global.u32 [%rd3], 1; bra DONE; READ: ld.acquire.gpu.global.u32 %r7, [%rd3]; setp.eq.u32 %p4, %r7, 0; @%p4 bra READ; ld.global.u32 %r8, [%rd4]; DONE:",
        ["setp.gt.u32 %p3, %r2, 1; @%p3 bra DONE; @!%p2 bra READ; st.global.u32 [%rd4+256], %r1; @%p1 st.release.gpu.global.u32 [%rd3], 1; bra DONE; READ: ld.acquire.gpu.global.u32 %r7, [%rd3]; setp.eq.u32 %p4, %r7, 0; @%p4 bra READ; ld.global.u32 %r8, [%rd4]; DONE:"],
    ),
    "fences of all threads before a barrier": (
        # What precedes a fence.sc of any of them goes with the flag; another fence is for its own thread's flag.
        FENCES.replace("KIND", "sc"),
        [FENCES.replace("KIND", "acq_rel"), FENCES.replace("fence.KIND.gpu; bar.sync", "bar.sync").replace("KIND", "sc")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GLOBAL)
def test_global_memory(name):
    right, wrong = GLOBAL[name]
    report, _ = run(right, grid=8, size=512)
    assert report.ok, report.messages
    for text in wrong:
        report, _ = run(text, grid=8, size=512)
        assert kinds(report) == {"race"}, (text, report.messages)
        assert "global memory at" in report.messages[0]
        assert run(text, grid=8, size=512, check="races,uninitialized,async,barriers")[0].ok


def test_a_copy_of_a_value_that_the_writer_read_is_harmless():
    """What compilers do with a tile that is smaller than the CTA: all load, one stores."""
    text = "and.b32 %r7, %r1, 7; mul.lo.u32 %r7, %r7, 4; cvt.u64.u32 %rd5, %r7; add.u64 %rd6, %rd3, %rd5; ld.global.u32 %r8, [%rd6]; add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r1, 8; @%p3 st.global.u32 [%rd6], %r8;"
    assert run(text)[0].ok
    assert kinds(run(text.replace("@%p3 st.global.u32 [%rd6]", "@!%p3 st.global.u32 [%rd6]"))[0]) == {"race"}  # fmt: skip


def test_generic_writes_and_bulk_reads():
    text = (
        INIT
        + """
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mad.wide.u32 %rd3, %r30, 4, %rd1; st.global.b32 [%rd3], %r30; FENCE bar.sync 0;
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
@%p15 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [%rd1], 128, [bar];
"""
        + WAIT
    )
    arrays = [np.zeros(32, np.int32), np.zeros(32, np.int32)]
    for fence, kind in [
        ("fence.proxy.async;", set()),
        ("fence.proxy.async.global;", set()),
        ("fence.proxy.async.shared::cta;", {"missing-proxy-fence"}),
        ("", {"missing-proxy-fence"}),
    ]:
        report = run_async(text.replace("FENCE", fence), 1, 32, arrays, IO, raise_on_finding=False)
        assert kinds(report) == kind, report.messages


CLUSTER = """
mov.u32 %r30, %tid.x; mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r3, buffer; mad.lo.u32 %r3, %r30, 4, %r3; mapa.shared::cluster.u32 %r4, %r3, %r2;
BEFORE st.shared::cluster.b32 [%r4], %r30; AFTER
"""


def test_other_ctas_must_have_started_and_must_not_have_ended():
    for before, after, kind in [
        (SYNC, SYNC, set()),
        ("", SYNC, {"unstarted-cta"}),
        (SYNC, "", {"exited-cta"}),
    ]:
        text = CLUSTER.replace("BEFORE", before).replace("AFTER", after)
        report = run_async(text, 2, 32, [], [], cluster=2, raise_on_finding=False)
        assert kinds(report) == kind, report.messages


def test_tensor_multicast():
    """Both CTAs of a cluster get the box; each waits on its own mbarrier."""
    array = np.arange(32 * 16, dtype=np.float32).reshape(16, 32)
    tensor = tile.sim.tensor_map(array.ctypes.data, "f32", (32, 16), (128,), (16, 8))
    out = np.zeros((2, 8, 16), np.float32)
    text = (
        INIT
        + """INITIALIZED
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
mov.u32 %r1, %cluster_ctarank; setp.eq.and.u32 %p1, %r1, 0, %p15; mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; mov.b16 %h1, 3;
@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [buffer], [%rd1, {16, 4}], [bar], %h1;
"""
        + WAIT
        + """
mov.u32 %r2, buffer; mad.lo.u32 %r2, %r30, 16, %r2; ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r2];
ld.param.u64 %rd2, [out]; mad.wide.u32 %rd2, %r1, 512, %rd2; mad.wide.u32 %rd2, %r30, 16, %rd2; st.global.v4.b32 [%rd2], {%r3, %r4, %r5, %r6};
"""
        + SYNC
    )
    params = [".param .align 64 .b8 map[128]", ".param .u64 out"]
    run_async(text.replace("INITIALIZED", SYNC), 2, 32, [tensor, out], params, cluster=2, allocations=[array])  # fmt: skip
    assert (out == box_of(array, (16, 4), (16, 8))).all()
    report = run_async(text.replace("INITIALIZED", ""), 2, 32, [tensor, out], params, cluster=2, allocations=[array], raise_on_finding=False)  # fmt: skip
    assert not report.ok


def test_a_launch_that_did_not_finish_is_not_ok():
    report, _ = run("st.global.u32 [%rd3], 1;", grid=100000, block=1, max_instructions=1000)
    assert kinds(report) == {"instruction-budget"} and not report.ok
    assert "of 100000 clusters" in report.messages[0] or "did not end within" in report.messages[0]


def test_kernels_are_decoded_when_launched():
    good = ".visible .entry good() { ret; }\n"
    bad = ".visible .entry bad(.param .u64 t) { .reg .f32 %f<5>; .reg .b64 %rd1; tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2}]; ret; }\n"
    assert tile.sim.launch(HEADER + good + bad, "good", 1, 32, []).ok
    with pytest.raises(TileError, match=r"<ptx>:5:.*textures"):
        tile.sim.launch(HEADER + good + bad, "bad", 1, 32, [0])
    with pytest.raises(TileError, match="unknown instruction 'frob'"):
        tile.sim.load(HEADER + good + ".visible .entry bad() { frob; ret; }")


def test_budget_and_its_default(monkeypatch):
    monkeypatch.setenv("TILE_SIM_MAX_INSTRUCTIONS", "1000")
    report, _ = run("LOOP: bra LOOP;", max_instructions=None)
    assert kinds(report) == {"instruction-budget"}
    with pytest.raises(TileError, match="max_instructions must be"):
        run("", max_instructions=-1)
