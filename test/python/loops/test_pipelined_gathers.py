"""Loops over gathers by descriptors: TMA copies the rows of later iterations, in a ring."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile.sim
from tile import _C

pytestmark = sim_only

KERNEL = """
#A = #ttg.nvmma_shared<{swizzlingByteWidth = SWIZZLE_A, transposed = false, elementBitWidth = 16}>
#B = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2],
                        instrShape = [16, 8]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot1 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#S0 = #ttg.slice<{dim = 0, parent = #mma}>
#S1 = #ttg.slice<{dim = 1, parent = #mma}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.tensordesc<1xBKxf16, #A> {ttnvgpu.tensor_map = {}},
                    %y: !tt.tensordesc<1x32xf16, #B> {ttnvgpu.tensor_map = {}},
                    %rows: !tt.ptr<i32>, %more: !tt.ptr<i32>, %out: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant BK : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #line>
    %p = tt.splat %rows : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #line>
    %q = tt.addptr %p, %i : tensor<32x!tt.ptr<i32>, #line>, tensor<32xi32, #line>
    %r = tt.load %q : tensor<32x!tt.ptr<i32>, #line>
    %j = tt.make_range {end = BK : i32, start = 0 : i32} : tensor<BKxi32, #line>
    %s = tt.splat %more : !tt.ptr<i32> -> tensor<BKx!tt.ptr<i32>, #line>
    %sum = scf.for %k = %c0 to %n step %step iter_args(%acc = %zero) -> tensor<32x32xf32, #mma>
        : i32 {
      %a = tt.descriptor_gather %x[%r, %k] : (!tt.tensordesc<1xBKxf16, #A>,
          tensor<32xi32, #line>, i32) -> tensor<32xBKxf16, #dot0>
      %at = tt.splat %k : i32 -> tensor<BKxi32, #line>
      %here = arith.addi %at, %j : tensor<BKxi32, #line>
      %t = tt.addptr %s, %here : tensor<BKx!tt.ptr<i32>, #line>, tensor<BKxi32, #line>
      %u = tt.load %t : tensor<BKx!tt.ptr<i32>, #line>
      %b = tt.descriptor_gather %y[%u, %c0] : (!tt.tensordesc<1x32xf16, #B>,
          tensor<BKxi32, #line>, i32) -> tensor<BKx32xf16, #dot1>
      %d = tt.dot %a, %b, %acc : tensor<32xBKxf16, #dot0> * tensor<BKx32xf16, #dot1>
          -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    %m0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #S1>
    %m1 = tt.expand_dims %m0 {axis = 1 : i32} : tensor<32xi32, #S1> -> tensor<32x1xi32, #mma>
    %m2 = tt.broadcast %m1 : tensor<32x1xi32, #mma> -> tensor<32x32xi32, #mma>
    %n0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #S0>
    %n1 = tt.expand_dims %n0 {axis = 0 : i32} : tensor<32xi32, #S0> -> tensor<1x32xi32, #mma>
    %n2 = tt.broadcast %n1 : tensor<1x32xi32, #mma> -> tensor<32x32xi32, #mma>
    %c32 = arith.constant dense<32> : tensor<32x32xi32, #mma>
    %m3 = arith.muli %m2, %c32 : tensor<32x32xi32, #mma>
    %place = arith.addi %m3, %n2 : tensor<32x32xi32, #mma>
    %o = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #mma>
    %o2 = tt.addptr %o, %place : tensor<32x32x!tt.ptr<f32>, #mma>, tensor<32x32xi32, #mma>
    tt.store %o2, %sum : tensor<32x32x!tt.ptr<f32>, #mma>
    tt.return
  }
}
"""

#: The same for dots that read the buffers themselves, of 128 rows.
IN_PLACE = """
#A = #ttg.nvmma_shared<{swizzlingByteWidth = SWIZZLE_A, transposed = false, elementBitWidth = 16}>
#B = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#acc = #ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#tile = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1],
                      order = [1, 0]}>
#row = #ttg.blocked<{sizePerThread = [1, 32], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1],
                     order = [0, 1]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#S0 = #ttg.slice<{dim = 0, parent = #row}>
#S1 = #ttg.slice<{dim = 1, parent = #row}>
!sum = !ttg.memdesc<128x32xf32, #acc, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.tensordesc<1xBKxf16, #A> {ttnvgpu.tensor_map = {}},
                    %y: !tt.tensordesc<1x32xf16, #B> {ttnvgpu.tensor_map = {}},
                    %rows: !tt.ptr<i32>, %more: !tt.ptr<i32>, %out: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant BK : i32
    %true = arith.constant true
    %zero = arith.constant dense<0.0> : tensor<128x32xf32, #row>
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #line>
    %p = tt.splat %rows : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #line>
    %q = tt.addptr %p, %i : tensor<128x!tt.ptr<i32>, #line>, tensor<128xi32, #line>
    %r = tt.load %q : tensor<128x!tt.ptr<i32>, #line>
    %j = tt.make_range {end = BK : i32, start = 0 : i32} : tensor<BKxi32, #line>
    %s = tt.splat %more : !tt.ptr<i32> -> tensor<BKx!tt.ptr<i32>, #line>
    %d = ttng.tmem_alloc %zero : (tensor<128x32xf32, #row>) -> !sum
    scf.for %k = %c0 to %n step %step : i32 {
      %a = tt.descriptor_gather %x[%r, %k] : (!tt.tensordesc<1xBKxf16, #A>,
          tensor<128xi32, #line>, i32) -> tensor<128xBKxf16, #tile>
      %am = ttg.local_alloc %a : (tensor<128xBKxf16, #tile>) -> !ttg.memdesc<128xBKxf16, #A, #smem>
      %at = tt.splat %k : i32 -> tensor<BKxi32, #line>
      %here = arith.addi %at, %j : tensor<BKxi32, #line>
      %t = tt.addptr %s, %here : tensor<BKx!tt.ptr<i32>, #line>, tensor<BKxi32, #line>
      %u = tt.load %t : tensor<BKx!tt.ptr<i32>, #line>
      %b = tt.descriptor_gather %y[%u, %c0] : (!tt.tensordesc<1x32xf16, #B>,
          tensor<BKxi32, #line>, i32) -> tensor<BKx32xf16, #tile>
      %bm = ttg.local_alloc %b : (tensor<BKx32xf16, #tile>) -> !ttg.memdesc<BKx32xf16, #B, #smem>
      ttng.tc_gen5_mma %am, %bm, %d, %true, %true : !ttg.memdesc<128xBKxf16, #A, #smem>,
          !ttg.memdesc<BKx32xf16, #B, #smem>, !sum
    }
    %sum = ttng.tmem_load %d : !sum -> tensor<128x32xf32, #row>
    %m0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #S1>
    %m1 = tt.expand_dims %m0 {axis = 1 : i32} : tensor<128xi32, #S1> -> tensor<128x1xi32, #row>
    %m2 = tt.broadcast %m1 : tensor<128x1xi32, #row> -> tensor<128x32xi32, #row>
    %n0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #S0>
    %n1 = tt.expand_dims %n0 {axis = 0 : i32} : tensor<32xi32, #S0> -> tensor<1x32xi32, #row>
    %n2 = tt.broadcast %n1 : tensor<1x32xi32, #row> -> tensor<128x32xi32, #row>
    %c32 = arith.constant dense<32> : tensor<128x32xi32, #row>
    %m3 = arith.muli %m2, %c32 : tensor<128x32xi32, #row>
    %place = arith.addi %m3, %n2 : tensor<128x32xi32, #row>
    %o = tt.splat %out : !tt.ptr<f32> -> tensor<128x32x!tt.ptr<f32>, #row>
    %o2 = tt.addptr %o, %place : tensor<128x32x!tt.ptr<f32>, #row>, tensor<128x32xi32, #row>
    tt.store %o2, %sum : tensor<128x32x!tt.ptr<f32>, #row>
    tt.return
  }
}
"""

PASSES = (
    "tritongpu-assign-latencies{{num-stages={}}},tritongpu-schedule-loops,tritongpu-pipeline,"
    "triton-nvidia-tma-lowering,triton-nvidia-mma-lowering,triton-nvidia-gpu-fence-insertion,"
    "canonicalize,tile-nvidia-llir"
)


def compile_text(text: str, stages: int) -> tuple[str, int]:
    context = _C.ir.Context()
    module = _C.ir.Module.parse(text, context)
    _C.passes.PassManager.parse(PASSES.format(stages), context).run(module)
    options = _C.llvm.PTXOptions()
    options.compute_capability = 100
    ptx = _C.llvm.emit_ptx(_C.llvm.translate_to_llvm(module, options), context, options)
    return ptx, _C.llvm.kernel_info(module)["shared"]


def map_of(matrix: np.ndarray, columns: int, swizzle: int) -> bytes:
    rows, width = matrix.shape
    return tile.sim.tensor_map(
        matrix.ctypes.data, "f16", [width, rows], [2 * width], [columns, 1], swizzle=swizzle
    )


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("depth", [16, 32, 64])
@pytest.mark.parametrize(
    ("kernel", "height"), [(KERNEL, 32), (IN_PLACE, 128)], ids=["through registers", "in place"]
)
def test_rows_of_both_operands(kernel, height, depth, stages):
    """The row numbers of one operand come from memory in each iteration."""
    rng = np.random.default_rng(10 * depth + stages)
    size = int(rng.integers(0, 7)) * depth
    swizzle = 2 * depth
    text = kernel.replace("SWIZZLE_A", str(swizzle)).replace("BK", str(depth))
    ptx, shared = compile_text(text, stages)
    if stages > 1:  # There are copies in front of the loop, too.
        alone, _ = compile_text(text, 1)
        assert ptx.count("tile::gather4") > alone.count("tile::gather4")
    x = rng.integers(-4, 5, (40, 6 * 64)).astype(np.float16)
    y = rng.integers(-4, 5, (50, 32)).astype(np.float16)
    rows = rng.integers(-2, 43, height).astype(np.int32)
    more = rng.integers(-2, 53, max(size, 1)).astype(np.int32)
    out = poisoned((height, 32), "fp32")
    arguments = [map_of(x, depth, swizzle), map_of(y, 32, 64), rows, more, out, size]
    tile.sim.launch(
        ptx, "k", 1, 128, arguments, dynamic_shared=shared,
        allocations=[x, y], schedule_seed=stages + depth, schedules=3,
    )  # fmt: skip

    def pick(matrix: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        inside = (numbers >= 0) & (numbers < len(matrix))
        return np.where(inside[:, None], matrix[np.where(inside, numbers, 0)], 0).astype(np.float32)

    expected = pick(x, rows)[:, :size] @ pick(y, more[:size])
    np.testing.assert_array_equal(out, expected)
