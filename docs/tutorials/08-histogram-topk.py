# %% [markdown]
# # 8. Histogram and top-k
#
# You count values, and you find the largest ones. Both need elements to meet that lie in different threads. The
# language has a function for each.
#
# ## Histogram
#
# `tl.histogram(x, bins)` counts how often each of `0 .. bins - 1` occurs in a block. Each program counts its own
# block. Then it adds its counts to those of all programs. `tl.atomic_add` adds to memory so that no addition of
# another program gets lost.

# %%
import numpy as np

import tile
import tile.language as tl


@tile.jit
def histogram_kernel(x_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0)
    # The mask keeps the elements behind the end from being counted as zeros.
    counts = tl.histogram(x, BINS, mask=mask)
    tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts)


rng = np.random.default_rng(7)
x = rng.binomial(15, 0.4, 3000).astype(np.int32)
counts = np.zeros(16, np.int32)
histogram_kernel[(tile.cdiv(x.size, 512),)](x, counts, x.size, BINS=16, BLOCK=512)

np.testing.assert_array_equal(counts, np.bincount(x, minlength=16))
for value, count in enumerate(counts[:12]):
    print(f"{value:2} {count:4} {'#' * (count // 20)}")

# %% [markdown]
# The programs first count in their own registers and shared memory. So there are 16 atomic additions for each
# block of 512 elements, not 512.
#
# ## Top-k
#
# `tl.topk(x, k)` gives the `k` largest elements along the last dimension, the largest first. `k` and the length
# of the block are powers of two.


# %%
@tile.jit
def topk_kernel(x_ptr, out_ptr, n_cols, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"))
    tl.store(out_ptr + row * K + tl.arange(0, K), tl.topk(x, K))


scores = rng.standard_normal((5, 100)).astype(np.float32)
best = np.full((5, 4), np.nan, np.float32)
topk_kernel[(5,)](scores, best, 100, K=4, BLOCK=128)
np.testing.assert_array_equal(best, -np.sort(-scores, axis=1)[:, :4])
print(best.round(2))

# %% [markdown]
# ## Top-k with indices
#
# Often you want to know *where* the largest elements are. Pack both into one 64-bit integer: the value into the
# upper half, and the column into the lower half. The order of the packed numbers is the order of the values.
#
# The bits of a float have almost the order of the float, read as an integer. Only negative floats run backwards:
# flip their other bits. (In this order -0.0 comes after 0.0.)


# %%
@tile.jit
def topk_indices_kernel(x_ptr, value_ptr, index_ptr, n_cols, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"))
    bits = x.to(tl.int32, bitcast=True)
    ordered = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    # Of equal values the first column wins: it has the larger lower half.
    packed = (ordered.to(tl.int64) << 32) | (BLOCK - 1 - cols).to(tl.int64)
    best = tl.topk(packed, K)
    ordered = (best >> 32).to(tl.int32)
    bits = tl.where(ordered < 0, ordered ^ 0x7FFFFFFF, ordered)
    k = tl.arange(0, K)
    tl.store(value_ptr + row * K + k, bits.to(tl.float32, bitcast=True))
    tl.store(index_ptr + row * K + k, BLOCK - 1 - (best & 0xFFFFFFFF).to(tl.int32))


# Few different values, so that there are equal ones.
scores = rng.integers(-9, 0, (5, 100)).astype(np.float32)
index = np.full((5, 4), -1, np.int32)
topk_indices_kernel[(5,)](scores, best, index, 100, K=4, BLOCK=128)
expected = np.argsort(-scores, axis=1, kind="stable")[:, :4]
np.testing.assert_array_equal(index, expected)
np.testing.assert_array_equal(best, np.take_along_axis(scores, expected, axis=1))
print(index)

# %% [markdown]
# Next: [fp8 and block-scaled matmuls](09-fp8.md).
