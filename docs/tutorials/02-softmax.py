# %% [markdown]
# # 2. Softmax
#
# You compute the softmax of each row of a matrix. You learn about reductions, about what a masked load gives,
# and how to count the bytes that a kernel moves.
#
# The softmax of a row `x` is `exp(x) / sum(exp(x))`. The largest element is subtracted first. This changes no
# result, and `exp` cannot overflow.
#
# NumPy does this in several steps, and each step reads and writes the whole matrix. One kernel does it with one
# read and one write: it keeps a row in registers.

# %%
import numpy as np

import tile
import tile.language as tl


@tile.jit
def softmax_kernel(x_ptr, out_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    # What is behind the end of the row must not change the maximum or the sum.
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    numerator = tl.exp(x)
    denominator = tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * stride + cols, numerator / denominator, mask=mask)


# %% [markdown]
# - Each program computes one row. The block must hold a whole row. Its length must be a power of two, so it is
#   the next power of two.
# - `other=-float("inf")` fills the elements that the mask switches off. `exp(-inf)` is 0, so they add nothing to
#   the sum. **Without `other` these elements are undefined.**
# - `tl.max` and `tl.sum` are **reductions**: they make one number of a block. All threads of the program get it.


# %%
def softmax(x, out):
    rows, cols = x.shape
    block = tile.next_power_of_2(cols)
    return softmax_kernel[(rows,)](x, out, cols, cols, BLOCK=block)


rng = np.random.default_rng(1)
x = rng.standard_normal((33, 781)).astype(np.float32)
out = np.full_like(x, np.nan)
softmax(x, out)

exact = np.exp(x.astype(np.float64))
exact /= exact.sum(axis=1, keepdims=True)
np.testing.assert_allclose(out, exact, rtol=1e-5)
print("rows:", x.shape[0], " sum of the first row:", out[0].sum())

# %% [markdown]
# ## How many bytes does it move?
#
# `kernel.simulate` runs the kernel, too, and returns a **report**. The report counts what the kernel did. One
# read and one write of the matrix is the least that any softmax needs. This kernel moves exactly that.

# %%
report = softmax_kernel.simulate(x, out, 781, 781, BLOCK=1024, grid=(33,))
counters = report.counters
print("bytes of the matrix:", x.nbytes)
print("bytes read:         ", counters["global_load_bytes"])
print("bytes written:      ", counters["global_store_bytes"])
assert counters["global_load_bytes"] == counters["global_store_bytes"] == x.nbytes

# %% [markdown]
# ## Forget `other`
#
# The next kernel forgets `other`. Here it even gives the right maximum for rows that have a positive element: the
# undefined elements happen to be zeros. It is wrong for rows of negative numbers. The simulator runs such a
# kernel again with different values in these elements. If a result changes, it reports the load.


# %%
@tile.jit
def row_max_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols)
    tl.store(out_ptr + row, tl.max(x, axis=0))


try:
    row_max_kernel[(33,)](x, np.empty(33, np.float32), 781, BLOCK=1024)
except tile.sim.SimulationError as error:
    print(error)
else:
    raise AssertionError("the simulator did not find the mistake")

# %% [markdown]
# Next: [layer normalisation](03-layernorm.md), forward and backward.
