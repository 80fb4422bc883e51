"""What exchanges through shared memory cost: lanes of a warp must reach different banks."""

from __future__ import annotations

import numpy as np
import pytest

import tile
import tile.language as tl


@tile.jit
def exchange(x, out, R: tl.constexpr, C: tl.constexpr, OP: tl.constexpr):
    places = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    block = tl.load(x + places)
    if OP == "scan":
        tl.store(out + places, tl.cumsum(block, 0))
    if OP == "reverse scan":
        tl.store(out + places, tl.cumsum(block, 0, reverse=True))
    if OP == "scan of rows":
        tl.store(out + places, tl.cumsum(block, 1))
    if OP == "sort":
        tl.store(out + places, tl.sort(block, 1))
    if OP == "transpose":
        turned = tl.arange(0, C)[:, None] * R + tl.arange(0, R)[None, :]
        tl.store(out + turned, block.trans())


REFERENCES = {
    "scan": lambda x: np.cumsum(x, 0),
    "reverse scan": lambda x: np.cumsum(x[::-1], 0)[::-1],
    "scan of rows": lambda x: np.cumsum(x, 1),
    "sort": lambda x: np.sort(x, 1),
    "transpose": lambda x: x.T,
}


@pytest.mark.sweep
@pytest.mark.parametrize("operation", REFERENCES)
@pytest.mark.parametrize("warps", [2, 8])
@pytest.mark.parametrize("shape", [(64, 64), (16, 64), (128, 16), (32, 256)], ids=str)
def test_lanes_reach_different_banks(operation, warps, shape):
    rows, columns = shape
    for dtype in (np.int32, np.int16):
        x = np.random.default_rng(7).integers(-99, 99, shape).astype(dtype)
        out = np.full(x.size, -1, dtype)
        report = exchange.simulate(x, out, rows, columns, operation, grid=(1,), num_warps=warps)
        expected = REFERENCES[operation](x).astype(dtype)
        np.testing.assert_array_equal(out.reshape(expected.shape), expected)
        lost = report.counters["bank_conflicts"]
        # Two 16-bit values share a bank, and a few accesses of these do not fill all banks.
        assert lost <= (0 if dtype == np.int32 else report.counters["shared_wavefronts"] // 3)


@tile.jit
def add_up(x, out, R: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr):
    places = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(out + tl.arange(0, R if AXIS else C), tl.sum(tl.load(x + places), AXIS))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("warps", [2, 4, 8])
@pytest.mark.parametrize("shape", [(64, 64), (16, 64), (16, 16), (32, 256)], ids=str)
def test_sums_lose_little(shape, warps, axis):
    """Partial results of warps lie so that neighbouring lanes read them from different banks. Where
    lanes have taken over sums of each other, they store in two rounds what one would hold."""
    for dtype in (np.int32, np.int16):
        x = np.random.default_rng(7).integers(-99, 99, shape).astype(dtype)
        out = np.full(x.size, -1, dtype)
        report = add_up.simulate(x, out, *shape, axis, grid=(1,), num_warps=warps)
        np.testing.assert_array_equal(out[: shape[1 - axis]], x.sum(axis).astype(dtype))
        lost = report.counters["bank_conflicts"]
        assert lost <= report.counters["shared_wavefronts"] // 5
