"""Buffers in tensor memory: what is stored by some instructions is loaded by others."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from addresses import pointers
from tensor_buffers import (
    TYPES,
    VARIANTS,
    bits_of,
    blackwells,
    poison,
    registers_of,
    same_bits,
    sm100,
    ty_registers,
)

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia import blackwell
from tile.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, mbarrier


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
