# %% [markdown]
# # 6. Attention
#
# You write attention in one kernel. It never stores the matrix of scores, whose size is the square of the
# sequence length.
#
# For one head, attention is `softmax(q @ k.T / sqrt(D)) @ v`. `q`, `k` and `v` have a row for each position of
# the sequence, and `D` columns.
#
# ## The idea
#
# A softmax needs the largest score and the sum of a whole row. But you may compute both while you go:
#
# - Keep the largest score so far, `top`, the sum so far, `total`, and the weighted sum of values so far, `acc`.
# - Take the next block of keys. If it has a larger score, all earlier weights were too large by the factor
#   `exp(new_top - top)`. Multiply `total` and `acc` by `exp(top - new_top)`.
# - Divide by `total` at the end.

# %%
import math

import numpy as np

import tile
import tile.language as tl


@tile.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, L,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * L * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    q_offsets = head + rows[:, None] * D + dims[None, :]
    q = tl.load(q_ptr + q_offsets, mask=rows[:, None] < L, other=0.0)

    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    # A query sees no later key: the loop ends at the last row of this block.
    end = tl.minimum((tl.program_id(0) + 1) * BM, L) if CAUSAL else L
    for start in range(0, end, BN):
        cols = start + tl.arange(0, BN)
        offsets = head + cols[:, None] * D + dims[None, :]
        k = tl.load(k_ptr + offsets, mask=cols[:, None] < L, other=0.0)
        v = tl.load(v_ptr + offsets, mask=cols[:, None] < L, other=0.0)

        scores = tl.dot(q, k.T) * scale
        seen = cols[None, :] < L
        if CAUSAL:
            seen = seen & (cols[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, -float("inf"))

        new_top = tl.maximum(top, tl.max(scores, axis=1))
        weights = tl.exp(scores - new_top[:, None])
        shrink = tl.exp(top - new_top)
        total = total * shrink + tl.sum(weights, axis=1)
        acc = tl.dot(weights.to(v.dtype), v, acc * shrink[:, None])
        top = new_top
    out = acc / total[:, None]
    tl.store(out_ptr + q_offsets, out.to(tl.float16), mask=rows[:, None] < L)


# %% [markdown]
# - The grid has two axes: blocks of queries, and heads.
# - `CAUSAL` is a constant, so `if CAUSAL:` is decided while the kernel compiles. No branch stays.
# - In the first step `top` is minus infinity. Each row sees at least one key in its first block, so `new_top` is
#   a number, and `exp(-inf - new_top)` is 0. If a whole block were unseen, this would be `-inf - -inf`, a NaN.


# %%
def attention(q, k, v, causal):
    heads, length, size = q.shape
    out = np.full_like(q, np.nan)
    attention_kernel[(tile.cdiv(length, 32), heads)](
        q, k, v, out, 1 / math.sqrt(size), length, D=size, BM=32, BN=32, CAUSAL=causal
    )
    return out


def reference(q, k, v, causal):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(scores.shape[1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return weights / weights.sum(axis=2, keepdims=True) @ v


rng = np.random.default_rng(5)
for causal in (False, True):
    q, k, v = rng.standard_normal((3, 2, 75, 32)).astype(np.float16)
    out = attention(q, k, v, causal)
    error = np.abs(out - reference(q, k, v, causal)).max()
    print(f"causal={causal}: largest error {error:.4f}")
    assert error < 5e-3

# %% [markdown]
# The error is that of fp16: the weights are rounded to fp16 before the second matmul.
#
# ## Faster
#
# [examples/attention.py](../../examples/attention.py) has the next steps. It uses `exp2` instead of `exp`, which
# is one instruction. It handles the blocks without a mask in a loop of their own. It copies through tensor
# descriptors. [examples/attention_backward.py](../../examples/attention_backward.py) has the gradients.
#
# Next: [jagged reductions](07-jagged.md), where rows have different lengths.
