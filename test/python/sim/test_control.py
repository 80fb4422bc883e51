# ruff: noqa: E501  (PTX text reads better unbroken)
"""Branches, indexed branches, calls, exits and special registers, against what plain Python computes."""

from __future__ import annotations

import numpy as np
import pytest
from ptxlib import HEADER

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(17)


def entry(body, params=".param .u64 p0, .param .u64 p1", head=""):
    return f"""{HEADER}{head}
.visible .entry op({params})
{{
  .reg .b32 %r<20>; .reg .b64 %q<10>; .reg .pred %p<8>; .reg .f32 %f<4>;
  mov.u32 %r0, %tid.x; ld.param.u64 %q0, [p0]; mad.wide.u32 %q0, %r0, 4, %q0; ld.param.u64 %q1, [p1]; mad.wide.u32 %q1, %r0, 4, %q1;
{body}
  ret;
}}
"""


def run(body, source, head="", **options):
    out = np.zeros(len(source), np.uint32)
    options.setdefault("max_instructions", 1_000_000)
    report = tile.sim.launch(entry(body, head=head), "op", 1, len(source), [source, out], **options)
    return out, report


def test_indexed_branch():
    source = rng.integers(0, 4, 64).astype(np.uint32)
    body = """
  ld.global.u32 %r1, [%q0]; mov.u32 %r2, 5;
  TARGETS: .branchtargets A, B, C, D;
  brx.idx %r1, TARGETS;
  A: add.u32 %r2, %r2, 10;
  B: mul.lo.u32 %r2, %r2, 3; bra END;
  C: xor.b32 %r2, %r2, 255; bra END;
  D: mov.u32 %r2, %r0;
  END: st.global.u32 [%q1], %r2;"""
    out, _ = run(body, source)
    want = np.choose(source, [45, 15, 250, np.arange(64)])
    assert (out == want).all()
    with pytest.raises(tile.sim.SimulationError, match="branch index 4 is beyond the 4 targets"):
        run(body, np.full(64, 4, np.uint32))


def test_nested_divergent_loops():
    """How often each lane goes round depends on its data, in two loops with an early way out."""
    source = rng.integers(0, 60, 96).astype(np.uint32)
    out, report = run(
        """
  ld.global.u32 %r1, [%q0]; mov.u32 %r2, 0; mov.u32 %r3, 0;
  OUTER: setp.ge.u32 %p1, %r3, %r1; @%p1 bra DONE;
    mov.u32 %r4, 0;
    INNER: add.u32 %r4, %r4, 1; xor.b32 %r5, %r4, %r3; and.b32 %r5, %r5, 7; setp.eq.u32 %p2, %r5, 5; @%p2 bra NEXT;
    add.u32 %r2, %r2, %r5; setp.lt.u32 %p3, %r4, 9; @%p3 bra INNER;
    add.u32 %r2, %r2, 1000;
    NEXT: add.u32 %r3, %r3, 1; setp.gt.u32 %p4, %r2, 9000; @%p4 bra EARLY; bra OUTER;
  EARLY: add.u32 %r2, %r2, 1;
  DONE: st.global.u32 [%q1], %r2;""",
        source,
    )

    def lane(count):
        total = step = 0
        while step < count:
            inner = 0
            while True:
                inner += 1
                value = (inner ^ step) & 7
                if value == 5:
                    break
                total += value
                if inner >= 9:
                    total += 1000
                    break
            step += 1
            if total > 9000:
                return total + 1
        return total

    assert out.tolist() == [lane(int(c)) for c in source]
    assert report.counters["divergent_branches"] > 0


def test_guards_on_exits_and_returns():
    source = np.arange(64, dtype=np.uint32)
    out, _ = run(
        """
  setp.lt.u32 %p1, %r0, 8; @%p1 exit; setp.gt.u32 %p2, %r0, 50; @%p2 ret;
  setp.eq.u32 %p3, %r0, 20; @!%p3 st.global.u32 [%q1], %r0;""",
        source,
    )
    want = np.where((source < 8) | (source > 50) | (source == 20), 0, source)
    assert (out == want).all()


FUNCTIONS = """
.func (.param .b32 result) scaled(.param .b32 value, .param .b32 by)
{
  .reg .b32 %a<4>; ld.param.b32 %a0, [value]; ld.param.b32 %a1, [by]; mul.lo.u32 %a2, %a0, %a1; st.param.b32 [result], %a2; ret;
}
.func (.reg .b32 sum) added(.reg .b32 x, .reg .b32 y) { add.u32 sum, x, y; ret; }
.func (.param .align 16 .b8 out[16]) pair(.param .b64 x)
{
  .reg .b64 %d<3>; ld.param.b64 %d0, [x]; add.u64 %d1, %d0, 1; add.u64 %d2, %d0, 2; st.param.v2.b64 [out], {%d1, %d2}; ret;
}
.func (.param .b32 f) factorial(.param .b32 n)
{
  .reg .b32 %a<4>; .reg .pred %c; ld.param.b32 %a0, [n]; setp.le.u32 %c, %a0, 1; mov.b32 %a2, 1; @%c bra OUT;
  sub.u32 %a1, %a0, 1;
  { .param .b32 arg; .param .b32 ret0; st.param.b32 [arg], %a1; call.uni (ret0), factorial, (arg); ld.param.b32 %a2, [ret0]; }
  mul.lo.u32 %a2, %a2, %a0;
  OUT: st.param.b32 [f], %a2; ret;
}
.func (.param .b32 result) other(.param .b32 value, .param .b32 by);
.global .u64 table[2] = {scaled, other};
.func (.param .b32 result) other(.param .b32 value, .param .b32 by)
{
  .reg .b32 %a<4>; ld.param.b32 %a0, [value]; ld.param.b32 %a1, [by]; sub.u32 %a2, %a0, %a1; st.param.b32 [result], %a2; ret;
}
"""


def test_calls():
    source = rng.integers(1, 10, 64).astype(np.uint32)
    out, _ = run(
        """
  ld.global.u32 %r1, [%q0];
  { .param .b32 a; .param .b32 b; .param .b32 r; st.param.b32 [a], %r1; st.param.b32 [b], %r0; call.uni (r), scaled, (a, b); ld.param.b32 %r2, [r]; }
  call (%r3), added, (%r2, 7);
  { .param .b64 x; .param .align 16 .b8 r[16]; cvt.u64.u32 %q2, %r3; st.param.b64 [x], %q2; call.uni (r), pair, (x); ld.param.v2.b64 {%q3, %q4}, [r]; }
  add.u64 %q5, %q3, %q4; cvt.u32.u64 %r4, %q5;
  setp.lt.u32 %p1, %r0, 40; @!%p1 bra REST;
  { .param .b32 n; .param .b32 f; st.param.b32 [n], %r1; call (f), factorial, (n); ld.param.b32 %r5, [f]; }
  add.u32 %r4, %r4, %r5;
  REST: st.global.u32 [%q1], %r4;""",
        source,
        FUNCTIONS,
    )
    from math import factorial

    want = [
        2 * (int(v) * i + 7) + 3 + (factorial(int(v)) if i < 40 else 0)
        for i, v in enumerate(source)
    ]
    assert out.tolist() == want


def test_indirect_calls_that_diverge():
    source = rng.integers(0, 2, 64).astype(np.uint32)
    out, _ = run(
        """
  ld.global.u32 %r1, [%q0]; mov.u64 %q2, table; mad.wide.u32 %q2, %r1, 8, %q2; ld.global.u64 %q3, [%q2];
  { .param .b32 a; .param .b32 b; .param .b32 r; st.param.b32 [a], %r0; st.param.b32 [b], 3;
    SHAPE: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
    call (r), %q3, (a, b), SHAPE; ld.param.b32 %r2, [r]; }
  st.global.u32 [%q1], %r2;""",
        source,
        FUNCTIONS,
    )
    lanes = np.arange(64, dtype=np.uint32)
    assert (out == np.where(source == 0, lanes * 3, lanes - 3)).all()


def test_bad_calls():
    for body, message in [
        ("call nowhere, ();", "nowhere"),
        ("call (%r1), added, (%r2);", "takes 2 arguments and returns 1"),
        ("call added, (%r2, %r3);", "takes 2 arguments and returns 1"),
        ("bra.uni NOWHERE;", "unknown label 'NOWHERE'"),
        ("brx.idx %r1, NOWHERE;", "NOWHERE"),
    ]:
        with pytest.raises(TileError, match=message):
            tile.sim.load(entry(body, head=FUNCTIONS))
    # A pointer that leads nowhere is found when it is followed.
    with pytest.raises(tile.sim.SimulationError, match="function"):
        run("mov.u64 %q2, 5; P: .callprototype _ (); call %q2, (), P;", np.zeros(32, np.uint32))
    with pytest.raises(tile.sim.SimulationError, match="more than 1000 nested calls"):
        run("call forever;", np.zeros(32, np.uint32), ".func forever() { call forever; ret; }\n")


def special(names, grid, block, cluster=(1, 1, 1), dynamic_shared=0):
    """The values of some special registers in every thread, by CTA and thread."""
    names = names.split()
    reads = "".join(f"mov.u32 %r1, {n}; st.global.u32 [%q0+{4 * i}], %r1;" for i, n in enumerate(names))  # fmt: skip
    ptx = f"""{HEADER}
.visible .entry op(.param .u64 p0)
{{
  .reg .b32 %r<20>; .reg .b64 %q<4>;
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %ctaid.z; mov.u32 %r5, %nctaid.x; mov.u32 %r6, %nctaid.y;
  mad.lo.u32 %r4, %r4, %r6, %r3; mad.lo.u32 %r4, %r4, %r5, %r2;
  mov.u32 %r7, %tid.x; mov.u32 %r8, %tid.y; mov.u32 %r9, %tid.z; mov.u32 %r10, %ntid.x; mov.u32 %r11, %ntid.y; mov.u32 %r12, %ntid.z;
  mad.lo.u32 %r9, %r9, %r11, %r8; mad.lo.u32 %r9, %r9, %r10, %r7;
  mul.lo.u32 %r13, %r10, %r11; mul.lo.u32 %r13, %r13, %r12; mad.lo.u32 %r13, %r4, %r13, %r9;
  ld.param.u64 %q0, [p0]; mad.wide.u32 %q0, %r13, {4 * len(names)}, %q0; {reads} ret;
}}
"""
    ctas, threads = np.prod(grid), np.prod(block)
    out = np.zeros((ctas, threads, len(names)), np.uint32)
    tile.sim.launch(ptx, "op", grid, block, [out], cluster=cluster, dynamic_shared=dynamic_shared)
    return {n: out[:, :, i] for i, n in enumerate(names)}


def test_special_registers_of_the_thread():
    block = (5, 3, 4)
    got = special("%tid.x %tid.y %tid.z %ntid.x %ntid.y %ntid.z %laneid %warpid %lanemask_eq %lanemask_lt %lanemask_le %lanemask_gt %lanemask_ge WARP_SZ", (2,), block)  # fmt: skip
    z, y, x = np.unravel_index(np.arange(60), block[::-1])
    lane = np.arange(60) % 32
    eq = 1 << lane.astype(np.uint64)
    want = {
        "%tid.x": x, "%tid.y": y, "%tid.z": z, "%ntid.x": 5, "%ntid.y": 3, "%ntid.z": 4, "%laneid": lane, "%warpid": np.arange(60) // 32,
        "%lanemask_eq": eq, "%lanemask_lt": eq - 1, "%lanemask_le": 2 * eq - 1, "%lanemask_ge": (1 << 32) - eq, "%lanemask_gt": (1 << 32) - 2 * eq, "WARP_SZ": 32,
    }  # fmt: skip
    for name, values in want.items():
        assert (got[name] == values).all(), name


def test_special_registers_of_grid_and_cluster():
    grid, cluster = (4, 6, 2), (2, 3, 1)
    names = "%ctaid.x %ctaid.y %ctaid.z %nctaid.x %nctaid.y %nctaid.z %clusterid.x %clusterid.y %clusterid.z %nclusterid.x %nclusterid.y %nclusterid.z %cluster_ctaid.x %cluster_ctaid.y %cluster_ctaid.z %cluster_nctaid.x %cluster_nctaid.y %cluster_nctaid.z %cluster_ctarank %cluster_nctarank %dynamic_smem_size"
    got = special(names, grid, (1,), cluster, dynamic_shared=640)
    z, y, x = np.unravel_index(np.arange(48), grid[::-1])
    place = [x, y, z]
    for i, axis in enumerate("xyz"):
        assert (got[f"%ctaid.{axis}"][:, 0] == place[i]).all()
        assert (got[f"%nctaid.{axis}"] == grid[i]).all()
        assert (got[f"%clusterid.{axis}"][:, 0] == place[i] // cluster[i]).all()
        assert (got[f"%nclusterid.{axis}"] == grid[i] // cluster[i]).all()
        assert (got[f"%cluster_ctaid.{axis}"][:, 0] == place[i] % cluster[i]).all()
        assert (got[f"%cluster_nctaid.{axis}"] == cluster[i]).all()
    assert (got["%cluster_ctarank"][:, 0] == x % 2 + 2 * (y % 3)).all()
    assert (got["%cluster_nctarank"] == 6).all() and (got["%dynamic_smem_size"] == 640).all()


def test_clocks_go_forward():
    out, _ = run(
        """
  mov.u64 %q2, %clock64; mov.u32 %r1, %clock; mov.u64 %q3, %globaltimer; nanosleep.u32 20;
  mov.u64 %q4, %clock64; mov.u32 %r2, %clock; mov.u64 %q5, %globaltimer;
  setp.lt.u64 %p1, %q2, %q4; setp.lt.and.u32 %p1, %r1, %r2, %p1; setp.lt.and.u64 %p1, %q3, %q5, %p1;
  selp.u32 %r3, 1, 0, %p1; st.global.u32 [%q1], %r3;""",
        np.zeros(64, np.uint32),
    )
    assert (out == 1).all()


def test_endless_kernels_end_with_their_place():
    ptx = entry(
        '\n.loc 1 7 3\nL: add.u32 %r1, %r1, 1;\n.loc 1 8 3\nbra L;', head='.file 1 "spin.py"\n'
    )  # fmt: skip
    arrays = [np.zeros(64, np.uint32)] * 2
    for threads in (1, 2):
        report = tile.sim.launch(ptx, "op", 4, 64, arrays, max_instructions=20_000, threads=threads, raise_on_finding=False)  # fmt: skip
        (finding,) = report.findings
        assert finding["kind"] == "instruction-budget" and finding["place"]["file"] == "spin.py"
        assert finding["place"]["source_line"] in (7, 8)
        assert report.warp_instructions >= 20_000
    # A budget that is enough changes nothing.
    out, _ = run("st.global.u32 [%q1], 1;", np.zeros(64, np.uint32), max_instructions=1000)
    assert (out == 1).all()


def test_traps():
    for text in ("trap;", "brkpt;"):
        with pytest.raises(tile.sim.SimulationError, match="trap"):
            run(f"setp.eq.u32 %p1, %r0, 5; @%p1 {text}", np.zeros(32, np.uint32))
        run(f"setp.eq.u32 %p1, %r0, 99; @%p1 {text}", np.zeros(32, np.uint32))


def test_launches_are_limited_by_what_the_target_has():
    """Clusters came with sm_90, and no block has more threads, or grid more blocks."""
    text = f"{HEADER}.visible .entry op() {{ ret; }}\n"
    older = text.replace("sm_90a", "sm_80")
    tile.sim.launch(text, "op", 16, 1, [], cluster=(16, 1, 1))
    tile.sim.launch(older, "op", 32, 1024, [])
    for ptx, grid, block, cluster, message in [
        (text, 32, 1, (32, 1, 1), "more than 16 CTAs"),
        (older, 2, 1, (2, 1, 1), "the target has no clusters"),
        (older, 1, (1024, 2), (1, 1, 1), "more than 1024 threads"),
        (older, (1, 65536), 1, (1, 1, 1), "at most 65535 CTAs in dimension 1"),
    ]:
        with pytest.raises(TileError, match=message):
            tile.sim.launch(ptx, "op", grid, block, [], cluster=cluster)
