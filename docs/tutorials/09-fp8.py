# %% [markdown]
# # 9. fp8 and block-scaled matmuls
#
# You multiply matrices of 8-bit floats. They need half the memory of fp16, and tensor cores multiply them faster.
# But 8 bits hold few digits and a small range, so the numbers need **scales**.
#
# The format here is e4m3: 4 bits of exponent, 3 bits of mantissa, 448 at most. tile calls it `tl.float8e4nv`. The
# package `ml_dtypes` gives NumPy this type (`pip install ml_dtypes`).
#
# ## One scale for a matrix
#
# Divide each matrix by a number, so that its largest element is 448. Multiply the result by both numbers.

# %%
import ml_dtypes
import numpy as np

import tile
import tile.language as tl


@tile.jit
def fp8_kernel(
    a_ptr, b_ptr, c_ptr, scale, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
        # b is stored transposed: its rows lie along K, as the tensor cores want fp8.
        b = tl.load(b_ptr + cols[None, :] * K + ks[:, None])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc * scale)


def quantize(x):
    scale = np.abs(x).max() / 448
    return (x / scale).astype(ml_dtypes.float8_e4m3fn), scale


rng = np.random.default_rng(8)
a = rng.standard_normal((64, 128)).astype(np.float32)
b = rng.standard_normal((64, 128)).astype(np.float32)
(a8, a_scale), (b8, b_scale) = quantize(a), quantize(b)
c = np.full((64, 64), np.nan, np.float32)
kernel = fp8_kernel[(1, 1)](a8, b8, c, a_scale * b_scale, 64, 128, BM=64, BN=64, BK=64)

# The kernel must compute the product of the fp8 numbers ...
product = (a8.astype(np.float64) @ b8.astype(np.float64).T) * a_scale * b_scale
scale_of_sums = np.linalg.norm(product) / 64
assert np.abs(c - product).max() < 2e-2 * scale_of_sums
# ... and these are near to the numbers that you had.
exact = a.astype(np.float64) @ b.astype(np.float64).T


def relative_error(c, exact):
    return np.linalg.norm(c - exact) / np.linalg.norm(exact)


print("bytes of a:", a.nbytes, "->", a8.nbytes)
print(f"error of the kernel:  {relative_error(c, product):.5f}")
print(f"error of fp8 numbers: {relative_error(c, exact):.5f}")
assert relative_error(c, exact) < 0.05

# %% [markdown]
# You see two errors. The second one is the price of 3 bits of mantissa. The first one is how exactly the tensor
# cores add up. On Hopper they add up fp8 operands with few bits: `max_num_imprecise_acc` of `tl.dot` says after how
# many elements the sum is added to a sum in fp32.
#
# ## A scale for each block of 32 elements
#
# A few large elements spoil the scale of a whole matrix: all others then become zero. Block-scaled formats
# (MXFP8) have a scale for each 32 elements along `K`. A scale is a power of two in one byte: the byte `s` stands
# for `2 ** (s - 127)`. `tl.dot_scaled` multiplies such matrices.


# %%
@tile.jit
def scaled_kernel(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, N: tl.constexpr, K: tl.constexpr):
    rows, ks = tl.arange(0, 64), tl.arange(0, K)
    cols, groups = tl.arange(0, N), tl.arange(0, K // 32)
    a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
    b = tl.load(b_ptr + cols[None, :] * K + ks[:, None])
    # Both have a row of scales for each row of the result, or for each column.
    a_scale = tl.load(a_scale_ptr + rows[:, None] * (K // 32) + groups[None, :])
    b_scale = tl.load(b_scale_ptr + cols[:, None] * (K // 32) + groups[None, :])
    c = tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e4m3")
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], c)


def quantize_blocks(x):
    blocks = x.reshape(x.shape[0], -1, 32)
    largest = np.abs(blocks).max(axis=2)
    exponents = np.ceil(np.log2(largest / 448)).astype(np.int32)
    scaled = blocks / 2.0 ** exponents[:, :, None]
    return (
        scaled.reshape(x.shape).astype(ml_dtypes.float8_e4m3fn),
        (exponents + 127).astype(np.uint8),
    )


# The first 32 columns of a are much larger than the others, and those of b much smaller.
a[:, :32] *= 1e6
b[:, :32] *= 1e-6
exact = a.astype(np.float64) @ b.astype(np.float64).T

(a8, a_bytes), (b8, b_bytes) = quantize_blocks(a), quantize_blocks(b)
scaled_kernel[(1,)](a8.view(np.uint8), a_bytes, b8.view(np.uint8), b_bytes, c, N=64, K=128)


def unpack(x8, scales):
    return x8.astype(np.float64) * np.repeat(2.0 ** (scales.astype(int) - 127), 32, axis=1)


product = unpack(a8, a_bytes) @ unpack(b8, b_bytes).T
np.testing.assert_allclose(c, product, rtol=1e-4, atol=1e-4 * np.abs(product).max())

(a8, a_scale), (b8, b_scale) = quantize(a), quantize(b)
by_one = np.empty_like(c)
fp8_kernel[(1, 1)](a8, b8, by_one, a_scale * b_scale, 64, 128, BM=64, BN=64, BK=64)
print(f"one scale for each matrix:     error {relative_error(by_one, exact):.3f}")
print(f"one scale for each 32 along K: error {relative_error(c, exact):.3f}")
assert relative_error(c, exact) < 0.05 < relative_error(by_one, exact)

# %% [markdown]
# Blackwell GPUs and AMD's gfx950 have instructions for these matmuls. On other targets the elements are scaled
# first, and multiplied as bf16. The results are the same: [numerics](../numerics.md#scaled-matmuls) has the rule.
#
# Next: [find the race](10-find-the-race.md).
