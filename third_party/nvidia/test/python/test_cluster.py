"""Programs of several blocks, which share their work and exchange what they must."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random

import tile
import tile.language as tl

pytestmark = pytest.mark.parametrize("num_ctas", [1, 2, 4])


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")


@tile.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    tl.store(out + i, total, mask=i < n)


@pytest.mark.parametrize("n", [1000, 8])
def test_add(n, num_ctas):
    x, y, out = random(n, "fp32", 1), random(n, "fp32", 2), poisoned(n, "fp32")
    add_kernel[(tile.cdiv(n, 256),)](x, y, out, n, 256, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, x + y)


@tile.jit
def programs_kernel(out):
    at = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    tl.store(out + at, tl.program_id(0) * 100 + tl.num_programs(0))


def test_programs(num_ctas):
    out = poisoned((3, 2), "i32")
    programs_kernel[(3, 2)](out, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, [[3, 3], [103, 103], [203, 203]])


@tile.jit
def transpose_kernel(x, out, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    tile_ = tl.load(x + rows[:, None] * COLS + cols[None, :])
    tl.store(out + cols[:, None] * ROWS + rows[None, :], tile_.trans())


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "i64"])
@pytest.mark.parametrize("shape", [(32, 64), (128, 16), (8, 8)])
def test_transpose(dtype, shape, num_ctas):
    x, out = random(shape, dtype, 1), poisoned(shape[::-1], dtype)
    transpose_kernel[(1,)](x, out, *shape, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, x.T)


@tile.jit
def reduce_kernel(x, sums, largest, total, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    tile_ = tl.load(x + rows[:, None] * COLS + cols[None, :])
    tl.store(sums + rows, tl.sum(tile_, 1))
    tl.store(largest + cols, tl.argmax(tile_, 0))
    tl.store(total, tl.sum(tl.reshape(tile_, (ROWS * COLS,))))


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("shape", [(32, 64), (128, 16), (4, 256)])
def test_reduce(shape, num_warps, num_ctas):
    x = random(shape, "i32", 1)
    sums, largest, total = poisoned(shape[0], "i32"), poisoned(shape[1], "i32"), poisoned(1, "i32")
    reduce_kernel[(1,)](x, sums, largest, total, *shape, num_warps=num_warps, num_ctas=num_ctas)
    np.testing.assert_array_equal(sums, x.sum(1))
    np.testing.assert_array_equal(largest, x.argmax(0))
    assert total[0] == x.sum()


@tile.jit
def ticket_kernel(counter, out):
    ticket = tl.atomic_add(counter, 1)
    tl.store(out + ticket * 64 + tl.arange(0, 64), tl.program_id(0))


def test_scalar_atomic(num_ctas):
    counter, out = np.zeros(1, np.int32), poisoned((5, 64), "i32")
    ticket_kernel[(5,)](counter, out, num_ctas=num_ctas)
    assert counter[0] == 5
    np.testing.assert_array_equal(np.sort(out[:, 7]), np.arange(5))
    assert (out == out[:, :1]).all()


@tile.jit
def scan_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.cumsum(tl.load(x + i), 0))


def test_scan(num_ctas):
    x, out = random(256, "i32", 1), poisoned(256, "i32")
    if num_ctas > 1:
        with pytest.raises(Exception, match="split over the blocks of a cluster"):
            scan_kernel[(1,)](x, out, 256, num_ctas=num_ctas)
        return
    scan_kernel[(1,)](x, out, 256)
    np.testing.assert_array_equal(out, x.cumsum())
