//===-- Passes.td - Passes on ttg for AMD GPUs -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTRANSFORMS_PASSES
#define AMD_TRITONAMDGPUTRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def TritonAMDGPUAccelerateMatmul
    : Pass<"tritonamdgpu-accelerate-matmul", "mlir::ModuleOp"> {
  let summary = "Give matrix products the layouts of MFMA and WMMA";
  let description = [{
    As `tritongpu-accelerate-matmul`, with what users may ask for. A product
    takes the largest instruction that is not larger than itself; operands of
    8 bits in a format that the machine lacks are multiplied as fp16. What no
    instruction computes stays as it is.

    ```mlir
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<64x64xf32, #blocked>
    ```
    becomes, on gfx942 and between conversions of layouts,
    ```mlir
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * ... -> tensor<64x64xf32, #mma>
    // #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let options = [
    Option<"matrixInstructionSize", "matrix-instruction-size", "int32_t", "0",
           "Rows of the instruction to take, 16 or 32; 0 for any">,
    Option<"kPack", "kPack", "int32_t", "1",
           "Factor on the neighbours along K that a lane holds of an operand">
  ];
  let statistics = [
    Statistic<"numAccelerated", "num-accelerated", "Products on matrix instructions">,
    Statistic<"numLeft", "num-left", "Products left to scalar arithmetic">
  ];
}

def TritonAMDGPUStreamPipeline
    : Pass<"tritonamdgpu-stream-pipeline", "mlir::ModuleOp"> {
  let summary = "Schedule loads ahead of their use, through registers";
  let description = [{
    To be run between `tritongpu-schedule-loops` and `tritongpu-pipeline`. The
    loads of early stages come first in the new body, and what they load stays
    in registers until its iteration, in which it is written to shared memory:
    the machine has no copies from global to shared memory that go on by
    themselves.

    ```mlir
    %a = tt.load %p {tt.latency = 1 : i32, loop.stage = 0 : i32, loop.cluster = 1 : i32}
    %d = tt.dot ... {loop.stage = 1 : i32, loop.cluster = 0 : i32}
    ```
    becomes
    ```mlir
    %a = tt.load %p {loop.stage = 0 : i32, loop.cluster = 0 : i32}
    %d = tt.dot ... {loop.stage = 1 : i32, loop.cluster = 1 : i32}
    ```
  }];
  let statistics = [
    Statistic<"numLoads", "num-loads", "Loads that run ahead">
  ];
}

#endif // AMD_TRITONAMDGPUTRANSFORMS_PASSES
