//===-- MatmulPasses.td - Matrix products and their operands -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_MATMULPASSES
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_MATMULPASSES

include "mlir/Pass/PassBase.td"

def TritonGPUAccelerateMatmul
    : Pass<"tritongpu-accelerate-matmul", "::mlir::ModuleOp"> {
  let summary = "Map dots to tensor cores";
  let description = [{
    Gives every `tt.dot` that the target's tensor cores can compute the layout
    of their accumulators, and its operands the matching ones. The warps form a
    grid over the result. The tile of a warp is close to a square, because that
    needs the fewest operand elements. In a chain of dots within a block, the warps
    stack up along M instead. Then the result of one dot is the operand of the next
    dot without leaving its warp.

    On sm_90, dots that fill the 64 rows of a warp group become
    `ttnvgpu.warp_group_dot`. The warps stack up along M. The right operand goes to
    shared memory. The left operand does, too, unless it was just computed.

    - The right operand may have 8 or 32 bits and not be contiguous along K, while
      the left one is. Then the two are exchanged. The loop adds up the transposed
      sum, and its left operand comes from registers.
    - A left operand of 8 bits may not be contiguous along K, also because of such
      an exchange. Then whole warps read it, with its rows and those of the sum in
      another order.
    - A right operand of 8 bits that has to be transposed is, through registers.
    - Every other dot whose operand has to be transposed stays with `mma.sync`.
      `-debug-only` with the name of this pass says why.

    Dots of element types that the target lacks, such as fp8 before sm_89, are
    computed on fp16. Dots of fp32 run on tensor cores only if the input precision
    allows for tf32. All others keep their blocked layout.

    Scaled dots (`tt.dot_scaled`) stay scaled, in the layouts of the instruction,
    if the target has one. Others become plain dots. Their operands are extended
    and scaled before: to bf16, or to tf32 if one of them is fp16. Some scales would
    take operands out of the range of normal numbers. For these, a branch multiplies
    group by group of elements and scales the sums. A loop that only reads memory
    first runs without the branch, and carries what it saw of the scales. It runs
    again, with the branch, if it saw such scales. With `fastMath` there is no
    branch.

    Before:
    ```mlir
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x128xf32, #blocked>
    ```
    After, on sm_80 with four warps (conversions to and from left out):
    ```mlir
    #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<128x128xf32, #mma>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numAccelerated", "num-accelerated",
              "Dots mapped to tensor cores">,
    Statistic<"numDecomposed", "num-decomposed",
              "Scaled dots made plain ones">,
    Statistic<"numLeft", "num-left", "Products left to scalar arithmetic">
  ];
}

def TritonGPUOptimizeDotOperands
    : Pass<"tritongpu-optimize-dot-operands", "::mlir::ModuleOp"> {
  let summary = "Take operands of dots straight from memory";
  let description = [{
    The elements of an operand should go from global through shared memory into
    the registers of the dot, without another stop. Then the copy can run ahead
    of the loop. Two things may be in between.

    Arithmetic on the elements moves behind the conversion to the operand's
    layout:
    ```mlir
    %v = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
    %s = arith.mulf %v, %cst : tensor<64x64xf16, #blocked>
    %a = ttg.convert_layout %s : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #dot_op>
    ```
    becomes
    ```mlir
    %v = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
    %c = ttg.convert_layout %v : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #dot_op>
    %a = arith.mulf %c, %cst : tensor<64x64xf16, #dot_op>
    ```

    A transposition is done by reading shared memory the other way round:
    ```mlir
    %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<64x32xf16, #blocked> -> tensor<32x64xf16, #blocked1>
    %b = ttg.convert_layout %t : tensor<32x64xf16, #blocked1> -> tensor<32x64xf16, #dot_op>
    ```
    becomes
    ```mlir
    %m = ttg.local_alloc %v : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %t = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<32x64xf16, #shared1, #smem>
    %b = ttg.local_load %t : !ttg.memdesc<32x64xf16, #shared1, #smem> -> tensor<32x64xf16, #dot_op>
    ```

    Where a loop loads what arithmetic and a transposition make an operand of, that
    load has a buffer already. Both happen behind the read of that buffer then, if
    no thread gets more elements of it.
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let options = [
    Option<"hoistLayoutConversion", "hoist-layout-conversion", "bool", "true",
           "Left alone: arithmetic always moves behind conversions">
  ];
  let statistics = [
    Statistic<"numMoved", "num-moved",
              "Conversions moved above arithmetic on an operand">,
    Statistic<"numTransposed", "num-transposed",
              "Transpositions done by reading shared memory">
  ];
}

def TritonGPUF32DotTC : Pass<"tritongpu-f32-dot-tc", "::mlir::ModuleOp"> {
  let summary = "Compute fp32 dots from several of lower precision";
  let description = [{
    Splits the operands of fp32 dots with input precision `tf32x3`, `bf16x3`
    or `bf16x6` into two or three parts. Each part fits the narrower type and holds
    what the parts before it leave. The dots of the parts that matter are added up,
    small ones first. If what the small ones add is NaN, it is dropped, so that an
    infinite operand gives an infinite result.

    Before:
    ```mlir
    %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<16x16xf32, #a> * tensor<16x16xf32, #b> -> tensor<16x16xf32, #blocked>
    ```
    After (`%a1` is `%a - %a0`, `%zero` all zeros):
    ```mlir
    %0 = tt.dot %a1, %b0, %zero, inputPrecision = tf32 : ...
    %1 = tt.dot %a0, %b1, %0, inputPrecision = tf32 : ...
    %nan = arith.cmpf uno, %1, %1 : tensor<16x16xf32, #blocked>
    %2 = arith.select %nan, %zero, %1 : tensor<16x16xi1, #blocked>, tensor<16x16xf32, #blocked>
    %3 = arith.addf %2, %c : tensor<16x16xf32, #blocked>
    %d = tt.dot %a0, %b0, %3, inputPrecision = tf32 : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::triton::gpu::TritonGPUDialect"];
  let options = [
    Option<"emuTF32", "emu-tf32", "bool", /*default=*/"true",
           "Split products of precision tf32x3; without it, they are computed "
           "in fp32">
  ];
  let statistics = [Statistic<"numSplit", "num-split", "Dots split">];
}

def TritonGPUOptimizeAccumulatorInit
    : Pass<"tritongpu-optimize-accumulator-init", "::mlir::ModuleOp"> {
  let summary = "Do not spend instructions on accumulators that start from zero";
  let description = [{
    An accumulator that a loop carries is zero before the first dot, and again
    whenever the loop starts a new tile. Some dots have a flag that says whether to
    add to the accumulator or to overwrite it (`ttnvgpu.warp_group_dot`). They get
    that flag, as an argument of the loop, and nothing is set to zero any more. The
    loop then starts from poison. If it may not run at all, a branch gives the
    zeros, behind the loop and the wait for its dots.

    A plain `tt.dot` (`mma.sync`, and FMA) always adds. There a choice between the
    accumulator and zero, which costs an instruction for each register in every
    iteration, becomes a branch that is rarely taken.

    Before:
    ```mlir
    %r = scf.for ... iter_args(%acc = %zero) -> (tensor<128x128xf32, #mma3>) {
      %d = ttnvgpu.warp_group_dot %a, %b, %acc : ...
      %n = arith.select %new_tile, %zero, %d : tensor<128x128xf32, #mma3>
      scf.yield %n : tensor<128x128xf32, #mma3>
    }
    ```
    After:
    ```mlir
    %r:2 = scf.for ... iter_args(%acc = %zero, %use = %false) -> (tensor<128x128xf32, #mma3>, i1) {
      %d = ttnvgpu.warp_group_dot %a, %b, %acc, %use : ...
      %keep = arith.xori %new_tile, %true : i1
      scf.yield %d, %keep : tensor<128x128xf32, #mma3>, i1
    }
    ```
    Before:
    ```mlir
    %c = arith.select %first, %zero, %acc : tensor<128x128xf32, #mma>
    %d = tt.dot %a, %b, %c : ...
    ```
    After:
    ```mlir
    %c = scf.if %first -> (tensor<128x128xf32, #mma>) {
      scf.yield %zero : tensor<128x128xf32, #mma>
    } else {
      scf.yield %acc : tensor<128x128xf32, #mma>
    }
    %d = tt.dot %a, %b, %c : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::ub::UBDialect"];
  let statistics = [
    Statistic<"numFlags", "num-flags",
              "Products told when to overwrite their accumulator">,
    Statistic<"numBranches", "num-branches",
              "Choices of an accumulator that became branches">
  ];
}

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_MATMULPASSES
