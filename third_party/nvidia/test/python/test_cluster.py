"""Programs of several blocks, which share their work and exchange what they must."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned, random

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

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


@pytest.mark.sweep(3)
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
def affine(a, b, c, d):
    return a * c, b * c + d


@tile.jit
def in_order_kernel(x, y, p_ptr, q_ptr, ROWS: tl.constexpr, COLS: tl.constexpr, AXIS: tl.constexpr):
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    at = rows[:, None] * COLS + cols[None, :]
    p, q = tl.reduce((tl.load(x + at), tl.load(y + at)), AXIS, affine)
    i = cols if AXIS == 0 else rows
    tl.store(p_ptr + i, p)
    tl.store(q_ptr + i, q)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("shape", [(8, 64), (64, 8), (1, 1024)])
def test_elements_are_combined_in_order(shape, num_warps, axis, num_ctas):
    chance = np.random.default_rng(3)
    x = chance.integers(-3, 4, shape, dtype=np.int32)
    y = chance.integers(-9, 10, shape, dtype=np.int32)
    p, q = poisoned(shape[1 - axis], "i32"), poisoned(shape[1 - axis], "i32")
    in_order_kernel[(1,)](x, y, p, q, *shape, axis, num_warps=num_warps, num_ctas=num_ctas)
    x, y = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)
    want_p, want_q = x[0], y[0]
    for c, d in zip(x[1:], y[1:], strict=True):
        want_p, want_q = want_p * c, want_q * c + d
    np.testing.assert_array_equal(p, want_p)
    np.testing.assert_array_equal(q, want_q)


@tile.jit
def scalar_copies_kernel(x, out, N: tl.constexpr, T: tl.constexpr):
    u = tl.sum(tl.load(x + tl.arange(0, N)) * 0.73, 0)
    tl.store(out + tl.arange(0, T), tl.zeros((T,), tl.float32) + u)


@pytest.mark.parametrize("n", [64, 128, 1024])
def test_a_sum_is_one_number_in_all_blocks(n, num_ctas):
    for seed in range(4):
        x, out = random(n, "fp32", seed), poisoned(2048, "fp32")
        options = {"num_warps": 2, "num_ctas": num_ctas, "check_replicas": True}
        scalar_copies_kernel[(1,)](x, out, n, 2048, **options)
        assert len(set(out.view(np.int32).tolist())) == 1


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


@tile.jit
def product_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, ACC: tl.constexpr, TURN: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), ACC)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        a = tl.load(
            a_ptr + rows[:, None] * sam + (k * BK + ks[None, :]) * sak,
            mask=(rows[:, None] < M) & (ks[None, :] < left), other=0,
        )  # fmt: skip
        if TURN:
            b = tl.load(
                b_ptr + cols[:, None] * sbn + (k * BK + ks[None, :]) * sbk,
                mask=(cols[:, None] < N) & (ks[None, :] < left), other=0,
            ).T  # fmt: skip
        else:
            b = tl.load(
                b_ptr + (k * BK + ks[:, None]) * sbk + cols[None, :] * sbn,
                mask=(ks[:, None] < left) & (cols[None, :] < N), other=0,
            )  # fmt: skip
        acc = tl.dot(a, b, acc, out_dtype=ACC)
    at = rows[:, None] * N + cols[None, :]
    tl.store(c_ptr + at, acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


# The smaller tiles leave a block too few rows for a warp group.
@pytest.mark.sweep(4)
@pytest.mark.parametrize("tiles", [(128, 128, 64), (256, 64, 32), (64, 256, 32), (64, 32, 32)])
@pytest.mark.parametrize("dtype", ["fp16", "i8"])
@pytest.mark.parametrize(("turned", "stages"), [(False, 1), (False, 3), (True, 3)])
def test_product(tiles, dtype, turned, stages, num_ctas):
    bm, bn, bk = tiles
    m, n, k = bm + 16, bn + 16, 2 * bk + 16
    a, b = random((m, k), dtype, 1), random((n, k) if turned else (k, n), dtype, 2)
    if turned:
        b = b.T
    strides = [stride // x.itemsize for x in (a, b) for stride in x.strides]
    out = poisoned((m, n), "i32" if dtype == "i8" else "fp32")
    kernel = product_kernel[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        a, b, out, m, n, k, *strides, *tiles, tl.int32 if dtype == "i8" else tl.float32, turned,
        num_ctas=num_ctas, num_warps=4, num_stages=stages,
    )  # fmt: skip
    if dtype == "i8":
        np.testing.assert_array_equal(out, a.astype(np.int32) @ b.astype(np.int32))
    else:
        np.testing.assert_allclose(out, a.astype(np.float64) @ b, rtol=1e-3, atol=1e-1)
    if tiles[0] == 256 or (tiles == (128, 128, 64) and num_ctas < 4):
        assert "wgmma" in kernel.asm["ptx"]


@tile.jit
def descriptor_product_kernel(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([i, k]), b.load([k, j]), acc)
    c.store([i, j], acc)


def test_product_through_descriptors(num_ctas):
    a, b, out = (
        random((128, 96), "fp16", 1),
        random((96, 160), "fp16", 2),
        poisoned((128, 160), "fp32"),
    )
    blocks = ((a, [128, 32]), (b, [32, 64]), (out, [128, 64]))
    descriptors = [TensorDescriptor.from_tensor(x, block) for x, block in blocks]
    descriptor_product_kernel[(1, 3)](*descriptors, 96, 128, 64, 32, num_ctas=num_ctas)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b, rtol=1e-3, atol=1e-1)


@tile.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, L, D: tl.constexpr, BM: tl.constexpr):
    rows, dims = tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + dims[None, :])
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, L, 64):
        cols = start + tl.arange(0, 64)
        k = tl.load(k_ptr + cols[:, None] * D + dims[None, :])
        v = tl.load(v_ptr + cols[:, None] * D + dims[None, :])
        scores = tl.dot(q, k.T)
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp(scores - new_top[:, None])
        shrink = tl.exp(top - new_top)
        total = total * shrink + tl.sum(weights, 1)
        acc = tl.dot(weights.to(tl.float16), v, acc * shrink[:, None])
        top = new_top
    tl.store(out_ptr + rows[:, None] * D + dims[None, :], acc / total[:, None])


def test_attention(num_ctas):
    """The softmax stays in a block: both dots are divided along the rows."""
    q, k, v = (random((256, 64), "fp16", seed) for seed in range(3))
    out = poisoned((256, 64), "fp32")
    attention_kernel[(1,)](q, k, v, out, 256, 64, 256, num_ctas=num_ctas)
    scores = q.astype(np.float64) @ k.T.astype(np.float64)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    expected = weights @ v.astype(np.float64) / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(out, expected, rtol=1e-2, atol=1e-2)


@tile.jit
def exchange_kernel(memory, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(memory + i, tl.load(memory + i) + 1)
    tl.debug_barrier()
    tl.store(out + i, tl.load(memory + N - 1 - i))


def test_barriers_are_for_all_blocks(num_ctas):
    memory, out = random(256, "i32", 1), poisoned(256, "i32")
    expected = memory + 1
    exchange_kernel[(1,)](memory, out, 256, num_ctas=num_ctas)
    np.testing.assert_array_equal(memory, expected)
    np.testing.assert_array_equal(out, expected[::-1])


@tile.jit
def count_kernel(counter, out, N: tl.constexpr):
    """Scalars that one thread stores and all threads of all blocks load."""
    before = tl.load(counter)
    tl.store(counter, before + 5)
    while tl.load(counter) < 20:
        tl.store(counter, tl.load(counter) * 2)
    tl.store(out + tl.arange(0, N), before + tl.load(counter))


def test_scalars_are_the_same_in_all_blocks(num_ctas):
    counter, out = np.array([1], np.int32), poisoned(64, "i32")
    count_kernel[(1,)](counter, out, 64, num_ctas=num_ctas)
    assert counter[0] == 24 and (out == 25).all()


@tile.jit
def shift_kernel(memory, steps):
    i = tl.arange(0, 64)
    for step in range(steps):
        value = tl.load(memory + step * 64 + i)
        tl.store(memory + (step + 1) * 64 + i, value * 2 + 1)


@pytest.mark.parametrize("num_warps", [1, 2, 4])
def test_blocks_of_memory_that_all_load(num_warps, num_ctas):
    """Where there are fewer elements than threads, several blocks load all of them."""
    memory = random(320, "i32", 1)
    expected = memory.copy()
    for step in range(4):
        expected[step * 64 + 64 :][:64] = expected[step * 64 :][:64] * 2 + 1
    shift_kernel[(1,)](memory, 4, num_warps=num_warps, num_ctas=num_ctas)
    np.testing.assert_array_equal(memory, expected)


@tile.jit
def tiles_kernel(a, b, out, K: tl.constexpr, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """Tiles of operands, one after the other in arrays of rank 3; the right one is turned."""
    left = tl.make_tensor_descriptor(a, [K // B, M, B], [M * B, B, 1], [1, M, B])
    i, j = tl.arange(0, N), tl.arange(0, B)
    acc = tl.zeros([M, N], tl.float32)
    for k in tl.range(0, K // B, num_stages=3):
        x = left.load([k, 0, 0]).reshape([M, B])
        y = tl.load(b + k * N * B + i[:, None] * B + j[None, :])
        acc = tl.dot(x, tl.trans(y), acc)
    tl.store(out + tl.arange(0, M)[:, None] * N + i[None, :], acc)


@pytest.mark.parametrize("dtype", ["fp16", "fp8e5"])
@pytest.mark.parametrize(("m", "n"), [(16, 64), (64, 16)])
def test_operands_that_blocks_need_in_other_parts_than_they_load(m, n, dtype, num_ctas):
    k, b = 128, 32
    kind = {"fp16": np.float16, "fp8e5": ml_dtypes.float8_e5m2}[dtype]
    generator = np.random.default_rng(1)
    a, c = (generator.integers(-3, 4, (k // b, rows, b)).astype(np.float32) for rows in (m, n))
    expected = np.einsum("kmb,knb->mn", a, c)
    a, c = a.astype(kind), c.astype(kind)
    out = poisoned((m, n), "fp32")
    tiles_kernel[(1,)](a, c, out, k, m, n, b, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, expected)
