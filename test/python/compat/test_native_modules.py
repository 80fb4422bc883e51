"""Modules that are native in Triton: what programs find in `triton._C.libtriton`."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile.backends import GPUTarget
from tile.compat.additions import testing as testing_names
from tile.compat.triton._C import libtriton
from tile.compat.triton._C.libtriton import amd, cublas, interpreter, llvm, nvidia
from tile.compiler import ASTSource
from tile.runtime import driver

INT_TYPES = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64]


def addresses(array):
    """Where the elements are."""
    steps = np.indices(array.shape).reshape(array.ndim, -1).T @ np.array(array.strides)
    return (array.ctypes.data + steps).astype(np.uint64).reshape(array.shape)


@pytest.fixture
def generator():
    return np.random.default_rng(7)


# The interpreter's memory.


@pytest.mark.parametrize("dtype", [*INT_TYPES, np.float32, np.float64])
def test_loads_and_stores(dtype, generator):
    data = generator.integers(0, 100, (5, 8)).astype(dtype)
    part, mask = data[1:4, ::2], generator.random((3, 4)) < 0.5
    other = generator.integers(100, 120, (3, 8)).astype(dtype)[:, 1::2]
    loaded = interpreter.load(addresses(part), mask, other, dtype)
    assert loaded.dtype == dtype and np.array_equal(loaded, np.where(mask, part, other))
    expected = data.copy()
    expected[1:4, ::2] = np.where(mask, other, part)
    interpreter.store(addresses(part), other, mask)
    assert np.array_equal(data, expected)


@pytest.mark.parametrize("dtype", INT_TYPES)
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("ADD", np.add), ("AND", np.bitwise_and), ("OR", np.bitwise_or), ("XOR", np.bitwise_xor),
        ("MAX", np.maximum), ("MIN", np.minimum), ("XCHG", lambda old, new: new),
    ],
)  # fmt: skip
def test_atomic_operations(dtype, name, function, generator):
    data = generator.integers(0, 100, (4, 6)).astype(dtype)
    values = generator.integers(0, 27, (4, 3)).astype(dtype)
    part, mask = data[:, ::2], generator.random((4, 3)) < 0.5
    before = part.copy()
    relaxed = interpreter.MEM_SEMANTIC.RELAXED
    old = interpreter.atomic_rmw(interpreter.RMW_OP[name], addresses(part), values, mask, relaxed)
    assert np.array_equal(old[mask], before[mask])
    assert np.array_equal(part, np.where(mask, function(before, values), before))


def test_atomic_operations_on_one_element():
    """Each sees what the one before has left."""
    total = np.array([10], np.int32)
    where, ones = addresses(total).repeat(4), np.full(4, 3, np.int32)
    old = interpreter.atomic_rmw(
        interpreter.RMW_OP.ADD, where, ones, np.ones(4, bool), interpreter.MEM_SEMANTIC.RELAXED
    )
    assert list(old) == [10, 13, 16, 19] and total[0] == 22


def test_compare_and_swap(generator):
    data = generator.integers(0, 3, (4, 6)).astype(np.int32)
    part, before = data[:, ::2], data[:, ::2].copy()
    expected, desired = np.full((4, 3), 1, np.int32), np.full((4, 3), 9, np.int32)
    old = interpreter.atomic_cas(
        addresses(part), expected, desired, interpreter.MEM_SEMANTIC.ACQUIRE_RELEASE
    )
    assert np.array_equal(old, before)
    assert np.array_equal(part, np.where(before == 1, 9, before))


# The IR.


@tile.jit
def constants_kernel(x, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)[None, :] + tl.full((1, BLOCK), 70000, tl.int32)
    value = tl.full((1, BLOCK), 1.5, tl.float32)
    tl.store(x + offsets, value, mask=tl.full((1, BLOCK), 1, tl.int1))
    tl.store(x - 3, 0.25)


def test_constants_and_shapes():
    source = ASTSource(constants_kernel, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 32})
    backend = tile.compiler.make_backend(GPUTarget("cuda", 90, 32))
    module = source.make_ir(backend.parse_options({}), tile._C.ir.Context())
    constants, others, shapes = [], [], {}

    def visit(op):
        (constants if op.get_name() == "arith.constant" else others).append(op.get_constant_value())
        if op.get_name() in ("tt.expand_dims", "tt.make_range", "tt.splat"):
            shapes.setdefault(op.get_name(), op.get_result(0).get_shape())
        if op.get_name() == "tt.store":
            shapes["pointer"] = op.get_operand(0).get_shape()

    module.walk(visit)
    assert {70000, 1.5, 1, 0.25} <= set(constants) and None not in constants
    assert set(others) == {None}
    assert shapes["tt.make_range"] == [32] and shapes["tt.expand_dims"] == [1, 32]
    assert shapes["pointer"] is None


# Memory of a device, and cuBLAS.


def test_a_machine_without_a_gpu():
    if driver.active.name == "cuda":
        pytest.skip("there is a GPU")
    with pytest.raises(tile.DriverError, match="this needs an NVIDIA GPU"):
        nvidia.device_malloc(4)
    assert testing_names.cublas() is None
    with pytest.raises(tile.DriverError, match="cuBLAS needs an NVIDIA GPU"):
        cublas.CublasLt(None)
    with pytest.raises(tile.DriverError, match="has no device 77"):
        driver.active.set_current_device(77)
    driver.active.set_current_device(driver.active.get_current_device())


def test_what_is_not_there():
    assert hasattr(libtriton, "nvidia") and not hasattr(nvidia, "set_nvvm_reflect_ftz")
    with pytest.raises(AttributeError, match=r"libtriton.nvidia.set_nvvm_reflect_ftz is not built"):
        nvidia.set_nvvm_reflect_ftz  # noqa: B018
    with pytest.raises(
        tile.TileError, match=r"ir.builder is not built in tile yet: kernels are fun"
    ):
        libtriton.ir.builder(None)
    with pytest.raises(tile.TileError, match=r"proton.add_x is not built .*: triton.profiler rec"):
        libtriton.proton.add_x  # noqa: B018


PTX_PROGRAM = """
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @fill(ptr addrspace(1) %p, i32 %value) {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %q = getelementptr i32, ptr addrspace(1) %p, i32 %i
  %v = add i32 %value, %i
  store i32 %v, ptr addrspace(1) %q
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
"""

AMD_PROGRAM = """
define amdgpu_kernel void @fill(ptr addrspace(1) %p, i32 %value) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %q = getelementptr i32, ptr addrspace(1) %p, i32 %i
  %v = add i32 %value, %i
  store i32 %v, ptr addrspace(1) %q
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
"""


@sim_only
@pytest.mark.parametrize("processor", ["sm_75", "sm_90a", "sm_100a"])
def test_assembly_of_llvm_ir(processor):
    llvm.init_targets()
    ptx = llvm.translate_to_asm(
        PTX_PROGRAM, "nvptx64-nvidia-cuda", processor, "", [], True, False, False
    )
    assert ".entry fill(" in ptx
    out = np.full(32, -1, np.int32)
    tile.sim.launch(ptx, "fill", 1, 32, [out, 5])
    assert np.array_equal(out, 5 + np.arange(32))


@sim_only
@pytest.mark.parametrize("processor", ["gfx90a", "gfx942", "gfx1100", "gfx1201"])
def test_code_objects_of_llvm_ir(processor, tmp_path):
    triple = amd.get_target_triple(processor)
    given = (triple, processor, "", [], True)
    assembly = llvm.translate_to_asm(AMD_PROGRAM, *given, False, False)
    code = amd.assemble_amdgcn(assembly, triple, processor, "")
    assert code == llvm.translate_to_asm(AMD_PROGRAM, *given, True, False)
    (tmp_path / "fill.o").write_bytes(code)
    amd.link_hsaco(str(tmp_path / "fill.o"), str(tmp_path / "fill.hsaco"))
    assert (tmp_path / "fill.hsaco").read_bytes()[:4] == b"\x7fELF"
    out = np.full(64, -1, np.int32)
    tile.sim.launch(assembly, "fill", 1, 64, [out, 5])
    assert np.array_equal(out, 5 + np.arange(64))


def test_what_llvm_and_amd_refuse(tmp_path):
    with pytest.raises(tile.TileError, match="no triple of a GPU"):
        llvm.translate_to_asm("", "x86_64-linux", "", "", [], True, False, False)
    with pytest.raises(tile.TileError, match="LLVM makes no objects for NVIDIA GPUs"):
        llvm.translate_to_asm("", "nvptx64", "sm_90", "", [], True, True, False)
    with pytest.raises(tile.TileError, match="'sm90' is no NVIDIA GPU"):
        llvm.translate_to_asm("", "nvptx64", "sm90", "", [], True, False, False)
    with pytest.raises(tile.TileError, match="expected"):
        llvm.translate_to_asm("nothing", "nvptx64", "sm_90", "", [], True, False, False)
    with pytest.raises(tile.TileError, match=r"no.o cannot be read"):
        amd.link_hsaco(str(tmp_path / "no.o"), str(tmp_path / "no.hsaco"))
    with pytest.raises(AttributeError, match=r"llvm.to_module is not built .*: translate_to_asm"):
        llvm.to_module  # noqa: B018
    with pytest.raises(AttributeError, match=r"amd.set_isa_version is not built in tile yet"):
        amd.set_isa_version  # noqa: B018


def test_what_amd_gpus_can_do():
    found = {
        p: amd.has_architected_sgprs("", p) for p in ("gfx90a", "gfx942", "gfx1100", "gfx1201")
    }
    assert found == {"gfx90a": False, "gfx942": False, "gfx1100": False, "gfx1201": True}
    assert not amd.supports_multi_cta_launch("gfx942") and not amd.supports_tdm("gfx942")
    path = amd.find_loaded_library("libc.so")
    assert path is None or Path(path).exists()
    assert amd.find_loaded_library("no such library") is None


#: A library with cuBLAS's functions, which multiplies matrices of fp32 on the host.
SOURCE = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
struct layout { int type; uint64_t rows, columns; int64_t stride; };
struct desc { int compute, scale, transA; };
static int made, status;
int count(void) { return made; }
void fail_with(int s) { status = s; }
int cublasLtCreate(void **h) { *h = malloc(1); ++made; return 0; }
int cublasLtDestroy(void *h) { free(h); --made; return 0; }
const char *cublasLtGetStatusString(int s) { return s == 7 ? "an invalid value" : "another"; }
int cublasLtMatmulDescCreate(struct desc **d, int compute, int scale) {
  *d = calloc(1, sizeof **d); (*d)->compute = compute; ++made; return 0;
}
int cublasLtMatmulDescDestroy(void *d) { free(d); --made; return 0; }
int cublasLtMatmulDescSetAttribute(struct desc *d, int which, const int *value, size_t size) {
  if (which != 3 || size != 4) return 7;
  d->transA = *value; return 0;
}
int cublasLtMatrixLayoutCreate(struct layout **l, int t, uint64_t rows, uint64_t cols, int64_t ld) {
  *l = malloc(sizeof **l); **l = (struct layout){t, rows, cols, ld}; ++made; return 0;
}
int cublasLtMatrixLayoutDestroy(void *l) { free(l); --made; return 0; }
int cublasLtMatmulPreferenceCreate(size_t **p) { *p = calloc(1, 8); ++made; return 0; }
int cublasLtMatmulPreferenceDestroy(void *p) { free(p); --made; return 0; }
int cublasLtMatmulPreferenceSetAttribute(size_t *p, int which, const size_t *v, size_t size) {
  if (which != 1 || size != 8) return 7;
  *p = *v; return 0;
}
int cublasLtMatmulAlgoGetHeuristic(void *h, void *d, void *a, void *b, void *c, void *e,
                                   size_t *p, int most, uint64_t *result, int *found) {
  memset(result, 0, 96);
  result[0] = 42; result[8] = *p; *found = most; return status;
}
int cublasLtMatmul(void *h, const struct desc *d, const float *alpha, const float *A,
                   const struct layout *a, const float *B, const struct layout *b,
                   const float *beta, const float *C, const struct layout *c, float *D,
                   const struct layout *o, const uint64_t *algorithm, void *w, size_t size,
                   void *stream) {
  if (*algorithm != 42 || size != 64 || d->transA != 1 || d->scale != 0) return 7;
  if (a->rows != b->rows || a->columns != o->rows || b->columns != o->columns) return 7;
  if (c->rows != o->rows || c->columns != o->columns) return 7;
  /* The result may be what is added only if it has the same type. */
  if ((const void *)C == D && c->type != o->type) return 7;
  if (o->type == 28) { /* fp8: what is added is bf16. */
    if (c->type != 14 || C || *beta) return 7;
    memset(D, 0x38, o->rows * o->columns);
    return 0;
  }
  for (uint64_t i = 0; i < o->rows; ++i)
    for (uint64_t j = 0; j < o->columns; ++j) {
      float sum = 0;
      for (uint64_t k = 0; k < a->rows; ++k)
        sum += A[i * a->stride + k] * B[j * b->stride + k];
      D[i + j * o->stride] = *alpha * sum + (*beta ? *beta * C[i + j * c->stride] : 0);
    }
  return 0;
}
"""


class Matrix:
    """A tensor, as far as cuBLAS is asked about it."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape
        self.dtype = array.dtype

    def data_ptr(self):
        return self.array.ctypes.data

    def stride(self, dim):
        return self.array.strides[dim] // self.array.itemsize

    def numel(self):
        return self.array.size

    def element_size(self):
        return self.array.itemsize


class FakeCuda:
    name = "cuda"

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


@pytest.fixture
def library(tmp_path, monkeypatch):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    source, target = tmp_path / "blas.c", tmp_path / "libblas.so"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", source, "-o", target], check=True)
    made = ctypes.CDLL(str(target))
    monkeypatch.setattr(cublas, "_library", lambda: made)
    monkeypatch.setattr(driver, "_active", FakeCuda())
    return made


@pytest.mark.parametrize(("m", "n", "k"), [(5, 7, 3), (16, 8, 32), (1, 9, 2)])
def test_products_by_cublas(m, n, k, library, generator):
    def matrix(rows, columns):
        whole = generator.standard_normal((rows, columns + 3)).astype(np.float32)
        return Matrix(whole[:, :columns])

    a, b, c, d = matrix(m, k), matrix(n, k), matrix(m, n), matrix(m, n)
    handle = cublas.CublasLt(Matrix(np.zeros(64, np.int8)))
    product, before = a.array @ b.array.T, c.array.copy()
    handle.gemm(a, b, c, d, 0.5, 2.0)
    np.testing.assert_allclose(d.array, 0.5 * product + 2 * before, rtol=1e-5, atol=1e-5)
    c.array[:] = np.nan
    handle.matmul(a, b, c)
    np.testing.assert_allclose(c.array, product, rtol=1e-5, atol=1e-5)
    del handle
    assert library.count() == 0


def test_products_of_fp8(library):
    import ml_dtypes

    def matrix(rows, columns):
        return Matrix(np.zeros((rows, columns), ml_dtypes.float8_e4m3fn))

    a, b, c = matrix(16, 32), matrix(8, 32), matrix(16, 8)
    handle = cublas.CublasLt(Matrix(np.zeros(64, np.int8)))
    handle.matmul(a, b, c)
    assert (c.array == 1).all()
    with pytest.raises(tile.TileError, match="adds no matrix of fp8"):
        handle.gemm(a, b, c, c, 1.0, 1.0)


def test_products_that_cublas_does_not_have(library):
    handle = cublas.CublasLt(Matrix(np.zeros(64, np.int8)))
    square, wide = Matrix(np.zeros((4, 4), np.float32)), Matrix(np.zeros((4, 8), np.float32))
    with pytest.raises(tile.TileError, match="do not fit together"):
        handle.matmul(square, wide, square)
    with pytest.raises(tile.TileError, match=r"takes elements of fp32, .*, not i32"):
        handle.matmul(*[Matrix(np.zeros((4, 4), np.int32))] * 3)
    with pytest.raises(tile.TileError, match="must be contiguous"):
        handle.matmul(square, Matrix(np.zeros((4, 4), np.float32).T), square)
    library.fail_with(7)
    with pytest.raises(tile.DriverError, match="no algorithm for this matmul: an invalid value"):
        handle.matmul(square, square, square)
    del handle
    assert library.count() == 0
