# ruff: noqa: E501  (PTX text reads better unbroken)
"""Planted mistakes with tensor memory, each with its corrected twin: the twin is clean under several schedules."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tensor_memory as tm
from tensor_memory import wait

import tile.sim

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


def run(body, begin="", **options):
    return tile.sim.launch(kernel(body, begin), "op", 1, 128, [np.zeros(128, np.uint32)], **options)


STORE_SMEM = "@%first st.shared.b32 [%s], %v0;"

# name: (mistake, twin, what the finding says)
PLANTED = {
    "result read before the commit was waited for": (
        f"{mma()} @%first {COMMIT} {LD} {WAITLD} {WAIT}",
        f"{mma()} @%first {COMMIT} {WAIT} {LD} {WAITLD}", "async-race.*tcgen05.commit"),
    "result read after the wait for an earlier commit": (
        f"{mma()} @%first {COMMIT} {mma()} @%first {COMMIT2} {WAIT} {LD} {WAITLD} {WAIT2}",
        f"{mma()} @%first {COMMIT} {mma()} @%first {COMMIT2} {WAIT} {WAIT2} {LD} {WAITLD}", "async-race.*tcgen05.commit"),
    "commit of another thread": (
        f"{mma()} @%third {COMMIT} {WAIT} {LD} {WAITLD} @%first {COMMIT2} {WAIT2}",
        f"{mma()} @%first {COMMIT} {WAIT} {LD} {WAITLD}", "async-race.*tcgen05.commit"),
    "result never committed before it is freed": (
        f"{mma()}", f"{mma()} @%first {COMMIT} {WAIT}", "async-race.*dealloc"),
    "result overwritten by a store in flight of the product": (
        f"{mma()} @%first {COMMIT} {ST} {WAITST} {WAIT}",
        f"{mma()} @%first {COMMIT} {WAIT} {ST} {WAITST}", "async-race.*tcgen05.st"),
    "accumulator stored without wait::st": (
        f"{ST} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT} {WAITST}",
        f"{ST} {WAITST} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT}", "async-race.*tcgen05.wait::st is missing"),
    "accumulator stored without a barrier": (
        f"{ST} {WAITST} {mma()} @%first {COMMIT} {WAIT}",
        f"{ST} {WAITST} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT}", "race.*no barrier"),
    "store read back without wait::st": (
        f"{ST} {LD} {WAITLD} {WAITST}", f"{ST} {WAITST} {LD} {WAITLD}", "async-race.*tcgen05.wait::st is missing"),
    "load overwritten without wait::ld": (
        f"{LD} {ST} {WAITST} {WAITLD}", f"{LD} {WAITLD} {ST} {WAITST}", "async-race.*tcgen05.wait::ld is missing"),
    "load overwritten by a product without wait::ld": (
        f"{LD} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT} {WAITLD}",
        f"{LD} {WAITLD} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT}", "async-race.*tcgen05.wait::ld is missing"),
    "load overwritten by a product without a barrier": (
        f"{LD} {WAITLD} {mma()} @%first {COMMIT} {WAIT}",
        f"{LD} {WAITLD} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT}", "race.*no barrier"),
    "operand in shared memory overwritten too early": (
        f"{mma()} @%first {COMMIT} {STORE_SMEM} {WAIT}",
        f"{mma()} @%first {COMMIT} {WAIT} {STORE_SMEM}", "async-race.*shared memory"),
    "operand written without fence.proxy.async": (
        f"{STORE_SMEM} {mma()} @%first {COMMIT} {WAIT}",
        f"{STORE_SMEM} @%first {PROXY} {mma()} @%first {COMMIT} {WAIT}", "missing-proxy-fence"),
    "operand of another warp written without fence.proxy.async": (
        f"@%third st.shared.b32 [%s], %v0; {SYNC} {mma()} @%first {COMMIT} {WAIT}",
        f"@%third st.shared.b32 [%s], %v0; @%third {PROXY} {SYNC} {mma()} @%first {COMMIT} {WAIT}", "missing-proxy-fence"),
    "fence.proxy.async by the wrong thread, before the barrier": (
        f"@%third st.shared.b32 [%s], %v0; @%first {PROXY} {SYNC} {mma()} @%first {COMMIT} {WAIT}",
        f"@%third st.shared.b32 [%s], %v0; @%third {PROXY} {SYNC} {mma()} @%first {COMMIT} {WAIT}", "missing-proxy-fence"),
    "operand of another warp written without a barrier": (
        f"@%third st.shared.b32 [%s], %v0; @%third {PROXY} {mma()} @%first {COMMIT} {WAIT}",
        f"@%third st.shared.b32 [%s], %v0; @%third {PROXY} {SYNC} {mma()} @%first {COMMIT} {WAIT}", "async-race.*shared memory"),
    "source of a copy overwritten too early": (
        f"{copy('%t+64')} @%first {COMMIT} @%first st.shared.b32 [%s+6144], %v0; {WAIT}",
        f"{copy('%t+64')} @%first {COMMIT} {WAIT} @%first st.shared.b32 [%s+6144], %v0;", "async-race.*shared memory"),
    "copy read by a load without a wait": (
        f"{copy('%t')} @%first {COMMIT} {LD} {WAITLD} {WAIT}",
        f"{copy('%t')} @%first {COMMIT} {WAIT} {LD} {WAITLD}", "async-race.*tcgen05.cp"),
    "copy without fence.proxy.async": (
        f"@%first st.shared.b32 [%s+6144], %v0; {copy('%t')} @%first {COMMIT} {WAIT}",
        f"@%first st.shared.b32 [%s+6144], %v0; @%first {PROXY} {copy('%t')} @%first {COMMIT} {WAIT}", "missing-proxy-fence"),
    "products of two threads on one accumulator without fences": (
        f"{mma()} {SYNC} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}",
        f"{mma()} {BEFORE} {SYNC} {AFTER} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}", "missing-tcgen05-fence"),
    "products of two threads: only the first fence": (
        f"{mma()} {BEFORE} {SYNC} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}",
        f"{mma()} {BEFORE} {SYNC} {AFTER} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}", "missing-tcgen05-fence"),
    "products of two threads: only the second fence": (
        f"{mma()} {SYNC} {AFTER} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}",
        f"{mma()} {BEFORE} {SYNC} {AFTER} {mma(predicate='@%third ')} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}", "missing-tcgen05-fence"),
    "copy by another thread without fences": (
        f"{copy('%t+64', '@%third ')} {copy('%t+72', '@%third ')} {SYNC} {scaled()} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}",
        f"{copy('%t+64', '@%third ')} {copy('%t+72', '@%third ')} {BEFORE} {SYNC} {AFTER} {scaled()} @%first {COMMIT} @%third {COMMIT2} {WAIT} {WAIT2}", "missing-tcgen05-fence"),
    "a sum as the next product's A without a wait": (
        f"{mma('%t+32')} @%first {COMMIT} {mma(a='[%t+32]')} @%first {COMMIT2} {WAIT} {WAIT2}",
        f"{mma('%t+32')} @%first {COMMIT} {WAIT} {mma(a='[%t+32]')} @%first {COMMIT2} {WAIT2}", "async-race.*tcgen05.mma"),
    "products of other shapes on one accumulator": (
        f"{mma()} {mma(idesc='%j')} @%first {COMMIT} {WAIT}", f"{mma()} {mma()} @%first {COMMIT} {WAIT}", "async-race.*tcgen05.mma"),
    "accumulators that overlap": (
        f"{mma()} {mma('%t+16')} @%first {COMMIT} {WAIT}", f"{mma()} {mma('%t+32')} @%first {COMMIT} {WAIT}", "async-race.*tcgen05.mma"),
    "scale factors in one quarter of the lanes": (
        f"@!%leader bra STORED; {SCALES_ST} STORED: {WAITST} {BEFORE} {SYNC} {AFTER} {scaled()} @%first {COMMIT} {WAIT}",
        f"{SCALES_ST} {WAITST} {BEFORE} {SYNC} {AFTER} {scaled()} @%first {COMMIT} {WAIT}", "uninitialized.*scale factors of A"),
    "no scale factors of B": (
        f"{copy('%t+64')} {scaled()} @%first {COMMIT} {WAIT}",
        f"{copy('%t+64')} {copy('%t+72')} {scaled()} @%first {COMMIT} {WAIT}", "uninitialized.*scale factors of B"),
    "a sum that nothing began": (
        f"{mma('%t+64')} @%first {COMMIT} {WAIT}", f"{mma('%t+64', add='!%always')} {mma('%t+64')} @%first {COMMIT} {WAIT}", "uninitialized.*of D"),
    "A in tensor memory that nobody wrote": (
        f"{mma(a='[%t+60]')} @%first {COMMIT} {WAIT}", f"{mma(a='[%t+56]')} @%first {COMMIT} {WAIT}", "uninitialized.*of A"),
    "A in tensor memory outside of what is allocated": (
        f"{mma(a='[%t+124]')} @%first {COMMIT} {WAIT}", f"{mma(a='[%t+40]')} @%first {COMMIT} {WAIT}", "out-of-bounds"),
    "D outside of what is allocated": (
        f"{mma('%t+100')} @%first {COMMIT} {WAIT}", f"{mma('%t+96', add='!%always')} @%first {COMMIT} {WAIT}", "out-of-bounds"),
    "a warp reads another one's lanes": (
        f"add.u32 %window, %window, 0x200000; {LD} {WAITLD}", f"add.u32 %window, %window, 0; {LD} {WAITLD}", "wrong-lanes"),
    "a commit to what is no mbarrier": (
        f"{mma()} @%first {COMMIT.replace('%bar', '%bar+16')} @%first {COMMIT2} {WAIT2}", f"{mma()} @%first {COMMIT} {WAIT}", "mbarrier-misuse"),
    "a commit for fewer arrivals than the mbarrier waits for": (
        f"{mma()} @%first {COMMIT2} {WAIT}", f"{mma()} @%first {COMMIT} {WAIT}", "deadlock"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted(name):
    wrong, right, message = PLANTED[name]
    for seed in (0, 1, 2, 3):
        run(right, schedule_seed=seed)
    with pytest.raises(tile.sim.SimulationError) as caught:
        run(wrong)
    assert re.search(message, str(caught.value)), str(caught.value)


def test_no_fence_at_the_start():
    """Everybody's stores reach the asynchronous proxy through everybody's fence."""
    body = f"{mma()} @%first {COMMIT} {WAIT}"
    run(body)
    with pytest.raises(tile.sim.SimulationError, match="missing-proxy-fence"):
        run(body, begin="// none")


# What an assumption makes a mistake of: name: (assumption, mistake, twin)
ASSUMED = {
    "a completed product needs a fence": (
        "tensor-fences", f"{mma()} @%first {COMMIT} {WAIT} {LD} {WAITLD}", f"{mma()} @%first {COMMIT} {WAIT} {AFTER} {LD} {WAITLD}"),
    "a completed store needs two fences": (
        "tensor-fences", f"{ST} {WAITST} {SYNC} {mma()} @%first {COMMIT} {WAIT} {AFTER}",
        f"{ST} {WAITST} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT} {AFTER}"),
    "scale factors that a product still reads": (
        "tensor-copies-wait", f"{copy('%t+64')} {copy('%t+72')} {scaled()} {copy('%t+64')} @%first {COMMIT} {WAIT}",
        f"{copy('%t+64')} {copy('%t+72')} {scaled()} @%first {COMMIT} {WAIT} {copy('%t+64')} @%first {COMMIT2} {WAIT2}"),
}  # fmt: skip


@pytest.mark.parametrize("name", ASSUMED)
def test_assumptions(name):
    """Open in public texts: by default neither is a mistake."""
    assumption, wrong, right = ASSUMED[name]
    run(right, assumptions=[assumption])
    run(wrong)
    with pytest.raises(tile.sim.SimulationError, match=r"missing-tcgen05-fence|async-race"):
        run(wrong, assumptions=[assumption])


def test_unknown_assumption():
    with pytest.raises(tile.errors.TileError, match="unknown assumption 'everything'"):
        run(LD + WAITLD, assumptions=["everything"])


def ring(freed):
    """Warp 0's first thread multiplies what warp 1's first thread loads into one buffer, three times."""
    load = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar+16], 4096; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%out], 4096, [%bar+16];"
    turns = range(3)
    loads = "".join(
        (wait(f"FREE{i}", "%bar+8", (i - 1) % 2) if i and freed else "") + load for i in turns
    )
    products = "".join(
        f"{wait(f'FULL{i}', '%bar+16', i % 2)} {mma(predicate='')} {COMMIT2}" for i in turns
    )
    return f"""@!%first bra MADE; mbarrier.init.shared::cta.b64 [%bar+16], 1; fence.mbarrier_init.release.cluster; MADE: {SYNC}
@!%third bra LOADED; {loads} LOADED:
@!%first bra MULTIPLIED; {products} {COMMIT} MULTIPLIED:
{WAIT}"""


@pytest.mark.parametrize("seed", range(6))
def test_a_commit_frees_a_buffer(seed):
    """The next copy comes behind the last one, which the product came behind: the commit passes that on."""
    source = np.zeros(1024, np.float32)
    tile.sim.launch(kernel(ring(True)), "op", 1, 128, [source], schedule_seed=seed)
    with pytest.raises(tile.sim.SimulationError):
        tile.sim.launch(kernel(ring(False)), "op", 1, 128, [source], max_instructions=100000, schedule_seed=seed)  # fmt: skip
