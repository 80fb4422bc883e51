"""Dots by the matrix instructions of AMD's GPUs."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from addresses import pointers
from amd_machines import matrix
from reference import random as values
from reference import sim_only

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
