# %% [markdown]
# # 7. Jagged reductions
#
# You reduce rows of different lengths. Such data is called **jagged**: sentences of a batch, neighbours in a
# graph, items of a shopping basket. Padding every row to the longest one would waste memory and time.
#
# All values lie in one array, row after row. A second array says where each row begins:
#
# ```text
# values:  a a a | b | c c c c c | (an empty row) | e e
# offsets: 0       3   4           9                9     11
# ```

# %%
from itertools import pairwise

import numpy as np

import tile
import tile.language as tl


@tile.jit
def jagged_kernel(values_ptr, offsets_ptr, sum_ptr, max_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first = tl.load(offsets_ptr + row)
    last = tl.load(offsets_ptr + row + 1)
    total = tl.zeros((BLOCK,), tl.float32)
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    # This loop runs as often as this row needs; for an empty row it does not run.
    for start in range(first, last, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(values_ptr + i, mask=i < last, other=0.0)
        total += x
        largest = tl.maximum(largest, tl.where(i < last, x, -float("inf")))
    # One reduction at the end, not one in each step.
    tl.store(sum_ptr + row, tl.sum(total, axis=0))
    tl.store(max_ptr + row, tl.max(largest, axis=0))


# %% [markdown]
# - The bounds of the loop are loaded from memory. A kernel may do this with any scalar.
# - `other=0.0` is right for the sum, and wrong for a maximum of negative numbers. `tl.where` gives the maximum
#   another value.
# - Each thread keeps its own sums in the loop. The threads exchange values only once, after the loop.

# %%
rng = np.random.default_rng(6)
lengths = np.array([3, 1, 500, 0, 64, 129, 65])
offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
values = rng.standard_normal(offsets[-1]).astype(np.float32) - 5

sums, largest = (np.full(lengths.size, np.nan, np.float32) for _ in range(2))
jagged_kernel[(lengths.size,)](values, offsets, sums, largest, BLOCK=64)

for row, (first, last) in enumerate(pairwise(offsets)):
    x = values[first:last].astype(np.float64)
    np.testing.assert_allclose(sums[row], x.sum(), rtol=1e-5)
    assert largest[row] == x.max(initial=-np.inf)
    print(f"row {row}: {x.size:3} values, sum {sums[row]:9.2f}, maximum {largest[row]:5.2f}")

# %% [markdown]
# ## Long rows and short rows
#
# Here each row has a program of its own. The longest row decides how long the kernel takes. There is another way
# where lengths differ much: cut the *values* into equal pieces, and let each program add what it has to the rows
# that its piece touches. Several programs may then add to one row, so they need atomic additions.


# %%
@tile.jit
def by_pieces_kernel(values_ptr, row_of_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(values_ptr + i, mask=mask)
    row = tl.load(row_of_ptr + i, mask=mask)
    tl.atomic_add(sum_ptr + row, x, mask=mask)


row_of = np.repeat(np.arange(lengths.size, dtype=np.int32), lengths)
by_pieces = np.zeros(lengths.size, np.float32)
by_pieces_kernel[(tile.cdiv(values.size, 128),)](values, row_of, by_pieces, values.size, BLOCK=128)
np.testing.assert_allclose(by_pieces, sums, rtol=1e-4)
print("the sums by pieces agree")

# %% [markdown]
# Atomic additions come in no fixed order, so the last bits may differ from run to run on a GPU.
#
# Next: [histogram and top-k](08-histogram-topk.md).
