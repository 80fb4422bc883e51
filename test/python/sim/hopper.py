# ruff: noqa: E501  (PTX text reads better unbroken)
"""Kernels as they are written for Hopper: TMA copies, dots with wgmma, warp specialisation."""

from __future__ import annotations

from ptxlib import HEADER

BM, BN, BK = 128, 128, 64
A_BYTES, B_BYTES, C_BYTES = BM * BK * 2, BN * BK * 2, BM * BN * 4
TILE = 64

_COPY = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
_STORE = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
_MAP = ".param .align 64 .b8"


def _wait(label: str, barrier: str, phase: str) -> str:
    return f"{label}: mbarrier.try_wait.parity.shared::cta.b64 %wait, [{barrier}], {phase}; @!%wait bra {label};"


def _descriptor(name: str, address: str) -> str:
    """Rows of 128 bytes, swizzled; eight of them are 1024 bytes."""
    return f"shr.u32 %r30, {address}, 4; cvt.u64.u32 {name}, %r30; or.b64 {name}, {name}, {64 << 32 | 1 << 62};"


def _products() -> str:
    d = ", ".join(f"%f{i}" for i in range(BN // 2))
    text = "wgmma.fence.sync.aligned;\n"
    for k in range(BK // 16):
        text += f"""add.u64 %da, %rd1, {2 * k}; add.u64 %db, %rd2, {2 * k};
wgmma.mma_async.sync.aligned.m64n{BN}k16.f32.f16.f16 {{{d}}}, %da, %db, %add, 1, 1, 0, 0;
setp.eq.u32 %add, 0, 0;
"""
    return text + "wgmma.commit_group.sync.aligned;\n"


def _store_fragments() -> str:
    """Lane l of warp w has rows 16 w + l / 4 (+ 8), columns 8 j + 2 (l % 4) of the group's 64 rows."""
    text = f"""shr.u32 %r20, %lane, 5; and.b32 %r21, %lane, 31; shr.u32 %r22, %r21, 2; mad.lo.u32 %r22, %r20, 16, %r22; and.b32 %r23, %r21, 3;
mad.lo.u32 %r24, %r22, {BN * 4}, %out; mad.lo.u32 %r24, %r23, 8, %r24;
"""
    for i in range(0, BN // 2, 2):
        text += f"st.shared.v2.f32 [%r24+{i // 2 % 2 * 8 * BN * 4 + i // 4 * 32}], {{%f{i}, %f{i + 1}}};\n"
    return text + "fence.proxy.async.shared::cta;\n"


_REGISTERS = f""".reg .b32 %t, %lane, %wg, %r<40>, %out, %full, %empty, %a, %b, %k, %n, %stage, %phase, %row, %column, %s;
.reg .b64 %rd<10>, %da, %db, %ma, %mb, %mc; .reg .pred %p<4>, %wait, %first, %add; .reg .f32 %f<{BN // 2}>;
.shared .align 8 .b64 bars[16];
mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0; mov.u32 %s, memory; mov.u32 %k, 0;
"""
_MAPS = """mov.b64 %ma, ma; cvta.param.u64 %ma, %ma; mov.b64 %mb, mb; cvta.param.u64 %mb, %mb; mov.b64 %mc, mc; cvta.param.u64 %mc, %mc;
ld.param.u32 %n, [steps];
"""


def copy() -> str:
    """Each CTA takes a tile of 64 x 64 floats through shared memory."""
    return f"""{HEADER}.extern .shared .align 1024 .b8 memory[];
.visible .entry copy({_MAP} ma[128], {_MAP} mb[128])
{{
{_REGISTERS}mov.b64 %ma, ma; cvta.param.u64 %ma, %ma; mov.b64 %mb, mb; cvta.param.u64 %mb, %mb;
mov.u32 %row, %ctaid.y; mul.lo.u32 %row, %row, {TILE}; mov.u32 %column, %ctaid.x; mul.lo.u32 %column, %column, {TILE}; mov.u32 %full, bars;
@%first mbarrier.init.shared::cta.b64 [%full], 1;
@%first fence.mbarrier_init.release.cluster;
@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], {TILE * TILE * 4};
@%first {_COPY} [%s], [%ma, {{%column, %row}}], [%full];
bar.sync 0;
{_wait("FULL", "%full", "0")}
@%first {_STORE} [%mb, {{%column, %row}}], [%s];
@%first cp.async.bulk.commit_group;
@%first cp.async.bulk.wait_group 0;
ret;
}}
"""


def product() -> str:
    """C = A B^T, tiles of 64 x 128: one warp group loads by TMA and multiplies, two buffers."""
    size = A_BYTES // 2 + B_BYTES
    return f"""{HEADER}.extern .shared .align 1024 .b8 memory[];
.visible .entry product({_MAP} ma[128], {_MAP} mb[128], {_MAP} mc[128], .param .u32 steps)
.maxntid 128
{{
{_REGISTERS}{_MAPS}
mov.u32 %row, %ctaid.y; mul.lo.u32 %row, %row, {BM // 2}; mov.u32 %column, %ctaid.x; mul.lo.u32 %column, %column, {BN};
mov.u32 %lane, %t; setp.ne.u32 %add, 0, 0; mov.u32 %r0, bars;
@%first mbarrier.init.shared::cta.b64 [%r0], 1;
@%first mbarrier.init.shared::cta.b64 [%r0+8], 1;
@%first fence.mbarrier_init.release.cluster;
bar.sync 0;
@!%first bra MULTIPLY;
{_issue("%r0", "%s", size, "0")}
MULTIPLY:
and.b32 %stage, %k, 1; shr.u32 %phase, %k, 1; and.b32 %phase, %phase, 1; add.u32 %r5, %k, 1;
mad.lo.u32 %full, %stage, 8, %r0; mad.lo.u32 %a, %stage, {size}, %s; add.u32 %b, %a, {A_BYTES // 2};
setp.lt.u32 %p1, %r5, %n; and.pred %p1, %p1, %first; @!%p1 bra LAST;
xor.b32 %r6, %stage, 1; mad.lo.u32 %r7, %r6, 8, %r0; mad.lo.u32 %r8, %r6, {size}, %s; mul.lo.u32 %r9, %r5, {BK};
{_issue("%r7", "%r8", size, "%r9")}
LAST:
{_wait("FULL", "%full", "%phase")}
{_descriptor("%rd1", "%a")} {_descriptor("%rd2", "%b")}
{_products()}wgmma.wait_group.sync.aligned 0;
bar.sync 0;
add.u32 %k, %k, 1; setp.lt.u32 %p2, %k, %n; @%p2 bra MULTIPLY;
add.u32 %out, %s, {2 * size};
{_store_fragments()}bar.sync 0;
@%first {_STORE} [%mc, {{%column, %row}}], [%out];
@%first cp.async.bulk.commit_group;
@%first cp.async.bulk.wait_group 0;
ret;
}}
"""


def _issue(barrier: str, at: str, size: int, k: str) -> str:
    return f"""mbarrier.arrive.expect_tx.shared::cta.b64 _, [{barrier}], {size};
{_COPY} [{at}], [%ma, {{{k}, %row}}], [{barrier}];
add.u32 %r31, {at}, {size - B_BYTES};
{_COPY} [%r31], [%mb, {{{k}, %column}}], [{barrier}];"""


def warp_specialized(stages: int = 4) -> str:
    """C = A B^T, tiles of 128 x 128: a producer warp group fills a ring, two consumers multiply."""
    size = A_BYTES + B_BYTES
    inits = "\n".join(
        f"@%first mbarrier.init.shared::cta.b64 [%r0+{8 * i}], {1 if i < stages else 2};"
        for i in range(2 * stages)
    )
    ring = f"""rem.u32 %stage, %k, {stages}; div.u32 %phase, %k, {stages}; and.b32 %phase, %phase, 1;
mad.lo.u32 %full, %stage, 8, %r0; add.u32 %empty, %full, {8 * stages}; mad.lo.u32 %a, %stage, {size}, %s;"""
    return f"""{HEADER}.extern .shared .align 1024 .b8 memory[];
.visible .entry warp_specialized({_MAP} ma[128], {_MAP} mb[128], {_MAP} mc[128], .param .u32 steps)
.maxntid 384
{{
{_REGISTERS}{_MAPS}
mov.u32 %row, %ctaid.y; mul.lo.u32 %row, %row, {BM}; mov.u32 %column, %ctaid.x; mul.lo.u32 %column, %column, {BN};
shr.u32 %wg, %t, 7; and.b32 %lane, %t, 127; setp.ne.u32 %add, 0, 0; mov.u32 %r0, bars;
{inits}
@%first fence.mbarrier_init.release.cluster;
bar.sync 0;
setp.ne.u32 %p2, %wg, 0; @%p2 bra CONSUMER;
setmaxnreg.dec.sync.aligned.u32 40;
@!%first bra END;
FETCH:
{ring}
xor.b32 %r4, %phase, 1; mul.lo.u32 %r5, %k, {BK};
{_wait("EMPTY", "%empty", "%r4")}
{_issue("%full", "%a", size, "%r5")}
add.u32 %k, %k, 1; setp.lt.u32 %p2, %k, %n; @%p2 bra FETCH;
bra END;
CONSUMER:
setmaxnreg.inc.sync.aligned.u32 232;
sub.u32 %wg, %wg, 1; setp.eq.u32 %first, %lane, 0;
MULTIPLY:
{ring}
add.u32 %b, %a, {A_BYTES}; mad.lo.u32 %a, %wg, {A_BYTES // 2}, %a;
{_descriptor("%rd1", "%a")} {_descriptor("%rd2", "%b")}
{_wait("FULL", "%full", "%phase")}
{_products()}wgmma.wait_group.sync.aligned 0;
@%first mbarrier.arrive.shared::cta.b64 _, [%empty];
add.u32 %k, %k, 1; setp.lt.u32 %p2, %k, %n; @%p2 bra MULTIPLY;
mad.lo.u32 %out, %wg, {C_BYTES // 2}, %s; add.u32 %out, %out, {stages * size};
{_store_fragments()}add.u32 %r11, %wg, 1; bar.sync %r11, 128;
mad.lo.u32 %row, %wg, {BM // 2}, %row;
@%first {_STORE} [%mc, {{%column, %row}}], [%out];
@%first cp.async.bulk.commit_group;
@%first cp.async.bulk.wait_group 0;
END: ret;
}}
"""


def launch_copy(x, y, **options):
    """Run `copy` on two arrays of floats."""
    import tile.sim

    rows, columns = x.shape
    maps = [
        tile.sim.tensor_map(v.ctypes.data, "f32", (columns, rows), (columns * 4,), (TILE, TILE))
        for v in (x, y)
    ]
    return tile.sim.launch(
        copy(), "copy", (columns // TILE, rows // TILE), 128, maps,
        dynamic_shared=TILE * TILE * 4, allocations=[x, y], **options,
    )  # fmt: skip


def launch_product(ptx: str, a, b, c, **options):
    """Run `product()` or `warp_specialized()`: C = A B^T of fp16 matrices, in fp32."""
    import tile.sim

    (m, k), (n, _) = a.shape, b.shape
    special = "warp_specialized" in ptx
    rows = BM if special else BM // 2
    shared = 4 * (A_BYTES + B_BYTES) + C_BYTES if special else A_BYTES + 2 * B_BYTES + C_BYTES // 2
    maps = [
        tile.sim.tensor_map(a.ctypes.data, "f16", (k, m), (k * 2,), (BK, rows), swizzle=128),
        tile.sim.tensor_map(b.ctypes.data, "f16", (k, n), (k * 2,), (BK, BN), swizzle=128),
        tile.sim.tensor_map(c.ctypes.data, "f32", (n, m), (n * 4,), (BN, BM // 2)),
    ]
    return tile.sim.launch(
        ptx, "warp_specialized" if special else "product", (n // BN, m // rows),
        384 if special else 128, [*maps, k // BK], dynamic_shared=shared,
        allocations=[a, b, c], **options,
    )  # fmt: skip
