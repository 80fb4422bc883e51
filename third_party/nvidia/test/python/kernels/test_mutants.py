"""Kernels whose warps are divided lose one thing that orders them at a time. The simulator finds
each mutant, or there is a reason why nothing goes wrong. A table counts those that nobody finds.
Where there are more, a new barrier is needless, or the simulator does not see what it is for.

Why a mutant may live:

- `no warp barrier`: one lane arrives for its warp, or starts work for it. The barrier keeps the
  others from falling two phases behind. Few schedules show that.
- `no barrier is given back`: nothing else comes into that memory before the kernel ends.
- `no wait for a phase`, `a wait acquires nothing`: at its end, the warp that copies waits for all
  buffers. This is for arrivals that come late, in few schedules. Nobody reads buffers behind it.
  With launch control, the ring of answers keeps groups as near to each other as that of sums does.
  Both groups of attention wait for both halves of the queries.
- `an arrival releases nothing`, `one arrival fewer is needed`: all warps of the group have met
  since they read, or the tensor cores have read for all of them. So one warp could arrive for all.
  Behind the last phase, nobody waits.
- `no arrival`: the last one of a loop over keys. Nobody fills the buffer again.
- `a wait for reads alone`: stores to the same place are made in order. Here are none.
- `no wait for tensor memory`: it stands behind stores that a predicate has switched off. Or a later
  wait covers this one, where sums are corrected part by part.
- `no fence of tensor memory`: each dot has one in front. Most dots follow one of the same thread.
- `no fence`: one of two that stand together (`fence.mbarrier_init` for other blocks). With launch
  control, one between reads of threads and writes of an engine, which the simulator does not ask
  for (docs/simulator.md).
- `no block barrier`: of two behind each other, in clusters. In attention, one before a barrier
  object is given back: all have met since they waited there, if the loop had an iteration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import test_launch_control_groups
import test_packed_scales
import test_row_groups
import test_specialized_clusters
import test_specialized_loops
from mutants import RecordedLaunch
from reference import sim_only

pytestmark = sim_only

#: So many orders beside the plain one.
SCHEDULES = 4


def multiply(sizes: tuple[int, int, int], tiles: tuple[int, int, int], **options: Any) -> None:
    test_specialized_loops.multiply_by_descriptors("fp16", sizes, tiles, programs=1, **options)


def attend(rows: int, keys: int, **options: Any) -> None:
    test_row_groups.run("fp16", rows, keys, 64, 64, programs=1, loops=1, **options)


KERNELS: dict[str, tuple[str, Callable[[], Any]]] = {
    "matmul on Hopper": (
        "cuda:90", lambda: multiply((264, 144, 104), (128, 64, 32), num_warps=4, num_stages=2)
    ),
    "matmul of two blocks on Hopper": (
        "cuda:90",
        lambda: test_specialized_clusters.multiply_once(136, False, num_warps=4, num_stages=2),
    ),
    "attention on Hopper": (
        "cuda:90", lambda: test_specialized_loops.test_attention(False, 64, 4, 2)
    ),
    "matmul over tiles": (
        "cuda:100", lambda: multiply((264, 144, 104), (128, 64, 32), num_warps=4, num_stages=2)
    ),
    "matmul with launch control": (
        "cuda:100",
        lambda: test_launch_control_groups.multiply(
            (392, 72, 96), (128, 64, 32), specialize=True, num_stages=2
        ),
    ),
    "matmul of pairs": (
        "cuda:100", lambda: multiply((520, 136, 136), (256, 128, 64), num_stages=2, num_ctas=2)
    ),
    "dot_scaled": (
        "cuda:100",
        lambda: test_packed_scales.multiply(
            ("mxfp8", "mxfp8"), (640, 128, 256), (128, 128, 128), specialize=True, num_stages=2
        ),
    ),
    "attention with corrections": (
        "cuda:100", lambda: attend(512, 200, row_groups=2, num_stages=3)
    ),
}  # fmt: skip
#: How many mutants of a rule may live. Chance finds some of them: warps that lose the last waits, a
#: warp's barrier or an arrival.
MAY_LIVE: dict[str, dict[str, int]] = {
    "matmul on Hopper": {
        "a wait for reads alone": 1,
        "no barrier is given back": 4,
        "no warp barrier": 3,
    },
    "matmul of two blocks on Hopper": {
        "an arrival releases nothing": 1,
        "no barrier is given back": 4,
        "no block barrier": 1,
        "no fence": 3,
        "no warp barrier": 2,
        "one arrival fewer is needed": 2,
    },
    "attention on Hopper": {
        "an arrival releases nothing": 2,
        "no arrival": 1,
        "no barrier is given back": 8,
        "no warp barrier": 6,
        "one arrival fewer is needed": 4,
    },
    "matmul over tiles": {
        "a wait acquires nothing": 2,
        "a wait for reads alone": 1,
        "no barrier is given back": 8,
        "no fence of tensor memory": 1,
        "no wait for a phase": 2,
        "no wait for tensor memory": 1,
        "no warp barrier": 7,
    },
    "matmul with launch control": {
        "a wait acquires nothing": 3,
        "an arrival releases nothing": 3,
        "no barrier is given back": 12,
        "no fence": 3,
        "no fence of tensor memory": 1,
        "no wait for a phase": 3,
        "no wait for tensor memory": 1,
        "no warp barrier": 13,
        "one arrival fewer is needed": 2,
    },
    "matmul of pairs": {
        "a wait acquires nothing": 2,
        "a wait for reads alone": 1,
        "an arrival releases nothing": 4,
        "no barrier is given back": 8,
        "no block barrier": 4,
        "no fence": 3,
        "no fence of tensor memory": 1,
        "no wait for a phase": 2,
        "no wait for tensor memory": 1,
        "no warp barrier": 7,
        "one arrival fewer is needed": 2,
    },
    "dot_scaled": {
        "a wait acquires nothing": 2,
        "a wait for reads alone": 1,
        "no barrier is given back": 8,
        "no fence of tensor memory": 4,
        "no wait for a phase": 2,
        "no wait for tensor memory": 1,
        "no warp barrier": 7,
        "one arrival fewer is needed": 2,
    },
    "attention with corrections": {
        "no block barrier": 2,
        "no warp barrier": 24,
        "no wait for a phase": 11,
        "a wait acquires nothing": 21,
        "an arrival releases nothing": 9,
        "one arrival fewer is needed": 8,
        "no barrier is given back": 24,
        "no fence": 2,
        "no fence of tensor memory": 6,
        "no wait for tensor memory": 2,
        "a wait for reads alone": 2,
    },
}
#: These take seconds; the others are marked slow.
QUICK = ["matmul on Hopper", "matmul of two blocks on Hopper", "matmul over tiles"]
CASES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in KERNELS]


@pytest.mark.parametrize("name", CASES)
def test_each_barrier_is_missed(name, monkeypatch):
    target, launch = KERNELS[name]
    may_live = MAY_LIVE[name]
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "1")
    recorded = RecordedLaunch(launch)
    assert recorded.what_is_found(recorded.ptx, 1, SCHEDULES) is None
    mutants = recorded.mutants()
    alive = [mutant for mutant in mutants if recorded.survives(mutant, SCHEDULES)]
    counts = Counter(mutant.rule for mutant in alive)
    more = [str(m) for m in alive if counts[m.rule] > may_live.get(m.rule, 0)]
    assert not more, f"{len(mutants)} mutants, alive: {dict(counts)}\n" + "\n".join(more)
