# %% [markdown]
# # 1. Vector add
#
# You write your first kernel, run it without a GPU, and see what a mask is for.
#
# A **kernel** is a function that runs many times at once. One run is called a **program**. All programs
# run the same code. Each program has a number, and it uses this number to choose its part of the data.

# %%
import numpy as np

import tile
import tile.language as tl


@tile.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # Which program is this?
    pid = tl.program_id(0)
    # The elements that this program works on: BLOCK numbers, one after the other.
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    # The last program has elements behind the end. The mask is false there.
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


# %% [markdown]
# Some words about this code:
#
# - `x_ptr` is a **pointer**: the address of the first element of an array. `x_ptr + offsets` is a block of
#   addresses, one for each element.
# - `BLOCK: tl.constexpr` is a constant. tile compiles the kernel once for each value of it. The length of
#   `tl.arange` must be a constant.
# - `tl.load` reads a block of elements, and `tl.store` writes one.
#
# Now launch it. The **grid** says how many programs run. 1000 elements in blocks of 256 need 4 programs, and
# the last one is not full. `tile.cdiv` divides and rounds up.

# %%
rng = np.random.default_rng(0)
x = rng.standard_normal(1000).astype(np.float32)
y = rng.standard_normal(1000).astype(np.float32)
out = np.full_like(x, np.nan)

grid = (tile.cdiv(x.size, 256),)
kernel = add_kernel[grid](x, y, out, x.size, BLOCK=256)

np.testing.assert_array_equal(out, x + y)
print("programs:", grid[0])
print("out is x + y, in all", out.size, "elements")

# %% [markdown]
# The arrays are NumPy arrays, so the compiled kernel ran in the simulator. With CUDA tensors of torch, the
# same line runs it on the GPU.
#
# The launch returns the compiled kernel. `kernel.asm` has the text of each stage. These are its accesses to
# memory in PTX, the assembly language of NVIDIA GPUs. `v2` says that one instruction moves two neighbouring
# elements. The name in brackets is a register that holds an address.

# %%
print("stages:", ", ".join(kernel.asm))
for line in kernel.asm["ptx"].splitlines():
    if "ld.global" in line or "st.global" in line:
        print(line.strip())

# %% [markdown]
# ## What the mask is for
#
# Here is the same kernel without masks. The last program reads and writes behind the end of the arrays. On a
# GPU this often does no visible harm, and some day it destroys the data of somebody else. The simulator checks
# every access, so it finds this mistake in the first run.


# %%
@tile.jit
def add_without_mask(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x + y)


try:
    add_without_mask[grid](x, y, out, BLOCK=256)
except tile.sim.SimulationError as error:
    print(error)
else:
    raise AssertionError("the simulator did not find the mistake")

# %% [markdown]
# ## Try it
#
# - Change `BLOCK` to 1024, and the number of elements to 1. The kernel stays right.
# - Run this file with `TILE_INTERPRET=1`. The kernel then runs as Python, and you can write `print(offsets)` in
#   it. The parts about PTX and the simulator do not work there.
#
# Next: [softmax](02-softmax.md), where the elements of a block work together.
