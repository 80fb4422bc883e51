# ruff: noqa: E501  (PTX text reads better unbroken)
"""A planted bug for each checker, and its fixed twin, which must be clean."""

from __future__ import annotations

import re

import numpy as np
import pytest
from ptxlib import HEADER

import tile
import tile.language as tl
import tile.sim
from tile.errors import TileError


def kernel(
    text, params=".param .u64 in, .param .u64 out", shared=".shared .align 16 .b8 buffer[1024];"
):
    registers = ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<10>; .reg .f32 %f<8>;"
    head = "mov.u32 %r1, %tid.x; mov.u32 %r2, buffer; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; cvt.u64.u32 %rd9, %r3;"
    head += "ld.param.u64 %rd1, [in]; add.u64 %rd2, %rd1, %rd9; ld.param.u64 %rd3, [out]; add.u64 %rd4, %rd3, %rd9;\n"
    return (
        f"{HEADER}.visible .entry k({params})\n{{\n{shared} {registers}\n{head}{text}\nret;\n}}\n"
    )


def run(text, block=64, size=64, grid=1, **options):
    source, out = np.arange(size, dtype=np.int32), np.zeros(size * grid, np.int32)
    options.setdefault("max_instructions", 1_000_000)
    report = tile.sim.launch(
        kernel(text), "k", grid, block, [source, out], raise_on_finding=False, **options
    )
    return report, out


def kinds(report):
    return [f["kind"] for f in report.findings]


LOAD = "ld.global.b32 %r5, [%rd2];"
STORE = "st.global.b32 [%rd4], %r6;"
# Each thread reads what its mirror image wrote.
MIRROR = (
    "sub.u32 %r7, 63, %r1; shl.b32 %r7, %r7, 2; add.u32 %r8, %r2, %r7; ld.shared.b32 %r6, [%r8];"
)


def test_out_of_bounds_names_the_allocation():
    report, _ = run("ld.global.b32 %r6, [%rd2+4]; " + STORE)
    (finding,) = report.findings
    assert finding["kind"] == "out-of-bounds" and finding["fatal"]
    assert "0 bytes past the end of 'in' (256 bytes" in finding["message"]
    assert finding["thread"] == {"cta": [0, 0, 0], "thread": [63, 0, 0]}
    report, _ = run("ld.global.b32 %r6, [%rd2+-64];")
    assert (
        "64 bytes before the start of 'in'" in report.messages[0]
        or "past the end" in report.messages[0]
    )
    assert run("ld.global.b32 %r6, [%rd2]; " + STORE)[0].ok


def test_out_of_bounds_shared_and_local():
    assert (
        "shared memory has 1024 bytes"
        in run("ld.shared.b32 %r6, [%r4+1000];", check="none")[0].messages[0]
    )
    text = ".local .align 4 .b8 mine[16]; mov.u32 %r9, mine; add.u32 %r9, %r9, OFFSET; st.local.b32 [%r9], %r1;"
    assert "the thread has 16 bytes" in run(text.replace("OFFSET", "16"))[0].messages[0]
    assert run(text.replace("OFFSET", "12"))[0].ok


def test_misaligned():
    report, _ = run("ld.global.b32 %r6, [%rd1+2];")
    assert kinds(report) == ["misaligned"]
    report, _ = run("ld.shared.v4.b32 {%r6, %r7, %r8, %r9}, [%r4];")
    assert kinds(report) == ["misaligned"]


def test_read_only():
    source, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    source.flags.writeable = False
    with pytest.raises(tile.sim.SimulationError, match="read-only"):
        tile.sim.launch(kernel("st.global.b32 [%rd2], %r1;"), "k", 1, 64, [source, out])


def test_uninitialized():
    report, _ = run("ld.shared.b32 %r6, [%r4]; " + STORE)
    assert kinds(report) == ["uninitialized"]
    assert run("st.shared.b32 [%r4], %r1; ld.shared.b32 %r6, [%r4]; " + STORE)[0].ok
    assert run("ld.shared.b32 %r6, [%r4]; " + STORE, check="races")[0].ok


def test_race_between_warps():
    text = LOAD + "st.shared.b32 [%r4], %r5;\nSYNC\n" + MIRROR + "\n" + STORE
    report, _ = run(text.replace("SYNC", "bar.warp.sync 0xffffffff;"), check="races")
    assert set(kinds(report)) == {"race"}
    finding = report.findings[-1]
    assert "no barrier" in finding["message"]
    # Both accesses, their threads and their lines.
    assert {finding["place"]["instruction"], finding["other_place"]["instruction"]} == {"ld", "st"}
    assert finding["place"]["line"] != finding["other_place"]["line"]
    assert finding["thread"]["thread"][0] // 32 != finding["other_thread"]["thread"][0] // 32
    report, out = run(text.replace("SYNC", "bar.sync 0;"))
    assert report.ok and (out == np.arange(64)[::-1]).all()


def test_race_after_the_read():
    """The second write comes before the other warp has read: a barrier is missing at the loop's end."""
    step = LOAD + "st.shared.b32 [%r4], %r5; bar.sync 0;" + MIRROR
    report, _ = run(step + step.replace("bar.sync 0;", "") + STORE)
    assert "race" in kinds(report)
    assert run(step + "bar.sync 0;" + step + STORE)[0].ok


def test_race_inside_a_warp():
    mirror = "sub.u32 %r7, 31, %r1; shl.b32 %r7, %r7, 2; add.u32 %r8, %r2, %r7; ld.shared.b32 %r6, [%r8];"
    report, _ = run("st.shared.b32 [%r4], %r1; " + mirror + STORE, block=32)
    assert kinds(report) == ["race"] and "lanes are not synchronized" in report.messages[0]
    assert run("st.shared.b32 [%r4], %r1; bar.warp.sync 0xffffffff;" + mirror + STORE, block=32)[
        0
    ].ok


def test_same_value_and_different_bytes_are_no_race():
    assert run("mov.u32 %r9, 7; st.shared.b32 [buffer], %r9;")[0].ok
    text = "st.shared.b32 [buffer], %r1;"
    assert kinds(run(text)[0]) == ["race"]
    assert run("add.u32 %r9, %r2, %r1; st.shared.b8 [%r9], %r1;")[0].ok


def test_atomics_do_not_race_but_mixing_does():
    zero = "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.b32 [buffer], 0; bar.sync 0;"
    assert run(
        zero + "red.shared.add.u32 [buffer], 1; bar.sync 0; ld.shared.b32 %r6, [buffer]; " + STORE
    )[0].ok
    report, _ = run(zero + "red.shared.add.u32 [buffer], 1; ld.shared.b32 %r6, [buffer]; " + STORE)
    assert "race" in kinds(report)


def test_named_barriers_order_producer_and_consumer():
    text = """
    setp.lt.u32 %p1, %r1, 32; @%p1 bra PRODUCER;
    bar.sync 1, 64; sub.u32 %r7, %r4, 128; ld.shared.b32 %r6, [%r7]; st.global.b32 [%rd4], %r6; bra DONE;
    PRODUCER: mad.lo.u32 %r5, %r1, 3, 1; st.shared.b32 [%r4], %r5; ARRIVE
    DONE:
    """
    report, out = run(text.replace("ARRIVE", "bar.arrive 1, 64;"))
    assert report.ok and (out[32:] == np.arange(32) * 3 + 1).all()
    report, _ = run(text.replace("bar.sync 1, 64;", "").replace("ARRIVE", ""))
    assert set(kinds(report)) <= {"race", "uninitialized"} and kinds(report)


def test_async_copy_without_wait():
    text = (
        LOAD
        + "and.b32 %r10, %r1, 3; mul.lo.u32 %r11, %r1, 4; cvt.u64.u32 %rd5, %r11; add.u64 %rd6, %rd1, %rd5; cp.async.ca.shared.global [%r4], [%rd6], 4; cp.async.commit_group;\nWAIT\nld.shared.b32 %r6, [%r4];\n"
        + STORE
    )
    report, _ = run(text.replace("WAIT", ""))
    assert kinds(report) == ["async-race"]
    assert report.findings[0]["other_place"]["instruction"] == "cp"
    report, _ = run(text.replace("WAIT", "cp.async.wait_group 1;"))
    assert kinds(report) == ["async-race"]
    report, out = run(text.replace("WAIT", "cp.async.wait_group 0;"))
    assert report.ok and (out == np.arange(64)).all()
    assert run(text.replace("WAIT", "cp.async.wait_all;"))[0].ok
    # Another warp's copy needs the barrier as well.
    other = text.replace("ld.shared.b32 %r6, [%r4];", MIRROR)
    assert "async-race" in kinds(run(other.replace("WAIT", "cp.async.wait_all;"))[0])
    assert run(other.replace("WAIT", "cp.async.wait_all; bar.sync 0;"))[0].ok


def test_async_copy_zero_fill_and_overwrite():
    text = (
        "mov.u32 %r10, SIZE; cp.async.ca.shared.global [%r4], [%rd2], 4, %r10; cp.async.wait_all; ld.shared.b32 %r6, [%r4];"
        + STORE
    )
    assert (run(text.replace("SIZE", "0"))[1] == 0).all()
    assert (run(text.replace("SIZE", "2"))[1] == np.arange(64)).all()
    text = "cp.async.ca.shared.global [%r4], [%rd2], 4; WAIT st.shared.b32 [%r4], 5;"
    assert kinds(run(text.replace("WAIT", ""))[0]) == ["async-race"]
    assert run(text.replace("WAIT", "cp.async.wait_all;"))[0].ok


def test_barrier_divergence():
    # Half of the warp goes to another barrier instruction.
    text = "and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra SKIP; bar.sync 0; bra DONE; SKIP: bar.sync 0; DONE:"
    report, _ = run(text)
    assert kinds(report) == ["barrier-divergence"] and "16 of the warp's 32" in report.messages[0]
    assert run(text.replace("bra DONE; SKIP: bar.sync 0; DONE:", "SKIP:"))[
        0
    ].ok  # those have exited
    assert run("setp.lt.u32 %p1, %r1, 32; @%p1 bra SKIP; bar.sync 1, 32; SKIP:")[0].ok


def test_lanes_may_come_late_to_a_barrier():
    """The rest of the warp waits for them, however long they take."""
    late = "mov.u32 %r5, 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra HERE; LOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 100000; @%p2 bra LOOP; HERE: bar.sync 0;"
    assert run(late)[0].ok
    # One lane waits for a flag that another warp sets.
    flag = """
    setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.b32 [buffer], 0; bar.sync 0;
    setp.eq.u32 %p2, %r1, 40; @%p2 st.release.cta.shared.b32 [buffer], 1;
    @!%p1 bra HERE; SPIN: ld.acquire.cta.shared.b32 %r5, [buffer]; setp.eq.u32 %p3, %r5, 0; @%p3 bra SPIN;
    HERE: bar.sync 0;"""
    assert run(flag)[0].ok
    # A guard instead of a branch.
    assert run("setp.eq.u32 %p1, %r1, 5; @!%p1 bar.sync 0; @%p1 bar.sync 0;")[0].findings[0]["kind"] == "barrier-divergence"  # fmt: skip


def test_deadlock_says_who_waits_where():
    text = (
        "setp.lt.u32 %p1, %r1, 32; @%p1 bra SECOND; bar.sync 1; bra END; SECOND: bar.sync 2; END:"
    )
    report, _ = run(text)
    (message,) = report.messages
    assert "deadlock" in message
    assert re.search(r"warp 0 .* barrier 2 \(32 of 64 threads arrived\)", message) and re.search(
        r"warp 1 .* barrier 1", message
    )
    assert run("bar.sync 1;")[0].ok
    # Threads that leave do not hold up the others.
    assert run("setp.lt.u32 %p1, %r1, 32; @%p1 exit; bar.sync 0;")[0].ok


def test_collective_without_its_lanes():
    text = "setp.lt.u32 %p1, %r1, 16; @%p1 bra SKIP; shfl.sync.idx.b32 %r5, %r1, 0, 31, MASK; bra DONE; SKIP: barrier.sync 3; DONE:"
    assert "deadlock" in run(text.replace("MASK", "0xffffffff"), block=32)[0].messages[0]
    ok = "setp.lt.u32 %p1, %r1, 16; @%p1 bra SKIP; shfl.sync.idx.b32 %r5, %r1, 16, 31, 0xffff0000; SKIP:"
    assert run(ok, block=32)[0].ok
    assert kinds(run("shfl.sync.idx.b32 %r5, %r1, 0, 31, 1;", block=32)[0]) == ["bad-member-mask"]


def test_instruction_budget():
    report, _ = run("LOOP: bra LOOP;", max_instructions=5000)
    assert (
        kinds(report) == ["instruction-budget"]
        and report.findings[0]["place"]["instruction"] == "bra"
    )


def test_trap_and_barrier_numbers():
    assert kinds(run("trap;")[0]) == ["trap"]
    assert kinds(run("mov.u32 %r5, 16; bar.sync %r5;")[0]) == ["bad-barrier"]
    assert kinds(run("bar.sync 1, 128;")[0]) == ["bad-barrier"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("frobnicate.u32 %r5, %r1;", r"<ptx>:9:1: error: unknown instruction 'frobnicate'"),
        ("add.u32.weird %r5, %r1, %r1;", r"unknown modifier '.weird'"),
        ("add.u32 %r5, %r1;", r"expected 3 operands, found 2"),
        ("add.u32 %r5, %r1, %nothing;", r"unknown name '%nothing'"),
        ("add.b32 %r5, %p1, %r1;", r"has type .pred"),
        ("bra NOWHERE;", r"unknown label 'NOWHERE'"),
        ("add.f32 %f1, %f1", r"expected ';'"),
        (
            "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 32;",
            r"needs .target sm_100a",
        ),
        (
            "mma.sync.aligned.m16n8k7.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1};",
            r"do not go together",
        ),
        ("ld.global.v4.b32 {%r5, %r6}, [%rd1];", r"expected 4 registers"),
        ("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2}];", r"textures"),
    ],
)
def test_load_errors_name_the_line(text, message):
    with pytest.raises(TileError, match=message):
        tile.sim.load(kernel("\n" + text))


def test_malformed_modules():
    for text, message in [
        ("", "no .version"),
        (".version 8.0\n.target sm_90\n.address_size 32\n", "address_size 64"),
        (HEADER + ".visible .entry k(", "expected .param"),
        (HEADER + ".visible .entry k() { ret;", "before the end"),
        (HEADER + ".visible .entry k() { A: A: ret; }", "defined twice"),
        (HEADER + ".entry k() { .reg .b32 %r<99999999>; }", "too many registers"),
        (HEADER + "/* open", "<ptx>:4:8: error: the file ends in a comment"),
        ("\x00\xff{{{{", None),
    ]:
        with pytest.raises(TileError, match=message):
            tile.sim.load(text)


def test_source_lines():
    text = kernel("\n.loc 1 42 7\nst.global.b32 [%rd4+4096], %r1;").replace(
        ".address_size 64", '.address_size 64\n.file 1 "kernel.py"'
    )
    source = np.zeros(64, np.int32)
    with pytest.raises(tile.sim.SimulationError, match=r'File "kernel.py", line 42') as info:
        tile.sim.launch(text, "k", 1, 64, [source, source.copy()])
    place = info.value.report.findings[0]["place"]
    assert (place["file"], place["source_line"], place["source_column"]) == ("kernel.py", 42, 7)


def test_sums_of_shared_addresses_wrap():
    # A register below zero and an offset that leads back: compilers write this for reversed indices.
    text = f"{LOAD} neg.s32 %r6, %r3; add.s32 %r6, %r6, %r2; st.shared.b32 [%r4], %r5; bar.sync 0; ld.shared.b32 %r7, [%r6+252]; st.global.b32 [%rd4], %r7;"
    report, out = run(text)
    assert report.ok, report.messages
    np.testing.assert_array_equal(out, np.arange(64)[::-1])


@tile.jit
def who_was_last(out):
    tl.store(out, tl.program_id(0))


@pytest.mark.simulator
def test_checks_are_chosen_by_name_for_kernels_of_the_language_too():
    out = np.zeros(1, np.int32)
    for check in ("none", "races,async", ["barriers"]):
        assert who_was_last.simulate(out, grid=(2,), check=check).ok
    for check in ("all", "races,global"):
        with pytest.raises(tile.sim.SimulationError, match="nothing orders the two CTAs"):
            who_was_last.simulate(out, grid=(2,), check=check)
    with pytest.raises(TileError, match="unknown check 'nothing'"):
        who_was_last.simulate(out, grid=(2,), check="nothing")
