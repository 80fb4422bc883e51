"""Loops whose loads have warps of their own, on sm_90: dots, attention, persistent loops."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned, random, sim_only
from test_matmul_sweep import KINDS, operand, strides
from test_tma import padded

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

BULK = "cp.async.bulk.tensor"


@pytest.fixture(autouse=True)
def target(monkeypatch):
    """In place of the targets of the other kernels."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")


def groups(kernel) -> tuple[int, int]:
    """Warps of the block, and how many of them a barrier of the default group joins."""
    ptx = kernel.asm["ptx"]
    assert "mbarrier.try_wait" in ptx and "ttg.warp_specialize" in kernel.asm["ttgir"]
    joined = {int(n) for n in re.findall(r"bar\.sync\s+1, (\d+);", ptx)}
    return kernel.num_warps, max(joined, default=0) // 32


@tile.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr,
    BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * sam + rk[None, :] * sak
    b_ptrs = b_ptr + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in tl.range(0, tl.cdiv(K, BK), warp_specialize=True):
        left = K - k * BK
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0)
        acc = tl.dot(a, b, acc, out_dtype=ACC, input_precision="tf32")
        a_ptrs += BK * sak
        b_ptrs += BK * sbk
    c_ptrs = c_ptr + rm[:, None] * scm + rn[None, :] * scn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@tile.jit
def matmul_by_descriptors(
    a_ptr, b_ptr, c_ptr, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, TB: tl.constexpr, ACC: tl.constexpr, FLATTEN: tl.constexpr,
):  # fmt: skip
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [lda, 1], [BM, BK])
    if TB:
        b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [ldb, 1], [BN, BK])
    else:
        b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [ldb, 1], [BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [ldc, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * columns
    for t in tl.range(
        tl.program_id(0), tiles, tl.num_programs(0), flatten=FLATTEN, warp_specialize=True
    ):
        i, j = t // columns * BM, t % columns * BN
        acc = tl.zeros((BM, BN), ACC)
        for k in range(0, tl.cdiv(K, BK)):
            a = a_desc.load([i, k * BK])
            b = b_desc.load([j, k * BK]).T if TB else b_desc.load([k * BK, j])
            acc = tl.dot(a, b, acc, input_precision="tf32", out_dtype=ACC)
        c_desc.store([i, j], acc.to(c_ptr.dtype.element_ty))


def output(name: str, m: int, n: int) -> np.ndarray:
    names = {np.float16: "fp16", np.int32: "i32"}
    return poisoned((m, n), names.get(KINDS[name][2], "fp32"))


def compare(name: str, out: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    tolerance, wide = KINDS[name][3], np.int64 if a.dtype == np.int8 else np.float64
    expected = a.astype(wide) @ b.astype(wide)
    limit = tolerance * np.sqrt(max(1, a.shape[1]))
    np.testing.assert_allclose(out.astype(wide), expected, rtol=tolerance, atol=limit)


def multiply(name, sizes, tiles, transposed=(False, False), **options):
    kind, accumulator = KINDS[name][:2]
    (m, n, k), (bm, bn, _) = sizes, tiles
    a, b = operand((m, k), kind, 1, transposed[0]), operand((k, n), kind, 2, transposed[1])
    out = output(name, m, n)
    kernel = matmul[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        a, b, out, m, n, k, *strides(a), *strides(b), *strides(out), *tiles, accumulator, **options
    )
    compare(name, out, a, b)
    return kernel


def multiply_by_descriptors(name, sizes, tiles, turned=False, flatten=True, programs=2, **options):
    kind, accumulator = KINDS[name][:2]
    m, n, k = sizes
    a, b = operand((m, k), kind, 1, False), operand((k, n), kind, 2, False)
    in_memory = [padded(a), padded(b.T if turned else b)]
    out = output(name, m, -(-n // 16) * 16)
    kernel = matmul_by_descriptors[(programs,)](
        *in_memory, out, m, n, k, *(x.shape[1] for x in in_memory), out.shape[1],
        *tiles, turned, accumulator, flatten, **options,
    )  # fmt: skip
    compare(name, out[:, :n], a, b)
    return kernel


CASES = [
    *(("fp16", (ta, tb)) for ta in (False, True) for tb in (False, True)),
    *((name, (False, True)) for name in ("bf16", "tf32", "int8", "e4m3", "e5m2")),
    ("tf32", (False, False)), ("int8", (True, False)), ("fp16 into fp16", (False, False)),
]  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize(("name", "transposed"), CASES)
@pytest.mark.parametrize("warps", [4, 8])
def test_types(name, transposed, warps):
    bk = {2: 32, 4: 16, 1: 64}[np.dtype(KINDS[name][0]).itemsize]
    kernel = multiply(
        name, (144, 80, 3 * bk + 16), (128, 64, bk), transposed, num_warps=warps, num_stages=3
    )
    assert groups(kernel)[0] == warps + 4


@pytest.mark.parametrize("name", ["fp16", "bf16", "tf32", "int8", "e4m3"])
@pytest.mark.parametrize("warps", [4, 8])
def test_descriptors(name, warps):
    bk = {2: 32, 4: 16, 1: 64}[np.dtype(KINDS[name][0]).itemsize]
    kernel = multiply_by_descriptors(
        name, (144, 80, 3 * bk + 16), (128, 64, bk), name not in ("fp16", "bf16"),
        num_warps=warps, num_stages=3,
    )  # fmt: skip
    assert BULK in kernel.asm["ptx"] and "cp.async.cg" not in kernel.asm["ptx"]
    assert groups(kernel)[0] == warps + 4 and "num_warps(1)" in kernel.asm["ttgir"]


@pytest.mark.sweep
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_stages(stages, steps):
    sizes, tiles = (64, 64, 32 * steps), (64, 64, 32)
    multiply_by_descriptors("fp16", (128, 64, 32 * steps), tiles, num_stages=stages)
    kernel = multiply("fp16", sizes, tiles, num_stages=stages)
    pending = "wgmma.wait_group.sync.aligned 1" in kernel.asm["ptx"]
    # The loop may be one that never runs.
    assert pending == (stages > 1) or steps == 0


@pytest.mark.parametrize("copy", [multiply, multiply_by_descriptors])
def test_any_order(copy, monkeypatch):
    """Copies that complete as late as they may, warps that run far ahead: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "6")
    copy("fp16", (130, 64, 160), (64, 64, 32), num_warps=8, num_stages=2)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (65, 63, 33), (200, 8, 100)])
@pytest.mark.parametrize("warps", [1, 2, 16])
def test_other_sizes_and_warps(sizes, warps):
    """With mma.sync, too, and with loads that no asynchronous copy can do."""
    multiply("fp16", sizes, (32, 64, 32), num_warps=warps, num_stages=3)


@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_persistent(flatten, steps):
    multiply_by_descriptors(
        "fp16", (256, 128, 32 * steps), (64, 64, 32), flatten=flatten, num_stages=3
    )


@tile.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, L, S, D: tl.constexpr, BM: tl.constexpr,
    BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Blocks below the diagonal first, then those on it: two loops."""
    start = tl.program_id(0) * BM
    rows, d = start + tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :], mask=rows[:, None] < L, other=0.0)
    m = tl.full([BM], -1.0e30, tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for part in tl.static_range(2 if CAUSAL else 1):
        if CAUSAL:
            low, high = (0, start) if part == 0 else (start, tl.minimum(S, start + BM))
        else:
            low, high = 0, S
        for begin in tl.range(low, high, BN, warp_specialize=True):
            cols = begin + tl.arange(0, BN)
            k = tl.load(k_ptr + cols[None, :] * D + d[:, None], mask=cols[None, :] < S, other=0.0)
            scores = tl.dot(q, k) * (scale * 1.4426950408889634)
            valid = cols[None, :] < S
            if CAUSAL and part == 1:
                valid &= rows[:, None] >= cols[None, :]
            scores = tl.where(valid, scores, -1.0e30)
            m_new = tl.maximum(m, tl.max(scores, 1))
            p = tl.math.exp2(scores - m_new[:, None])
            alpha = tl.math.exp2(m - m_new)
            total = total * alpha + tl.sum(p, 1)
            v = tl.load(v_ptr + cols[:, None] * D + d[None, :], mask=cols[:, None] < S, other=0.0)
            acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
            m = m_new
    out_ptrs = out_ptr + rows[:, None] * D + d[None, :]
    tl.store(out_ptrs, (acc / total[:, None]).to(tl.float16), mask=rows[:, None] < L)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("d", "warps", "stages"), [(64, 4, 2), (64, 8, 3), (128, 4, 1), (16, 4, 4)]
)
def test_attention(causal, d, warps, stages):
    bm, bn, length = 16 * warps, 32, 150
    q, k, v = (random((length, d), "fp16", seed) for seed in (1, 2, 3))
    out = poisoned((length, d), "fp16")
    kernel = attention[(tile.cdiv(length, bm),)](
        q, k, v, out, d**-0.5, length, length, d, bm, bn, causal,
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    assert groups(kernel)[0] == warps + 4
    wide = [t.astype(np.float64) for t in (q, k, v)]
    scores = wide[0] @ wide[1].T * d**-0.5
    if causal:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    expected = p / p.sum(-1, keepdims=True) @ wide[2]
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=4e-3, atol=4e-3)


@tile.jit
def persistent_attention(
    q_desc, k_desc, v_desc, out_desc, scale, L, D: tl.constexpr, BM: tl.constexpr,
    BN: tl.constexpr,
):  # fmt: skip
    """Two loops in one: blocks below the diagonal, then those on it."""
    for start in tl.range(tl.program_id(0) * BM, L, tl.num_programs(0) * BM, warp_specialize=True):
        rows = start + tl.arange(0, BM)
        q = q_desc.load([start, 0])
        m = tl.full([BM], -1.0e30, tl.float32)
        total = tl.zeros([BM], tl.float32)
        acc = tl.zeros([BM, D], tl.float32)
        for part in tl.static_range(2):
            low, high = (0, start) if part == 0 else (start, tl.minimum(L, start + BM))
            for begin in range(low, high, BN):
                scores = tl.dot(q, k_desc.load([begin, 0]).T) * (scale * 1.4426950408889634)
                if part == 1:
                    cols = begin + tl.arange(0, BN)
                    scores = tl.where(rows[:, None] >= cols[None, :], scores, -1.0e30)
                m_new = tl.maximum(m, tl.max(scores, 1))
                p = tl.math.exp2(scores - m_new[:, None])
                alpha = tl.math.exp2(m - m_new)
                total = total * alpha + tl.sum(p, 1)
                acc = tl.dot(p.to(tl.float16), v_desc.load([begin, 0]), acc * alpha[:, None])
                m = m_new
        out_desc.store([start, 0], (acc / total[:, None]).to(tl.float16))


@pytest.mark.parametrize(("warps", "stages"), [(4, 2), (8, 3)])
def test_persistent_attention(warps, stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    d, bm, bn, length = 64, 16 * warps, 32, 300
    q, k, v = (random((length, d), "fp16", seed) for seed in (1, 2, 3))
    out = poisoned((length, d), "fp16")
    blocks = ((q, [bm, d]), (k, [bn, d]), (v, [bn, d]), (out, [bm, d]))
    kernel = persistent_attention[(2,)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks), d**-0.5, length, d,
        bm, bn, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    assert groups(kernel)[0] == warps + 4
    # One partition, and one set of buffers for both loops.
    text = kernel.asm["ttgir"]
    assert text.count("ttg.warp_specialize(") == 1
    assert len(re.findall(rf"local_alloc : \(\) -> !ttg.memdesc<{stages}x{bn}x{d}xf16", text)) == 2
    wide = [t.astype(np.float64) for t in (q, k, v)]
    scores = np.where(np.tri(length, dtype=bool), wide[0] @ wide[1].T * d**-0.5, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    expected = p / p.sum(-1, keepdims=True) @ wide[2]
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=4e-3, atol=4e-3)


@tile.jit
def by_both(q_ptr, k_desc, v_ptr, out_ptr, steps, N: tl.constexpr):
    """A dot through a descriptor, and one through pointers that uses its result."""
    n = tl.arange(0, N)
    at = n[:, None] * N + n[None, :]
    q = tl.load(q_ptr + at)
    acc = tl.zeros((N, N), tl.float32)
    for step in tl.range(0, steps, warp_specialize=True):
        scores = tl.dot(q, k_desc.load([0, step * N]))
        v = tl.load(v_ptr + step * N * N + at)
        acc = tl.dot((scores < 2.0).to(tl.float16), v, acc)
    tl.store(out_ptr + at, acc)


@pytest.mark.parametrize("warps", [2, 4])
def test_warps_that_copy_stay_together(warps, monkeypatch):
    """One thread starts the bulk copies, all of several warps the others: a warp that is late must
    not find that a buffer was filled and freed in the meantime."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    monkeypatch.setenv("TILE_SIM_SCHEDULE_SEED", "40")  # Some of these made a warp late.
    n, steps = 64, 3
    q, k, v = (random(s, "fp16", i) for i, s in enumerate([(n, n), (n, steps * n), (steps, n, n)]))
    out = poisoned((n, n), "fp32")
    kernel = by_both[(4,)](
        q, TensorDescriptor.from_tensor(k, [n, n]), v, out, steps, n, num_warps=warps, num_stages=2,
        raise_pointers=False,
    )  # fmt: skip
    text = kernel.asm["ptx"]
    assert BULK in text and "cp.async.mbarrier.arrive" in text
    # The thread that expects bytes, and the warps that copy: as many as multiply.
    assert len(re.findall(rf"init_barrier %\S+, {1 + warps} :", kernel.asm["ttgir"])) == 2
    expected = np.zeros((n, n))
    for step in range(steps):
        scores = q.astype(np.float64) @ k[:, step * n : (step + 1) * n].astype(np.float64)
        assert np.abs(scores - 2).min() > 1e-4
        expected += (scores < 2) @ v[step].astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-2)


@tile.jit
def batched(a_ptr, b_ptr, c_desc, COUNT, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Dots through pointers, each of another length; halves of each are stored."""
    rows, cols, ks = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    for i in tl.range(tl.program_id(0), COUNT, tl.num_programs(0), warp_specialize=True):
        a_ptrs = a_ptr + i * BM * K + rows[:, None] * K + ks[None, :]
        b_ptrs = b_ptr + i * BN * K + cols[None, :] * K + ks[:, None]
        acc = tl.zeros((BM, BN), tl.float32)
        for _ in range(i % (K // BK + 1)):
            acc = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), acc)
            a_ptrs += BK
            b_ptrs += BK
        halves = tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1))
        left, right = tl.split(halves)
        c_desc.store([i * BM, 0], left.to(tl.float16))
        c_desc.store([i * BM, BN // 2], right.to(tl.float16))


@pytest.mark.parametrize("warps", [4, 8])
def test_nest_of_other_lengths(warps, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    count, k, (bm, bn, bk) = 7, 96, (128, 64, 32)
    a, b = random((count, bm, k), "fp16", 1), random((count, bn, k), "fp16", 2)
    out = poisoned((count * bm, bn), "fp16")
    kernel = batched[(2,)](
        a, b, TensorDescriptor.from_tensor(out, [bm, bn // 2]), count, k, bm, bn, bk,
        num_warps=warps, num_stages=2,
    )  # fmt: skip
    for i in range(count):
        length = i % (k // bk + 1) * bk
        compare("fp16", out[i * bm : (i + 1) * bm], a[i, :, :length], b[i, :, :length].T)
    # One partition for all tiles; what is stored is on its way while the next is computed, and
    # the halves do not wait for each other.
    text = kernel.asm["ttgir"]
    assert groups(kernel)[0] == warps + 4 and text.count("scf.for") == 4
    assert text.count("async_tma_store_wait {complete") == 1


@tile.jit
def gathered(rows_ptr, table_ptr, a_ptr, b_ptr, c_ptr, K, PAGE: tl.constexpr):
    """Rows whose numbers were loaded before the loop, pages whose numbers are loaded in it."""
    n = tl.arange(0, 64)
    rows = tl.load(rows_ptr + n)
    acc = tl.zeros((64, 64), tl.float32)
    for k in tl.range(0, K, warp_specialize=True):
        page = tl.load(table_ptr + k)
        inside = tl.arange(0, PAGE)
        a = tl.load(a_ptr + rows[:, None] * (K * PAGE) + k * PAGE + inside[None, :])
        b = tl.load(b_ptr + (page * PAGE + inside)[:, None] * 64 + n[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + n[:, None] * 64 + n[None, :], acc)


@pytest.mark.parametrize("warps", [4, 8])
def test_addresses_from_memory(warps):
    rng = np.random.default_rng(1)
    steps, page = 5, 32
    rows = rng.integers(0, 100, 64).astype(np.int32)
    table = rng.permutation(9)[:steps].astype(np.int32)
    a, b = random((100, steps * page), "fp16", 1), random((9 * page, 64), "fp16", 2)
    out = poisoned((64, 64), "fp32")
    kernel = gathered[(1,)](rows, table, a, b, out, steps, page, num_warps=warps, num_stages=3)
    picked = b.reshape(9, page, 64)[table].reshape(steps * page, 64)
    compare("fp16", out, a[rows], picked)
    assert groups(kernel)[0] == warps + 4


@tile.jit
def accumulates(a_ptr, c_ptr, K):
    """What a load of the next iteration reads, this one writes."""
    n = tl.arange(0, 64)
    at = n[:, None] * 64 + n[None, :]
    acc = tl.zeros((64, 64), tl.float32)
    for k in tl.range(0, K, warp_specialize=True):
        a = tl.load(a_ptr + k * 4096 + at)
        acc = tl.dot(a, a, acc)
        tl.store(a_ptr + (k + 1) * 4096 + at, (acc / 64).to(tl.float16))
    tl.store(c_ptr + at, acc)


def test_what_cannot_be_divided():
    a, out = random((4, 64, 64), "fp16", 1), poisoned((64, 64), "fp32")
    expected, x = np.zeros((64, 64)), a[0].astype(np.float64)
    for _ in range(3):
        expected += x @ x
        x = (expected.astype(np.float32) / 64).astype(np.float16).astype(np.float64)
    kernel = accumulates[(1,)](a, out, 3, num_stages=3)
    np.testing.assert_allclose(out, expected, rtol=2e-2, atol=2e-2)
    assert "ttg.warp_specialize" not in kernel.asm["ttgir"] and kernel.num_warps == 4


def test_fp8_pairs():
    """Sums that are promoted every few steps, outside of the tensor core."""
    a = operand((64, 256), ml_dtypes.float8_e4m3fn, 1, False)
    b = operand((256, 64), ml_dtypes.float8_e4m3fn, 2, True)
    out = poisoned((64, 64), "fp32")
    matmul[(1, 1)](
        a, b, out, 64, 64, 256, *strides(a), *strides(b), 64, 1, 64, 64, 64, tl.float32,
        num_stages=3, max_num_imprecise_acc_default=32,
    )  # fmt: skip
    compare("e4m3", out, a, b)


@tile.jit
def masked_kernel(a, b, out, trips, k, K: tl.constexpr):
    i = tl.arange(0, 64)[:, None]
    j = tl.arange(0, 64)[None, :]
    acc = tl.zeros((64, 64), tl.float32)
    for t in tl.range(0, trips, warp_specialize=True):
        x = tl.load(a + i * K + t * 64 + j, mask=t * 64 + j < k, other=1.0)
        y = (x * x).to(tl.float16)
        # The mask is made after the first use of what is copied with it.
        z = tl.load(b + (t * 64 + i) * 64 + j, mask=(t * 64 + i) * 3 < k * 3, other=2.0)
        acc = tl.dot(y, z, acc)
    tl.store(out + i * 64 + j, acc)


@pytest.mark.parametrize("k", [256, 200])
def test_masks_that_are_made_between_uses(k):
    generator = np.random.default_rng(k)
    a, b = generator.integers(-3, 4, (2, 64 * 256)).astype(np.float16)
    a, b, out = a.reshape(64, 256), b.reshape(256, 64), poisoned((64, 64), "fp32")
    masked_kernel[(1,)](a, b, out, 4, k, K=256)
    a, b = a.astype(np.float32), b.astype(np.float32)
    a[:, k:], b[k:] = 1, 2
    np.testing.assert_array_equal(out, (a * a) @ b)


@tile.jit
def asserting(a_ptr, b_ptr, c_ptr, K, LIMIT: tl.constexpr, GUARD: tl.constexpr, N: tl.constexpr):
    rows, cols = tl.arange(0, N), tl.arange(0, N)
    places = rows[:, None] * N + cols[None, :]
    acc = tl.zeros((N, N), tl.float32)
    for k in tl.range(K, warp_specialize=True):
        if GUARD:
            tl.device_assert(k < 5, "too far")
        a = tl.load(a_ptr + k * N * N + places)
        b = tl.load(b_ptr + k * N * N + places)
        acc = tl.dot(a, b, acc)
        tl.device_assert(acc < LIMIT, "too large")
    tl.store(c_ptr + places, acc)


@sim_only  # After an assertion that fails a GPU's process can launch nothing more.
@pytest.mark.parametrize("warps", [4, 8])
def test_assertions(warps):
    """Those about data stay with the warps that compute it."""
    steps, n = 7, 128
    a, b = (random((steps, n, n), "fp16", seed=seed) for seed in (1, 2))
    expected = sum(x.astype(np.float64) @ y for x, y in zip(a, b, strict=True))
    most = float(np.ceil(max(np.abs(expected).max() * 2, 1.0)))
    # Whether addresses overflow is asserted otherwise, too.
    options = {"num_warps": warps, "sanitize_overflow": False}
    for debug in (False, True):
        out = poisoned((n, n), "fp32")
        kernel = asserting[(1,)](a, b, out, steps, most, False, n, debug=debug, **options)
        assert groups(kernel)[0] > warps
        assert ("__assertfail" in kernel.asm["ptx"]) == debug
        np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-2)
    with pytest.raises(tile.sim.SimulationError, match="too large"):
        asserting[(1,)](a, b, out, steps, -most, False, n, debug=True, **options)


@sim_only
def test_assertions_before_what_they_guard():
    """One warp reads nothing at an index that it has found too large."""
    steps, n = 7, 32
    a, b = (random((5, n, n), "fp16", seed=seed) for seed in (1, 2))
    out = poisoned((n, n), "fp32")
    with pytest.raises(tile.sim.SimulationError, match="too far"):
        asserting[(1,)](a, b, out, steps, 1e6, True, n, num_warps=1, debug=True)
