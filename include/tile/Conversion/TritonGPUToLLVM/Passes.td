//===-- Passes.td - Passes before the lowering to LLVM -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_PASSES
#define TILE_CONVERSION_TRITONGPUTOLLVM_PASSES

include "mlir/Pass/PassBase.td"

def AllocateSharedMemory : Pass<"allocate-shared-memory", "mlir::ModuleOp"> {
  let summary = "Assign places in shared memory";
  let description = [{
    Gives every `ttg.local_alloc`, every operation that needs scratch memory and
    every call an `allocation.offset` such that what lives at the same time does
    not overlap, and notes the size of all on the module as `ttg.shared`.

    ```mlir
    %0 = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    ```
    becomes
    ```mlir
    module attributes {ttg.shared = 2048 : i32, ...}
    %0 = ttg.local_alloc {allocation.offset = 0 : i32} : () -> ...
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"sharedBytes", "shared-bytes", "Bytes of shared memory allocated">
  ];
}

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_PASSES
