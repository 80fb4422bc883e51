"""Functions of lit tests in the simulator: it finds mistakes, and nothing in corrected twins."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from reference import sim_only

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gpu"))
import simulated_lit

pytestmark = sim_only

HEAD = """
#L = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4],
                     warpsPerCTA = [4, 1], order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
"""
TENSORS = """
  tt.func @twice(%x: tensor<32x16xf32, #L>, %n: i32) -> tensor<32x16xf32, #L> {
    %y = arith.addf %x, %x : tensor<32x16xf32, #L>
    tt.return %y : tensor<32x16xf32, #L>
  }
}
"""
MEETING = """
  tt.func @meeting() {
    %c0 = arith.constant 0 : i32
    %b = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bar, #smem, mutable>
    ttng.init_barrier %b, COUNT : !ttg.memdesc<2xi64, #bar, #smem, mutable>
    ttng.arrive_barrier %b, 1 {multicastCTA = 1 : i32} : !ttg.memdesc<2xi64, #bar, #smem, mutable>
    ttng.wait_barrier %b, %c0 : !ttg.memdesc<2xi64, #bar, #smem, mutable>
    tt.return
  }
}
"""
BARRIERS = "triton-nvidia-gpu-cluster-barrier-after-init,triton-nvidia-gpu-cluster-barrier-at-end"


def test_tensors_come_from_memory_and_go_there():
    head = HEAD.replace('"ttg.num-ctas" = 2', '"ttg.num-ctas" = 1').replace(
        ", CGALayout = [[1]]", ""
    )
    text, kernel = simulated_lit.make_kernel(head + TENSORS)
    assert [(p.kind, p.count) for p in kernel.parameters] == [
        ("f32", 512),
        ("i32", 0),
        ("f32", 512),
    ]
    assert "tt.load" in text and "tt.store" in text
    assert simulated_lit.why_not_clean(head + TENSORS, "") == ""


@pytest.mark.parametrize(
    ("count", "passes", "why"),
    [(2, BARRIERS, ""), (2, "", "mbarrier"), (3, BARRIERS, "deadlock")],
    ids=["right", "before it is initialised", "an arrival too few"],
)
def test_barriers_of_blocks(count, passes, why):
    found = simulated_lit.why_not_clean(HEAD + MEETING.replace("COUNT", str(count)), passes)
    assert why in found and bool(found) == bool(why), found


def test_what_cannot_be_run():
    text = HEAD + MEETING.replace("COUNT", "2").replace(
        "@meeting()", "@meeting(%d: !ttg.memdesc<1>)"
    )
    assert simulated_lit.why_not_clean(text, "").startswith("not run: an argument of type")
