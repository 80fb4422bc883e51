# %% [markdown]
# # 4. Dropout
#
# You use random numbers. Dropout sets each element to zero with the probability `p`, and divides the others by
# `1 - p`. The backward pass must drop the same elements.
#
# A usual way is to store a mask. tile's random numbers make it unnecessary. `tl.rand(seed, offsets)` is a
# function without a state: the same seed and the same offset always give the same number. So the backward pass
# computes the mask again.

# %%
import numpy as np

import tile
import tile.language as tl


@tile.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    # One number from 0 up to 1 for each element; it depends on the seed and the offset only.
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def dropout(x, p, seed, block=512):
    out = np.full_like(x, np.nan)
    dropout_kernel[(tile.cdiv(x.size, block),)](x, out, x.size, p, seed, BLOCK=block)
    return out


# %%
rng = np.random.default_rng(3)
# No element of the input is zero: a zero in the output was dropped.
x = rng.uniform(1, 2, 10_000).astype(np.float32)
out = dropout(x, p=0.3, seed=42)

kept = out != 0
np.testing.assert_allclose(out[kept], x[kept] / np.float32(0.7), rtol=1e-6)
print(f"dropped: {1 - kept.mean():.3f} of the elements")
assert abs(1 - kept.mean() - 0.3) < 0.02

# %% [markdown]
# ## The backward pass is the same kernel
#
# The gradient of dropout is dropout of the gradient, with the same seed. The block size may differ: numbers
# belong to offsets, not to threads.

# %%
dy = rng.uniform(1, 2, 10_000).astype(np.float32)
dx = dropout(dy, p=0.3, seed=42, block=128)
assert np.array_equal(dx != 0, kept)
print("the backward pass drops the same elements")

other = dropout(x, p=0.3, seed=43) != 0
print(f"another seed: {(other == kept).mean():.3f} of the decisions are equal")
assert abs((other == kept).mean() - (0.7**2 + 0.3**2)) < 0.02

# %% [markdown]
# Two independent decisions are equal with the probability `0.7 * 0.7 + 0.3 * 0.3 = 0.58`. That is what you see.
#
# ## The numbers are known
#
# The numbers are those of Philox, a published generator. All machines give the same bits. Here is Philox in
# NumPy: ten rounds of multiplications.


# %%
def philox(seed, offsets):
    counter = [offsets.astype(np.uint64), *(np.zeros(offsets.size, np.uint64) for _ in range(3))]
    key = [np.uint64(seed), np.uint64(0)]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a = counter[0] * np.uint64(0xD2511F53)
        b = counter[2] * np.uint64(0xCD9E8D57)
        high_a, high_b = a >> np.uint64(32), b >> np.uint64(32)
        counter = [high_b ^ counter[1] ^ key[0], b & low, high_a ^ counter[3] ^ key[1], a & low]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    return counter[0].astype(np.uint32)


@tile.jit
def randint_kernel(out_ptr, seed, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.randint(seed, offsets))


numbers = np.empty(256, np.uint32)
randint_kernel[(1,)](numbers, 42, BLOCK=256)
np.testing.assert_array_equal(numbers, philox(42, np.arange(256)))
print("256 numbers equal those of NumPy, bit for bit; the first is", numbers[0])

# %% [markdown]
# Next: [a matmul with autotuning](05-matmul.md).
