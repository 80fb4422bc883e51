# ruff: noqa: E501  (PTX text reads better unbroken)
"""The rarer asynchronous instructions: mbarrier operations, st.async, red.async, st.bulk, prefetches."""

from __future__ import annotations

import numpy as np
import pytest
from test_async import INIT, MAP, SYNC, WAIT, kinds, run

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(29)
OUT = [".param .u64 out"]
# One word of each thread goes to `out`.
STORE = "ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r1, %r1, %r2, %r30; mad.wide.u32 %rd1, %r1, 4, %rd1; st.global.b32 [%rd1], %r9;"


def test_pending_count_and_drop():
    """Of 64 threads half drop out; from the second phase on the rest is enough."""
    out = np.zeros(64, np.uint32)
    text = f"""
mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0; @%p15 mbarrier.init.shared.b64 [bar], 64; bar.sync 0;
mov.b32 %r9, 0; setp.ge.u32 %p1, %r30, 32; @%p1 bra LEAVE;
mbarrier.arrive.shared.b64 %rd2, [bar]; WAIT0: mbarrier.test_wait.shared.b64 %p2, [bar], %rd2; @!%p2 bra WAIT0;
mbarrier.arrive.release.cta.shared::cta.b64 %rd3, [bar]; mbarrier.pending_count.b64 %r9, %rd3;
WAIT1: mbarrier.try_wait.acquire.cta.shared::cta.b64 %p2, [bar], %rd3; @!%p2 bra WAIT1;
bra DONE;
LEAVE: mbarrier.arrive_drop.shared.b64 %rd2, [bar];
DONE: {STORE}
bar.sync 0; @%p15 mbarrier.inval.shared.b64 [bar];
"""
    assert run(text, 1, 64, [out], OUT).ok
    # The state is the one before the arrivals of the warp, as on an H200.
    assert (out[:32] == 32).all() and (out[32:] == 0).all()


def test_arrivals_by_count_and_transactions_by_hand():
    out = np.zeros(32, np.uint32)
    text = f"""
mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0; @%p15 mbarrier.init.shared::cta.b64 [bar], 8; bar.sync 0;
mov.u32 %r9, 0; @!%p15 bra WAITERS;
mbarrier.arrive.shared.b64 _, [bar], 7; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 100;
mbarrier.arrive.shared.b64 _, [bar]; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 60;
mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.u32 %r9, 1, 0, %p1;
mbarrier.complete_tx.shared::cta.b64 [bar], 40;
WAITERS: {WAIT}
{STORE}
"""
    assert run(text, 1, 32, [out], OUT).ok
    assert (out == 0).all()  # not done before the last 40 bytes


def test_wait_with_a_time_limit_and_parity():
    out = np.zeros(32, np.uint32)
    text = f"""
mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0; @%p15 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;
mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; selp.u32 %r9, 1, 0, %p1;
mbarrier.arrive.shared.b64 _, [bar];
AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0, 1000; @!%p2 bra AGAIN;
mbarrier.test_wait.parity.shared.b64 %p3, [bar], 1; @%p3 add.u32 %r9, %r9, 10;
{STORE}
"""
    run(text, 1, 32, [out], OUT)
    # The phase before the first counts as complete; the running one does not.
    assert (out == 1).all()


@pytest.mark.parametrize("noinc", ["", ".noinc"])
def test_copies_arrive_at_an_mbarrier(noinc):
    source, out = rng.integers(0, 1 << 30, 32).astype(np.int32), np.zeros(32, np.int32)
    count = 32 if noinc else 1
    own = "" if noinc else "@%p15 mbarrier.arrive.shared.b64 _, [bar];"
    text = f"""
mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0; @%p15 mbarrier.init.shared.b64 [bar], {count}; bar.sync 0;
ld.param.u64 %rd2, [in]; mad.wide.u32 %rd2, %r30, 4, %rd2; mov.u32 %r3, buffer; mad.lo.u32 %r4, %r30, 4, %r3;
cp.async.ca.shared.global [%r4], [%rd2], 4; cp.async.mbarrier.arrive{noinc}.shared::cta.b64 [bar]; bar.sync 0; {own}
WAITING xor.b32 %r5, %r30, 31; mad.lo.u32 %r5, %r5, 4, %r3; ld.shared.b32 %r9, [%r5];
{STORE}
"""
    params = [".param .u64 in", *OUT]
    assert run(text.replace("WAITING", WAIT), 1, 32, [source, out], params).ok
    assert (out == source[::-1]).all()
    report = run(text.replace("WAITING", ""), 1, 32, [source, out], params, raise_on_finding=False)
    assert "async-race" in kinds(report)


@pytest.mark.parametrize(("op", "kind"), [("add", "u32"), ("add", "s32"), ("add", "u64"), ("min", "s32"), ("max", "u32"), ("inc", "u32"), ("dec", "u32"), ("and", "b32"), ("or", "b32"), ("xor", "b32")])  # fmt: skip
def test_red_async(op, kind):
    """Every thread of one CTA updates a word of the other one's shared memory."""
    bits = int(kind[1:])
    dtype = f"{'i' if kind[0] == 's' else 'u'}{bits // 8}"
    start, value = (rng.integers(0, 50, 2).astype(dtype) for _ in range(2))
    if kind[0] == "s":
        value[0] = -3
    out = np.zeros(2, dtype)
    register = "%r9" if bits == 32 else "%rd9"
    text = (
        INIT
        + f"""
mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; ld.param.u64 %rd1, [start]; mad.wide.u32 %rd1, %r1, {bits // 8}, %rd1;
ld.param.u64 %rd2, [value]; mad.wide.u32 %rd2, %r1, {bits // 8}, %rd2;
ld.global.b{bits} {register}, [%rd1]; @%p15 st.shared.b{bits} [buffer], {register};
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bits // 8 * 32};
{SYNC}
ld.global.b{bits} {register}, [%rd2]; mov.u32 %r3, buffer; mapa.shared::cluster.u32 %r4, %r3, %r2; mov.u32 %r5, bar; mapa.shared::cluster.u32 %r6, %r5, %r2;
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{op}.{kind} [%r4], {register}, [%r6];
{WAIT}
ld.shared.b{bits} {register}, [buffer]; ld.param.u64 %rd3, [out]; mad.wide.u32 %rd3, %r1, {bits // 8}, %rd3; @%p15 st.global.b{bits} [%rd3], {register};
{SYNC}
"""
    )
    names = [".param .u64 start", ".param .u64 value", ".param .u64 out"]
    run(text, 2, 32, [start, value, out], names, cluster=2)
    want = []
    for rank in range(2):
        old, by = int(start[rank]), int(value[rank ^ 1])
        for _ in range(32):
            old = {
                "add": old + by,
                "min": min(old, by),
                "max": max(old, by),
                "inc": 0 if old >= by else old + 1,
                "dec": by if old == 0 or old > by else old - 1,
                "and": old & by,
                "or": old | by,
                "xor": old ^ by,
            }[op]
        want.append(old)
    assert out.tolist() == want


@pytest.mark.parametrize("form", ["b32", "b64", "v2.b32", "v4.b32", "v2.b64"])
def test_st_async_forms(form):
    size = 4 * (2 if "64" in form else 1) * (int(form[1]) if form[0] == "v" else 1)
    source, out = rng.integers(0, 256, (2, 32, size)).astype(np.uint8), np.zeros((2, 32, size), np.uint8)  # fmt: skip
    wide, count = "64" in form, int(form[1]) if form[0] == "v" else 1
    names = [f"%{'rd' if wide else 'r'}{20 + i}" for i in range(count)]
    group = names[0] if count == 1 else "{" + ", ".join(names) + "}"
    text = (
        INIT
        + SYNC
        + f"""
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {size * 32};
mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mad.lo.u32 %r3, %r1, 32, %r30;
ld.param.u64 %rd1, [in]; mad.wide.u32 %rd1, %r3, {size}, %rd1; ld.global.{form} {group}, [%rd1];
mov.u32 %r4, buffer; mad.lo.u32 %r4, %r30, {size}, %r4; mapa.shared::cluster.u32 %r5, %r4, %r2; mov.u32 %r6, bar; mapa.shared::cluster.u32 %r6, %r6, %r2;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{form} [%r5], {group}, [%r6];
{WAIT}
ld.shared.{form} {group}, [%r4]; ld.param.u64 %rd2, [out]; mad.wide.u32 %rd2, %r3, {size}, %rd2; st.global.{form} [%rd2], {group};
{SYNC}
"""
    )
    assert run(text, 2, 32, [source, out], [".param .u64 in", *OUT], cluster=2).ok
    assert (out == source[::-1]).all()


@pytest.mark.parametrize("scope", ["gpu", "sys"])
@pytest.mark.parametrize("kind,register", [("b32", "%r6"), ("u64", "%rd3")])
def test_st_async_release(kind, register, scope):
    """The second thread sees what was stored before the flag that it waits for."""

    def both(store):
        return f"""
ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [flag]; mov.u32 %r5, %ctaid.x; mov.b32 %r6, 1; mov.b64 %rd3, 1;
setp.ne.u32 %p1, %r5, 0; @%p1 bra SECOND; st.global.b32 [%rd1], 77; {store}.{scope}.global.{kind} [%rd2], {register}; bra END;
SECOND: ld.acquire.gpu.global.b32 %r7, [%rd2]; setp.eq.u32 %p2, %r7, 0; @%p2 bra SECOND;
ld.global.b32 %r8, [%rd1]; st.global.b32 [%rd2+8], %r8; END:
"""

    params = [".param .u64 data", ".param .u64 flag"]
    for seed in range(3):
        data, flag = np.zeros(4, np.uint32), np.zeros(4, np.uint32)
        run(both("st.async.release"), 2, 1, [data, flag], params, schedule_seed=seed)
        assert flag[0] == 1 and flag[2] == 77
    data, flag = np.zeros(4, np.uint32), np.zeros(4, np.uint32)
    with pytest.raises(tile.sim.SimulationError, match="race"):
        run(both("st.relaxed"), 2, 1, [data, flag], params)
    with pytest.raises(TileError, match="released to"):
        run("st.async.release.cta.global.b32 [%rd2], %r6;", 1, 1, [], [])


def test_st_bulk_writes_zeros():
    out = np.full(32, 9, np.uint32)
    text = f"""
mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0; mov.u32 %r3, buffer; mad.lo.u32 %r4, %r30, 4, %r3; st.shared.b32 [%r4], 5; bar.sync 0;
mov.b64 %rd2, 64; @%p15 st.bulk.weak.shared::cta [buffer], %rd2, 0; bar.sync 0; ld.shared.b32 %r9, [%r4];
{STORE}
"""
    run(text, 1, 32, [out], OUT)
    assert out.tolist() == [0] * 16 + [5] * 16
    with pytest.raises(tile.sim.SimulationError, match="multiples of 8"):
        run(text.replace("64; @", "60; @"), 1, 32, [out], OUT)


def test_getctarank_and_the_address_behind_it():
    out = np.zeros((4, 32), np.uint32)
    text = f"""
mov.u32 %r30, %tid.x; and.b32 %r2, %r30, 3; mov.u32 %r3, buffer; mapa.shared::cluster.u32 %r4, %r3, %r2;
getctarank.shared::cluster.u32 %r9, %r4; mov.u64 %rd2, buffer; cvta.shared.u64 %rd2, %rd2; mapa.u64 %rd3, %rd2, %r2; getctarank.u64 %r5, %rd3;
mad.lo.u32 %r9, %r5, 100, %r9; getctarank.shared::cluster.u32 %r6, %r3; mad.lo.u32 %r9, %r6, 10000, %r9;
{STORE}
"""
    run(text, 4, 32, [out], OUT, cluster=4)
    lanes = np.arange(32) % 4
    assert (out == np.arange(4)[:, None] * 10000 + lanes * 101).all()


def test_byte_masks_of_bulk_stores():
    source, out = rng.integers(1, 256, 512).astype(np.uint8), np.zeros(512, np.uint8)
    text = """
mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0; ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
mov.u32 %r1, buffer; mad.lo.u32 %r2, %r30, 16, %r1; mad.wide.u32 %rd3, %r30, 16, %rd1;
ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%rd3]; st.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6};
fence.proxy.async; bar.sync 0; mov.b16 %h1, 0x0F81;
@%p15 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd2], [%r1], 512, %h1;
@%p15 cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
"""
    run(text, 1, 32, [source, out], [".param .u64 in", *OUT])
    keep = 0x0F81 >> np.arange(512) % 16 & 1
    assert (out == source * keep).all()


def test_prefetches_have_no_effect():
    data, map_bytes = np.arange(64, dtype=np.int32), None
    map_bytes = tile.sim.tensor_map(data.__array_interface__["data"][0], "s32", (8, 8), (32,), (4, 4))  # fmt: skip
    text = """
mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; ld.param.u64 %rd2, [out]; mov.u32 %r1, 0;
prefetch.tensormap [%rd1]; prefetch.param.tensormap [map];
cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r1, %r1}]; cp.async.bulk.prefetch.L2.global [%rd2], 64;
st.global.b32 [%rd2], 3;
"""
    run(text, 1, 1, [map_bytes, data], MAP, allocations=[data])
    assert data[0] == 3 and (data[1:] == np.arange(1, 64)).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];", "im2col needs .3d to .5d"),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];", "needs .target sm_100a"),
        ("multimem.ld_reduce.global.u32 %r1, [%rd1];", "needs an operation"),
        ("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3,%r4}, {%f1,%f2,%f3,%f4}, %r5, 4;", "selectors up to 3"),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, %r1, 2, %p1, 1, 1, 0, 0;", "selectors up to 1"),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%r1}, [%r3];", "needs .b16"),
        ("stmatrix.sync.aligned.m8n16.x1.shared.b16 [%r3], {%r1};", "is for loads"),
        ("suld.b.1d.b32.trap %r1, [%rd1, {%r2}];", "textures and surfaces are not supported"),
        ("mbarrier.frob.shared.b64 [bar];", "unknown operation of mbarrier"),
        ("st.async.shared::cluster.b32 [%r1], %r2, [%r3];", "complete_tx"),
        ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];", "needs an operation"),
    ],
)  # fmt: skip
def test_what_is_refused_says_so(text, message):
    with pytest.raises(TileError, match=message):
        run(text, 1, 1, [], [])
