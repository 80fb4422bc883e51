"""Atomic operations on arrays that end within a word: narrow elements are updated by operations on
the word around them, which must leave the rest of it as it is."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from machines import run_on

import tile
import tile.language as tl

OPERATIONS = {
    "and": (tl.atomic_and, np.bitwise_and), "or": (tl.atomic_or, np.bitwise_or),
    "xor": (tl.atomic_xor, np.bitwise_xor), "add": (tl.atomic_add, np.add),
    "max": (tl.atomic_max, np.maximum), "xchg": (tl.atomic_xchg, lambda old, new: new),
}  # fmt: skip
TYPES = {"i16": np.int16, "u16": np.uint16, "fp16": np.float16, "bf16": ml_dtypes.bfloat16}
CASES = [
    (op, dtype) for op in OPERATIONS for dtype in TYPES if dtype[0] in "iu" or op in ("add", "xchg")
]


@tile.jit
def kernel(x_ptr, v_ptr, old_ptr, n, OP: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    old = OP(x_ptr + i, tl.load(v_ptr + i, mask=i < n), mask=i < n)
    tl.store(old_ptr + i, old, mask=i < n)


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100"])
@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_arrays_that_end_within_a_word(op, dtype, target, monkeypatch):
    run_on(target, monkeypatch)
    atomic, reference = OPERATIONS[op]
    rng = np.random.default_rng(len(op))
    for size, first, end in ((1, 0, 1), (3, 0, 3), (33, 0, 33), (8, 1, 8), (8, 3, 4)):
        whole, v = (rng.integers(-100, 100, size).astype(TYPES[dtype]) for _ in range(2))
        v = v[first:end].copy()
        # A view that starts within a word, too: the simulator knows nothing of what is around it.
        memory, n = whole[first:end], end - first
        before, old = memory.copy(), np.zeros(n, TYPES[dtype])
        around = whole.copy()
        kernel[(1,)](memory, v, old, n, OP=atomic, N=64)
        np.testing.assert_array_equal(memory, reference(before, v))
        np.testing.assert_array_equal(old, before)
        around[first:end] = memory
        np.testing.assert_array_equal(whole, around)
