"""The kernels of the IR corpus (test/lit/Corpus), as programs.

Each entry of `PROGRAMS` is a kernel, the types of its arguments and its
constants; compiled, they compute what the corpus file of that name computes.
"""

from __future__ import annotations

import tile
import tile.language as tl


@tile.jit
def add_kernel(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(o_ptr + offsets, total, mask=mask)


@tile.jit
def argmax_rows(x_ptr, o_ptr, v_ptr, N, R: tl.constexpr, C: tl.constexpr):
    rows = tl.arange(0, R)
    columns = tl.arange(0, C)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    value, index = tl.max(x, axis=1, return_indices=True)
    tl.store(v_ptr + rows, value)
    tl.store(o_ptr + rows, index)


@tile.jit
def asm_elementwise(x_ptr, o_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    y = tl.inline_asm_elementwise(
        "shf.l.wrap.b32 $0, $1, $1, 7;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(o_ptr + offsets, y)


@tile.jit
def atomics(x_ptr, o_ptr, lock_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.atomic_add(o_ptr + offsets % 32, x, mask=mask)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.atomic_max(o_ptr + 32, tl.sum(x))
    tl.atomic_xchg(lock_ptr, 0)


@tile.jit
def desc_copy(in_ptr, o_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(in_ptr, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(o_ptr, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([m, n], source.load([m, n]) + 1.0)


@tile.jit
def fp8_gemm(
    a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):  # B is stored by columns.
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + (i + k)[None, :])
        b = tl.load(b_ptr + n[None, :] * K + (i + k)[:, None])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * BN + n[None, :], acc)


@tile.jit
def gather_join(x_ptr, i_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + offsets)
    y = tl.gather(x, tl.load(i_ptr + offsets), axis=1)
    even, odd = tl.split(tl.reshape(y, (M, N // 2, 2)))
    z = tl.join(even * 2, odd)
    tl.store(o_ptr + offsets, tl.reshape(tl.permute(z, (0, 2, 1)), (M, N)))


@tile.jit
def gemm(
    a_ptr, b_ptr, c_ptr, M, N, K, sa, sb, sc,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = a_ptr + m[:, None] * sa + k[None, :]
    b = b_ptr + k[:, None] * sb + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(a), tl.load(b), acc)
        a += BK
        b += BK * sb
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c_ptr + m[:, None] * sc + n[None, :], acc.to(tl.float16), mask=mask)


@tile.jit
def gemm_bias_relu_chain(a_ptr, b_ptr, w_ptr, c_ptr, K, B: tl.constexpr):
    r = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for i in tl.range(0, K, B, num_stages=4):
        a = tl.load(a_ptr + r[:, None] * K + (i + r)[None, :])
        b = tl.load(b_ptr + (i + r)[:, None] * B + r[None, :])
        acc = tl.dot(a, b, acc)
    hidden = tl.maximum(acc, 0.0).to(tl.bfloat16)
    w = tl.load(w_ptr + r[:, None] * B + r[None, :])
    tl.store(c_ptr + r[:, None] * B + r[None, :], tl.dot(hidden, w))


@tile.jit
def scan_hist(x_ptr, o_ptr, h_ptr, n, N: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.store(o_ptr + offsets, tl.cumsum(x, 0))
    tl.store(h_ptr + tl.arange(0, BINS), tl.histogram(x % BINS, BINS))


@tile.jit
def row_softmax(x_ptr, o_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(o_ptr + row * stride + columns, e / tl.sum(e, 0), mask=mask)


@tile.jit
def sort_rand(x_ptr, o_ptr, seed, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets) + tl.rand(seed, offsets)
    tl.store(o_ptr + offsets, tl.sort(x))


@tile.jit
def transpose2d(x_ptr, o_ptr, M, N, B: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N))
    mask = (n[:, None] < N) & (m[None, :] < M)
    tl.store(o_ptr + n[:, None] * M + m[None, :], tl.trans(x), mask=mask)


#: Corpus file -> (kernel, signature, constants). An argument's type that ends
#: in ":16" is a multiple of 16.
PROGRAMS = {
    "add": (add_kernel, "*fp32:16 *fp32:16 *fp32:16 i32", {"BLOCK": 1024}),
    "argmax": (argmax_rows, "*fp32:16 *i32:16 *fp32:16 i32:16", {"R": 32, "C": 128}),
    "asm_elementwise": (asm_elementwise, "*i32:16 *i32:16", {"N": 256}),
    "atomics": (atomics, "*fp32:16 *fp32:16 *i32:16 i32", {"BLOCK": 256}),
    "desc_copy": (desc_copy, "*fp16:16 *fp16:16 i32:16 i32:16", {"BM": 64, "BN": 64}),
    "fp8_gemm": (
        fp8_gemm,
        "*fp8e4nv:16 *fp8e4nv:16 *fp32:16 i32:16",
        {"BM": 128, "BN": 128, "BK": 64},
    ),
    "gather_join": (gather_join, "*fp32:16 *i32:16 *fp32:16", {"M": 32, "N": 64}),
    "gemm": (
        gemm,
        "*fp16:16 *fp16:16 *fp16:16" + " i32:16" * 6,
        {"BM": 128, "BN": 128, "BK": 32},
    ),
    "gemm_chain": (gemm_bias_relu_chain, "*bf16:16 *bf16:16 *bf16:16 *fp32:16 i32:16", {"B": 64}),
    "gemm_tf32": (
        gemm,
        "*fp32:16 *fp32:16 *fp16:16" + " i32:16" * 6,
        {"BM": 64, "BN": 64, "BK": 32},
    ),
    "scan_hist": (scan_hist, "*i32:16 *i32:16 *i32:16 i32", {"N": 512, "BINS": 64}),
    "softmax": (row_softmax, "*fp32:16 *fp32:16 i32:16 i32", {"BLOCK": 2048}),
    "sort_rand": (sort_rand, "*fp32:16 *fp32:16 i32", {"N": 256}),
    "transpose": (transpose2d, "*fp32:16 *fp32:16 i32:16 i32:16", {"B": 64}),
}
