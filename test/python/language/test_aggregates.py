"""Aggregates: their fields go through loops and branches, and do not change."""

from __future__ import annotations

import numpy as np
import pytest
from frontend import refusal
from reference import poisoned

import tile
import tile.language as tl


@tile.aggregate
class Range:
    low: tl.tensor
    high: tl.tensor

    @tile.jit
    def __init__(self, low, high):
        self.low = low
        self.high = high

    @tile.jit
    def widened(self, x):
        return Range(tl.minimum(self.low, x), tl.maximum(self.high, x))

    @tile.jit
    def __add__(self, offset):
        return Range(self.low + offset, self.high + offset)


@tile.jit
def range_kernel(x_ptr, out_ptr, n):
    first = tl.load(x_ptr)
    found = Range(first, first)
    for i in range(1, n):
        found = found.widened(tl.load(x_ptr + i))
    if n > 5:
        found = found + 100
    tl.store(out_ptr, found.low)
    tl.store(out_ptr + 1, found.high)


@pytest.mark.parametrize("n", [5, 9])
def test_aggregates_go_through_loops_and_branches(n):
    x = np.array([5, 3, 9, -2, 7, 11, 0, -8, 4], np.int32)
    out = poisoned(2, "i32")
    range_kernel[(1,)](x, out, n)
    shift = 100 if n > 5 else 0
    assert out.tolist() == [x[:n].min() + shift, x[:n].max() + shift]


def test_fields_of_aggregates_do_not_change():
    @tile.jit
    def kernel(p, n):
        r = Range(n, n)
        r.low = 5

    error = refusal(kernel, {"p": "*fp32", "n": "i32"})
    assert error.error_message == (
        "the fields of `Range` do not change after __init__; make a new one"
    )
