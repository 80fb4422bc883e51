# ruff: noqa: E501  (PTX text reads better unbroken)
"""mbarriers, bulk copies, TMA, clusters: results, and what the checkers say about misuse."""

from __future__ import annotations

import numpy as np
import pytest
from ptxlib import header_for

import tile.sim

rng = np.random.default_rng(3)


def run(text, grid, block, args, params, shared=None, **options):
    declarations = ", ".join(params)
    body = shared or ".shared .align 1024 .b8 buffer[16384]; .shared .align 8 .b64 bar;"
    registers = (
        ".reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .pred %p<16>; .reg .b16 %h<8>; .reg .f32 %f<16>;"
    )
    ptx = (
        header_for(text)
        + f".visible .entry op({declarations})\n{{\n{body}\n{registers}\n{text}\nret;\n}}\n"
    )
    options.setdefault("max_instructions", 2_000_000)
    return tile.sim.launch(ptx, "op", grid, block, args, **options)


def kinds(report):
    return {f["kind"] for f in report.findings}


INIT = """
mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0;
@%p15 mbarrier.init.shared.b64 [bar], 1;
fence.mbarrier_init.release.cluster;
bar.sync 0;
"""
WAIT = """
{ .reg .pred %done;
WAITING: mbarrier.try_wait.parity.shared.b64 %done, [bar], 0;
@!%done bra WAITING; }
"""
MAP = [".param .align 64 .b8 map[128]", ".param .u64 out"]


def load_box(rank, coordinates, total, element_bytes, count):
    """One thread fetches a box by TMA; all 32 copy it out as it lies in shared memory."""
    coords = ", ".join(str(c) for c in coordinates)
    words = total // 4
    return (
        INIT
        + f"""
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {total};
mov.b64 %rd1, map;
cvta.param.u64 %rd1, %rd1;
@%p15 cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [buffer], [%rd1, {{{coords}}}], [bar];
{WAIT}
ld.param.u64 %rd2, [out]; mov.u32 %r1, %r30;
COPY: setp.ge.u32 %p1, %r1, {words}; @%p1 bra END;
shl.b32 %r2, %r1, 2; mov.u32 %r3, buffer; add.u32 %r3, %r3, %r2; ld.shared.b32 %r4, [%r3];
cvt.u64.u32 %rd3, %r2; add.u64 %rd4, %rd2, %rd3; st.global.b32 [%rd4], %r4;
add.u32 %r1, %r1, 32; bra COPY;
END:
"""
    ).replace("{coords}", coords)


def box_of(array, start, box):
    """The box with zeros outside, in memory order (outermost first)."""
    out = np.zeros(box[::-1], array.dtype)
    for index in np.ndindex(*box[::-1]):
        where = [s + i for s, i in zip(start[::-1], index, strict=True)]
        if all(0 <= w < n for w, n in zip(where, array.shape, strict=True)):
            out[index] = array[tuple(where)]
    return out


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("start", [(0, 0), (16, 5), (-8, -3), (56, 30)])
def test_tma_load_2d(swizzle, start):
    array = rng.standard_normal((37, 72)).astype(np.float16)
    inner = {0: 64, 32: 16, 64: 32, 128: 64}[swizzle]
    box = (inner, 16)
    tensor = tile.sim.tensor_map(array.ctypes.data, "f16", (72, 37), (144,), box, swizzle=swizzle)
    out = np.zeros(inner * 16, np.float16)
    report = run(
        load_box(2, start, out.nbytes, 2, 0), 1, 32, [tensor, out], MAP, allocations=[array]
    )
    want = box_of(array, start, box).view(np.uint8).ravel()
    got = out.view(np.uint8)
    span = max(swizzle, 16)
    at = np.arange(want.size)
    place = ((at >> 4) ^ ((at >> 7) & (span // 16 - 1))) << 4 | at & 15
    assert (got[place] == want).all()
    assert (
        report.counters["async_bytes"]
        == np.count_nonzero(box_of(np.ones_like(array), start, box)) * 2
    )


@pytest.mark.parametrize("rank", [1, 3, 4, 5])
def test_tma_load_ranks(rank):
    shape = (20, 6, 5, 4, 3)[:rank][::-1]
    array = np.ascontiguousarray(rng.standard_normal(shape).astype(np.float32))
    box = (8, 3, 2, 2, 2)[:rank]
    start = (4, 5, 1, -1, 2)[:rank]
    strides = array.strides[::-1][1:]
    tensor = tile.sim.tensor_map(array.ctypes.data, "f32", shape[::-1], strides, box)
    out = np.zeros(box[::-1], np.float32)
    run(load_box(rank, start, out.nbytes, 4, 0), 1, 32, [tensor, out], MAP, allocations=[array])
    assert (out == box_of(array, start, box)).all()


STORE = """
mov.u32 %r30, %tid.x; mov.u32 %r1, buffer; mad.lo.u32 %r2, %r30, 16, %r1;
ld.param.u64 %rd1, [in]; mad.wide.u32 %rd1, %r30, 16, %rd1;
ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%rd1];
st.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6};
FENCE
bar.sync 0;
setp.eq.u32 %p1, %r30, 0;
mov.b64 %rd2, map; cvta.param.u64 %rd2, %rd2;
@%p1 INSTRUCTION [%rd2, {4, 6}], [buffer];
@%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group.read 0;
"""
STORE_PARAMS = [".param .align 64 .b8 map[128]", ".param .u64 in"]


@pytest.mark.parametrize("op", ["", "add", "max"])
def test_tma_store_and_reduce(op):
    array = rng.integers(-50, 50, (12, 16)).astype(np.int32)
    source = rng.integers(-50, 50, (8, 8)).astype(np.int32)
    before = array.copy()
    tensor = tile.sim.tensor_map(array.ctypes.data, "s32", (16, 12), (64,), (8, 8))
    name = (
        f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{op}.tile.bulk_group"
        if op
        else "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
    )
    text = STORE.replace("INSTRUCTION", name)
    run(
        text.replace("FENCE", "fence.proxy.async.shared::cta;"),
        1,
        16,
        [tensor, source],
        STORE_PARAMS,
        allocations=[array],
    )
    want = before.copy()
    part = want[6:12, 4:12]
    part[...] = {"": source[:6], "add": part + source[:6], "max": np.maximum(part, source[:6])}[op]
    assert (array == want).all()
    report = run(
        text.replace("FENCE", ""),
        1,
        16,
        [tensor, source],
        STORE_PARAMS,
        allocations=[array],
        raise_on_finding=False,
    )
    assert kinds(report) == {"missing-proxy-fence"}


def test_tensor_map_made_in_the_kernel():
    array = rng.standard_normal((10, 32)).astype(np.float32)
    scratch = np.zeros(256 + 128, np.uint8)
    scratch = scratch[-scratch.ctypes.data % 128 :][:128]
    out = np.zeros((4, 16), np.float32)
    text = (
        INIT
        + """
ld.param.u64 %rd1, [array]; ld.param.u64 %rd2, [scratch]; mov.u32 %r1, buffer;
shl.b32 %r2, %r30, 2; add.u32 %r3, %r1, %r2; st.shared.b32 [%r3+8192], 0; bar.sync 0;
@%p15 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1+8192], %rd1;
@%p15 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r1+8192], 1;
@%p15 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1+8192], 0, 16;
@%p15 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1+8192], 1, 4;
@%p15 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1+8192], 0, 32;
@%p15 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1+8192], 1, 10;
@%p15 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r1+8192], 0, 128;
@%p15 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r1+8192], 0, 1;
@%p15 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r1+8192], 1, 1;
@%p15 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r1+8192], 7;
@%p15 tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r1+8192], 0;
@%p15 tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r1+8192], 0;
@%p15 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r1+8192], 0;
bar.warp.sync 0xffffffff;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%r1+8192], 128;
fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
@%p15 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {8, 8}], [bar];
"""
        + WAIT
        + """
ld.shared.v2.b32 {%r4, %r5}, [%r3]; ld.param.u64 %rd3, [out]; mad.wide.u32 %rd3, %r30, 4, %rd3;
st.global.b32 [%rd3], %r4; ld.shared.b32 %r6, [%r3+128]; st.global.b32 [%rd3+128], %r6;
"""
    ).replace("ld.shared.v2.b32 {%r4, %r5}", "ld.shared.b32 %r4")
    run(
        text,
        1,
        32,
        [array, scratch, out],
        [".param .u64 array", ".param .u64 scratch", ".param .u64 out"],
    )
    assert (out == box_of(array, (8, 8), (16, 4))).all()


BULK = (
    INIT
    + """
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
@%p15 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [%rd1], 512, [bar];
WAIT
mov.u32 %r1, buffer; mad.lo.u32 %r2, %r30, 16, %r1;
ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r2];
mad.wide.u32 %rd3, %r30, 16, %rd2; st.global.v4.b32 [%rd3], {%r3, %r4, %r5, %r6};
"""
)
IO = [".param .u64 in", ".param .u64 out"]


def test_bulk_load_and_missing_wait():
    source, out = rng.integers(0, 1 << 30, 128).astype(np.int32), np.zeros(128, np.int32)
    run(BULK.replace("WAIT", WAIT), 1, 32, [source, out], IO)
    assert (out == source).all()
    report = run(BULK.replace("WAIT", ""), 1, 32, [source, out], IO, raise_on_finding=False)
    # Nobody waits: the copy may also outlive the CTA.
    assert kinds(report) == {"async-race", "async-exit"}
    assert "waits for its completion" in report.messages[0] and "cp" in report.messages[0]


def test_mbarrier_that_nobody_completes_is_a_deadlock():
    with pytest.raises(
        tile.sim.SimulationError, match=r"deadlock.*\n.*an mbarrier that nobody completes"
    ):
        run(INIT + WAIT, 1, 64, [], [])


def test_mbarrier_phases_and_tokens():
    out = np.zeros((2, 96), np.uint32)
    text = """
mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0;
@%p15 mbarrier.init.shared.b64 [bar], 96; bar.sync 0;
ld.param.u64 %rd9, [out]; mad.wide.u32 %rd9, %r30, 4, %rd9;
mov.u32 %r3, buffer; shl.b32 %r4, %r30, 2; add.u32 %r5, %r3, %r4;
mov.u32 %r6, 0;
PHASE:
mad.lo.u32 %r7, %r6, 1000, %r30; st.shared.b32 [%r5], %r7;
mbarrier.arrive.shared.b64 %rd1, [bar];
SPIN: mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; @!%p1 bra SPIN;
sub.u32 %r8, 95, %r30; shl.b32 %r8, %r8, 2; add.u32 %r8, %r8, %r3; ld.shared.b32 %r9, [%r8];
st.global.b32 [%rd9], %r9;
mbarrier.arrive.shared.b64 %rd1, [bar];
SPIN2: mbarrier.try_wait.shared.b64 %p1, [bar], %rd1; @!%p1 bra SPIN2;
add.u64 %rd9, %rd9, 384; add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 2; @%p2 bra PHASE;
"""
    report = run(text, 1, 96, [out], [".param .u64 out"])
    assert report.ok
    assert (out == np.stack([95 - np.arange(96), 1000 + 95 - np.arange(96)])).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mbarrier.arrive.shared.b64 _, [bar];", "is not initialized"),
        ("mbarrier.init.shared.b64 [bar], 0;", "cannot expect 0"),
        (
            "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.shared.b64 _, [bar], 2;",
            "more arrivals .* 2 of 1",
        ),
        (
            "mbarrier.init.shared.b64 [bar], 1; mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 1048575; mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 9;",
            "transaction count",
        ),
        ("mbarrier.init.shared.b64 [buffer+4], 1;", "misaligned"),
    ],
)
def test_mbarrier_misuse(text, message):
    with pytest.raises(tile.sim.SimulationError, match=message):
        run(text, 1, 1, [], [])


CLUSTER = """
mov.u32 %r30, %tid.x; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, buffer;
shl.b32 %r3, %r30, 2; add.u32 %r4, %r2, %r3; mad.lo.u32 %r5, %r1, 100, %r30; st.shared.b32 [%r4], %r5;
SYNC
xor.b32 %r6, %r1, 1; mapa.shared::cluster.u32 %r7, %r4, %r6; ld.shared::cluster.b32 %r8, [%r7];
mov.u32 %r9, %ctaid.x; shl.b32 %r10, %r9, 5; add.u32 %r10, %r10, %r30;
ld.param.u64 %rd1, [out]; mad.wide.u32 %rd1, %r10, 4, %rd1; st.global.b32 [%rd1], %r8;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
"""
SYNC = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"


def test_distributed_shared_memory():
    out = np.zeros((6, 32), np.int32)
    run(CLUSTER.replace("SYNC", SYNC), 6, 32, [out], [".param .u64 out"], cluster=2)
    want = [[(cta ^ 1) % 2 * 100 + t for t in range(32)] for cta in range(6)]
    assert (out == want).all()
    report = run(
        CLUSTER.replace("SYNC", ""),
        6,
        32,
        [out],
        [".param .u64 out"],
        cluster=2,
        raise_on_finding=False,
    )
    assert kinds(report) & {"race", "uninitialized"}


def test_multicast():
    source, out = rng.integers(0, 1000, 64).astype(np.int32), np.zeros((4, 64), np.int32)
    text = (
        INIT
        + SYNC
        + """
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
mov.u32 %r1, %cluster_ctarank; setp.eq.and.u32 %p1, %r1, 0, %p15; ld.param.u64 %rd1, [in]; mov.b16 %h1, 15;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [buffer], [%rd1], 256, [bar], %h1;
"""
        + WAIT
        + """
mov.u32 %r2, buffer; shl.b32 %r3, %r30, 3; add.u32 %r4, %r2, %r3; ld.shared.v2.b32 {%r5, %r6}, [%r4];
ld.param.u64 %rd2, [out]; mov.u32 %r7, %ctaid.x; mad.wide.u32 %rd2, %r7, 256, %rd2; cvt.u64.u32 %rd3, %r3; add.u64 %rd2, %rd2, %rd3;
st.global.v2.b32 [%rd2], {%r5, %r6};
"""
        + SYNC
    )
    run(text, 4, 32, [source, out], IO, cluster=4)
    assert (out == source).all()


def test_st_async_and_remote_arrive():
    out = np.zeros((2, 32), np.int32)
    text = (
        INIT
        + SYNC
        + """
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r3, buffer; shl.b32 %r4, %r30, 2; add.u32 %r5, %r3, %r4;
mapa.shared::cluster.u32 %r6, %r5, %r2; mov.u32 %r7, bar; mapa.shared::cluster.u32 %r8, %r7, %r2; mad.lo.u32 %r9, %r1, 50, %r30;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6], %r9, [%r8];
"""
        + WAIT
        + """
ld.shared.b32 %r10, [%r5]; mov.u32 %r11, %ctaid.x; shl.b32 %r11, %r11, 7; add.u32 %r11, %r11, %r4;
cvt.u64.u32 %rd1, %r11; ld.param.u64 %rd2, [out]; add.u64 %rd2, %rd2, %rd1; st.global.b32 [%rd2], %r10;
"""
        + SYNC
    )
    run(text, 2, 32, [out], [".param .u64 out"], cluster=2)
    assert (out == [[50 + t for t in range(32)], list(range(32))]).all()
