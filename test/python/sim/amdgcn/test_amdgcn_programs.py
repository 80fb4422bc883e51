"""Kernels that clang compiled, with every check on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from asmlib import TARGETS, WAVE

import tile.sim

HERE = Path(__file__).parent
u32 = np.uint32
rng = np.random.default_rng(11)


def launch(target: str, entry: str, grid: int, block: int, args: list) -> tile.sim.Report:
    text = (HERE / f"programs-{target}.s").read_text()
    return tile.sim.launch(text, entry, grid, block, args)


@pytest.fixture(params=TARGETS)
def target(request):
    return request.param


def test_divide(target):
    n = 1000
    x, y = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
    z = np.zeros(n, np.float32)
    launch(target, "divide", 4, 256, [x, y, z, n])
    assert (z == x / y).all()


def test_tree(target):
    x = rng.integers(-100, 100, (3, 256)).astype(np.float32)
    sums = np.zeros(3, np.float32)
    report = launch(target, "tree", 3, 256, [x, sums])
    assert (sums == x.sum(1)).all()
    waves = 256 // WAVE[target]
    assert report.to_dict()["counters"]["barriers"] == 3 * waves * 9


def test_collatz(target):
    x = np.arange(1, 129, dtype=u32)
    steps = np.zeros_like(x)
    launch(target, "collatz", 2, 64, [x, steps])
    for start, count in zip(x.tolist(), steps.tolist(), strict=True):
        want = 0
        while start > 1:
            start = 3 * start + 1 if start & 1 else start // 2
            want += 1
        assert count == want


def test_remainders(target):
    x = rng.integers(-(1 << 62), 1 << 62, 128)
    y = rng.integers(1, 1 << 40, 128) * rng.choice([-1, 1], 128)
    q, r = np.zeros(128, np.int64), np.zeros(128, np.int32)
    launch(target, "remainders", 2, 64, [x, y, q, r])
    for a, b, quotient, rest in zip(x.tolist(), y.tolist(), q.tolist(), r.tolist(), strict=True):
        want = abs(a) // abs(b)
        assert quotient == (want if (a < 0) == (b < 0) else -want)
        a32, b32 = (int(np.int64(v).astype(np.int32)) for v in (a, b))
        want = abs(a32) % abs(b32 | 1)
        assert rest == (-want if a32 < 0 else want)


def test_doubles(target):
    x = rng.standard_normal(64) * 10
    y = np.zeros(64)
    launch(target, "doubles", 1, 64, [x, y])
    assert np.allclose(y, (x * x + 1) / (x - 3) + np.floor(x) - np.abs(x), rtol=1e-14)


def test_roots(target):
    x = np.abs(rng.standard_normal(128) * np.exp(rng.uniform(-90, 80, 128))).astype(np.float32)
    x[:4] = [0.0, 1e-45, np.inf, 1.0]
    y = np.zeros_like(x)
    launch(target, "roots", 2, 64, [x, y])
    assert (y == np.sqrt(x)).all()


def test_scratch(target):
    x = rng.integers(0, 1 << 32, 128, np.uint64).astype(u32)
    y = np.zeros_like(x)
    launch(target, "permute", 2, 64, [x, y])
    table = [x * u32(k + 1) for k in range(16)]
    table = np.stack(table)
    for k in range(16):
        table[x >> u32(k) & u32(15), np.arange(128)] ^= u32(k)
    assert (y == table[x >> u32(16) & u32(15), np.arange(128)]).all()


def test_histogram(target):
    x = rng.integers(0, 1 << 32, 1024, np.uint64).astype(u32)
    counts = np.zeros(64, u32)
    launch(target, "histogram", 4, 256, [x, counts])
    assert (counts == np.bincount(x & u32(63), minlength=64)).all()


def test_bytes(target):
    x, y = rng.integers(0, 256, 64).astype(np.uint8), rng.integers(-128, 128, 64).astype(np.int8)
    z = np.zeros(64, np.uint16)
    launch(target, "bytes", 1, 64, [x, y, z])
    assert (z == (x.astype(np.int32) * 3 + y).astype(np.uint16)).all()


def test_halves(target):
    x, y = (rng.standard_normal(64).astype(np.float16) for _ in range(2))
    z = np.zeros(64, np.float32)
    before = x.copy()
    launch(target, "halves", 1, 64, [x, y, z])
    v = (before.astype(np.float64) * y + 0.5).astype(np.float16)
    rounded = before * y + np.float16(0.5)
    want = np.where(v > 2, v - before, v)
    other = np.where(rounded > 2, rounded - before, rounded)
    assert ((x == want) | (x == other)).all()
    assert (z == x.astype(np.float32) * y.astype(np.float32)).all()


def test_neighbours(target):
    x = rng.integers(0, 1 << 32, 64, np.uint64).astype(u32)
    y = np.zeros_like(x)
    launch(target, "neighbours", 1, 64, [x, y])
    i, wave = np.arange(64), WAVE[target]
    shifted = np.where(i % 16 == 0, u32(7), x[i - 1])
    want = x[i ^ 1] + u32(3) * shifted + u32(5) * x[i ^ 5] + u32(7) * x[i // wave * wave]
    assert (y == want).all()
