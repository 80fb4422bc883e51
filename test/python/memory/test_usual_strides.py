"""Addresses with remainders and quotients: axis info knows of no neighbours, and the layout follows
what holds nearly everywhere. Whatever it is, all elements must arrive."""

from __future__ import annotations

import numpy as np
import pytest
from machines import run_on

import tile
import tile.language as tl


@tile.jit
def offsets(
    R: tl.constexpr, C: tl.constexpr, r_factor, c_factor, period: tl.constexpr, step: tl.constexpr
):  # fmt: skip
    i = tl.arange(0, R)[:, None] * r_factor + tl.arange(0, C)[None, :] * c_factor
    return i % period * step + i // period


@tile.jit
def reduce_and_move(
    x_ptr, sums_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr,
    RF: tl.constexpr, CF: tl.constexpr, PERIOD: tl.constexpr, STEP: tl.constexpr,
    AXIS: tl.constexpr,
):  # fmt: skip
    at = offsets(R, C, RF, CF, PERIOD, STEP)
    mask = (tl.arange(0, R)[:, None] < rows) & (tl.arange(0, C)[None, :] < columns)
    x = tl.load(x_ptr + at, mask=mask, other=0.0)
    kept = tl.arange(0, C if AXIS == 0 else R)
    tl.store(sums_ptr + kept, tl.sum(x, AXIS), mask=kept < (columns if AXIS == 0 else rows))
    # Some pairs of indices have the same address: all of them store the same.
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask, other=0.0) * 2, mask=mask)


CASES = [
    # factors of the indices, the period, and what a step in it is
    (1, 64, 784, 1), (64, 1, 784, 1), (7923, 1, 784, 192), (1, 19, 62, 1), (19, 1, 7, 3),
    (3, 5, 11, 2), (16, 128, 128, 16), (1, 1, 100, 1),
]  # fmt: skip


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("rf", "cf", "period", "step"), CASES)
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "hip:gfx1100"])
def test_reductions_and_stores(target, rf, cf, period, step, axis, monkeypatch):
    run_on(target, monkeypatch)
    rng = np.random.default_rng(rf + cf + period + step)
    for r, c, rows, columns in ((32, 64, 29, 64), (64, 16, 64, 11), (1, 128, 1, 100)):
        i = np.arange(rows)[:, None] * rf + np.arange(columns)[None, :] * cf
        at = i % period * step + i // period
        x = rng.integers(-8, 9, at.max() + 1).astype(np.float32)
        sums = np.full(rows if axis else columns, np.nan, np.float32)
        out = np.full_like(x, np.nan)
        expected = np.full_like(x, np.nan)
        expected[at] = 2 * x[at]
        reduce_and_move[(1,)](
            x, sums, out, rows, columns, R=r, C=c, RF=rf, CF=cf, PERIOD=period, STEP=step, AXIS=axis
        )
        np.testing.assert_array_equal(sums, x[at].sum(axis))
        np.testing.assert_array_equal(out, expected)
