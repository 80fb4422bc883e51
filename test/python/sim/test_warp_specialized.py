# ruff: noqa: E501  (PTX text reads better unbroken)
"""A matrix product as Hopper kernels are written, and the bugs that are made in them.

A producer warp group fetches tiles by TMA into a ring of buffers, two consumer warp groups multiply
them with wgmma, and store their halves of the result by TMA. Registers move from the producer to
the consumers. One thread of a consumer group frees a buffer.
"""

from __future__ import annotations

import numpy as np
import pytest
from ptxlib import HEADER

import tile.sim

STAGES, BK, ROWS, COLS = 2, 64, 128, 64
A_BYTES, B_BYTES = ROWS * BK * 2, COLS * BK * 2
RING = STAGES * (A_BYTES + B_BYTES)
C_AT, BARS = RING, RING + ROWS * COLS * 4
SHARED = BARS + 64
WAIT = "{0}: mbarrier.try_wait.parity.shared::cta.b64 %p1, [{1}], {2}; @!%p1 bra {0};"


def product(step: int) -> str:
    d = ", ".join(f"%f{i}" for i in range(32))
    return (
        f"add.u64 %rd5, %rd1, {2 * step}; add.u64 %rd6, %rd2, {2 * step};\n"
        f"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{{d}}}, %rd5, %rd6, %p3, 1, 1, 0, 0;\n"
        "setp.eq.u32 %p3, 0, 0;\n"
    )


def store_fragments() -> str:
    """Accumulators to rows of 256 bytes: row 16 warp + lane / 4 (+ 8), columns 8 j + 2 (lane % 4)."""
    text = "and.b32 %r20, %t, 127; shr.u32 %r21, %r20, 5; and.b32 %r22, %r20, 31; shr.u32 %r23, %r22, 2; mad.lo.u32 %r23, %r21, 16, %r23; and.b32 %r24, %r22, 3;\n"
    text += "mad.lo.u32 %r25, %r23, 256, %cbuf; mad.lo.u32 %r25, %r24, 8, %r25;\n"
    for i in range(0, 32, 2):
        offset = (i // 2 % 2) * 8 * 256 + i // 4 * 32
        text += f"st.shared.v2.f32 [%r25+{offset}], {{%f{i}, %f{i + 1}}};\n"
    return text


def kernel(*changes: tuple[str, str]) -> str:
    text = f"""{HEADER}.extern .shared .align 1024 .b8 memory[];
.visible .entry gemm(.param .align 64 .b8 ma[128], .param .align 64 .b8 mb[128], .param .align 64 .b8 mc[128], .param .u32 steps)
.maxntid 384
{{
.reg .b32 %t, %wg, %r<40>, %cbuf, %full, %empty, %a, %b, %k, %n, %stage, %phase; .reg .b64 %rd<10>; .reg .pred %p<8>, %first; .reg .f32 %f<32>;
mov.u32 %t, %tid.x; shr.u32 %wg, %t, 7; setp.eq.u32 %first, %t, 0; ld.param.u32 %n, [steps]; mov.u32 %r0, memory;
@%first mbarrier.init.shared::cta.b64 [%r0+{BARS}], 1;
@%first mbarrier.init.shared::cta.b64 [%r0+{BARS + 8}], 1;
@%first mbarrier.init.shared::cta.b64 [%r0+{BARS + 16}], 2;
@%first mbarrier.init.shared::cta.b64 [%r0+{BARS + 24}], 2;
fence.mbarrier_init.release.cluster; // init fence
bar.sync 0; // init barrier
mov.u32 %k, 0;
setp.ne.u32 %p2, %wg, 0; @%p2 bra CONSUMER;
setmaxnreg.dec.sync.aligned.u32 40;
@!%first bra END;
mov.b64 %rd3, ma; cvta.param.u64 %rd3, %rd3; mov.b64 %rd4, mb; cvta.param.u64 %rd4, %rd4;
FETCH:
and.b32 %stage, %k, 1; shr.u32 %phase, %k, 1; and.b32 %phase, %phase, 1;
mad.lo.u32 %full, %stage, 8, %r0; add.u32 %full, %full, {BARS}; add.u32 %empty, %full, 16;
mad.lo.u32 %a, %stage, {A_BYTES + B_BYTES}, %r0; add.u32 %b, %a, {A_BYTES}; mul.lo.u32 %r3, %k, {BK};
xor.b32 %r4, %phase, 1;
{WAIT.format("W1", "%empty", "%r4")} // wait empty
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], {A_BYTES + B_BYTES};
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%a], [%rd3, {{%r3, 0}}], [%full];
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%b], [%rd4, {{%r3, 0}}], [%full];
add.u32 %k, %k, 1; setp.lt.u32 %p2, %k, %n; @%p2 bra FETCH;
bra END;
CONSUMER:
setmaxnreg.inc.sync.aligned.u32 232;
sub.u32 %wg, %wg, 1; and.b32 %r10, %t, 127; setp.eq.u32 %p4, %r10, 0; setp.ne.u32 %p3, 0, 0;
MULTIPLY:
and.b32 %stage, %k, 1; shr.u32 %phase, %k, 1; and.b32 %phase, %phase, 1;
mad.lo.u32 %full, %stage, 8, %r0; add.u32 %full, %full, {BARS}; add.u32 %empty, %full, 16;
mad.lo.u32 %a, %stage, {A_BYTES + B_BYTES}, %r0; add.u32 %b, %a, {A_BYTES}; mad.lo.u32 %a, %wg, {A_BYTES // 2}, %a;
shr.u32 %r5, %a, 4; cvt.u64.u32 %rd1, %r5; or.b64 %rd1, %rd1, {64 << 32 | 1 << 62};
shr.u32 %r5, %b, 4; cvt.u64.u32 %rd2, %r5; or.b64 %rd2, %rd2, {64 << 32 | 1 << 62};
{WAIT.format("W2", "%full", "%phase")} // wait full
wgmma.fence.sync.aligned;
{product(0)}{product(16 // 16)}{product(2)}{product(3)}
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
// rescale
@%p4 mbarrier.arrive.shared::cta.b64 _, [%empty];
add.u32 %k, %k, 1; setp.lt.u32 %p2, %k, %n; @%p2 bra MULTIPLY;
mad.lo.u32 %cbuf, %wg, {ROWS * COLS * 2}, %r0; add.u32 %cbuf, %cbuf, {C_AT};
{store_fragments()}
fence.proxy.async.shared::cta; // store fence
add.u32 %r11, %wg, 1; bar.sync %r11, 128; // store barrier
mul.lo.u32 %r12, %wg, 64; mov.b64 %rd3, mc; cvta.param.u64 %rd3, %rd3;
@%p4 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {{0, %r12}}], [%cbuf];
@%p4 cp.async.bulk.commit_group;
@%p4 cp.async.bulk.wait_group 0;
END: ret;
}}
"""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def launch(*changes: tuple[str, str], steps: int = 6, **options):
    rng = np.random.default_rng(steps)
    a = rng.integers(-4, 5, (ROWS, steps * BK)).astype(np.float16)
    b = rng.integers(-4, 5, (COLS, steps * BK)).astype(np.float16)
    c = np.full((ROWS, COLS), np.nan, np.float32)
    maps = [
        tile.sim.tensor_map(a.ctypes.data, "f16", (steps * BK, ROWS), (steps * BK * 2,), (BK, ROWS), swizzle=128),
        tile.sim.tensor_map(b.ctypes.data, "f16", (steps * BK, COLS), (steps * BK * 2,), (BK, COLS), swizzle=128),
        tile.sim.tensor_map(c.ctypes.data, "f32", (COLS, ROWS), (COLS * 4,), (COLS, 64)),
    ]  # fmt: skip
    options.setdefault("max_instructions", 300_000)
    report = tile.sim.launch(
        kernel(*changes), "gemm", 1, 384, [*maps, steps], dynamic_shared=SHARED,
        allocations=[a, b, c], raise_on_finding=False, **options,
    )  # fmt: skip
    return report, c, a.astype(np.float32) @ b.astype(np.float32).T


@pytest.mark.parametrize("steps", [1, 2, 3, 7])
def test_product(steps):
    report, got, want = launch(steps=steps)
    assert report.ok, report.messages
    np.testing.assert_array_equal(got, want)


INNER = "wgmma.fence.sync.aligned;\n"
#: What goes wrong, and what is said about it.
BUGS = {
    "no barrier after the initialization": ([("bar.sync 0; // init barrier", "")], "race"),
    "no fence after the initialization": (
        [("fence.mbarrier_init.release.cluster; // init fence", "")],
        "missing-proxy-fence",
    ),
    "too few bytes expected": (
        [(f"[%full], {A_BYTES + B_BYTES};", f"[%full], {A_BYTES};")],
        "async-race",
    ),
    "too many bytes expected": (
        [(f"[%full], {A_BYTES + B_BYTES};", f"[%full], {A_BYTES + B_BYTES + 16};")],
        "deadlock",
    ),
    "full not waited for": ([(WAIT.format("W2", "%full", "%phase"), "")], "async-race"),
    "empty not waited for": ([(WAIT.format("W1", "%empty", "%r4"), "")], "async-race"),
    "buffer freed before its reads are over": (
        [
            ("wgmma.wait_group.sync.aligned 0;", ""),
            ("@%p2 bra MULTIPLY;", "@%p2 bra MULTIPLY; wgmma.wait_group.sync.aligned 0;"),
        ],
        "async-race",
    ),
    "buffer free after one of two consumers": (
        [(f"[%r0+{BARS + 16}], 2", f"[%r0+{BARS + 16}], 1"), (f"[%r0+{BARS + 24}], 2", f"[%r0+{BARS + 24}], 1")],
        "deadlock",  # The phases run away from their waiters.
    ),
    "no wgmma.fence": ([(INNER, "")], "missing-fence"),
    "no wgmma.fence after a rescale": (
        [("// rescale", "mul.f32 %f3, %f3, 0f3F800000;"), (INNER, ""), ("setp.ne.u32 %p3, 0, 0;\n", "setp.ne.u32 %p3, 0, 0; wgmma.fence.sync.aligned;\n")],
        "missing-fence",
    ),
    "accumulators used too early": (
        [("wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;")],
        "async-register",
    ),
    "no proxy fence before the store": (
        [("fence.proxy.async.shared::cta; // store fence", "")],
        "missing-proxy-fence",
    ),
    "proxy fence of the wrong memory": (
        [("fence.proxy.async.shared::cta; // store fence", "fence.proxy.async.global;")],
        "missing-proxy-fence",
    ),
    "no barrier before the store": ([("bar.sync %r11, 128; // store barrier", "")], "race"),
    "barrier of too few warps before the store": (
        [("bar.sync %r11, 128;", "bar.warp.sync 0xffffffff;")],
        "async-race",
    ),
    "store not waited for": ([("@%p4 cp.async.bulk.wait_group 0;", "")], "async-exit"),
    "store committed by another lane": (
        [("@%p4 cp.async.bulk.commit_group;", "@!%p4 cp.async.bulk.commit_group;")],
        "async-exit",
    ),
    "more registers than there are": ([("u32 232;", "u32 240;")], "deadlock"),
    "a warp skips the product": (
        [("MULTIPLY:\n", "MULTIPLY:\nsetp.ge.u32 %p5, %r10, 96; @%p5 bra END;\n")],
        "missing-lanes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_bugs(bug):
    changes, kind = BUGS[bug]
    report, _, _ = launch(*changes)
    assert kind in {f["kind"] for f in report.findings}, report.messages


def test_a_rescale_with_its_fence_is_right():
    report, got, want = launch(("// rescale", "mul.f32 %f3, %f3, 0f3F800000;"))
    assert report.ok, report.messages
    np.testing.assert_array_equal(got, want)


def test_deadlock_names_the_mbarrier():
    report, _, _ = launch(*BUGS["too many bytes expected"][0])
    assert "arrivals and 16 bytes pending" in report.messages[0]
    assert "running phase of parity 0" in report.messages[0]
