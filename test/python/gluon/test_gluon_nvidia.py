"""What only NVIDIA's GPUs have: dots, barriers, bulk copies, partitions."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from addresses import pointers
from reference import poisoned
from reference import random as values

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from tile.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor

ampere = pytest.mark.parametrize("target", ["cuda:80", "cuda:90"], indirect=True)
hopper = pytest.mark.parametrize("target", ["cuda:90"], indirect=True)


# Dots in registers.


@gluon.jit
def dot_kernel(
    a_ptr, b_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, LOAD: gl.constexpr,
    ACC: gl.constexpr, K_WIDTH: gl.constexpr, MMA: gl.constexpr, OUT: gl.constexpr,
):  # fmt: skip
    a = gl.convert_layout(
        gl.load(pointers(a_ptr, M, K, LOAD)), gl.DotOperandLayout(0, ACC, K_WIDTH)
    )
    b = gl.convert_layout(
        gl.load(pointers(b_ptr, K, N, LOAD)), gl.DotOperandLayout(1, ACC, K_WIDTH)
    )
    acc = gl.full([M, N], 1, OUT, ACC)
    if MMA:
        c = mma_v2(a, b, acc)
    else:
        c = gl.dot_fma(a, b, acc)
    gl.store(pointers(c_ptr, M, N, ACC), c)


LOAD = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
TYPES = {
    "fp16": (np.float16, 2, gl.float32, np.float32, 1e-5),
    "bf16": (ml_dtypes.bfloat16, 2, gl.float32, np.float32, 1e-5),
    "tf32": (np.float32, 1, gl.float32, np.float32, 2e-3),
    "i8": (np.int8, 4, gl.int32, np.int32, 0),
}


def product(a, b):
    return a.astype(np.float64) @ b.astype(np.float64) + 1


@ampere
@pytest.mark.sweep
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("warps", [[4, 1], [2, 2], [1, 4]])
@pytest.mark.parametrize("m,n,k", [(64, 64, 32), (32, 128, 64)])
def test_mma_v2(m, n, k, warps, kind, target):
    dtype, k_width, out, result, tolerance = TYPES[kind]
    a, b = values((m, k), "i8", 1) % 16 - 8, values((k, n), "i8", 2) % 16 - 8
    a, b = a.astype(dtype), b.astype(dtype)
    c = np.full((m, n), -77, result)
    acc = gl.NVMMADistributedLayout([2, 0], warps, [16, 8])
    kernel = dot_kernel[(1,)](a, b, c, m, n, k, LOAD, acc, k_width, True, out)
    np.testing.assert_allclose(c, product(a, b), rtol=tolerance)
    assert "mma.sync" in kernel.asm["ptx"]


@ampere
def test_dot_fma(target):
    a, b, c = values((32, 16), "fp32", 1), values((16, 64), "fp32", 2), poisoned((32, 64), "fp32")
    acc = gl.BlockedLayout([2, 4], [4, 8], [2, 2], [1, 0])
    kernel = dot_kernel[(1,)](a, b, c, 32, 64, 16, LOAD, acc, 0, False, gl.float32)
    np.testing.assert_allclose(c, product(a, b), rtol=1e-5, atol=1e-5)
    assert "mma" not in kernel.asm["ptx"]


# Asynchronous copies of threads that arrive at a barrier.


@gluon.jit
def arriving_copies(x_ptr, y_ptr, n, M: gl.constexpr, N: gl.constexpr, A: gl.constexpr):
    buffer = gl.allocate_shared_memory(
        x_ptr.dtype.element_ty, [2, M, N], gl.SwizzledSharedLayout(4, 1, 4, [1, 0])
    )
    barriers = mbarrier.allocate_mbarrier(batch=2)
    for s in gl.static_range(2):
        mbarrier.init(barriers.index(s), count=1)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, A))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, A))
    offsets = rows[:, None] * N + columns[None, :]
    for s in gl.static_range(2):
        async_copy.async_load(
            buffer.index(s), x_ptr + s * M * N + offsets, mask=offsets + s * M * N < n
        )
        async_copy.mbarrier_arrive(barriers.index(s))
        mbarrier.arrive(barriers.index(s))
    for s in gl.static_range(2):
        mbarrier.wait(barriers.index(s), 0)
        gl.store(y_ptr + s * M * N + offsets, buffer.index(s).load(A))
        mbarrier.invalidate(barriers.index(s))


@ampere
@pytest.mark.parametrize("n", [2 * 32 * 64, 3000, 0])
def test_copies_that_arrive_at_barriers(n, target):
    x, y = values(2 * 32 * 64, "fp32", 3), poisoned(2 * 32 * 64, "fp32")
    arriving_copies[(1,)](x, y, n, 32, 64, LOAD)
    np.testing.assert_array_equal(y, np.where(np.arange(x.size) < n, x, 0))


@gluon.jit
def counted_arrivals(x_ptr, y_ptr, COUNT: gl.constexpr, A: gl.constexpr):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=COUNT + 1)
    i = gl.arange(0, 128, layout=A)
    for turn in range(3):
        mbarrier.arrive(barrier, count=COUNT)
        mbarrier.arrive(barrier, count=1)
        mbarrier.wait(barrier, turn & 1)
    gl.store(y_ptr + i, gl.load(x_ptr + i))
    mbarrier.invalidate(barrier)


@ampere
@pytest.mark.parametrize("count", [1, 3, 4, 8])
def test_arrivals_that_count_for_several(count, target):
    x, y = values(128, "i32", 3), poisoned(128, "i32")
    kernel = counted_arrivals[(1,)](x, y, count, gl.BlockedLayout([1], [32], [4], [0]))
    np.testing.assert_array_equal(y, x)
    if target == "cuda:80":  # What came with sm_90.
        assert "shared::cta" not in kernel.asm["ptx"] and "try_wait" not in kernel.asm["ptx"]


# Descriptors that the kernel makes.


@gluon.jit
def device_descriptors(x_ptr, y_ptr, M, N, BLOCK: gl.constexpr, SHARED: gl.constexpr):
    src = tma.make_tensor_descriptor(x_ptr, [M, N], [N, 1], BLOCK, SHARED)
    dst = tma.make_tensor_descriptor(y_ptr, [M, N], [N, 1], BLOCK, SHARED)
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    for i in range(gl.cdiv(M, BLOCK[0])):
        mbarrier.expect(barrier, bytes=src.nbytes_per_cta)
        tma.async_load(src, [i * BLOCK[0], 0], barrier, buffer)
        mbarrier.wait(barrier, i & 1)
        tma.async_store(dst, [i * BLOCK[0], 0], buffer)
        # The next copy writes what this one reads.
        tma.store_wait(0)
    mbarrier.invalidate(barrier)


@hopper
@pytest.mark.parametrize("shape", [(64, 64), (50, 40), (7, 8)])
@pytest.mark.parametrize("swizzle", [0, 32, 128])
def test_descriptors_made_in_the_kernel(shape, swizzle, target):
    x, y = values(shape, "fp16", 4), poisoned(shape, "fp16")
    device_descriptors[(1,)](x, y, *shape, (16, 64), gl.NVMMASharedLayout(swizzle, 16))
    np.testing.assert_array_equal(y, x)


# Dots of warp groups.


@gluon.jit
def warpgroup_kernel(
    a, b, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, MMA: gl.constexpr,
    REGISTERS: gl.constexpr, ASYNC: gl.constexpr, USE: gl.constexpr, TURNED: gl.constexpr,
):  # fmt: skip
    sa = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
    sb = gl.allocate_shared_memory(b.dtype, b.block_shape, b.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, a.nbytes_per_cta + b.nbytes_per_cta)
    tma.async_load(a, [0, 0], barrier, sa)
    tma.async_load(b, [0, 0], barrier, sb)
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)
    right = sb.permute((1, 0)) if TURNED else sb
    acc = gl.full([M, N], 1.0, gl.float32, MMA)
    left = (
        sa.load(gl.DotOperandLayout(0, MMA, 32 // a.dtype.primitive_bitwidth)) if REGISTERS else sa
    )
    if ASYNC:
        sums = warpgroup_mma(left, right, warpgroup_mma_init(acc), use_acc=USE, is_async=True)
        acc = warpgroup_mma_wait(0, deps=(sums,))
    else:
        acc = warpgroup_mma(left, right, acc, use_acc=USE)
    gl.store(pointers(c_ptr, M, N, MMA), acc)


@hopper
@pytest.mark.sweep
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("use", [False, True])
@pytest.mark.parametrize("registers", [False, True])
@pytest.mark.parametrize("kind", ["fp16", "bf16", "e4m3"])
def test_warpgroup_mma(kind, registers, use, asynchronous, target):
    dtype, element = {
        "fp16": (np.float16, gl.float16),
        "bf16": (ml_dtypes.bfloat16, gl.bfloat16),
        "e4m3": (ml_dtypes.float8_e4m3fn, gl.float8e4nv),
    }[kind]
    m, n, k = 64, 32, 64
    a = (values((m, k), "i8", 5) % 8 - 4).astype(dtype)
    # Bytes are multiplied along rows only: B lies transposed.
    turned = kind == "e4m3"
    b = (values((n, k) if turned else (k, n), "i8", 6) % 8 - 4).astype(dtype)
    c = poisoned((m, n), "fp32")
    descs = [
        TensorDescriptor.from_tensor(
            t, list(t.shape), gl.NVMMASharedLayout.get_default_for(list(t.shape), element)
        )
        for t in (a, b)
    ]
    mma = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, n, 256 // element.primitive_bitwidth])
    warpgroup_kernel[(1,)](*descs, c, m, n, k, mma, registers, asynchronous, use, turned)
    right = b.T if turned else b
    np.testing.assert_array_equal(c, product(a, right) - (0 if use else 1))


@hopper
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("registers", [False, True])
@pytest.mark.parametrize(
    "m,n,warps,columns", [(64, 32, [8, 1], 32), (64, 32, [4, 2], 32), (128, 16, [4, 4], 16),
                          (64, 64, [8, 2], 32), (64, 16, [16, 1], 8)],
)  # fmt: skip
def test_more_warps_than_a_dot_needs(m, n, warps, columns, registers, asynchronous, target):
    """Groups that find nothing of their own compute what others do."""
    k = 32
    a, b = ((values(shape, "i8", 5) % 8 - 4).astype(np.float16) for shape in ((m, k), (k, n)))
    c = poisoned((m, n), "fp32")
    descs = [
        TensorDescriptor.from_tensor(
            t, list(t.shape), gl.NVMMASharedLayout.get_default_for(list(t.shape), gl.float16)
        )
        for t in (a, b)
    ]
    mma = gl.NVMMADistributedLayout([3, 0], warps, [16, columns, 16])
    given = (*descs, c, m, n, k, mma, registers, asynchronous, True, False)
    warpgroup_kernel[(1,)](*given, num_warps=warps[0] * warps[1])
    np.testing.assert_array_equal(c, product(a, b))


# Partitions.


@gluon.aggregate
class Ring:
    """Buffers that one partition fills and another one reads."""

    buffers: gl.shared_memory_descriptor
    ready: gl.shared_memory_descriptor
    empty: gl.shared_memory_descriptor
    STAGES: gl.constexpr

    @gluon.jit
    def write(self, k):
        stage = k % self.STAGES
        mbarrier.wait(self.empty.index(stage), (k // self.STAGES + 1) & 1)
        return self.buffers.index(stage)

    @gluon.jit
    def read(self, k):
        stage = k % self.STAGES
        mbarrier.wait(self.ready.index(stage), (k // self.STAGES) & 1)
        return self.buffers.index(stage)


@gluon.jit
def producer(x_ptr, ring, steps, N: gl.constexpr):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    i = gl.arange(0, N, layout=LAYOUT)
    for k in range(steps):
        ring.write(k).store(gl.load(x_ptr + k * N + i))
        mbarrier.arrive(ring.ready.index(k % ring.STAGES))


@gluon.jit
def consumer(y_ptr, ring, steps, N: gl.constexpr):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    i = gl.arange(0, N, layout=LAYOUT)
    total = gl.zeros([N], gl.int32, LAYOUT)
    for k in range(steps):
        x = ring.read(k).load(LAYOUT)
        mbarrier.arrive(ring.empty.index(k % ring.STAGES))
        gl.store(y_ptr + k * N + i, x * 2)
        total += x
    return gl.sum(total, 0), steps


@gluon.jit
def idle(flag_ptr):
    gl.store(flag_ptr, gl.num_warps())


@gluon.jit
def partitions_kernel(x_ptr, y_ptr, sum_ptr, flag_ptr, steps, N: gl.constexpr, S: gl.constexpr):
    buffers = gl.allocate_shared_memory(gl.int32, [S, N], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    ready = mbarrier.allocate_mbarrier(batch=S)
    empty = mbarrier.allocate_mbarrier(batch=S)
    for s in gl.static_range(S):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    ring = Ring(buffers, ready, empty, S)
    total, count = gl.warp_specialize(
        [
            (consumer, (y_ptr, ring, steps, N)),
            (producer, (x_ptr, ring, steps, N)),
            (idle, (flag_ptr,)),
        ],
        [2, 1],
        [40, 24],
    )
    gl.store(sum_ptr, total + count)


@hopper
@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("steps", [0, 1, 7])
def test_partitions(steps, stages, target):
    n = 256
    x, y = values(max(1, steps) * n, "i32", 7), poisoned(max(1, steps) * n, "i32")
    total, flag = poisoned(1, "i32"), poisoned(1, "i32")
    before = y.copy()
    partitions_kernel[(1,)](x, y, total, flag, steps, n, stages)
    np.testing.assert_array_equal(y, x * 2 if steps else before)
    assert total[0] == (x.sum() if steps else 0) + steps and flag[0] == 1


@gluon.jit
def fill(out_ptr, ME: gl.constexpr, ROUND: gl.constexpr):
    """Writes who and how many wrote, one value for each thread."""
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    i = gl.arange(0, 32 * gl.num_warps(), layout=LAYOUT)
    gl.store(out_ptr + (ROUND * 4 + ME) * 256 + i, gl.to_tensor(ME * 8 + ROUND) + i * 64)


@gluon.jit
def registers_kernel(out_ptr, WARPS: gl.constexpr, FIRST: gl.constexpr, SECOND: gl.constexpr):
    gl.warp_specialize(
        [(fill, (out_ptr, ME, 0)) for ME in range(1 + len(WARPS))], WARPS, FIRST
    )  # fmt: skip
    gl.warp_specialize(
        [(fill, (out_ptr, ME, 1)) for ME in range(1 + len(WARPS))], WARPS, SECOND
    )  # fmt: skip


@hopper
@pytest.mark.parametrize("seed", range(24))
def test_registers_of_partitions(seed, target):
    """Partitions may ask for more registers than they begin with, for fewer, and for more than
    there are. Nobody waits forever, and nobody takes what others have."""
    rng = np.random.default_rng(seed)
    warps = [int(rng.choice([1, 2, 4, 8])) for _ in range(int(rng.integers(1, 4)))]
    first, second = ([int(rng.integers(3, 31)) * 8 for _ in warps] for _ in range(2))
    out = np.full((2, 4, 256), -1, np.int32)
    kernel = registers_kernel[(1,)](out, warps, first, second)
    for turn in range(2):
        for me, count in enumerate([4, *warps]):
            i = np.arange(32 * count)
            np.testing.assert_array_equal(out[turn, me, : 32 * count], me * 8 + turn + i * 64)
            assert (out[turn, me, 32 * count :] == -1).all()
    assert kernel.asm["ptx"].count("setmaxnreg.") != 1


@hopper
def test_partitions_get_more_registers(target):
    """The default group and one partition get 240, which the other one gives back."""
    out = np.full((2, 4, 256), -1, np.int32)
    ptx = registers_kernel[(1,)](out, [4, 1], [240, 24], [240, 24]).asm["ptx"]
    assert ptx.count("setmaxnreg.inc.sync.aligned.u32 240") == 3


@gluon.jit
def fence_kernel(x_ptr, out, N: gl.constexpr, A: gl.constexpr):
    buffer = gl.allocate_shared_memory(out.dtype, out.block_shape, out.layout)
    buffer.store(gl.load(pointers(x_ptr, N, N, A)))
    fence_async_shared()
    gl.barrier()
    tma.async_store(out, [0, 0], buffer)
    tma.store_wait(0, read_only=False)


@hopper
def test_stores_through_descriptors(target):
    x, y = values((64, 64), "fp16", 8), poisoned((40, 48), "fp16")
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    kernel = fence_kernel[(1,)](x, TensorDescriptor.from_tensor(y, [64, 64], layout), 64, LOAD)
    np.testing.assert_array_equal(y, x[:40, :48])
    # The program fences: the compiler adds no other.
    assert kernel.asm["ptx"].count("fence.proxy.async.shared") == 1


@gluon.jit
def reduce_kernel(
    x_ptr, out, M: gl.constexpr, N: gl.constexpr, KIND: gl.constexpr, A: gl.constexpr
):
    buffer = gl.allocate_shared_memory(out.dtype, out.block_shape, out.layout)
    buffer.store(gl.load(pointers(x_ptr, M, N, A)))
    fence_async_shared()
    if KIND == "add":
        tma.async_atomic_add(out, [8, 0], buffer)
    elif KIND == "min":
        tma.async_atomic_min(out, [8, 0], buffer)
    elif KIND == "max":
        tma.async_atomic_max(out, [8, 0], buffer)
    elif KIND == "and":
        tma.async_atomic_and(out, [8, 0], buffer)
    elif KIND == "or":
        tma.async_atomic_or(out, [8, 0], buffer)
    else:
        tma.async_atomic_xor(out, [8, 0], buffer)
    tma.store_wait(0)


@hopper
@pytest.mark.parametrize(
    "kind,dtype",
    [("add", "i32"), ("add", "fp32"), ("add", "fp16"), ("min", "i32"), ("max", "u32"),
     ("max", "i32"), ("min", "fp16"), ("and", "i32"), ("or", "u32"), ("xor", "u64"),
     ("add", "u64"), ("min", "i64")],
)  # fmt: skip
def test_reductions_through_descriptors(kind, dtype, target):
    x, y = values((32, 32), dtype, 9), values((40, 24), dtype, 10)
    element = {
        "i32": gl.int32, "u32": gl.uint32, "i64": gl.int64, "u64": gl.uint64,
        "fp32": gl.float32, "fp16": gl.float16,
    }[dtype]  # fmt: skip
    layout = gl.NVMMASharedLayout.get_default_for([32, 32], element)
    combine = {
        "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
        "or": np.bitwise_or, "xor": np.bitwise_xor,
    }[kind]  # fmt: skip
    expected = y.copy()
    expected[8:] = combine(y[8:], x[:, :24])
    desc = TensorDescriptor.from_tensor(y, [32, 32], layout)
    reduce_kernel[(1,)](x, desc, 32, 32, kind, LOAD)
    np.testing.assert_array_equal(y, expected)


@gluon.jit
def store_and_convert_kernel(x_ptr, out, y_ptr, N: gl.constexpr, A: gl.constexpr, B: gl.constexpr):
    buffer = gl.allocate_shared_memory(out.dtype, out.block_shape, out.layout)
    x = gl.load(pointers(x_ptr, N, N, A))
    buffer.store(x)
    fence_async_shared()
    tma.async_copy_shared_to_global(out, [0, 0], buffer)
    # The memory for this is not the buffer's, which is still read.
    gl.store(pointers(y_ptr, N, N, B), gl.convert_layout(x, B))
    tma.store_wait(0)


@hopper
def test_buffers_live_while_they_are_copied(target):
    x, y = values((64, 64), "fp32", 11), poisoned((64, 64), "fp32")
    out = poisoned((64, 64), "fp32")
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float32)
    desc = TensorDescriptor.from_tensor(out, [64, 64], layout)
    other = gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1])
    store_and_convert_kernel[(1,)](x, desc, y, 64, LOAD, other)
    np.testing.assert_array_equal(out, x)
    np.testing.assert_array_equal(y, x)


@gluon.jit
def load_and_convert_kernel(x_ptr, src, y_ptr, N: gl.constexpr, A: gl.constexpr, B: gl.constexpr):
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    x = gl.load(pointers(x_ptr, N, N, A))
    mbarrier.expect(barrier, src.block_type.nbytes)
    tma.async_copy_global_to_shared(src, [0, 0], barrier, buffer)
    # The memory for this is not the buffer's, which is still written.
    gl.store(pointers(y_ptr, N, N, B), gl.convert_layout(x, B))
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)


@hopper
def test_buffers_live_while_they_are_written(target):
    """Although nobody reads them."""
    x, y = values((64, 64), "fp32", 12), poisoned((64, 64), "fp32")
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float32)
    desc = TensorDescriptor.from_tensor(poisoned((64, 64), "fp32"), [64, 64], layout)
    other = gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1])
    load_and_convert_kernel[(1,)](x, desc, y, 64, LOAD, other)
    np.testing.assert_array_equal(y, x)


@gluon.jit
def multiply_and_convert_kernel(
    a_ptr, x_ptr, c_ptr, y_ptr, N: gl.constexpr, S: gl.constexpr, A: gl.constexpr, B: gl.constexpr,
    MMA: gl.constexpr,
):  # fmt: skip
    buffer = gl.allocate_shared_memory(gl.float16, [N, N], S)
    buffer.store(gl.load(pointers(a_ptr, N, N, A)))
    x = gl.load(pointers(x_ptr, N, N, A))
    fence_async_shared()
    gl.barrier()
    zeros = gl.full([N, N], 0.0, gl.float32, MMA)
    sums = warpgroup_mma(buffer, buffer, warpgroup_mma_init(zeros), is_async=True)
    # The memory for this is not the buffer's, which the dot still reads.
    gl.store(pointers(y_ptr, N, N, B), gl.convert_layout(x, B))
    gl.store(pointers(c_ptr, N, N, MMA), warpgroup_mma_wait(0, deps=(sums,)))


@hopper
def test_buffers_live_while_they_are_multiplied(target):
    """Although the wait does not name them."""
    n = 64
    a = (values((n, n), "i8", 13) % 8 - 4).astype(np.float16)
    x, y, c = values((n, n), "fp32", 14), poisoned((n, n), "fp32"), poisoned((n, n), "fp32")
    shared = gl.NVMMASharedLayout.get_default_for([n, n], gl.float16)
    other = gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1])
    mma = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, n, 16])
    multiply_and_convert_kernel[(1,)](a, x, c, y, n, shared, LOAD, other, mma)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ a.astype(np.float32))
    np.testing.assert_array_equal(y, x)


@hopper
@pytest.mark.parametrize("kind", ["add", "and", "or", "xor"])
def test_reductions_that_the_copy_engine_lacks(kind, target):
    """They are illegal instructions with maps of signed 64-bit integers."""
    layout = gl.NVMMASharedLayout.get_default_for([32, 32], gl.int64)
    desc = TensorDescriptor.from_tensor(np.zeros((32, 32), np.int64), [32, 32], layout)
    with pytest.raises(TileError, match=f"elements that TMA reduces by {kind}, found 'si64'"):
        reduce_kernel[(1,)](np.zeros((32, 32), np.int64), desc, 32, 32, kind, LOAD)


@gluon.jit
def fp4_kernel(x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, A: gl.constexpr):
    y = gl.fp4_to_fp(gl.load(pointers(x_ptr, M, N, A)), gl.float16, 1)
    gl.store(pointers(y_ptr, M, 2 * N, y.type.layout), y)


@ampere
@pytest.mark.parametrize(
    "layout", [LOAD, gl.BlockedLayout([4, 2], [8, 4], [1, 4], [0, 1])], ids=["rows", "columns"]
)
def test_pairs_of_four_bits(layout, target):
    x, y = values((32, 32), "u8", 11), poisoned((32, 64), "fp16")
    fp4_kernel[(1,)](x, y, 32, 32, layout)
    pair = np.stack([x & 15, x >> 4], -1).reshape(32, 64)
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float16)
    np.testing.assert_array_equal(y, table[pair])


@gluon.aggregate
class Pair:
    """Two tensors."""

    left: gl.tensor
    right: gl.tensor

    def __init__(self, left, right):
        self.left = left
        self.right = right


@gluon.jit
def replace_kernel(y_ptr, n, A: gl.constexpr):
    i = gl.arange(0, 128, layout=A)
    pair = Pair(i, i * 2)
    for k in range(n):
        pair = gl.aggregate_replace(pair, right=pair.right + k)
    gl.store(y_ptr + i, pair.left * 1000 + pair.right)


@ampere
def test_aggregate_replace(target):
    y = poisoned(128, "i32")
    replace_kernel[(1,)](y, 5, gl.BlockedLayout([1], [32], [4], [0]))
    i = np.arange(128)
    np.testing.assert_array_equal(y, i * 1000 + i * 2 + 10)
