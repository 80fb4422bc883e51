"""Copies from shared memory to tensor memory."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from addresses import pointers
from tensor_buffers import (
    TYPES,
    bits_of,
    blackwells,
    poison,
    registers_of,
    same_bits,
    sm100,
    ty_registers,
)

from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia import blackwell
from tile.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, mbarrier
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def copy(
    x_ptr, y_ptr, DTYPE: gl.constexpr, M: gl.constexpr, N: gl.constexpr, SHARED: gl.constexpr,
    LAYOUT: gl.constexpr, REGS: gl.constexpr, FIRST: gl.constexpr,
):  # fmt: skip
    shared = gl.allocate_shared_memory(DTYPE, [2, M, N], SHARED)
    shared.index(1).store(gl.load(pointers(x_ptr, M, N, REGS)))
    whole = blackwell.allocate_tensor_memory(DTYPE, [M, 2 * N], LAYOUT)
    part = whole.slice(FIRST, N)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    blackwell.tcgen05_copy(shared.index(1), part)
    blackwell.tcgen05_commit(done)
    mbarrier.wait(done, 0)
    gl.store(pointers(y_ptr, M, N, REGS), part.load(REGS))


@pytest.mark.sweep(3)
@sm100
@pytest.mark.parametrize("name", ["f32", "f16", "i8"])
@pytest.mark.parametrize("m,n", [(128, 16), (128, 64), (128, 128), (256, 64)])
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_copies(name, m, n, swizzle, target):
    dtype, kind = TYPES[name]
    width = np.dtype(kind).itemsize
    if n * width < max(16, swizzle) or n * width > 512:
        pytest.skip("rows are shorter than the swizzle")
    shared = gl.NVMMASharedLayout(swizzle, 8 * width)
    layout = TensorMemoryLayout([128, n], 1)
    part = blackwell.tensor_memory_descriptor_type(dtype, [m, n], layout, [m, 2 * n])
    registers = ty_registers(part, 4, "32x32b")
    x = bits_of(np.random.default_rng(n), kind, (m, n))
    y = poison(x.shape, kind)
    kernel = copy[(1,)](x, y, dtype, m, n, shared, layout, registers, n * (swizzle == 64))
    same_bits(y, x)
    shape = "128x256b" if n * width > 16 else "128x128b"
    assert f"tcgen05.cp.cta_group::1.{shape} " in kernel.asm["ptx"]


@gluon.jit
def copy_scales(
    x_ptr, y_ptr, ROWS: gl.constexpr, SCALES: gl.constexpr, SHAPE: gl.constexpr,
    SHARED: gl.constexpr, FLAT: gl.constexpr, COLUMNS: gl.constexpr, LAYOUT: gl.constexpr,
    BYTES: gl.constexpr, REGS: gl.constexpr,
):  # fmt: skip
    COUNT: gl.constexpr = ROWS * SCALES
    values = gl.load(x_ptr + gl.arange(0, COUNT, layout=FLAT))
    flat = gl.allocate_shared_memory(gl.int8, [COUNT], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    flat.store(values)
    scales = blackwell.allocate_tensor_memory(gl.int8, [ROWS, SCALES], LAYOUT)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    blackwell.tcgen05_copy(flat.reinterpret(gl.int8, SHAPE, SHARED), scales)
    blackwell.tcgen05_commit(done)
    mbarrier.wait(done, 0)
    found = scales.reinterpret(gl.int8, [128, 4 * COLUMNS], BYTES)
    gl.store(pointers(y_ptr, 128, 4 * COLUMNS, REGS), found.load(REGS))


def scale_source(rows, count, rank):
    """The shape and the layout of scales, tile after tile, those along the scales first."""
    if rank == 5:
        shape = [rows // 128, count // 4, 32, 4, 4]
        return shape, gl.SwizzledSharedLayout(1, 1, 1, [4, 3, 2, 1, 0])
    bases = [[0, 1], [0, 2], [32, 0], [64, 0], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]
    bases += [[0, 4 << bit] for bit in range((count // 4).bit_length() - 1)]
    bases += [[128 << bit, 0] for bit in range((rows // 128).bit_length() - 1)]
    return [rows, count], gl.SharedLinearLayout(bases)


def scales_in_tensor_memory(scales):
    """The bytes of all lanes: four scales of a row in a column, the same in all four windows."""
    rows, count = scales.shape
    columns = rows // 32 * (count // 4)
    out = np.empty((128, 4 * columns), scales.dtype)
    for lane, byte in np.ndindex(*out.shape):
        column, part = byte // 4, byte % 4
        row = column % (rows // 32) * 32 + lane % 32
        out[lane, byte] = scales[row, column // (rows // 32) * 4 + part]
    return out


@pytest.mark.sweep
@blackwells
@pytest.mark.parametrize("rank", [2, 5])
@pytest.mark.parametrize("rows,count", [(128, 4), (128, 16), (256, 8)])
def test_copies_of_scales(rank, rows, count, target):
    shape, shared = scale_source(rows, count, rank)
    columns = rows // 32 * (count // 4)
    bytes_ = TensorMemoryLayout([128, 4 * columns], 1)
    registers = registers_of(gl.int8, [128, 4 * columns], bytes_, 4, "32x32b")
    flat = gl.BlockedLayout([4], [32], [4], [0])
    scales = bits_of(np.random.default_rng(0), np.int8, (rows, count))
    tiles = scales.reshape(rows // 128, 4, 32, count // 4, 4).transpose(0, 3, 2, 1, 4)
    y = poison((128, 4 * columns), np.int8)
    kernel = copy_scales[(1,)](
        np.ascontiguousarray(tiles).reshape(-1), y, rows, count, shape, shared, flat, columns,
        blackwell.TensorMemoryScalesLayout(), bytes_, registers,
    )  # fmt: skip
    same_bits(y, scales_in_tensor_memory(scales))
    assert "tcgen05.cp.cta_group::1.32x128b.warpx4 " in kernel.asm["ptx"]
    tools = importlib.import_module("tile.backends.nvidia.tools")
    if tools.ptxas_path() is not None:
        tools.run_ptxas(kernel.asm["ptx"], int(target.removeprefix("cuda:")), None)


@gluon.jit
def copy_packed_scales(
    desc, y_ptr, ROWS: gl.constexpr, SCALES: gl.constexpr, LAYOUT: gl.constexpr,
    COLUMNS: gl.constexpr, BYTES: gl.constexpr, REGS: gl.constexpr,
):  # fmt: skip
    """Scales that TMA brings as tensors of five dimensions, two rows of 256 bytes a tile."""
    shared = gl.allocate_shared_memory(desc.dtype, desc.block_type.shape, desc.layout)
    scales = blackwell.allocate_tensor_memory(gl.int8, [ROWS, SCALES], LAYOUT)
    full = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.init(done, count=1)
    mbarrier.expect(full, desc.block_type.nbytes)
    blackwell.tma.async_load(desc, [0, 0, 0, 0, 0], full, shared)
    mbarrier.wait(full, 0)
    tiles = shared.reshape([ROWS // 128, SCALES // 4, 32, 4, 4]).permute([0, 3, 2, 1, 4])
    blackwell.tcgen05_copy(tiles.reshape([ROWS, SCALES]), scales)
    blackwell.tcgen05_commit(done)
    mbarrier.wait(done, 0)
    found = scales.reinterpret(gl.int8, [128, 4 * COLUMNS], BYTES)
    gl.store(pointers(y_ptr, 128, 4 * COLUMNS, REGS), found.load(REGS))


@sm100
@pytest.mark.parametrize("rows", [128, 256])
@pytest.mark.parametrize("count", [4, 8, 16, 32])
def test_copies_of_packed_scales(rows, count, target):
    scales = bits_of(np.random.default_rng(rows + count), np.int8, (rows, count))
    tiles = scales.reshape(rows // 128, 4, 32, count // 4, 4).transpose(0, 3, 2, 1, 4)
    shape = [1, rows // 128, count // 4, 2, 256]
    packed = np.ascontiguousarray(tiles).reshape(shape)
    shared = gl.NVMMASharedLayout(0, 8, rank=5)
    columns = rows // 32 * (count // 4)
    bytes_ = TensorMemoryLayout([128, 4 * columns], 1)
    registers = registers_of(gl.int8, [128, 4 * columns], bytes_, 4, "32x32b")
    y = poison((128, 4 * columns), np.int8)
    copy_packed_scales[(1,)](
        TensorDescriptor.from_tensor(packed, shape, shared), y, rows, count,
        blackwell.TensorMemoryScalesLayout(), columns, bytes_, registers,
    )  # fmt: skip
    same_bits(y, scales_in_tensor_memory(scales))


@gluon.jit
def copies_run_on(x_ptr, y_ptr, N: gl.constexpr, SHARED: gl.constexpr, LAYOUT: gl.constexpr):
    """Nothing names the buffers of a copy again before its end."""
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    kept = blackwell.allocate_tensor_memory(gl.float32, [128, N], LAYOUT)
    layout: gl.constexpr = kept.get_reg_layout()
    value = gl.load(pointers(x_ptr, 128, N, layout))
    source = gl.allocate_shared_memory(gl.float32, [128, N], SHARED, value)
    unused = blackwell.allocate_tensor_memory(gl.float32, [128, N], LAYOUT)
    blackwell.tcgen05_copy(source, kept)
    blackwell.tcgen05_copy(source, unused)
    blackwell.tcgen05_commit(done)
    other = gl.allocate_shared_memory(gl.float32, [128, N], SHARED, value + 1)
    more = blackwell.allocate_tensor_memory(gl.float32, [128, N], LAYOUT, value + 2)
    both = other.load(layout) + more.load(layout)
    gl.store(pointers(y_ptr + 128 * N, 128, N, layout), both)
    mbarrier.wait(done, 0)
    gl.store(pointers(y_ptr, 128, N, layout), kept.load(layout))


@sm100
@pytest.mark.parametrize("seed", range(3))
def test_buffers_of_copies_live_on(seed, target):
    n = 32
    x = np.random.default_rng(seed).integers(-99, 99, (128, n)).astype(np.float32)
    y = poison((2, 128, n), np.float32)
    shared, layout = gl.NVMMASharedLayout(128, 32), TensorMemoryLayout([128, n], 1)
    copies_run_on[(1,)](x, y, n, shared, layout)
    np.testing.assert_array_equal(y, np.stack([x, 2 * x + 3]))
