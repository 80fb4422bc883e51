"""Atomic operations on integers are one instruction each, also without a buffer descriptor."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tile
import tile.language as tl


@tile.jit
def scatter(places, values, out, OP: tl.constexpr, SCOPE: tl.constexpr):
    i = tl.arange(0, 64)
    at, value = out + tl.load(places + i), tl.load(values + i)
    if OP == "add":
        tl.atomic_add(at, value, sem="relaxed", scope=SCOPE)
    if OP == "and":
        tl.atomic_and(at, value, sem="relaxed", scope=SCOPE)
    if OP == "or":
        tl.atomic_or(at, value, sem="relaxed", scope=SCOPE)
    if OP == "xor":
        tl.atomic_xor(at, value, sem="relaxed", scope=SCOPE)
    if OP == "min":
        tl.atomic_min(at, value, sem="relaxed", scope=SCOPE)
    if OP == "max":
        tl.atomic_max(at, value, sem="relaxed", scope=SCOPE)


FUNCTIONS = {
    "add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "min": np.minimum, "max": np.maximum,
}  # fmt: skip


@pytest.mark.sweep
@pytest.mark.simulator
@pytest.mark.parametrize("target", ["hip:gfx90a", "hip:gfx942", "hip:gfx1100", "hip:gfx1201"])
@pytest.mark.parametrize("scope", ["cta", "gpu"])
@pytest.mark.parametrize(
    "dtype", [np.int32, np.uint32, np.int64, np.uint64], ids=lambda d: d.__name__
)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_no_loop_of_compare_and_swap(op, dtype, scope, target, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    rng = np.random.default_rng(3)
    # Places of 64 bits: no offset of a buffer holds them.
    places = rng.integers(0, 9, 64)
    values = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 64, dtype)
    out = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 9, dtype)
    expected = out.copy()
    FUNCTIONS[op].at(expected, places, values)
    report = scatter.simulate(places, values, out, op, scope, grid=(1,))
    np.testing.assert_array_equal(out, expected)
    found = set(re.findall(r"\b(?:global|flat|buffer)_atomic_\w+", report.ptx))
    assert found and not any("cmpswap" in name for name in found), found
