# ruff: noqa: E501  (PTX text reads better unbroken)
"""A table of mistakes with what Blackwell has new: the finding's kind, the mistake, its corrected twin.

Each stands in a kernel that is right around it. That is one CTA with tensor memory (`one`), one
that allocates by itself (`alloc`), or a pair of CTAs (`pair`). Or it is CTAs that take each other's
work (in pairs: `work`, else `alone`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import tensor_memory as tm
import test_cluster_launch
import test_tcgen05_alloc
from tensor_memory import wait
from test_tcgen05_alloc import alloc, branch, free, relinquish

import tile.sim


class Mistake(NamedTuple):
    kind: str  # of the finding
    wrong: str
    right: str
    says: str = ""  # a part of the message
    around: str = "one"


IDESC = tm.idesc("f16", 128, 32, "f16", "f16")
OTHER_IDESC = tm.idesc("f16", 128, 16, "f16", "f16")
A, B = tm.sdesc(0, 16, 256, "32"), tm.sdesc(4096, 16, 256, "32")
SCALES = tm.sdesc(6144, 16, 128, "none")
SCALED = tm.idesc_scaled("mxf8f6f4", 128, 32, "e4m3", "e4m3", "ue8m0")

COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar];"
COMMIT2 = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar+8];"
BEFORE, AFTER = "tcgen05.fence::before_thread_sync;", "tcgen05.fence::after_thread_sync;"
WAIT, WAIT2 = wait("WAIT", "%bar", 0), wait("WAIT2", "%bar+8", 0)
WAITLD, WAITST = "tcgen05.wait::ld.sync.aligned;", "tcgen05.wait::st.sync.aligned;"
LD, ST = (
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%window];",
    "tcgen05.st.sync.aligned.32x32b.x1.b32 [%window], {%v1};",
)
SYNC = "bar.sync 0;"
SCALES_ST = (
    "tcgen05.st.sync.aligned.32x32b.x16.b32 [%window+64], " + "{" + ", ".join(["%v2"] * 16) + "};"
)
PROXY = "fence.proxy.async.shared::cta;"


def mma(d="%t", a="%d0", add="%always", idesc="%i", predicate="@%first "):
    return f"{predicate}tcgen05.mma.cta_group::1.kind::f16 [{d}], {a}, %d1, {idesc}, {add};"


def scaled(predicate="@%first "):
    return f"{predicate}tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%t], %d0, %d1, %k, [%t+64], [%t+72], %always;"


def copy(to, predicate="@%first "):
    return f"{predicate}tcgen05.cp.cta_group::1.32x128b.warpx4 [{to}], %d2;"


STORE_SMEM = "@%first st.shared.b32 [%s], %v0;"


def kernel(body, begin=""):
    """Four warps; shared memory and tensor memory hold values, all of which is known to everybody."""
    fill = "".join(
        f"tcgen05.st.sync.aligned.32x32b.x8.b32 [%window+{8 * i}], {{%v2, %v2, %v2, %v2, %v2, %v2, %v2, %v2}};\n"
        for i in range(8)
    )
    return f"""{tm.HEADER.format(target="sm_100a")}
.visible .entry op(.param .u64 out)
{{
.shared .align 1024 .b8 memory[8192]; .shared .align 8 .b64 barrier[4]; .shared .align 4 .b32 where;
.reg .b32 %thread, %warp, %lane, %s, %bar, %t, %a, %window, %i, %j, %k, %v<8>; .reg .b64 %d<4>, %out;
.reg .pred %first, %second, %third, %done, %go, %always, %leader;
mov.u32 %thread, %tid.x; shr.u32 %warp, %thread, 5; and.b32 %lane, %thread, 31; mov.u32 %s, memory; mov.u32 %bar, barrier; ld.param.u64 %out, [out];
setp.eq.u32 %first, %thread, 0; setp.eq.u32 %second, %thread, 1; setp.eq.u32 %third, %thread, 32; setp.eq.u32 %leader, %warp, 0; setp.eq.u32 %always, %thread, %thread;
mov.b64 %d0, {A}; mov.b64 %d1, {B}; mov.b64 %d2, {SCALES}; mov.b32 %i, {IDESC}; mov.b32 %j, {OTHER_IDESC}; mov.b32 %k, {SCALED};
@!%first bra BEGUN; mbarrier.init.shared::cta.b64 [%bar], 1; mbarrier.init.shared::cta.b64 [%bar+8], 1; fence.mbarrier_init.release.cluster; BEGUN:
mov.b32 %v0, 0; mov.b32 %v1, 0; mov.b32 %v2, 0; shl.b32 %a, %thread, 4; add.u32 %a, %s, %a;
st.shared.v4.b32 [%a], {{%v0, %v0, %v0, %v0}}; st.shared.v4.b32 [%a+2048], {{%v0, %v0, %v0, %v0}}; st.shared.v4.b32 [%a+4096], {{%v0, %v0, %v0, %v0}}; st.shared.v4.b32 [%a+6144], {{%v0, %v0, %v0, %v0}};
{begin or PROXY}
@!%leader bra ALLOCATED; mov.u32 %a, where; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%a], 128; ALLOCATED:
bar.sync 0; ld.shared.b32 %t, [where]; shl.b32 %a, %warp, 21; add.u32 %window, %t, %a;
{fill}{WAITST}
{BEFORE} bar.sync 0; {AFTER}
{body}
{BEFORE} bar.sync 0; {AFTER}
@!%leader bra END; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 128;
END: ret;
}}
"""


def run_one(body, **options):
    return tile.sim.launch(kernel(body), "op", 1, 128, [np.zeros(1024, np.uint32)], **options)


def run_alloc(body, **options):
    ptx = test_tcgen05_alloc.kernel(branch(body, "END"))
    return tile.sim.launch(ptx, "op", 1, 64, [np.zeros(64, np.uint32)], **options)


CLUSTER = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
PAIR_IDESC = tm.idesc("f16", 256, 32, "f16", "f16")


def pair_kernel(body, end=f"{BEFORE} {CLUSTER} {AFTER}"):
    """Two CTAs of a pair: %lead is the first thread of the even one, %odd the first one of the other. Shared memory and
    64 of 128 columns hold zeros, of which both know."""
    fill = "".join(
        f"tcgen05.st.sync.aligned.32x32b.x8.b32 [%window+{8 * i}], {{%v2, %v2, %v2, %v2, %v2, %v2, %v2, %v2}};\n"
        for i in range(8)
    )
    return f"""{tm.HEADER.format(target="sm_100a")}
.visible .entry op(.param .u64 out)
{{
.shared .align 1024 .b8 memory[8192]; .shared .align 8 .b64 barrier[4]; .shared .align 4 .b32 where;
.reg .b32 %thread, %warp, %rank, %s, %bar, %t, %a, %b, %window, %i, %v<8>; .reg .b64 %d<4>, %out; .reg .b16 %both, %own, %three;
.reg .pred %first, %lead, %odd, %done, %always, %leader, %even;
mov.u32 %thread, %tid.x; shr.u32 %warp, %thread, 5; mov.u32 %s, memory; mov.u32 %bar, barrier; ld.param.u64 %out, [out]; mov.u32 %rank, %cluster_ctarank; mov.b16 %both, 3; mov.b16 %own, 1; mov.b16 %three, 7;
setp.eq.u32 %first, %thread, 0; setp.eq.u32 %even, %rank, 0; and.pred %lead, %first, %even; not.pred %odd, %even; and.pred %odd, %first, %odd; setp.eq.u32 %leader, %warp, 0; setp.eq.u32 %always, %thread, %thread;
mov.b64 %d0, {A}; mov.b64 %d1, {B}; mov.b32 %i, {PAIR_IDESC};
@!%first bra BEGUN; mbarrier.init.shared::cta.b64 [%bar], 1; mbarrier.init.shared::cta.b64 [%bar+8], 1; mbarrier.init.shared::cta.b64 [%bar+16], 2; fence.mbarrier_init.release.cluster; BEGUN:
mov.b32 %v0, 0; mov.b32 %v1, 0; mov.b32 %v2, 0; shl.b32 %a, %thread, 4; add.u32 %a, %s, %a;
st.shared.v4.b32 [%a], {{%v0, %v0, %v0, %v0}}; st.shared.v4.b32 [%a+2048], {{%v0, %v0, %v0, %v0}}; st.shared.v4.b32 [%a+4096], {{%v0, %v0, %v0, %v0}}; st.shared.v4.b32 [%a+6144], {{%v0, %v0, %v0, %v0}};
{PROXY} {CLUSTER}
@!%leader bra ALLOCATED; mov.u32 %a, where; tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%a], 128; ALLOCATED:
bar.sync 0; ld.shared.b32 %t, [where]; shl.b32 %a, %warp, 21; add.u32 %window, %t, %a;
{fill}{WAITST}
{BEFORE} {CLUSTER} {AFTER}
{body}
{end}
@!%leader bra END; tcgen05.dealloc.cta_group::2.sync.aligned.b32 %t, 128;
END: ret;
}}
"""


def run_pair(body, **options):
    body, _, end = body.partition("#END#")
    ptx = pair_kernel(body, end) if end else pair_kernel(body)
    return tile.sim.launch(ptx, "op", 2, 128, [np.zeros(1024, np.uint32)], cluster=(2, 1, 1), **options)  # fmt: skip


def run_work(change, pair=True, **options):
    """`change` has pairs of texts in the kernel, "old=>new && old=>new"."""
    if pair:
        options["cluster"] = (2, 1, 1)
    ptx = test_cluster_launch.kernel(all_ctas=".multicast::cluster::all" if pair else "")
    for one in filter(None, change.split(" && ")):
        old, new = one.split("=>")
        assert old in ptx, old
        ptx = ptx.replace(old, new)
    out, taken = np.zeros((2, 6), np.uint32), np.zeros(1, np.uint32)
    return tile.sim.launch(ptx, "op", (6, 2, 1), 64, [out, taken, 6], **options)


def run_alone(change, **options):
    return run_work(change, pair=False, **options)


AROUND = {
    "one": run_one,
    "alloc": run_alloc,
    "pair": run_pair,
    "work": run_work,
    "alone": run_alone,
}


BULK = "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar+8], 4096; @%first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%out], 4096, [%bar+8];"
SCALED80 = scaled().replace("[%t+64]", "[%t+76]").replace("[%t+72]", "[%t+80]")
ASHIFT = mma(a="[%t+40]").replace("kind::f16", "kind::f16.ashift")
WS = f"mov.b32 %i, {tm.idesc('f16', 128, 64, 'f16', 'f16')}; mov.b64 %d2, ZEROS; @%first tcgen05.mma.ws.cta_group::1.kind::f16 [%t], %d0, %d1, %i, %always, %d2;"
ONE = f"{alloc(64)} ld.shared.b32 %t, [where];"
TOUCH = f"tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {{%thread}}; {WAITST}"
MMA2 = "@%lead tcgen05.mma.cta_group::2.kind::f16 [%t], %d0, %d1, %i, %always;"
COMMIT_BOTH = "@%lead tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%bar], %both;"
FREE2 = (
    "bar.sync 0; @!%leader bra FREED; tcgen05.dealloc.cta_group::2.sync.aligned.b32 %t, 128; FREED:"
)
COMMIT_TWICE = COMMIT_BOTH.replace("%lead", "%first").replace("[%bar]", "[%bar+16]")
# Everybody is here before the first thread goes on, but nothing is ordered by that.
FLAG = "red.relaxed.cta.shared.add.u32 [%s+8000], 1; @!%first bra HERE; SPIN: ld.relaxed.cta.shared.b32 %v3, [%s+8000]; setp.ne.u32 %go, %v3, 128; @%go bra SPIN; HERE:"
INIT32 = "@%first mbarrier.init.shared::cta.b64 [%bar+16], 32; bar.sync 0;"
COMMIT16, WAIT16 = COMMIT.replace("%bar", "%bar+16"), wait("WAIT16", "%bar+16", 0)
CP2 = f"mov.b64 %d2, {SCALES}; @%lead tcgen05.cp.cta_group::2.32x128b.warpx4 [%t], %d2;"
READ_ANSWER = "ld.shared.b128 %q, [%s];"
WAIT_ANSWER = wait("WAIT", "%bar", "%phase")

# Of `work`, the twin is the kernel as it is.
MISTAKES: dict[str, Mistake] = {
    "result read before the commit was waited for": Mistake(
        "async-race",
        f"{mma()} @%first {COMMIT} {SYNC} {LD} {WAITLD} {WAIT}",
        f"{mma()} @%first {COMMIT} {SYNC} {WAIT} {LD} {WAITLD}", "tcgen05.commit"),
    "result read after the wait for an earlier commit": Mistake(
        "async-race",
        f"{mma()} @%first {COMMIT} {mma()} @%first {COMMIT2} {WAIT} {LD} {WAITLD} {WAIT2}",
        f"{mma()} @%first {COMMIT} {mma()} @%first {COMMIT2} {WAIT} {WAIT2} {LD} {WAITLD}", "tcgen05.commit"),
    "commit of another thread": Mistake(
        "async-race",
        f"{mma()} @%third {COMMIT} {WAIT} {LD} {WAITLD} @%first {COMMIT2} {WAIT2}",
        f"{mma()} @%first {COMMIT} {WAIT} {LD} {WAITLD}", "tcgen05.commit"),
    "result never committed before it is freed": Mistake(
        "async-race",
        f"{mma()}", f"{mma()} @%first {COMMIT} {WAIT}", "dealloc"),
    "result overwritten by a store in flight of the product": Mistake(
        "async-race",
        f"{mma()} @%first {COMMIT} {SYNC} {ST} {WAITST} {WAIT}",
        f"{mma()} @%first {COMMIT} {SYNC} {WAIT} {ST} {WAITST}", "tcgen05.st"),
    "accumulator stored without wait::st": Mistake(
        "async-race",
        f"{ST} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT} {WAITST}",
        f"{ST} {WAITST} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT}", "tcgen05.wait::st is missing"),
    "accumulator stored without a barrier": Mistake(
        "race",
        f"{ST} {WAITST} {FLAG} {mma()} @%first {COMMIT} {WAIT}",
        f"{ST} {WAITST} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT}", "no barrier"),
    "store read back without wait::st": Mistake(
        "async-race",
        f"{ST} {LD} {WAITLD} {WAITST}", f"{ST} {WAITST} {LD} {WAITLD}", "tcgen05.wait::st is missing"),
    "load overwritten without wait::ld": Mistake(
        "async-race",
        f"{LD} {ST} {WAITST} {WAITLD}", f"{LD} {WAITLD} {ST} {WAITST}", "tcgen05.wait::ld is missing"),
    "load overwritten by a product without wait::ld": Mistake(
        "async-race",
        f"{LD} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT} {WAITLD}",
        f"{LD} {WAITLD} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT}", "tcgen05.wait::ld is missing"),
    "load overwritten by a product without a barrier": Mistake(
        "race",
        f"{LD} {WAITLD} {FLAG} {mma()} @%first {COMMIT} {WAIT}",
        f"{LD} {WAITLD} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT}", "no barrier"),
    "operand in shared memory overwritten too early": Mistake(
        "async-race",
        f"{mma()} @%first {COMMIT} {STORE_SMEM} {WAIT}",
        f"{mma()} @%first {COMMIT} {WAIT} {STORE_SMEM}", "shared memory"),
    "operand written without fence.proxy.async": Mistake(
        "missing-proxy-fence",
        f"{STORE_SMEM} {mma()} @%first {COMMIT} {WAIT}",
        f"{STORE_SMEM} @%first {PROXY} {mma()} @%first {COMMIT} {WAIT}"),
    "operand of another warp written without fence.proxy.async": Mistake(
        "missing-proxy-fence",
        f"@%third st.shared.b32 [%s], %v0; {SYNC} {mma()} @%first {COMMIT} {WAIT}",
        f"@%third st.shared.b32 [%s], %v0; @%third {PROXY} {SYNC} {mma()} @%first {COMMIT} {WAIT}"),
    "fence.proxy.async by the wrong thread, before the barrier": Mistake(
        "missing-proxy-fence",
        f"@%third st.shared.b32 [%s], %v0; @%first {PROXY} {SYNC} {mma()} @%first {COMMIT} {WAIT}",
        f"@%third st.shared.b32 [%s], %v0; @%third {PROXY} {SYNC} {mma()} @%first {COMMIT} {WAIT}"),
    "operand of another warp written without a barrier": Mistake(
        "async-race",
        f"@%third st.shared.b32 [%s], %v0; @%third {PROXY} {mma()} @%first {COMMIT} {WAIT}",
        f"@%third st.shared.b32 [%s], %v0; @%third {PROXY} {SYNC} {mma()} @%first {COMMIT} {WAIT}", "shared memory"),
    "source of a copy overwritten too early": Mistake(
        "async-race",
        f"{copy('%t+64')} @%first {COMMIT} @%first st.shared.b32 [%s+6144], %v0; {WAIT}",
        f"{copy('%t+64')} @%first {COMMIT} {WAIT} @%first st.shared.b32 [%s+6144], %v0;", "shared memory"),
    "copy read by a load without a wait": Mistake(
        "async-race",
        f"{copy('%t')} @%first {COMMIT} {SYNC} {LD} {WAITLD} {WAIT}",
        f"{copy('%t')} @%first {COMMIT} {SYNC} {WAIT} {LD} {WAITLD}", "tcgen05.cp"),
    "copy without fence.proxy.async": Mistake(
        "missing-proxy-fence",
        f"@%first st.shared.b32 [%s+6144], %v0; {copy('%t')} @%first {COMMIT} {WAIT}",
        f"@%first st.shared.b32 [%s+6144], %v0; @%first {PROXY} {copy('%t')} @%first {COMMIT} {WAIT}"),
    "products of two threads on one accumulator without fences": Mistake(
        "missing-tcgen05-fence",
        f"{mma()} {SYNC} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}",
        f"{mma()} {BEFORE} {SYNC} {AFTER} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}"),
    "products of two threads: only the first fence": Mistake(
        "missing-tcgen05-fence",
        f"{mma()} {BEFORE} {SYNC} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}",
        f"{mma()} {BEFORE} {SYNC} {AFTER} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}"),
    "products of two threads: only the second fence": Mistake(
        "missing-tcgen05-fence",
        f"{mma()} {SYNC} {AFTER} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}",
        f"{mma()} {BEFORE} {SYNC} {AFTER} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}"),
    "copy by another thread without fences": Mistake(
        "missing-tcgen05-fence",
        f"{copy('%t+64', '@%third ')} {copy('%t+72', '@%third ')} {SYNC} {scaled()} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}",
        f"{copy('%t+64', '@%third ')} {copy('%t+72', '@%third ')} {BEFORE} {SYNC} {AFTER} {scaled()} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}"),
    "a sum as the next product's A without a wait": Mistake(
        "async-race",
        f"{mma('%t+32')} @%first {COMMIT} {mma(a='[%t+32]')} @%first {COMMIT2} {WAIT} {WAIT2}",
        f"{mma('%t+32')} @%first {COMMIT} {WAIT} {mma(a='[%t+32]')} @%first {COMMIT2} {WAIT2}", "tcgen05.mma"),
    "products of other shapes on one accumulator": Mistake(
        "async-race",
        f"{mma()} {mma(idesc='%j')} @%first {COMMIT} {WAIT}", f"{mma()} {mma()} @%first {COMMIT} {WAIT}", "tcgen05.mma"),
    "accumulators that overlap": Mistake(
        "async-race",
        f"{mma()} {mma('%t+16')} @%first {COMMIT} {WAIT}", f"{mma()} {mma('%t+32')} @%first {COMMIT} {WAIT}", "tcgen05.mma"),
    "scale factors in one quarter of the lanes": Mistake(
        "uninitialized",
        f"@!%leader bra STORED; {SCALES_ST} STORED: {WAITST} {BEFORE} {SYNC} {AFTER} {scaled()} @%first {COMMIT} {WAIT}",
        f"{SCALES_ST} {WAITST} {BEFORE} {SYNC} {AFTER} {scaled()} @%first {COMMIT} {WAIT}", "scale factors of A"),
    "no scale factors of B": Mistake(
        "uninitialized",
        f"{copy('%t+64')} {scaled()} @%first {COMMIT} {WAIT}",
        f"{copy('%t+64')} {copy('%t+72')} {scaled()} @%first {COMMIT} {WAIT}", "scale factors of B"),
    "a sum that nothing began": Mistake(
        "uninitialized",
        f"{mma('%t+64')} @%first {COMMIT} {WAIT}", f"{mma('%t+64', add='!%always')} {mma('%t+64')} @%first {COMMIT} {WAIT}", "of D"),
    "A in tensor memory that nobody wrote": Mistake(
        "uninitialized",
        f"{mma(a='[%t+60]')} @%first {COMMIT} {WAIT}", f"{mma(a='[%t+56]')} @%first {COMMIT} {WAIT}", "of A"),
    "A in tensor memory outside of what is allocated": Mistake(
        "out-of-bounds",
        f"{mma(a='[%t+124]')} @%first {COMMIT} {WAIT}", f"{mma(a='[%t+40]')} @%first {COMMIT} {WAIT}"),
    "D outside of what is allocated": Mistake(
        "out-of-bounds",
        f"{mma('%t+100')} @%first {COMMIT} {WAIT}", f"{mma('%t+96', add='!%always')} @%first {COMMIT} {WAIT}"),
    "a warp reads another one's lanes": Mistake(
        "wrong-lanes",
        f"add.u32 %window, %window, 0x200000; {LD} {WAITLD}", f"add.u32 %window, %window, 0; {LD} {WAITLD}"),
    "a commit to what is no mbarrier": Mistake(
        "mbarrier-misuse",
        f"{mma()} @%first {COMMIT.replace('%bar', '%bar+16')} @%first {COMMIT2} {WAIT2}", f"{mma()} @%first {COMMIT} {WAIT}"),
    "a commit for fewer arrivals than the mbarrier waits for": Mistake(
        "deadlock",
        f"{mma()} @%first {COMMIT2} {WAIT}", f"{mma()} @%first {COMMIT} {WAIT}"),

    # ---- Waiting for the right thing ----
    "a wait for the phase before": Mistake(
        "deadlock", f"{mma()} @%first {COMMIT} {SYNC} {wait('WAIT', '%bar', 1)} {LD} {WAITLD}",
        f"{mma()} @%first {COMMIT} {SYNC} {WAIT} {LD} {WAITLD}", "mbarrier"),
    "a second round that waits for the first phase": Mistake(
        "deadlock", f"{mma()} @%first {COMMIT} {WAIT} {SYNC} {mma()} @%first {COMMIT} {SYNC} {wait('W2', '%bar', 0)} {LD} {WAITLD}",
        f"{mma()} @%first {COMMIT} {WAIT} {SYNC} {mma()} @%first {COMMIT} {SYNC} {wait('W2', '%bar', 1)} {LD} {WAITLD}", "mbarrier"),
    "one warp waits, all read": Mistake(
        "async-race", f"{mma()} @%first {COMMIT} {SYNC} @!%leader bra GO; {WAIT} GO: {LD} {WAITLD}",
        f"{mma()} @%first {COMMIT} {SYNC} @!%leader bra GO; {WAIT} GO: {SYNC} {LD} {WAITLD}", "tcgen05.commit"),
    "a commit in front of its product": Mistake(
        "async-race", f"@%first {COMMIT} {mma()} {WAIT} {LD} {WAITLD}",
        f"{mma()} @%first {COMMIT} {WAIT} {LD} {WAITLD}", "tcgen05.commit"),
    "two commits in one phase of an mbarrier": Mistake(
        "deadlock", f"{mma()} @%first {COMMIT} @%first {COMMIT} {WAIT}",
        f"{mma()} @%first {COMMIT} @%first {COMMIT2} {WAIT} {WAIT2}", "mbarrier"),
    "a commit where two arrivals are waited for": Mistake(
        "deadlock", f"@%first mbarrier.init.shared::cta.b64 [%bar+16], 2; {SYNC} {mma()} @%first {COMMIT.replace('%bar', '%bar+16')} {wait('W', '%bar+16', 0)}",
        f"@%first mbarrier.init.shared::cta.b64 [%bar+16], 1; {SYNC} {mma()} @%first {COMMIT.replace('%bar', '%bar+16')} {wait('W', '%bar+16', 0)}", "mbarrier"),
    "an mbarrier that is gone": Mistake(
        "mbarrier-misuse", f"{mma()} @%first mbarrier.inval.shared::cta.b64 [%bar]; @%first {COMMIT} @%first {COMMIT2} {WAIT2}",
        f"{mma()} @%first {COMMIT} {WAIT} {SYNC} @%first mbarrier.inval.shared::cta.b64 [%bar];"),
    "a store that only another warp waits for": Mistake(
        "async-race", f"{ST} @!%leader bra GO; {WAITST} GO: {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT}",
        f"{ST} {WAITST} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT}", "tcgen05.wait::st is missing"),
    "a wait for loads where stores are meant": Mistake(
        "async-race", f"{ST} {WAITLD} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT} {WAITST}",
        f"{ST} {WAITST} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT}", "tcgen05.wait::st is missing"),
    "A stored to tensor memory without wait::st": Mistake(
        "async-race", f"{ST.replace('%window', '%window+40')} {BEFORE} {SYNC} {AFTER} {mma(a='[%t+40]')} @%first {COMMIT} {WAIT} {WAITST}",
        f"{ST.replace('%window', '%window+40')} {WAITST} {BEFORE} {SYNC} {AFTER} {mma(a='[%t+40]')} @%first {COMMIT} {WAIT}", "tcgen05.wait::st is missing"),
    "A in tensor memory overwritten too early": Mistake(
        "async-race", f"{mma(a='[%t+40]')} @%first {COMMIT} {SYNC} {ST.replace('%window', '%window+40')} {WAITST} {WAIT}",
        f"{mma(a='[%t+40]')} @%first {COMMIT} {SYNC} {WAIT} {ST.replace('%window', '%window+40')} {WAITST}", "tcgen05.commit"),
    "what is shifted read too early": Mistake(
        "async-race", f"@%first tcgen05.shift.cta_group::1.down [%t]; @%first {COMMIT} {SYNC} {LD} {WAITLD} {WAIT}",
        f"@%first tcgen05.shift.cta_group::1.down [%t]; @%first {COMMIT} {SYNC} {WAIT} {LD} {WAITLD}", "tcgen05.shift"),
    "a store over what a shift reads": Mistake(
        "async-race", f"@%first tcgen05.shift.cta_group::1.down [%t]; {SYNC} {ST} {WAITST} @%first {COMMIT} {SYNC} {WAIT}",
        f"@%first tcgen05.shift.cta_group::1.down [%t]; @%first {COMMIT} {SYNC} {WAIT} {ST} {WAITST}", "tcgen05.st"),
    "all lanes of a warp issue a product": Mistake(
        "missing-tcgen05-fence", f"{INIT32} @%leader {mma(predicate='')} @%leader {COMMIT16} {WAIT16}",
        f"{INIT32} {mma()} @%leader {COMMIT16} {WAIT16}", "two threads"),
    # ---- Shared memory ----
    "B overwritten too early": Mistake(
        "async-race", f"{mma()} @%first {COMMIT} @%first st.shared.b32 [%s+4096], %v0; {WAIT}",
        f"{mma()} @%first {COMMIT} {WAIT} @%first st.shared.b32 [%s+4096], %v0;", "shared memory"),
    "fence.proxy.async in front of the store": Mistake(
        "missing-proxy-fence", f"@%first {PROXY} {STORE_SMEM} {mma()} @%first {COMMIT} {WAIT}",
        f"{STORE_SMEM} @%first {PROXY} {mma()} @%first {COMMIT} {WAIT}"),
    "fence.proxy.async of global memory": Mistake(
        "missing-proxy-fence", f"{STORE_SMEM} @%first fence.proxy.async.global; {mma()} @%first {COMMIT} {WAIT}",
        f"{STORE_SMEM} @%first fence.proxy.async; {mma()} @%first {COMMIT} {WAIT}"),
    "cp.async without fence.proxy.async": Mistake(
        "missing-proxy-fence", f"@%first cp.async.cg.shared.global [%s], [%out], 16; cp.async.wait_all; {mma()} @%first {COMMIT} {WAIT}",
        f"@%first cp.async.cg.shared.global [%s], [%out], 16; cp.async.wait_all; {PROXY} {mma()} @%first {COMMIT} {WAIT}"),
    "cp.async that was not waited for": Mistake(
        "async-race", f"@%first cp.async.cg.shared.global [%s], [%out], 16; {PROXY} {mma()} @%first {COMMIT} {WAIT} cp.async.wait_all;",
        f"@%first cp.async.cg.shared.global [%s], [%out], 16; cp.async.wait_all; {PROXY} {mma()} @%first {COMMIT} {WAIT}"),
    "a bulk copy over an operand": Mistake(
        "async-race", f"{mma()} @%first {COMMIT} {BULK} {WAIT} {WAIT2}", f"{mma()} @%first {COMMIT} {WAIT} {BULK} {WAIT2}"),
    "an operand that a bulk copy still writes": Mistake(
        "async-race", f"{BULK} {mma()} @%first {COMMIT} {WAIT} {WAIT2}", f"{BULK} {WAIT2} {mma()} @%first {COMMIT} {WAIT}"),
    "a bulk copy with too few bytes expected": Mistake(
        "deadlock", BULK.replace("_, [%bar+8], 4096", "_, [%bar+8], 2048") + WAIT2, BULK + WAIT2),
    # ---- Descriptors ----
    "a number of rows that there is not": Mistake(
        "bad-descriptor", f"mov.b32 %i, {tm.idesc('f16', 96, 32, 'f16', 'f16')}; {mma()} @%first {COMMIT} {WAIT}", f"{mma()} @%first {COMMIT} {WAIT}", "M = 96"),
    "more columns than there are": Mistake(
        "bad-descriptor", f"mov.b32 %i, {tm.idesc('f16', 128, 264, 'f16', 'f16')}; {mma()} @%first {COMMIT} {WAIT}", f"{mma()} @%first {COMMIT} {WAIT}", "N = 264"),
    "a type that the kind does not have": Mistake(
        "bad-descriptor", f"or.b32 %i, %i, 0x100; {mma()} @%first {COMMIT} {WAIT}", f"{mma()} @%first {COMMIT} {WAIT}", "type of elements"),
    "a sum of 16 bits of bfloat16": Mistake(
        "bad-descriptor", f"mov.b32 %i, {tm.idesc('f16', 128, 32, 'bf16', 'bf16', 'f16')}; {mma()} @%first {COMMIT} {WAIT}",
        f"mov.b32 %i, {tm.idesc('f16', 128, 32, 'f16', 'f16', 'f16')}; {mma()} @%first {COMMIT} {WAIT}", "type of D"),
    "the descriptor of another kind": Mistake(
        "bad-descriptor", f"mov.b32 %i, %k; {mma()} @%first {COMMIT} {WAIT}", f"{mma()} @%first {COMMIT} {WAIT}", "must be zero"),
    "a matrix without its version": Mistake(
        "bad-descriptor", f"mov.b64 %d0, {A & ~(1 << 46)}; {mma()} @%first {COMMIT} {WAIT}", f"{mma()} @%first {COMMIT} {WAIT}", "bits 48 to 46"),
    "a swizzle that there is not": Mistake(
        "bad-descriptor", f"mov.b64 %d0, {A | 1 << 61}; {mma()} @%first {COMMIT} {WAIT}", f"{mma()} @%first {COMMIT} {WAIT}", "no mode"),
    "a matrix beyond shared memory": Mistake(
        "out-of-bounds", f"mov.b64 %d0, {tm.sdesc(4608, 16, 256, '32')}; {mma()} @%first {COMMIT} {WAIT}", f"mov.b64 %d0, {tm.sdesc(4096, 16, 256, '32')}; {mma()} @%first {COMMIT} {WAIT}", "shared memory"),
    "an address where the descriptor's units are 16 bytes": Mistake(
        "bad-descriptor", f"mov.b64 %d0, {A & ~0x3FFF | 1 << 14}; {mma()} @%first {COMMIT} {WAIT}", f"mov.b64 %d0, {A & ~0x3FFF | 1 << 6}; {mma()} @%first {COMMIT} {WAIT}", "must be zero"),
    # ---- Lanes and columns ----
    "D in the second half of the lanes": Mistake(
        "wrong-lanes", f"{mma('%t+0x100000')} @%first {COMMIT} {WAIT}", f"{mma('%t')} @%first {COMMIT} {WAIT}", "lane 16"),
    "A and D in other lanes": Mistake(
        "wrong-lanes", f"mov.b32 %i, {tm.idesc('f16', 64, 32, 'f16', 'f16')}; {mma('%t+0x100000', a='[%t+40]')} @%first {COMMIT} {WAIT}",
        f"mov.b32 %i, {tm.idesc('f16', 64, 32, 'f16', 'f16')}; {mma('%t+0x100000', a='[%t+0x100028]')} @%first {COMMIT} {WAIT}", "address of A"),
    "16 lanes that begin at 8": Mistake(
        "wrong-lanes", "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%v0}, [%window+0x80000];" + WAITLD, "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%v0}, [%window+0x100000];" + WAITLD),
    "lanes that give other addresses": Mistake(
        "divergent-address", f"add.u32 %window, %window, %lane; {LD} {WAITLD}", f"add.u32 %window, %window, 3; {LD} {WAITLD}"),
    "a load behind the last column": Mistake(
        "out-of-bounds", f"add.u32 %window, %window, 128; {LD} {WAITLD}", f"add.u32 %window, %window, 63; {LD} {WAITLD}"),
    "columns that nobody wrote": Mistake(
        "uninitialized", f"add.u32 %window, %window, 64; {LD} {WAITLD}", f"add.u32 %window, %window, 63; {LD} {WAITLD}"),
    "the second piece of a load behind the last column": Mistake(
        "out-of-bounds", "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%v0}, [%window+63], 65;" + WAITLD, "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%v0}, [%window+1], 62;" + WAITLD),
    "a load by a part of a warp": Mistake(
        "missing-lanes", f"@%first {LD} {WAITLD}", f"{LD} {WAITLD}"),
    "a copy of 128 rows from lane 16 on": Mistake(
        "out-of-bounds", f"mov.b64 %d2, {tm.sdesc(0, 16, 128, 'none')}; @%first tcgen05.cp.cta_group::1.128x128b [%t+0x100000], %d2; @%first {COMMIT} {WAIT}",
        f"mov.b64 %d2, {tm.sdesc(0, 16, 128, 'none')}; @%first tcgen05.cp.cta_group::1.128x128b [%t], %d2; @%first {COMMIT} {WAIT}", "no lane"),
    "a shift from lane 16 on": Mistake(
        "wrong-lanes", f"@%first tcgen05.shift.cta_group::1.down [%t+0x100000]; @%first {COMMIT} {WAIT}", f"@%first tcgen05.shift.cta_group::1.down [%t+0x200000]; @%first {COMMIT} {WAIT}"),
    # ---- Scale factors ----
    "scale factors of A from another lane on": Mistake(
        "wrong-lanes", f"{copy('%t+64')} {copy('%t+72')} {scaled().replace('[%t+64]', '[%t+0x200040]')} @%first {COMMIT} {WAIT}",
        f"{copy('%t+64')} {copy('%t+72')} {scaled()} @%first {COMMIT} {WAIT}", "scale factors of A"),
    "scale factors behind the last column": Mistake(
        "out-of-bounds", f"{copy('%t+64')} {copy('%t+72')} {scaled().replace('[%t+72]', '[%t+128]')} @%first {COMMIT} {WAIT}",
        f"{copy('%t+64')} {copy('%t+72')} {scaled()} @%first {COMMIT} {WAIT}"),
    "scale factors where D is": Mistake(
        "async-race", f"{copy('%t+8')} {copy('%t+72')} {scaled().replace('[%t+64]', '[%t+8]')} @%first {COMMIT} {WAIT}",
        f"{copy('%t+40')} {copy('%t+72')} {scaled().replace('[%t+64]', '[%t+40]')} @%first {COMMIT} {WAIT}"),
    "scale factors of 32 columns for 64": Mistake(
        "uninitialized", f"mov.b32 %k, {tm.idesc_scaled('mxf8f6f4', 128, 64, 'e4m3', 'e4m3', 'ue8m0')}; {copy('%t+76')} tcgen05.st.sync.aligned.32x32b.x1.b32 [%window+80], {{%v2}}; {WAITST} {BEFORE} {SYNC} {AFTER} {SCALED80} @%first {COMMIT} {WAIT}",
        f"mov.b32 %k, {tm.idesc_scaled('mxf8f6f4', 128, 64, 'e4m3', 'e4m3', 'ue8m0')}; {copy('%t+76')} tcgen05.st.sync.aligned.32x32b.x2.b32 [%window+80], {{%v2, %v2}}; {WAITST} {BEFORE} {SYNC} {AFTER} {SCALED80} @%first {COMMIT} {WAIT}", "scale factors of B"),
    "scale factors of a type that the kind does not have": Mistake(
        "bad-descriptor", f"mov.b32 %k, {tm.idesc_scaled('mxf8f6f4', 128, 32, 'e4m3', 'e4m3', 'ue4m3')}; {copy('%t+64')} {copy('%t+72')} {scaled()} @%first {COMMIT} {WAIT}",
        f"{copy('%t+64')} {copy('%t+72')} {scaled()} @%first {COMMIT} {WAIT}", "scale factors"),
    "scale factors of other warps without a barrier": Mistake(
        "race", f"{SCALES_ST} {WAITST} {FLAG} {scaled()} @%first {COMMIT} {WAIT}", f"{SCALES_ST} {WAITST} {BEFORE} {SYNC} {AFTER} {scaled()} @%first {COMMIT} {WAIT}", "no barrier"),
    # ---- Forms that look alike ----
    ".ashift of 64 rows": Mistake(
        "bad-descriptor", f"mov.b32 %i, {tm.idesc('f16', 64, 32, 'f16', 'f16')}; {ASHIFT} @%first {COMMIT} {WAIT}", f"{ASHIFT} @%first {COMMIT} {WAIT}", ".ashift"),
    "a mask of zero columns that begins behind its span": Mistake(
        "bad-descriptor", f"{WS.replace('ZEROS', str(1 << 39 | 9))} @%first {COMMIT} {WAIT}", f"{WS.replace('ZEROS', str(1 << 39 | 7 << 48 | 7))} @%first {COMMIT} {WAIT}", "first span"),
    # ---- Allocation ----
    "allocations that grow": Mistake(
        "bad-allocation", f"{alloc(32)} {alloc(64, '%b')} ld.shared.b32 %t, [where]; ld.shared.b32 %u, [where+4]; {free('%t', 32)} {free('%u', 64)}",
        f"{alloc(64)} {alloc(32, '%b')} ld.shared.b32 %t, [where]; ld.shared.b32 %u, [where+4]; {free('%t', 64)} {free('%u', 32)}", "must not grow", "alloc"),
    "a leak": Mistake("tensor-memory-leak", ONE, f"{ONE} {free('%t', 64)}", around="alloc"),
    "a part is freed": Mistake("bad-allocation", f"{ONE} {free('%t', 32)}", f"{ONE} {free('%t', 64)}", "64 columns, not 32", "alloc"),
    "another address is freed": Mistake("bad-allocation", f"{ONE} add.u32 %t, %t, 32; {free('%t', 64)}", f"{ONE} {free('%t', 64)}", "no allocation begins", "alloc"),
    "freed twice": Mistake("bad-allocation", f"{ONE} {free('%t', 64)} {free('%t', 64)}", f"{ONE} {free('%t', 64)}", "no allocation begins", "alloc"),
    "an allocation behind the permit": Mistake("bad-allocation", f"{relinquish()} {ONE} {free('%t', 64)}", f"{ONE} {relinquish()} {free('%t', 64)}", "permit", "alloc"),
    "a number of columns that is no power of two": Mistake(
        "bad-allocation", f"mov.b32 %r0, 48; {alloc('%r0')}", f"mov.b32 %r0, 64; {alloc('%r0')} ld.shared.b32 %t, [where]; {free('%t', '%r0')}", "power of two", "alloc"),
    "all columns twice": Mistake("deadlock", f"{alloc(512)} {alloc(32, '%b')}", f"{alloc(512)} ld.shared.b32 %t, [where]; {free('%t', 512)} {alloc(32, '%b')} ld.shared.b32 %t, [where+4]; {free('%t', 32)}", "0 are free", "alloc"),
    "a load of what was freed": Mistake(
        "out-of-bounds", f"{ONE} {TOUCH} {free('%t', 64)} {TOUCH}", f"{ONE} {TOUCH} {TOUCH} {free('%t', 64)}", around="alloc"),
    "freed while stores are under way": Mistake(
        "async-race", f"{ONE} tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {{%thread}}; {free('%t', 64)}", f"{ONE} tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {{%thread}}; {WAITST} {free('%t', 64)}", "wait::st", "alloc"),
    "an address that a part of a warp allocates": Mistake(
        "missing-lanes", f"setp.eq.u32 %p1, %thread, 0; @%p1 {alloc(64)}", f"{ONE} {free('%t', 64)}", around="alloc"),
    # ---- Pairs of CTAs ----
    "a pair's result read before the commit was waited for": Mistake(
        "async-race", f"{MMA2} {COMMIT_BOTH} {CLUSTER} {LD} {WAITLD} {WAIT}", f"{MMA2} {COMMIT_BOTH} {CLUSTER} {WAIT} {LD} {WAITLD}", "tcgen05.commit", "pair"),
    "a commit that the odd CTA does not hear of": Mistake(
        "deadlock", f"{MMA2} {COMMIT_BOTH.replace('%both', '%own')} {WAIT} {LD} {WAITLD}", f"{MMA2} {COMMIT_BOTH} {WAIT} {LD} {WAITLD}", "mbarrier", "pair"),
    "a mask of more CTAs than the cluster has": Mistake(
        "bad-cluster-rank", f"{MMA2} {COMMIT_BOTH.replace('%both', '%three')} {WAIT}", f"{MMA2} {COMMIT_BOTH} {WAIT}", "rank 2", "pair"),
    "a commit to an mbarrier that the odd CTA does not have": Mistake(
        "mbarrier-misuse", f"@%lead mbarrier.init.shared::cta.b64 [%bar+24], 1; {CLUSTER} {MMA2} {COMMIT_BOTH.replace('[%bar]', '[%bar+24]')} @%lead bra GO; GO: {CLUSTER}",
        f"@%first mbarrier.init.shared::cta.b64 [%bar+24], 1; {CLUSTER} {MMA2} {COMMIT_BOTH.replace('[%bar]', '[%bar+24]')} {wait('W', '%bar+24', 0)}", "not initialized", "pair"),
    "the odd CTA's half of A without a cluster barrier": Mistake(
        "async-race", f"@%odd st.shared.b32 [%s], %v0; @%odd {PROXY} {MMA2} {COMMIT_BOTH} {WAIT}", f"@%odd st.shared.b32 [%s], %v0; @%odd {PROXY} {CLUSTER} {MMA2} {COMMIT_BOTH} {WAIT}", "shared memory", "pair"),
    "the odd CTA's half of A without fence.proxy.async": Mistake(
        "missing-proxy-fence", f"@%odd st.shared.b32 [%s], %v0; {CLUSTER} {MMA2} {COMMIT_BOTH} {WAIT}", f"@%odd st.shared.b32 [%s], %v0; @%odd {PROXY} {CLUSTER} {MMA2} {COMMIT_BOTH} {WAIT}", "", "pair"),
    "the odd CTA overwrites its half of B too early": Mistake(
        "async-race", f"{MMA2} {COMMIT_BOTH} {CLUSTER} @%odd st.shared.b32 [%s+4096], %v0; {WAIT}", f"{MMA2} {COMMIT_BOTH} {CLUSTER} {WAIT} @%odd st.shared.b32 [%s+4096], %v0;", "shared memory", "pair"),
    "the odd CTA stores to its half of D without a cluster barrier": Mistake(
        "race", f"{ST} {WAITST} {BEFORE} {SYNC} {AFTER} {MMA2} {COMMIT_BOTH} {WAIT}", f"{ST} {WAITST} {BEFORE} {CLUSTER} {AFTER} {MMA2} {COMMIT_BOTH} {WAIT}", "no barrier", "pair"),
    "a copy to both CTAs that the odd one reads too early": Mistake(
        "async-race", f"{CP2} {COMMIT_BOTH} {CLUSTER} {LD} {WAITLD} {WAIT}", f"{CP2} {COMMIT_BOTH} {CLUSTER} {WAIT} {LD} {WAITLD}", "tcgen05.cp", "pair"),
    "a pair's product in flight when its memory is freed": Mistake(
        "async-race", f"{MMA2} {COMMIT_BOTH} {CLUSTER} {FREE2} {WAIT} bra END;", f"{MMA2} {COMMIT_BOTH} {CLUSTER} {WAIT} {FREE2} bra END;", "dealloc", "pair"),
    "both CTAs issue the pair's product": Mistake(
        "missing-tcgen05-fence", f"{MMA2.replace('%lead', '%first')} {COMMIT_TWICE} {WAIT16}", f"{MMA2} {COMMIT_TWICE} {WAIT16}", "two threads", "pair"),
    # ---- Work of other clusters ----
    "an answer read in front of the wait": Mistake(
        "async-race", f"{WAIT_ANSWER}=>{CLUSTER} {READ_ANSWER} {WAIT_ANSWER} && xor.b32 %phase, %phase, 1;\n{READ_ANSWER}=>xor.b32 %phase, %phase, 1;", "", around="work"),
    "an answer of which half is expected": Mistake(
        "deadlock", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 16=>mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 8", "", around="work"),
    "a place for the answer that is not aligned": Mistake(
        "misaligned", "[%s], [%bar];=>[%s+8], [%bar];", "", "16", "work"),
    "coordinates of no answer": Mistake("bad-answer", "@!%got bra END;=>", "", "no cluster was canceled", "work"),
    "asked again after the last answer": Mistake("bad-answer", "@!%got bra END;=>@!%got bra WORK;", "", "asks again", "work"),
    "the next answer over one that others still read": Mistake(
        "race", "bar.sync 0;=>bar.sync 0; ld.shared.b32 %i, [%s]; && 16;\nbarrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;=>16;", "", around="alone"),
}  # fmt: skip
