# ruff: noqa: E501  (PTX text reads better unbroken)
"""clusterlaunchcontrol: clusters that take the work of others, in several orders."""

from __future__ import annotations

import numpy as np
import pytest
from tensor_memory import HEADER, wait

import tile.sim
from tile.errors import TileError

ASK = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{all}.b128 [%s], [%bar];"


def kernel(
    read_fence="fence.proxy.async.shared::cta;",
    sync="bar.sync 0;",
    target="sm_100a",
    all_ctas="",
    first="::x",
    take=True,
):
    """Each CTA adds one to out[x, y] of its own tile, then of those that it takes from others."""
    get = {
        "::x": "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %q; clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %y, %q;",
        "v4": "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%x, %y, _, _}, %q;",
    }[first]
    ask = ASK.format(all=all_ctas)
    return f"""{HEADER.format(target=target)}
.visible .entry op(.param .u64 out, .param .u64 taken, .param .u32 wide)
{{
.shared .align 16 .b8 answer[16]; .shared .align 8 .b64 barrier;
.reg .b32 %thread, %s, %bar, %phase, %x, %y, %i, %wide, %rank, %dx, %one; .reg .b64 %out, %taken, %p; .reg .b128 %q; .reg .pred %first, %done, %got, %leader;
mov.u32 %thread, %tid.x; setp.eq.u32 %first, %thread, 0; mov.u32 %s, answer; mov.u32 %bar, barrier; mov.b32 %phase, 0; mov.b32 %one, 1; mov.u32 %rank, %cluster_ctarank; setp.eq.u32 %leader, %rank, 0; mov.u32 %dx, %cluster_ctaid.x;
ld.param.u64 %out, [out]; ld.param.u64 %taken, [taken]; ld.param.u32 %wide, [wide]; mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y;
@!%first bra BEGUN; mbarrier.init.shared::cta.b64 [%bar], 1; fence.mbarrier_init.release.cluster; BEGUN:
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
WORK:
@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 16;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
@!%first bra ASKED; {"@%leader " if all_ctas else ""}{ask} ASKED:
mad.lo.u32 %i, %y, %wide, %x; mad.wide.u32 %p, %i, 4, %out; @%first red.global.add.u32 [%p], %one;
{wait("WAIT", "%bar", "%phase")}
xor.b32 %phase, %phase, 1;
ld.shared.b128 %q, [%s];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %got, %q;
{read_fence} {sync}
{"@!%got bra END;" if take else ""}
{get} add.u32 %x, %x, %dx;
@%first red.global.add.u32 [%taken], %one;
bra WORK;
END: ret;
}}
"""


def run(ptx, grid=(6, 5, 1), **options):
    out, taken = np.zeros((grid[1], grid[0]), np.uint32), np.zeros(1, np.uint32)
    tile.sim.launch(ptx, "op", grid, 64, [out, taken, grid[0]], **options)
    return out, int(taken[0])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("first", ["::x", "v4"])
@pytest.mark.parametrize("target", ["sm_100a", "sm_120"])
def test_every_tile_is_done_once(target, first, seed):
    out, taken = run(kernel(target=target.replace("120", "120a") if first == "v4" else target.replace("120", "100"), first=first), schedule_seed=seed)  # fmt: skip
    assert (out == 1).all()
    assert taken or seed


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_host_threads(threads):
    out, _ = run(kernel(), grid=(40, 3, 1), threads=threads)
    assert (out == 1).all()


@pytest.mark.parametrize("seed", range(4))
def test_clusters_take_clusters(seed):
    out, _ = run(kernel(all_ctas=".multicast::cluster::all"), grid=(6, 4, 1), cluster=(2, 1, 1), schedule_seed=seed)  # fmt: skip
    assert (out == 1).all()


def test_answers_that_name_nobody():
    with pytest.raises(tile.sim.SimulationError, match="no cluster was canceled"):
        run(kernel(take=False))


def test_answers_are_overwritten_by_the_asynchronous_proxy():
    """Reading an answer and asking again: what was read must be ordered before."""
    run(kernel())
    with pytest.raises(tile.sim.SimulationError, match="race"):
        ptx = kernel(sync="").replace("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n@!%first", "\n@!%first")  # fmt: skip
        run(ptx)


@pytest.mark.parametrize(
    ("target", "all_ctas", "message"),
    [("sm_90a", "", "needs .target sm_100 or later"), ("sm_100", ".multicast::cluster::all", "needs a target of one architecture")],
)  # fmt: skip
def test_refused(target, all_ctas, message):
    with pytest.raises(TileError, match=message):
        run(kernel(target=target, all_ctas=all_ctas))
