# ruff: noqa: E501  (PTX text reads better unbroken)
"""CTAs that see each other's order give one result, on however many host threads they run.

Random programs do atomics, ordered accesses and take locks between loops of different length; the
hand-written ones wait for each other as real kernels do.
"""

from __future__ import annotations

import numpy as np
import pytest
import test_sharing
from ptxlib import HEADER
from test_ptx_programs import ptx

import tile.sim

#: Each mixes what it saw into %h.
STEPS = [
    "atom.relaxed.gpu.global.add.f32 %f0, [{at}], %f1; add.f32 %f1, %f0, 0f3F800000; mov.b32 %r0, %f0; xor.b32 %h, %h, %r0;",
    "atom.acq_rel.gpu.global.exch.b32 %r0, [{at}], %h; mad.lo.u32 %h, %h, 3, %r0;",
    "atom.relaxed.gpu.global.cas.b32 %r0, [{at}], %r0, %h; xor.b32 %h, %h, %r0;",
    "atom.relaxed.gpu.global.inc.u32 %r0, [{at}], 77; add.u32 %h, %h, %r0;",
    "red.relaxed.gpu.global.add.f32 [{at}], %f1;",
    "red.relaxed.gpu.global.max.u32 [{at}], %h;",
    "ld.acquire.gpu.global.u32 %r0, [{at}]; xor.b32 %h, %h, %r0;",
    "ld.volatile.global.u32 %r0, [{at}]; add.u32 %h, %h, %r0;",
    "st.release.gpu.global.u32 [{at}], %h;",
    # A lock, and words that only its holder touches.
    """setp.ne.u32 %p1, %t, 0; @%p1 bra NEXT{n};
LOCK{n}: atom.acquire.gpu.global.cas.b32 %r1, [{lock}], 0, 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra LOCK{n};
ld.global.u32 %r1, [{held}]; mad.lo.u32 %r1, %r1, 5, %h; st.global.u32 [{held}], %r1; xor.b32 %h, %h, %r1;
st.release.gpu.global.u32 [{lock}], 0;
NEXT{n}: bar.warp.sync -1;""",
]  # fmt: skip


def program(rng: np.random.Generator) -> str:
    body = []
    for n in range(int(rng.integers(3, 9))):
        if rng.random() < 0.6:  # a loop that takes some CTAs long
            length, spread = int(rng.choice([3, 40, 400])), int(rng.integers(1, 9))
            body.append(f"""rem.u32 %r2, %c, {spread}; mul.lo.u32 %r2, %r2, {length};
LOOP{n}: mad.lo.u32 %h, %h, 1664525, 1013904223; sub.u32 %r2, %r2, 1; setp.gt.s32 %p0, %r2, 0; @%p0 bra LOOP{n};""")  # fmt: skip
        step = STEPS[rng.integers(len(STEPS))]
        at = f"%a0 + {4 * int(rng.integers(4))}"
        body.append(step.format(n=n, at=at, lock="%a0 + 16", held="%a0 + 20"))
    text = "\n".join(body)
    return f"""{HEADER}.visible .entry op(.param .u64 shared, .param .u64 out)
{{
.reg .b32 %r<4>; .reg .b32 %h, %t, %c; .reg .b64 %a<3>; .reg .f32 %f<2>; .reg .pred %p<2>;
ld.param.u64 %a0, [shared]; ld.param.u64 %a1, [out];
mov.u32 %c, %ctaid.x; mov.u32 %t, %tid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r3, %c, %r3, %t;
mul.lo.u32 %h, %r3, 747796405; cvt.rn.f32.u32 %f1, %r3; mul.f32 %f1, %f1, 0f3DCCCCCD; mov.u32 %r0, 0;
{text}
mul.wide.u32 %a2, %r3, 4; add.s64 %a1, %a1, %a2; st.global.u32 [%a1], %h;
ret;
}}
"""


def facts(report: tile.sim.Report) -> dict:
    return {k: v for k, v in report.to_dict().items() if k not in ("seconds", "threads")}


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    rng = np.random.default_rng(seed)
    text = program(rng)
    grid, block = int(rng.choice([2, 5, 9, 16, 30])), int(rng.choice([32, 64]))
    start = rng.integers(0, 1 << 30, 8).astype(np.uint32)
    start[4] = 0
    results = []
    for threads in (1, 2, 3, 8, 0):
        shared, out = start.copy(), np.zeros(grid * block, np.uint32)
        report = tile.sim.launch(text, "op", grid, block, [shared, out], threads=threads)
        assert not threads or report.to_dict()["threads"] == min(threads, grid // 2, 8)
        results.append((shared.tobytes(), out.tobytes(), facts(report)))
    assert all(r == results[0] for r in results)


WAITING = [
    test_sharing.last_block, test_sharing.split_k, test_sharing.turnstile,
    test_sharing.persistent, test_sharing.look_back, test_sharing.spin_lock, test_sharing.jacobi,
]  # fmt: skip


@pytest.mark.parametrize("make", WAITING, ids=lambda p: p.__name__)
def test_waiting_programs(make, monkeypatch):
    text, seen = ptx("sharing"), []
    for threads in (1, 2, 5):
        monkeypatch.setattr(test_sharing, "rng", np.random.default_rng(3))
        grid, block, arguments, cluster, results = make()
        report = tile.sim.launch(
            text, make.__name__, grid, block, [*arguments, 0], cluster=cluster, threads=threads
        )
        got, want = results()
        np.testing.assert_array_equal(got, want)
        seen.append((*(a.tobytes() for a in arguments if hasattr(a, "tobytes")), facts(report)))
    assert all(s == seen[0] for s in seen)


def test_an_endless_wait_ends():
    """The budget ends workers that wait for their turn, too."""
    text = f"""{HEADER}.visible .entry op(.param .u64 flag)
{{
.reg .b32 %r<2>; .reg .b64 %a; .reg .pred %p;
ld.param.u64 %a, [flag];
WAIT: ld.acquire.gpu.global.u32 %r0, [%a]; setp.eq.u32 %p, %r0, 0; @%p bra WAIT;
ret;
}}
"""
    report = tile.sim.launch(
        text, "op", 20, 32, [np.zeros(1, np.uint32)],
        max_instructions=100_000, threads=3, raise_on_finding=False,
    )  # fmt: skip
    assert {f["kind"] for f in report.findings} == {"instruction-budget"}
