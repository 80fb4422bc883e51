# %% [markdown]
# # 12. Explicit layouts
#
# So far the compiler decided which thread holds which element of a tensor. Here you decide it. The language for that
# is `tile.experimental.gluon`. The page [Explicit layouts](../gluon.md) has all of it.
#
# ## A layout
#
# A layout is a value. This one says: each thread takes two neighbours of a row, the threads of a warp are 4 rows of 8,
# and there are two warps below each other. The last list says along which dimension neighbours lie first.

# %%
import numpy as np

import tile
import tile.language as tl
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.ampere import async_copy
from tile.tools.to_gluon import to_gluon

layout = gl.BlockedLayout([1, 2], [4, 8], [2, 1], [1, 0])
print(layout.format_tensor_view([8, 16]))

# %% [markdown]
# A cell shows a thread and its register: `T9:1` is register 1 of thread 9. Threads 0 to 31 are the first warp.
#
# ## A transposition
#
# Memory is fast if neighbouring threads access neighbouring addresses. So this kernel reads rows in one layout and
# writes them in another one. Shared memory lies between: `store` writes the buffer, `load` reads it as the other layout says. `permute`
# is a view: it moves nothing.

# %%
ROWS = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])


@gluon.jit
def transpose(x_ptr, out_ptr, N: gl.constexpr, SHARED: gl.constexpr):
    rows = gl.arange(0, N, layout=gl.SliceLayout(1, ROWS))
    cols = gl.arange(0, N, layout=gl.SliceLayout(0, ROWS))
    offsets = rows[:, None] * N + cols[None, :]
    buffer = gl.allocate_shared_memory(gl.float32, [N, N], SHARED)
    buffer.store(gl.load(x_ptr + offsets))
    gl.store(out_ptr + offsets, buffer.permute([1, 0]).load(ROWS))


rng = np.random.default_rng(12)
x = rng.standard_normal((64, 64)).astype(np.float32)
plain = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
swizzled = gl.SwizzledSharedLayout(1, 1, 32, [1, 0])
for name, shared in (("plain", plain), ("swizzled", swizzled)):
    out = np.full((64, 64), np.nan, np.float32)
    report = transpose.simulate(x, out, 64, shared, grid=(1,))
    np.testing.assert_array_equal(out, x.T)
    print(f"{name}: {report.counters['bank_conflicts']} bank conflicts")

# %% [markdown]
# Shared memory has 32 banks of 4 bytes. A warp that reads a column of the plain buffer finds all 32 elements in one
# bank, and waits 31 times. The swizzled layout stores each row in another order, so that a column lies in 32 banks.
# `gl.bank_conflicts` tells this without a kernel:

# %%
columns = gl.distributed_type(
    gl.float32, [64, 64], gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1])
)
for name, shared in (("plain", plain), ("swizzled", swizzled)):
    buffer = gl.shared_memory_descriptor_type(gl.float32, [64, 64], shared, [64, 64])
    print(f"{name}: {gl.bank_conflicts(columns, buffer)}")

# %% [markdown]
# ## Copies that go on meanwhile
#
# `async_load` starts a copy from global to shared memory, and the program goes on. `commit_group` closes a group of
# copies. `wait_group(0)` waits for all groups. Nobody else waits: a program that reads too early reads garbage. Here is
# one that does, and the same with the wait.

# %%
LINE = gl.BlockedLayout([4], [32], [4], [0])


@gluon.jit
def add_one(x_ptr, out_ptr, WAITS: gl.constexpr):
    i = gl.arange(0, 512, layout=LINE)
    buffer = gl.allocate_shared_memory(gl.float32, [512], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    async_copy.async_load(buffer, x_ptr + i)
    async_copy.commit_group()
    if WAITS:
        async_copy.wait_group(0)
    gl.store(out_ptr + i, buffer.load(LINE) + 1)


x = rng.standard_normal(512).astype(np.float32)
out = np.full(512, np.nan, np.float32)
try:
    add_one[(1,)](x, out, False)
except tile.sim.SimulationError as error:
    print(error.report.errors[0])
add_one[(1,)](x, out, True)
np.testing.assert_array_equal(out, x + 1)

# %% [markdown]
# On a GPU the first one may work on most days. The simulator says each time what is missing.
#
# ## Begin with what the compiler does
#
# You need not write such a program from nothing. `to_gluon` prints a kernel of `tile.language` with the layouts that
# the compiler chose for it. The program compiles to the same code, and you change what you know better.


# %%
@tile.jit
def row_sums(x_ptr, out_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    values = tl.load(x_ptr + row * N + tl.arange(0, N))
    tl.store(out_ptr + row, tl.sum(values, axis=0))


x, out = rng.standard_normal((4, 256)).astype(np.float32), np.full(4, np.nan, np.float32)
print(to_gluon(row_sums[(4,)](x, out, 256)))

# %% [markdown]
# ## Go on
#
# - [The examples with explicit layouts](../gallery.md#with-explicit-layouts): matmuls with bulk copies, partitions and clusters, attention whose
#   groups of warps take turns, and programs for AMD GPUs.
# - [Explicit layouts](../gluon.md): all rules, and every name.
