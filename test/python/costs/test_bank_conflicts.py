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


@tile.jit
def unpacked_product(
    x, packed, out, steps, WAY: tl.constexpr, N: tl.constexpr, M: tl.constexpr, K: tl.constexpr
):
    n, m, k = tl.arange(0, N)[:, None], tl.arange(0, M), tl.arange(0, K)
    acc = tl.zeros((N, M), tl.float32)
    for step in range(steps):
        first = step * K
        bits = tl.load(packed + n * (steps * K) + (first + k))
        if WAY == "low":
            bits = bits & 15
        if WAY == "high":
            bits = bits >> 4
        if WAY == "both":
            bits = (bits & 15) ^ (bits >> 4)
        acc += tl.dot(bits.to(tl.float16), tl.load(x + m * (steps * K) + (first + k)[:, None]))
    tl.store(out + n * M + m, acc)


UNPACKED = {"whole": lambda b: b, "low": lambda b: b & 15, "high": lambda b: b >> 4}
UNPACKED["both"] = lambda b: (b & 15) ^ (b >> 4)


@pytest.mark.simulator
@pytest.mark.parametrize("way", UNPACKED)
@pytest.mark.parametrize("shape", [(64, 16, 128), (64, 64, 64), (128, 16, 32)], ids=str)
@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("target", [None, "cuda:100"])
def test_unpacked_operands_meet_no_conflicts(way, shape, stages, target, monkeypatch):
    """Bytes that elementwise operations unpack lie as the threads read the operand, in registers or
    on its way to tensor memory."""
    if target:
        monkeypatch.setenv("TILE_SIM_TARGET", target)
    n, m, k = shape
    rng = np.random.default_rng(5)
    packed = rng.integers(0, 256, (n, 2 * k)).astype(np.uint8)
    x = rng.integers(-4, 5, (m, 2 * k)).astype(np.float16)
    out = np.full((n, m), np.nan, np.float32)
    report = unpacked_product.simulate(
        x.ravel(), packed.ravel(), out.ravel(), 2, way, n, m, k, grid=(1,), num_stages=stages
    )
    expected = UNPACKED[way](packed).astype(np.float32) @ x.astype(np.float32).T
    np.testing.assert_array_equal(out, expected)
    assert report.counters["bank_conflicts"] <= report.counters["shared_wavefronts"] // 8
