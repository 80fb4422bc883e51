"""Registers that a kernel spills: each lane has its own, however its scratch memory is reached."""

from __future__ import annotations

import numpy as np
import pytest
from machines import run_on
from reference import poisoned, random, sim_only

import tile
import tile.language as tl

pytestmark = sim_only


@tile.jit
def backwards(x_ptr, out_ptr, N: tl.constexpr, COUNT: tl.constexpr):
    """All rows are in registers at once: they are stored from the last to the first."""
    i = tl.arange(0, N)
    rows = ()
    for row in tl.static_range(COUNT):
        rows = (*rows, tl.load(x_ptr + row * N + i, volatile=True))
    for row in tl.static_range(COUNT):
        tl.store(out_ptr + row * N + i, rows[COUNT - 1 - row])


@pytest.mark.parametrize("target", ["hip:gfx90a", "hip:gfx942", "hip:gfx1100"])
@pytest.mark.parametrize("warps", [8, 16])
def test_rows_come_back(warps, target, monkeypatch):
    run_on(target, monkeypatch)
    n, count = warps * (32 if "gfx1100" in target else 64), 300
    x, out = random((count, n), "i32", 5), poisoned((count, n), "i32")
    kernel = backwards[(1,)](x, out, N=n, COUNT=count, num_warps=warps)
    np.testing.assert_array_equal(out, x[::-1])
    assert kernel.n_spills > 0
