"""What only AMD's GPUs have: accesses to buffers, dots, scales, copies to LDS."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from addresses import pointers
from reference import poisoned, sim_only
from reference import random as values

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import (
    AMDMFMALayout,
    AMDWMMALayout,
    cdna3,
    cdna4,
    hint,
    rdna3,
    rdna4,
)
from tile.experimental.gluon.language.amd.cdna4 import async_copy
from tile.experimental.gluon.language.amd.cdna5 import PartitionedSharedLayout

#: Lanes of a wave.
LANES = {"hip:gfx942": 64, "hip:gfx950": 64, "hip:gfx1100": 32, "hip:gfx1200": 32}
every = pytest.mark.parametrize("target", list(LANES), indirect=True)
cdna = pytest.mark.parametrize("target", ["hip:gfx942", "hip:gfx950"], indirect=True)
gfx950 = pytest.mark.parametrize("target", ["hip:gfx950"], indirect=True)


def matrix(target: str, rows: int = 1) -> gl.BlockedLayout:
    """Of matrices: four columns a lane."""
    return gl.BlockedLayout([rows, 4], [LANES[target] // 8, 8], [4, 1], [1, 0])


def row(target: str) -> gl.BlockedLayout:
    return gl.BlockedLayout([2], [LANES[target]], [4], [0])


# Buffers.


@gluon.jit
def offsets_of(M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, LAYOUT))
    return rows[:, None] * N + columns[None, :]


@gluon.jit
def buffer_copy(
    x_ptr, y_ptr, n, BLOCK: gl.constexpr, LAYOUT: gl.constexpr, OTHER: gl.constexpr,
    CACHE: gl.constexpr,
):  # fmt: skip
    base = gl.program_id(0) * BLOCK
    at = gl.arange(0, BLOCK, layout=LAYOUT)
    mask = base + at < n
    x = cdna3.buffer_load(x_ptr + base, at, mask=mask, other=OTHER, cache=CACHE)
    # Behind the end, what was loaded is stored, too.
    cdna3.buffer_store(x, y_ptr + base, at)


@every
@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "i8", "i64", "bool"])
@pytest.mark.parametrize("n", [1024, 1000, 513, 0])
@pytest.mark.parametrize("other,cache", [(None, None), (3, ".cg")])
def test_buffer_copy(other, cache, n, dtype, target):
    x = values(1024, "i8", 1) > 0 if dtype == "bool" else values(1024, dtype, 1)
    y = np.full_like(x, 1) if dtype == "bool" else poisoned(1024, dtype)
    other = 1 if dtype == "bool" and other else other
    kernel = buffer_copy[(2,)](x, y, n, 512, row(target), other, cache)
    np.testing.assert_array_equal(y, np.where(np.arange(1024) < n, x, other or 0).astype(x.dtype))
    assert "buffer_load" in kernel.asm["amdgcn"] and "buffer_store" in kernel.asm["amdgcn"]


@gluon.jit
def buffer_store_masked(y_ptr, n, LAYOUT: gl.constexpr):
    # The layout of the offsets is left open: it is that of the value.
    at = gl.arange(0, 512)
    value = gl.full([512], 7, gl.int32, LAYOUT)
    cdna3.buffer_store(value, y_ptr, at, mask=at < n)


@every
def test_open_layouts_of_offsets(target):
    y = poisoned(512, "i32")
    want = np.where(np.arange(512) < 300, 7, y)
    buffer_store_masked[(1,)](y, 300, row(target))
    np.testing.assert_array_equal(y, want)


@gluon.jit
def buffer_atomic(
    x_ptr, old_ptr, v_ptr, n, KIND: gl.constexpr, BLOCK: gl.constexpr, LAYOUT: gl.constexpr
):
    at = gl.arange(0, BLOCK, layout=LAYOUT)
    mask = at < n
    v = gl.load(v_ptr + at)
    gl.store(old_ptr + at, KIND(x_ptr, at, v, mask=mask), mask)


ATOMICS = {
    "add": np.add, "and": np.bitwise_and, "max": np.maximum, "min": np.minimum,
    "or": np.bitwise_or, "xchg": lambda x, v: v, "xor": np.bitwise_xor,
}  # fmt: skip


@every
@pytest.mark.sweep
@pytest.mark.parametrize("kind", ATOMICS)
@pytest.mark.parametrize("dtype", ["i32", "u32", "fp32"])
def test_buffer_atomics(dtype, kind, target):
    if dtype == "fp32" and kind not in ("add", "xchg"):
        return
    x, v, n = values(512, dtype, 1), values(512, dtype, 2), 417
    before, old = x.copy(), np.zeros_like(x)
    operation = getattr(cdna3, f"buffer_atomic_{kind}")
    buffer_atomic[(1,)](x, old, v, n, operation, 512, row(target))
    inside = np.arange(512) < n
    np.testing.assert_array_equal(x, np.where(inside, ATOMICS[kind](before, v), before))
    np.testing.assert_array_equal(old, np.where(inside, before, 0))


@gluon.jit
def scatter_add(x_ptr, i_ptr, LAYOUT: gl.constexpr):
    at = gl.arange(0, 512, layout=LAYOUT)
    cdna3.buffer_atomic_add(x_ptr, gl.load(i_ptr + at), 1, sem="relaxed", scope="cta")


@every
def test_atomics_at_one_place(target):
    at = np.abs(values(512, "i32", 3)) % 11
    x = np.zeros(16, np.int32)
    scatter_add[(1,)](x, at.astype(np.int32), row(target))
    np.testing.assert_array_equal(x, np.bincount(at, minlength=16))


@every
def test_compiles_start_from_the_text(target, tmp_path):
    import tile

    y = poisoned(512, "i32")
    kernel = buffer_store_masked[(1,)](y, 300, row(target))
    assert list(kernel.asm)[:3] == ["glir", "ttgir", "llir"]
    file = tmp_path / "kernel.glir"
    file.write_text(kernel.asm["glir"])
    backend, arch = target.split(":")
    again = tile.compile(str(file), target=tile.GPUTarget(backend, arch, LANES[target]))
    assert again.asm["amdgcn"] == kernel.asm["amdgcn"]


# Dots.


@gluon.jit
def product(
    a_ptr, b_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, LOAD: gl.constexpr,
    ACC: gl.constexpr, K_WIDTH: gl.constexpr, MULTIPLY: gl.constexpr, OUT: gl.constexpr,
):  # fmt: skip
    a = gl.load(pointers(a_ptr, M, K, LOAD))
    b = gl.load(pointers(b_ptr, K, N, LOAD))
    a = gl.convert_layout(a, gl.DotOperandLayout(0, ACC, K_WIDTH))
    b = gl.convert_layout(b, gl.DotOperandLayout(1, ACC, K_WIDTH))
    c = MULTIPLY(a, b, gl.full([M, N], 1, OUT, ACC))
    hint.sched_barrier()
    gl.store(pointers(c_ptr, M, N, ACC), c)


def check_product(target, layout, k_width, multiply, dtype, m, n, k, tolerance=1e-5):
    integer = np.dtype(dtype).kind == "i"
    a, b = values((m, k), "i8", 1) % 16 - 8, values((k, n), "i8", 2) % 16 - 8
    a, b = a.astype(np.float32).astype(dtype), b.astype(np.float32).astype(dtype)
    out = np.float64 if dtype == np.float64 else np.int32 if integer else np.float32
    c = np.full((m, n), -77, out)
    kind = {np.float64: gl.float64, np.int32: gl.int32, np.float32: gl.float32}[out]
    kernel = product[(1,)](a, b, c, m, n, k, matrix(target), layout, k_width, multiply, kind)
    want = a.astype(np.float64) @ b.astype(np.float64) + 1
    np.testing.assert_allclose(c, want, rtol=tolerance)
    assert "llvm.amdgcn.sched.barrier(i32 0)" in kernel.asm["llir"]
    return kernel


#: By the type: instructions of gfx942, and neighbours along K that a lane holds.
MFMA = {
    "fp16": (np.float16, [[32, 32, 8], [16, 16, 16]], 4),
    "bf16": (ml_dtypes.bfloat16, [[32, 32, 8], [16, 16, 16]], 4),
    "i8": (np.int8, [[32, 32, 16], [16, 16, 32]], 8),
    "fp32": (np.float32, [[32, 32, 2], [16, 16, 4]], 1),
    "fp8": (ml_dtypes.float8_e4m3fnuz, [[32, 32, 16], [16, 16, 32]], 8),
}


@pytest.mark.parametrize("target", ["hip:gfx942"], indirect=True)
@pytest.mark.sweep
@pytest.mark.parametrize("kind", MFMA)
@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("warps,tiles", [([2, 2], None), ([1, 4], None), ([4, 1], [1, 2])])
def test_mfma(warps, tiles, transposed, large, kind, target):
    dtype, shapes, k_width = MFMA[kind]
    layout = AMDMFMALayout(3, shapes[0 if large else 1], transposed, warps, tiles_per_warp=tiles)
    kernel = check_product(target, layout, k_width, cdna3.mfma, dtype, 64, 128, 32)
    assert "v_mfma" in kernel.asm["amdgcn"]


#: Tensors of fewer rows or columns than an instruction computes.
LITTLE = [(16, 16), (8, 64), (64, 8), (16, 32), (4, 2), (1, 16)]


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["hip:gfx942"], indirect=True)
@pytest.mark.parametrize("shape", [[32, 32, 8], [16, 16, 16]])
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("m,n", LITTLE)
def test_mfma_of_little_tensors(m, n, transposed, shape, target):
    layout = AMDMFMALayout(3, shape, transposed, [2, 2])
    check_product(target, layout, 4, cdna3.mfma, np.float16, m, n, 32)


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["hip:gfx1100", "hip:gfx1200"], indirect=True)
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("m,n", LITTLE)
def test_wmma_of_little_tensors(m, n, transposed, target):
    version = 1 if target == "hip:gfx1100" else 2
    layout = AMDWMMALayout(version, transposed, [[0, 1], [1, 0]])
    multiply = rdna3.wmma if version == 1 else rdna4.wmma
    check_product(target, layout, 16 // version, multiply, np.float16, m, n, 32)


@pytest.mark.parametrize("target", ["hip:gfx950"], indirect=True)
@pytest.mark.parametrize(
    "dtype,shape,k_width",
    [
        (np.float16, [32, 32, 16], 8), (ml_dtypes.bfloat16, [16, 16, 32], 8),
        (np.int8, [16, 16, 64], 16), (np.float16, [16, 16, 16], 4),
    ],
)  # fmt: skip
def test_mfma_of_gfx950(dtype, shape, k_width, target):
    layout = AMDMFMALayout(4, shape, True, [2, 2])
    kernel = check_product(target, layout, k_width, cdna4.mfma, dtype, 64, 64, 128)
    assert "x".join(map(str, shape)) in kernel.asm["amdgcn"]


@sim_only
def test_mfma_of_fp64(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "hip:gfx942")
    layout = AMDMFMALayout(3, [16, 16, 4], False, [2, 2], element_bitwidth=64)
    check_product("hip:gfx942", layout, 1, cdna3.mfma, np.float64, 32, 32, 16)


@sim_only
def test_mfma_of_fp32_with_fewer_bits(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "hip:gfx942")
    layout = AMDMFMALayout(3, [16, 16, 8], True, [2, 2])
    kernel = check_product("hip:gfx942", layout, 2, cdna3.mfma, np.float32, 32, 32, 16, 2e-3)
    assert "xf32" in kernel.asm["amdgcn"]


@pytest.mark.parametrize("target", ["hip:gfx1100", "hip:gfx1200"], indirect=True)
@pytest.mark.sweep
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.int8])
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize(
    "warps,tiles",
    [([[0, 1], [1, 0]], None), ([[1, 0], [2, 0]], []), ([[0, 2], [2, 0]], [[0, 1], [1, 0]])],
)
def test_wmma(warps, tiles, transposed, dtype, target):
    version = 1 if target == "hip:gfx1100" else 2
    layout = AMDWMMALayout(version, transposed, warps, tiles)
    multiply = rdna3.wmma if version == 1 else rdna4.wmma
    k_width = 16 if version == 1 else 8
    kernel = check_product(target, layout, k_width, multiply, dtype, 64, 64, 32)
    assert "v_wmma" in kernel.asm["amdgcn"]


def compile_product(target, layout, k_width, multiply):
    a = np.zeros((64, 64), np.float16)
    c = np.zeros((64, 64), np.float32)
    product[(1,)](a, a, c, 64, 64, 64, matrix(target), layout, k_width, multiply, gl.float32)


@pytest.mark.parametrize(
    "target,layout,multiply,message",
    [
        ("hip:gfx942", AMDMFMALayout(4, [32, 32, 16], True, [2, 2]), cdna3.mfma,
         "the target has no such matrix instruction"),
        ("hip:gfx942", gl.BlockedLayout([1, 4], [8, 8], [4, 1], [1, 0]), cdna3.mfma,
         "acc of mfma must be in an AMDMFMALayout"),
        ("hip:gfx1100", AMDWMMALayout(2, True, [[0, 1], [1, 0]]), rdna3.wmma,
         "this wmma takes an AMDWMMALayout of version 1, not 2"),
        ("hip:gfx1200", AMDWMMALayout(1, True, [[0, 1], [1, 0]]), rdna4.wmma,
         "this wmma takes an AMDWMMALayout of version 2, not 1"),
    ],
    indirect=["target"],
)  # fmt: skip
def test_products_that_the_machine_lacks(target, layout, multiply, message):
    k_width = 0 if isinstance(layout, gl.BlockedLayout) else 8
    with pytest.raises(TileError, match=message):
        compile_product(target, layout, k_width, multiply)


def test_grids_of_warps_that_there_is_no_code_for():
    """The layout is a value; where code is needed for it, the error says so."""
    layout = AMDWMMALayout(1, True, [[1, 0], [0, 1]])
    assert layout == AMDWMMALayout(1, True, [[1, 0], [0, 1]])
    assert layout != AMDWMMALayout(1, True, [[0, 1], [1, 0]])
    with pytest.raises(TileError, match="whose warps are a grid in row-major order"):
        gl.to_linear_layout(layout, [32, 32])


# Scales.


@gluon.jit
def scaled_product(
    a_ptr, as_ptr, b_ptr, bs_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr,
    A: gl.constexpr, B: gl.constexpr, LOAD: gl.constexpr, ACC: gl.constexpr, SCALED: gl.constexpr,
):  # fmt: skip
    A_LAYOUT: gl.constexpr = gl.DotOperandLayout(0, ACC, 16)
    B_LAYOUT: gl.constexpr = gl.DotOperandLayout(1, ACC, 16)
    AK: gl.constexpr = K // 2 if A == "e2m1" else K
    BK: gl.constexpr = K // 2 if B == "e2m1" else K
    a = gl.convert_layout(gl.load(pointers(a_ptr, M, AK, LOAD)), A_LAYOUT)
    b = gl.convert_layout(gl.load(pointers(b_ptr, BK, N, LOAD)), B_LAYOUT)
    AS: gl.constexpr = cdna4.get_mfma_scale_layout(A_LAYOUT, [M, K // 32])
    BS: gl.constexpr = cdna4.get_mfma_scale_layout(B_LAYOUT, [N, K // 32])
    a_scale = gl.load(pointers(as_ptr, M, K // 32, AS))
    b_scale = gl.load(pointers(bs_ptr, N, K // 32, BS))
    acc = gl.full([M, N], 1, gl.float32, ACC)
    if SCALED:
        c = cdna4.mfma_scaled(a, a_scale, A, b, b_scale, B, acc)
    else:
        c = cdna4.mfma_scaled(a, None, A, b, b_scale, B, acc)
    gl.store(pointers(c_ptr, M, N, ACC), c)


def random_operand(rows, columns, format, seed, axis):
    """Bytes of a matrix in the format, packed along `axis`, and what they stand for."""
    bits = np.abs(values((rows, columns), "i32", seed))
    if format == "e2m1":
        codes = (bits % 16).astype(np.uint8)
        return packed(codes, axis), codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    dtype = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}[format]
    value = (bits % 17 - 8).astype(np.float32).astype(dtype)
    return value, value.astype(np.float64)


def random_scales(rows, groups, seed):
    exponents = (np.abs(values((rows, groups), "i32", seed)) % 7 + 124).astype(np.uint8)
    return exponents, np.repeat(2.0 ** (exponents.astype(int) - 127), 32, axis=1)


@gfx950
@pytest.mark.sweep(3)
@pytest.mark.parametrize("left", ["e2m1", "e4m3", "e5m2"])
@pytest.mark.parametrize("right", ["e2m1", "e4m3", "e5m2"])
@pytest.mark.parametrize("shape", [[32, 32, 64], [16, 16, 128]])
@pytest.mark.parametrize("warps,scaled", [([2, 2], True), ([1, 4], True), ([4, 1], False)])
def test_mfma_scaled(warps, scaled, shape, left, right, target):
    m, n, k = 64, 128, 256
    a, a_value = random_operand(m, k, left, 1, 1)
    b, b_value = random_operand(k, n, right, 2, 0)
    (a_scale, a_factor), (b_scale, b_factor) = (
        random_scales(m, k // 32, 3),
        random_scales(n, k // 32, 4),
    )
    c = poisoned((m, n), "fp32")
    layout = AMDMFMALayout(4, shape, True, warps)
    kernel = scaled_product[(1,)](
        a, a_scale, b, b_scale, c, m, n, k, left, right, matrix(target), layout, scaled
    )
    want = (a_value * (a_factor if scaled else 1)) @ (b_value * b_factor.T) + 1
    np.testing.assert_allclose(c, want, rtol=1e-5)
    assert re.search(r"v_mfma_scale_f32", kernel.asm["amdgcn"])


@gluon.jit
def product_with_one_scale(a_ptr, b_ptr, c_ptr, LOAD: gl.constexpr, ACC: gl.constexpr):
    a = gl.convert_layout(gl.load(pointers(a_ptr, 32, 128, LOAD)), gl.DotOperandLayout(0, ACC, 16))
    b = gl.convert_layout(gl.load(pointers(b_ptr, 128, 32, LOAD)), gl.DotOperandLayout(1, ACC, 16))
    acc = gl.zeros([32, 32], gl.float32, ACC)
    gl.store(pointers(c_ptr, 32, 32, ACC), cdna4.mfma_scaled(a, 129, "e4m3", b, 126, "e4m3", acc))


@gfx950
def test_one_scale_for_all(target):
    a, a_value = random_operand(32, 128, "e4m3", 1, 1)
    b, b_value = random_operand(128, 32, "e4m3", 2, 0)
    c = poisoned((32, 32), "fp32")
    layout = AMDMFMALayout(4, [32, 32, 64], True, [2, 2])
    product_with_one_scale[(1,)](a, b, c, matrix(target), layout)
    np.testing.assert_allclose(c, a_value @ b_value * 4 * 0.5, rtol=1e-5)


@gluon.jit
def upcast(x_ptr, s_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, AXIS: gl.constexpr,
           FP4: gl.constexpr, LAYOUT: gl.constexpr):  # fmt: skip
    x = gl.load(pointers(x_ptr, M, N, LAYOUT))
    if FP4:
        WIDE: gl.constexpr = gl.fp4_to_fp(x, gl.bfloat16, AXIS).type.layout
        M2: gl.constexpr = 2 * M if AXIS == 0 else M
        N2: gl.constexpr = 2 * N if AXIS == 1 else N
        s = gl.load(pointers(s_ptr, M2, N2, WIDE))
        y = cdna3.scaled_upcast(x, s, gl.bfloat16, axis=AXIS)
        gl.store(pointers(y_ptr, M2, N2, WIDE), y)
    else:
        s = gl.load(pointers(s_ptr, M, N, LAYOUT))
        y = cdna3.scaled_upcast(x, s, gl.bfloat16)
        gl.store(pointers(y_ptr, M, N, LAYOUT), y)


@cdna
@pytest.mark.parametrize("format,axis", [("e2m1", 1), ("e2m1", 0), ("e4m3", None), ("e5m2", None)])
def test_scaled_upcast(format, axis, target):
    m, n = 32, 64
    wide = (m * (1 + (axis == 0)), n * (1 + (axis == 1)))
    x, value = random_operand(*wide, format, 5, axis)
    scales = (np.abs(values(wide, "i32", 6)) % 9 + 123).astype(np.uint8)
    y = np.full(wide, -77, ml_dtypes.bfloat16)
    upcast[(1,)](x, scales, y, m, n, axis, format == "e2m1", matrix(target, rows=2))
    np.testing.assert_array_equal(y.astype(np.float64), value * 2.0 ** (scales.astype(int) - 127))


@gluon.jit
def downcast(
    x_ptr, s_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, GROUP: gl.constexpr, AXIS: gl.constexpr,
    FORMAT: gl.constexpr, LAYOUT: gl.constexpr, SCALES: gl.constexpr,
):  # fmt: skip
    x = gl.load(pointers(x_ptr, M, N, LAYOUT))
    rows: gl.constexpr = M // GROUP if AXIS == 0 else M
    columns: gl.constexpr = N if AXIS == 0 else N // GROUP
    scales = gl.load(pointers(s_ptr, rows, columns, SCALES))
    y = cdna4.scaled_downcast(x, scales, FORMAT, AXIS)
    gl.store(pointers(y_ptr, y.shape[0], y.shape[1], y.type.layout), y)


SMALL = {
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e2m1": ml_dtypes.float4_e2m1fn
}  # fmt: skip


@pytest.mark.sweep(3)
@pytest.mark.parametrize("target", ["hip:gfx950", "hip:gfx942", "hip:gfx1100"], indirect=True)
@pytest.mark.parametrize("format", list(SMALL))
@pytest.mark.parametrize("axis,group", [(1, 32), (-1, 8), (0, 16)])
@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16"])
def test_scaled_downcast(format, axis, group, dtype, target):
    """Every number that the format has, what lies between two of them, and larger ones."""
    m, n = 32, 64
    rng = np.random.default_rng(group)
    scales = rng.integers(115, 135, (m // group, n) if axis == 0 else (m, n // group))
    wide = np.repeat(scales, group, axis)
    numbers = np.concatenate([np.arange(-33, 34) / 4.0, [0.0, -0.0, 448, 470, 6e4, 9e4, 2.0**-9]])
    x = rng.choice(numbers, (m, n)) * 2.0 ** (wide - 127)
    to = {"fp32": np.float32, "bf16": ml_dtypes.bfloat16, "fp16": np.float16}[dtype]
    x = x.astype(to)
    exact = (x.astype(np.float64) * 2.0 ** (127 - wide)).astype(np.float32)
    # What is too large becomes the largest number, as in all casts to these formats.
    if format != "e2m1":
        largest = float(ml_dtypes.finfo(SMALL[format]).max)
        exact = np.clip(exact, -largest, largest)
    expected = exact.astype(SMALL[format])
    layout = gl.BlockedLayout([1, 4] if axis else [4, 1], [LANES[target] // 8, 8], [4, 1], [1, 0])
    if format == "e2m1":
        y = np.full((m // 2, n) if axis == 0 else (m, n // 2), 0x99, np.uint8)
        codes = expected.view(np.uint8)
        expected = packed(codes.astype(np.int32), axis)
    else:
        y = np.full((m, n), 0x11, np.uint8).view(SMALL[format])
    pointer = scales.astype(np.uint8)
    downcast[(1,)](x, pointer, y, m, n, group, axis, format, layout, matrix(target))
    if format != "e2m1":
        y, expected = y.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(y, expected)


@gluon.jit
def scales_at_both_ends(x_ptr, s_ptr, y_ptr, LAYOUT: gl.constexpr):
    x = gl.load(pointers(x_ptr, 16, 32, LAYOUT))
    scales = gl.load(pointers(s_ptr, 16, 1, LAYOUT))
    gl.store(pointers(y_ptr, 16, 32, LAYOUT), cdna4.scaled_downcast(x, scales, "e5m2"))


@gfx950
def test_scales_at_both_ends(target):
    x = np.full((16, 32), 1.5, np.float32)
    scales = np.array([0, 1, 2, 126, 127, 128, 252, 253, 254, 255] + [127] * 6, np.uint8)
    x[:3], x[6:9] = 2.0**-126, 2.0**126
    y = np.full((16, 32), 0x11, np.uint8).view(ml_dtypes.float8_e5m2)
    scales_at_both_ends[(1,)](x, scales, y, matrix(target))
    expected = x.astype(np.float64) * 2.0 ** (127.0 - scales[:, None])
    expected[9] = np.nan
    np.testing.assert_array_equal(y.astype(np.float64), expected)


@gluon.jit
def upcast_with_scales(x_ptr, s_ptr, y_ptr, GROUP: gl.constexpr, AXIS: gl.constexpr,
                       LAYOUT: gl.constexpr):  # fmt: skip
    x = gl.load(pointers(x_ptr, 64, 32, LAYOUT))
    of: gl.constexpr = cdna4.get_scaled_upcast_fp4_scale_layout(x, GROUP, gl.float16, AXIS)
    M: gl.constexpr = 128 if AXIS == 0 else 64
    N: gl.constexpr = 32 if AXIS == 0 else 64
    rows: gl.constexpr = M // GROUP if AXIS == 0 else M
    columns: gl.constexpr = N if AXIS == 0 else N // GROUP
    gl.static_assert(of.shape == [rows, columns])
    gl.store(pointers(y_ptr, rows, columns, of), gl.load(pointers(s_ptr, rows, columns, of)))


@cdna
@pytest.mark.parametrize("group", [8, 32])
@pytest.mark.parametrize("axis", [0, 1])
def test_layouts_of_scales(group, axis, target):
    """Each lane has the scales of the floats that it gets."""
    layout = gl.BlockedLayout([1, 4] if axis else [4, 1], [LANES[target] // 8, 8], [4, 1], [1, 0])
    wide = [64, 64] if axis else [128, 32]
    shape = [e // group if d == axis else e for d, e in enumerate(wide)]
    x = np.zeros((64, 32), np.uint8)
    s, y = values(shape, "i8", 3).view(np.uint8), poisoned(shape, "i8").view(np.uint8)
    upcast_with_scales[(1,)](x, s, y, group, axis, layout)
    np.testing.assert_array_equal(y, s)


def test_a_layout_of_scales_by_hand():
    """What Triton gives for these: four lanes of two bytes share a scale of 32."""

    @gluon.jit
    def kernel(LAYOUT: gl.constexpr, EXPECTED: gl.constexpr):
        x = gl.full([32, 64], 0, gl.uint8, LAYOUT)
        found: gl.constexpr = cdna3.get_scaled_upcast_fp4_scale_layout(x, 32, gl.bfloat16, 1)
        gl.static_assert(found == EXPECTED)

    expected = gl.DistributedLinearLayout(
        [[0, 2]], [[0, 0], [0, 0], [0, 1], [1, 0], [2, 0], [4, 0]], [[8, 0], [16, 0]], [], [32, 4]
    )
    kernel.warmup(gl.BlockedLayout([1, 4], [8, 8], [4, 1], [1, 0]), expected, grid=(1,))


@gluon.jit
def refused_scales(x_ptr, KIND: gl.constexpr, LAYOUT: gl.constexpr):
    x = gl.load(pointers(x_ptr, 32, 64, LAYOUT))
    if KIND == "format":
        cdna4.scaled_downcast(x, x.to(gl.uint8), "e8m0")
    elif KIND == "scale":
        cdna4.scaled_downcast(x, x, "e4m3")
    elif KIND == "shape":
        cdna4.scaled_downcast(x, gl.zeros([16, 2], gl.uint8, LAYOUT), "e4m3")
    elif KIND == "group":
        cdna4.scaled_downcast(x, gl.zeros([32, 16], gl.uint8, LAYOUT), "e4m3")
    else:
        cdna4.get_scaled_upcast_fp4_scale_layout(x.to(gl.uint8), 4, gl.float16, 1)


@gfx950
@pytest.mark.parametrize(
    "kind,message",
    [
        ("format", "scaled_downcast has the formats e4m3, e5m2 and e2m1, not 'e8m0'"),
        ("scale", "Expected scale to use raw E8M0 payload in int8/uint8"),
        ("shape", "takes a scale for equal parts along dimension 1"),
        ("group", "for a multiple of 8 elements, not for 4"),
        ("factor", "scale_factor is a power of two from 8 to 128, not 4"),
    ],
)
def test_refused_scales(kind, message, target):
    with pytest.raises(TileError, match=message):
        refused_scales[(1,)](np.zeros((32, 64), np.float32), kind, matrix(target))


@gluon.jit
def repacked(x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr,
             OPERAND: gl.constexpr):  # fmt: skip
    buffer = gl.allocate_shared_memory(
        gl.uint8, [M, N], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]), gl.load(
            pointers(x_ptr, M, N, LAYOUT))
    )  # fmt: skip
    y = cdna4.load_shared_fp4_repacked(buffer, OPERAND)
    gl.store(pointers(y_ptr, y.shape[0], y.shape[1], OPERAND), y)


def packed(codes, axis):
    low, high = (codes.take(range(i, codes.shape[axis], 2), axis) for i in (0, 1))
    return (low | high << 4).astype(np.uint8)


@gfx950
@pytest.mark.parametrize("index", [0, 1])
def test_bytes_packed_across_k(index, target):
    parent = AMDMFMALayout(4, [32, 32, 64], True, [2, 2])
    codes = np.abs(values((128, 128), "i32", 9)) % 16
    x = packed(codes, index)  # Along M of a left operand, N of a right one.
    want = packed(codes, 1 - index)
    y = np.full(want.shape, 0xEE, np.uint8)
    repacked[(1,)](x, y, *x.shape, matrix(target), gl.DotOperandLayout(index, parent, 16))
    np.testing.assert_array_equal(y, want)


# Copies to LDS.


@gluon.jit
def staged(
    x_ptr, y_ptr, n, trips, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr,
    SHARED: gl.constexpr, OTHER: gl.constexpr, BUFFER: gl.constexpr, OUT: gl.constexpr,
):  # fmt: skip
    """Two blocks are under way while one is read."""
    buffers = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [2, M, N], SHARED)
    at = offsets_of(M, N, LAYOUT)
    out = offsets_of(M, N, OUT)
    for i in range(trips + 1):
        if i < trips:
            base = i * M * N
            mask = base + at < n
            if BUFFER:
                async_copy.buffer_load_to_shared(
                    buffers.index(i & 1), x_ptr + base, at, mask=mask, other=OTHER
                )
            else:
                async_copy.global_load_to_shared(
                    buffers.index(i & 1), x_ptr + base + at, mask=mask, other=OTHER
                )
        async_copy.commit_group()
        if i > 0:
            async_copy.wait_group(1)
            x = async_copy.load_shared_relaxed(buffers.index((i - 1) & 1), OUT)
            gl.store(y_ptr + (i - 1) * M * N + out, x)


@every
@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "i8"])
@pytest.mark.parametrize("buffer", [True, False])
@pytest.mark.parametrize("other", [None, 5])
@pytest.mark.parametrize("trips,n", [(3, 3 * 32 * 64), (4, 7000), (0, 0), (1, 100)])
@pytest.mark.parametrize("shared", ["rows", "swizzled", "padded"])
def test_copies_to_lds(shared, trips, n, other, buffer, dtype, target):
    layout = {
        "rows": gl.SwizzledSharedLayout(1, 1, 1, [1, 0]),
        "swizzled": gl.SwizzledSharedLayout(4, 1, 8, [1, 0]),
        "padded": gl.PaddedSharedLayout.with_identity_for([[64, 8]], [32, 64], [1, 0]),
    }[shared]
    x, y = values((max(trips, 1), 32, 64), dtype, 7), poisoned((max(trips, 1), 32, 64), dtype)
    narrow = gl.BlockedLayout([1, 1], [1, LANES[target]], [4, 1], [1, 0])
    load = matrix(target) if n % 2 else narrow
    out = gl.BlockedLayout([2, 1], [LANES[target] // 4, 4], [2, 2], [0, 1])
    report = staged.simulate(
        x, y, n, trips, 32, 64, load, layout, other, buffer, out, grid=(1,), schedules=3
    )
    assert report.ok, report.messages
    if trips:
        inside = np.arange(x.size).reshape(x.shape) < n
        np.testing.assert_array_equal(y, np.where(inside, x, other or 0).astype(x.dtype))


# Parts of tensors.


@gluon.jit
def parts(x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr):
    x = gl.load(pointers(x_ptr, 2 * M, 2 * N, LAYOUT))
    for i in gl.static_range(2):
        for j in gl.static_range(2):
            part = gl.amd.slice(x, [M, N], [i * M, j * N])
            gl.store(pointers(y_ptr + (2 * j + i) * M * N, M, N, LAYOUT), part)


@every
def test_slice(target):
    layout = matrix(target)
    m, n = 4 * (LANES[target] // 8), 32
    x, y = values((2 * m, 2 * n), "fp32", 8), poisoned((4, m, n), "fp32")
    parts[(1,)](x, y, m, n, layout)
    want = [x[i * m :][:m, j * n :][:, :n] for j in range(2) for i in range(2)]
    np.testing.assert_array_equal(y, np.stack(want))


@gluon.jit
def bad_slice(x_ptr, LAYOUT: gl.constexpr):
    x = gl.load(pointers(x_ptr, 64, 64, LAYOUT))
    gl.store(pointers(x_ptr, 16, 64, LAYOUT), gl.amd.slice(x, [16, 64], [8, 0]))


@every
def test_slices_begin_at_multiples(target):
    with pytest.raises(TileError, match="begins at multiples of its shape"):
        bad_slice[(1,)](poisoned((64, 64), "fp32"), matrix(target))


# Layouts.


@pytest.mark.parametrize(
    "layout",
    [
        AMDMFMALayout(3, [32, 32, 8], True, [2, 2]),
        AMDMFMALayout(4, [16, 16, 32], False, [4, 1], tiles_per_warp=[1, 2]),
        AMDMFMALayout(3, [16, 16, 4], False, [1, 2], element_bitwidth=64),
        AMDWMMALayout(1, True, [[0, 1], [1, 0]]),
        AMDWMMALayout(2, False, [[0, 2], [2, 0]], [[0, 1], [1, 0]]),
    ],
)
def test_layouts_are_read_as_they_are_printed(layout):
    from tile.experimental.gluon.language._syntax import layout_of

    assert layout_of(layout.mlir, [64, 64]) == layout
    assert hash(layout_of(layout.mlir, [64, 64])) == hash(layout)
    assert type(layout)(**{
        name: getattr(layout, name) for name in layout.__dataclass_fields__
    }) == layout  # fmt: skip
    assert layout.format_hardware_view([64, 64]) and layout._repr_svg_()


@pytest.mark.parametrize(
    "make,message",
    [
        (lambda: AMDMFMALayout(5, [32, 32, 8], True, [2, 2]), "is 1 to 4, not 5"),
        (lambda: AMDMFMALayout(3, [32, 32], True, [2, 2]), r"instr_shape is \[M, N, K\]"),
        (lambda: AMDMFMALayout(3, [32, 32, 8], True, [3, 2]), "has powers of two, not 3"),
        (lambda: AMDMFMALayout(3, [32, 32, 8], True, [2, 2], 16), "is 32 or 64, not 16"),
        (lambda: AMDWMMALayout(4, True, [[0, 1]]), "is 1 to 3, not 4"),
        (lambda: AMDWMMALayout(1, True, [[0, 1, 0]]), "has 2 entries"),
    ],
)
def test_layouts_that_are_none(make, message):
    with pytest.raises(TileError, match=message):
        make()


# Stages of waves.


@gluon.jit
def stages(x_ptr, y_ptr, n, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr,
           BUFFER: gl.constexpr, PRIORITY: gl.constexpr):  # fmt: skip
    at = offsets_of(M, N, LAYOUT)
    buffers = gl.allocate_shared_memory(gl.float32, [2, M, N], BUFFER)
    acc = gl.zeros([M, N], gl.float32, LAYOUT)
    for i in range(n):
        with gl.amd.warp_pipeline_stage("load", priority=PRIORITY):
            buffers.index(i % 2).store(gl.load(x_ptr + i * M * N + at))
        with gl.amd.warp_pipeline_stage("compute"):
            acc = acc * 2 + buffers.index(i % 2).load(LAYOUT)
    gl.store(y_ptr + at, acc)


@every
@pytest.mark.parametrize("priority", [None, 3])
@pytest.mark.parametrize("num_warps", [4, 8])
def test_stages_of_waves(target, priority, num_warps):
    x, y = values((5, 32, 64), "i8", 2).astype(np.float32), poisoned((32, 64), "fp32")
    layout = gl.BlockedLayout([1, 4], [LANES[target] // 8, 8], [num_warps, 1], [1, 0])
    buffer = gl.SwizzledSharedLayout(4, 1, 4, [1, 0])
    kernel = stages[(1,)](x, y, 5, 32, 64, layout, buffer, priority, num_warps=num_warps)
    expected = np.zeros((32, 64), np.float32)
    for part in x:
        expected = expected * 2 + part
    np.testing.assert_array_equal(y, expected)
    assert kernel.asm["ttgir"].count("rocdl.sched.barrier") == 2
    found = re.findall(r"s_setprio (\d)", kernel.asm["amdgcn"])
    assert sorted(found) == ([] if priority is None else ["0", "3"])


@gluon.jit
def refused_stage(KIND: gl.constexpr):
    if KIND == "label":
        with gl.amd.warp_pipeline_stage(3):
            pass
    else:
        with gl.amd.warp_pipeline_stage("load", priority=4):
            pass


@pytest.mark.parametrize(
    "kind,message",
    [
        ("label", "label of warp_pipeline_stage is a str, not 3"),
        ("priority", "priority of warp_pipeline_stage is from 0 to 3, not 4"),
    ],
)
def test_refused_stages(kind, message):
    with pytest.raises(TileError, match=message):
        refused_stage[(1,)](kind)


# Buffers in partitions of LDS.


@gluon.jit
def through_parts(
    x_ptr, y_ptr, z_ptr, M: gl.constexpr, N: gl.constexpr, ROWS: gl.constexpr, BUFFER: gl.constexpr,
    LAYOUT: gl.constexpr,
):  # fmt: skip
    """Each part of some rows is read, and written back times three."""
    at = offsets_of(M, N, LAYOUT)
    buffer = gl.allocate_shared_memory(gl.int32, [M, N], BUFFER, gl.load(x_ptr + at))
    for i in gl.static_range(M // ROWS):
        part = buffer.slice(i * ROWS, ROWS)
        read = part.load(LAYOUT)
        gl.store(z_ptr + i * ROWS * N + offsets_of(ROWS, N, LAYOUT), read)
        part.store(read * 3)
    gl.store(y_ptr + at, buffer.load(LAYOUT))


PIECES = [(2, 1, 0), (2, 2, 0), (4, 1, 1), (1, 2, 1), (4, 2, 0)]


def in_pieces(shape, partitions, groups, dim, padded):
    piece = [e // (partitions * groups) if d == dim else e for d, e in enumerate(shape)]
    if padded:
        inside = gl.PaddedSharedLayout.with_identity_for([[16, 4]], piece, [1, 0])
    else:
        inside = gl.SwizzledSharedLayout(4, 2, 4, [1, 0])
    return PartitionedSharedLayout(partitions, groups, dim, inside), piece, inside


@every
@pytest.mark.sweep(3)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("pieces", PIECES)
@pytest.mark.parametrize("rows", [8, 32])
def test_buffers_in_partitions(target, pieces, padded, rows):
    shape = [32, 64]
    buffer, _, _ = in_pieces(shape, *pieces, padded)
    x, y, z = (
        values(shape, "i16", 1).astype(np.int32),
        poisoned(shape, "i32"),
        poisoned(shape, "i32"),
    )
    arguments = (x, y, z, 32, 64, rows, buffer, matrix(target))
    through_parts[(1,)](*arguments)
    np.testing.assert_array_equal(z, x)
    np.testing.assert_array_equal(y, x * 3)
    y[...], z[...] = 0, 0
    through_parts.interpret(*arguments, grid=(1,))
    np.testing.assert_array_equal(z, x)
    np.testing.assert_array_equal(y, x * 3)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("pieces", PIECES)
def test_places_in_partitions(pieces, padded):
    """Pieces are in partitions in turns, and in each as their own layout says."""
    shape = [32, 64]
    partitions, groups, dim = pieces
    buffer, piece, inside = in_pieces(shape, *pieces, padded)
    bases = gl.to_linear_layout(buffer, shape).offset_bases
    inner = gl.to_linear_layout(inside, piece).offset_bases

    def place(offset, of):
        found = [0, 0]
        for bit, basis in enumerate(of):
            if offset >> bit & 1:
                found = [a ^ b for a, b in zip(found, basis, strict=True)]
        return found

    count = piece[0] * piece[1]
    for offset in range(shape[0] * shape[1]):
        number, rest = divmod(offset, count)
        partition, group = divmod(number, groups)
        expected = place(rest, inner)
        expected[dim] += (group * partitions + partition) * piece[dim]
        assert place(offset, bases) == expected


def test_a_buffer_has_equal_pieces():
    inside = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    with pytest.raises(TileError, match="does not have 4 equal pieces along dimension 0"):
        gl.to_linear_layout(PartitionedSharedLayout(4, 1, 0, inside), [2, 64])
