"""Aggregates that derive from others, default values, and aggregates outside of kernels."""

from __future__ import annotations

import numpy as np
import pytest
from frontend import refusal
from reference import poisoned, random

import tile
import tile.language as tl


@tile.aggregate
class Base:
    x: tl.tensor
    N: tl.constexpr

    @tile.jit
    def doubled(self):
        return self.x * 2


@tile.aggregate
class Middle(Base):
    y: tl.tensor = 3

    @tile.jit
    def total(self):
        return self.doubled() + self.y


@tile.aggregate
class Derived(Middle):
    z: "tl.tensor" = 0  # noqa: UP037

    @tile.jit
    def total(self):
        return self.doubled() * self.N + self.y - self.z


@tile.jit
def kernel(x_ptr, out_ptr, count, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    some = Middle(x, N)
    more = Derived(x, N, tl.to_tensor(3), z=offsets)
    for i in range(count):
        more = tl.aggregate_replace(more, y=more.y + i, x=more.x + 1)
    tl.store(out_ptr + offsets, some.total())
    tl.store(out_ptr + N + offsets, more.total())


def test_fields_and_methods_of_the_base():
    x, out = random(32, "i32"), poisoned(64, "i32")
    kernel[(1,)](x, out, 4, 32)
    assert (out[:32] == x * 2 + 3).all()
    assert (out[32:] == (x + 4) * 2 * 32 + 3 + 6 - np.arange(32)).all()


@tile.aggregate
class Numbers:
    a: tl.constexpr
    b: tl.constexpr = 42
    c: tl.tensor = None

    @tile.constexpr_function
    def both(self):
        return self.a + self.b


@tile.aggregate
class MoreNumbers(Numbers):
    d: "tl.constexpr" = tl.constexpr(7)  # noqa: UP037


@tile.aggregate
class Running:
    total: tl.tensor
    count: tl.tensor = 0
    mean: "tl.tensor" = 0.0  # noqa: UP037

    @tile.jit
    def plus(self, x):
        count = self.count + 1
        return Running(self.total + x, count, self.mean + (x - self.mean) / count)


@tile.aggregate
class Counter:
    value: tl.tensor

    def __init__(self, value):
        self.value = value


@tile.jit
def numbers_kernel(x_ptr, out_ptr, n):
    running = Running(0.0)
    counter = Counter(0)
    odd = Running(total=0.0, mean=5.0)
    for i in range(n):
        running = running.plus(tl.load(x_ptr + i))
        counter = tl.aggregate_replace(counter, value=counter.value + 2)
        if i % 2 == 1:
            odd = tl.aggregate_replace(odd, count=odd.count + 1, mean=0.0)
    tl.store(out_ptr, running.total)
    tl.store(out_ptr + 1, running.count)
    tl.store(out_ptr + 2, running.mean)
    tl.store(out_ptr + 3, counter.value)
    tl.store(out_ptr + 4, odd.count + odd.mean)


@pytest.mark.parametrize("n", [0, 1, 6])
def test_numbers_in_fields_for_tensors_change_in_loops(n):
    x = np.arange(8, dtype=np.float32)
    out = poisoned(5, "fp32")
    numbers_kernel[(1,)](x, out, n)
    mean = x[:n].mean() if n else 0
    odd = n // 2 if n > 1 else 5
    np.testing.assert_allclose(out, [x[:n].sum(), n, mean, 2 * n, odd], rtol=1e-6)


def test_outside_of_kernels():
    made = MoreNumbers(1, d=9)
    assert all(isinstance(v, tl.constexpr) for v in (made.a, made.b, made.d)) and made.c is None
    assert (made.a.value, made.b.value, made.d.value) == (1, 42, 9)
    assert made.both().value == 43
    other = tl.aggregate_replace(made, a=5)
    assert (other.a.value, made.a.value) == (5, 1) and isinstance(other.a, tl.constexpr)
    with pytest.raises(AttributeError, match="cannot assign to field 'a' on immutable aggregate"):
        made.a = 3


def test_mistakes_outside_of_kernels():
    for arguments, names in (((), {}), ((1, 2, 3, 4, 5), {}), ((1,), {"a": 2}), ((1,), {"q": 2})):
        with pytest.raises(TypeError, match="`MoreNumbers` takes 4 fields"):
            MoreNumbers(*arguments, **names)
    with pytest.raises(TypeError, match="has no field 'q'"):
        tl.aggregate_replace(MoreNumbers(1), q=3)
    with pytest.raises(TypeError, match="expects an aggregate instance, not int"):
        tl.aggregate_replace(3, a=1)
    with pytest.raises(TypeError, match="can only inherit from other aggregates: `int` is none"):
        tile.aggregate(type("Bad", (int,), {}))


def test_an_init_that_is_inherited():
    @tile.aggregate
    class Scaled:
        x: tl.tensor

        def __init__(self, x):
            self.x = x * 10

    @tile.aggregate
    class Child(Scaled):
        @tile.jit
        def get(self):
            return self.x + 1

    @tile.jit
    def kernel(out_ptr, n):
        tl.store(out_ptr, Child(n).get())

    out = poisoned(1, "i32")
    kernel[(1,)](out, 6)
    assert out[0] == 61


def test_mistakes_in_kernels():
    @tile.jit
    def missing(p):
        Derived(tl.load(p))

    @tile.jit
    def twice(p):
        Derived(tl.load(p), 3, x=2)

    assert "and `N` is not given" in str(refusal(missing, {"p": "*i32"}))
    assert "`Derived` takes 4 fields" in str(refusal(twice, {"p": "*i32"}))
