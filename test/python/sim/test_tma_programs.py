# ruff: noqa: E501  (PTX text reads better unbroken)
"""Tensor copies as libcu++ writes them and nvcc compiles them (test/unit/Simulator/ptx/tma.cu)."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_ptx_programs import ptx

import tile.sim

rng = np.random.default_rng(53)
EDGE = 32


def tensor(array, rows):
    return tile.sim.tensor_map(
        array.ctypes.data, "f32", array.shape[::-1], array.strides[:1], (EDGE, rows)
    )


def changed(changes):
    text = ptx("tma")
    for pattern, new in changes:
        text, count = re.subn(pattern, new, text)
        assert count, pattern
    return text


def transpose(*changes, **options):
    x = rng.standard_normal((64, 96)).astype(np.float32)
    y = np.zeros((96, 64), np.float32)
    report = tile.sim.launch(
        changed(changes), "transpose", (3, 2), 128, [tensor(x, EDGE), tensor(y, EDGE)],
        allocations=[x, y], max_instructions=200_000, **options,
    )  # fmt: skip
    return report, y, x.T


def shared_tile(*changes, **options):
    x = rng.integers(-9, 9, (EDGE, 96)).astype(np.float32)
    y = np.ones((1, 96), np.float32)
    report = tile.sim.launch(
        changed(changes), "shared_tile", (2, 3), 64, [tensor(x, EDGE), tensor(y, 1)], cluster=(2, 1),
        allocations=[x, y], max_instructions=200_000, **options,
    )  # fmt: skip
    return report, y, x.sum(0, keepdims=True) + 1


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("program", [transpose, shared_tile])
def test_right(program, seed):
    report, got, want = program(schedule_seed=seed)
    assert report.ok
    np.testing.assert_array_equal(got, want)


#: What a copy writes in place of elements outside, where the map asks for NaNs.
NANS = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FFFFFFFFFFFFFFF}
OUTSIDE = """.version 8.8
.target sm_90a
.address_size 64
.visible .entry outside(.param .align 64 .b8 map[128], .param .u64 out)
{
.shared .align 128 .b8 box[256]; .shared .align 8 .b64 bar;
.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<3>;
mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1; @%p1 fence.proxy.async.shared::cta; bar.sync 0;
mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [box], [%rd1, {1, -1}], [bar];
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;
mov.u32 %r2, box; mad.lo.u32 %r2, %r1, 8, %r2; ld.shared.b64 %rd2, [%r2];
ld.param.u64 %rd3, [out]; mad.wide.u32 %rd3, %r1, 8, %rd3; st.global.b64 [%rd3], %rd2;
ret;
}
"""


@pytest.mark.parametrize("kind", NANS)
def test_nans_in_place_of_what_lies_outside(kind):
    bits = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}[kind]
    columns = 512 // bits  # of a box of four rows of 64 bytes
    x = np.arange(1, 4 * columns + 1, dtype=f"u{bits // 8}").reshape(4, columns)
    box = tile.sim.tensor_map(
        x.ctypes.data, kind, x.shape[::-1], x.strides[:1], (columns, 4), fill_nan=True
    )
    out = np.zeros((4, columns), x.dtype)
    tile.sim.launch(OUTSIDE, "outside", 1, 32, [box, out], allocations=[x])
    want = np.full_like(out, NANS[kind])
    want[1:, :-1] = x[:3, 1:]
    np.testing.assert_array_equal(out, want)


BUGS = {
    "the sources leave before they are read": (
        transpose, [(r"cp\.async\.bulk\.wait_group\.read\s+\S+;", "")], "async-exit",
    ),
    "no proxy fence": (transpose, [(r"fence\.proxy\.async\S*;", "")], "missing-proxy-fence"),
    "nobody expects bytes": (
        shared_tile, [(r"mbarrier\.arrive\.expect_tx\.release\.cta\.shared::cta\.b64\s+(\S+),\s*(\S+),\s*\S+;", r"mbarrier.arrive.release.cta.shared::cta.b64 \1, \2;")], "async-race",
    ),
    "no barrier of the cluster": (
        shared_tile, [(r"barrier\.cluster\.arrive\S*;", ""), (r"barrier\.cluster\.wait\S*;", "")], "unstarted-cta",
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_bugs(bug):
    program, changes, kind = BUGS[bug]
    report, _, _ = program(*changes, raise_on_finding=False)
    assert kind in {f["kind"] for f in report.findings}, report.messages
