//===-- Passes.td - From tt to ttg -------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_CONVERSION_TRITONTOTRITONGPU_PASSES
#define TILE_CONVERSION_TRITONTOTRITONGPU_PASSES

include "mlir/Pass/PassBase.td"

def ConvertTritonToTritonGPU
    : Pass<"convert-triton-to-tritongpu", "::mlir::ModuleOp"> {
  let summary = "Give every tensor a layout";
  let description = [{
    Writes the machine a module is meant for on the module, and gives every
    tensor without an encoding the default blocked one for its shape: one
    element per thread, row-major. Operations stay what they are. Where one
    relates the layouts of its operands and results (expand_dims, broadcast,
    reduce, dot, trans, join, split, reshape, cat), `ttg.convert_layout` goes
    between.

    The layouts are meant to be correct, not good: `tritongpu-coalesce` and
    `tritongpu-remove-layout-conversions` choose better ones.

    Before:
    ```mlir
    module {
      tt.func @f() {
        %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
        %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
        tt.return
      }
    }
    ```
    After, with `target=cuda:90 num-warps=4`:
    ```mlir
    #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
    #blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
    module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
      tt.func @f() {
        %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
        %1 = ttg.convert_layout %0 : tensor<64xi32, #blocked> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
        %2 = tt.expand_dims %1 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
        tt.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::triton::TritonDialect",
                           "::mlir::triton::gpu::TritonGPUDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "The machine, as in cuda:90 or hip:gfx942">,
    Option<"numWarps", "num-warps", "int32_t", /*default=*/"4",
           "Warps that run one program">,
    Option<"threadsPerWarp", "threads-per-warp", "int32_t", /*default=*/"0",
           "Threads in a warp (0: as many as the target has)">,
    Option<"numCTAs", "num-ctas", "int32_t", /*default=*/"1",
           "Blocks (CTAs) that run one program together">,
    Option<"enableSourceRemat", "enable-source-remat", "bool", "false",
           "Left alone: tritongpu-remove-layout-conversions computes again">
  ];
  let statistics = [
    Statistic<"numLayouts", "num-layouts", "Tensors given a layout">,
    Statistic<"numConversions", "num-conversions", "convert_layouts inserted">
  ];
}

#endif // TILE_CONVERSION_TRITONTOTRITONGPU_PASSES
