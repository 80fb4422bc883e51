"""Blocks whose extents are no powers of two: element by element, in programs, through pointers.

Outputs are poisoned and a little longer than the block, so that a store beyond it shows. The
simulator finds accesses out of bounds.
"""

from __future__ import annotations

import numpy as np
import pytest
from any_shape import SHAPES, poisoned, run, taken
from blocks import KINDS, offsets, put, values, warps_for
from reference import sim_only

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]


@tile.jit
def elementwise_kernel(x_ptr, out_ptr, n, SHAPE: tl.constexpr):
    place = offsets(SHAPE)
    mask = place < n
    x = tl.load(x_ptr + place, mask, other=1)
    y = tl.where(x > 0, x * 2, -x) + tl.full(SHAPE, 3, x.dtype)
    tl.store(out_ptr + place, tl.maximum(y, 5), mask)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", ["i32", "fp32", "i8", "fp16", "u64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_elementwise_with_ragged_bounds(shape, dtype):
    x = (values(shape, "i32", 1) % 20 - 10 * (dtype[0] != "u")).astype(KINDS[dtype])
    n = x.size - 2
    out = poisoned(shape, x.dtype)
    elementwise_kernel[(1,)](x, out, n, SHAPE=shape, num_warps=warps_for(shape, dtype))
    want = poisoned(shape, x.dtype)
    flat = x.ravel()[:n]
    want[:n] = np.maximum(np.where(flat > 0, flat * 2, -flat) + np.array(3, x.dtype), 5)
    np.testing.assert_array_equal(out, want)


@tile.jit
def broadcast_kernel(x_ptr, out_ptr, n, R: tl.constexpr, C: tl.constexpr):
    """Some of a tensor is broadcast to all of it, in another layout each time."""
    x = tl.load(x_ptr + offsets((R, C)))
    for _ in range(n):
        low = tl.sort(tl.min(x, 0, keep_dims=True))
        pair = tl.sum(tl.join(low, low), 0, keep_dims=True)
        x = (tl.cumsum(x, (1, 0)) ^ low) + tl.max(pair, 2)
    put(out_ptr, x)


@pytest.mark.parametrize("shape", [(118, 4), (16, 4), (12, 8)])
def test_layouts_do_not_grow_around_loops(shape):
    x = values(shape, "i32", 6) % 50
    got = run(broadcast_kernel, x, shape, np.int32, 3, R=shape[0], C=shape[1])
    want = x.copy()
    for _ in range(3):
        low = np.sort(want.min(0, keepdims=True))
        flat = np.cumsum(want.ravel(), dtype=np.int32).reshape(shape)
        want = (flat ^ low) + low
    np.testing.assert_array_equal(got, want)


@tile.jit
def constants_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(7, 7 + N)
    rows = i[:, None] * tl.full((N, 5), 2, tl.int32)
    wide = tl.broadcast_to(tl.arange(0, 5)[None, :], N, 5)
    put(out_ptr, rows + wide + tl.load(x_ptr) + rows.numel)


@pytest.mark.parametrize("n", [3, 6, 24, 100])
def test_ranges_constants_broadcasts(n):
    x = np.array([5], np.int32)
    got = run(constants_kernel, x, (n, 5), np.int32, N=n)
    np.testing.assert_array_equal(got, np.arange(7, 7 + n)[:, None] * 2 + np.arange(5) + 5 + n * 5)


@tile.jit
def atomics_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    old = tl.atomic_add(out_ptr + i, x, mask=x > 0)
    tl.atomic_max(out_ptr + N + i % 5, tl.where(x > 0, old + x, x))
    tl.atomic_cas(out_ptr + N + 5 + i, i, x)


def test_atomics():
    n = 76
    x = values((n,), "i32", 15) % 1000
    out = np.concatenate([np.arange(n), np.full(5, -(2**31)), np.arange(n)]).astype(np.int32)
    atomics_kernel[(1,)](x, out, N=n)
    added = np.where(x > 0, np.arange(n) + x, np.arange(n))
    np.testing.assert_array_equal(out[:n], added)
    most = np.where(x > 0, added, x)
    np.testing.assert_array_equal(out[n : n + 5], [most[k::5].max() for k in range(5)])
    np.testing.assert_array_equal(out[n + 5 :], x)


@tile.jit(noinline=True)
def _called(x, y):
    return x + y, tl.sum(x * y)


@tile.jit
def control_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.int32)
    best = tl.load(x_ptr + i)
    for k in range(n):
        row = tl.load(x_ptr + k * N + i)
        if tl.sum(row) > 0:
            total += row
            best = tl.maximum(best, row)
        else:
            total -= row
    while tl.max(total) > 100:
        total = total // 2
    both, product = _called(total, best)
    tl.store(out_ptr + i, tl.where(product > 0, both, -both))


def test_control_flow_and_calls():
    n = 44
    x = values((6, n), "i32", 16) % 60 - 30
    got = run(control_kernel, x, (n,), np.int32, 6, N=n)
    total, best = np.zeros(n, np.int32), x[0]
    for row in x:
        if row.sum() > 0:
            total, best = total + row, np.maximum(best, row)
        else:
            total = total - row
    while total.max() > 100:
        total = np.trunc(total / 2).astype(np.int32)
    both = total + best
    np.testing.assert_array_equal(got, both if (total * best).sum() > 0 else -both)


@tile.jit
def _polynomial(x, y):
    return tl.where(x > y, x * y, x - y), x + y


@tile.jit
def _pairs(a, b):
    return a * 2, b * 2


@tile.jit
def map_kernel(x_ptr, out_ptr, SHAPE: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    size: tl.constexpr = x.numel
    a, b = tl.map_elementwise(_polynomial, x, x * 3 - 7)
    put(out_ptr, a)
    put(out_ptr + size, b)
    put(out_ptr + 2 * size, tl.map_elementwise(_pairs, x, pack=2))


@pytest.mark.parametrize("shape", [(12,), (3, 6)])
def test_map_elementwise(shape):
    x = values(shape, "i32", 17) % 50
    y = x * 3 - 7
    got = run(map_kernel, x, (3, x.size), np.int32, SHAPE=shape)
    np.testing.assert_array_equal(got[0], np.where(x > y, x * y, x - y).ravel())
    np.testing.assert_array_equal(got[1], (x + y).ravel())
    np.testing.assert_array_equal(got[2], x.ravel() * 2)


@tile.jit
def block_pointer_kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (1, 2), (M, N), (1, 0))
    x = tl.load(tl.advance(p, (1, 0)), boundary_check=(0, 1), padding_option="zero")
    q = tl.make_block_ptr(out_ptr, (rows, columns), (columns, 1), (2, 2), (M, N), (1, 0))
    tl.store(q, x * 2, boundary_check=(0, 1))


def test_block_pointers():
    x = values((9, 14), "i32", 18)
    out = np.full_like(x, 7)
    block_pointer_kernel[(1,)](x, out, 9, 14, M=6, N=20)
    want = np.full_like(x, 7)
    with np.errstate(over="ignore"):
        want[2:8, 2:] = x[2:8, 2:] * 2
    np.testing.assert_array_equal(out, want)


@tile.jit
def descriptor_kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [M, N])
    out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [M, N])
    out.store([3, 4], x.load([1, 0]) + 1)
    tl.debug_barrier()  # Another position of the block is there.
    out.atomic_add([0, 8], tl.full((M, N), 5, tl.int32))


def test_descriptors():
    x = values((12, 32), "i32", 19) % 1000
    out = np.zeros_like(x)
    tile.set_allocator(lambda size, align, stream: np.zeros(size, np.uint8))
    descriptor_kernel[(1,)](x, out, 12, 32, M=6, N=20)
    want = np.zeros_like(x)
    want[3:9, 4:24] = x[1:7, :20] + 1
    want[0:6, 8:28] += 5
    np.testing.assert_array_equal(out, want)


@tile.jit
def host_descriptor_kernel(odd, whole, out_ptr):
    a = odd.load([2, 8])
    b = whole.load([4, 0])
    put(out_ptr, a)
    put(out_ptr + a.numel, b)


def test_host_descriptors_beside_others():
    from tile.tools.tensor_descriptor import TensorDescriptor

    x = values((12, 32), "i32", 20)
    out = poisoned((6 * 20 + 8 * 16,), np.int32)
    odd = TensorDescriptor(x, [12, 32], [32, 1], [6, 20])
    whole = TensorDescriptor(x, [12, 32], [32, 1], [8, 16])
    host_descriptor_kernel[(1,)](odd, whole, out)
    got = taken(out, (6 * 20 + 8 * 16,))
    np.testing.assert_array_equal(got[:120], x[2:8, 8:28].ravel())
    np.testing.assert_array_equal(got[120:], x[4:12, :16].ravel())


@tile.jit
def printing_kernel(x_ptr, N: tl.constexpr):
    tl.device_print("x:", tl.load(x_ptr + tl.arange(0, N)))


@pytest.mark.compiled
def test_print_shows_the_indices_of_the_whole(capfd):
    x = np.arange(6, dtype=np.int32) * 10
    printing_kernel[(1,)](x, N=6)
    text = capfd.readouterr().out
    for i in range(6):
        assert any(f"({i})" in line and f" {i * 10}" in line for line in text.splitlines()), text


@tile.jit
def asserting_kernel(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_assert(x < 100, "too large")


@sim_only
def test_assert_looks_at_every_element():
    x = np.arange(96, dtype=np.int32)
    asserting_kernel[(1,)](x, N=96, debug=True)
    x[95] = 100
    with pytest.raises(Exception, match="too large"):
        asserting_kernel[(1,)](x, N=96, debug=True)
