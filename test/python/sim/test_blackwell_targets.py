# ruff: noqa: E501  (PTX text reads better unbroken)
"""What sm_100 and its relatives have of Hopper, what they have not, and how much shared memory."""

from __future__ import annotations

import hopper
import numpy as np
import pytest
from ptxlib import HEADER

import tile.sim
from tile.errors import TileError

TARGETS = ["sm_100", "sm_100a", "sm_103f", "sm_110a", "sm_120", "sm_120a", "sm_121f"]
VERSION = ".version 9.0\n.target {}\n.address_size 64\n"


def header(target):
    return VERSION.format(target)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("target", TARGETS)
def test_tensor_copies(target, seed, monkeypatch):
    monkeypatch.setattr(hopper, "HEADER", header(target))
    x = np.arange(128 * 192, dtype=np.float32).reshape(128, 192)
    y = np.zeros_like(x)
    hopper.launch_copy(x, y, schedule_seed=seed)
    np.testing.assert_array_equal(x, y)


MULTICAST = """.visible .entry op(.param .u64 source, .param .u64 out)
{
.shared .align 128 .b8 buffer[256]; .shared .align 8 .b64 barrier;
.reg .b32 %r<8>; .reg .b64 %p<4>; .reg .pred %first, %done, %leader; .reg .b16 %both;
mov.u32 %r0, %tid.x; setp.eq.u32 %first, %r0, 0; mov.u32 %r1, buffer; mov.u32 %r2, barrier; mov.u32 %r3, %cluster_ctarank; setp.eq.u32 %leader, %r3, 0; mov.b16 %both, 3;
ld.param.u64 %p0, [source]; ld.param.u64 %p1, [out]; mad.wide.u32 %p1, %r3, 256, %p1;
@!%first bra READY; mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;
READY: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
@!%first bra SENT; @%leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%p0], 256, [%r2], %both;
SENT: mbarrier.try_wait.parity.shared::cta.b64 %done, [%r2], 0; @!%done bra SENT;
shl.b32 %r4, %r0, 3; add.u32 %r5, %r1, %r4; cvt.u64.u32 %p2, %r4; add.u64 %p1, %p1, %p2; ld.shared.b64 %p3, [%r5]; st.global.b64 [%p1], %p3;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
ret;
}
"""


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("target", TARGETS)
def test_multicast(target, seed):
    source, out = np.arange(64, dtype=np.float32), np.zeros((2, 64), np.float32)
    tile.sim.launch(header(target) + MULTICAST, "op", 2, 32, [source, out], cluster=(2, 1, 1), schedule_seed=seed)  # fmt: skip
    np.testing.assert_array_equal(out, [source, source])


WIDE = ".visible .entry op(.param .u64 a, .param .u64 out)\n{{ .reg .b64 %a, %o, %q<4>; .reg .b32 %r<8>, %t; mov.u32 %t, %tid.x; ld.param.u64 %a, [a]; ld.param.u64 %o, [out]; mad.wide.u32 %a, %t, 32, %a; mad.wide.u32 %o, %t, 32, %o; {} ret; }}"
LOADS = {
    "v8.b32": "ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%a]; st.global.v8.b32 [%o], {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7};",
    "v4.b64": "ld.global.v4.b64 {%q0, %q1, %q2, %q3}, [%a]; st.global.v4.b64 [%o], {%q0, %q1, %q2, %q3};",
}


@pytest.mark.parametrize("form", LOADS)
@pytest.mark.parametrize("target", TARGETS)
def test_accesses_of_32_bytes(target, form):
    source = np.arange(256, dtype=np.uint32)
    out = np.zeros_like(source)
    tile.sim.launch(header(target) + WIDE.format(LOADS[form]), "op", 1, 32, [source, out])
    np.testing.assert_array_equal(out, source)


@pytest.mark.parametrize(
    ("target", "kib"), [("sm_90a", 227), ("sm_100a", 227), ("sm_110f", 227), ("sm_120", 99), ("sm_121a", 99)]
)  # fmt: skip
def test_shared_memory_of_a_cta(target, kib):
    empty = (
        header(target)
        + ".extern .shared .b8 memory[];\n.visible .entry op() { .reg .b32 %r; mov.u32 %r, memory; st.shared.b32 [%r], 0; ret; }"
    )
    tile.sim.launch(empty, "op", 1, 1, [], dynamic_shared=kib * 1024)
    with pytest.raises(TileError, match=f"there are {kib * 1024}"):
        tile.sim.launch(empty, "op", 1, 1, [], dynamic_shared=kib * 1024 + 16)


FORM = ".visible .entry op(.param .u32 a) {{ .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p; .reg .b128 %q; {} ret; }}"
MMA = "tcgen05.mma.cta_group::1.kind::{} [%r0], %d0, %d1, %r1, %p{};"
FORMS = {
    # What an instruction needs: names of targets that ptxas takes it for.
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r1];": "100a 103a 110a 100f 103f 110f",
    "tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%r0, %r1}, %r2, [%r3];": "103a 110a 103f 110f",
    "tcgen05.shift.cta_group::1.down [%r0];": "100a 103a 110a",
    MMA.format("f16", ""): "100a 103a 110a 100f 103f 110f",
    MMA.format("f16", ", 3"): "100a 103a 100f 103f",
    MMA.format("i8", ""): "100a 110a",
    "redux.sync.max.f32 %r0, %r1, -1;": "100a 103a 100f 103f",
    "setmaxnreg.dec.sync.aligned.u32 24;": "90a 100a 103a 110a 100f 103f 110f 120a 121a 120f 121f",
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %q;": "100 103 110 120 121 100a 103a 110a 100f 103f 110f 120a 121a 120f 121f",
    "wgmma.fence.sync.aligned;": "90a",
}
EVERY = "90 90a 100 103 110 120 121 100a 103a 110a 120a 121a 100f 103f 110f 120f 121f".split()


@pytest.mark.parametrize("text", FORMS)
def test_targets_of_a_form(text):
    for name in EVERY:
        ptx = header(f"sm_{name}") + FORM.format(text)
        if name in FORMS[text].split():
            tile.sim.load(ptx)
            continue
        with pytest.raises(TileError, match=r"needs|does not scale"):
            tile.sim.load(ptx)


def test_the_old_name_of_sm_110():
    """PTX 9.0 gave sm_101 that name."""
    for name in ("sm_101a", "sm_101f"):
        tile.sim.load(header(name) + FORM.format("tcgen05.wait::ld.sync.aligned;"))
    with pytest.raises(TileError, match="sm_110 does not scale D"):
        tile.sim.load(header("sm_101a") + FORM.format(MMA.format("f16", ", 3")))


def test_hopper_has_none_of_it():
    with pytest.raises(TileError, match=r"needs .target sm_100a"):
        tile.sim.load(HEADER + FORM.format("tcgen05.wait::ld.sync.aligned;"))


@pytest.mark.parametrize("target,processors", [("sm_80", 108), ("sm_90a", 132), ("sm_100", 148), ("sm_103a", 148), ("sm_120", 170)])  # fmt: skip
def test_processors_of_a_gpu(target, processors):
    """%nsmid is that of a GPU with the target; %smid goes round."""
    ptx = f"""{header(target)}.visible .entry k(.param .u64 out) {{
.reg .b32 %r<3>; .reg .b64 %p; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %smid; mov.u32 %r2, %nsmid;
ld.param.u64 %p, [out]; mad.wide.u32 %p, %r0, 8, %p; st.global.v2.b32 [%p], {{%r1, %r2}}; ret; }}"""
    out = np.zeros((200, 2), np.uint32)
    tile.sim.launch(ptx, "k", 200, 1, [out])
    assert (out[:, 1] == processors).all()
    assert (out[:, 0] == np.arange(200) % processors).all()
