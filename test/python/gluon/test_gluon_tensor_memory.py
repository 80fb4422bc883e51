"""Buffers in tensor memory: what is stored by some instructions is loaded by others."""

from __future__ import annotations

import importlib

import ml_dtypes
import numpy as np
import pytest
from addresses import pointers

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia import blackwell
from tile.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, mbarrier
from tile.experimental.gluon.language.nvidia.blackwell._layouts import register_layout

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
    x_ptr, y_ptr, N: gl.constexpr, LAYOUT: gl.constexpr, WHOLE: gl.constexpr, STEPS: gl.constexpr,
    n,
):  # fmt: skip
    buffer = blackwell.allocate_tensor_memory(gl.float32, [128, N], LAYOUT)
    buffer.store(gl.load(pointers(x_ptr, 128, N, WHOLE)))
    for round in range(n):
        for i in gl.static_range(len(STEPS)):
            source: gl.constexpr = STEPS[i][0]
            target: gl.constexpr = STEPS[i][1]
            length: gl.constexpr = STEPS[i][2]
            loaded = buffer.slice(source, length).load(STEPS[i][3])
            other = gl.convert_layout(loaded, STEPS[i][4])
            buffer.slice(target, length).store(other * 0.5 + round)
    gl.store(pointers(y_ptr, 128, N, WHOLE), buffer.load(WHOLE))


def random_steps(rng, n, warps, layout):
    """Columns that are read, those that are written, their number, two layouts."""
    result = []
    for _ in range(int(rng.integers(1, 4))):
        length = 1 << int(rng.integers(3, n.bit_length()))
        ty = blackwell.tensor_memory_descriptor_type(gl.float32, [128, length], layout, [128, n])
        layouts = [ty_registers(ty, warps, v) for v in VARIANTS]
        layouts = [found for found in layouts if found is not None]
        source, target = (int(rng.integers(0, n - length + 1)) for _ in range(2))
        chosen = [layouts[int(rng.integers(len(layouts)))] for _ in range(2)]
        result.append((source, target, length, *chosen))
    return tuple(result)


@sm100
@pytest.mark.parametrize("seed", range(12))
def test_random_steps(seed, target):
    rng = np.random.default_rng(seed)
    n, warps, rounds = 64, (4, 8)[seed % 2], 2
    layout = TensorMemoryLayout([128, n], 1)
    program = random_steps(rng, n, warps, layout)
    x = rng.standard_normal((128, n)).astype(np.float32)
    y = poison(x.shape, x.dtype)
    whole = registers_of(gl.float32, [128, n], layout, warps, "32x32b")
    steps[(1,)](x, y, n, layout, whole, program, rounds, num_warps=warps)
    expected = x.copy()
    for round in range(rounds):
        for source, to, length, *_ in program:
            moved = expected[:, source : source + length] * np.float32(0.5) + np.float32(round)
            expected[:, to : to + length] = moved
    np.testing.assert_array_equal(y, expected)


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


# Pairs of blocks.


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
