"""Programs with explicit layouts in the interpreter: the same results as compiled, and what it
finds."""

from __future__ import annotations

import amd_machines
import ml_dtypes
import numpy as np
import pytest
import random_programs as rp
import test_gluon_amd_buffers as amd_buffers
import test_gluon_amd_layouts as amd_layouts
import test_gluon_amd_lds as amd_lds
import test_gluon_amd_scales as amd_scales
import test_gluon_examples as examples
import test_gluon_nvidia as nvidia
from addresses import pointers
from reference import poisoned
from reference import random as values
from test_gluon_random import load

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.ampere import async_copy
from tile.experimental.gluon.language.nvidia.hopper import (
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("TILE_INTERPRET", "1")


# The same programs.


@pytest.mark.parametrize("n", [77, 3000])
@pytest.mark.parametrize("layout", ["wide", "coalesced"])
def test_vector_add(n, layout):
    chosen = gl.BlockedLayout([8], [32], [4], [0]) if layout == "wide" else gl.CoalescedLayout()
    x, y, out = values(n, "fp32", 1), values(n, "fp32", 2), poisoned(n, "fp32")
    examples.load("vector_add").add(x, y, out, chosen)
    np.testing.assert_array_equal(out, x + y)


@pytest.mark.parametrize("shape", [(64, 64), (100, 33)])
def test_transpose(shape):
    x, out = values(shape, "fp16", 3), poisoned(shape[::-1], "fp16")
    examples.load("transpose").transpose(x, out, bits=16)
    np.testing.assert_array_equal(out, x.T)


def check(multiply, m, n, k, dtype):
    a, b = values((m, k), "fp16", 4), values((k, n), "fp16", 5)
    c = poisoned((m, n), dtype)
    multiply(a, b, c)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    examples.close(c, expected, np.linalg.norm(expected))


@pytest.mark.parametrize("m,n,k", [(100, 72, 200), (17, 8, 8)])
def test_async_matmul(m, n, k):
    matmul = examples.load("async_matmul").matmul
    for stages in (2, 4):
        check(lambda a, b, c: matmul(a, b, c, stages=stages), m, n, k, "fp32")  # noqa: B023


@pytest.mark.parametrize("target", ["hip:gfx942"], indirect=True)
def test_mfma_matmul(target):
    matmul = examples.load("mfma_matmul").matmul
    check(lambda a, b, c: matmul(a, b, c, 3), 100, 72, 200, "fp32")


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("m,n,k", [(200, 136, 72), (64, 256, 200)])
def test_wgmma_matmul(m, n, k, specialize, target):
    matmul = examples.load("wgmma_matmul").matmul
    for stages in (2, 3):
        check(lambda a, b, c: matmul(a, b, c, specialize, stages=stages), m, n, k, "fp16")  # noqa: B023


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
@pytest.mark.parametrize("shape", [(33, 8), (100, 200)])
def test_tma_copy(shape, target):
    x, out = values(shape, "fp32", 6), poisoned(shape, "fp32")
    examples.load("tma_copy").scale(x, out, 2.0, (16, 32))
    np.testing.assert_array_equal(out, x * 2)


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
def test_copies_that_arrive_at_barriers(target):
    x, y = values(2 * 32 * 64, "fp32", 3), poisoned(2 * 32 * 64, "fp32")
    nvidia.arriving_copies[(1,)](x, y, 3000, 32, 64, nvidia.LOAD)
    np.testing.assert_array_equal(y, np.where(np.arange(x.size) < 3000, x, 0))


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
def test_descriptors_made_in_the_kernel(target):
    x, y = values((50, 40), "fp16", 4), poisoned((50, 40), "fp16")
    nvidia.device_descriptors[(1,)](x, y, 50, 40, (16, 64), gl.NVMMASharedLayout(128, 16))
    np.testing.assert_array_equal(y, x)


@amd_machines.every
@pytest.mark.parametrize("dtype", ["fp32", "i8", "bool"])
def test_buffers(dtype, target):
    x = values(1024, "i8", 1) > 0 if dtype == "bool" else values(1024, dtype, 1)
    y = np.full_like(x, 1) if dtype == "bool" else poisoned(1024, dtype)
    amd_buffers.buffer_copy[(2,)](x, y, 700, 512, amd_machines.row(target), 1, None)
    np.testing.assert_array_equal(y, np.where(np.arange(1024) < 700, x, 1).astype(x.dtype))


@amd_machines.every
@pytest.mark.parametrize("kind", amd_buffers.ATOMICS)
@pytest.mark.parametrize("dtype", ["i32", "u32"])
def test_buffer_atomics(dtype, kind, target):
    x, v = values(512, dtype, 1), values(512, dtype, 2)
    before, old = x.copy(), np.zeros_like(x)
    operation = getattr(gl.amd.cdna3, f"buffer_atomic_{kind}")
    amd_buffers.buffer_atomic[(1,)](x, old, v, 417, operation, 512, amd_machines.row(target))
    inside = np.arange(512) < 417
    np.testing.assert_array_equal(x, np.where(inside, amd_buffers.ATOMICS[kind](before, v), before))
    np.testing.assert_array_equal(old, np.where(inside, before, 0))


@amd_machines.every
@pytest.mark.parametrize("buffer", [True, False])
@pytest.mark.parametrize("trips,n", [(4, 7000), (0, 0)])
def test_copies_to_lds(trips, n, buffer, target):
    x, y = values((max(trips, 1), 32, 64), "fp16", 7), poisoned((max(trips, 1), 32, 64), "fp16")
    shared = gl.PaddedSharedLayout.with_identity_for([[64, 8]], [32, 64], [1, 0])
    out = gl.BlockedLayout([2, 1], [amd_machines.LANES[target] // 4, 4], [2, 2], [0, 1])
    amd_lds.staged[(1,)](
        x, y, n, trips, 32, 64, amd_machines.matrix(target), shared, 5, buffer, out
    )
    if trips:
        inside = np.arange(x.size).reshape(x.shape) < n
        np.testing.assert_array_equal(y, np.where(inside, x, 5).astype(x.dtype))


@amd_machines.every
def test_slices(target):
    m = 4 * (amd_machines.LANES[target] // 8)
    x, y = values((2 * m, 64), "fp32", 8), poisoned((4, m, 32), "fp32")
    amd_layouts.parts[(1,)](x, y, m, 32, amd_machines.matrix(target))
    want = [x[i * m :][:m, j * 32 :][:, :32] for j in range(2) for i in range(2)]
    np.testing.assert_array_equal(y, np.stack(want))


@amd_machines.gfx950
@pytest.mark.parametrize("left,right", [("e2m1", "e4m3"), ("e5m2", "e2m1")])
def test_scaled_products(left, right, target, monkeypatch):
    m, n, k = 32, 64, 128
    a, a_value = amd_scales.random_operand(m, k, left, 1, 1)
    b, b_value = amd_scales.random_operand(k, n, right, 2, 0)
    (a_scale, a_factor), (b_scale, b_factor) = (
        amd_scales.random_scales(extent, k // 32, seed) for extent, seed in ((m, 3), (n, 4))
    )
    c = poisoned((m, n), "fp32")
    layout = gl.amd.AMDMFMALayout(4, [16, 16, 128], True, [2, 2])
    amd_scales.scaled_product[(1,)](
        a, a_scale, b, b_scale, c, m, n, k, left, right, amd_machines.matrix(target), layout, True
    )
    want = (a_value * a_factor) @ (b_value * b_factor.T) + 1
    np.testing.assert_allclose(c, want, rtol=1e-5)


@amd_machines.gfx950
@pytest.mark.parametrize("index", [0, 1])
def test_bytes_packed_across_k(index, target):
    parent = gl.amd.AMDMFMALayout(4, [32, 32, 64], True, [2, 2])
    codes = np.abs(values((128, 128), "i32", 9)) % 16
    x, want = amd_scales.packed(codes, index), amd_scales.packed(codes, 1 - index)
    y = np.full(want.shape, 0xEE, np.uint8)
    operand = gl.DotOperandLayout(index, parent, 16)
    amd_scales.repacked[(1,)](x, y, *x.shape, amd_machines.matrix(target), operand)
    np.testing.assert_array_equal(y, want)


@amd_machines.cdna
@pytest.mark.parametrize("format,axis", [("e2m1", 1), ("e2m1", 0), ("e5m2", None)])
def test_scaled_upcast(format, axis, target):
    wide = (32 * (1 + (axis == 0)), 64 * (1 + (axis == 1)))
    x, value = amd_scales.random_operand(*wide, format, 5, axis)
    scales = (np.abs(values(wide, "i32", 6)) % 9 + 123).astype(np.uint8)
    y = np.full(wide, -77, ml_dtypes.bfloat16)
    amd_scales.upcast[(1,)](
        x, scales, y, 32, 64, axis, format == "e2m1", amd_machines.matrix(target, rows=2)
    )
    np.testing.assert_array_equal(y.astype(np.float64), value * 2.0 ** (scales.astype(int) - 127))


# Random programs.


@pytest.mark.parametrize("make", [rp.program, rp.looped])
@pytest.mark.parametrize("seed", range(12))
def test_random_program(seed, make, tmp_path):
    made, x = make(seed)
    out = poisoned(made.expected.shape, "i32")
    load(made.text, tmp_path, seed)[(1,)](x, out, 2)
    np.testing.assert_array_equal(out, made.expected, err_msg=made.text)


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
@pytest.mark.parametrize("seed", range(16))
def test_random_program_with_bulk_copies(seed, target, tmp_path):
    made, x = rp.bulk_program(seed)
    layout = gl.NVMMASharedLayout([0, 32, 64, 128][seed % 4], 32)
    out = poisoned(made.expected.shape, "i32")
    descs = [
        TensorDescriptor.from_tensor(t.reshape(-1, rp.N), [rp.N, rp.N], layout) for t in (x, out)
    ]
    load(made.text, tmp_path, seed)[(1,)](x, descs[0], out, descs[1])
    np.testing.assert_array_equal(out, made.expected, err_msg=made.text)


# Memory: bytes lie where layouts say.


@gluon.jit
def bytes_of(x_ptr, y_ptr, LAYOUT: gl.constexpr, SHARED: gl.constexpr, ROW: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float16, [32, 64], SHARED)
    buffer.store(gl.load(pointers(x_ptr, 32, 64, LAYOUT)))
    plain: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    flat = buffer.reinterpret(gl.int16, [2048], plain)
    gl.store(y_ptr + gl.arange(0, 2048, layout=ROW), flat.load(ROW))


@pytest.mark.parametrize(
    "shared",
    [
        gl.SwizzledSharedLayout(4, 2, 4, [1, 0]), gl.SwizzledSharedLayout(2, 1, 8, [0, 1]),
        gl.NVMMASharedLayout(128, 16), gl.NVMMASharedLayout(32, 16, transposed=True),
        gl.SharedLinearLayout([[0, 1 << i] for i in range(6)] + [[1 << i, 1] for i in range(5)]),
    ],
)  # fmt: skip
def test_reinterpreted_buffers_are_as_compiled(shared, monkeypatch):
    layout = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    row = gl.BlockedLayout([2], [32], [4], [0])
    x = values((32, 64), "fp16", 1)
    results = []
    for interpret in ("1", "0"):
        monkeypatch.setenv("TILE_INTERPRET", interpret)
        y = poisoned(2048, "i16")
        bytes_of[(1,)](x, y, layout, shared, row)
        results.append(y)
    np.testing.assert_array_equal(*results)


@gluon.jit
def views(x_ptr, y_ptr, LAYOUT: gl.constexpr, T: gl.constexpr):
    shared: gl.constexpr = gl.SwizzledSharedLayout(4, 1, 4, [1, 0])
    buffers = gl.allocate_shared_memory(gl.int32, [2, 32, 64], shared)
    buffers.index(1).store(gl.load(pointers(x_ptr, 32, 64, LAYOUT)))
    part = buffers.index(1).slice(16, 16, dim=0).permute((1, 0))
    gl.store(pointers(y_ptr, 64, 16, T), part.load(T))


def test_views():
    layout = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    x, y = values((32, 64), "i32", 2), poisoned((64, 16), "i32")
    views[(1,)](x, y, layout, layout)
    np.testing.assert_array_equal(y, x[16:].T)


# What is wrong.

A = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
SHARED = gl.constexpr(gl.NVMMASharedLayout(128, 32))


@gluon.jit
def without_wait(x_ptr, y_ptr, WAIT: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.int32, [32, 32], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    async_copy.async_load(buffer, pointers(x_ptr, 32, 32, A))
    async_copy.commit_group()
    if WAIT:
        async_copy.wait_group(0)
    gl.store(pointers(y_ptr, 32, 32, A), buffer.load(A))


def test_data_comes_when_it_is_waited_for():
    x, y = values((32, 32), "i32", 1), poisoned((32, 32), "i32")
    without_wait[(1,)](x, y, True)
    np.testing.assert_array_equal(y, x)
    without_wait[(1,)](x, y, False)
    np.testing.assert_array_equal(y, -1)


def layout_for_two_warps(x):
    i = gl.arange(0, 128, layout=gl.BlockedLayout([1], [32], [2], [0]))
    gl.store(x + i, i)


def layout_for_wide_warps(x):
    i = gl.arange(0, 256, layout=gl.BlockedLayout([1], [64], [4], [0]))
    gl.store(x + i, i)


def two_layouts(x):
    i = gl.arange(0, 128, layout=gl.BlockedLayout([1], [32], [4], [0]))
    gl.store(x + i, gl.arange(0, 128, layout=gl.BlockedLayout([2], [32], [4], [0])))


def nothing_arrives(x):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, 1)
    mbarrier.wait(bar, 0)


def too_many_arrivals(x):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, 2)
    mbarrier.arrive(bar, count=3)


def barrier_that_is_none(x):
    mbarrier.arrive(mbarrier.allocate_mbarrier())


def buffer_that_is_none(x):
    buffers = gl.allocate_shared_memory(gl.int32, [2, 32], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    buffers.index(gl.program_id(0) + 2).load(gl.BlockedLayout([1], [32], [4], [0]))


def unfinished_sum(x):
    MMA: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 32, 16])
    shared: gl.constexpr = gl.NVMMASharedLayout(64, 16)
    a = gl.allocate_shared_memory(gl.float16, [64, 32], shared)
    b = gl.allocate_shared_memory(gl.float16, [32, 32], shared)
    acc = warpgroup_mma_init(gl.zeros([64, 32], gl.float32, MMA))
    acc = warpgroup_mma(a, b, acc, is_async=True)
    acc = warpgroup_mma_wait(1, deps=[acc])
    acc + 1


def outside(x):
    gl.amd.cdna3.buffer_load(x, gl.arange(1, 129, layout=gl.BlockedLayout([1], [32], [4], [0])))


CASES = {
    layout_for_two_warps: "has an invalid layout: it is for 2 warps, not for 4",
    layout_for_wide_warps: "has an invalid layout: it is for 64 lanes of a warp, not for 32",
    two_layouts: "tensors in two layouts do not fit together",
    nothing_arrives: (
        "the program waits for a phase of parity 0 of a barrier, whose phase 0 lacks 1 of 1 "
        "arrivals, and nothing is under way that would end it"
    ),
    too_many_arrivals: "3 arrivals at a barrier whose phase 0 lacks 2 of 2",
    barrier_that_is_none: "this barrier was not made by mbarrier.init, or ended before",
    buffer_that_is_none: "there is no buffer 2 of 2",
    unfinished_sum: "the sum of a product is read before warpgroup_mma_wait has waited for it",
    outside: "out of bounds",
}


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_message(function, target):
    with pytest.raises(TileError) as error:
        gluon.jit(function)[(1,)](np.zeros(128, np.int32))
    assert CASES[function] in str(error.value)
    assert f"in {function.__name__}" in str(error.value)


# Partitions.


@gluon.jit
def producer(x_ptr, buffers, full, empty, trips, SKIP: gl.constexpr):
    for i in range(trips):
        mbarrier.wait(empty.index(i & 1), ((i >> 1) & 1) ^ 1)
        buffers.index(i & 1).store(gl.load(pointers(x_ptr + i * 1024, 32, 32, A)))
        if not SKIP or i != 2:
            mbarrier.arrive(full.index(i & 1))


@gluon.jit
def consumer(y_ptr, buffers, full, empty, trips):
    for i in range(trips):
        mbarrier.wait(full.index(i & 1), (i >> 1) & 1)
        gl.store(pointers(y_ptr + i * 1024, 32, 32, A), buffers.index(i & 1).load(A) * 2)
        mbarrier.arrive(empty.index(i & 1))
    return gl.num_warps() + 0


@gluon.jit
def handed_over(x_ptr, y_ptr, n_ptr, trips, SKIP: gl.constexpr):
    shared: gl.constexpr = gl.SwizzledSharedLayout(4, 1, 4, [1, 0])
    buffers = gl.allocate_shared_memory(gl.int32, [2, 32, 32], shared)
    full, empty = mbarrier.allocate_mbarrier(batch=2), mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(full.index(i), 1)
        mbarrier.init(empty.index(i), 1)
    n = gl.warp_specialize(
        [(consumer, (y_ptr, buffers, full, empty, trips)),
         (producer, (x_ptr, buffers, full, empty, trips, SKIP))],
        [4],
    )  # fmt: skip
    gl.store(n_ptr, n)


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
@pytest.mark.parametrize("trips", [0, 1, 5])
def test_partitions(trips, target):
    x, y = values((max(trips, 1), 32, 32), "i32", 3), poisoned((max(trips, 1), 32, 32), "i32")
    n = np.zeros(1, np.int32)
    handed_over[(2,)](x, y, n, trips, False)
    assert n[0] == 4
    if trips:
        np.testing.assert_array_equal(y, x * 2)


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
def test_a_deadlock_is_found(target):
    x, y = values((5, 32, 32), "i32", 3), poisoned((5, 32, 32), "i32")
    with pytest.raises(TileError) as error:
        handed_over[(1,)](x, y, np.zeros(1, np.int32), 5, True)
    text = str(error.value)
    assert "deadlock: no partition can go on:" in text
    assert "the first partition (`consumer`) waits at" in text, text
    assert "partition 1 (`producer`) waits at" in text
    assert text.count("of a barrier, whose phase") == 2 and "test_gluon_interpreter.py:" in text
    # The next launch is not disturbed.
    handed_over[(1,)](x, y, np.zeros(1, np.int32), 5, False)
    np.testing.assert_array_equal(y, x * 2)


@gluon.jit
def fails(x_ptr, bar):
    gl.device_assert(gl.load(x_ptr) == 1, "it is not one")
    mbarrier.arrive(bar)


@gluon.jit
def waits(bar):
    mbarrier.wait(bar, 0)


@gluon.jit
def failing_partition(x_ptr, FIRST: gl.constexpr):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, 1)
    if FIRST:
        gl.warp_specialize([(fails, (x_ptr, bar)), (waits, (bar,))], [4])
    else:
        gl.warp_specialize([(waits, (bar,)), (fails, (x_ptr, bar))], [4])


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
@pytest.mark.parametrize("first", [True, False])
def test_errors_of_partitions_have_their_place(first, target):
    import threading

    failing_partition[(1,)](np.ones(1, np.int32), first)
    with pytest.raises(TileError, match="it is not one") as error:
        failing_partition[(1,)](np.zeros(1, np.int32), first)
    assert "in fails" in str(error.value)
    assert threading.active_count() < 8


# Copies of the engine that are not waited for.


@gluon.jit
def early_overwrite(x_desc, y_desc, WAIT: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.int32, [32, 32], SHARED)
    buffer.store(gl.full([32, 32], 1, gl.int32, A))
    tma.async_store(y_desc, [0, 0], buffer)
    if WAIT:
        tma.store_wait(0)
    buffer.store(gl.full([32, 32], 2, gl.int32, A))


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
@pytest.mark.parametrize("wait", [True, False])
def test_stores_read_their_buffer_until_they_are_waited_for(wait, target):
    y = poisoned((32, 32), "i32")
    desc = TensorDescriptor.from_tensor(y, [32, 32], SHARED.value)
    early_overwrite[(1,)](desc, desc, wait)
    np.testing.assert_array_equal(y, 1 if wait else 2)
