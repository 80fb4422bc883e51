# %% [markdown]
# # 10. Find the race
#
# You let the simulator find mistakes that a GPU shows only sometimes.
#
# Two accesses to one address **race** if one of them writes and nothing orders them. The result then depends on
# which one comes first. On a GPU it may be right a thousand times, and then wrong. The simulator does not wait for
# bad luck. It knows what orders accesses, and it reports each pair that nothing orders.
#
# ## A race between programs
#
# This kernel adds up an array. Each program adds its part to the total.

# %%
import numpy as np

import tile
import tile.language as tl


@tile.jit
def total_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x_ptr + i, mask=i < n, other=0), axis=0)
    before = tl.load(total_ptr)
    tl.store(total_ptr, before + part)


rng = np.random.default_rng(9)
x = rng.integers(0, 100, 1000).astype(np.int32)
total = np.zeros(1, np.int32)
try:
    total_kernel[(4,)](x, total, x.size, BLOCK=256)
except tile.sim.SimulationError as error:
    print(error.report.errors[0])
    races = error.report.findings
assert {finding["kind"] for finding in races} == {"race"}

# %% [markdown]
# Read such a finding in this order:
#
# 1. The first lines say **where** one access is: the line of the kernel.
# 2. The line that begins with `race:` says **what** is wrong: `total_ptr`, element 0, is read and written, and nothing
#    orders the two CTAs. A CTA is a block of threads. It runs one program. The next line names the program.
# 3. Then comes the other access, in the same way.
# 4. The line that begins with `help:` says what you may write instead.
#
# The two programs may both read the same old total. Then one of the two sums is lost. The remedy is one
# operation that reads, adds and writes at once:


# %%
@tile.jit
def total_by_atomics_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x_ptr + i, mask=i < n, other=0), axis=0)
    tl.atomic_add(total_ptr, part)


total[:] = 0
total_by_atomics_kernel[(4,)](x, total, x.size, BLOCK=256)
assert total[0] == x.sum()
print("total:", total[0], " NumPy:", x.sum())

# %% [markdown]
# ## A race inside a program
#
# A program has many threads. This kernel stores a block, and loads it again in reverse order. Element 0 is stored
# by one thread and loaded by another.


# %%
@tile.jit
def reverse_kernel(x_ptr, scratch_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(scratch_ptr + i, tl.load(x_ptr + i))
    tl.store(out_ptr + i, tl.load(scratch_ptr + BLOCK - 1 - i))


values = rng.standard_normal(256).astype(np.float32)
scratch, out = np.zeros(256, np.float32), np.zeros(256, np.float32)
try:
    reverse_kernel[(1,)](values, scratch, out, BLOCK=256)
except tile.sim.SimulationError as error:
    print(error.report.errors[0])
else:
    raise AssertionError("the simulator did not find the race")

# %% [markdown]
# Each thread knows the order of its own accesses. If a store and a load use *equal* blocks of addresses, tile
# keeps their order. Here the two blocks reach one address at different positions. tile does not look for this.
# `tl.debug_barrier()` makes all threads of the program wait for one another.


# %%
@tile.jit
def reverse_with_barrier_kernel(x_ptr, scratch_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(scratch_ptr + i, tl.load(x_ptr + i))
    tl.debug_barrier()
    tl.store(out_ptr + i, tl.load(scratch_ptr + BLOCK - 1 - i))


reverse_with_barrier_kernel[(1,)](values, scratch, out, BLOCK=256)
np.testing.assert_array_equal(out, values[::-1])
print("reversed, and no finding")

# %% [markdown]
# A barrier orders the threads of *one* program. Nothing but atomic operations, or the end of the launch, orders
# different programs.
#
# ## Look at a kernel without an exception
#
# `kernel.simulate(..., check=...)` chooses the checks, and `report.findings` has each finding as a dictionary.
# `schedules=4` runs the launch in several random orders, and reports results that differ. The
# [page of the simulator](../simulator.md#what-is-checked) lists all checks.

# %%
report = total_by_atomics_kernel.simulate(
    x, np.zeros(1, np.int32), 1000, BLOCK=256, grid=(4,), schedules=4
)
print("findings in four orders:", len(report.findings))
assert report.ok

# %% [markdown]
# Next: [profile and explain](11-profile-and-explain.md).
