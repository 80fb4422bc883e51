"""Operands with scales, on AMD's GPUs."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from addresses import pointers
from amd_machines import LANES, cdna, gfx950, matrix
from reference import poisoned
from reference import random as values

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import (
    AMDMFMALayout,
    cdna3,
    cdna4,
)


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
