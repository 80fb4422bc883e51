//===-- MatmulPasses.td - Matrix products and their operands -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_MATMULPASSES
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_MATMULPASSES

include "mlir/Pass/PassBase.td"

def TritonGPUAccelerateMatmul
    : Pass<"tritongpu-accelerate-matmul", "::mlir::ModuleOp"> {
  let summary = "Map matrix products to tensor cores";
  let description = [{
    Gives every `tt.dot` that the target's tensor cores can compute the layout
    of their accumulators, and its operands the matching ones. The warps form a
    grid over the result that keeps the tile of a warp close to a square, as that
    needs the fewest operand elements; but in a chain of products within a
    block they stack up along M, so that the result of one is the operand of the
    next without leaving its warp.

    Products of element types that the target lacks (fp8 before sm_89) are
    computed on fp16; fp32 products only run on tensor cores where the input
    precision allows for tf32. All others keep their blocked layout.

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
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numAccelerated", "num-accelerated",
              "Products mapped to tensor cores">,
    Statistic<"numLeft", "num-left", "Products left to scalar arithmetic">
  ];
}

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_MATMULPASSES
