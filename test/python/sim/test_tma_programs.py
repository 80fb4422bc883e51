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
