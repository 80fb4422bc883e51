# ruff: noqa: E501  (patterns read better unbroken)
"""Cooperative groups and libcu++ as nvcc compiles them (test/unit/Simulator/ptx/cooperative.cu)."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_ptx_programs import ptx, run

import tile.sim

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


#: Entry, launch, what is changed in nvcc's text and how often, what is said about it.
BUGS = {
    "no barrier of the cluster at the end": (
        ("cluster_sum", 8, 32, 4), r"(?s)(.*)barrier\.cluster\.arrive;(.*?)barrier\.cluster\.wait;", r"\1\2", "exited-cta",
    ),
    "no barrier of the cluster at the beginning": (
        ("cluster_sum", 8, 32, 4), r"(?s)barrier\.cluster\.arrive;(.*?)barrier\.cluster\.wait;", r"\1", "race",
    ),
    "a copy that the barrier does not hear of": (
        ("barrier_copy", 1, 128, 1), r"cp\.async\.mbarrier\.arrive\.shared\.b64 \[%r43\];", "", "async-race",
    ),
    "a pipeline that waits for one group too few": (
        ("piped", 1, 128, 1), r"cp\.async\.wait_group 1;", "cp.async.wait_group 2;", "async-race",
    ),
    "a pipeline that does not wait for the last group": (
        ("piped", 1, 128, 1), r"cp\.async\.wait_group 0;", "", "async-race",
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_bugs(bug):
    (entry, grid, block, cluster), pattern, new, kind = BUGS[bug]
    text, count = re.subn(pattern, new, entry_of(ptx("cooperative"), entry), count=1)
    assert count
    x, out = numbers()
    report = tile.sim.launch(
        text, entry, grid, block, [x, out], cluster=cluster, raise_on_finding=False,
        max_instructions=1_000_000,
    )  # fmt: skip
    assert kind in {f["kind"] for f in report.findings}, report.messages


def entry_of(text: str, name: str) -> str:
    """A module with one of its entries."""
    parts = re.split(r"(?=^\t// \.globl|^\.visible \.entry)", text, flags=re.M)
    return parts[0] + next(p for p in parts if p.startswith(f".visible .entry {name}("))


def test_a_grid_barrier_that_does_not_release():
    x = np.arange(12 * 64, dtype=np.int32)
    text = ptx("cooperative").replace("atom.add.release.gpu.u32", "atom.add.relaxed.gpu.u32")
    text = re.sub(r"fence\.\S+;|membar\.\S+;", "", text)
    report = tile.sim.launch(
        text, "grid_wide", 12, 64, [x, len(x)], raise_on_finding=False, max_instructions=1_000_000
    )
    assert "race" in {f["kind"] for f in report.findings}, report.messages
