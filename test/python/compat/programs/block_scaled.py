"""A product of matrices in a microscaling format: 32 elements share a scale."""

import ml_dtypes
import numpy as np
import triton
import triton.language as tl

VEC_SIZE = 32


@triton.jit
def block_scaled_matmul_kernel(a_ptr, a_scale, b_ptr, b_scale, output, M, N, K,
                               stride_sa, stride_sb, FORMAT: tl.constexpr, VEC: tl.constexpr,
                               BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                               BLOCK_K: tl.constexpr):  # fmt: skip
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    pid_m = pid % num_pid_m
    pid_n = pid // num_pid_m
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    offs_s = tl.arange(0, BLOCK_K // VEC)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(K, BLOCK_K), num_stages=2):
        a = tl.load(a_ptr + offs_m[:, None] * K + k * BLOCK_K + offs_k[None, :])
        b = tl.load(b_ptr + offs_n[:, None] * K + k * BLOCK_K + offs_k[None, :])
        first = k * (BLOCK_K // VEC)
        scale_a = tl.load(a_scale + offs_m[:, None] * stride_sa + first + offs_s[None, :])
        scale_b = tl.load(b_scale + offs_n[:, None] * stride_sb + first + offs_s[None, :])
        accumulator = tl.dot_scaled(a, scale_a, FORMAT, b.T, scale_b, FORMAT, accumulator)
    tl.store(output + offs_m[:, None] * N + offs_n[None, :], accumulator)


rng = np.random.default_rng(0)
M, N, K = 64, 64, 128
a, b = (rng.standard_normal((n, K)).astype(ml_dtypes.float8_e4m3fn) for n in (M, N))
scale_a, scale_b = (rng.integers(125, 130, (n, K // VEC_SIZE), np.uint8) for n in (M, N))
out = np.empty((M, N), np.float32)
grid = (triton.cdiv(M, 32) * triton.cdiv(N, 32), 1)
block_scaled_matmul_kernel[grid](a, scale_a, b, scale_b, out, M, N, K, K // VEC_SIZE, K // VEC_SIZE,
                                 "e4m3", VEC_SIZE, 32, 32, 64, num_stages=2)  # fmt: skip


def dequantize(x, scale):
    return x.astype(np.float32) * np.repeat(2.0 ** (scale.astype(np.int32) - 127), VEC_SIZE, axis=1)


expected = dequantize(a, scale_a) @ dequantize(b, scale_b).T
np.testing.assert_allclose(out, expected, rtol=2e-2, atol=np.abs(expected).max() * 1e-2)
