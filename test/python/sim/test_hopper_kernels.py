# ruff: noqa: E501  (PTX text reads better unbroken)
"""Hand-written Hopper kernels run clean, with the right result, in any order; planted bugs do not."""

from __future__ import annotations

import numpy as np
import pytest
from hopper_kernels import (
    TILE_BYTES,
    launch_cluster_sum,
    launch_multicast,
    launch_ping_pong,
    launch_stream_k,
)

LAUNCH = {
    "ping-pong": launch_ping_pong,
    "stream-K": launch_stream_k,
    "multicast": launch_multicast,
    "cluster sum": launch_cluster_sum,
}
#: Shapes beside the usual one.
SHAPES = [
    ("ping-pong", {"tiles": (1, 4), "steps": 5, "grid": 1}),
    ("ping-pong", {"tiles": (2, 3), "steps": 1, "grid": 3}),
    ("stream-K", {"tiles": (1, 2), "steps": 6, "grid": 4}),
    ("stream-K", {"tiles": (2, 2), "steps": 2, "grid": 4}),
    ("multicast", {"tiles": (4, 1), "steps": 2}),
]


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("name", LAUNCH)
def test_right(name, seed):
    report, got, want = LAUNCH[name](schedule_seed=seed, raise_on_finding=False)
    assert report.ok, report.messages
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("name", "shape"), SHAPES)
def test_shapes(name, shape):
    report, got, want = LAUNCH[name](raise_on_finding=False, **shape)
    assert report.ok, report.messages
    np.testing.assert_array_equal(got, want)


CLUSTER_BARRIER = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
#: What goes wrong, and what is said about it.
BUGS = {
    ("ping-pong", "the last store is not waited for"): (
        [("@%first cp.async.bulk.wait_group.read 0; // last store", "")],
        "async-race",
    ),
    ("ping-pong", "others overwrite before the wait"): (
        [("bar.sync %r13, 128; // may overwrite", "")],
        "async-race",
    ),
    ("ping-pong", "no proxy fence"): (
        [("fence.proxy.async.shared::cta; // for the store", "")],
        "missing-proxy-fence",
    ),
    ("ping-pong", "the store begins too early"): (
        [("bar.sync %r13, 128; // all have written", "")],
        "race",
    ),
    ("ping-pong", "a consumer takes the other's slots"): (
        [("add.u32 %it, %it, %n; // what the other takes", "")],
        "deadlock",
    ),
    ("ping-pong", "no turn is passed"): (
        [("@%p5 bar.arrive %r12, 256; // its turn", "")],
        "deadlock",
    ),
    ("ping-pong", "the end is not waited for"): (
        [("@%first cp.async.bulk.wait_group 0; // at the end", "")],
        "async-exit",
    ),
    ("stream-K", "the flag does not release"): (
        [("st.release.gpu.global", "st.relaxed.gpu.global")],
        "race",
    ),
    ("stream-K", "the flag does not acquire"): (
        # After a relaxed load, the barrier would stand for a fence.
        [("ld.acquire.gpu.global", "ld.weak.global")],
        "race",
    ),
    ("stream-K", "the flag is for the CTA alone"): (
        [("st.release.gpu.global", "st.release.cta.global")],
        "race",
    ),
    ("stream-K", "the flag comes before the sums"): (
        [("bar.sync 0; // all have written", "")],
        "race",
    ),
    ("stream-K", "others do not wait for the flag"): (
        [("bar.sync 0; // all see it", "")],
        "race",
    ),
    ("stream-K", "tiles are overwritten"): (
        [("bar.sync 0; // both tiles are free", ""), ("wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;")],
        "async-race",
    ),
    ("multicast", "only the own consumer frees a slot"): (
        [("@%first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];", ""), ("[%r0+16], 2;", "[%r0+16], 1;"), ("[%r0+24], 2;", "[%r0+24], 1;"), ("mapa.shared::cluster.u32 %r8, %empty, 0;", "mapa.shared::cluster.u32 %r8, %empty, %r1;")],
        "async-race",
    ),
    ("multicast", "no barrier at the beginning"): (
        [(CLUSTER_BARRIER + " // begin", "bar.sync 0;")],
        "unstarted-cta",
    ),
    ("multicast", "no barrier at the end"): (
        [(CLUSTER_BARRIER + " // end", "")],
        "exited-cta",
    ),
    ("multicast", "half of the bytes are expected"): (
        [(f"[%full], {2 * TILE_BYTES};", f"[%full], {TILE_BYTES + TILE_BYTES // 2};")],
        "async-race",
    ),
    ("multicast", "only the own CTA gets its half"): (
        [("mov.b16 %h, 3;", "mov.b16 %h, 1;")],
        "barrier-divergence",
    ),
    ("cluster sum", "no barrier at the beginning"): (
        [(CLUSTER_BARRIER + " // begin", "bar.sync 0;")],
        "unstarted-cta",
    ),
    ("cluster sum", "too few bytes are waited for"): (
        [("[%r4], 16;", "[%r4], 12;")],
        "async-race",
    ),
    ("cluster sum", "a store that nobody waits for"): (
        [("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r10], %r9, [%r11]; // send", "st.shared::cluster.b32 [%r10], %r9;"), ("[%r4], 16;", "[%r4], 0;")],
        "exited-cta",
    ),
    ("cluster sum", "warps do not wait for each other"): (
        [("bar.sync 0; // warps", "")],
        "race",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "bug"), BUGS)
def test_bugs(name, bug):
    changes, kind = BUGS[name, bug]
    report, _, _ = LAUNCH[name](*changes, raise_on_finding=False, max_instructions=500_000)
    assert kind in {f["kind"] for f in report.findings}, report.messages
