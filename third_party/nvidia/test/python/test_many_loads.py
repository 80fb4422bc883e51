"""Loads of more than a thread can hold wait for their users, but not beyond a write."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned

import tile
import tile.language as tl

#: 512 elements for each thread of a warp.
N = 16384


@tile.jit
def over_what_was_read(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    """What was loaded is used behind a store to the same place."""
    offsets = tl.arange(0, N)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0)
    tl.store(x_ptr + offsets, y, mask=mask)
    tl.store(out_ptr + offsets, x * 3 + y, mask=mask)


@tile.jit
def scaled_rows(x_ptr, w_ptr, out_ptr, n, per_row, N: tl.constexpr):
    """As a normalisation of groups, in a loop: what scales an element is found by a quotient."""
    for start in range(0, n, N):
        offsets = start + tl.arange(0, N)
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask, other=0)
        w = tl.load(w_ptr + offsets // per_row, mask=mask)
        b = tl.load(w_ptr + 7 + offsets // per_row, mask=mask)
        tl.store(out_ptr + offsets, (x - 1) * w + b, mask=mask)


@pytest.mark.parametrize("n", [N, N - 77])
def test_no_load_passes_a_store(n):
    rng = np.random.default_rng(n)
    x, y = (rng.integers(-999, 999, N).astype(np.int32) for _ in range(2))
    out = poisoned(N, "i32")
    kept, expected = x.copy(), out.copy()
    kept[:n] = y[:n]
    expected[:n] = x[:n] * 3 + y[:n]
    over_what_was_read[(1,)](x, y, out, n, N=N, num_warps=1)
    np.testing.assert_array_equal(x, kept)
    np.testing.assert_array_equal(out, expected)


def test_products_of_what_is_loaded_late():
    n, per_row = N + 500, 4000
    rng = np.random.default_rng(0)
    x = rng.integers(-999, 999, n).astype(np.int32)
    w = rng.integers(-99, 99, 20).astype(np.int32)
    out = poisoned(n + 9, "i32")
    expected = out.copy()
    rows = np.arange(n) // per_row
    expected[:n] = (x - 1) * w[rows] + w[7 + rows]
    scaled_rows[(1,)](x, w, out, n, per_row, N=N, num_warps=1)
    np.testing.assert_array_equal(out, expected)
