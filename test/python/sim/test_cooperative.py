"""Cooperative groups and libcu++ as nvcc compiles them (test/unit/Simulator/ptx/cooperative.cu)."""

from __future__ import annotations

import numpy as np
from test_ptx_programs import run

rng = np.random.default_rng(23)


def numbers():
    return rng.integers(0, 1000, 512).astype(np.int32), np.zeros(512, np.int32)


def test_tiles_reduce_and_scan():
    x, out = numbers()
    run("cooperative", "tiles", 1, 64, x, out)
    for i in range(64):
        tile, lane = x[i // 16 * 16 :][:16].astype(int), i % 16
        like = tile[tile % 2 == tile[lane] % 2]
        assert out[i] == tile.sum() + 1000 * tile[:lane].sum() + 7 * like.max() + 32


def test_cluster_shared_memory():
    x, out = numbers()
    run("cooperative", "cluster_sum", 8, 32, x, out, cluster=4)
    sums = x[:256].reshape(2, 4, 32).sum(1)
    assert (out[:256].reshape(2, 4, 32) == sums[:, None]).all()


def test_asynchronous_copies_under_barriers():
    x, out = numbers()
    run("cooperative", "barrier_copy", 1, 128, x, out)
    assert (out[:128] == x.reshape(4, 128).sum(0)[::-1]).all()


def test_pipeline():
    x, out = numbers()
    run("cooperative", "piped", 1, 128, x, out)
    want = np.zeros(128, np.int64)
    for row in x.reshape(4, 128):
        want = want * 3 + row
    assert (out[:128] == want).all()


def test_grid_synchronization():
    """A cooperative launch: CTAs wait for each other through the grid's workspace."""
    x = np.arange(12 * 64, dtype=np.int32)
    run("cooperative", "grid_wide", 12, 64, x, len(x))
    assert (x == (np.arange(12 * 64) + 3) % (12 * 64) + 3).all()


def test_atomics_of_every_order():
    counts, largest = np.zeros(2, np.int32), np.zeros(1, np.float32)
    report = run("cooperative", "atomics", 3, 64, counts, largest, raise_on_finding=False)
    # The program reads c[1] without an atomic, and its blocks share an atomic of block scope.
    assert {f["kind"] for f in report.findings} == {"race"}
    assert any("the scope of one does not include the other" in m for m in report.messages)
    assert counts.tolist() == [192, 384] and largest[0] == 63
