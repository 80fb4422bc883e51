"""A product of operands with scales, as a user writes it: no instruction of Hopper takes them."""

import tile
import tile.language as tl


@tile.jit
def scaled_matmul(
    a, a_scale, b, b_scale, out, M, N, K, A: tl.constexpr, B: tl.constexpr, FAST: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """``out = a @ b``: `a` is M x K and `b` K x N. Each 32 elements along K share a scale.
    `a_scale` has M x K/32 of them, and `b_scale`, if there is one, N x K/32. Blocks divide the
    sizes."""
    PACK_A: tl.constexpr = 2 if A == "e2m1" else 1
    PACK_B: tl.constexpr = 2 if B == "e2m1" else 1
    blocks = N // BN
    rows = tl.program_id(0) // blocks * BM + tl.arange(0, BM)
    columns = tl.program_id(0) % blocks * BN + tl.arange(0, BN)
    left, right = tl.arange(0, BK // PACK_A), tl.arange(0, BK // PACK_B)
    groups = tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * (K // PACK_A) + k // PACK_A + left[None, :])
        y = tl.load(b + (k // PACK_B + right)[:, None] * N + columns[None, :])
        x_scale = tl.load(a_scale + rows[:, None] * (K // 32) + k // 32 + groups[None, :])
        y_scale = None
        if b_scale is not None:
            y_scale = tl.load(b_scale + columns[:, None] * (K // 32) + k // 32 + groups[None, :])
        acc = tl.dot_scaled(x, x_scale, A, y, y_scale, B, acc, fast_math=FAST)
    tl.store(out + rows[:, None] * N + columns[None, :], acc)
