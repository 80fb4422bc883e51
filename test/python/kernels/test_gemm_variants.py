"""Dots that are more than a dot: chained, split over k, quantised, grouped, batched."""

from __future__ import annotations

import numpy as np
import pytest
from reference import close, poisoned, random, sim_only

import tile
import tile.language as tl
import tile.sim


@tile.jit
def chained(
    a_ptr, b_ptr, c_ptr, out_ptr, M, N,
    K: tl.constexpr, P: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """(a @ b) @ c, the first dot's tiles never leaving the program."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rk = tl.arange(0, K)
    rp = tl.arange(0, P)
    a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
    acc = tl.zeros((BM, P), tl.float32)
    for start in range(0, N, BN):
        rn = start + tl.arange(0, BN)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0.0)
        c = tl.load(c_ptr + rn[:, None] * P + rp[None, :], mask=rn[:, None] < N, other=0.0)
        acc = tl.dot(tl.dot(a, b).to(c.dtype), c, acc)
    tl.store(out_ptr + rm[:, None] * P + rp[None, :], acc, mask=rm[:, None] < M)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32"])
@pytest.mark.parametrize(("warps", "stages"), [(1, 1), (2, 3), (4, 2), (4, 4), (8, 3), (16, 2)])
def test_chained_products(dtype, warps, stages):
    m, n, k, p = 50, 70, 32, 64
    a, b, c = random((m, k), dtype, 1), random((k, n), dtype, 2), random((n, p), dtype, 3)
    out = poisoned((m, p), "fp32")
    chained[(tile.cdiv(m, 32),)](
        a, b, c, out, m, n, K=k, P=p, BM=32, BN=32, num_warps=warps, num_stages=stages
    )
    wide = [t.astype(np.float64) for t in (a, b, c)]
    first = wide[0] @ wide[1]
    if dtype != "fp32":
        first = first.astype(a.dtype).astype(np.float64)
    expected = first @ wide[2]
    tolerance = {"fp16": 2e-2, "bf16": 2e-1, "fp32": 5e-1}[dtype]
    assert np.abs(out - expected).max() < tolerance * 2
    assert np.abs(out - expected).mean() < tolerance / 4


@tile.jit
def split_k(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    part = tl.program_id(1)
    tiles_n = tl.cdiv(N, BN)
    rm = (pid // tiles_n) * BM + tl.arange(0, BM)
    rn = (pid % tiles_n) * BN + tl.arange(0, BN)
    rk = part * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK * SPLIT)):
        a = tl.load(
            a_ptr + rm[:, None] * K + rk[None, :],
            mask=(rm[:, None] < M) & (rk[None, :] < K),
            other=0,
        )
        b = tl.load(
            b_ptr + rk[:, None] * N + rn[None, :],
            mask=(rk[:, None] < K) & (rn[None, :] < N),
            other=0,
        )
        acc += tl.dot(a, b)
        rk += BK * SPLIT
    at = c_ptr + rm[:, None] * N + rn[None, :]
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.atomic_add(at, acc.to(c_ptr.dtype.element_ty), mask=mask, sem="relaxed")


@pytest.mark.parametrize("out_dtype", ["fp32", "fp16"])
@pytest.mark.parametrize("split", [1, 3, 4])
def test_split_k_with_atomics(out_dtype, split):
    m, n, k = 40, 50, 200
    rng = np.random.default_rng(split)
    # Small integers: every order of the sum is exact.
    a = rng.integers(-3, 4, (m, k)).astype(np.float16)
    b = rng.integers(-3, 4, (k, n)).astype(np.float16)
    c = np.zeros((m, n), np.float32 if out_dtype == "fp32" else np.float16)
    split_k[(tile.cdiv(m, 32) * tile.cdiv(n, 32), split)](
        a, b, c, m, n, k, BM=32, BN=32, BK=32, SPLIT=split
    )
    np.testing.assert_array_equal(c, (a.astype(np.float64) @ b.astype(np.float64)).astype(c.dtype))


@tile.jit
def weight_only_int4(
    a_ptr, q_ptr, scale_ptr, zero_ptr, c_ptr, M, N, K,
    GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Eight 4-bit weights in each word of ``q``, along k; a scale and a zero point per group."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + rk
        a = tl.load(
            a_ptr + rm[:, None] * K + k[None, :],
            mask=(rm[:, None] < M) & (k[None, :] < K),
            other=0.0,
        )
        inside = (k[:, None] < K) & (rn[None, :] < N)
        word = tl.load(q_ptr + (k // 8)[:, None] * N + rn[None, :], mask=inside, other=0)
        group = (k // GROUP)[:, None] * N + rn[None, :]
        scale = tl.load(scale_ptr + group, mask=inside, other=0.0)
        zero = tl.load(zero_ptr + group, mask=inside, other=0)
        weight = ((word >> ((k % 8) * 4)[:, None]) & 0xF) - zero
        acc = tl.dot(a, weight.to(tl.float16) * scale, acc)
    tl.store(
        c_ptr + rm[:, None] * N + rn[None, :],
        acc.to(tl.float16),
        mask=(rm[:, None] < M) & (rn[None, :] < N),
    )


@pytest.mark.every_target
@pytest.mark.parametrize(("warps", "stages"), [(1, 2), (4, 1), (4, 3), (8, 4)])
def test_quantised_weights(warps, stages):
    m, n, k, group = 20, 40, 96, 32
    rng = np.random.default_rng(3)
    a = rng.standard_normal((m, k)).astype(np.float16)
    weights = rng.integers(0, 16, (k, n))
    words = np.zeros((k // 8, n), np.int64)
    for i in range(8):
        words |= weights[i::8] << (4 * i)
    words = words.astype(np.uint32).view(np.int32)
    scale = rng.uniform(0.01, 0.1, (k // group, n)).astype(np.float16)
    zero = rng.integers(0, 16, (k // group, n)).astype(np.int32)
    c = poisoned((m, n), "fp16")
    weight_only_int4[(tile.cdiv(m, 16), tile.cdiv(n, 32))](
        a, words, scale, zero, c, m, n, k,
        GROUP=group, BM=16, BN=32, BK=32, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    wide = (weights - zero.repeat(group, 0)).astype(np.float16) * scale.repeat(group, 0)
    close(c, a.astype(np.float64) @ wide.astype(np.float64), "fp16", 10)


@tile.jit
def int8_with_scales(
    a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.int32)
    for start in range(0, K, BK):
        k = start + rk
        a = tl.load(
            a_ptr + rm[:, None] * K + k[None, :], mask=(rm[:, None] < M) & (k[None, :] < K), other=0
        )
        b = tl.load(
            b_ptr + rn[None, :] * K + k[:, None], mask=(k[:, None] < K) & (rn[None, :] < N), other=0
        )
        acc = tl.dot(a, b, acc)
    sa = tl.load(sa_ptr + rm, mask=rm < M, other=0.0)
    sb = tl.load(sb_ptr + rn, mask=rn < N, other=0.0)
    out = acc.to(tl.float32) * sa[:, None] * sb[None, :]
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], out, mask=(rm[:, None] < M) & (rn[None, :] < N))


@pytest.mark.parametrize(("warps", "stages"), [(2, 2), (4, 3), (8, 1)])
def test_int8_product_with_row_and_column_scales(warps, stages):
    m, n, k = 45, 66, 130
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (n, k)))
    sa, sb = (rng.uniform(0.1, 1, s).astype(np.float32) for s in (m, n))
    c = poisoned((m, n), "fp32")
    int8_with_scales[(tile.cdiv(m, 64), tile.cdiv(n, 64))](
        a, b, sa, sb, c, m, n, k, BM=64, BN=64, BK=64, num_warps=warps, num_stages=stages
    )
    exact = a.astype(np.int32) @ b.astype(np.int32).T
    close(c, exact * sa[:, None].astype(np.float64) * sb[None, :], "fp32", 4)


@tile.jit
def batched(
    a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    rb = tl.arange(0, B)[:, None, None]
    rm, rn, rk = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + rb * M * K + rm[None, :, None] * K + rk[None, None, :])
    b = tl.load(b_ptr + rb * K * N + rk[None, :, None] * N + rn[None, None, :])
    c = tl.dot(a, b)
    tl.store(c_ptr + rb * M * N + rm[None, :, None] * N + rn[None, None, :], c)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
@pytest.mark.parametrize("batch", [1, 2, 8])
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_batched_product(dtype, batch, warps):
    m, n, k = 16, 32, 16
    a, b = random((batch, m, k), dtype, 1), random((batch, k, n), dtype, 2)
    c = poisoned((batch, m, n), "fp32")
    batched[(1,)](a, b, c, B=batch, M=m, N=n, K=k, num_warps=warps)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, expected, rtol=5e-3, atol=2e-2)


@tile.jit
def grouped(
    addresses, sizes, groups,
    PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Every group's matrices are given by their addresses; programs take tiles in turn."""
    tile_index = tl.program_id(0)
    end = 0
    for g in range(groups):
        m, n, k = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        tiles_n = tl.cdiv(n, BN)
        start = end
        end += tl.cdiv(m, BM) * tiles_n
        a_ptr = tl.load(addresses + g * 3).to(tl.pointer_type(tl.float16))
        b_ptr = tl.load(addresses + g * 3 + 1).to(tl.pointer_type(tl.float16))
        c_ptr = tl.load(addresses + g * 3 + 2).to(tl.pointer_type(tl.float16))
        while tile_index < end:
            at = tile_index - start
            rm = (at // tiles_n) * BM + tl.arange(0, BM)
            rn = (at % tiles_n) * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), tl.float32)
            for start_k in range(0, tl.cdiv(k, BK)):
                rk = start_k * BK + tl.arange(0, BK)
                a = tl.load(
                    a_ptr + rm[:, None] * k + rk[None, :],
                    mask=(rm[:, None] < m) & (rk[None, :] < k),
                    other=0.0,
                )
                b = tl.load(
                    b_ptr + rk[:, None] * n + rn[None, :],
                    mask=(rk[:, None] < k) & (rn[None, :] < n),
                    other=0.0,
                )
                acc = tl.dot(a, b, acc)
            tl.store(
                c_ptr + rm[:, None] * n + rn[None, :],
                acc.to(tl.float16),
                mask=(rm[:, None] < m) & (rn[None, :] < n),
            )
            tile_index += PROGRAMS


@pytest.mark.every_target
@sim_only  # On a GPU these arrays would have other addresses.
@pytest.mark.parametrize(("programs", "stages"), [(1, 1), (3, 2), (5, 3)])
def test_grouped_products_by_address(programs, stages):
    shapes = [(40, 20, 16), (16, 50, 33), (5, 5, 64)]
    a = [random((m, k), "fp16", i) for i, (m, _, k) in enumerate(shapes)]
    b = [random((k, n), "fp16", i + 9) for i, (_, n, k) in enumerate(shapes)]
    c = [poisoned((m, n), "fp16") for m, n, _ in shapes]
    matrices = [m for group in zip(a, b, c, strict=True) for m in group]
    addresses = np.array([m.ctypes.data for m in matrices], np.uint64)
    sizes = np.array(shapes, np.int32)
    with tile.sim.reachable(*matrices):
        grouped[(programs,)](
            addresses, sizes, 3, PROGRAMS=programs, BM=32, BN=32, BK=32, num_stages=stages
        )  # fmt: skip
    for x, y, z in zip(a, b, c, strict=True):
        close(z, x.astype(np.float64) @ y.astype(np.float64), "fp16", 10)
