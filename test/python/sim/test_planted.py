# ruff: noqa: E501  (PTX text reads better unbroken)
"""Planted bugs and their correct twins, for every check; a test counts them over all files."""

from __future__ import annotations

from pathlib import Path

import blackwell_mistakes
import numpy as np
import pytest
import test_cooperative
import test_handover
import test_hopper_kernels
import test_sharing
import test_tma_programs
import test_warp_specialized
from test_async import INIT, IO, SYNC, WAIT
from test_async import run as run_async
from test_order import GLOBAL, NEIGHBOUR, PAIRS, kinds, run

import tile.sim

DOCUMENT = Path(__file__).parents[3] / "docs" / "simulator.md"
OUT = "st.global.u32 [%rd4], %r7;"
LOCAL = ".local .align 16 .b8 l[16];"
TWO = ".shared .align 4 .b8 one[64]; .shared .align 4 .b8 two[64];"
READER = "setp.ge.u32 %p3, %r1, 32; @%p3 bra WRITE; READ: {0} setp.eq.u32 %p5, %r7, 0; @%p5 bra READ; {1} ld.shared.u32 %r8, [buffer+64]; st.global.u32 [%rd4], %r8; bra DONE; WRITE: setp.eq.u32 %p4, %r1, 32; @%p4 st.shared.u32 [buffer+64], 5; {2} DONE:"
FLAG = "@%p1 st.shared.u32 [buffer], 0; bar.sync 0;" + READER
LD, ST = "ld.acquire.cta.shared.u32 %r7, [buffer];", "@%p4 st.release.cta.shared.u32 [buffer], 1;"
SUM = "{{ .reg .pred %q; WAITING{0}: mbarrier.{1}.parity.shared.b64 %q, [bar], {2}; @!%q bra WAITING{0}; }}"
MBAR = ".shared .align 8 .b64 bar; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;"
#: Half of the threads write and arrive; the others wait and read what their partner wrote.
HALVES = (
    MBAR
    + "setp.ge.u32 %p3, %r1, 32; @%p3 bra TAKE; st.shared.u32 [%r4], %r1; {0} bra DONE; TAKE: {1} sub.u32 %r7, %r4, 128; ld.shared.u32 %r7, [%r7]; st.global.u32 [%rd4], %r7; DONE:"
)
ARRIVE = "mbarrier.arrive.shared.b64 _, [bar];"
MESSAGE = "setp.gt.u32 %p3, %r2, 1; @%p3 bra DONE; @!%p1 bra DONE; @!%p2 bra READ; st.global.u32 [%rd3+64], 9; {0} bra DONE; READ: {1} setp.eq.u32 %p4, %r7, 0; @%p4 bra READ; {2} ld.global.u32 %r8, [%rd3+64]; DONE:"

#: name: (right, planted bugs, kind of the findings); one CTA of 64 threads.
ONE = {
    # Registers.
    "a register without a value, stored": ("mov.u32 %r7, 1;" + OUT, [OUT], "uninitialized"),
    "a register without a value as an address": ("mov.u64 %rd7, %rd2; ld.global.u32 %r7, [%rd7];", ["ld.global.u32 %r7, [%rd7];"], "uninitialized"),
    "a guard without a value": ("setp.eq.u32 %p5, %r1, 3; @%p5 st.global.u32 [%rd4], %r1;", ["@%p5 st.global.u32 [%rd4], %r1;", "@!%p5 st.global.u32 [%rd4], %r1;"], "uninitialized"),
    "a value in one lane only": ("mov.u32 %r7, 0; @%p1 mov.u32 %r7, 5;" + OUT, ["@%p1 mov.u32 %r7, 5;" + OUT], "uninitialized"),
    "a value on one path only": ("mov.u32 %r7, 2; @%p1 bra SKIP; mov.u32 %r7, 1; SKIP:" + OUT, ["@%p1 bra SKIP; mov.u32 %r7, 1; SKIP:" + OUT], "uninitialized"),
    "a sum with nothing": ("mov.u32 %r8, 0; add.u32 %r7, %r8, %r1;" + OUT, ["add.u32 %r7, %r8, %r1;" + OUT], "uninitialized"),
    "a counter that starts nowhere": ("mov.u32 %r7, 0; LOOP: add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 9; @%p3 bra LOOP;", ["LOOP: add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 9; @%p3 bra LOOP;"], "uninitialized"),
    "a choice of nothing": ("setp.lt.u32 %p3, %r1, 64; selp.u32 %r7, %r1, %r8, %p3;" + OUT, ["selp.u32 %r7, %r1, %r8, %p1;" + OUT], "uninitialized"),
    "a pair of nothing": ("mov.u16 %h1, 1; mov.b32 %r7, {%h1, %h2};" + OUT, ["mov.b32 %r7, {%h1, %h2};" + OUT], "uninitialized"),
    "a shuffle of nothing": ("mov.u32 %r8, %r1; shfl.sync.idx.b32 %r7, %r8, 0, 31, -1;" + OUT, ["shfl.sync.idx.b32 %r7, %r8, 0, 31, -1;" + OUT], "uninitialized"),
    "a barrier's number from nowhere": ("mov.u32 %r7, 0; bar.sync %r7;", ["bar.sync %r7;"], "uninitialized"),
    # Local memory.
    "local memory nobody wrote": (LOCAL + "st.local.u32 [l], %r1; ld.local.u32 %r7, [l];" + OUT, [LOCAL + "ld.local.u32 %r7, [l];" + OUT, LOCAL + "st.local.u32 [l], %r1; ld.local.u32 %r7, [l+4];" + OUT, LOCAL + "@%p1 st.local.u32 [l], %r1; ld.local.u32 %r7, [l];" + OUT], "uninitialized"),
    "past local memory": (LOCAL + "st.local.u32 [l+12], %r1;", [LOCAL + "st.local.u32 [l+16], %r1;"], "out-of-bounds"),
    "into the next local variable": (LOCAL + ".local .align 16 .b8 m[16]; st.local.u32 [l+12], %r1; st.local.u32 [m], %r1;", [LOCAL + ".local .align 16 .b8 m[16]; st.local.u32 [l+16], %r1; st.local.u32 [m], %r1;", LOCAL + ".local .align 16 .b8 m[16]; mov.u32 %r7, m; st.local.u32 [l], %r1; ld.local.u32 %r8, [%r7+-4];"], "out-of-bounds"),
    # Shared memory.
    "shared memory nobody wrote": ("st.shared.u32 [%r4], %r1; ld.shared.u32 %r7, [%r4];" + OUT, ["ld.shared.u32 %r7, [%r4];" + OUT], "uninitialized"),
    "shared memory read ahead": ("ld.shared.u32 %r7, [%r4]; setp.lt.u32 %p3, %r1, 64; @%p3 bra SKIP;" + OUT + "SKIP:", ["ld.shared.u32 %r7, [%r4]; setp.lt.u32 %p3, %r1, 63; @%p3 bra SKIP;" + OUT + "SKIP:", "ld.shared.u32 %r7, [%r4]; setp.lt.u32 %p3, %r1, 64; @%p3 bra SKIP; SKIP:" + OUT], "uninitialized"),
    "shared memory loaded to nowhere": ("st.shared.u32 [%r4], %r1; ld.shared.u32 _, [%r4]; ld.shared.u32 %r7, [%r4+512]; setp.lt.u32 %p3, %r1, 64; @%p3 bra SKIP;" + OUT + "SKIP:", ["ld.shared.u32 _, [%r4]; ld.shared.u32 %r7, [%r4+512]; setp.lt.u32 %p3, %r1, 64; @%p3 bra SKIP;" + OUT + "SKIP:"], "uninitialized"),
    "a matrix read ahead": ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [buffer]; setp.lt.u32 %p3, %r1, 64; @%p3 bra SKIP;" + OUT + "SKIP:", ["ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [buffer];" + OUT, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [buffer]; setp.ge.u32 %p3, %r1, 64; @%p3 bra SKIP;" + OUT + "SKIP:"], "uninitialized"),
    "past shared memory": ("st.shared.u32 [buffer+1020], 1;", ["st.shared.u32 [buffer+1024], 1;", "red.shared.add.u32 [buffer+1024], 1;"], "out-of-bounds"),
    "into the next shared variable": (TWO + "@%p1 st.shared.u32 [one+60], 1; @%p1 st.shared.u32 [two], 1;", [TWO + "@%p1 st.shared.u32 [two], 1; @%p1 st.shared.u32 [one+64], 1;", TWO + "@%p1 st.shared.u32 [two], 1; @%p1 ld.shared.u32 %r7, [two+-4];", TWO + "mov.u32 %r7, one; @%p1 st.shared.u32 [two], 1; @%p1 red.shared.add.u32 [%r7+64], 1;"], "out-of-bounds"),
    "a misaligned store": ("st.shared.v2.u32 [buffer+8], {7, 7};", ["st.shared.v2.u32 [buffer+4], {7, 7};"], "misaligned"),
    # Global memory.
    "past an array": ("ld.global.u32 %r7, [%rd2];", ["ld.global.u32 %r7, [%rd2+4];", "ld.global.v2.u32 {%r7, %r8}, [%rd1+252];".replace("252", "256"), "atom.global.add.u32 %r7, [%rd1+256], 1;", "cp.async.ca.shared.global [%r4], [%rd2+4], 4;"], "out-of-bounds"),
    "before an array": ("ld.global.u32 %r7, [%rd2];", ["ld.global.u32 %r7, [%rd2+-4];"], "out-of-bounds"),
    "a misaligned load": ("ld.global.u32 %r7, [%rd2];", ["ld.global.u32 %r7, [%rd1+2];"], "misaligned"),
    "past the parameters": ("ld.param.u32 %r7, [in];", ["ld.param.u32 %r7, [in+16];"], "out-of-bounds"),
    # Barriers.
    "a barrier that does not exist": ("mov.u32 %r7, 15; bar.sync %r7;", ["mov.u32 %r7, 16; bar.sync %r7;"], "bad-barrier"),
    "a count that is no multiple of 32": ("bar.sync 1, 64;", ["bar.sync 1, 40;", "mov.u32 %r7, 0; bar.sync 1, %r7;"], "bad-barrier"),
    "a warp that does not come": ("bar.sync 1, 64;", ["setp.lt.u32 %p3, %r1, 32; @%p3 bar.sync 1, 64;", "setp.lt.u32 %p3, %r1, 32; @%p3 bar.sync 1; @!%p3 bar.sync 2;"], "deadlock"),
    "half a warp": ("bar.sync 0;", ["and.b32 %r7, %r1, 1; setp.eq.u32 %p3, %r7, 0; @%p3 bra A; bar.sync 0; bra DONE; A: bar.sync 0; DONE:"], "barrier-divergence"),
    "a trap": ("setp.gt.u32 %p3, %r1, 64; @%p3 trap;", ["setp.gt.u32 %p3, %r1, 62; @%p3 trap;"], "trap"),
    "an endless loop": ("LOOP: setp.gt.u32 %p3, %r1, 64; @%p3 bra LOOP;", ["LOOP: setp.lt.u32 %p3, %r1, 64; @%p3 bra LOOP;"], "instruction-budget"),
    # Races in shared memory.
    "no barrier after writing": ("st.shared.u32 [%r4], %r1; bar.sync 0; xor.b32 %r7, %r4, 128; ld.shared.u32 %r7, [%r7];" + OUT, ["st.shared.u32 [%r4], %r1; SYNC xor.b32 %r7, %r4, 128; ld.shared.u32 %r7, [%r7];".replace("SYNC", sync) + OUT for sync in ("", "bar.warp.sync -1;", "membar.cta;", "vote.sync.any.pred %p3, %p1, -1;", "bar.sync 1, 32;".replace("1, 32", "%r9, 32").join(["shr.u32 %r9, %r1, 5;", ""]))], "race"),
    "no barrier before writing again": ("st.shared.u32 [%r4], 3; bar.sync 0; xor.b32 %r7, %r4, 128; ld.shared.u32 %r7, [%r7]; bar.sync 0; st.shared.u32 [%r4], %r1;" + OUT, ["st.shared.u32 [%r4], 3; bar.sync 0; xor.b32 %r7, %r4, 128; ld.shared.u32 %r7, [%r7]; st.shared.u32 [%r4], %r1;" + OUT], "race"),
    "a barrier of the wrong lanes": ("st.shared.u32 [%r4], %r1; bar.warp.sync -1;" + NEIGHBOUR, ["st.shared.u32 [%r4], %r1; and.b32 %r9, %r1, 1; setp.eq.u32 %p3, %r9, 0; @%p3 bar.warp.sync 0x55555555; @!%p3 bar.warp.sync 0xaaaaaaaa;" + NEIGHBOUR, "st.shared.u32 [%r4], %r1; redux.sync.add.u32 %r9, %r1, -1;" + NEIGHBOUR, "st.shared.u32 [%r4], %r1; match.any.sync.b32 %r9, %r1, -1;" + NEIGHBOUR], "race"),
    "stores that overlap": ("add.u32 %r7, %r3, %r1; st.shared.u8 [%r7], %r1;", ["shr.u32 %r7, %r1, 1; mad.lo.u32 %r7, %r7, 4, %r3; st.shared.u32 [%r7], %r1;", "and.b32 %r7, %r4, 0xfff8; st.shared.v2.u32 [%r7], {%r1, %r1};".replace("0xfff8", "0xfffffff8")], "race"),
    "atomic here, plain there": ("@%p1 st.shared.u32 [buffer], 0; bar.sync 0; red.shared.add.u32 [buffer], 1; bar.sync 0; ld.shared.u32 %r7, [buffer];" + OUT, ["@%p1 st.shared.u32 [buffer], 0; bar.sync 0; red.shared.add.u32 [buffer], 1; ld.shared.u32 %r7, [buffer];" + OUT, "@%p1 st.shared.u32 [buffer], 0; red.shared.add.u32 [buffer], 1; bar.sync 0; ld.shared.u32 %r7, [buffer];" + OUT], "race"),
    "a matrix of others' words": ("st.shared.u32 [%r4], %r1; bar.warp.sync -1; mad.lo.u32 %r7, %r1, 0, %r3; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r7]; setp.ge.u32 %p3, %r1, 32; @%p3 exit;".replace("st.shared.u32 [%r4], %r1;", "setp.ge.u32 %p3, %r1, 32; @%p3 exit; st.shared.u32 [%r4], %r1;"), ["setp.ge.u32 %p3, %r1, 32; @%p3 exit; st.shared.u32 [%r4], %r1; mad.lo.u32 %r7, %r1, 0, %r3; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r7];"], "race"),
    "a flag and who acquires it": (FLAG.format(LD, "", ST), [FLAG.format(LD.replace("acquire", "relaxed"), "", ST), FLAG.format(LD, "", ST.replace("release", "relaxed")), FLAG.format(LD.replace("acquire.cta", "volatile"), "", ST)], "race"),
    "an atomic flag": (FLAG.format("atom.acquire.cta.shared.or.b32 %r7, [buffer], 0;", "", "@%p4 red.release.cta.shared.or.b32 [buffer], 1;"), [FLAG.format("atom.relaxed.cta.shared.or.b32 %r7, [buffer], 0;", "", "@%p4 red.release.cta.shared.or.b32 [buffer], 1;"), FLAG.format("atom.acquire.cta.shared.or.b32 %r7, [buffer], 0;", "", "@%p4 red.relaxed.cta.shared.or.b32 [buffer], 1;")], "race"),
    "fences on both sides": (FLAG.format(LD.replace("acquire", "relaxed"), "fence.acq_rel.cta;", "fence.acq_rel.cta;" + ST.replace("release", "relaxed")), [FLAG.format(LD.replace("acquire", "relaxed"), "", "fence.acq_rel.cta;" + ST.replace("release", "relaxed")), FLAG.format(LD.replace("acquire", "relaxed"), "fence.acq_rel.cta;", ST.replace("release", "relaxed"))], "race"),
    # cp.async.
    "a copy over a copy": ("cp.async.ca.shared.global [%r4], [%rd2], 4; cp.async.wait_all; bar.sync 0;", ["cp.async.ca.shared.global [buffer], [%rd2], 4; cp.async.wait_all; bar.sync 0;"], "async-race"),
    "a copy that is waited for by others": ("@%p1 cp.async.ca.shared.global [buffer], [%rd2], 4; @%p1 cp.async.wait_all; bar.sync 0; ld.shared.u32 %r7, [buffer];" + OUT, ["@%p1 cp.async.ca.shared.global [buffer], [%rd2], 4; @!%p1 cp.async.wait_all; bar.sync 0; ld.shared.u32 %r7, [buffer];" + OUT, "@%p1 cp.async.ca.shared.global [buffer], [%rd2], 4; bar.sync 0; @%p1 cp.async.wait_all; ld.shared.u32 %r7, [buffer];" + OUT], "async-race"),
    "a copy and a store": ("cp.async.ca.shared.global [%r4], [%rd2], 4; cp.async.wait_all; st.shared.u32 [%r4], 1;", ["cp.async.ca.shared.global [%r4], [%rd2], 4; st.shared.u32 [%r4], 1;", "cp.async.ca.shared.global [%r4], [%rd2], 4; cp.async.commit_group; cp.async.wait_group 1; st.shared.u32 [%r4], 1;", "cp.async.ca.shared.global [%r4], [%rd2], 4; cp.async.wait_group 0; st.shared.u32 [%r4], 1;"], "async-race"),
    "a misaligned copy": ("@%p1 cp.async.ca.shared.global [buffer+8], [%rd1], 8;", ["@%p1 cp.async.ca.shared.global [buffer+4], [%rd1], 8;"], "misaligned"),
    # mbarriers.
    "an mbarrier orders what came before": (HALVES.format(ARRIVE, SUM.format(0, "try_wait", 0)), [HALVES.format(ARRIVE, ""), HALVES.format(ARRIVE, SUM.format(0, "try_wait", 1)), HALVES.format(ARRIVE.replace("arrive", "arrive.relaxed.cta"), SUM.format(0, "try_wait", 0)), HALVES.format(ARRIVE, SUM.format(0, "try_wait.relaxed.cta", 0).replace("try_wait.relaxed.cta.parity", "try_wait.parity.relaxed.cta")), HALVES.format(ARRIVE, "mbarrier.test_wait.parity.shared.b64 %p6, [bar], 0;")], "race"),
    "an mbarrier that is complete": (HALVES.format(ARRIVE, SUM.format(0, "test_wait", 0)), [HALVES.format(ARRIVE, SUM.format(0, "test_wait", 0)).replace("[bar], 32", "[bar], 33"), HALVES.format("", SUM.format(0, "test_wait", 0)), HALVES.format(ARRIVE, SUM.format(0, "test_wait", 0) + SUM.format(1, "test_wait", 1))], "deadlock"),
    "arrivals at an mbarrier": (MBAR + "setp.lt.u32 %p3, %r1, 32; @%p3 mbarrier.arrive.shared.b64 _, [bar];", [MBAR + "@%p1 mbarrier.arrive.shared.b64 _, [bar], 33;", ".shared .align 8 .b64 bar; @%p1 mbarrier.arrive.shared.b64 _, [bar];", MBAR + "@%p1 mbarrier.inval.shared.b64 [bar]; @%p1 mbarrier.arrive.shared.b64 _, [bar];", ".shared .align 8 .b64 bar; @%p1 mbarrier.init.shared.b64 [bar], 0;"], "mbarrier-misuse"),
    "an mbarrier's initialization": (MBAR + ARRIVE.replace("mbarrier", "@%p1 mbarrier"), [MBAR.replace("bar.sync 0;", "") + "setp.eq.u32 %p3, %r1, 40; @%p3 " + ARRIVE, MBAR + "setp.eq.u32 %p3, %r1, 40; @%p3 " + ARRIVE + "@%p1 mbarrier.init.shared.b64 [bar], 1;".replace("@%p1", "bar.warp.sync -1; @%p1")], "race"),
    "a misaligned mbarrier": (MBAR, ["@%p1 mbarrier.init.shared.b64 [buffer+4], 1;"], "misaligned"),
}  # fmt: skip

#: Eight CTAs of 64 threads.
MANY = {
    "a message and its scope": (MESSAGE.format("st.release.gpu.global.u32 [%rd3], 1;", "ld.acquire.gpu.global.u32 %r7, [%rd3];", ""), [MESSAGE.format("st.release.cta.global.u32 [%rd3], 1;", "ld.acquire.gpu.global.u32 %r7, [%rd3];", ""), MESSAGE.format("st.volatile.global.u32 [%rd3], 1;", "ld.volatile.global.u32 %r7, [%rd3];", "")], "race"),
    "a message behind fences": (MESSAGE.format("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd3], 1;", "ld.relaxed.gpu.global.u32 %r7, [%rd3];", "fence.acq_rel.gpu;"), [MESSAGE.format("st.relaxed.gpu.global.u32 [%rd3], 1; fence.acq_rel.gpu;", "ld.relaxed.gpu.global.u32 %r7, [%rd3];", "fence.acq_rel.gpu;"), MESSAGE.format("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd3], 1;", "ld.relaxed.gpu.global.u32 %r7, [%rd3];", "")], "race"),
    "a message by an atomic": (MESSAGE.format("atom.release.gpu.global.add.u32 %r7, [%rd3], 1;", "atom.acquire.gpu.global.add.u32 %r7, [%rd3], 0;", ""), [MESSAGE.format("atom.relaxed.gpu.global.add.u32 %r7, [%rd3], 1;", "atom.acquire.gpu.global.add.u32 %r7, [%rd3], 0;", ""), MESSAGE.format("red.global.add.u32 [%rd3], 1;", "atom.acquire.gpu.global.add.u32 %r7, [%rd3], 0;", "")], "race"),
    "counting": ("@%p1 red.global.add.u32 [%rd3], 1;", ["@%p1 ld.volatile.global.u32 %r7, [%rd3]; add.u32 %r7, %r7, 1; @%p1 st.global.u32 [%rd3], %r7;", "@%p1 st.global.u32 [%rd3], %r2;", "@%p1 red.global.add.u32 [%rd3], 1; ld.global.u32 %r7, [%rd3];"], "race"),
}  # fmt: skip

TAKE = "ld.shared.u32 %r5, [buffer]; ld.param.u64 %rd2, [out]; @%p15 st.global.u32 [%rd2], %r5;"
LOAD = (
    INIT
    + "ld.param.u64 %rd1, [in]; @%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {1};\n@%p15 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer{2}], [%rd1{3}], {0}, [bar];\n"
)
PUT = "mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0; ld.param.u64 %rd2, [out]; mov.u32 %r1, buffer; mad.lo.u32 %r2, %r30, 16, %r1; st.shared.v4.u32 [%r2], {{%r30, %r30, %r30, %r30}}; {0} bar.sync 0; @%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [buffer], 512; {1} {2}"
FENCE, COMMIT, END = "fence.proxy.async;", "@%p15 cp.async.bulk.commit_group;", "@%p15 cp.async.bulk.wait_group 0;"  # fmt: skip
#: Bulk copies, by 32 threads.
BULK = {
    "a bulk load": (LOAD.format(128, 128, "", "") + WAIT + TAKE, [LOAD.format(128, 128, "", "") + TAKE + WAIT], "async-race"),
    "a bulk load's bytes": (LOAD.format(128, 128, "", "") + WAIT + TAKE, [LOAD.format(128, 144, "", "") + WAIT + TAKE, LOAD.format(128, 64, "", "") + WAIT + TAKE, LOAD.format(128, 128, "", "") + WAIT.replace("[bar], 0", "[bar], 1") + TAKE, LOAD.format(128, 128, "", "") + WAIT + WAIT.replace("[bar], 0", "[bar], 1").replace("WAITING", "AGAIN") + TAKE], "deadlock"),
    "where a bulk load may be": (LOAD.format(128, 128, "", "") + WAIT + TAKE, [LOAD.format(120, 120, "", "") + WAIT, LOAD.format(128, 128, "+8", "") + WAIT, LOAD.format(128, 128, "", "+4") + WAIT], "misaligned"),
    "a bulk load past its array": (LOAD.format(512, 512, "", "") + WAIT + TAKE, [LOAD.format(528, 528, "", "") + WAIT, LOAD.format(512, 512, "", "+16") + WAIT, LOAD.format(512, 512, "+16000", "") + WAIT], "out-of-bounds"),
    "a bulk load over words that are read": (INIT + "mov.u32 %r1, buffer; mad.lo.u32 %r2, %r30, 4, %r1; st.shared.u32 [%r2], 1; xor.b32 %r3, %r2, 4; bar.warp.sync -1; ld.shared.u32 %r4, [%r3];" + FENCE + "bar.warp.sync -1;" + LOAD[len(INIT):].format(128, 128, "", "") + WAIT, [INIT + "mov.u32 %r1, buffer; mad.lo.u32 %r2, %r30, 4, %r1; st.shared.u32 [%r2], 1; xor.b32 %r3, %r2, 4; bar.warp.sync -1; ld.shared.u32 %r4, [%r3];" + FENCE + LOAD[len(INIT):].format(128, 128, "", "") + WAIT], "race"),
    "a bulk store's fence": (PUT.format(FENCE, COMMIT, END), [PUT.format("", COMMIT, END), PUT.format("fence.proxy.async.global;", COMMIT, END), PUT.format("membar.cta;", COMMIT, END)], "missing-proxy-fence"),
    "a bulk store's end": (PUT.format(FENCE, COMMIT, END), [PUT.format(FENCE, COMMIT, ""), PUT.format(FENCE, "", END), PUT.format(FENCE, COMMIT, END.replace("group 0", "group 1"))], "async-exit"),
    "a bulk store's source": (PUT.format(FENCE, COMMIT, END) + "bar.sync 0; st.shared.u32 [buffer], 3;", [PUT.format(FENCE, COMMIT, "bar.sync 0; st.shared.u32 [buffer], 3;" + END), PUT.format(FENCE, COMMIT, "bar.sync 0;" + END + "setp.eq.u32 %p1, %r30, 5; @%p1 st.shared.u32 [buffer], 3;")], "async-race"),
    "a bulk store's result": (PUT.format(FENCE, COMMIT, END) + "@%p15 ld.global.u32 %r5, [%rd2];", [PUT.format(FENCE, COMMIT, END.replace("wait_group", "wait_group.read")) + "@%p15 ld.global.u32 %r5, [%rd2];", PUT.format(FENCE, COMMIT, END) + "ld.global.u32 %r5, [%rd2];"], "async-race"),
    "a bulk store of nothing": (PUT.format(FENCE, COMMIT, END), [PUT.replace("st.shared.v4", "@%p15 st.shared.v4").format(FENCE, COMMIT, END)], "uninitialized"),
}  # fmt: skip

FAR = "mov.u32 %r30, %tid.x; mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r3, buffer; mad.lo.u32 %r3, %r30, 4, %r3; st.shared.u32 [%r3], %r1; {0} mapa.shared::cluster.u32 %r4, %r3, %r2; ld.shared::cluster.u32 %r5, [%r4]; {1}"
SIGNAL = INIT + "{0} mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r3, bar; mapa.shared::cluster.u32 %r4, %r3, %r2; {1} @%p15 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4]; {2} {3}"  # fmt: skip
LATER = "setp.eq.u32 %p1, %r1, 1; @%p1 exit; mov.u32 %r5, 0; LOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 9000; @%p2 bra LOOP;"
#: Clusters of two CTAs of 32 threads.
CLUSTERS = {
    "another CTA's memory": (FAR.format(SYNC, SYNC), [FAR.format(SYNC.replace("release", "relaxed"), SYNC), FAR.format("bar.sync 0;" + SYNC.split(";")[0].replace("release", "relaxed") + "; barrier.cluster.wait.acquire.aligned;", SYNC)], "race"),
    "another CTA's start": (FAR.format(SYNC, SYNC), [FAR.format("", SYNC), FAR.format("bar.sync 0;", SYNC)], "unstarted-cta"),
    "another CTA's end": (FAR.format(SYNC, SYNC), [FAR.format(SYNC, "")], "exited-cta"),
    "an arrival at a CTA that has left": (SIGNAL.format(SYNC, "", WAIT, SYNC), [SIGNAL.format(SYNC, LATER, "", "")], "exited-cta"),
    "a rank that is not there": (FAR.format(SYNC, SYNC), [FAR.replace("xor.b32 %r2, %r1, 1", "mov.u32 %r2, 2").format(SYNC, SYNC)], "bad-cluster-rank"),
    "arriving twice": (SYNC + SYNC, ["barrier.cluster.arrive.aligned;" + SYNC], "bad-barrier"),
    "waiting without having arrived": (SYNC, ["barrier.cluster.wait.aligned;"], "bad-barrier"),
    "one CTA does not come": (INIT + "@%p15 " + ARRIVE + WAIT + SYNC, [INIT + "mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0; @%p1 bra HERE;" + WAIT + "HERE: " + SYNC], "deadlock"),
}  # fmt: skip


def check(report, kind, text):
    found = kinds(report)
    assert kind in found and not report.ok, (kind, text, report.messages)
    # What follows from a bug may be found as well, but nothing else.
    assert found <= {kind} | FOLLOW.get(kind, set()), (kind, text, report.messages)


FOLLOW = {
    "uninitialized": {"out-of-bounds"},
    "async-race": {"async-exit", "race"},
    "deadlock": {"missing-lanes"},
    "unstarted-cta": {"race", "exited-cta", "uninitialized"},
    "race": {"uninitialized", "unstarted-cta"},
    "missing-proxy-fence": set(),
    "exited-cta": set(),
}


@pytest.mark.parametrize("name", ONE)
def test_one_cta(name):
    right, wrong, kind = ONE[name]
    report, _ = run(right)
    assert report.ok, report.messages
    for text in wrong:
        check(run(text, max_instructions=20_000)[0], kind, text)


@pytest.mark.parametrize("name", MANY)
def test_many_ctas(name):
    right, wrong, kind = MANY[name]
    report, _ = run(right, grid=8, size=512)
    assert report.ok, report.messages
    for text in wrong:
        check(run(text, grid=8, size=512)[0], kind, text)


def run_bulk(text, grid, **options):
    arrays = [np.arange(128, dtype=np.int32), np.zeros(128, np.int32)]
    return run_async(text, grid, 32, arrays, IO, raise_on_finding=False, **options)


@pytest.mark.parametrize("name", BULK)
def test_bulk_copies(name):
    right, wrong, kind = BULK[name]
    report = run_bulk(right, 1)
    assert report.ok, report.messages
    for text in wrong:
        check(run_bulk(text, 1), kind, text)


@pytest.mark.parametrize("name", CLUSTERS)
def test_clusters(name):
    right, wrong, kind = CLUSTERS[name]
    report = run_bulk(right, 2, cluster=2)
    assert report.ok, report.messages
    for text in wrong:
        check(run_bulk(text, 2, cluster=2), kind, text)


def test_there_are_many():
    """Bugs with a correct twin, over all files: docs/simulator.md says how many."""
    tables = [ONE, MANY, BULK, CLUSTERS, PAIRS, GLOBAL]
    files = [test_cooperative, test_hopper_kernels, test_tma_programs, test_warp_specialized]
    count = sum(len(entry[1]) for table in tables for entry in table.values())
    count += sum(len(file.BUGS) for file in files)
    for file in (test_sharing, test_handover):
        count += sum(map(len, file.MISTAKES.values()))
    count += len(blackwell_mistakes.MISTAKES)
    assert f"{count} planted bugs of PTX" in DOCUMENT.read_text()
    found = {entry[2] for table in tables[:5] for entry in table.values()}
    assert {"race", "uninitialized", "out-of-bounds", "misaligned", "deadlock", "async-race", "async-exit", "bad-barrier", "barrier-divergence", "mbarrier-misuse", "missing-proxy-fence", "exited-cta", "unstarted-cta", "bad-cluster-rank", "instruction-budget", "trap"} <= found  # fmt: skip


def test_a_view_of_columns():
    """A matrix's columns: what lies between the rows of the view is not the kernel's."""
    matrix = np.zeros((8, 16), np.int32)
    text = ".visible .entry k(.param .u64 p) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1+OFFSET], 1; ret; }"
    ptx = ".version 8.8\n.target sm_90a\n.address_size 64\n" + text
    for offset, strict in ((64 + 4 * 3, True), (4 * 4, False)):
        tile.sim.launch(ptx.replace("OFFSET", str(offset)), "k", 1, 1, [matrix[:, :4]], strict_views=strict)  # fmt: skip
    with pytest.raises(tile.sim.SimulationError, match=r"out-of-bounds.*\n"):
        tile.sim.launch(ptx.replace("OFFSET", "16"), "k", 1, 1, [matrix[:, :4]], strict_views=True)


def test_findings_name_the_mbarrier_and_the_group():
    """With its phase, its parity, and what it still waits for."""
    _right, wrong, _ = BULK["a bulk load"]
    message = run_bulk(wrong[0], 1).messages[0]
    assert "it completes on the mbarrier: shared memory at 0x4010" in message
    assert "running phase of parity" in message and "bytes pending" in message
    message = run(ONE["a copy and a store"][1][1])[0].messages[0]
    assert "group 1 of its thread, which has waited for 0" in message
    message = run(ONE["an mbarrier that is complete"][1][0])[0].messages[0]
    assert "1 of 33 arrivals and 0 bytes pending; waited for: the phase of parity 0" in message
