//===-- Passes.td - Passes on records ----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_PROTON_TRANSFORMS_PASSES
#define TILE_DIALECT_PROTON_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ProtonRecordProducts : Pass<"proton-record-products"> {
  let summary = "Put scopes around matrix products";
  let description = [{
    What the profiler's mode `mma` asks for. Dots that run on while the warp goes
    on are recorded when they are started, and not when they are done.

    Before:
    ```mlir
    %d = tt.dot %a, %b, %c : ...
    ```
    After:
    ```mlir
    proton.record start "mma"
    %d = tt.dot %a, %b, %c : ...
    proton.record end "mma"
    ```
  }];
  let dependentDialects = ["::mlir::triton::proton::ProtonDialect"];
}

#endif // TILE_DIALECT_PROTON_TRANSFORMS_PASSES
