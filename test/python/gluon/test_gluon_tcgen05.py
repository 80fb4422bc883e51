"""Dots of tcgen05 in explicit programs: shapes, types and layouts at random, against NumPy. All
numbers are small integers, so that sums are exact."""

from __future__ import annotations

import random
import sys

import ml_dtypes
import numpy as np
import pytest
from addresses import pointers
from reference import sim_only

import tile
from tile.backends import backends
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
)

tools = sys.modules[backends()["nvidia"].__module__].tools
pytestmark = [
    sim_only,
    pytest.mark.parametrize("target", ["cuda:100"], indirect=True),
]

#: The type of A and B in kernels and in NumPy, bits of an element, the sums it has.
TYPES = {
    "f16": (gl.float16, np.float16, 16, ["f32", "f16"]),
    "bf16": (gl.bfloat16, ml_dtypes.bfloat16, 16, ["f32"]),
    "tf32": (gl.float32, np.float32, 32, ["f32"]),
    "e4m3": (gl.float8e4nv, ml_dtypes.float8_e4m3fn, 8, ["f32", "f16"]),
    "e5m2": (gl.float8e5, ml_dtypes.float8_e5m2, 8, ["f32"]),
    "s8": (gl.int8, np.int8, 8, ["i32"]),
}
SUMS = {
    "f32": (gl.float32, np.float32),
    "f16": (gl.float16, np.float16),
    "i32": (gl.int32, np.int32),
}
GRID = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])


@gluon.jit
def product(
    a_ptr, b_ptr, c_ptr, first_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr,
    A: gl.constexpr, B: gl.constexpr, D: gl.constexpr, ACC: gl.constexpr, ADD: gl.constexpr,
    LEFT: gl.constexpr, OUT: gl.constexpr, GRID: gl.constexpr,
):  # fmt: skip
    """c = a @ b, or what `first` has in addition."""
    dtype: gl.constexpr = a_ptr.dtype.element_ty
    # With a layout of registers: A goes to tensor memory.
    if LEFT is None:
        sa = gl.allocate_shared_memory(dtype, [M, K], A, gl.load(pointers(a_ptr, M, K, GRID)))
    else:
        sa = allocate_tensor_memory(dtype, [M, K], A)
        sa.store(gl.load(pointers(a_ptr, M, K, LEFT)))
    b = gl.load(pointers(b_ptr, K, N, GRID))
    sb = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [K, N], B, b)
    acc = allocate_tensor_memory(D, [M, N], ACC)
    if ADD:
        acc.store(gl.load(pointers(first_ptr, M, N, OUT)))
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    fence_async_shared()
    tcgen05_mma(sa, sb, acc, use_acc=ADD)
    tcgen05_commit(done)
    mbarrier.wait(done, 0)
    mbarrier.invalidate(done)
    gl.store(pointers(c_ptr, M, N, OUT), acc.load(OUT))


def integers(rng, shape, dtype):
    return rng.integers(-3, 4, shape).astype(dtype)


def given(array, dtype):
    return tile.reinterpret(array.view(np.uint8), dtype) if array.itemsize == 1 else array


def registers_of(dtype, shape, layout):
    from tile.experimental.gluon.language.nvidia import blackwell
    from tile.experimental.gluon.language.nvidia.blackwell._layouts import register_layout

    ty = blackwell.tensor_memory_descriptor_type(dtype, shape, layout, shape)
    return register_layout(ty, 4, "32x32b" if layout.block[0] == 128 else "16x32bx2")


def shared_layout(choose, rows, columns, bits, may_turn):
    """Any layout that a buffer of this shape may have."""
    turned = may_turn and choose.random() < 0.5
    length = (rows if turned else columns) * bits // 8
    widths = [w for w in (0, 32, 64, 128) if length >= max(w, 16)]
    return gl.NVMMASharedLayout(choose.choice(widths), bits, 2, turned)


def draw(seed):
    """A dot: its types, its shape, its layouts."""
    choose = random.Random(seed)
    left = choose.choice(list(TYPES))
    right = choose.choice(["e4m3", "e5m2"]) if left in ("e4m3", "e5m2") else left
    bits = TYPES[left][2]
    d = choose.choice(TYPES[left][3])
    m = choose.choice([64, 128, 128, 256])
    block_m = 64 if m == 64 else choose.choice([64, 128, 128])
    n = choose.choice([16, 32, 64, 128])
    block_n = choose.choice([s for s in (16, 32, 64, 128) if s <= n])
    k = choose.choice([1, 2, 4]) * 256 // bits
    # Elements of 32 bits lie along K.
    a = shared_layout(choose, m, k, bits, bits != 32)
    if bits == 32:
        widths = [w for w in (0, 32, 64, 128) if k * 4 >= max(w, 16)]
        b = gl.NVMMASharedLayout(choose.choice(widths), bits, 2, True)
    else:
        b = shared_layout(choose, k, n, bits, True)
    if bits == 8 and b.transposed is False and block_n < 16:
        block_n = 16
    in_tensor_memory = m == block_m == 128 and choose.random() < 0.3
    if in_tensor_memory:
        a = TensorMemoryLayout([128, k], 1)
    acc = TensorMemoryLayout([block_m, block_n], 32 // (16 if d == "f16" else 32))
    return left, right, d, (m, n, k), a, b, acc, in_tensor_memory, choose.random() < 0.5


def check(seed, **options):
    left, right, d, (m, n, k), a_layout, b_layout, acc, in_tensor_memory, adds = draw(seed)
    rng = np.random.default_rng(seed)
    a, b = integers(rng, (m, k), TYPES[left][1]), integers(rng, (k, n), TYPES[right][1])
    first = integers(rng, (m, n), SUMS[d][1])
    expected = a.astype(np.float64) @ b.astype(np.float64)
    if adds:
        expected += first.astype(np.float64)
    c = np.empty((m, n), SUMS[d][1])
    c.view(np.uint8)[...] = 0xA5
    out = registers_of(SUMS[d][0], [m, n], acc)
    lanes = registers_of(TYPES[left][0], [m, k], a_layout) if in_tensor_memory else None
    report = product.simulate(
        given(a, TYPES[left][0]), given(b, TYPES[right][0]), c, first, m, n, k, a_layout, b_layout,
        SUMS[d][0], acc, adds, lanes, out, GRID, grid=(1,), **options,
    )  # fmt: skip
    assert report.ok, report.messages
    if seed % 3 == 0 and tools.ptxas_path() is not None:
        tools.run_ptxas(report.ptx, 100, None)
    np.testing.assert_array_equal(c.astype(np.float64), expected)


@pytest.mark.parametrize("seed", range(60))
def test_random_dots(seed, target):
    check(seed, schedule_seed=seed)


@pytest.mark.parametrize("seed", range(100, 108))
def test_dots_with_every_fence(seed, target):
    """The manual asks for `tcgen05.fence` where hardware may not need it."""
    check(seed, assumptions=["tensor-fences"], schedule_seed=seed)
