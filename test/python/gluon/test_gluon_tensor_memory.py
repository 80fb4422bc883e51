"""Buffers in tensor memory: what is stored by some instructions is loaded by others."""

from __future__ import annotations

import importlib

import ml_dtypes
import numpy as np
import pytest
from addresses import pointers
from reference import sim_only

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia import blackwell
from tile.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, mbarrier
from tile.experimental.gluon.language.nvidia.blackwell._layouts import register_layout
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor

blackwells = pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)
sm100 = pytest.mark.parametrize("target", ["cuda:100"], indirect=True)

TYPES = {
    "f32": (gl.float32, np.float32), "i32": (gl.int32, np.int32), "f16": (gl.float16, np.float16),
    "bf16": (gl.bfloat16, ml_dtypes.bfloat16), "i16": (gl.int16, np.int16),
    "i8": (gl.int8, np.int8), "e5m2": (gl.float8e5, ml_dtypes.float8_e5m2),
}  # fmt: skip
VARIANTS = ["32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2", "32x32b_splitn"]


def bits_of(rng, dtype, shape) -> np.ndarray:
    """Any bits that a move keeps."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape)) * kind.itemsize
    return rng.integers(0, 256, size, np.uint8).view(kind).reshape(shape)


def same_bits(actual: np.ndarray, expected: np.ndarray) -> None:
    bytes_of = [np.ascontiguousarray(x).view(np.uint8) for x in (actual, expected)]
    np.testing.assert_array_equal(*bytes_of)


def poison(shape, dtype) -> np.ndarray:
    out = np.empty(shape, dtype)
    out.view(np.uint8)[...] = 0xA5
    return out


def ty_registers(ty, warps, variant):
    """The layout of registers, or None where no such instruction loads the buffer."""
    try:
        return register_layout(ty, warps, variant)
    except tile.TileError as error:
        assert f"no '{variant}' loads" in str(error)
        return None


def registers_of(dtype, shape, layout, warps, variant):
    ty = blackwell.tensor_memory_descriptor_type(dtype, shape, layout, shape)
    return ty_registers(ty, warps, variant)


@gluon.jit
def move(
    x_ptr, y_ptr, DTYPE: gl.constexpr, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr,
    STORE: gl.constexpr, LOAD: gl.constexpr,
):  # fmt: skip
    buffer = blackwell.allocate_tensor_memory(DTYPE, [M, N], LAYOUT)
    buffer.store(gl.load(pointers(x_ptr, M, N, STORE)))
    gl.store(pointers(y_ptr, M, N, LOAD), buffer.load(LOAD))


@pytest.mark.sweep(3)
@sm100
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("rows", [64, 128])
@pytest.mark.parametrize("store", VARIANTS)
@pytest.mark.parametrize("load", VARIANTS)
def test_variants(warps, rows, store, load, target):
    layout = TensorMemoryLayout([rows, 32], 1)
    to, back = (registers_of(gl.float32, [rows, 32], layout, warps, v) for v in (store, load))
    if to is None or back is None:
        pytest.skip("no such instruction")
    x = bits_of(np.random.default_rng(0), np.float32, (rows, 32))
    y = poison(x.shape, x.dtype)
    move[(1,)](x, y, gl.float32, rows, 32, layout, to, back, num_warps=warps)
    same_bits(y, x)


def random_case(rng):
    """A buffer, and layouts to store and to load it."""
    while True:
        name = str(rng.choice(list(TYPES)))
        dtype, kind = TYPES[name]
        width = np.dtype(kind).itemsize
        stride = int(rng.choice([s for s in (1, 2, 4) if s * width <= 4]))
        block = [int(rng.choice([64, 128])), 1 << int(rng.integers(0, 8))]
        shape = [block[0] * int(rng.choice([1, 1, 2, 4])), block[1] * int(rng.choice([1, 1, 2]))]
        columns = shape[0] // 64 * shape[1] * width * stride // 4
        if columns > 512 or shape[0] * shape[1] > 1 << 14:
            continue
        layout = TensorMemoryLayout(block, stride)
        warps = int(rng.choice([4, 8]))
        fits = [registers_of(dtype, shape, layout, warps, v) for v in VARIANTS]
        fits = [layout for layout in fits if layout is not None]
        if fits:
            store, load = (fits[int(rng.integers(len(fits)))] for _ in range(2))
            return name, shape, layout, store, load, warps


@sm100
@pytest.mark.parametrize("seed", range(24))
def test_random_buffers(seed, target):
    rng = np.random.default_rng(seed)
    name, shape, layout, store, load, warps = random_case(rng)
    dtype, kind = TYPES[name]
    x = bits_of(rng, kind, shape)
    y = poison(shape, kind)
    move[(1,)](x, y, dtype, *shape, layout, store, load, num_warps=warps)
    same_bits(y, x)


# Several accesses: the compiler puts barriers between warps that share lanes.


@gluon.jit
def steps(
    x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr, WHOLE: gl.constexpr,
    STEPS: gl.constexpr, n,
):  # fmt: skip
    buffer = blackwell.allocate_tensor_memory(gl.float32, [M, N], LAYOUT)
    buffer.store(gl.load(pointers(x_ptr, M, N, WHOLE)))
    for round in range(n):
        for i in gl.static_range(len(STEPS)):
            source: gl.constexpr = STEPS[i][0]
            target: gl.constexpr = STEPS[i][1]
            length: gl.constexpr = STEPS[i][2]
            dim: gl.constexpr = STEPS[i][3]
            loaded = buffer.slice(source, length, dim).load(STEPS[i][4])
            other = gl.convert_layout(loaded, STEPS[i][5])
            buffer.slice(target, length, dim).store(other * 0.5 + round)
    gl.store(pointers(y_ptr, M, N, WHOLE), buffer.load(WHOLE))


def random_part(rng, m, n, layout):
    """Where two parts of columns or of rows start, their length, and the dimension."""
    block = layout.block[0]
    if m == block or rng.integers(2):
        length = 1 << int(rng.integers(3, n.bit_length()))
        return *(int(rng.integers(0, n - length + 1)) for _ in range(2)), length, 1
    length = block << int(rng.integers(0, (m // block).bit_length()))
    # Blocks of 64 rows lie side by side, two by two.
    step = 128 if block == 64 and length > 64 else block
    return *(step * int(rng.integers(0, (m - length) // step + 1)) for _ in range(2)), length, 0


def random_steps(rng, m, n, warps, layout):
    """Parts that are read, those that are written, two layouts."""
    result = []
    for _ in range(int(rng.integers(1, 4))):
        source, target, length, dim = random_part(rng, m, n, layout)
        shape = [length, n] if dim == 0 else [m, length]
        ty = blackwell.tensor_memory_descriptor_type(gl.float32, shape, layout, [m, n])
        layouts = [ty_registers(ty, warps, v) for v in VARIANTS]
        layouts = [found for found in layouts if found is not None]
        chosen = [layouts[int(rng.integers(len(layouts)))] for _ in range(2)]
        result.append((source, target, length, dim, *chosen))
    return tuple(result)


@sm100
@pytest.mark.parametrize("seed", range(24))
def test_random_steps(seed, target):
    rng = np.random.default_rng(seed)
    warps, rounds = (4, 8)[seed % 2], 2
    m, block = ((128, 128), (256, 128), (128, 64), (256, 64))[seed // 2 % 4]
    n = 64 * 128 // m
    layout = TensorMemoryLayout([block, n], 1)
    program = random_steps(rng, m, n, warps, layout)
    x = rng.standard_normal((m, n)).astype(np.float32)
    y = poison(x.shape, x.dtype)
    whole = registers_of(gl.float32, [m, n], layout, warps, "32x32b")
    steps[(1,)](x, y, m, n, layout, whole, program, rounds, num_warps=warps)
    expected = x.copy()
    for round in range(rounds):
        for source, to, length, dim, *_ in program:
            part, place = (
                np.index_exp[start : start + length] if dim == 0
                else np.index_exp[:, start : start + length] for start in (source, to)
            )  # fmt: skip
            expected[place] = expected[part] * np.float32(0.5) + np.float32(round)
    np.testing.assert_array_equal(y, expected)


@gluon.jit
def several(x_ptr, y_ptr, COUNT: gl.constexpr, FIRST: gl.constexpr, N: gl.constexpr):
    """Stores to all buffers; loads those from FIRST on, as a part of them has them."""
    layout: gl.constexpr = TensorMemoryLayout([128, N], 1)
    buffers = blackwell.allocate_tensor_memory(gl.float32, [COUNT, 128, N], layout)
    REGISTERS: gl.constexpr = blackwell.get_tmem_reg_layout(gl.float32, [128, N], layout, 4)
    for i in range(COUNT):
        buffers.index(i).store(gl.load(pointers(x_ptr + i * 128 * N, 128, N, REGISTERS)))
    part = buffers.slice(FIRST, COUNT - FIRST, 0)
    for i in range(COUNT - FIRST):
        loaded = part.index(i).load(REGISTERS)
        gl.store(pointers(y_ptr + i * 128 * N, 128, N, REGISTERS), loaded)


@sm100
@pytest.mark.parametrize(("count", "first"), [(4, 0), (4, 1), (5, 3)])
def test_parts_of_several_buffers(count, first, target):
    x = np.random.default_rng(count).standard_normal((count, 128, 16)).astype(np.float32)
    y = poison((count - first, 128, 16), np.float32)
    several[(1,)](x, y, count, first, 16)
    np.testing.assert_array_equal(y, x[first:])


@gluon.jit
def wrong_part(START: gl.constexpr, LENGTH: gl.constexpr, DIM: gl.constexpr, LAYOUT: gl.constexpr):
    buffer = blackwell.allocate_tensor_memory(gl.float32, [256, 32], LAYOUT)
    buffer.slice(START, LENGTH, DIM).store(gl.full([LENGTH, 32], 0.0, gl.float32))


@sm100
@pytest.mark.parametrize(
    ("start", "length", "block", "message"),
    [
        (64, 128, 128, "rows 64 to 192 are no whole blocks of 128 rows"),
        (0, 64, 128, "rows 0 to 64 are no whole blocks of 128 rows"),
        (256, 128, 128, "rows 256 to 384 are not in a buffer"),
        (64, 128, 64, "start at a multiple of 128"),
    ],
)
def test_parts_of_rows_are_whole_blocks(start, length, block, message, target):
    with pytest.raises(tile.CompilationError, match=message):
        wrong_part[(1,)](start, length, 0, TensorMemoryLayout([block, 32], 1))


@sm100
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("rows,block", [(64, 64), (128, 64), (128, 128), (256, 128)])
@pytest.mark.parametrize("columns", [16, 64, 128])
def test_halves_of_columns_are_in_registers(columns, rows, block, warps, target):
    """What `32x32b_splitn` is for: a split of the columns moves nothing."""
    layout = TensorMemoryLayout([block, columns], 1)
    given = (gl.float32, [rows, columns], layout, warps, "32x32b_splitn")
    found = blackwell.get_tmem_reg_layout(*given)
    assert [0, columns // 2] in found.reg_bases
    assert found == registers_of(*given)


# Partitions.


@gluon.jit
def keep(x_ptr, buffer, full, N: gl.constexpr):
    layout: gl.constexpr = buffer.get_reg_layout()
    buffer.store(gl.load(pointers(x_ptr, 128, N, layout)))
    mbarrier.arrive(full, count=1)


@gluon.jit
def take(y_ptr, buffer, full, N: gl.constexpr, SHIFT: gl.constexpr):
    own = blackwell.allocate_tensor_memory(gl.float32, [128, N], buffer.layout)
    layout: gl.constexpr = buffer.get_reg_layout()
    mbarrier.wait(full, 0)
    own.store(buffer.load(layout) + SHIFT)
    gl.store(pointers(y_ptr, 128, N, layout), own.load(layout))


@gluon.jit
def idle(flag_ptr):
    gl.store(flag_ptr, 1)


@gluon.jit
def partitions(
    x_ptr, y_ptr, z_ptr, flag_ptr, N: gl.constexpr, LAYOUT: gl.constexpr, WARPS: gl.constexpr
):  # fmt: skip
    buffer = blackwell.allocate_tensor_memory(gl.float32, [128, N], LAYOUT)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    gl.warp_specialize(
        [
            (keep, (x_ptr, buffer, full, N)),
            (idle, (flag_ptr,)),
            (take, (y_ptr, buffer, full, N, 1)),
            (take, (z_ptr, buffer, full, N, 2)),
        ],
        WARPS,
        [64] * len(WARPS),
    )
    mbarrier.invalidate(full)


@sm100
@pytest.mark.parametrize("warps", [[1, 4, 4], [2, 4, 8]])
def test_partitions(warps, target):
    n = 32
    x = bits_of(np.random.default_rng(0), np.int32, (128, n)).view(np.float32)
    x = np.where(np.isfinite(x), x, 1).astype(np.float32)
    y, z = (poison(x.shape, x.dtype) for _ in range(2))
    flag = np.zeros(1, np.int32)
    partitions[(1,)](x, y, z, flag, n, TensorMemoryLayout([128, n], 1), warps)
    np.testing.assert_array_equal(y, x + np.float32(1))
    np.testing.assert_array_equal(z, x + np.float32(2))
    assert flag[0] == 1


# Rows that are reduced.


@gluon.jit
def extremes(
    x_ptr, y_ptr, rows_ptr, DTYPE: gl.constexpr, M: gl.constexpr, N: gl.constexpr,
    LAYOUT: gl.constexpr, REGS: gl.constexpr, LARGEST: gl.constexpr, ABS: gl.constexpr,
    NAN: gl.constexpr,
):  # fmt: skip
    buffer = blackwell.allocate_tensor_memory(DTYPE, [M, N], LAYOUT)
    buffer.store(gl.load(pointers(x_ptr, M, N, REGS)))
    if LARGEST:
        values, rows = buffer.load_max(REGS, abs=ABS, propagate_nan=NAN)
    else:
        values, rows = buffer.load_min(REGS, abs=ABS, propagate_nan=NAN)
    gl.store(pointers(y_ptr, M, N, REGS), values)
    gl.store(rows_ptr + gl.arange(0, M, layout=gl.SliceLayout(1, REGS)), rows)


def expected_rows(x, largest, magnitude, nan):
    x = np.abs(x) if magnitude else x
    if nan or x.dtype.kind == "i":
        return (np.maximum if largest else np.minimum).reduce(x, axis=1)
    return (np.fmax if largest else np.fmin).reduce(x, axis=1)


@blackwells
@pytest.mark.sweep
@pytest.mark.parametrize("variant", VARIANTS[:-1])
@pytest.mark.parametrize("rows,block", [(64, 64), (128, 64), (128, 128), (256, 128)])
@pytest.mark.parametrize("how", ["max", "min", "max-abs", "min-nan", "max-abs-nan", "i32"])
def test_rows_are_reduced(variant, rows, block, how, target):
    dtype, kind = TYPES["i32" if how == "i32" else "f32"]
    shape, layout = [rows, 32], TensorMemoryLayout([block, 32], 1)
    registers = registers_of(dtype, shape, layout, 4, variant)
    if registers is None:
        pytest.skip("no such instruction")
    rng = np.random.default_rng(len(how) + rows)
    x = rng.integers(-1000, 1000, shape).astype(kind)
    if how != "i32":
        x[rng.random(shape) < 0.05] = np.nan
        x[3] = np.nan
    y, found = poison(shape, kind), poison(rows, kind)
    largest, magnitude, nan = how != "min-nan" and how != "min", "abs" in how, "nan" in how
    propagate = tile.language.PropagateNan.ALL if nan else tile.language.PropagateNan.NONE
    kernel = extremes[(1,)](
        x, y, found, dtype, *shape, layout, registers, largest, magnitude, propagate
    )
    same_bits(y, x)
    np.testing.assert_array_equal(found, expected_rows(x, largest, magnitude, nan))
    can = variant in ("32x32b", "16x32bx2") and target != "cuda:100"
    if rows == block or not can:
        assert ("tcgen05.ld.red" in kernel.asm["ptx"]) == can


@sm100
def test_rows_of_several_warps(target):
    layout = TensorMemoryLayout([128, 64], 1)
    registers = registers_of(gl.float32, [128, 64], layout, 8, "32x32b")
    x, y, rows = (poison(s, np.float32) for s in ((128, 64), (128, 64), 128))
    with pytest.raises(tile.TileError, match="warps hold parts of rows"):
        extremes[(1,)](
            x, y, rows, gl.float32, 128, 64, layout, registers, True, False,
            tile.language.PropagateNan.NONE, num_warps=8,
        )  # fmt: skip


# Copies from shared memory.


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


# Pairs of blocks.


@pytest.mark.sweep(3)
@sm100
@pytest.mark.parametrize("rows", [64, 128])
@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("split", [[1, 0], [0, 1]])
@pytest.mark.parametrize("warps", [4, 8])
def test_pairs(rows, two, split, warps, target):
    shape = [rows * (1 + split[0]), 64 * (1 + split[1])]
    layout = TensorMemoryLayout([rows, 64], 1, cga_layout=[split], two_ctas=two)
    store = registers_of(gl.float32, shape, layout, warps, "32x32b")
    load = registers_of(gl.float32, shape, layout, warps, "16x256b")
    x = bits_of(np.random.default_rng(0), np.float32, shape)
    y = poison(x.shape, x.dtype)
    options = {"num_warps": warps, "num_ctas": 2}
    ptx = move[(1,)](x, y, gl.float32, *shape, layout, store, load, **options).asm["ptx"]
    same_bits(y, x)
    group = ".cta_group::2" if two else ".cta_group::1"
    assert f"tcgen05.alloc{group}" in ptx and ptx.count(".cta_group") == ptx.count(group)


# ptxas.


@blackwells
@pytest.mark.parametrize("warps", [4, 8])
def test_ptxas_takes_it(warps, target):
    tools = importlib.import_module("tile.backends.nvidia.tools")
    if tools.ptxas_path() is None:
        pytest.skip("no ptxas")
    for rows, dtype, kind, stride in (
        (128, gl.float32, np.float32, 1),
        (64, gl.float32, np.float32, 1),
        (128, gl.float16, np.float16, 2),
    ):
        layout = TensorMemoryLayout([rows, 128], stride)
        for variant in VARIANTS:
            registers = registers_of(dtype, [rows, 128], layout, warps, variant)
            if registers is None:
                continue
            x, y = np.ones((rows, 128), kind), poison((rows, 128), kind)
            how = {"num_warps": warps}
            kernel = move[(1,)](x, y, dtype, rows, 128, layout, registers, registers, **how)
            same_bits(y, x)
            tools.run_ptxas(kernel.asm["ptx"], int(target.removeprefix("cuda:")), None)


@sm100
def test_instructions_fit_into_the_registers_of_many_warps(target):
    """ptxas takes no instruction of 128 registers where a thread has 128."""
    tools = importlib.import_module("tile.backends.nvidia.tools")
    layout = TensorMemoryLayout([128, 512], 1)
    registers = registers_of(gl.float32, [128, 512], layout, 16, "32x32b_splitn")
    x, y = np.ones((128, 512), np.float32), poison((128, 512), np.float32)
    given = (x, y, gl.float32, 128, 512, layout, registers, registers)
    ptx = move[(1,)](*given, num_warps=16).asm["ptx"]
    same_bits(y, x)
    assert ".x64.b32" in ptx and ".x128.b32" not in ptx
    if tools.ptxas_path() is not None:
        tools.run_ptxas(ptx, 100, None)


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


# Mistakes of programs, and their twins.


@gluon.jit
def keep_early(x_ptr, buffer, full, N: gl.constexpr, MISTAKE: gl.constexpr):
    layout: gl.constexpr = buffer.get_reg_layout()
    value = gl.load(pointers(x_ptr, 128, N, layout))
    if MISTAKE == "arrives early":
        mbarrier.arrive(full, count=1)
    buffer.store(value)
    if MISTAKE != "arrives early":
        mbarrier.arrive(full, count=1)


@gluon.jit
def take_early(y_ptr, buffer, full, N: gl.constexpr, MISTAKE: gl.constexpr):
    layout: gl.constexpr = buffer.get_reg_layout()
    if MISTAKE != "does not wait":
        mbarrier.wait(full, 0)
    gl.store(pointers(y_ptr, 128, N, layout), buffer.load(layout))


@gluon.jit
def planted(
    x_ptr, y_ptr, N: gl.constexpr, SHARED: gl.constexpr, LAYOUT: gl.constexpr, MISTAKE: gl.constexpr
):  # fmt: skip
    buffer = blackwell.allocate_tensor_memory(gl.float32, [128, N], LAYOUT)
    layout: gl.constexpr = buffer.get_reg_layout()
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    other = blackwell.allocate_tensor_memory(gl.float32, [128, N], LAYOUT)
    shared = gl.allocate_shared_memory(gl.float32, [128, N], SHARED)
    shared.store(gl.load(pointers(x_ptr, 128, N, layout)))
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    if MISTAKE != "nothing written":
        blackwell.tcgen05_copy(shared, other)
    blackwell.tcgen05_commit(done)
    if MISTAKE == "overwrites what is copied":
        shared.store(gl.full([128, N], 0, gl.float32, layout))
    if MISTAKE == "waits for the phase before":
        mbarrier.wait(done, 1)
    elif MISTAKE != "no wait for the copy":
        mbarrier.wait(done, 0)
    gl.store(pointers(y_ptr + 128 * N, 128, N, layout), other.load(layout))
    gl.warp_specialize(
        [
            (keep_early, (x_ptr, buffer, full, N, MISTAKE)),
            (take_early, (y_ptr, buffer, full, N, MISTAKE)),
        ],
        [4],
        [64],
    )


MISTAKES = {
    "arrives early": "race uninitialized", "does not wait": "race uninitialized",
    "nothing written": "uninitialized", "overwrites what is copied": "async-race",
    "waits for the phase before": "race", "no wait for the copy": "race missing-tcgen05-fence",
}  # fmt: skip


@sim_only
@sm100
@pytest.mark.parametrize("mistake", ["none", *MISTAKES])
def test_mistakes(mistake, target):
    n = 32
    x = np.random.default_rng(0).standard_normal((128, n)).astype(np.float32)
    y = poison((2, 128, n), np.float32)
    args = (x, y, n, gl.NVMMASharedLayout(128, 32), TensorMemoryLayout([128, n], 1), mistake)
    if mistake == "none":
        planted[(1,)](*args)
        same_bits(y, np.stack([x, x]))
        return
    with pytest.raises(tile.TileError) as error:
        planted[(1,)](*args)
    text = str(error.value)
    assert any(f"{kind}: " in text for kind in MISTAKES[mistake].split()), text


@gluon.jit
def reinterpreted_part(
    x_ptr, y_ptr, DTYPE: gl.constexpr, FROM: gl.constexpr, DIM: gl.constexpr, START: gl.constexpr,
    LENGTH: gl.constexpr, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr,
):  # fmt: skip
    """Sees the bits of a part of a 256x64 buffer as MxN elements of DTYPE."""
    buffer = blackwell.allocate_tensor_memory(gl.float32, [256, 64], FROM)
    layout: gl.constexpr = buffer.get_reg_layout()
    buffer.store(gl.load(pointers(x_ptr, 256, 64, layout)))
    part = buffer.slice(START, LENGTH, DIM).reinterpret(DTYPE, [M, N], LAYOUT)
    registers: gl.constexpr = part.get_reg_layout()
    gl.store(pointers(y_ptr, M, N, registers), part.load(registers))


#: The dimension of the part, where it starts and how long it is; the shape that it is seen with;
#: and whether that is in one piece.
REINTERPRETED = [
    (1, 32, 32, (128, 32), True), (1, 16, 16, (128, 16), True),
    (1, 0, 32, (128, 64), False), (1, 32, 16, (256, 16), False), (0, 128, 128, (128, 64), True),
    (0, 128, 128, (128, 32), True), (0, 0, 256, (256, 64), True), (0, 128, 128, (256, 32), True),
]  # fmt: skip


@sm100
@pytest.mark.parametrize("block", [32, 64])
@pytest.mark.parametrize(("dim", "start", "length", "shape", "whole"), REINTERPRETED)
def test_reinterpreted_parts_have_no_columns_of_others(
    dim, start, length, shape, whole, block, target
):
    x = np.random.default_rng(3).integers(-99, 99, (256, 64)).astype(np.float32)
    m, n = shape
    y = poison(shape, np.int32)
    source = TensorMemoryLayout([128, block], 1)
    layout = TensorMemoryLayout([128, min(block, n)], 1)
    args = (x, y, gl.int32, source, dim, start, length, m, n, layout)
    if not whole:
        with pytest.raises(tile.TileError, match="has its columns in pieces"):
            reinterpreted_part[(1,)](*args)
        return
    reinterpreted_part[(1,)](*args)
    # Rows of 128 lanes; each block of 128 rows has its own columns.
    columns = np.concatenate([x[:128], x[128:]], axis=1)
    if dim == 0:
        first, last = start // 128 * 64, (start + length) // 128 * 64
    else:
        first, last = start, 128
    seen = columns[:, first:last]
    expected = np.concatenate([seen[:, i * n : (i + 1) * n] for i in range(m // 128)])
    same_bits(y, expected)


@sm100
def test_parts_of_other_elements_lie_as_they_did(target):
    x = np.random.default_rng(4).standard_normal((256, 64)).astype(np.float32)
    y = poison((256, 32), np.int32)
    layout = TensorMemoryLayout([128, 32], 1)
    reinterpreted_part[(1,)](x, y, gl.int32, layout, 1, 32, 32, 256, 32, layout)
    same_bits(y, np.ascontiguousarray(x[:, 32:]))
