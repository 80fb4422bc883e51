"""Changes of shape: of any rank and type, followed by a use of the result."""

from __future__ import annotations

import numpy as np
import pytest
from blocks import offsets, put, values, warps_for

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


@tile.jit
def permute_kernel(x_ptr, out_ptr, ORDER: tl.constexpr, SHAPE: tl.constexpr):
    put(out_ptr, tl.permute(tl.load(x_ptr + offsets(SHAPE)), ORDER))


ORDERS = [
    ((8, 16), (1, 0)), ((4, 2, 8), (2, 0, 1)), ((4, 2, 8), (1, 0, 2)), ((4, 2, 8), (0, 2, 1)),
    ((2, 4, 2, 8), (3, 1, 0, 2)), ((2, 2, 4, 2, 4), (4, 2, 0, 3, 1)), ((1, 16, 4), (2, 0, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "order"), ORDERS)
def test_permute(shape, order):
    for dtype in ("i32", "i8", "fp16", "i64"):
        x = values(shape, dtype, 1)
        out = np.zeros(x.transpose(order).shape, x.dtype)
        permute_kernel[(1,)](x, out, ORDER=order, SHAPE=shape, num_warps=warps_for(order, dtype))
        np.testing.assert_array_equal(out, x.transpose(order))


@tile.jit
def reshape_kernel(x_ptr, out_ptr, TO: tl.constexpr, SHAPE: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    put(out_ptr, tl.reshape(x, TO))
    put(out_ptr + x.numel, x.reshape(TO) + tl.reshape(x * 2, TO))
    put(out_ptr + 2 * x.numel, tl.ravel(x))
    put(out_ptr + 3 * x.numel, tl.trans(tl.view(x, (2, x.numel // 2))))


RESHAPES = [((64,), (8, 8)), ((8, 16), (128,)), ((4, 2, 8), (8, 8)), ((8, 8), (2, 2, 16)),
            ((16, 4), (4, 16)), ((2, 4, 2, 8), (16, 8)), ((2, 2, 4, 2, 4), (4, 1, 32)),
            ((2,), (1, 2))]  # fmt: skip


@pytest.mark.parametrize(("shape", "to"), RESHAPES)
def test_reshape(shape, to):
    x = values(shape, "i32", 2)
    out = np.zeros((4, x.size), np.int32)
    reshape_kernel[(1,)](x, out, TO=to, SHAPE=shape, num_warps=warps_for(shape, to))
    flat = x.ravel()
    with np.errstate(over="ignore"):
        expected = [flat, flat * 3, flat, flat.reshape(2, -1).T.ravel()]
    np.testing.assert_array_equal(out, expected)


@tile.jit
def shapes_from_shapes_kernel(x_ptr, out_ptr, FLAT: tl.constexpr):
    x = tl.load(x_ptr + offsets((4, 8)))
    shape = x.shape
    if FLAT:
        shape = (32,)
    bits = tl.broadcast_to(x[:, :, None], x.shape + [2])  # noqa: RUF005
    bits = tl.reshape(bits, [2] + x.shape[:-1] + [x.shape[-1]])  # noqa: RUF005
    put(out_ptr, tl.reshape(bits, (1, 2) + x.shape[:1] + x.shape[1:]))  # noqa: RUF005
    put(out_ptr + 64, tl.reshape(x, shape))


@pytest.mark.parametrize("flat", [False, True])
def test_shapes_put_together_from_others(flat):
    x = values((4, 8), "i32", 3)
    out = np.zeros(96, np.int32)
    shapes_from_shapes_kernel[(1,)](x, out, FLAT=flat)
    np.testing.assert_array_equal(out, np.concatenate([x.ravel().repeat(2), x.ravel()]))


@tile.jit
def join_kernel(x_ptr, y_ptr, out_ptr, SHAPE: tl.constexpr):
    x, y = tl.load(x_ptr + offsets(SHAPE)), tl.load(y_ptr + offsets(SHAPE))
    both = tl.join(x, y)
    put(out_ptr, both)
    put(out_ptr + 2 * x.numel, tl.interleave(x, y))
    low, high = tl.split(both + 1)
    put(out_ptr + 4 * x.numel, low)
    put(out_ptr + 5 * x.numel, high)
    pairs = tl.join(both, both)
    put(out_ptr + 6 * x.numel, tl.sum(pairs, len(SHAPE) + 1))


@pytest.mark.sweep
@pytest.mark.parametrize("shape", [(1,), (64,), (8, 16), (4, 2, 8), (2, 4, 2, 2)])
@pytest.mark.parametrize("dtype", ["i32", "i64"])
def test_join_split_and_interleave(shape, dtype):
    x, y = values(shape, dtype, 3) // 8, values(shape, dtype, 4) // 8
    out = np.zeros((8, x.size), x.dtype)
    join_kernel[(1,)](x, y, out, SHAPE=shape, num_warps=warps_for(shape, dtype))
    both = np.stack([x, y], -1)
    expected = [both.ravel(), both.ravel(), x.ravel() + 1, y.ravel() + 1, 2 * both.ravel()]
    np.testing.assert_array_equal(out.ravel(), np.concatenate(expected))


@tile.jit
def scalar_join_kernel(x, y, out_ptr):
    low, high = tl.split(tl.join(x, y) * 10)
    tl.store(out_ptr, low)
    tl.store(out_ptr + 1, high)
    tl.store(out_ptr + 2 + tl.arange(0, 2), tl.join(y, x))


def test_join_of_scalars():
    out = np.zeros(4, np.int32)
    scalar_join_kernel[(1,)](3, 4, out)
    np.testing.assert_array_equal(out, [30, 40, 4, 3])


@tile.jit
def cat_kernel(x_ptr, y_ptr, out_ptr, REORDER: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    both = tl.cat(tl.load(x_ptr + i), tl.load(y_ptr + i), can_reorder=REORDER)
    tl.store(out_ptr + tl.arange(0, 2 * N), both)


@pytest.mark.parametrize("n", [1, 32, 256])
def test_cat(n):
    x, y = values(n, "i32", 5), values(n, "i32", 6)
    out = np.zeros(2 * n, np.int32)
    for reorder in (False, True):
        cat_kernel[(1,)](x, y, out, REORDER=reorder, N=n)
        np.testing.assert_array_equal(out, np.concatenate([x, y]))


@tile.jit
def broadcast_kernel(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    x, y = tl.load(x_ptr + m), tl.load(y_ptr + n)
    a, b = tl.broadcast(x[:, None], y[None, :])
    put(out_ptr, a + b)
    put(out_ptr + M * N, tl.broadcast_to(x[:, None], (M, N)))
    put(out_ptr + 2 * M * N, y[None, :].broadcast_to(M, N))
    put(out_ptr + 3 * M * N, tl.expand_dims(x, 1) * y)
    put(out_ptr + 4 * M * N, tl.expand_dims(x, (-1,)) - tl.expand_dims(y, [0]))
    put(out_ptr + 5 * M * N, tl.full((M, N), 7, tl.int32) + tl.zeros_like(a))
    cube = x[:, None, None] + y[None, None, :] + tl.arange(0, 1)[None, :, None]
    put(out_ptr + 6 * M * N, tl.squeeze(cube, 1))
    put(out_ptr + 7 * M * N, x[..., None] + tl.zeros((M, N), tl.int32))


@pytest.mark.parametrize(("m", "n"), [(8, 16), (1, 32), (32, 1), (2, 2)])
@pytest.mark.parametrize("warps", [1, 8])
def test_broadcasts(m, n, warps):
    x, y = values(m, "i16", 7).astype(np.int32), values(n, "i16", 8).astype(np.int32)
    out = np.zeros((8, m, n), np.int32)
    broadcast_kernel[(1,)](x, y, out, M=m, N=n, num_warps=warps)
    a, b = x[:, None] + 0 * y, 0 * x[:, None] + y
    expected = [a + b, a, b, a * b, a - b, a * 0 + 7, a + b, a]
    np.testing.assert_array_equal(out, expected)


@tile.jit
def scalar_reshape_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    put(out_ptr, tl.reshape(x, (1,)))
    put(out_ptr + 1, x.reshape(1, -1, 1) + 1)
    put(out_ptr + 2, tl.ravel(x) + 2)
    tl.store(out_ptr + 3, tl.reshape(x, ()) + 3)


def test_scalars_are_of_one_element():
    x, out = np.full(1, 7, np.int32), np.zeros(4, np.int32)
    scalar_reshape_kernel[(1,)](x, out)
    assert out.tolist() == [7, 8, 9, 10]
