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
NANS = {"f16": 0x7FF7, "bf16": 0x7FF7, "f32": 0x7FF77FF7, "f64": 0x7FF77FF77FF77FF7}
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
@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [box], [%rd1, {COLUMN, -1}], [bar];
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
    start = 128 // bits
    text = OUTSIDE.replace("COLUMN", str(start))
    tile.sim.launch(text, "outside", 1, 32, [box, out], allocations=[x])
    want = np.full_like(out, NANS[kind])
    want[1:, :-start] = x[:3, start:]
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("kind", ["u8", "f16", "f32", "f64"])
def test_boxes_begin_at_multiples_of_16_bytes(kind):
    """Elsewhere an H200 ends a load as an illegal instruction."""
    size = {"u8": 1, "f16": 2, "f32": 4, "f64": 8}[kind]
    x, out = np.arange(256, dtype=np.uint8), np.zeros(256, np.uint8)
    box = tile.sim.tensor_map(x.ctypes.data, kind, (64 // size, 4), (64,), (64 // size, 4))
    for byte in (-80, -16, -8, 0, 8, 16, 24, 48, 64):
        text = OUTSIDE.replace("COLUMN", str(byte // size))
        report = tile.sim.launch(
            text, "outside", 1, 32, [box, out], allocations=[x], raise_on_finding=False
        )
        assert [f["kind"] for f in report.findings] == ["misaligned"] * (byte % 16 != 0)
        if report.ok:
            want = np.zeros((4, 64 + 160), np.uint8)
            want[1:, 80:144] = x.reshape(4, 64)[:3]
            np.testing.assert_array_equal(out.reshape(4, 64), want[:, 80 + byte : 144 + byte])


INSIDE = """.version 8.8
.target sm_90a
.address_size 64
.visible .entry inside(.param .align 64 .b8 map[128])
{
.shared .align 128 .b8 box[128]; .reg .b32 %r<3>; .reg .b64 %rd1; .reg .pred %p1;
mov.u32 %r1, %tid.x; mov.u32 %r2, box; mad.lo.u32 %r2, %r1, 4, %r2; st.shared.b32 [%r2], -1;
fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p1, %r1, 0; mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1;
@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {COLUMN, ROW}], [box];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
ret;
}
"""


@pytest.mark.parametrize("columns", [4, 12, 20, 28, 30, 31, 32])
def test_stores_write_whole_pieces_of_16_bytes(columns):
    """So an H200 clips them; boxes that begin before a row it does not take at all."""
    x = np.zeros((4, 32), np.uint16)
    box = tile.sim.tensor_map(x.ctypes.data, "f16", (columns, 4), (64,), (16, 4))
    for column in (-16, -8, 0, 4, 8, 16, 24, 32):
        x[:] = 0
        text = INSIDE.replace("COLUMN", str(column)).replace("ROW", "0")
        report = tile.sim.launch(
            text, "inside", 1, 32, [box], allocations=[x], raise_on_finding=False
        )
        kind = "out-of-bounds" if column < 0 else "misaligned"
        assert [f["kind"] for f in report.findings] == [kind] * (column < 0 or column % 8 != 0)
        want = np.zeros_like(x)
        if report.ok:
            want[:, column : min(column + 16, -(-columns // 8) * 8)] = 0xFFFF
        np.testing.assert_array_equal(x, want)


@pytest.mark.parametrize("reduction", [False, True])
def test_stores_do_not_begin_before_the_tensor(reduction):
    x = np.zeros((8, 32), np.uint16)
    box = tile.sim.tensor_map(x.ctypes.data, "f16", (32, 8), (64,), (16, 4))
    text = INSIDE
    if reduction:
        text = text.replace("cp.async", "cp.reduce.async", 1).replace(
            "::cta.tile", "::cta.add.tile"
        )
    for row in (-4, -1, 0, 5, 8):
        x[:] = 0
        report = tile.sim.launch(
            text.replace("COLUMN", "8").replace("ROW", str(row)), "inside", 1, 32, [box],
            allocations=[x], raise_on_finding=False,
        )  # fmt: skip
        assert [f["kind"] for f in report.findings] == ["out-of-bounds"] * (row < 0)
        rows, columns = np.nonzero(x)
        assert set(rows) == (set(range(row, min(row + 4, 8))) if row >= 0 else set())
        assert not len(columns) or (columns.min(), columns.max()) == (8, 23)


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
