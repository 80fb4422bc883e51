"""Atomic loads and stores, cache policies, assembly, and stores that arrive at barriers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from addresses import pointers
from reference import poisoned, sim_only
from reference import random as values

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia import ampere, hopper
from tile.experimental.gluon.language.nvidia.hopper import cluster, mbarrier, tma
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor

ampere_and_later = pytest.mark.parametrize("target", ["cuda:80", "cuda:90"], indirect=True)
hopper_only = pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
LINE = gl.BlockedLayout([1], [32], [4], [0])
LOAD = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])


# Atomic loads and stores.


@gluon.jit
def copy_atomically(x_ptr, y_ptr, n, SEM: gl.constexpr):
    i = gl.program_id(0) * 128 + gl.arange(0, 128, layout=LINE)
    x = gl.atomic_load(x_ptr + i, mask=i < n)
    gl.atomic_store(y_ptr + i, x, mask=i < n, sem=SEM)


@ampere_and_later
@pytest.mark.parametrize("dtype", ["i32", "fp32", "fp16", "u64", "fp64"])
@pytest.mark.parametrize("sem", ["release", "relaxed"])
def test_atomic_copies(target, dtype, sem):
    x, y = values(200, dtype, 1), poisoned(200, dtype)
    kernel = copy_atomically[(2,)](x, y, 200, sem)
    np.testing.assert_array_equal(y, x)
    assert "atom.or" not in kernel.asm["ptx"]  # A load is no write.


@gluon.jit
def hand_on(turn_ptr, sum_ptr):
    """Each program waits for its turn, and adds to what those before have left."""
    me = gl.program_id(0)
    gl.atomic_poll(turn_ptr, me)
    gl.store(sum_ptr, gl.load(sum_ptr) * 3 + me)
    gl.atomic_store(turn_ptr, me + 1)


@ampere_and_later
def test_programs_in_turn(target):
    turn, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    hand_on[(6,)](turn, total)
    expected = 0
    for me in range(6):
        expected = expected * 3 + me
    assert total[0] == expected and turn[0] == 6


@gluon.jit
def poll_a_block(flags_ptr, out_ptr):
    i = gl.arange(0, 128, layout=LINE)
    if gl.program_id(0) == 0:
        seen = gl.atomic_poll(flags_ptr + i, 7)
        gl.store(out_ptr + i, seen.to(gl.int32))
    else:
        gl.atomic_store(flags_ptr + i, i * 0 + 7)


@ampere_and_later
def test_waiting_for_a_block(target):
    flags, out = np.zeros(128, np.int32), poisoned(128, "i32")
    poll_a_block[(2,)](flags, out)
    np.testing.assert_array_equal(out, 1)


@gluon.jit
def poll_for_a_while(flags_ptr, out_ptr, TIMEOUT: gl.constexpr, LAYOUT: gl.constexpr):
    i = gl.arange(0, 64, layout=LAYOUT)
    gl.store(out_ptr + i, gl.atomic_poll(flags_ptr + i, 7, timeout_ns=TIMEOUT).to(gl.int32))


@gluon.jit
def poll_rows_for_a_while(flags_ptr, out_ptr, timeout, LAYOUT: gl.constexpr):
    rows = gl.arange(0, 8, layout=gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, 8, layout=gl.SliceLayout(0, LAYOUT))
    at = rows[:, None] * 8 + columns[None, :]
    gl.store(out_ptr + at, gl.atomic_poll(flags_ptr + at, 7, timeout_ns=timeout).to(gl.int32))


@ampere_and_later
@pytest.mark.parametrize("timeout", [0, 2000])
@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("rank", [1, 2])
def test_time_ends_for_late_elements(target, timeout, num_warps, rank):
    flags, out = np.full(64, 7, np.int32), poisoned(64, "i32")
    late = np.random.default_rng(2).choice(64, 9, replace=False)
    flags[late] = 8
    if rank == 1:
        layout = gl.BlockedLayout([1], [32], [num_warps], [0])
        poll_for_a_while[(1,)](flags, out, timeout, layout, num_warps=num_warps)
    else:
        layout = gl.BlockedLayout([1, 1], [4, 8], [num_warps, 1], [1, 0])
        poll_rows_for_a_while[(1,)](flags, out, timeout, layout, num_warps=num_warps)
    np.testing.assert_array_equal(out, flags == 7)


@gluon.jit
def partition_that_polls(flag_ptr, out_ptr):
    """The second program never sets its flag."""
    me = gl.program_id(0)
    if me == 0:
        gl.atomic_store(flag_ptr, 1)
    gl.store(out_ptr + me, gl.atomic_poll(flag_ptr + me, 1, timeout_ns=1000).to(gl.int32))


@gluon.jit
def partition_that_rests():
    pass


@gluon.jit
def poll_in_a_partition(flag_ptr, out_ptr):
    work = (partition_that_polls, (flag_ptr, out_ptr))
    gl.warp_specialize([(partition_that_rests, ()), work], [2])


@ampere_and_later
def test_time_ends_in_a_partition(target):
    flags, out = np.zeros(2, np.int32), poisoned(2, "i32")
    poll_in_a_partition[(2,)](flags, out)
    np.testing.assert_array_equal(out, [1, 0])


@gluon.jit
def refused_atomic(x_ptr, KIND: gl.constexpr):
    if KIND == "sem":
        gl.atomic_load(x_ptr, sem="release")
    else:
        gl.atomic_load(x_ptr.to(gl.pointer_type(gl.int8), bitcast=True))


@pytest.mark.parametrize(
    "kind,message",
    [
        ("sem", "atomic_load takes the sem 'acquire' or 'relaxed', not 'release'"),
        ("small", "atomic_load does not support int8"),
    ],
)
def test_refused_atomics(kind, message):
    with pytest.raises(TileError, match=message):
        refused_atomic[(1,)](np.zeros(1, np.int32), kind)


# Caches.


@gluon.jit
def policy_kernel(x_ptr, y_ptr, LOAD_POLICY: gl.constexpr, STORE_POLICY: gl.constexpr):
    i = gl.arange(0, 128, layout=LINE)
    x = gl.load(x_ptr + i, cache_policy=LOAD_POLICY)
    gl.store(y_ptr + i, x, cache_policy=STORE_POLICY)


@ampere_and_later
def test_cache_policies(target):
    x, y = values(128, "fp32", 2), poisoned(128, "fp32")
    first = ampere.FractionalEvictionPolicy("evict_first", 1.0)
    for load, store, expected in (
        (gl.CachePolicy(".cg"), gl.CachePolicy(".cs"), ["ld.global.cg", "st.global.cs"]),
        (ampere.CachePolicy(l2=first), gl.CachePolicy(eviction_policy="evict_last"),
         ["L2::evict_first", "L2::evict_last"]),
    ):  # fmt: skip
        y[...] = 0
        kernel = policy_kernel[(1,)](x, y, load, store)
        np.testing.assert_array_equal(y, x)
        for text in expected:
            assert text in kernel.asm["ptx"]


def test_policies_are_values():
    half = ampere.FractionalEvictionPolicy("evict_last", 0.5)
    assert ampere.CachePolicy(l2=half) == ampere.CachePolicy(l2=half)
    assert hash(gl.CachePolicy()) == hash(gl.CachePolicy("none", "evict_normal"))
    with pytest.raises(TileError, match="l2 is a FractionalEvictionPolicy, not 'evict_last'"):
        ampere.CachePolicy(l2="evict_last")
    with pytest.raises(TileError, match="fraction is above 0, up to 1"):
        ampere.FractionalEvictionPolicy("evict_last", 1.5)


@pytest.mark.parametrize(
    "policy,message",
    [
        (ampere.CachePolicy(l1="evict_first"), "tile has no code for `l1`"),
        (ampere.CachePolicy(l2=ampere.FractionalEvictionPolicy("evict_last", 0.5)),
         r"of all accesses \(fraction 1.0\)"),
        ("evict_first", "cache_policy is a CachePolicy, not 'evict_first'"),
    ],
)  # fmt: skip
def test_refused_policies(policy, message):
    x = values(128, "fp32", 2)
    with pytest.raises(TileError, match=message):
        policy_kernel[(1,)](x, x.copy(), policy, None)


@gluon.jit
def bulk_policy_kernel(src, y_ptr, POLICY: gl.constexpr):
    gl.static_assert(src.type.block_type.element_ty == gl.float32)
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.block_type.nbytes)
    tma.async_load(src, [0, 0], barrier, buffer, cache_policy=POLICY)
    mbarrier.wait(barrier, 0)
    gl.store(pointers(y_ptr, 32, 32, LOAD), buffer.load(LOAD))


@hopper_only
def test_policies_of_bulk_copies(target):
    x, y = values((32, 32), "fp32", 3), poisoned((32, 32), "fp32")
    layout = gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32)
    desc = TensorDescriptor.from_tensor(x, [32, 32], layout)
    kernel = bulk_policy_kernel[(1,)](desc, y, gl.CachePolicy(eviction_policy="evict_first"))
    np.testing.assert_array_equal(y, x)
    assert ".L2::cache_hint" in kernel.asm["ptx"]
    with pytest.raises(TileError, match="goes through the L2 cache"):
        bulk_policy_kernel[(1,)](desc, y, gl.CachePolicy(".cg"))


# Assembly.


@gluon.jit
def assembly_kernel(y_ptr, a, b):
    high, low = gl.inline_asm(
        "mul.hi.u32 $0, $2, $3; mul.lo.u32 $1, $2, $3;", "=&r,=r,r,r", [a, b],
        [gl.int32, gl.int32], is_pure=True,
    )  # fmt: skip
    gl.store(y_ptr, high)
    gl.store(y_ptr + 1, low)


@ampere_and_later
def test_assembly(target):
    y = poisoned(2, "i32")
    assembly_kernel[(1,)](y, 123456789, 987654321)
    product = 123456789 * 987654321
    assert y.view(np.uint32).tolist() == [product >> 32, product & 0xFFFFFFFF]


# Stores that arrive at barriers, and arrivals of one block.


@gluon.jit
def store_kernel(x_ptr, y_ptr, N: gl.constexpr, L: gl.constexpr, S: gl.constexpr):
    buffer = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [N, N], S)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    cluster.barrier()
    mbarrier.expect(barrier, buffer.nbytes_per_cta)
    hopper.async_store(buffer, gl.load(pointers(x_ptr, N, N, L)), barrier)
    mbarrier.wait(barrier, 0, deps=[buffer])
    gl.store(pointers(y_ptr, N, N, L), buffer.load(L))


@sim_only
@hopper_only
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "i8", "i64"])
@pytest.mark.parametrize("divided", [False, True])
def test_stores_that_arrive(target, dtype, divided):
    basis = [[1, 0] if divided else [0, 0]]
    layout = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=basis)
    shared = gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=basis)
    x, y = values((32, 32), dtype, 5), poisoned((32, 32), dtype)
    kernel = store_kernel[(1,)](x, y, 32, layout, shared, num_ctas=2)
    np.testing.assert_array_equal(y, x)
    assert "st.async" in kernel.asm["ptx"]


@hopper_only
def test_stores_that_arrive_need_a_cluster(target):
    """GPUs stop a program without one: the instruction is illegal there."""
    layout = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    shared = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    x, y = values((32, 32), "fp32", 5), poisoned((32, 32), "fp32")
    with pytest.raises(TileError, match="clusters of more than one block, and num_ctas is 1"):
        store_kernel[(1,)](x, y, 32, layout, shared)


@gluon.jit
def exchange_kernel(x_ptr, y_ptr, A: gl.constexpr, S: gl.constexpr, B: gl.constexpr):
    """Each block writes what it has to where the other one reads it: a transposition of halves."""
    buffer = gl.allocate_shared_memory(gl.float32, [32, 32], S)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, buffer.nbytes_per_cta)
    cluster.barrier()
    hopper.async_store(buffer, gl.load(pointers(x_ptr, 32, 32, A)), barrier)
    mbarrier.wait(barrier, 0, deps=[buffer])
    gl.store(pointers(y_ptr, 32, 32, B), buffer.load(B))
    cluster.barrier()


@sim_only
@hopper_only
def test_stores_to_another_block(target):
    rows, columns = [[1, 0]], [[0, 1]]
    a = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=rows)
    b = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=columns)
    shared = gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=columns)
    x, y = values((32, 32), "fp32", 6), poisoned((32, 32), "fp32")
    kernel = exchange_kernel[(1,)](x, y, a, shared, b, num_ctas=2)
    np.testing.assert_array_equal(y, x)
    assert "mapa.shared::cluster" in kernel.asm["ptx"]


# Loads whose layout is left open.


@gluon.jit
def open_load_kernel(x_ptr, y_ptr, IN: gl.constexpr, SHARED: gl.constexpr, OUT: gl.constexpr):
    i = gl.arange(0, 32, layout=gl.SliceLayout(1, IN))
    j = gl.arange(0, 16, layout=gl.SliceLayout(0, IN))
    buffer = gl.allocate_shared_memory(gl.int32, [32, 16], SHARED)
    buffer.store(gl.load(x_ptr + i[:, None] * 16 + j[None, :]))
    x = buffer.load(gl.AutoLayout())
    x = x.reshape(2, 16, 4, 4).permute(2, 0, 3, 1).reshape(8, 64)
    x = gl.set_auto_layout(x, OUT)
    i = gl.arange(0, 8, layout=gl.SliceLayout(1, OUT))
    j = gl.arange(0, 64, layout=gl.SliceLayout(0, OUT))
    gl.store(y_ptr + i[:, None] * 64 + j[None, :], x)


@sim_only
@ampere_and_later
@pytest.mark.parametrize("order", [[1, 0], [0, 1]])
def test_the_layout_of_a_load_is_left_open(order, target):
    """What becomes of the tensor decides it."""
    layout = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    x, y = values((32, 16), "i32", 7), poisoned((8, 64), "i32")
    open_load_kernel[(1,)](x, y, layout, gl.SwizzledSharedLayout(4, 1, 4, order), layout)
    expected = x.reshape(2, 16, 4, 4).transpose(2, 0, 3, 1).reshape(8, 64)
    np.testing.assert_array_equal(y, expected)


# Other orders of the dimensions of a buffer.


@gluon.jit
def turned_kernel(
    x_ptr, y_ptr, A: gl.constexpr, B: gl.constexpr, C: gl.constexpr, ORDER: gl.constexpr,
    SHARED: gl.constexpr, FIRST: gl.constexpr, PART: gl.constexpr,
):  # fmt: skip
    LINE: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    i = gl.arange(0, A * B * C, layout=LINE)
    whole = gl.allocate_shared_memory(gl.float16, [A, B, C], SHARED)
    x = gl.load(x_ptr + i).reshape(A, B, C)
    whole.store(x)
    y = whole.slice(FIRST, PART).permute(ORDER).load(gl.AutoLayout()).reshape(PART * B * C)
    j = gl.arange(0, PART * B * C, layout=LINE)
    gl.store(y_ptr + j, gl.set_auto_layout(y, LINE))


@sim_only
@ampere_and_later
@pytest.mark.parametrize("swizzle", [0, 32, 64])
@pytest.mark.parametrize("part", [(0, 8), (4, 4)])
def test_buffers_of_rows_in_all_orders(swizzle, part, target):
    shape = (8, 16, 32)
    x = values(shape, "fp16", 11)
    layout = gl.NVMMASharedLayout(swizzle, 16, rank=3)
    expected = x[part[0] : sum(part)]
    for order in itertools.permutations(range(3)):
        y = poisoned(expected.size, "fp16")
        turned_kernel[(1,)](x, y, *shape, order, layout, *part)
        np.testing.assert_array_equal(y, expected.transpose(order).reshape(-1))


# Few rows, which have no room for a swizzle.


@gluon.jit
def few_rows_kernel(src, y_ptr, SIZE: gl.constexpr, L: gl.constexpr):
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.block_type.nbytes)
    tma.async_load(src, [0, 1, 0, 0, 0], barrier, buffer)
    mbarrier.wait(barrier, 0)
    x = buffer.load(gl.AutoLayout()).reshape(SIZE)
    gl.store(y_ptr + gl.arange(0, SIZE, layout=L), gl.set_auto_layout(x, L))


@sim_only
@hopper_only
@pytest.mark.parametrize(
    "block", [[1, 1, 1, 2, 256], [1, 2, 1, 2, 256], [1, 1, 1, 1, 64], [1, 1, 2, 2, 32]]
)
@pytest.mark.parametrize("name", ["u8", "fp16"])
def test_blocks_of_few_rows(block, name, target):
    """Bulk copies need 128 bytes side by side, which panels of few rows have not."""
    shape = [1, 4, 2, 2, 256]
    x = (
        np.random.default_rng(9)
        .integers(0, 100, shape)
        .astype({"u8": np.uint8}.get(name, np.float16))
    )
    dtype = gl.uint8 if name == "u8" else gl.float16
    layout = gl.NVMMASharedLayout.get_default_for(block, dtype)
    y = np.full(int(np.prod(block)), 101, x.dtype)
    src = TensorDescriptor.from_tensor(x, block, layout)
    few_rows_kernel[(1,)](src, y, y.size, gl.BlockedLayout([1], [32], [4], [0]))
    _, b, c, d, e = block
    np.testing.assert_array_equal(y, x[:, 1 : 1 + b, :c, :d, :e].reshape(-1))


# Parts of an array of buffers.


@gluon.jit
def parts_of_an_array(x_ptr, y_ptr, z_ptr, n, SHARED: gl.constexpr, L: gl.constexpr):
    """Seven buffers; those from 3 on, four of them, are an array, too. So are two of these."""
    rows = gl.arange(0, 8, layout=gl.SliceLayout(1, L))
    columns = gl.arange(0, 32, layout=gl.SliceLayout(0, L))
    at = rows[:, None] * 32 + columns[None, :]
    buffers = gl.allocate_shared_memory(gl.float16, [7, 8, 32], SHARED)
    for i in gl.static_range(7):
        buffers.index(i).store(gl.load(x_ptr + i * 256 + at))
    part = buffers.slice(3, 4, dim=0)
    for i in range(n):
        gl.store(y_ptr + i * 256 + at, part.index(i).load(L))
    inner = part.slice(1, 2, dim=0)
    for i in gl.static_range(2):
        gl.store(z_ptr + i * 256 + at, inner.index(i).load(L))


@pytest.mark.parametrize(
    "target", ["cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100"], indirect=True
)
@pytest.mark.parametrize(
    "shared", [gl.SwizzledSharedLayout(4, 1, 4, [1, 0]), gl.SharedLinearLayout(
        [[0, 1], [1, 0], [0, 2], [0, 4], [2, 0], [0, 8], [4, 0], [0, 16]])],
)  # fmt: skip
def test_parts_of_an_array_of_buffers(shared, target):
    lanes = 64 if target.startswith("hip:gfx9") else 32
    layout = gl.BlockedLayout([1, 2], [lanes // 8, 8], [4, 1], [1, 0])
    x = values((7, 8, 32), "fp16", 3)
    y, z = poisoned((4, 8, 32), "fp16"), poisoned((2, 8, 32), "fp16")
    arguments = (x, y, z, 4, shared, layout)
    parts_of_an_array[(1,)](*arguments)
    np.testing.assert_array_equal(y, x[3:])
    np.testing.assert_array_equal(z, x[4:6])
    y[...], z[...] = 0, 0
    parts_of_an_array.interpret(*arguments, grid=(1,))
    np.testing.assert_array_equal(y, x[3:])
    np.testing.assert_array_equal(z, x[4:6])
