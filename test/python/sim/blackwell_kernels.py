# ruff: noqa: E501  (PTX text reads better unbroken)
"""Dots as they are written for sm_100: TMA fills a ring of buffers, one thread multiplies into tensor memory."""

from __future__ import annotations

import tensor_memory as tm

import tile.sim

BM, BN, BK, STAGES = 128, 128, 64, 4
A_BYTES, B_BYTES = BM * BK * 2, BN * BK * 2
SIZE = A_BYTES + B_BYTES
SHARED = STAGES * SIZE

_LOAD = "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes"
_MAP = ".param .align 64 .b8"


def _ring() -> str:
    """Of step %k: its buffers, its barriers, and the parity of its round."""
    return f"""rem.u32 %stage, %k, {STAGES}; div.u32 %phase, %k, {STAGES}; and.b32 %phase, %phase, 1;
mad.lo.u32 %full, %stage, 8, %bars; add.u32 %empty, %full, {8 * STAGES}; mad.lo.u32 %a, %stage, {SIZE}, %s; add.u32 %b, %a, {A_BYTES};"""


def _products() -> str:
    """Sixteen of K after sixteen: 32 bytes of rows of 128."""
    text = ""
    for k in range(BK // 16):
        text += f"""add.u64 %d2, %d0, {2 * k}; add.u64 %d3, %d1, {2 * k};
tcgen05.mma.cta_group::1.kind::f16 [%t], %d2, %d3, %i, %add; setp.eq.u32 %add, %k, %k;
"""
    return text


def _commit(barrier: str) -> str:
    return f"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [{barrier}];"


def _store() -> str:
    """A thread has a row of the tile; what is outside of C is left out by columns of 32 and by rows."""
    text = ""
    for first in range(0, BN, 32):
        values = tm.registers("v", 0, 32)
        text += f"""add.u32 %j, %window, {first}; tcgen05.ld.sync.aligned.32x32b.x32.b32 {values}, [%j]; tcgen05.wait::ld.sync.aligned;
add.u32 %j, %column, {first}; setp.ge.u32 %p1, %j, %width; or.pred %p1, %p1, %outside; @%p1 bra NEXT{first};
"""
        for i in range(0, 32, 4):
            text += f"st.global.v4.b32 [%out+{4 * (first + i)}], {tm.registers('v', i, 4)};\n"
        text += f"NEXT{first}:\n"
    return text


def product() -> str:
    """C = A B^T of fp16 matrices, in fp32: warp 0 loads, warp 1 multiplies, all four store."""
    full = "".join(
        f"mbarrier.init.shared::cta.b64 [%bars+{8 * i}], 1; " for i in range(2 * STAGES + 1)
    )
    return f"""{tm.HEADER.format(target="sm_100a")}.extern .shared .align 1024 .b8 memory[];
.visible .entry product({_MAP} ma[128], {_MAP} mb[128], .param .u64 c, .param .u32 steps, .param .u32 height, .param .u32 width)
.maxntid 128
{{
.shared .align 8 .b64 barriers[{2 * STAGES + 1}]; .shared .align 4 .b32 where;
.reg .b32 %thread, %warp, %s, %bars, %t, %window, %i, %j, %k, %n, %stage, %phase, %full, %empty, %done, %a, %b, %row, %column, %height, %width, %v<32>;
.reg .b64 %ma, %mb, %out, %d<4>, %p; .reg .pred %first, %wait, %add, %outside, %p<4>;
mov.u32 %thread, %tid.x; shr.u32 %warp, %thread, 5; mov.u32 %s, memory; mov.u32 %bars, barriers; add.u32 %done, %bars, {16 * STAGES};
mov.b64 %ma, ma; cvta.param.u64 %ma, %ma; mov.b64 %mb, mb; cvta.param.u64 %mb, %mb;
ld.param.u32 %n, [steps]; ld.param.u32 %height, [height]; ld.param.u32 %width, [width]; ld.param.u64 %out, [c];
mov.u32 %row, %ctaid.y; mul.lo.u32 %row, %row, {BM}; mov.u32 %column, %ctaid.x; mul.lo.u32 %column, %column, {BN}; mov.u32 %k, 0;
setp.ne.u32 %p0, %thread, 0; @%p0 bra BEGUN; {full}fence.mbarrier_init.release.cluster; BEGUN:
setp.ne.u32 %p2, %warp, 0; @%p2 bra ALLOCATED;
mov.u32 %j, where; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%j], {BN}; tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; ALLOCATED:
tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync; ld.shared.b32 %t, [where];
setp.eq.u32 %p1, %thread, 32; @%p1 bra MULTIPLY; @%p0 bra MULTIPLIED;
FETCH: {_ring()}
xor.b32 %phase, %phase, 1; {_wait("EMPTY", "%empty", "%phase")}
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], {SIZE}; mul.lo.u32 %j, %k, {BK};
{_LOAD} [%a], [%ma, {{%j, %row}}], [%full]; {_LOAD} [%b], [%mb, {{%j, %column}}], [%full];
add.u32 %k, %k, 1; setp.lt.u32 %p1, %k, %n; @%p1 bra FETCH; bra MULTIPLIED;
MULTIPLY: mov.b32 %i, {tm.idesc("f16", BM, BN, "f16", "f16")}; setp.ne.u32 %add, %k, %k;
STEP: {_ring()}
shr.u32 %j, %a, 4; cvt.u64.u32 %d0, %j; or.b64 %d0, %d0, {tm.sdesc(0, 0, 1024, "128")}; shr.u32 %j, %b, 4; cvt.u64.u32 %d1, %j; or.b64 %d1, %d1, {tm.sdesc(0, 0, 1024, "128")};
{_wait("FULL", "%full", "%phase")}
{_products()}{_commit("%empty")}
add.u32 %k, %k, 1; setp.lt.u32 %p1, %k, %n; @%p1 bra STEP; {_commit("%done")}
MULTIPLIED: {_wait("DONE", "%done", "0")}
bar.warp.sync -1; tcgen05.fence::after_thread_sync; shl.b32 %window, %warp, 21; add.u32 %window, %window, %t;
add.u32 %row, %row, %thread; setp.ge.u32 %outside, %row, %height; mad.lo.u32 %j, %row, %width, %column; mul.wide.u32 %p, %j, 4; add.u64 %out, %out, %p;
{_store()}
tcgen05.fence::before_thread_sync; bar.sync 0; @%p2 bra END;
tcgen05.fence::after_thread_sync; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, {BN};
END: ret;
}}
"""


def _wait(label: str, barrier: str, parity: str) -> str:
    return f"{label}: mbarrier.try_wait.parity.shared::cta.b64 %wait, [{barrier}], {parity}; @!%wait bra {label};"


def launch_product(ptx: str, a, b, c, **options):
    """C = A B^T; the width of C is a multiple of 32, K of 8."""
    (m, k), (n, _) = a.shape, b.shape
    maps = [
        tile.sim.tensor_map(x.ctypes.data, "f16", (k, len(x)), (k * 2,), (BK, rows), swizzle=128)
        for x, rows in ((a, BM), (b, BN))
    ]
    grid = ((n + BN - 1) // BN, (m + BM - 1) // BM)
    return tile.sim.launch(
        ptx, "product", grid, 128, [*maps, c, (k + BK - 1) // BK, m, n],
        dynamic_shared=SHARED, allocations=[a, b], **options,
    )  # fmt: skip
