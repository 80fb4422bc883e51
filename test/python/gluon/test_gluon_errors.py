"""What is wrong in a program with explicit layouts is said at its line, with both layouts."""

from __future__ import annotations

import numpy as np
import pytest

import tile
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import cdna3
from tile.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from tile.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor

A = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
B = gl.constexpr(gl.BlockedLayout([4], [32], [4], [0]))
GRID = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
MMA = gl.constexpr(gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8]))
SHARED = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))

pytestmark = pytest.mark.usefixtures("on_hopper")


@pytest.fixture
def on_hopper(monkeypatch):
    from machines import run_on

    run_on("cuda:90", monkeypatch)


def two_layouts(x):
    return gl.arange(0, 128, layout=A) + gl.arange(0, 128, layout=B)


def two_ranks(x):
    return gl.full([8, 32], 1, gl.int32, GRID) + gl.arange(0, 32, layout=gl.SliceLayout(0, GRID))


def expand_without_slice(x):
    return gl.arange(0, 128, layout=A)[:, None]


def expand_at_another_place(x):
    return gl.arange(0, 32, layout=gl.SliceLayout(0, GRID))[:, None]


def masks_of_another_layout(x):
    i = gl.arange(0, 128, layout=A)
    return gl.load(x + i, gl.arange(0, 128, layout=B) < 7)


def stores_in_another_layout(x):
    gl.store(x + gl.arange(0, 128, layout=A), gl.full([128], 0, gl.int32, B))


def decided_twice(x):
    return gl.set_auto_layout(gl.arange(0, 128, layout=A), B)


def never_decided(x):
    i = gl.arange(0, 128)
    gl.store(x + i, i)


def decided_in_two_ways(x):
    i = gl.arange(0, 128)
    gl.store(x + gl.arange(0, 128, layout=A), i)
    gl.store(x + gl.arange(0, 128, layout=B), i)


def not_trivial(x):
    return gl.convert_layout(gl.arange(0, 128, layout=A), B, assert_trivial=True)


def shared_in_registers(x):
    return gl.arange(0, 128, layout=SHARED)


def buffer_in_registers(x):
    return gl.allocate_shared_memory(gl.int32, [128], A)


def buffer_of_another_rank(x):
    return gl.allocate_shared_memory(gl.int32, [128], SHARED)


def store_of_another_shape(x):
    buffer = gl.allocate_shared_memory(gl.int32, [8, 32], SHARED)
    buffer.store(gl.full([8, 64], 1, gl.int32, GRID))


def index_out_of_range(x):
    return gl.allocate_shared_memory(gl.int32, [2, 8, 32], SHARED).index(2)


def slice_out_of_range(x):
    return gl.allocate_shared_memory(gl.int32, [8, 32], SHARED).slice(4, 8)


def reinterpret_larger(x):
    return gl.allocate_shared_memory(gl.int16, [8, 32], SHARED).reinterpret(gl.int32)


def gather_of_a_buffer(x):
    return gl.allocate_shared_memory(gl.int32, [8, 32], SHARED).gather(0, 0)


def absent_name(x):
    return gl.fpsan.embed(x)


def misspelt_name(x):
    return gl.convert_layuot(x, A)


def open_copy(x):
    buffer = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    async_copy.async_load(buffer, x + gl.arange(0, 128))


def copy_of_another_type(x):
    buffer = gl.allocate_shared_memory(gl.float32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    async_copy.async_load(buffer, x + gl.arange(0, 128, layout=A))


def no_barrier(x):
    mbarrier.wait(gl.allocate_shared_memory(gl.int32, [8, 32], SHARED), 0)


def product_of_plain_operands(x):
    a = gl.full([32, 32], 1, gl.float16, GRID)
    return mma_v2(a, a, gl.full([32, 32], 0, gl.float32, MMA))


def product_into_plain_layout(x):
    a = gl.full([32, 32], 1, gl.float16, gl.DotOperandLayout(0, GRID, 0))
    b = gl.full([32, 32], 1, gl.float16, gl.DotOperandLayout(1, GRID, 0))
    return mma_v2(a, b, gl.full([32, 32], 0, gl.float32, GRID))


def product_of_other_extents(x):
    a = gl.full([32, 16], 1, gl.float16, gl.DotOperandLayout(0, MMA, 2))
    b = gl.full([32, 32], 1, gl.float16, gl.DotOperandLayout(1, MMA, 2))
    return mma_v2(a, b, gl.full([32, 32], 0, gl.float32, MMA))


def product_without_sign(x):
    a = gl.full([32, 32], 1, gl.uint8, gl.DotOperandLayout(0, MMA, 4))
    b = gl.full([32, 32], 1, gl.uint8, gl.DotOperandLayout(1, MMA, 4))
    mma_v2(a, b, gl.full([32, 32], 0, gl.int32, MMA))


def warpgroup_without_sign(x):
    layout: gl.constexpr = gl.NVMMASharedLayout(64, 8, 2)
    a = gl.allocate_shared_memory(gl.uint8, [64, 64], layout)
    b = gl.allocate_shared_memory(gl.uint8, [64, 64], layout).permute([1, 0])
    acc: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 32])
    warpgroup_mma(a, b, gl.full([64, 64], 0, gl.int32, acc))


def warpgroup_of_mma_v2(x):
    acc = gl.full([64, 32], 0, gl.float32, MMA)
    s = gl.allocate_shared_memory(gl.float16, [64, 64], gl.NVMMASharedLayout(128, 16))
    return warpgroup_mma(s, s, acc)


def bytes_left_open(x):
    mbarrier.expect(mbarrier.allocate_mbarrier())


def partition_with_result(x):
    gl.warp_specialize([(nothing, ()), (seven, ())], [1])


def partition_of_three_warps(x):
    gl.warp_specialize([(nothing, ()), (nothing, ())], [3])


def partition_without_warps(x):
    gl.warp_specialize([(nothing, ()), (nothing, ())], [])


@gluon.jit
def nothing():
    pass


@gluon.jit
def seven():
    return 7


CASES = {
    two_layouts: [
        "tensors in two layouts do not fit together",
        "[128] in BlockedLayout(size_per_thread=[1]",
        "[128] in BlockedLayout(size_per_thread=[4]",
        "gl.convert_layout",
    ],
    two_ranks: ["tensors of 2 and 1 dimensions do not fit together"],
    expand_without_slice: ["a dimension is inserted into a tensor in a SliceLayout"],
    expand_at_another_place: ["dimension 0 was taken out of the layout", "not dimension 1"],
    masks_of_another_layout: ["the mask does not fit the pointers: tensors in two layouts"],
    stores_in_another_layout: ["tensors in two layouts do not fit together"],
    decided_twice: ["set_auto_layout decides an AutoLayout, but this tensor is in BlockedLayout"],
    never_decided: ["the layout of this tensor is left open, and nothing decides it"],
    decided_in_two_ways: [
        "two uses of it want different ones",
        "sizePerThread = [1]",
        "sizePerThread = [4]",
        "the tensor is made here",
    ],
    not_trivial: [
        "is not trivial: it moves data between threads",
        "size_per_thread=[1]",
        "size_per_thread=[4]",
    ],
    shared_in_registers: ["layout is a layout of registers, not SwizzledSharedLayout"],
    buffer_in_registers: ["a buffer has a layout of shared memory, not BlockedLayout"],
    buffer_of_another_rank: ["a layout of 1 dimensions, or of 0", "has 2"],
    store_of_another_shape: ["store needs a tensor like the buffer, of shape [8, 32]"],
    index_out_of_range: ["there is no buffer 2 of 2"],
    slice_out_of_range: ["elements 4 to 12 are not in dimension 0 of a buffer of shape [8, 32]"],
    reinterpret_larger: ["[8, 32] elements of int32 are larger than the buffer"],
    gather_of_a_buffer: [
        "gather takes a tensor of indices, not",
    ],
    absent_name: ["tile has no code for fpsan.embed"],
    misspelt_name: ["has no attribute `convert_layuot`; did you mean `convert_layout`?"],
    open_copy: ["the addresses of async_load must say their layout"],
    copy_of_another_type: [
        "async_load copies [128] elements of int32 into a buffer of [128] of fp32",
    ],
    no_barrier: ["mbarrier.wait takes a barrier, a buffer of one int64"],
    product_of_plain_operands: [
        "operand 0 of mma_v2 must be in DotOperandLayout(0, <the layout of acc>",
    ],
    product_into_plain_layout: ["acc of mma_v2 must be in NVMMADistributedLayout(version=[2, 0]"],
    product_of_other_extents: ["mma_v2 cannot multiply [32, 16] with [32, 32] into [32, 32]"],
    product_without_sign: ["mma_v2 of integers takes int8, not uint8"],
    warpgroup_without_sign: ["warpgroup_mma of integers takes int8, not uint8"],
    warpgroup_of_mma_v2: [
        "the accumulator of warpgroup_mma must be in NVMMADistributedLayout(version=[3, 0]",
    ],
    bytes_left_open: ["mbarrier.expect takes a constant number of bytes", "buffer.nbytes_per_cta"],
    partition_with_result: ["`seven` returns a value, but only the first partition can"],
    partition_of_three_warps: ["a partition has a power of two of warps, not 3"],
    partition_without_warps: ["worker_num_warps has an integer for each of the 1 partitions"],
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_message(function):
    kernel = gluon.jit(function)
    with pytest.raises(TileError) as error:
        kernel[(1,)](np.zeros(128, np.int32))
    text = str(error.value)
    for part in CASES[function]:
        assert part in text, text
    # The line of the program stands above it.
    assert f"in {function.__name__}" in text and "^" in text


def test_both_lines_of_a_conflict_are_shown():
    with pytest.raises(TileError) as error:
        gluon.jit(decided_in_two_ways)[(1,)](np.zeros(128, np.int32))
    text = str(error.value)
    assert text.count("gl.store(x + gl.arange(0, 128, layout=") == 2, text


@gluon.jit
def sum_kernel(x_ptr, LAYOUT: gl.constexpr):
    i = gl.arange(0, 128, layout=LAYOUT)
    gl.store(x_ptr + i, i)


@pytest.mark.parametrize(
    "layout,numbers",
    [(gl.BlockedLayout([1], [64], [4], [0]), "64"), (gl.BlockedLayout([1], [32], [2], [0]), "2")],
)
def test_layouts_fit_the_machine(layout, numbers):
    """Lanes of a warp, and warps of the kernel."""
    with pytest.raises(TileError) as error:
        sum_kernel[(1,)](np.zeros(128, np.int32), layout)
    assert numbers in str(error.value) and "in sum_kernel" in str(error.value)


@gluon.jit
def copy_kernel(desc, OTHER: gl.constexpr):
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_shape, OTHER)
    tma.async_store(desc, [0, 0], buffer)


def test_buffers_fit_the_descriptor():
    x = np.zeros((64, 64), np.float16)
    desc = TensorDescriptor.from_tensor(x, [64, 64], gl.NVMMASharedLayout(128, 16))
    with pytest.raises(TileError, match="needs a buffer in the layout of the descriptor"):
        copy_kernel[(1,)](desc, gl.NVMMASharedLayout(64, 16))


@pytest.mark.parametrize(
    "make,message",
    [
        (lambda x: TensorDescriptor.from_tensor(x, [64, 64], None), "as an NVMMASharedLayout says"),
        (lambda x: TensorDescriptor.from_tensor(x, [64, 64], gl.NVMMASharedLayout(0, 16, 3)),
         "needs a layout of as many dimensions"),
        (lambda x: TensorDescriptor.from_tensor(
            x, [64, 64], gl.NVMMASharedLayout(0, 16), round_f32_to_tf32=True),
         "only supported for float32"),
        (lambda x: TensorDescriptor.from_tensor(x, [64, 64], gl.NVMMASharedLayout(0, 16), "one"),
         "the padding of a TensorDescriptor"),
    ],
)  # fmt: skip
def test_descriptors_of_the_host(make, message):
    with pytest.raises(TileError, match=message):
        make(np.zeros((64, 64), np.float16))


@gluon.jit
def amd_kernel(x_ptr, LAYOUT: gl.constexpr):
    i = gl.arange(0, 128, layout=LAYOUT)
    cdna3.buffer_store(i, x_ptr, i)


@gluon.jit
def nvidia_kernel(x_ptr, LAYOUT: gl.constexpr):
    mbarrier.init(mbarrier.allocate_mbarrier(), 1)


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx1100"], indirect=True)
def test_operations_of_other_machines_say_so(target):
    kernel = amd_kernel if target == "cuda:90" else nvidia_kernel
    with pytest.raises(TileError, match="cannot be compiled for this target") as error:
        kernel[(1,)](np.zeros(128, np.int32), A.value)
    assert f"in {kernel.__name__}" in str(error.value)


def test_kernels_are_launched_not_called():
    with pytest.raises(TileError, match="is a kernel: launch it"):
        sum_kernel(np.zeros(128, np.int32), A.value)
    assert sum_kernel.is_gluon() and not tile.jit(sum_kernel.fn).is_gluon()


@pytest.mark.simulator  # On a GPU, the base is refused before.
def test_descriptors_that_no_tensor_map_describes():
    layout = gl.NVMMASharedLayout(128, 16)
    desc = TensorDescriptor.from_tensor(np.zeros((64, 64), np.float16), [64, 64], layout)
    # Starts at no multiple of 16 bytes.
    desc.base = np.zeros(64 * 64 + 1, np.float16)[1:].reshape(64, 64)
    for launch in (copy_kernel[(1,)], lambda *given: copy_kernel.simulate(*given, grid=(1,))):
        with pytest.raises(TileError) as error:
            launch(desc, layout)
        assert "no tensor map describes a descriptor that `copy_kernel` is passed" in str(
            error.value
        )
