# ruff: noqa: E501  (PTX text reads better unbroken)
"""cp.async.bulk and cp.reduce.async.bulk without tensor maps: every direction, operation and type."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from test_async import INIT, IO, SYNC, WAIT, kinds, run

from tile.errors import TileError

rng = np.random.default_rng(19)

# Threads fill the buffer from `in`, then one of them sends it to `out`.
SEND = """
mov.u32 %r30, %tid.x; setp.eq.u32 %p15, %r30, 0; ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
mov.u32 %r1, buffer; mad.lo.u32 %r2, %r30, 16, %r1; mad.wide.u32 %rd3, %r30, 16, %rd1;
ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%rd3]; st.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6};
FENCE
bar.sync 0;
@%p15 COPY
@%p15 cp.async.bulk.commit_group;
AFTER
"""
STORE = "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 512;"


def send(copy, source, out, fence="fence.proxy.async;", after="cp.async.bulk.wait_group 0;", **options):  # fmt: skip
    text = SEND.replace("FENCE", fence).replace("COPY", copy).replace("AFTER", after)
    return run(text, 1, 32, [source, out], IO, **options)


def test_store_and_its_fence():
    source, out = rng.integers(0, 1 << 30, 128).astype(np.int32), np.zeros(128, np.int32)
    assert send(STORE, source, out).ok
    assert (out == source).all()
    report = send(STORE, source, out, fence="", raise_on_finding=False)
    assert kinds(report) == {"missing-proxy-fence"}
    assert report.findings[0]["other_place"]["instruction"] == "st"


def test_source_overwritten_before_it_was_read():
    source, out = rng.integers(0, 1 << 30, 128).astype(np.int32), np.zeros(128, np.int32)
    again = "bar.sync 0; st.shared.b32 [%r2], 1;"
    report = send(STORE, source, out, after=again, raise_on_finding=False)
    assert kinds(report) == {"async-race", "async-exit"}
    assert send(STORE, source, out, after="cp.async.bulk.wait_group.read 0;" + again).ok


OPERATIONS = [
    *[("add", k) for k in ("u32", "s32", "u64", "f16", "bf16", "f32", "f64")],
    *[(op, k) for op in ("min", "max") for k in ("u32", "s32", "u64", "s64", "f16", "bf16")],
    *[(op, "u32") for op in ("inc", "dec")],
    *[(op, k) for op in ("and", "or", "xor") for k in ("b32", "b64")],
]
DTYPES = {"u32": np.uint32, "s32": np.int32, "u64": np.uint64, "s64": np.int64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "b32": np.uint32, "b64": np.uint64}  # fmt: skip


@pytest.mark.parametrize(("op", "kind"), OPERATIONS, ids=[f"{o}_{k}" for o, k in OPERATIONS])
def test_reductions(op, kind):
    dtype = np.dtype(DTYPES[kind])
    a, b = (rng.integers(0, 256, 512).astype(np.uint8).view(dtype) for _ in range(2))
    if kind in ("f16", "bf16", "f32", "f64"):
        a, b = (rng.integers(-99, 99, 512 // dtype.itemsize).astype(dtype) for _ in range(2))
    if op in ("inc", "dec"):
        b[::2] = a[::2] = rng.integers(0, 3, len(a[::2]))
        a[::4] += 1
    with np.errstate(over="ignore"):
        want = {
            "add": lambda: (a + b).astype(dtype),
            "min": lambda: np.minimum(a, b),
            "max": lambda: np.maximum(a, b),
            "inc": lambda: np.where(a >= b, 0, a + 1).astype(dtype),
            "dec": lambda: np.where((a == 0) | (a > b), b, a - 1).astype(dtype),
            "and": lambda: a & b,
            "or": lambda: a | b,
            "xor": lambda: a ^ b,
        }[op]()
    noftz = ".noftz" if op == "add" and kind in ("f16", "bf16") else ""
    out = a.copy()
    copy = (
        f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}{noftz}.{kind} [%rd2], [%r1], 512;"
    )
    assert send(copy, b, out).ok
    assert (out == want).all()


BETWEEN = (
    INIT
    + SYNC
    + """
ld.param.u64 %rd1, [in]; mov.u32 %r9, %ctaid.x; mad.wide.u32 %rd1, %r9, 256, %rd1; mad.wide.u32 %rd1, %r30, 8, %rd1;
ld.global.v2.b32 {%r2, %r3}, [%rd1]; mov.u32 %r1, buffer; mad.lo.u32 %r4, %r30, 8, %r1; st.shared.v2.b32 [%r4], {%r2, %r3};
fence.proxy.async; bar.sync 0;
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
mov.u32 %r5, %cluster_ctarank; xor.b32 %r5, %r5, 1; add.u32 %r6, %r1, 1024; mapa.shared::cluster.u32 %r6, %r6, %r5;
mov.u32 %r7, bar; mapa.shared::cluster.u32 %r7, %r7, %r5;
@%p15 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r1], 256, [%r7];
"""
    + WAIT
    + """
ld.shared.v2.b32 {%r2, %r3}, [%r4+1024]; ld.param.u64 %rd2, [out]; mad.wide.u32 %rd2, %r9, 256, %rd2; mad.wide.u32 %rd2, %r30, 8, %rd2;
st.global.v2.b32 [%rd2], {%r2, %r3};
"""
    + SYNC
)


def test_between_ctas_of_a_cluster():
    source, out = rng.integers(0, 1 << 30, (2, 64)).astype(np.int32), np.zeros((2, 64), np.int32)
    report = run(BETWEEN, 2, 32, [source, out], IO, cluster=2)
    assert report.ok and (out == source[::-1]).all()


@pytest.mark.parametrize("cluster", [{}, {"cluster": 1}])
def test_copies_between_ctas_need_a_cluster(cluster):
    """An H200 stops there. In a cluster of two the CTA may copy to itself."""
    to_itself = BETWEEN.replace("xor.b32 %r5, %r5, 1;", "")
    source, out = rng.integers(0, 1 << 30, (2, 64)).astype(np.int32), np.zeros((2, 64), np.int32)
    report = run(to_itself, 2, 32, [source, out], IO, raise_on_finding=False, **cluster)
    assert "not-remote" in report.messages[0] and "a cluster of two" in report.messages[0]
    report = run(to_itself, 2, 32, [source, out], IO, cluster=2)
    assert report.ok and (out == source).all()


@pytest.mark.parametrize(
    ("copy", "message"),
    [
        (STORE.replace("512", "24"), "16"),
        (STORE.replace("[%r1]", "[%r1+8]"), "align"),
        (STORE.replace("[%rd2]", "[%rd2+8]"), "align"),
        (STORE.replace("512", "4096"), "out-of-bounds"),
    ],
)
def test_bad_ranges(copy, message):
    arrays = [np.zeros(128, np.int32), np.zeros(128, np.int32)]
    report = send(copy, *arrays, raise_on_finding=False)
    assert message in report.messages[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cp.async.bulk.global.shared::cta [%rd2], [%r1], 512;", "bulk_group"),
        ("cp.async.bulk.shared::cluster.global.bulk_group [%r1], [%rd2], 512;", "mbarrier"),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.u32 [%rd2], [%r1], 512;", "operation"),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add [%rd2], [%r1], 512;", "type"),
        ("cp.async.bulk.nowhere [%rd2], [%r1], 512;", "nowhere|needs|direction"),
    ],
)
def test_bad_forms(text, message):
    with pytest.raises(TileError, match=message):
        run(text, 1, 1, [], [])
