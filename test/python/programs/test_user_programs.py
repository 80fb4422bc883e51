"""Kernels of the kinds that people write, run and compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from reference import DTYPES, close, poisoned, random

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


@tile.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@tile.autotune(
    configs=[
        tile.Config({"BM": 32, "BN": 64, "BK": 32, "GROUP": 2}, num_stages=3, num_warps=4),
    ],
    key=["M", "N", "K"],
)
@tile.jit
def grouped_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,  # noqa: E501
):  # fmt: skip
    pid = tl.program_id(axis=0)
    num_m, num_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    width = GROUP * num_n
    group = pid // width
    size = min(num_m - group * GROUP, GROUP)
    pid_m = group * GROUP + (pid % width) % size
    pid_n = (pid % width) // size
    tl.assume(pid_m >= 0)
    rm = (pid_m * BM + tl.arange(0, BM)) % M
    rn = (pid_n * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + (rm[:, None] * stride_am + rk[None, :] * stride_ak)
    b_ptrs = b_ptr + (rk[:, None] * stride_bk + rn[None, :] * stride_bn)
    accumulator = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=rk[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=rk[:, None] < K - k * BK, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    if ACTIVATION == "leaky_relu":
        accumulator = leaky_relu(accumulator)
    c = accumulator.to(tl.float16)
    cm = pid_m * BM + tl.arange(0, BM)
    cn = pid_n * BN + tl.arange(0, BN)
    c_ptrs = c_ptr + stride_cm * cm[:, None] + stride_cn * cn[None, :]
    tl.store(c_ptrs, c, mask=(cm[:, None] < M) & (cn[None, :] < N))


@pytest.mark.parametrize("activation", ["", "leaky_relu"])
def test_grouped_matmul(activation):
    m, n, k = 100, 130, 70
    a, b = random((m, k), "fp16", 1), random((k, n), "fp16", 2)
    c = poisoned((m, n), "fp16")
    grouped_matmul[lambda meta: (tile.cdiv(m, meta["BM"]) * tile.cdiv(n, meta["BN"]),)](
        a, b, c, m, n, k, k, 1, n, 1, n, 1, ACTIVATION=activation
    )
    expected = a.astype(np.float64) @ b.astype(np.float64)
    if activation:
        expected = np.where(expected >= 0, expected, 0.01 * expected)
    close(c, expected, "fp16", 10)


@tile.jit
def layer_norm(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + cols, (x - mean) * rstd * w + b, mask=mask)


@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
@pytest.mark.parametrize("n", [64, 1000])
def test_layer_norm(dtype, n):
    rows = 5
    x, w, b = random((rows, n), dtype, 1), random(n, dtype, 2), random(n, dtype, 3)
    y, mean, rstd = poisoned((rows, n), dtype), poisoned(rows, "fp32"), poisoned(rows, "fp32")
    layer_norm[(rows,)](x, y, w, b, mean, rstd, n, n, 1e-5, BLOCK=256)
    wide = x.astype(np.float64)
    centre = wide.mean(1, keepdims=True)
    scale = 1 / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    close(mean, centre[:, 0], "fp32", 10)
    close(rstd, scale[:, 0], "fp32", 10)
    close(y, (wide - centre) * scale * w.astype(np.float64) + b.astype(np.float64), dtype, 10)


@tile.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def test_dropout():
    x = np.abs(random(3000, "fp32", 1)) + np.float32(0.1)
    out, again = poisoned(3000, "fp32"), poisoned(3000, "fp32")
    dropout[(3,)](x, out, 3000, 0.25, 123, BLOCK=1024)
    dropout[(3,)](x, again, 3000, 0.25, 123, BLOCK=1024)
    np.testing.assert_array_equal(out, again)
    kept = out != 0
    assert 0.7 < kept.mean() < 0.8
    close(out[kept], x[kept] / 0.75, "fp32", 4)


@tile.jit
def attention_inner(acc, l_i, m_i, q, k_base, v_base, start, end, rows, scale, D: tl.constexpr, BN: tl.constexpr,  # noqa: E501
                    CAUSAL: tl.constexpr):  # fmt: skip
    cols = tl.arange(0, BN)
    d = tl.arange(0, D)
    for begin in tl.range(start, end, BN):
        begin = tl.multiple_of(begin, BN)
        k = tl.load(k_base + (begin + cols)[None, :] * D + d[:, None])
        qk = tl.dot(q, k) * scale
        if CAUSAL:
            qk = tl.where(rows[:, None] >= (begin + cols)[None, :], qk, -1.0e6)
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_new[:, None])
        alpha = tl.math.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_base + (begin + cols)[:, None] * D + d[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_new
    return acc, l_i, m_i


@tile.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, sm_scale, L, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,  # noqa: E501
              CAUSAL: tl.constexpr):  # fmt: skip
    start_m = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64) * L * D
    rows = start_m * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + head + rows[:, None] * D + d[None, :])
    m_i = tl.zeros([BM], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BM], dtype=tl.float32) + 1.0
    l_i = l_i * 0
    acc = tl.zeros([BM, D], dtype=tl.float32)
    scale = sm_scale * 1.44269504
    if CAUSAL:
        acc, l_i, m_i = attention_inner(acc, l_i, m_i, q, k_ptr + head, v_ptr + head, 0, start_m * BM, rows,  # noqa: E501
                                        scale, D, BN, False)  # fmt: skip
        acc, l_i, m_i = attention_inner(acc, l_i, m_i, q, k_ptr + head, v_ptr + head, start_m * BM,
                                        (start_m + 1) * BM, rows, scale, D, BN, True)  # fmt: skip
    else:
        acc, l_i, m_i = attention_inner(acc, l_i, m_i, q, k_ptr + head, v_ptr + head, 0, L, rows, scale, D, BN,  # noqa: E501
                                        False)  # fmt: skip
    acc = acc / l_i[:, None]
    tl.store(out_ptr + head + rows[:, None] * D + d[None, :], acc.to(out_ptr.dtype.element_ty))


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    heads, length, d = 2, 64, 32
    q, k, v = (random((heads, length, d), "fp16", seed) for seed in (1, 2, 3))
    out = poisoned((heads, length, d), "fp16")
    attention[(length // 32, heads)](q, k, v, out, 0.5, length, D=d, BM=32, BN=32, CAUSAL=causal)
    wide = [t.astype(np.float64) for t in (q, k, v)]
    scores = wide[0] @ wide[1].transpose(0, 2, 1) * 0.5
    if causal:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    close(out, p / p.sum(-1, keepdims=True) @ wide[2], "fp16", 10)


@tile.jit
def grouped_gemm(a_table, b_table, c_table, sizes, count, PROGRAMS: tl.constexpr, B: tl.constexpr):
    index = tl.program_id(0)
    before = 0
    for g in range(count):
        m, n, k = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        tiles_n = tl.cdiv(n, B)
        tiles = tl.cdiv(m, B) * tiles_n
        while index >= before and index < before + tiles:
            at = index - before
            rm = (at // tiles_n) * B + tl.arange(0, B)
            rn = (at % tiles_n) * B + tl.arange(0, B)
            rk = tl.arange(0, B)
            a = a_table + tl.load(sizes + 100 + g * 3)
            b = b_table + tl.load(sizes + 101 + g * 3)
            c = c_table + tl.load(sizes + 102 + g * 3)
            acc = tl.zeros((B, B), tl.float32)
            for at_k in range(0, k, B):
                kk = at_k + rk
                x = tl.load(
                    a + rm[:, None] * k + kk[None, :],
                    mask=(rm[:, None] < m) & (kk[None, :] < k),
                    other=0.0,
                )
                y = tl.load(
                    b + kk[:, None] * n + rn[None, :],
                    mask=(kk[:, None] < k) & (rn[None, :] < n),
                    other=0.0,
                )
                acc += tl.dot(x, y)
            tl.store(
                c + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < m) & (rn[None, :] < n)
            )
            index += PROGRAMS
        before += tiles


def test_grouped_gemm_with_persistent_programs():
    shapes = [(40, 20, 16), (16, 50, 33), (5, 5, 64)]
    a = [random((m, k), "fp16", i) for i, (m, n, k) in enumerate(shapes)]
    b = [random((k, n), "fp16", i + 9) for i, (m, n, k) in enumerate(shapes)]
    sizes = np.zeros(128, np.int32)
    offsets = [0, 0, 0]
    for i, (m, n, k) in enumerate(shapes):
        sizes[3 * i : 3 * i + 3] = m, n, k
        sizes[100 + 3 * i : 103 + 3 * i] = offsets
        offsets = [offsets[0] + m * k, offsets[1] + k * n, offsets[2] + m * n]
    flat_a = np.concatenate([x.ravel() for x in a])
    flat_b = np.concatenate([x.ravel() for x in b])
    c = poisoned(offsets[2], "fp32")
    grouped_gemm[(3,)](flat_a, flat_b, c, sizes, 3, PROGRAMS=3, B=16)
    expected = np.concatenate(
        [(x.astype(np.float64) @ y.astype(np.float64)).ravel() for x, y in zip(a, b, strict=True)]
    )
    close(c, expected, "fp32", 50)


@tile.jit
def low_level_scan(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    carry = tl.full((), 0, tl.int32)
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
        total = tl.cumsum(x, 0) + carry
        tl.store(out_ptr + offsets, total, mask=offsets < n)
        carry += tl.sum(x, 0)


def test_scan_in_blocks():
    x, out = random(1000, "i32", 1), poisoned(1000, "i32")
    low_level_scan[(1,)](x, out, 1000, BLOCK=128)
    np.testing.assert_array_equal(out, np.cumsum(x).astype(DTYPES["i32"]))


@tile.jit
def _shifted(values, offsets: tl.constexpr, by: tl.constexpr):
    return values + offsets * by


@tile.jit
def passes_tensors_as_constants(out, n):
    offsets = tl.arange(0, 8)
    tl.store(out + offsets, _shifted(n, offsets, 3))


def test_a_constexpr_parameter_of_a_called_function_takes_tensors():
    # Programs annotate whatever is not assigned, and rely on it.
    out = np.zeros(8, np.int32)
    passes_tensors_as_constants[(1,)](out, 5)
    assert out.tolist() == [5 + 3 * i for i in range(8)]
