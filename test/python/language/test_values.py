# ruff: noqa: B007
"""Numbers, constants and loop variables: they are what the language says they are."""

from __future__ import annotations

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


@tile.jit
def members(out, C: tl.constexpr, F: tl.constexpr):
    a = 5
    b = C
    f = F
    tl.store(out, a.to(tl.int64) + b.to(tl.int64))
    tl.store(out + 1, (a.dtype == tl.int32) & (b.type == tl.int32) & (C.dtype == tl.int32))
    tl.store(out + 2, f.dtype == tl.float32)
    tl.store(out + 3, len(a.shape) + len(C.shape))
    tl.store(out + 4, (f * 4).to(tl.int64))
    tl.store(out + 5, C.cdiv(4) + a.to(tl.float32).to(tl.int32))
    tl.store(out + 6, True.to(tl.int64) + (b == 7).to(tl.int64))
    for i in range(3):
        a += i.to(tl.int32)
    tl.store(out + 7, a.to(tl.int64))
    for k in tl.static_range(2):
        tl.store(out + 8 + k, k.to(tl.int64) * 10)
    g: tl.constexpr = a.dtype
    tl.store(out + 10, g == tl.int32)
    tl.store(out + 11, C.value + g.value.int_bitwidth)


@pytest.mark.parametrize(
    "wrap", [lambda v: v, np.int32, np.int64, tl.constexpr, lambda v: tl.constexpr(np.uint8(v))]
)
def test_numbers_know_what_tensors_know(wrap):
    out = np.full(12, -1, np.int64)
    members[(1,)](out, wrap(7), np.float32(2.5))
    assert out.tolist() == [12, 1, 1, 0, 10, 7, 2, 8, 0, 10, 1, 39]


SCALE = tl.constexpr(np.float32(0.5))
COUNT = tl.constexpr(np.int64(3))
PAIR = tl.constexpr((np.int32(4), 2))


@tile.jit
def numpy_constants(out, N: tl.constexpr, FLAG: tl.constexpr, SHAPE: tl.constexpr):
    x = tl.zeros(SHAPE, tl.float32) + SCALE
    total = tl.sum(tl.sum(x, 1), 0)
    for _ in tl.static_range(COUNT):
        total += N
    if FLAG:
        total += 100
    tl.store(out, total)
    tl.store(out + 1, tl.zeros((PAIR[0],), tl.float32).shape[0])


def test_scalars_of_numpy_are_constants():
    out = np.zeros(2, np.float32)
    numpy_constants[(1,)](out, np.int16(2), np.bool_(True), (np.int32(4), np.int64(8)))
    assert out.tolist() == [16 + 6 + 100, 4]
    numpy_constants[(1,)](out, 2.5, np.bool_(False), (4, 8))
    assert out.tolist() == [16 + 7.5, 4]


@tile.jit
def after_loops(out, start, stop, STEP: tl.constexpr, seven):
    i = seven
    for i in range(start, stop, STEP):
        tl.store(out, i)
    tl.store(out + 1, i)
    j = 7
    for j in range(start, stop, STEP):
        if j * 2 > 30:
            break
    tl.store(out + 2, j)
    k = 7
    if start < 5:
        for k in range(start, stop, STEP):
            tl.store(out, k)
    tl.store(out + 3, k)
    total = 0
    last = 7
    for outer in range(3):
        for last in range(start + outer, stop, STEP):
            total += 1
        total += last
    tl.store(out + 4, total)
    tl.store(out + 5, last + outer)


def expected_after_loops(start: int, stop: int, step: int) -> list[int]:
    i = j = k = last = 7
    for i in range(start, stop, step):
        pass
    for j in range(start, stop, step):
        if j * 2 > 30:
            break
    if start < 5:
        for k in range(start, stop, step):
            pass
    total = 0
    for outer in range(3):
        for last in range(start + outer, stop, step):
            total += 1
        total += last
    return [i, j, k, total, last + outer]


@pytest.mark.parametrize("step", [1, 3, -1, -4])
def test_the_variable_of_a_loop_after_it(step):
    generator = np.random.default_rng(step + 4)
    for _ in range(12):
        start, stop = (int(v) for v in generator.integers(-20, 20, 2))
        out = np.zeros(6, np.int32)
        after_loops[(1,)](out, start, stop, step, 7)
        assert out[1:].tolist() == expected_after_loops(start, stop, step), (start, stop)


@tile.jit
def wide_loops(out, start, stop, step):
    for i in range(start, stop, step):
        tl.store(out, i)
    tl.store(out + 1, i)


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [(-(2**31), 2**30 - 1, 2**30), (-(2**31), 2**31 - 2**30, 2**29), (-(2**63), 2**61, 2**62)],
)
def test_the_last_value_of_a_loop_over_most_integers(start, stop, step):
    out = np.zeros(2, np.int64)
    wide_loops[(1,)](out, start, stop, step)
    assert out.tolist() == [range(start, stop, step)[-1]] * 2


@tile.jit
def same_names(out, start, stop):
    j = 7
    for j in range(start, stop):
        tl.store(out + j, j)
        if j > 9:
            break
    k = 7
    for k in range(start, stop):
        if k > 8:
            tl.store(out, k)
            return
    tl.store(out, -k)


@pytest.mark.parametrize("stop", [6, 9, 10, 13])
def test_jumps_under_conditions_on_a_variable_that_had_another_value(stop):
    out, expected = np.full(16, -1, np.int32), np.full(16, -1, np.int32)
    same_names[(1,)](out, 1, stop)
    expected[1 : min(stop, 11)] = np.arange(1, min(stop, 11))
    expected[0] = 9 if stop > 9 else 1 - stop
    assert out.tolist() == expected.tolist()


@pytest.mark.compiled
def test_loops_whose_variable_is_not_read_cost_nothing():
    @tile.jit
    def kernel(out, n):
        for i in range(n):
            tl.store(out, i)

    from frontend import operations, raw_ttir

    text = raw_ttir(kernel, {"out": "*i32", "n": "i32"})
    assert operations(text).count("arith.subi") == 0


@tile.jit
def batched_product(a, b, acc, out, SHAPE: tl.constexpr, N: tl.constexpr):
    M: tl.constexpr = SHAPE[2]
    K: tl.constexpr = SHAPE[3]
    i = tl.arange(0, SHAPE[0])[:, None, None, None]
    j = tl.arange(0, SHAPE[1])[None, :, None, None]
    m = tl.arange(0, M)[None, None, :, None]
    k = tl.arange(0, K)
    n = tl.arange(0, N)[None, None, None, :]
    batch = i * SHAPE[1] + j
    x = tl.load(a + (batch * M + m) * K + k[None, None, None, :])
    y = tl.load(b + (batch * K + k[None, None, :, None]) * N + n)
    z = tl.load(acc + (batch * M + m) * N + n)
    tl.store(out + (batch * M + m) * N + n, tl.dot(x, y, z))


@pytest.mark.parametrize("shape", [(2, 2, 16, 32), (4, 1, 16, 16), (1, 2, 32, 16)])
def test_products_of_four_dimensions(shape):
    generator = np.random.default_rng(sum(shape))
    n = 16
    a = generator.integers(-4, 5, shape).astype(np.float16)
    b = generator.integers(-4, 5, (*shape[:2], shape[3], n)).astype(np.float16)
    acc = generator.integers(-9, 9, (*shape[:3], n)).astype(np.float32)
    out = np.full_like(acc, np.nan)
    batched_product[(1,)](a, b, acc, out, shape, n)
    np.testing.assert_array_equal(out, acc + a.astype(np.float32) @ b.astype(np.float32))
