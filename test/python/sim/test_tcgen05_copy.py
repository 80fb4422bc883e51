# ruff: noqa: E501  (PTX text reads better unbroken)
"""tcgen05.cp of every shape and .shift, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import tensor_memory as tm
from tensor_memory import LANES

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(41)
# Rows, bytes of a row, and the lanes that get row r.
SHAPES = {
    "128x256b": (128, 32, lambda r: [r]),
    "128x128b": (128, 16, lambda r: [r]),
    "4x256b": (4, 32, lambda r: [32 * r]),
    "64x128b.warpx2::02_13": (64, 16, lambda r: [r, r + 64]),
    "64x128b.warpx2::01_23": (64, 16, lambda r: [r, r + 32] if r < 32 else [r + 32, r + 64]),
    "32x128b.warpx4": (32, 16, lambda r: [r, r + 32, r + 64, r + 96]),
}  # fmt: skip
UNPACK = {"": 8, ".b8x16.b6x16_p32": 6, ".b8x16.b4x16_p64": 4}


def put_rows(shared, at, rows, mode):
    """Rows of bytes as a K-major matrix; returns its descriptor."""
    count, length = rows.shape
    width = tm.SPANS[mode]
    leading, stride = (128, 128 * (length // 16)) if mode == "none" else (16, 8 * width)
    for r in range(count):
        for i in range(length):
            if mode == "none":
                offset = r // 8 * stride + i // 16 * leading + r % 8 * 16 + i % 16
            else:
                offset = r // 8 * stride + r % 8 * width + i
            shared[tm.swizzled(at + offset, mode)] = rows[r, i]
    return tm.sdesc(at, leading, stride, mode)


def unpacked(row, bits, low=False):
    """Of each 16 bytes, 16 elements from the lowest bits on, each in a byte."""
    if bits == 8:
        return list(row)
    out = []
    for unit in range(0, len(row), 16):
        stream = int.from_bytes(bytes(row[unit : unit + 16]), "little")
        for i in range(16):
            code = stream >> bits * i & ((1 << bits) - 1)
            out.append(code << 2 if bits == 4 and not low else code)
    return out


def copy(shape, how, mode="none", column=8, group=1, seed=0, assumptions=(), low=False):
    rows, length, lanes = SHAPES[shape]
    shared = np.zeros((group, 32768), np.uint8)
    tensor = rng.integers(0, 1 << 32, (group, LANES, 32), dtype=np.uint64).astype(np.uint32)
    want = tensor.copy()
    for cta in range(group):
        source = rng.integers(0, 256, (rows, length)).astype(np.uint8)
        descriptor = put_rows(shared[cta], 1024, source, mode)
        for r in range(rows):
            line = np.array(unpacked(source[r], UNPACK[how], low), np.uint8).view("<u4")
            for lane in lanes(r):
                want[cta, lane, column : column + length // 4] = line
    body = (
        f"mov.b64 %d0, {descriptor}; tcgen05.cp.cta_group::{group}.{shape}{how} [%t+{column}], %d0;"
    )
    given = (shared, tensor) if group == 2 else (shared[0], tensor[0])
    got = tm.run(body, *given, group=group, schedule_seed=seed, assumptions=assumptions)
    np.testing.assert_array_equal(got.reshape(want.shape), want)


@pytest.mark.parametrize("how", UNPACK)
@pytest.mark.parametrize("shape", SHAPES)
def test_copy(shape, how):
    copy(shape, how)
    copy(shape, how, "128", column=0, seed=3)
    copy(shape, how, group=2, seed=2)


@pytest.mark.parametrize("mode", ["32", "64"])
def test_swizzled_copies(mode):
    copy("128x256b", "", mode)
    copy("32x128b.warpx4", "", mode)


def test_assumption_low_bits():
    """Open: which bits of its byte an element of four bits gets. By default those of mma.sync."""
    copy("128x128b", ".b8x16.b4x16_p64", assumptions=["low-bits"], low=True)
    with pytest.raises(AssertionError):
        copy("128x128b", ".b8x16.b4x16_p64", low=True)


def shift(lane, up, assumptions=(), group=1):
    tensor = rng.integers(0, 1 << 32, (group, LANES, 32), dtype=np.uint64).astype(np.uint32)
    want = tensor.copy()
    for window in range(lane, LANES, 32):
        here = tensor[:, window : window + 32, 4:12]
        if up:
            want[:, window + 1 : window + 32, 4:12] = here[:, :31]
        else:
            want[:, window : window + 31, 4:12] = here[:, 1:]
    body = f"tcgen05.shift.cta_group::{group}.down [%t+{(lane << 16) + 4}];"
    shared = np.zeros((group, 2048), np.uint8)
    given = (shared, tensor) if group == 2 else (shared[0], tensor[0])
    got = tm.run(body, *given, assumptions=assumptions, group=group)
    np.testing.assert_array_equal(got.reshape(want.shape), want)


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("lane", [0, 32, 96])
def test_shift(lane, group):
    shift(lane, False, group=group)


def test_assumption_shift_up():
    """Open: the direction. By default a lane takes what the next one has."""
    shift(0, True, ["shift-up"])
    with pytest.raises(AssertionError):
        shift(0, True)


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        ("tcgen05.cp.cta_group::1.64x128b [%t], %d0;", "sm_100a", "needs .warpx2 or .warpx4"),
        ("tcgen05.cp.cta_group::1.32x128b [%t], %d0;", "sm_100a", "needs .warpx2 or .warpx4"),
        ("tcgen05.cp.cta_group::1.128x128b.warpx4 [%t], %d0;", "sm_100a", "goes not to these warps"),
        ("tcgen05.cp.cta_group::1.128x128b.b8x16 [%t], %d0;", "sm_100a", "needs .b6x16_p32"),
        ("tcgen05.cp.cta_group::1.128x128b [%t], %d0;", "sm_121a", "needs .target sm_100a, sm_100f"),
        ("tcgen05.shift.cta_group::1.down [%t];", "sm_100f", "needs .target sm_100a, sm_103a or sm_110a"),
        ("tcgen05.shift.cta_group::1 [%t];", "sm_100a", "needs .down"),
    ],
)  # fmt: skip
def test_refused(text, target, message):
    with pytest.raises(TileError, match=message):
        tm.run(text, np.zeros(2048, np.uint8), np.zeros((LANES, 32), np.uint32), target=target)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("tcgen05.shift.cta_group::1.down [%t+0x100000];", "wrong-lanes"),
        ("tcgen05.shift.cta_group::1.down [%t+28];", "out-of-bounds"),
        (f"mov.b64 %d0, {tm.sdesc(0, 16, 128, 'none')}; tcgen05.cp.cta_group::1.128x128b [%t+0x100000], %d0;", "out-of-bounds"),
        (f"mov.b64 %d0, {tm.sdesc(1024, 16, 128, 'none')}; tcgen05.cp.cta_group::1.128x128b [%t], %d0;", "out-of-bounds"),
        (f"mov.b64 %d0, {tm.sdesc(0, 16, 128, 'atoms')}; tcgen05.cp.cta_group::1.32x128b.warpx4 [%t], %d0;", "bad-descriptor"),
    ],
)  # fmt: skip
def test_copies_that_must_not_be(text, kind):
    with pytest.raises(tile.sim.SimulationError, match=kind):
        tm.run(text, np.zeros(2048, np.uint8), np.zeros((LANES, 32), np.uint32))
