# %% [markdown]
# # 11. Profile and explain
#
# You find out why a kernel is slow, without a GPU. The simulator counts what a kernel does. Counters are exact, and
# the same in every run. They are no times. But most slow kernels are slow for a reason that you can count.
#
# ## A slow kernel
#
# This kernel transposes a matrix. It is right, and on a GPU it is slow.

# %%
import numpy as np

import tile
import tile.language as tl


@tile.jit
def transpose_rows(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    # A program takes one row, and stores it as a column.
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask)
    tl.store(out_ptr + cols * M + row, x, mask=mask)


rng = np.random.default_rng(10)
x = rng.standard_normal((128, 128)).astype(np.float32)
out = np.full((128, 128), np.nan, np.float32)
slow = transpose_rows.simulate(x, out, 128, 128, BLOCK=128, grid=(128,))
np.testing.assert_array_equal(out, x.T)
print(slow.summary("H100"))

# %% [markdown]
# Look at two lines:
#
# - `global_load_sectors` and `global_store_sectors`: memory moves **sectors** of 32 bytes. A sector is 8 floats.
# - `sectors per load` and `sectors per store`: how many sectors one instruction of a warp touches. A warp is 32
#   threads. 32 neighbouring floats are 4 sectors. Here a store touches 32: each thread writes 4 bytes into a
#   sector of its own, and 28 bytes are moved for nothing.
#
# ## Which line is it?
#
# `report.annotated()` prints the counters beside the source, and `report.lines` has them as a list. Here are the
# lines that ran. The last one, the store, moves eight times as many sectors as the load.

# %%
header, *lines = slow.annotated().splitlines()[1:]
print(header)
print("\n".join(line for line in lines if line[:25].split()[1:]))

# %% [markdown]
# ## A better kernel
#
# Take a square tile. Read its rows, and write its columns. Now neighbouring threads read *and* write neighbouring
# elements. tile moves the elements between the threads through shared memory.


# %%
@tile.jit
def transpose_tiles(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask)
    tl.store(out_ptr + cols[:, None] * M + rows[None, :], x.T, mask=mask.T)


out[:] = np.nan
fast = transpose_tiles.simulate(x, out, 128, 128, BLOCK=32, grid=(4, 4))
np.testing.assert_array_equal(out, x.T)

names = ["warp_instructions", "global_load_sectors", "global_store_sectors"]
print(f"{'':22}{'rows':>8}{'tiles':>8}")
for name in names:
    print(f"{name:22}{slow.counters[name]:8}{fast.counters[name]:8}")
assert fast.counters["global_store_sectors"] * 4 < slow.counters["global_store_sectors"]

# %% [markdown]
# The stores now touch an eighth of the sectors. That is the least: 128 * 128 floats are 2048 sectors.
#
# ## What is the bound?
#
# `report.roofline(gpu)` divides the counts by the rates of a GPU. It says how long memory, tensor cores and the
# issue of instructions need at least, and which of them is the bound. A real launch takes longer. If your
# measured time is near to this, the kernel is good.

# %%
for gpu in ("H100", "A100"):
    bound = fast.roofline(gpu)
    print(f"{gpu}: at least {bound['seconds'] * 1e6:.3f} us, bound by {bound['bound']}")

# %% [markdown]
# ## On a GPU
#
# [`tile explain program.py`](../howto/explain-a-kernel.md) finds such things for you: it runs a program, and says of each kernel what
# makes it slow, with the line and the remedy.
#
# `tile.testing.do_bench` measures a time, and the [profiler](../howto/profile-a-kernel.md) says which part of a
# program launched what. `MLIR_ENABLE_REMARK=1` makes the compiler say why it did not use tensor cores, or why a
# load moves single elements.
#
# This was the last tutorial. The [gallery](../gallery.md) shows larger kernels.
