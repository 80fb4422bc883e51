"""Bulk copies to and from parts of buffers."""

from __future__ import annotations

import random

import numpy as np
import pytest
from addresses import pointers
from reference import poisoned, sim_only
from reference import random as values

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor

pytestmark = [sim_only, pytest.mark.parametrize("target", ["cuda:90"], indirect=True)]


@gluon.jit
def move(
    x_desc, y_desc, z_ptr, M: gl.constexpr, N: gl.constexpr, AT: gl.constexpr, TO: gl.constexpr,
    LAYOUT: gl.constexpr, PART: gl.constexpr, ADDS: gl.constexpr,
):  # fmt: skip
    """Fills one part of a buffer, copies it to another one, and writes that. The rest stays."""
    R: gl.constexpr = x_desc.block_shape[0]
    C: gl.constexpr = x_desc.block_shape[1]
    buffer = gl.allocate_shared_memory(x_desc.dtype, [M, N], x_desc.layout)
    buffer.store(gl.full([M, N], 7, x_desc.dtype, LAYOUT))
    source = buffer.slice(AT[0] * R, R, 0).slice(AT[1] * C, C, 1)
    result = buffer.slice(TO[0] * R, R, 0).slice(TO[1] * C, C, 1)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    fence_async_shared()
    mbarrier.expect(bar, x_desc.nbytes_per_cta)
    tma.async_load(x_desc, [0, 0], bar, source)
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)
    result.store(source.load(PART))
    fence_async_shared()
    if ADDS:
        tma.async_atomic_add(y_desc, [0, 0], result)
    else:
        tma.async_store(y_desc, [0, 0], result)
    tma.store_wait(0)
    gl.store(pointers(z_ptr, M, N, LAYOUT), buffer.load(LAYOUT))


def draw(seed):
    rng = random.Random(f"{seed} parts")
    dtype = rng.choice(("fp16", "fp32", "i32"))
    size = 2 if dtype == "fp16" else 4
    swizzle = rng.choice((0, 32, 64, 128))
    columns = max(swizzle, 16) // size
    part = [rng.choice((1, 4, 8, 32)), columns * rng.choice((1, 1, 2))]
    counts = [rng.choice((1, 2, 4)), rng.choice((1, 2))]
    whole = [max(8, part[0] * counts[0]), part[1] * counts[1]]
    if rng.random() < 0.25:  # Less than a panel.
        part[1] = max(16 // size, columns // 2)
    places = [tuple(rng.randrange(w // p) for w, p in zip(whole, part, strict=True)) for _ in "ab"]
    return dtype, size, swizzle, part, whole, places, rng.random() < 0.3


def expected_of(x, whole, part, places):
    z = np.full(whole, 7, x.dtype)
    for row, column in places:
        rows = slice(row * part[0], (row + 1) * part[0])
        z[rows, column * part[1] : (column + 1) * part[1]] = x[: part[0], : part[1]]
    return z


def run(seed):
    dtype, size, swizzle, part, whole, places, adds = draw(seed)
    x, y = values((40, 3 * part[1]), dtype, seed), poisoned((40, 3 * part[1]), dtype)
    if adds:
        y[:] = 3
    z = poisoned(tuple(whole), dtype)
    layout = gl.NVMMASharedLayout(swizzle, 8 * size, rank=2)
    descs = [TensorDescriptor.from_tensor(t, part, layout) for t in (x, y)]
    registers = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
    before = y.copy()
    move[(1,)](*descs, z, *whole, *places, registers, registers, adds)
    np.testing.assert_array_equal(z, expected_of(x, whole, part, places))
    block = (slice(part[0]), slice(part[1]))
    before[block] = x[block] + before[block] if adds else x[block]
    np.testing.assert_array_equal(y, before)


@pytest.mark.parametrize("seed", range(40))
def test_random_part(seed, target):
    """TMA takes parts that begin at multiples of 128 bytes; others are refused."""
    _, size, swizzle, part, whole, *_ = draw(seed)
    panel = max(swizzle, 16) // size
    row_bytes = min(panel, whole[1]) * size
    # Where parts of rows, or of columns within a panel, might begin.
    fits = part[0] >= whole[0] or part[0] * row_bytes % 128 == 0
    fits &= part[1] >= whole[1] or part[1] % panel == 0
    if not fits:
        with pytest.raises(TileError, match="TMA does not lay out blocks"):
            run(seed)
        return
    run(seed)


@pytest.mark.parametrize("seed", range(12))
def test_in_the_interpreter(seed, target, monkeypatch):
    monkeypatch.setenv("TILE_INTERPRET", "1")
    run(seed)


# Functions that are called, and return a part of a buffer.


@gluon.jit(noinline=True)
def slot_of(buffers, i):
    return buffers.index(i & 1)


@gluon.jit(noinline=True)
def left_half(buffers, i):
    slot = slot_of(buffers, i)
    return slot, slot.slice(0, slot.shape[1] // 2, 1)


@gluon.jit
def turn(x_ptr, y_ptr, n, M: gl.constexpr, N: gl.constexpr, ROWS: gl.constexpr, BACK: gl.constexpr):
    """Each element comes from the row that is as far from the end."""
    buffers = gl.allocate_shared_memory(
        gl.float32, [2, M, N], gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    )
    for i in range(n):
        whole, half = left_half(buffers, i)
        whole.store(gl.load(pointers(x_ptr + i * M * N, M, N, ROWS)))
        part = gl.arange(0, M, layout=gl.SliceLayout(1, BACK))[:, None] * N
        columns = gl.arange(0, N // 2, layout=gl.SliceLayout(0, BACK))[None, :]
        gl.store(y_ptr + i * M * N + part + columns, half.load(BACK) + 1)
        other = slot_of(buffers, i + 1)
        if i > 0:
            gl.store(pointers(y_ptr + (n + i) * M * N, M, N, ROWS), other.load(ROWS))


@pytest.mark.parametrize("n", [0, 1, 5])
def test_functions_return_parts(target, n):
    rows = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    back = gl.BlockedLayout([4, 1], [4, 8], [1, 4], [0, 1])
    x = values((max(n, 1), 32, 64), "fp32", n)
    y = poisoned((2 * n + 1, 32, 64), "fp32")
    expected = y.copy()
    expected[:n, :, :32] = x[:n, :, :32] + 1
    expected[n + 1 : 2 * n] = x[: max(n - 1, 0)]
    kernel = turn[(1,)](x, y, n, 32, 64, rows, back, num_warps=4)
    assert "tt.call" in kernel.asm["ttgir"]
    np.testing.assert_array_equal(y, expected)
