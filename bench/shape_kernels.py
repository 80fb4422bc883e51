"""Kernels whose extents are no powers of two, in two forms: as they are, and padded by masks.

`PADDED` is the extent of blocks. Where it is the real extent, nothing is masked.
"""

import tile
import tile.language as tl


@tile.jit
def softmax(x_ptr, out_ptr, columns, COLUMNS: tl.constexpr, PADDED: tl.constexpr):
    i = tl.arange(0, PADDED)
    at = tl.program_id(0).to(tl.int64) * columns + i
    if PADDED == COLUMNS:
        x = tl.load(x_ptr + at)
    else:
        x = tl.load(x_ptr + at, mask=i < columns, other=-float("inf"))
    x = x.to(tl.float32)
    powers = tl.exp(x - tl.max(x, axis=0))
    y = (powers / tl.sum(powers, axis=0)).to(out_ptr.dtype.element_ty)
    if PADDED == COLUMNS:
        tl.store(out_ptr + at, y)
    else:
        tl.store(out_ptr + at, y, mask=i < columns)


@tile.jit
def layernorm(
    x_ptr, weight_ptr, bias_ptr, out_ptr, columns, COLUMNS: tl.constexpr, PADDED: tl.constexpr
):
    i = tl.arange(0, PADDED)
    at = tl.program_id(0).to(tl.int64) * columns + i
    if PADDED == COLUMNS:
        x = tl.load(x_ptr + at).to(tl.float32)
        centered = x - tl.sum(x, axis=0) / COLUMNS
        weight = tl.load(weight_ptr + i)
        bias = tl.load(bias_ptr + i)
    else:
        inside = i < columns
        x = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
        centered = tl.where(inside, x - tl.sum(x, axis=0) / columns, 0.0)
        weight = tl.load(weight_ptr + i, mask=inside, other=0.0)
        bias = tl.load(bias_ptr + i, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(centered * centered, axis=0) / columns + 1e-5)
    y = (centered * scale * weight + bias).to(out_ptr.dtype.element_ty)
    if PADDED == COLUMNS:
        tl.store(out_ptr + at, y)
    else:
        tl.store(out_ptr + at, y, mask=i < columns)


@tile.jit
def matmul(
    a_ptr, b_ptr, c_ptr, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    PADDED: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, PADDED)
    k = tl.arange(0, BLOCK_K)
    a = a_ptr + m[:, None] * K + k[None, :]
    b = b_ptr + k[:, None] * N + n[None, :]
    inside = (n < N)[None, :]
    acc = tl.zeros((BLOCK_M, PADDED), tl.float32)
    for _ in range(0, K, BLOCK_K):
        if PADDED == BLOCK_N:
            acc = tl.dot(tl.load(a), tl.load(b), acc)
        else:
            acc = tl.dot(tl.load(a), tl.load(b, mask=inside, other=0.0), acc)
        a += BLOCK_K
        b += BLOCK_K * N
    c = c_ptr + m[:, None] * N + n[None, :]
    if PADDED == BLOCK_N:
        tl.store(c, acc.to(c_ptr.dtype.element_ty))
    else:
        tl.store(c, acc.to(c_ptr.dtype.element_ty), mask=inside)


@tile.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, length, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    SIZE: tl.constexpr, PADDED: tl.constexpr,
):  # fmt: skip
    """`scale` has log2(e) in it."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    j = tl.arange(0, BLOCK_N)
    d = tl.arange(0, PADDED)
    base = tl.program_id(1).to(tl.int64) * length * SIZE
    at = base + m[:, None] * SIZE + d[None, :]
    column, row = (d < SIZE)[:, None], (d < SIZE)[None, :]
    if PADDED == SIZE:
        q = tl.load(q_ptr + at)
    else:
        q = tl.load(q_ptr + at, mask=row, other=0.0)
    acc = tl.zeros((BLOCK_M, PADDED), tl.float32)
    most = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(0, length, BLOCK_N):
        keys = k_ptr + base + (start + j)[None, :] * SIZE + d[:, None]
        values = v_ptr + base + (start + j)[:, None] * SIZE + d[None, :]
        if PADDED == SIZE:
            k = tl.load(keys)
        else:
            k = tl.load(keys, mask=column, other=0.0)
        scores = tl.dot(q, k) * scale
        new = tl.maximum(most, tl.max(scores, 1))
        powers = tl.exp2(scores - new[:, None])
        factor = tl.exp2(most - new)
        total = total * factor + tl.sum(powers, 1)
        if PADDED == SIZE:
            v = tl.load(values)
        else:
            v = tl.load(values, mask=row, other=0.0)
        acc = tl.dot(powers.to(v.dtype), v, acc * factor[:, None])
        most = new
    out = (acc / total[:, None]).to(out_ptr.dtype.element_ty)
    if PADDED == SIZE:
        tl.store(out_ptr + at, out)
    else:
        tl.store(out_ptr + at, out, mask=row)
