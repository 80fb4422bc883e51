"""Shared memory of other blocks: where registers and buffers are divided in different ways."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest
from addresses import pointers
from reference import poisoned, sim_only
from reference import random as values

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl

pytestmark = [sim_only, pytest.mark.parametrize("target", ["cuda:90"], indirect=True)]

ROWS, COLUMNS = 16, 32


@gluon.jit
def exchange(
    x_ptr, i_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, WRITE: gl.constexpr, READ: gl.constexpr,
    SHARED: gl.constexpr, HOW: gl.constexpr, AXIS: gl.constexpr, AT: gl.constexpr,
    MEETS: gl.constexpr,
):  # fmt: skip
    """Writes a buffer, changes some of it, and reads it."""
    buffer = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [M, N], SHARED)
    buffer.store(gl.load(pointers(x_ptr, M, N, WRITE)))
    if MEETS:
        gl.barrier(cluster=True)
    if HOW == "gather":
        gl.store(
            pointers(y_ptr, M, N, READ), buffer.gather(gl.load(pointers(i_ptr, M, N, READ)), AXIS)
        )
    elif HOW == "read a part":
        part = buffer.slice(AT * (M // 2), M // 2)
        gl.store(pointers(y_ptr, M // 2, N, READ), part.load(READ))
    else:
        if HOW == "scatter":
            new = gl.load(pointers(x_ptr, M, N, READ)) * 3
            buffer.scatter(new, gl.load(pointers(i_ptr, M, N, READ)), AXIS)
        elif HOW == "add":
            new = gl.load(pointers(x_ptr, M, N, READ)) * 3
            buffer.atomic_scatter_add(new, gl.load(pointers(i_ptr, M, N, READ)), AXIS)
        elif HOW == "write a part":
            part = buffer.slice(AT * (M // 2), M // 2)
            part.store(gl.load(pointers(x_ptr, M // 2, N, READ)) * 3)
        gl.barrier(cluster=True)
        gl.store(pointers(y_ptr, M, N, WRITE), buffer.load(WRITE))


def division(rng, num_ctas, shape):
    """How the blocks of a cluster divide a matrix, or share it."""
    most, steps = [n.bit_length() - 2 for n in shape], [0, 0]
    bases = []
    for _ in range(num_ctas.bit_length() - 1):
        dim = rng.choice([d for d in (0, 1, 2) if d == 2 or steps[d] < most[d]])
        bases.append([1 << steps[d] if d == dim else 0 for d in range(2)])
        if dim < 2:
            steps[dim] += 1
    return bases


def registers(rng, bases):
    shapes = [([1, 2], [4, 8], [4, 1]), ([2, 1], [8, 4], [2, 2]), ([1, 1], [1, 32], [1, 4])]
    size, lanes, warps = rng.choice(shapes)
    order = rng.choice([[0, 1], [1, 0]])
    return gl.BlockedLayout(size, lanes, warps, order, cga_layout=bases)


def buffers(rng, bases, bits):
    kind = rng.randrange(3)
    if kind == 0:
        return gl.SwizzledSharedLayout(1, 1, 1, rng.choice([[0, 1], [1, 0]]), cga_layout=bases)
    if kind == 1:
        return gl.SwizzledSharedLayout(2, 2, 4, [1, 0], cga_layout=bases)
    return gl.NVMMASharedLayout(32, bits, rank=2, cga_layout=bases)


def misses_copies(of_registers, of_memory):
    return any(any(r) and not any(m) for r, m in zip(of_registers, of_memory, strict=True))


def draw(seed):
    rng = random.Random(f"{seed} cluster")
    num_ctas = rng.choice([2, 2, 4])
    shape = (ROWS, COLUMNS)
    how = rng.choice(["load", "gather", "scatter", "add", "read a part", "write a part"])
    half = (ROWS // 2, COLUMNS)
    write, memory = (division(rng, num_ctas, shape) for _ in range(2))
    read = division(rng, num_ctas, half if "part" in how else shape)
    dtype = "i32" if how == "add" else rng.choice(["i32", "i16", "fp32", "i64"])
    bits = {"i32": 32, "i16": 16, "fp32": 32, "i64": 64}[dtype]
    layouts = registers(rng, write), registers(rng, read), buffers(rng, memory, min(bits, 32))
    if bits == 64 and isinstance(layouts[2], gl.NVMMASharedLayout):
        dtype = "i32"
    stores = [write] + ([read] if how in ("scatter", "add", "write a part") else [])
    refused = any(misses_copies(bases, memory) for bases in stores)
    return num_ctas, how, dtype, layouts, refused, rng.randrange(2), rng.randrange(2)


def run(seed, meets=True, schedule=0):
    num_ctas, how, dtype, (write, read, memory), _, axis, at = draw(seed)
    x = values((ROWS, COLUMNS), dtype, seed)
    rng = np.random.default_rng(seed)
    extent = (ROWS, COLUMNS)[axis]
    if how == "scatter":  # Each element is written once.
        i = np.argsort(rng.random((ROWS, COLUMNS)), axis=axis).astype(np.int32)
    else:
        i = rng.integers(0, extent, (ROWS, COLUMNS), np.int32)
    y = poisoned((ROWS // 2 if how == "read a part" else ROWS, COLUMNS), dtype)
    report = exchange.simulate(
        x, i, y, ROWS, COLUMNS, write, read, memory, how, axis, at, meets, grid=(1,),
        num_ctas=num_ctas, schedule_seed=schedule,
    )  # fmt: skip
    rows = slice(at * (ROWS // 2), (at + 1) * (ROWS // 2))
    expected, new = x.copy(), x * x.dtype.type(3)
    if how == "gather":
        expected = np.take_along_axis(x, i, axis)
    elif how == "scatter":
        np.put_along_axis(expected, i, new, axis)
    elif how == "add":
        places = (i, np.arange(COLUMNS)[None, :]) if axis == 0 else (np.arange(ROWS)[:, None], i)
        np.add.at(expected, places, new)
    elif how == "read a part":
        expected = x[rows]
    elif how == "write a part":
        expected[rows] = new.reshape(-1)[: new.size // 2].reshape(-1, COLUMNS)
    return report, y, expected


@pytest.mark.parametrize("seed", range(40))
def test_random_exchange(seed, target):
    if draw(seed)[4]:
        with pytest.raises(TileError, match="hold copies of elements"):
            run(seed)
        return
    for schedule in range(3):
        report, y, expected = run(seed, schedule=schedule)
        assert report.ok, report.messages
        np.testing.assert_array_equal(y, expected)


@gluon.jit
def add_and_ask(
    x_ptr, i_ptr, y_ptr, old_ptr, M: gl.constexpr, N: gl.constexpr, WRITE: gl.constexpr,
    READ: gl.constexpr, SHARED: gl.constexpr, AXIS: gl.constexpr,
):  # fmt: skip
    """Blocks that share elements add once, and all of them use what was there."""
    buffer = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [M, N], SHARED)
    buffer.store(gl.load(pointers(x_ptr, M, N, WRITE)))
    gl.barrier(cluster=True)
    new = gl.load(pointers(x_ptr, M, N, READ)) * 3
    old = buffer.atomic_scatter_add(new, gl.load(pointers(i_ptr, M, N, READ)), AXIS)
    # Each block stores from its own registers: here the blocks divide the rows.
    gl.store(pointers(old_ptr, M, N, WRITE), gl.convert_layout(old, WRITE))
    gl.barrier(cluster=True)
    gl.store(pointers(y_ptr, M, N, WRITE), buffer.load(WRITE))


@pytest.mark.parametrize("seed", range(30))
def test_old_values_reach_all_blocks(seed, target):
    rng = random.Random(f"{seed} old values")
    shape = (ROWS, COLUMNS)
    num_ctas = rng.choice([2, 2, 4])
    write = [[1, 0], [2, 0]][: num_ctas.bit_length() - 1]
    memory = division(rng, num_ctas, shape)
    read = rng.choice([division(rng, num_ctas, shape), [[0, 0] for _ in write]])
    axis = rng.randrange(2)
    layouts = registers(rng, write), registers(rng, read), buffers(rng, memory, 32)
    x = values(shape, "i32", seed)
    i = np.argsort(np.random.default_rng(seed).random(shape), axis=axis).astype(np.int32)
    before = np.take_along_axis(x, i, axis)
    expected = x.copy()
    np.put_along_axis(expected, i, before + x * 3, axis)
    launch = partial(
        add_and_ask.simulate, x, i, grid=(1,), num_ctas=num_ctas, M=ROWS, N=COLUMNS,
        WRITE=layouts[0], READ=layouts[1], SHARED=layouts[2], AXIS=axis,
    )  # fmt: skip
    if any(misses_copies(bases, memory) for bases in (write, read)):
        with pytest.raises(TileError, match="hold copies of elements"):
            launch(poisoned(shape, "i32"), poisoned(shape, "i32"))
        return
    for schedule in range(3):
        y, old = poisoned(shape, "i32"), poisoned(shape, "i32")
        report = launch(y, old, schedule_seed=schedule)
        assert report.ok, report.messages
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_array_equal(old, before)


@gluon.jit
def add_once(x_ptr, y_ptr, old_ptr, SHARED: gl.constexpr, DIVIDED: gl.constexpr, CAS: gl.constexpr):
    x = gl.load(pointers(x_ptr, 16, 32, SHARED))
    if CAS:
        old = gl.atomic_cas(pointers(y_ptr, 16, 32, SHARED), x, x + 1)
    else:
        old = gl.atomic_add(pointers(y_ptr, 16, 32, SHARED), x)
    gl.store(pointers(old_ptr, 16, 32, DIVIDED), gl.convert_layout(old, DIVIDED))


@pytest.mark.parametrize("cas", [False, True])
@pytest.mark.parametrize("num_ctas", [2, 4])
def test_old_values_of_global_memory_reach_all_blocks(num_ctas, cas, target):
    """Also where no threads of one block share an element."""
    rng = random.Random(f"{num_ctas} {cas}")
    divided = [[1, 0], [2, 0]][: num_ctas.bit_length() - 1]
    for read in ([[0, 0] for _ in divided], [[0, 0], [1, 0]][: len(divided)]):
        layouts = registers(rng, read), registers(rng, divided)
        x, before = values((16, 32), "i32", 4), values((16, 32), "i32", 5)
        before = np.where(before % 2 == 0, x, before) if cas else before
        for schedule in range(3):
            y, old = before.copy(), poisoned((16, 32), "i32")
            report = add_once.simulate(
                x, y, old, *layouts, cas, grid=(1,), num_ctas=num_ctas, schedule_seed=schedule
            )
            assert report.ok, report.messages
            np.testing.assert_array_equal(old, before)
            expected = np.where(before == x, x + 1, before) if cas else before + x
            np.testing.assert_array_equal(y, expected)


def test_a_missing_barrier_is_found(target):
    """Where elements may be in any block, along the axis of their index."""

    def is_clean(seed, schedule):
        try:
            return run(seed, meets=False, schedule=schedule)[0].ok
        except TileError:
            return False

    found = 0
    for seed in range(200, 340):
        _, how, _, layouts, refused, axis, _ = draw(seed)
        if how == "gather" and not refused and any(b[axis] for b in layouts[2].cga_layout):
            assert not all(is_clean(seed, schedule) for schedule in range(4)), seed
            found += 1
    assert found >= 3


@gluon.jit
def store_at_once(x_ptr, y_ptr, WRITE: gl.constexpr, READ: gl.constexpr, SHARED: gl.constexpr):
    """The other block might not have begun, or have ended: the compiler waits for both."""
    x = gl.load(pointers(x_ptr, 16, 32, WRITE))
    other = gl.convert_layout(x, gl.BlockedLayout([1, 1], [1, 32], [1, 4], [0, 1], [[1, 0]]))
    buffer = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [16, 32], SHARED)
    buffer.store(x)
    gl.barrier(cluster=True)
    more = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [16, 32], SHARED)
    y = buffer.load(READ)
    more.store(x)
    gl.store(pointers(y_ptr, 16, 32, READ), y)
    gl.store(pointers(y_ptr + 16 * 32, 16, 32, other.type.layout), other)


@pytest.mark.parametrize("schedule", range(6))
def test_the_compiler_waits_for_begin_and_end(schedule, target):
    write = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0], cga_layout=[[0, 1]])
    read = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0], cga_layout=[[1, 0]])
    memory = gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=[[1, 0]])
    x, y = values((16, 32), "i32", 1), poisoned((2, 16, 32), "i32")
    report = store_at_once.simulate(
        x, y, write, read, memory, grid=(2,), num_ctas=2, schedule_seed=schedule
    )
    assert report.ok, report.messages
    np.testing.assert_array_equal(y, np.stack([x, x]))


@gluon.jit
def in_a_partition(x_ptr, SHARED: gl.constexpr, READ: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.int32, [16, 32], SHARED)
    gl.store(pointers(x_ptr, 16, 32, READ), buffer.load(READ))


@gluon.jit
def nothing():
    pass


@gluon.jit
def partitions(x_ptr, SHARED: gl.constexpr, READ: gl.constexpr):
    gl.warp_specialize([(nothing, ()), (in_a_partition, (x_ptr, SHARED, READ))], [4], [24])


def test_buffers_of_partitions_are_refused(target):
    read = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0], cga_layout=[[1, 0]])
    memory = gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=[[0, 1]])
    with pytest.raises(TileError, match="outside of partitions"):
        partitions[(1,)](poisoned((16, 32), "i32"), memory, read, num_ctas=2)


@gluon.jit
def read_a_row_of_blocks(x_ptr, y_ptr, ALL: gl.constexpr, PART: gl.constexpr, SHARED: gl.constexpr):
    buffer = gl.allocate_shared_memory(
        gl.int32, [4, 32], SHARED, value=gl.load(pointers(x_ptr, 4, 32, ALL))
    )
    gl.barrier(cluster=True)
    gl.store(pointers(y_ptr, 2, 32, PART), buffer.slice(2, 2).load(PART))


def test_where_a_view_starts_says_the_block(target):
    """A bit of the row goes to the offset and to the block, the next one to the block."""
    columns = [[0, 1 << b] for b in range(5)]
    shared = gl.SharedLinearLayout([*columns, [3, 0]], [[2, 0]])
    whole = gl.DistributedLinearLayout([], columns, [[1, 0], [2, 0]], [[0, 0]], [4, 32])
    part = gl.DistributedLinearLayout([[1, 0]], columns, [[0, 0], [0, 0]], [[0, 0]], [2, 32])
    x, y = values((4, 32), "i32", 2), poisoned((2, 32), "i32")
    for schedule in range(3):
        report = read_a_row_of_blocks.simulate(
            x, y, whole, part, shared, grid=(1,), num_ctas=2, schedule_seed=schedule
        )
        assert report.ok, report.messages
        np.testing.assert_array_equal(y, x[2:])


@gluon.jit
def return_early(
    x_ptr, y_ptr, n, WRITE: gl.constexpr, READ: gl.constexpr, SHARED: gl.constexpr
):  # fmt: skip
    """The accesses lie between two early returns: in no block of the function that ends it."""
    if n == 3:
        return
    buffer = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [16, 32], SHARED)
    buffer.store(gl.load(pointers(x_ptr, 16, 32, WRITE)))
    gl.barrier(cluster=True)
    y = buffer.load(READ)
    if n == 5:
        gl.store(pointers(y_ptr, 16, 32, READ), y)
        return
    gl.store(pointers(y_ptr, 16, 32, READ), y + n)


@pytest.mark.parametrize("n", [3, 5, 6])
def test_the_compiler_waits_where_a_kernel_returns_early(n, target):
    write = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0], cga_layout=[[0, 1]])
    read = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0], cga_layout=[[1, 0]])
    memory = gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=[[0, 1]])
    x, y = values((16, 32), "i32", 3), poisoned((16, 32), "i32")
    expected = {3: y.copy(), 5: x, 6: x + 6}[n]
    for schedule in range(4):
        report = return_early.simulate(
            x, y, n, read, write, memory, grid=(2,), num_ctas=2, schedule_seed=schedule
        )
        assert report.ok, report.messages
        np.testing.assert_array_equal(y, expected)
