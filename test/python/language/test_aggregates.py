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


# Inheritance, defaults and properties.


@tl.aggregate
class Shape:
    x: tl.tensor
    scale: tl.constexpr = 2

    @tile.jit
    def scaled(self):
        return self.x * self.scale

    @tile.jit
    def area(self):
        return self.scaled() + 1


@tl.aggregate
class Box(Shape):
    y: tl.tensor = 0

    @tile.jit
    def area(self):
        return self.scaled() * self.y

    @property
    @tile.jit
    def corner(self):
        return self.x + self.y


@tl.aggregate
class Named(Box):
    """Adds no field, and overrides a method."""

    @tile.jit
    def scaled(self):
        return self.x * self.scale * 10


@tl.aggregate
class Made:
    x: tl.tensor
    y: tl.tensor

    def __init__(self, x):
        self.x = x
        self.y = x + 1


@tl.aggregate
class MadeOn(Made):
    z: tl.tensor

    def __init__(self, x):
        super().__init__(x)
        self.z = x * 2


@tl.aggregate
class MadeAsBefore(Made):
    @tile.jit
    def sum(self):
        return self.x + self.y


@tile.jit
def derived_kernel(p, out, n):
    i = tl.arange(0, 16)
    x = tl.load(p + i)
    box = Box(x, 3, x + 1)
    for _ in range(n):
        box = Box(box.y, 3, y=box.x)
    tl.store(out + i, box.area())
    tl.store(out + 16 + i, box.corner)
    tl.store(out + 32 + i, Named(x, y=x).area() + Shape(x).area())
    made = MadeOn(x)
    tl.store(out + 48 + i, made.x + made.y + made.z + MadeAsBefore(x).sum())
    tl.store(out + 64 + i, tl.full([16], isinstance(box, Shape), tl.int32))


@pytest.mark.both_ways
@pytest.mark.parametrize("n", [1, 2])
def test_derived_classes(n):
    x, out = np.arange(16, dtype=np.int32), np.full((5, 16), -1, np.int32)
    derived_kernel[(1,)](x, out, n)
    a, b = (x + 1, x) if n == 1 else (x, x + 1)
    want = [a * 3 * b, a + b, x * 20 * x + x * 2 + 1, 6 * x + 2, np.ones_like(x)]
    np.testing.assert_array_equal(out, want)


@tile.jit
def wrong_fields(p, CASE: tl.constexpr):
    x = tl.load(p)
    if CASE == "missing":
        Box()
    elif CASE == "many":
        Box(x, 2, x, x)
    elif CASE == "twice":
        Box(x, x=x)
    else:
        Box(x, z=x)


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("missing", "`Box` takes 3 fields, and `x` is not given"),
        ("many", "`Box` takes 3 fields"),
        ("twice", "`Box` takes 3 fields, and `x` is given twice"),
        ("unknown", "`Box` takes 3 fields, and none is `z`"),
    ],
)
def test_fields_that_are_wrong(case, text):
    assert text in str(refusal(wrong_fields, {"p": "*i32"}, {"CASE": case}))


# Calls.


@tl.aggregate
class Line:
    slope: tl.tensor
    offset: tl.tensor

    @tile.jit
    def __call__(self, x, times=1):
        return self.slope * x * times + self.offset


@tile.jit
def call_a_value(out_ptr, n):
    line = Line(n, 3)
    tl.store(out_ptr, line(5))
    tl.store(out_ptr + 1, line(5, times=2))


@pytest.mark.both_ways
def test_a_value_that_is_called():
    out = poisoned(2, "i32")
    call_a_value[(1,)](out, 4)
    assert out.tolist() == [23, 43]


def test_a_value_without_a_call():
    @tile.jit
    def kernel(p, n):
        tl.store(p, Range(n, n)(1, 2))

    error = refusal(kernel, {"p": "*i32", "n": "i32"})
    assert error.error_message == "a Range cannot be called: it has no `__call__`"
