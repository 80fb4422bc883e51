# ruff: noqa: E501  (PTX text reads better unbroken)
"""Ways in which dots and sums are written for Hopper by hand: ping-pong, stream-K, multicast to
a pair of CTAs, and a sum over the shared memory of a cluster. Changes plant bugs."""

from __future__ import annotations

import numpy as np
from hopper import _COPY, _MAP, _STORE, _descriptor, _wait
from ptxlib import HEADER

import tile.sim

#: A tile of C is 64 x 64; a step takes 64 columns of A and B.
EDGE = 64
TILE_BYTES = EDGE * EDGE * 2
C_BYTES = EDGE * EDGE * 4

_REGISTERS = f""".reg .b32 %t, %lane, %wg, %r<40>, %out, %full, %empty, %a, %b, %k, %n, %it, %end, %stage, %phase, %tile, %tiles, %grid, %row, %column, %s, %c;
.reg .b64 %rd<10>, %da, %db, %ma, %mb, %mc; .reg .pred %p<6>, %wait, %first, %add; .reg .f32 %f<{EDGE // 2}>, %g;
.reg .b16 %h;
.shared .align 8 .b64 bars[16];
mov.u32 %t, %tid.x; and.b32 %lane, %t, 127; shr.u32 %wg, %t, 7; setp.eq.u32 %first, %lane, 0; mov.u32 %s, memory; mov.u32 %r0, bars; mov.u32 %c, %ctaid.x;
"""


def _inits(*counts: int) -> str:
    return "setp.eq.u32 %p0, %t, 0;\n" + "\n".join(
        f"@%p0 mbarrier.init.shared::cta.b64 [%r0+{8 * i}], {count};"
        for i, count in enumerate(counts)
    )


def _products() -> str:
    d = ", ".join(f"%f{i}" for i in range(EDGE // 2))
    text = f"{_descriptor('%rd1', '%a')} {_descriptor('%rd2', '%b')}\nwgmma.fence.sync.aligned;\n"
    for k in range(4):
        text += f"""add.u64 %da, %rd1, {2 * k}; add.u64 %db, %rd2, {2 * k};
wgmma.mma_async.sync.aligned.m64n{EDGE}k16.f32.f16.f16 {{{d}}}, %da, %db, %add, 1, 1, 0, 0;
setp.eq.u32 %add, 0, 0;
"""
    return text + "wgmma.commit_group.sync.aligned;\n"


def _each_fragment(address: str, text: str) -> str:
    """`text` for each pair of sums of a lane; {at} is its place in rows of 256 bytes from `address`,
    {x} and {y} are the pair."""
    out = f"""shr.u32 %r20, %lane, 5; and.b32 %r21, %lane, 31; shr.u32 %r22, %r21, 2; mad.lo.u32 %r22, %r20, 16, %r22; and.b32 %r23, %r21, 3;
mul.lo.u32 %r24, %r22, {EDGE * 4}; mad.lo.u32 %r24, %r23, 8, %r24;
{address}
"""
    for i in range(0, EDGE // 2, 2):
        offset = i // 2 % 2 * 8 * EDGE * 4 + i // 4 * 32
        out += text.format(at=offset, x=f"%f{i}", y=f"%f{i + 1}") + "\n"
    return out


def _ring(stages: int, size: int) -> str:
    return f"""rem.u32 %stage, %it, {stages}; div.u32 %phase, %it, {stages}; and.b32 %phase, %phase, 1;
mad.lo.u32 %full, %stage, 8, %r0; add.u32 %empty, %full, {8 * stages}; mad.lo.u32 %a, %stage, {size}, %s; add.u32 %b, %a, {TILE_BYTES};"""


def _maps(*names: str) -> str:
    return "".join(f"mov.b64 %{n}, {n}; cvta.param.u64 %{n}, %{n};\n" for n in names)


#: Row and column of C of a tile; tiles of a row of tiles follow each other.
_PLACE = f"""ld.param.u32 %r10, [across]; div.u32 %row, %tile, %r10; rem.u32 %column, %tile, %r10;
mul.lo.u32 %row, %row, {EDGE}; mul.lo.u32 %column, %column, {EDGE};"""


def ping_pong() -> str:
    """Persistent CTAs; a producer fills one ring for two consumer groups, which take turns: while
    one multiplies, the other stores."""
    size = 2 * TILE_BYTES
    return f"""{HEADER}.extern .shared .align 1024 .b8 memory[];
.visible .entry ping_pong({_MAP} ma[128], {_MAP} mb[128], {_MAP} mc[128], .param .u32 steps, .param .u32 tiles, .param .u32 across)
.maxntid 384
{{
{_REGISTERS}{_maps("ma", "mb", "mc")}ld.param.u32 %n, [steps]; ld.param.u32 %tiles, [tiles]; mov.u32 %grid, %nctaid.x;
{_inits(1, 1, 1, 1, 1, 1)}
@%p0 fence.mbarrier_init.release.cluster;
bar.sync 0;
mov.u32 %tile, %c; mov.u32 %it, 0;
setp.ne.u32 %p2, %wg, 0; @%p2 bra CONSUMER;
setmaxnreg.dec.sync.aligned.u32 40;
@!%first bra END;
TILES:
{_PLACE}
mov.u32 %k, 0;
FETCH:
{_ring(3, size)}
xor.b32 %r4, %phase, 1; mul.lo.u32 %r5, %k, 64;
{_wait("EMPTY", "%empty", "%r4")}
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], {size};
{_COPY} [%a], [%ma, {{%r5, %row}}], [%full];
{_COPY} [%b], [%mb, {{%r5, %column}}], [%full];
add.u32 %it, %it, 1; add.u32 %k, %k, 1; setp.lt.u32 %p2, %k, %n; @%p2 bra FETCH;
add.u32 %tile, %tile, %grid; setp.lt.u32 %p2, %tile, %tiles; @%p2 bra TILES;
bra END;
CONSUMER:
setmaxnreg.inc.sync.aligned.u32 232;
sub.u32 %wg, %wg, 1; mad.lo.u32 %tile, %wg, %grid, %tile; mul.lo.u32 %it, %wg, %n; // the other's slots
mad.lo.u32 %out, %wg, {C_BYTES}, %s; add.u32 %out, %out, {3 * size};
add.u32 %r11, %wg, 1; xor.b32 %r12, %wg, 1; add.u32 %r12, %r12, 1; add.u32 %r13, %wg, 3;
setp.eq.u32 %p3, %wg, 1; @%p3 bar.arrive %r12, 256;
setp.ge.u32 %p2, %tile, %tiles; @%p2 bra END;
NEXT:
bar.sync %r11, 256; // my turn
{_PLACE}
mov.u32 %k, 0; setp.ne.u32 %add, 0, 0;
MULTIPLY:
{_ring(3, size)}
{_wait("FULL", "%full", "%phase")}
{_products()}wgmma.wait_group.sync.aligned 0;
@%first mbarrier.arrive.shared::cta.b64 _, [%empty];
add.u32 %it, %it, 1; add.u32 %k, %k, 1; setp.lt.u32 %p2, %k, %n; @%p2 bra MULTIPLY;
add.u32 %it, %it, %n; // what the other takes
mad.lo.u32 %r14, %grid, 2, %tile; setp.lt.u32 %p4, %r14, %tiles; // more for me
setp.eq.u32 %p5, %wg, 0; or.pred %p5, %p5, %p4; @%p5 bar.arrive %r12, 256; // its turn
@%first cp.async.bulk.wait_group.read 0; // last store
bar.sync %r13, 128; // may overwrite
{_each_fragment("add.u32 %r24, %r24, %out;", "st.shared.v2.f32 [%r24+{at}], {{{x}, {y}}};")}
fence.proxy.async.shared::cta; // for the store
bar.sync %r13, 128; // all have written
@%first {_STORE} [%mc, {{%column, %row}}], [%out];
@%first cp.async.bulk.commit_group;
mov.u32 %tile, %r14; @%p4 bra NEXT;
@%first cp.async.bulk.wait_group 0; // at the end
END: ret;
}}
"""


def stream_k() -> str:
    """Each CTA does an equal part of all steps of all tiles. Who begins a tile adds what the others
    left of it in global memory, once their flags are up."""
    return f"""{HEADER}.extern .shared .align 1024 .b8 memory[];
.visible .entry stream_k({_MAP} ma[128], {_MAP} mb[128], .param .u64 c, .param .u32 steps, .param .u32 part, .param .u32 across, .param .u64 sums, .param .u64 flags)
.maxntid 128
{{
{_REGISTERS}{_maps("ma", "mb")}ld.param.u32 %n, [steps]; ld.param.u32 %r1, [part]; ld.param.u64 %rd5, [sums]; ld.param.u64 %rd6, [flags];
{_inits(1)}
@%p0 fence.mbarrier_init.release.cluster;
bar.sync 0;
mul.lo.u32 %it, %c, %r1; add.u32 %end, %it, %r1; mov.u32 %phase, 0; mov.u32 %full, %r0; mov.u32 %a, %s; add.u32 %b, %a, {TILE_BYTES};
SEGMENT:
div.u32 %tile, %it, %n; rem.u32 %k, %it, %n; setp.ne.u32 %add, 0, 0; setp.ne.u32 %p4, %k, 0;
{_PLACE}
STEP:
@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], {2 * TILE_BYTES};
mul.lo.u32 %r5, %k, 64;
@%first {_COPY} [%a], [%ma, {{%r5, %row}}], [%full];
@%first {_COPY} [%b], [%mb, {{%r5, %column}}], [%full];
{_wait("FULL", "%full", "%phase")}
xor.b32 %phase, %phase, 1;
{_products()}wgmma.wait_group.sync.aligned 0;
bar.sync 0; // both tiles are free
add.u32 %it, %it, 1; add.u32 %k, %k, 1; setp.lt.u32 %p2, %k, %n; setp.lt.and.u32 %p2, %it, %end, %p2; @%p2 bra STEP;
@!%p4 bra OWNER;
mad.wide.u32 %rd7, %c, {C_BYTES}, %rd5;
{_each_fragment("cvt.u64.u32 %rd8, %r24; add.u64 %rd7, %rd7, %rd8;", "st.global.v2.f32 [%rd7+{at}], {{{x}, {y}}};")}
bar.sync 0; // all have written
mad.wide.u32 %rd8, %c, 4, %rd6; @%first st.release.gpu.global.u32 [%rd8], 1; // flag
bra DONE;
OWNER:
mov.u32 %r15, %c; // whose part is next
MORE:
setp.ge.u32 %p2, %k, %n; @%p2 bra STORE;
add.u32 %r15, %r15, 1; mad.wide.u32 %rd8, %r15, 4, %rd6;
@!%first bra READY;
SPIN: ld.acquire.gpu.global.u32 %r16, [%rd8]; setp.eq.u32 %p2, %r16, 0; @%p2 bra SPIN; // flag
READY: bar.sync 0; // all see it
mad.wide.u32 %rd7, %r15, {C_BYTES}, %rd5;
{_each_fragment("cvt.u64.u32 %rd8, %r24; add.u64 %rd7, %rd7, %rd8;", "ld.global.f32 %g, [%rd7+{at}]; add.f32 {x}, {x}, %g; ld.global.f32 %g, [%rd7+{at}+4]; add.f32 {y}, {y}, %g;")}
add.u32 %k, %k, %r1;
bra MORE;
STORE:
ld.param.u64 %rd7, [c]; ld.param.u32 %r10, [across]; mul.lo.u32 %r10, %r10, {EDGE * 4}; mad.wide.u32 %rd7, %row, %r10, %rd7; mad.wide.u32 %rd7, %column, 4, %rd7;
shr.u32 %r20, %lane, 5; and.b32 %r21, %lane, 31; shr.u32 %r22, %r21, 2; mad.lo.u32 %r22, %r20, 16, %r22; and.b32 %r23, %r21, 3;
mad.wide.u32 %rd7, %r22, %r10, %rd7; mad.wide.u32 %rd7, %r23, 8, %rd7; mad.wide.u32 %rd8, %r10, 8, %rd7;
{_rows()}
DONE: setp.lt.u32 %p2, %it, %end; @%p2 bra SEGMENT;
ret;
}}
"""


def _rows() -> str:
    return "\n".join(
        f"st.global.v2.f32 [%rd{7 + i // 2 % 2}+{i // 4 * 32}], {{%f{i}, %f{i + 1}}};"
        for i in range(0, EDGE // 2, 2)
    )


def multicast() -> str:
    """Pairs of CTAs need the same tile of B: each loads a half of it for both."""
    size = 2 * TILE_BYTES
    return f"""{HEADER}.extern .shared .align 1024 .b8 memory[];
.visible .entry multicast({_MAP} ma[128], {_MAP} mb[128], {_MAP} mc[128], .param .u32 steps)
.maxntid 256
{{
{_REGISTERS}{_maps("ma", "mb", "mc")}ld.param.u32 %n, [steps]; mov.u32 %r1, %cluster_ctarank; mov.u32 %row, %ctaid.x; mul.lo.u32 %row, %row, {EDGE};
mov.u32 %column, %ctaid.y; mul.lo.u32 %column, %column, {EDGE};
{_inits(1, 1, 2, 2)}
@%p0 fence.mbarrier_init.release.cluster; // init fence
barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; // begin
mov.u32 %it, 0; mov.b16 %h, 3;
setp.ne.u32 %p2, %wg, 0; @%p2 bra CONSUMER;
@!%first bra END;
FETCH:
{_ring(2, size)}
xor.b32 %r4, %phase, 1; mul.lo.u32 %r5, %it, 64; mad.lo.u32 %r6, %r1, {TILE_BYTES // 2}, %b; mad.lo.u32 %r7, %r1, {EDGE // 2}, %column;
{_wait("EMPTY", "%empty", "%r4")}
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], {size};
{_COPY} [%a], [%ma, {{%r5, %row}}], [%full];
{_COPY}.multicast::cluster [%r6], [%mb, {{%r5, %r7}}], [%full], %h;
add.u32 %it, %it, 1; setp.lt.u32 %p2, %it, %n; @%p2 bra FETCH;
bra END;
CONSUMER:
setp.ne.u32 %add, 0, 0;
MULTIPLY:
{_ring(2, size)}
{_wait("FULL", "%full", "%phase")}
{_products()}wgmma.wait_group.sync.aligned 0;
mapa.shared::cluster.u32 %r8, %empty, 0; mapa.shared::cluster.u32 %r9, %empty, 1;
@%first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];
@%first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];
add.u32 %it, %it, 1; setp.lt.u32 %p2, %it, %n; @%p2 bra MULTIPLY;
add.u32 %out, %s, {2 * size};
{_each_fragment("add.u32 %r24, %r24, %out;", "st.shared.v2.f32 [%r24+{at}], {{{x}, {y}}};")}
fence.proxy.async.shared::cta; // for the store
bar.sync 1, 128; // all have written
@%first {_STORE} [%mc, {{%column, %row}}], [%out];
@%first cp.async.bulk.commit_group;
@%first cp.async.bulk.wait_group 0;
END:
barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; // end
ret;
}}
"""


def cluster_sum() -> str:
    """Each cluster of four adds 2048 numbers: lanes, warps, and CTAs through the first one's shared
    memory, whose mbarrier counts the bytes that come."""
    return f"""{HEADER}
.visible .entry cluster_sum(.param .u64 in, .param .u64 out)
.maxntid 128
{{
.reg .b32 %t, %r<20>; .reg .b64 %rd<6>; .reg .pred %p<4>, %wait, %first; .reg .f32 %f<10>;
.shared .align 8 .b64 bar; .shared .align 16 .f32 warps[4]; .shared .align 16 .f32 ctas[4];
mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %ctaid.x;
ld.param.u64 %rd1, [in]; mad.lo.u32 %r3, %r2, 128, %t; mad.wide.u32 %rd1, %r3, 16, %rd1; ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd1];
mov.u32 %r4, bar; mov.u32 %r5, ctas; mov.u32 %r6, warps;
setp.eq.and.u32 %p1, %r1, 0, %first;
@%p1 mbarrier.init.shared::cta.b64 [%r4], 1;
@%p1 fence.mbarrier_init.release.cluster; // init fence
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 16;
barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; // begin
add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; add.f32 %f1, %f1, %f3;
{"".join(f"shfl.sync.bfly.b32 %f2, %f1, {i}, 31, 0xffffffff; add.f32 %f1, %f1, %f2;" for i in (16, 8, 4, 2, 1))}
and.b32 %r7, %t, 31; setp.eq.u32 %p2, %r7, 0; shr.u32 %r8, %t, 5; mad.lo.u32 %r8, %r8, 4, %r6; @%p2 st.shared.f32 [%r8], %f1;
bar.sync 0; // warps
@!%first bra END;
ld.shared.v4.f32 {{%f1, %f2, %f3, %f4}}, [%r6];
add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; add.f32 %f1, %f1, %f3; mov.b32 %r9, %f1;
mad.lo.u32 %r10, %r1, 4, %r5; mapa.shared::cluster.u32 %r10, %r10, 0; mapa.shared::cluster.u32 %r11, %r4, 0;
st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r10], %r9, [%r11]; // send
@!%p1 bra END;
{_wait("ALL", "%r4", "0")} // all came
ld.shared.v4.f32 {{%f1, %f2, %f3, %f4}}, [%r5];
add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; add.f32 %f1, %f1, %f3;
ld.param.u64 %rd2, [out]; shr.u32 %r12, %r2, 2; mad.wide.u32 %rd2, %r12, 4, %rd2; st.global.f32 [%rd2], %f1;
END: ret;
}}
"""


def changed(ptx: str, changes) -> str:
    for old, new in changes:
        assert old in ptx, old
        ptx = ptx.replace(old, new)
    return ptx


def _operands(m: int, n: int, steps: int):
    rng = np.random.default_rng(m + n + steps)
    a = rng.integers(-4, 5, (m, 64 * steps)).astype(np.float16)
    b = rng.integers(-4, 5, (n, 64 * steps)).astype(np.float16)
    return a, b, np.full((m, n), np.nan, np.float32), a.astype(np.float32) @ b.astype(np.float32).T


def _tensor(array, rows: int, columns: int = EDGE, **options):
    element = {2: "f16", 4: "f32"}[array.itemsize]
    return tile.sim.tensor_map(
        array.ctypes.data, element, array.shape[::-1], array.strides[:1], (columns, rows), **options
    )


def launch_ping_pong(*changes, tiles=(2, 4), steps=2, grid=2, **options):
    a, b, c, want = _operands(EDGE * tiles[0], EDGE * tiles[1], steps)
    maps = [_tensor(a, EDGE, swizzle=128), _tensor(b, EDGE, swizzle=128), _tensor(c, EDGE)]
    report = tile.sim.launch(
        changed(ping_pong(), changes), "ping_pong", grid, 384,
        [*maps, steps, tiles[0] * tiles[1], tiles[1]],
        dynamic_shared=6 * TILE_BYTES + 2 * C_BYTES, allocations=[a, b, c], **options,
    )  # fmt: skip
    return report, c, want


def launch_stream_k(*changes, tiles=(1, 3), steps=4, grid=2, **options):
    a, b, c, want = _operands(EDGE * tiles[0], EDGE * tiles[1], steps)
    sums = np.zeros((grid, EDGE, EDGE), np.float32)
    flags = np.zeros(grid, np.uint32)
    maps = [_tensor(a, EDGE, swizzle=128), _tensor(b, EDGE, swizzle=128)]
    part = tiles[0] * tiles[1] * steps // grid
    assert part * grid == tiles[0] * tiles[1] * steps
    report = tile.sim.launch(
        changed(stream_k(), changes), "stream_k", grid, 128,
        [*maps, c, steps, part, tiles[1], sums, flags],
        dynamic_shared=2 * TILE_BYTES, allocations=[a, b], **options,
    )  # fmt: skip
    return report, c, want


def launch_multicast(*changes, tiles=(2, 2), steps=5, **options):
    a, b, c, want = _operands(EDGE * tiles[0], EDGE * tiles[1], steps)
    maps = [_tensor(a, EDGE, swizzle=128), _tensor(b, EDGE // 2, swizzle=128), _tensor(c, EDGE)]
    report = tile.sim.launch(
        changed(multicast(), changes), "multicast", tiles, 256, [*maps, steps], cluster=(2, 1),
        dynamic_shared=4 * TILE_BYTES + C_BYTES, allocations=[a, b, c], **options,
    )  # fmt: skip
    return report, c, want


def launch_cluster_sum(*changes, clusters=3, **options):
    rng = np.random.default_rng(clusters)
    x = rng.integers(-100, 100, (clusters, 2048)).astype(np.float32)
    out = np.full(clusters, np.nan, np.float32)
    report = tile.sim.launch(
        changed(cluster_sum(), changes), "cluster_sum", 4 * clusters, 128, [x, out], cluster=4,
        **options,
    )  # fmt: skip
    return report, out, x.sum(1)
