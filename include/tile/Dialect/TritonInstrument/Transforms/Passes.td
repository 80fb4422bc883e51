//===-- Passes.td - Sanitizers -----------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONINSTRUMENT_TRANSFORMS_PASSES
#define TILE_DIALECT_TRITONINSTRUMENT_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def TritonInstrumentMemoryChecker
    : Pass<"tritoninstrument-memory-checker", "::mlir::ModuleOp"> {
  let summary = "Check that accesses stay in the memory of the argument";
  let description = [{
    What `instrumentation_mode="memcheck"` asks for. A kernel takes two more
    parameters for each pointer and each descriptor among its arguments: where
    the memory of the argument begins, and how many bytes it has. Each access
    through a pointer that comes from one argument is checked by an assertion,
    and is done only where it stays in that memory. So is what a descriptor
    covers, where it is made.

    What comes from no argument, or from one of several, is not checked. Nor are
    functions that are called: let them be inlined.

    Before:
    ```mlir
    tt.func @f(%x: !tt.ptr<f32>, %i: i32) {
      %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
      %v = tt.load %p : !tt.ptr<f32>
    ```
    After:
    ```mlir
    tt.func @f(%x: !tt.ptr<f32>, %i: i32, %begin: i64, %bytes: i64) {
      %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
      %inside = ... // %begin <= %p and %p + 4 <= %begin + %bytes
      tt.assert %inside, "out of bounds: a load through `x`" : i1
      %v = tt.load %p, %inside : !tt.ptr<f32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::triton::instrument::TritonInstrumentDialect"
  ];
  let statistics = [
    Statistic<"numChecked", "accesses-checked", "Accesses that are checked">,
    Statistic<"numUnknown", "accesses-unknown",
              "Accesses through pointers that come from no argument, or from several">
  ];
}

#endif // TILE_DIALECT_TRITONINSTRUMENT_TRANSFORMS_PASSES
