"""Chosen elements of buffers: read, written and combined, on all kinds of machines, compiled and in
the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from addresses import pointers
from reference import poisoned
from reference import random as values

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl

TARGETS = ["cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100"]
machines = pytest.mark.parametrize("target", TARGETS, indirect=True)

SHARED = {
    "plain": gl.SwizzledSharedLayout(1, 1, 1, [1, 0]),
    "swizzled": gl.SwizzledSharedLayout(4, 2, 4, [1, 0]),
    "columns": gl.SwizzledSharedLayout(1, 1, 1, [0, 1]),
    "padded": gl.PaddedSharedLayout.with_identity_for([[32, 4]], [32, 64], [1, 0]),
}


def lanes_of(target: str) -> int:
    return 64 if target.startswith("hip:gfx9") else 32


def layouts(target: str) -> dict:
    lanes = lanes_of(target)
    return {
        "rows": gl.BlockedLayout([1, 4], [lanes // 16, 16], [4, 1], [1, 0]),
        # Several threads hold the same elements.
        "columns": gl.BlockedLayout([8, 1], [4, lanes // 4], [2, 2], [0, 1]),
    }


@gluon.jit
def move_kernel(
    x_ptr, i_ptr, y_ptr, z_ptr, M: gl.constexpr, N: gl.constexpr, IM: gl.constexpr,
    IN: gl.constexpr, AXIS: gl.constexpr, L: gl.constexpr, S: gl.constexpr,
):  # fmt: skip
    buffer = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [M, N], S)
    buffer.store(gl.load(pointers(x_ptr, M, N, L)))
    indices = gl.load(pointers(i_ptr, IM, IN, L))
    found = buffer.gather(indices, axis=AXIS)
    gl.store(pointers(y_ptr, IM, IN, L), found)
    buffer.scatter(found + 1, indices, axis=AXIS)
    gl.store(pointers(z_ptr, M, N, L), buffer.load(L))


@machines
@pytest.mark.sweep(4)
@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["fp32", "i16", "i64"])
def test_gather_and_scatter(target, shared, layout, axis, dtype):
    if dtype != "fp32" and shared != "swizzled":
        pytest.skip("types are tried with one buffer")
    shape = (32, 64)
    # As many indices as fit: no two of them name one element.
    rng = np.random.default_rng(7)
    wanted = (16, 64) if axis == 0 else (32, 32)
    order = np.stack([rng.permutation(shape[axis]) for _ in range(shape[1 - axis])], 1 - axis)
    indices = np.ascontiguousarray(order[: wanted[0], : wanted[1]]).astype(np.int32)
    x, y, z = values(shape, dtype, 1), poisoned(wanted, dtype), poisoned(shape, dtype)
    chosen = layouts(target)[layout]
    arguments = (x, indices, y, z, *shape, *wanted, axis, chosen, SHARED[shared])
    move_kernel[(1,)](*arguments)
    expected = np.take_along_axis(x, indices, axis)
    np.testing.assert_array_equal(y, expected)
    after = x.copy()
    np.put_along_axis(after, indices, expected + 1, axis)
    np.testing.assert_array_equal(z, after)
    y[...], z[...] = 0, 0
    move_kernel.interpret(*arguments, grid=(1,))
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(z, after)


@gluon.jit
def combine_kernel(
    x_ptr, i_ptr, v_ptr, y_ptr, old_ptr, N: gl.constexpr, M: gl.constexpr, KIND: gl.constexpr,
    L: gl.constexpr, MASKED: gl.constexpr,
):  # fmt: skip
    layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffer = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [N], layout)
    n, m = gl.arange(0, N, layout=L), gl.arange(0, M, layout=L)
    buffer.store(gl.load(x_ptr + n))
    indices, v = gl.load(i_ptr + m), gl.load(v_ptr + m)
    mask = (m % 3 != 0) if MASKED else m >= 0
    if KIND == "add":
        old = buffer.atomic_scatter_add(v, indices, 0, mask=mask)
    elif KIND == "max":
        old = buffer.atomic_scatter_max(v, indices, 0, mask=mask)
    elif KIND == "min":
        old = buffer.atomic_scatter_min(v, indices, 0, mask=mask)
    elif KIND == "and":
        old = buffer.atomic_scatter_and(v, indices, 0, mask=mask)
    elif KIND == "or":
        old = buffer.atomic_scatter_or(v, indices, 0, mask=mask)
    elif KIND == "xor":
        old = buffer.atomic_scatter_xor(v, indices, 0, mask=mask)
    else:
        old = buffer.atomic_scatter_xchg(v, indices, 0, mask=mask)
    gl.store(old_ptr + m, old, mask=mask)
    gl.store(y_ptr + n, buffer.load(L))


COMBINE = {
    "add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "xchg": lambda a, b: b,
}  # fmt: skip


@machines
@pytest.mark.sweep
@pytest.mark.parametrize(
    "kind,dtype",
    [("add", "i32"), ("add", "fp32"), ("max", "i32"), ("max", "u32"), ("min", "i64"),
     ("and", "u32"), ("or", "i32"), ("xor", "u64"), ("xchg", "fp32"), ("add", "u64")],
)  # fmt: skip
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("repeated", [False, True])
def test_combine(target, kind, dtype, masked, repeated):
    """Each value counts once, although several threads may hold it; the order is free."""
    n, m, lanes = 64, 256, lanes_of(target)
    rng = np.random.default_rng(3)
    x, v = values(n, dtype, 4), values(m, dtype, 5)
    if dtype == "fp32":  # Sums that do not round.
        x, v = np.floor(x * 8).astype(np.float32), np.floor(v * 8).astype(np.float32)
    indices = rng.integers(0, n, m).astype(np.int32)
    if kind == "xchg":
        indices = rng.permutation(m).astype(np.int32) % n
    layout = gl.BlockedLayout([1], [lanes], [4], [0])
    if repeated:
        layout = gl.SliceLayout(1, gl.BlockedLayout([1, 1], [lanes // 2, 2], [4, 1], [1, 0]))
    y, old = poisoned(n, dtype), poisoned(m, dtype)
    combine_kernel[(1,)](x, indices, v, y, old, n, m, kind, layout, masked)
    used = np.arange(m) % 3 != 0 if masked else np.ones(m, bool)
    expected = x.copy()
    for at, value in zip(indices[used], v[used], strict=True):
        expected[at] = COMBINE[kind](expected[at], value)
    if kind == "xchg":
        for at in range(n):
            mine = used & (indices == at)
            seen = sorted([*old[mine].tolist(), y[at]])
            assert seen == sorted([x[at], *v[mine].tolist()])
        return
    np.testing.assert_array_equal(y, expected)
    # What was there before is a chain from the first value to the last one.
    for at in range(n):
        mine = used & (indices == at)
        if kind == "add" and dtype != "fp32" and mine.any():
            steps = dict(zip(old[mine].tolist(), v[mine].tolist(), strict=True))
            value = x[at]
            for _ in range(len(steps)):
                assert value.item() in steps
                value = value + np.dtype(v.dtype).type(steps[value.item()])


@gluon.jit
def count_kernel(x_ptr, y_ptr, N: gl.constexpr, M: gl.constexpr, L: gl.constexpr):
    """Nobody asks what was there before."""
    buffer = gl.allocate_shared_memory(gl.int32, [N], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    n, m = gl.arange(0, N, layout=L), gl.arange(0, M, layout=L)
    buffer.store(n * 0)
    buffer.atomic_scatter_add(m * 0 + 1, gl.load(x_ptr + m), 0)
    gl.store(y_ptr + n, buffer.load(L))


@machines
def test_count(target):
    x = np.random.default_rng(6).integers(0, 64, 512).astype(np.int32)
    y = poisoned(64, "i32")
    layout = gl.BlockedLayout([1], [lanes_of(target)], [4], [0])
    count_kernel[(1,)](x, y, 64, 512, layout)
    np.testing.assert_array_equal(y, np.bincount(x, minlength=64))
    y[...] = 0
    count_kernel.interpret(x, y, 64, 512, layout, grid=(1,))
    np.testing.assert_array_equal(y, np.bincount(x, minlength=64))


REFUSED = {
    "axis": "axis",
    "rank": "needs indices of 2 dimensions, like the buffer",
    "long": "got 64 indices along dimension 0, where the buffer has 32 elements",
    "type": "needs values of fp32, like the buffer, not of int32",
    "float": "atomic_scatter_max does not support fp32",
}


@gluon.jit
def refused_kernel(KIND: gl.constexpr, L: gl.constexpr, S: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [32, 32], S)
    indices = gl.full([32, 32], 0, gl.int32, L)
    if KIND == "axis":
        buffer.gather(indices, 2)
    elif KIND == "rank":
        buffer.gather(gl.arange(0, 32, gl.SliceLayout(0, L)), 0)
    elif KIND == "long":
        buffer.gather(gl.full([64, 32], 0, gl.int32, L), 1)
    elif KIND == "type":
        buffer.scatter(indices, indices, 0)
    else:
        buffer.atomic_scatter_max(gl.full([32, 32], 0.0, gl.float32, L), indices, 0)


@pytest.mark.parametrize("kind", REFUSED)
def test_refused(kind):
    layout = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    with pytest.raises(TileError, match=REFUSED[kind]):
        refused_kernel[(1,)](kind, layout, SHARED["plain"])


@gluon.jit
def scatter_lines(x_ptr, i_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, AXIS: gl.constexpr,
                  L: gl.constexpr, S: gl.constexpr):  # fmt: skip
    """A value for each row (or column), and an index for each of the other dimension."""
    buffer = gl.allocate_shared_memory(gl.int32, [M, N], S)
    buffer.store(gl.zeros([M, N], gl.int32, L))
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, L))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, L))
    if AXIS == 1:
        buffer.scatter(gl.load(x_ptr + rows)[:, None], gl.load(i_ptr + columns)[None, :], axis=1)
    else:
        buffer.scatter(gl.load(x_ptr + columns)[None, :], gl.load(i_ptr + rows)[:, None], axis=0)
    gl.store(pointers(y_ptr, M, N, L), buffer.load(L))


@machines
@pytest.mark.parametrize("axis", [0, 1])
def test_values_and_indices_are_repeated(target, axis):
    shape = (32, 64)
    x, y = values(shape[1 - axis], "i32", 3), poisoned(shape, "i32")
    indices = np.random.default_rng(3).permutation(shape[axis]).astype(np.int32)
    arguments = (x, indices, y, *shape, axis, layouts(target)["rows"], SHARED["swizzled"])
    expected = np.broadcast_to(x[:, None] if axis == 1 else x[None, :], shape)
    scatter_lines[(1,)](*arguments)
    np.testing.assert_array_equal(y, expected)
    y[...] = 0
    scatter_lines.interpret(*arguments, grid=(1,))
    np.testing.assert_array_equal(y, expected)
