"""Loops as the passes on them leave them, executed: flattened nests (persistent
matrix products) and prefetched operands."""

from __future__ import annotations

import numpy as np
import pytest
from reference import close, on_nvidia, poisoned, random

import tile
import tile.language as tl

BM, BN = 32, 32


@tile.jit
def persistent_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, PROGRAMS: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FLATTEN: tl.constexpr,
):  # fmt: skip
    grid_n = tl.cdiv(N, BN)
    steps = tl.cdiv(K, BK)
    ks = tl.arange(0, BK)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * grid_n, PROGRAMS, flatten=FLATTEN):
        rows = (t // grid_n) * BM + tl.arange(0, BM)
        cols = (t % grid_n) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(steps):
            at = k * BK + ks
            a = tl.load(
                a_ptr + (rows % M)[:, None] * K + at[None, :], mask=at[None, :] < K, other=0.0
            )
            b = tl.load(
                b_ptr + at[:, None] * N + (cols % N)[None, :], mask=at[:, None] < K, other=0.0
            )
            acc = tl.dot(a, b, acc)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc.to(tl.float16), mask=mask)


def run_persistent(shape, bk=32, programs=3, flatten=True, **options):
    m, n, k = shape
    a, b = random((m, k), "fp16", 1), random((k, n), "fp16", 2)
    c = poisoned((m, n), "fp16")
    kernel = persistent_matmul[(programs,)](
        a, b, c, m, n, k, PROGRAMS=programs, BM=BM, BN=BN, BK=bk, FLATTEN=flatten, **options
    )
    close(c, a.astype(np.float64) @ b.astype(np.float64), "fp16", 10)
    return kernel


@pytest.mark.sweep
@pytest.mark.parametrize("num_stages", [1, 2, 3, 4])
@pytest.mark.parametrize("num_warps", [1, 2, 4, 8])
def test_persistent_matmul(num_warps, num_stages):
    kernel = run_persistent((80, 96, 160), num_warps=num_warps, num_stages=num_stages)
    assert kernel.asm["ttir"].count("tt.flatten") == 1
    # One loop, and one for dots without steps.
    assert kernel.asm["ttgir"].count("scf.for") == 2
    # Setting the accumulator back costs nothing but at the end of a tile.
    selects = [line for line in kernel.asm["ttgir"].splitlines() if "arith.select" in line]
    assert not any("tensor<32x32xf32" in line for line in selects)


# A ragged one, fewer steps than stages, no steps at all, fewer tiles than programs.
@pytest.mark.parametrize("shape", [(70, 90, 72), (64, 64, 16), (64, 32, 0), (32, 32, 64)])
@pytest.mark.parametrize("num_stages", [1, 3])
def test_persistent_matmul_shapes(shape, num_stages):
    run_persistent(shape, num_stages=num_stages)


@tile.jit
def nested_sums(x_ptr, bias_ptr, out_ptr, last_ptr, ROWS, STEPS, BLOCK: tl.constexpr):
    # Values through both loops, a load that only the end needs, a moving pointer.
    total = tl.zeros((BLOCK,), dtype=tl.int32)
    highest = 0
    for row in tl.range(0, ROWS, flatten=True):
        bias = tl.load(bias_ptr + row)
        at = x_ptr + row * STEPS * BLOCK + tl.arange(0, BLOCK)
        part = tl.zeros((BLOCK,), dtype=tl.int32)
        for step in range(2, STEPS + 2):
            part += tl.load(at) * step
            total += part
            at += BLOCK
        tl.store(out_ptr + row * BLOCK + tl.arange(0, BLOCK), part + bias)
        highest = tl.maximum(highest, tl.max(part, axis=0))
    tl.store(last_ptr + tl.arange(0, BLOCK), total + highest)


@pytest.mark.parametrize("rows,steps", [(3, 5), (4, 1), (2, 0), (0, 3)])
def test_values_through_a_flattened_nest(rows, steps):
    block = 64
    rng = np.random.default_rng(rows)
    x = rng.integers(-50, 50, (max(rows, 1), max(steps, 1), block), dtype=np.int32)
    bias = rng.integers(-50, 50, max(rows, 1), dtype=np.int32)
    out = np.full((max(rows, 1), block), -1, np.int32)
    last = np.full(block, -1, np.int32)
    nested_sums[(1,)](x, bias, out, last, rows, steps, BLOCK=block)
    total, highest = np.zeros(block, np.int64), 0
    for row in range(rows):
        part = np.zeros(block, np.int64)
        for step in range(steps):
            part += x[row, step].astype(np.int64) * (step + 2)
            total += part
        np.testing.assert_array_equal(out[row], part + bias[row])
        highest = max(highest, part.max())
    np.testing.assert_array_equal(last, total + highest)


@tile.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        at = k + ks
        a = tl.load(a_ptr + rows[:, None] * K + at[None, :], mask=at[None, :] < K, other=0.0)
        b = tl.load(b_ptr + at[:, None] * N + cols[None, :], mask=at[:, None] < K, other=0.0)
        acc += tl.dot(a.to(tl.float16), b.to(tl.float16))
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc)


@pytest.mark.sweep
@pytest.mark.parametrize("num_stages", [1, 2, 3, 4])
@pytest.mark.parametrize("num_warps", [1, 2, 4, 8])
@pytest.mark.parametrize("dtype,k", [("fp16", 160), ("int8", 128)])
def test_prefetched_matmul(dtype, k, num_warps, num_stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    m, n = 64, 64
    if dtype == "int8":
        rng = np.random.default_rng(3)
        a, b = (rng.integers(-8, 8, s, dtype=np.int8) for s in ((m, k), (k, n)))
    else:
        a, b = random((m, k), dtype, 1), random((k, n), dtype, 2)
    c = poisoned((m, n), "fp32")
    kernel = matmul[(m // BM, n // BN)](
        a, b, c, m, n, k, BM=BM, BN=BN, BK=64, num_warps=num_warps, num_stages=num_stages,
        prefetch=True,
    )  # fmt: skip
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-2, atol=0.1)
    prefetched = "memdesc_subslice" in kernel.asm["ttgir"]
    # Bytes across K that a warp reads whole are in an order that parts of K do not have.
    assert prefetched == (num_stages > 2 and (dtype == "fp16" or num_warps == 8))


def test_passes_can_be_left_out():
    kernel = run_persistent(
        (64, 64, 64), disable_passes="tritongpu-pipeline, tritongpu-fuse-nested-loops"
    )
    assert "ttg.async_copy" not in kernel.asm["ttgir"]
    assert "tt.flatten" in kernel.asm["ttgir"]

    with pytest.raises(tile.TileError, match="there is no pass `no-such-pass` to leave out"):
        run_persistent((64, 64, 64), disable_passes="no-such-pass")


@pytest.mark.nvidia("names the passes of its pipeline")
def test_passes_count_what_they_do(monkeypatch, capfd):
    monkeypatch.setenv("TILE_PASS_STATISTICS", "1")
    monkeypatch.setenv("TILE_ALWAYS_COMPILE", "1")
    run_persistent((64, 64, 64))
    lines = [line.split() for line in capfd.readouterr().err.splitlines()]
    assert ["1", "tritongpu-fuse-nested-loops", "num-fused"] in lines
    assert ["2", "tritongpu-pipeline", "num-copies"] in lines


@tile.jit
def gathered_products(a_ptr, index_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BN: tl.constexpr,
                      BK: tl.constexpr, STAGES: tl.constexpr):  # fmt: skip
    # Addresses that come from memory; a branch and a product of two loads each.
    rows, cols, ks = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    both = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK, num_stages=STAGES):
        at = tl.load(index_ptr + k + ks)
        a = tl.load(a_ptr + rows[:, None] * K + (k + ks)[None, :])
        b = tl.load(b_ptr + at[:, None] * BN + cols[None, :])
        if k % (2 * BK) == 0:
            acc *= 0.5
        acc = tl.dot(a, b, acc)
        plain = tl.load(b_ptr + (k + ks)[:, None] * BN + cols[None, :])
        both += tl.dot(a, plain)
    out = c_ptr + rows[:, None] * BN + cols[None, :]
    tl.store(out, acc)
    tl.store(out + BM * BN, both)


@pytest.mark.parametrize("num_stages", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_indirect_loads_and_branches(num_warps, num_stages):
    m, n, k, bk = 32, 32, 160, 32
    a, b = random((m, k), "fp16", 1), random((k, n), "fp16", 2)
    index = np.random.default_rng(3).permutation(k).astype(np.int32)
    c = np.full((2, m, n), np.nan, np.float32)
    kernel = gathered_products[(1,)](
        a, index, b, c, k, BM=m, BN=n, BK=bk, STAGES=num_stages, num_warps=num_warps
    )
    if on_nvidia():
        assert ("async_copy" in kernel.asm["ttgir"]) == (num_stages > 1)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    acc = np.zeros((m, n))
    for start in range(0, k, bk):
        if start % (2 * bk) == 0:
            acc *= 0.5
        acc += wide_a[:, start : start + bk] @ wide_b[index[start : start + bk]]
    close(c[0], acc, "fp16", 10)
    close(c[1], wide_a @ wide_b, "fp16", 10)


@tile.jit
def tiles_in_turn(a_ptr, b_ptr, c_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr,
                  BK: tl.constexpr):  # fmt: skip
    # Two loops side by side in a loop, of which the second reads what the first wrote.
    rows, cols, ks = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    for n in range(0, N, BN):
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            a = tl.load(a_ptr + rows[:, None] * K + (k + ks)[None, :])
            b = tl.load(b_ptr + (k + ks)[:, None] * N + (n + cols)[None, :])
            acc = tl.dot(a, b, acc)
        at = c_ptr + rows[:, None] * N + (n + cols)[None, :]
        tl.store(at, acc.to(tl.float16))
        tl.debug_barrier()
        for _ in range(0, 3):
            tl.store(at, tl.load(at) + 1)


@pytest.mark.parametrize("num_stages", [1, 2, 3, 4])
def test_loops_in_loops(num_stages):
    m, n, k = 32, 64, 96
    a, b = random((m, k), "fp16", 1), random((k, n), "fp16", 2)
    c = poisoned((m, n), "fp16")
    kernel = tiles_in_turn[(1,)](a, b, c, n, k, BM=m, BN=32, BK=32, num_stages=num_stages)
    if on_nvidia():
        assert ("async_copy" in kernel.asm["ttgir"]) == (num_stages > 1)
    close(c, a.astype(np.float64) @ b.astype(np.float64) + 3, "fp16", 10)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "precision,tolerance", [("tf32x3", 2e-5), ("bf16x3", 2e-4), ("bf16x6", 2e-5)]
)
@pytest.mark.parametrize("num_stages", [1, 3])
def test_products_of_several_parts(precision, tolerance, num_stages):
    @tile.jit
    def kernel(a_ptr, b_ptr, c_ptr, K, PRECISION: tl.constexpr, B: tl.constexpr):
        at, ks = tl.arange(0, B), tl.arange(0, B)
        acc = tl.zeros((B, B), dtype=tl.float32)
        for k in range(0, K, B):
            a = tl.load(a_ptr + at[:, None] * K + (k + ks)[None, :])
            b = tl.load(b_ptr + (k + ks)[:, None] * B + at[None, :])
            acc = tl.dot(a, b, acc, input_precision=PRECISION)
        tl.store(c_ptr + at[:, None] * B + at[None, :], acc)

    a, b = random((32, 96), "fp32", 1), random((96, 32), "fp32", 2)
    c = poisoned((32, 32), "fp32")
    kernel[(1,)](a, b, c, 96, PRECISION=precision, B=32, num_stages=num_stages)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(c - expected).max() < tolerance * np.abs(expected).max()


@tile.jit
def moving_addresses(x_ptr, at_ptr, out_ptr, N, BLOCK: tl.constexpr):
    # Where the next iteration reads is written by this one.
    lanes = tl.arange(0, BLOCK)
    at = tl.load(at_ptr + lanes)
    total = tl.zeros((BLOCK,), dtype=tl.int32)
    for _ in tl.range(0, N, num_stages=3):
        total += tl.load(x_ptr + tl.multiple_of(tl.max_contiguous(at, 4), 4))
        tl.store(at_ptr + lanes, at + BLOCK)
        at = tl.load(at_ptr + lanes)
    tl.store(out_ptr + lanes, total)


def test_addresses_that_the_loop_writes():
    block, n = 128, 6
    x = np.random.default_rng(1).integers(0, 1000, (n, block), dtype=np.int32)
    at, out = np.arange(block, dtype=np.int32), np.zeros(block, np.int32)
    moving_addresses[(1,)](x, at, out, n, BLOCK=block)
    np.testing.assert_array_equal(out, x.sum(axis=0))


@tile.jit
def swizzled(tile_id, num_pid_in_group, num_pid_m, GROUP_M: tl.constexpr):
    group = tile_id // num_pid_in_group
    first = group * GROUP_M
    size = min(num_pid_m - first, GROUP_M)
    return first + (tile_id % size), (tile_id % num_pid_in_group) // size


@tile.jit
def persistent_descriptors(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    GROUP_M: tl.constexpr, PROGRAMS: tl.constexpr, FLATTEN: tl.constexpr,
):  # fmt: skip
    # As people write it for Hopper: descriptors, B transposed, a counter of its own for the output.
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    c_desc = tl.make_tensor_descriptor(
        c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN // 2]
    )
    start = tl.program_id(axis=0)
    grid_m, grid_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    steps = tl.cdiv(K, BK)
    tile_id_c = start - PROGRAMS
    in_group = GROUP_M * grid_n
    for tile_id in tl.range(start, grid_m * grid_n, PROGRAMS, flatten=FLATTEN):
        pid_m, pid_n = swizzled(tile_id, in_group, grid_m, GROUP_M)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for ki in range(steps):
            a = a_desc.load([pid_m * BM, ki * BK])
            b = b_desc.load([pid_n * BN, ki * BK])
            acc = tl.dot(a, b.T, acc)
        tile_id_c += PROGRAMS
        pid_m, pid_n = swizzled(tile_id_c, in_group, grid_m, GROUP_M)
        halves = tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1))
        left, right = tl.split(halves)
        c_desc.store([pid_m * BM, pid_n * BN], left.to(tl.float16))
        c_desc.store([pid_m * BM, pid_n * BN + BN // 2], right.to(tl.float16))


@pytest.mark.parametrize("num_stages", [2, 3, 4])
@pytest.mark.parametrize("flatten", [False, True])
def test_persistent_matmul_through_descriptors(num_stages, flatten):
    m, n, k = 96, 160, 80
    a, b = random((m, k), "fp16", 1), random((n, k), "fp16", 2)
    c = poisoned((m, n), "fp16")
    kernel = persistent_descriptors[(3,)](
        a, b, c, m, n, k, BM=32, BN=64, BK=32, GROUP_M=2, PROGRAMS=3, FLATTEN=flatten,
        num_stages=num_stages,
    )  # fmt: skip
    close(c, a.astype(np.float64) @ b.astype(np.float64).T, "fp16", 10)
    assert kernel.asm["ttgir"].count("tt.dot") == 1


@tile.jit
def paged_products(q_ptr, table_ptr, pages_ptr, out_ptr, N, BM: tl.constexpr, BK: tl.constexpr):
    # A table names the pages; a second table, the first's rows.
    rows, ks = tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BM, BK), dtype=tl.float32)
    for i in range(N):
        row = tl.load(table_ptr + i)
        page = tl.load(table_ptr + N + row)
        values = tl.load(pages_ptr + page * BK * BK + ks[:, None] * BK + ks[None, :])
        q = tl.load(q_ptr + i * BM * BK + rows[:, None] * BK + ks[None, :])
        acc = tl.dot(q, values, acc)
    tl.store(out_ptr + rows[:, None] * BK + ks[None, :], acc)


@pytest.mark.parametrize("num_stages", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 7])
def test_tables_of_pages(n, num_stages):
    m, k = 32, 32
    rng = np.random.default_rng(n)
    order, pages = rng.permutation(n), rng.permutation(n)
    table = np.concatenate([order, pages]).astype(np.int32)
    q, values = random((n, m, k), "fp16", 1), random((n, k, k), "fp16", 2)
    out = poisoned((m, k), "fp32")
    kernel = paged_products[(1,)](q, table, values, out, n, BM=m, BK=k, num_stages=num_stages)
    expected = sum(
        q[i].astype(np.float64) @ values[pages[order[i]]].astype(np.float64) for i in range(n)
    )
    close(out, expected, "fp16", 10)
    if num_stages > 1 and n > 1 and tl.target_info.cuda_capability_geq(8):
        # Both operands are in flight as long as with addresses that need no table.
        assert kernel.asm["ttgir"].count("ttg.local_alloc") == 2
        assert f"memdesc<{num_stages - 1}x32x32xf16" in kernel.asm["ttgir"]


@tile.jit
def scaled_sums(x_ptr, init_ptr, out_ptr, steps, R: tl.constexpr, C: tl.constexpr):
    rows, cols = tl.arange(0, R), tl.arange(0, C)
    total = tl.load(init_ptr + rows)
    top = tl.full((R,), 0.0, tl.float32)
    for i in range(steps):
        x = tl.load(x_ptr + i * R * C + rows[:, None] * C + cols[None, :])
        new_top = tl.maximum(top, tl.max(x, axis=1))
        total = total * tl.exp2(top - new_top) + tl.sum(tl.exp2(x - new_top[:, None]), axis=1)
        top = new_top
    tl.store(out_ptr + rows, total)


@pytest.mark.parametrize("steps", [0, 1, 5])
@pytest.mark.parametrize(("r", "c"), [(64, 32), (4, 512), (8, 1)])
def test_scaled_sums(r, c, steps):
    """Threads scale and add up their parts; the parts are added behind the loop, which also
    scales what it starts from."""
    x = random((max(steps, 1), r, c), "fp32", 1) * 4
    init = np.abs(random((r,), "fp32", 2)) + 1
    out = poisoned((r,), "fp32")
    scaled_sums[(1,)](x, init, out, steps, R=r, C=c)
    top = np.maximum(x[:steps].max(axis=(0, 2), initial=0), 0).astype(np.float64)
    expected = init * np.exp2(-top)
    expected += np.exp2(x[:steps] - top[None, :, None]).sum(axis=(0, 2))
    np.testing.assert_allclose(out, expected, rtol=1e-5)
