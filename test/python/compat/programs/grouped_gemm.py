"""Matrix products of several sizes in one launch: the operands are addresses in memory."""

import numpy as np
import triton
import triton.language as tl


def num_sms():
    return 3


@triton.autotune(configs=[
    triton.Config({"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 32,
                   "NUM_SM": num_sms()}),
], key=["group_size"])  # fmt: skip
@triton.jit
def grouped_matmul_kernel(
    memory,  # What the addresses are in: the simulator lets a kernel touch arguments only.
    group_a_ptrs,
    group_b_ptrs,
    group_c_ptrs,
    group_gemm_sizes,
    g_lds,
    group_size,
    NUM_SM: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
):
    tile_idx = tl.program_id(0)
    last_problem_end = 0
    for g in range(group_size):
        gm = tl.load(group_gemm_sizes + g * 3)
        gn = tl.load(group_gemm_sizes + g * 3 + 1)
        gk = tl.load(group_gemm_sizes + g * 3 + 2)
        num_m_tiles = tl.cdiv(gm, BLOCK_SIZE_M)
        num_n_tiles = tl.cdiv(gn, BLOCK_SIZE_N)
        num_tiles = num_m_tiles * num_n_tiles
        while tile_idx >= last_problem_end and tile_idx < last_problem_end + num_tiles:
            k = gk
            lda = tl.load(g_lds + g * 3)
            ldb = tl.load(g_lds + g * 3 + 1)
            ldc = tl.load(g_lds + g * 3 + 2)
            a_ptr = tl.load(group_a_ptrs + g).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(group_b_ptrs + g).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(group_c_ptrs + g).to(tl.pointer_type(tl.float16))
            tile_idx_in_gemm = tile_idx - last_problem_end
            tile_m_idx = tile_idx_in_gemm // num_n_tiles
            tile_n_idx = tile_idx_in_gemm % num_n_tiles
            offs_am = tile_m_idx * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
            offs_bn = tile_n_idx * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
            offs_k = tl.arange(0, BLOCK_SIZE_K)
            a_ptrs = a_ptr + offs_am[:, None] * lda + offs_k[None, :]
            b_ptrs = b_ptr + offs_k[:, None] * ldb + offs_bn[None, :]
            accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
            for _ in range(0, tl.cdiv(k, BLOCK_SIZE_K)):
                tl.multiple_of(a_ptrs, [16, 16])
                tl.multiple_of(b_ptrs, [16, 16])
                a = tl.load(a_ptrs)
                b = tl.load(b_ptrs)
                accumulator += tl.dot(a, b)
                a_ptrs += BLOCK_SIZE_K
                b_ptrs += BLOCK_SIZE_K * ldb
            c = accumulator.to(tl.float16)
            offs_cm = tile_m_idx * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
            offs_cn = tile_n_idx * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
            c_ptrs = c_ptr + ldc * offs_cm[:, None] + offs_cn[None, :]
            tl.store(c_ptrs, c)
            tile_idx += NUM_SM
        last_problem_end = last_problem_end + num_tiles


rng = np.random.default_rng(0)
sizes = [(64, 32, 32), (32, 64, 96), (96, 32, 64)]
count = sum(m * k + k * n + m * n for m, n, k in sizes)
memory = np.zeros(count, np.float16)
used = 0


def take(rows, columns):
    global used
    part = memory[used : used + rows * columns].reshape(rows, columns)
    used += rows * columns
    return part


group_A = [take(m, k) for m, n, k in sizes]
group_B = [take(k, n) for m, n, k in sizes]
group_C = [take(m, n) for m, n, k in sizes]
for array in group_A + group_B:
    array[...] = rng.standard_normal(array.shape)
addresses = [np.array([a.ctypes.data for a in g], np.int64) for g in (group_A, group_B, group_C)]


flat = np.array(sizes, np.int32).reshape(-1)
lds = np.array([(k, n, n) for m, n, k in sizes], np.int32).reshape(-1)
grid = lambda META: (META["NUM_SM"],)  # noqa: E731
grouped_matmul_kernel[grid](memory, *addresses, flat, lds, len(sizes))
for a, b, c in zip(group_A, group_B, group_C, strict=True):
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=2e-2, rtol=1e-2)
