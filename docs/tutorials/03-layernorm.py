# %% [markdown]
# # 3. Layer normalisation, forward and backward
#
# You write a pair of kernels as a neural network needs them: the result, and the gradients. You learn how
# programs add up a sum together without atomic operations.
#
# For each row `x`, layer normalisation computes
#
# ```text
# x_hat = (x - mean(x)) / sqrt(var(x) + eps)
# y     = x_hat * weight + bias
# ```
#
# The forward kernel also stores the mean and the factor `1 / sqrt(var + eps)` of each row. The backward kernel
# needs them, and two numbers for a row are cheap.

# %%
import numpy as np

import tile
import tile.language as tl


@tile.jit
def forward_kernel(
    x_ptr, weight_ptr, bias_ptr, y_ptr, mean_ptr, rstd_ptr, n_cols, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n_cols
    # Elements behind the end are 0, and 0 - mean is not 0: put the zeros back.
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n_cols + eps)
    weight = tl.load(weight_ptr + cols, mask=mask)
    bias = tl.load(bias_ptr + cols, mask=mask)
    tl.store(y_ptr + row * n_cols + cols, centred * rstd * weight + bias, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


# %% [markdown]
# `weight` and `bias` have no `other`. That is right here: their undefined elements only reach elements that the
# store drops, under the same mask.
#
# ## Backward
#
# The gradient of `x` needs only its own row:
#
# ```text
# g  = dy * weight
# dx = (g - mean(g) - x_hat * mean(g * x_hat)) * rstd
# ```
#
# The gradients of `weight` and `bias` are sums over all rows, and rows belong to different programs. There are
# two ways to add up over programs. Atomic additions are short to write, but they come in no fixed order, so the
# last bits differ from run to run. Here is the other way, in two stages:
#
# 1. Each program goes over several rows. It keeps its sums in registers, and stores them in a row of its own of
#    a buffer.
# 2. A second kernel adds up the rows of the buffer.


# %%
@tile.jit
def backward_kernel(
    dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_parts_ptr, db_parts_ptr,
    n_rows, n_cols, BLOCK: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0)
    dw = tl.zeros((BLOCK,), tl.float32)
    db = tl.zeros((BLOCK,), tl.float32)
    # Program 0 takes the rows 0, P, 2P, ... of P programs.
    for row in range(pid, n_rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
        dy = tl.load(dy_ptr + row * n_cols + cols, mask=mask, other=0.0)
        rstd = tl.load(rstd_ptr + row)
        x_hat = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
        g = dy * weight
        mean_g = tl.sum(g, axis=0) / n_cols
        mean_gx = tl.sum(g * x_hat, axis=0) / n_cols
        dx = (g - mean_g - x_hat * mean_gx) * rstd
        tl.store(dx_ptr + row * n_cols + cols, dx, mask=mask)
        dw += dy * x_hat
        db += dy
    tl.store(dw_parts_ptr + pid * n_cols + cols, dw, mask=mask)
    tl.store(db_parts_ptr + pid * n_cols + cols, db, mask=mask)


@tile.jit
def add_rows_kernel(parts_ptr, out_ptr, n_rows, n_cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.arange(0, ROWS)[:, None]
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (rows < n_rows) & (cols < n_cols)
    parts = tl.load(parts_ptr + rows * n_cols + cols, mask=mask, other=0.0)
    total = tl.sum(parts, axis=0, keep_dims=True)
    tl.store(out_ptr + cols, total, mask=cols < n_cols)


# %%
def forward(x, weight, bias, eps=1e-5):
    rows, cols = x.shape
    y, mean, rstd = np.empty_like(x), np.empty(rows, np.float32), np.empty(rows, np.float32)
    block = tile.next_power_of_2(cols)
    forward_kernel[(rows,)](x, weight, bias, y, mean, rstd, cols, eps, BLOCK=block)
    return y, mean, rstd


def backward(dy, x, weight, mean, rstd, programs=4):
    rows, cols = x.shape
    block = tile.next_power_of_2(cols)
    dx, parts = np.empty_like(x), np.empty((2, programs, cols), np.float32)
    backward_kernel[(programs,)](
        dy, x, weight, mean, rstd, dx, parts[0], parts[1], rows, cols, BLOCK=block
    )
    dw, db = np.empty(cols, np.float32), np.empty(cols, np.float32)
    for part, out in zip(parts, (dw, db), strict=True):
        grid = (tile.cdiv(cols, 64),)
        add_rows_kernel[grid](
            part, out, programs, cols, ROWS=tile.next_power_of_2(programs), BLOCK=64
        )
    return dx, dw, db


# %% [markdown]
# ## Check it
#
# NumPy computes the same in float64. The formula of `dx` is checked, too: the gradient says how much the result
# changes when one element of `x` changes a little.

# %%
rng = np.random.default_rng(2)
x, dy = rng.standard_normal((2, 10, 300)).astype(np.float32)
weight, bias = rng.standard_normal((2, 300)).astype(np.float32)


def reference(x):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)


x64, dy64 = x.astype(np.float64), dy.astype(np.float64)
x_hat = reference(x64)

y, mean, rstd = forward(x, weight, bias)
np.testing.assert_allclose(y, x_hat * weight + bias, atol=1e-5)

dx, dw, db = backward(dy, x, weight, mean, rstd)
np.testing.assert_allclose(dw, (dy64 * x_hat).sum(axis=0), atol=1e-4)
np.testing.assert_allclose(db, dy64.sum(axis=0), atol=1e-4)

step = np.zeros_like(x64)
step[3, 17] = 1e-5
change = ((reference(x64 + step) - reference(x64 - step)) * weight * dy64).sum() / 2e-5
np.testing.assert_allclose(dx[3, 17], change, rtol=1e-3)
print(f"dx[3, 17] = {dx[3, 17]:.4f}, by finite differences {change:.4f}")

again = backward(dy, x, weight, mean, rstd)
assert all(np.array_equal(a, b) for a, b in zip((dx, dw, db), again, strict=True))
print("a second run gives the same bits")

# %% [markdown]
# Next: [dropout](04-dropout.md), with random numbers that need no memory.
