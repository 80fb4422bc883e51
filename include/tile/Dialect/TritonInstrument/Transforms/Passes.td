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

def TritonInstrumentConcurrencySanitizer
    : Pass<"tritoninstrument-concurrency-sanitizer", "::mlir::ModuleOp"> {
  let summary = "Check the order of accesses to shared memory, and mbarriers";
  let description = [{
    What `instrumentation_mode="consan"` asks for. A kernel with buffers in shared
    memory keeps, in global memory, who has accessed which buffer, and who knows of
    that. These are groups of warps, and engines that work by themselves. It
    checks each access, and each operation on an mbarrier. The rules are those of
    the simulator (`include/tile/Rules/Rules.def`). Where one does not hold, the
    kernel stops with its text, the line, and the line of the other access.

    The pass runs before loops become branches. Clusters, and operations that it
    does not know, are errors. A part of a buffer that is not known gets a warning,
    and is not checked.

    Before:
    ```mlir
    %a = ttg.local_alloc : () -> !ttg.memdesc<64xf32, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %a
    %v = ttg.local_load %a
    ```
    After:
    ```mlir
    %state = ttg.global_scratch_alloc
    tti.check "tile_consan_begin"(%state, ...) everyThread
    ttg.barrier all
    tti.check "tile_consan_start"(%state)
    %a = ttg.local_alloc
    tti.check "tile_consan_alloc"(%state, %c0, %a, ...)
    tti.check "tile_consan_issue"(%state, %c0, %c1)
    tti.check "tile_consan_access"(%state, %c0, ..., %a, ...)
    %t = ttg.async_copy_global_to_local %p, %a
    tti.check "tile_consan_access"(%state, %c0, ..., %a, ...) codes [257] messages ["async-race: ..."]
    %v = ttg.local_load %a
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::triton::gpu::TritonGPUDialect",
    "::mlir::triton::instrument::TritonInstrumentDialect"
  ];
  let statistics = [
    Statistic<"numChecked", "operations-checked", "Operations that are checked">
  ];
}

def TritonInstrumentFpSanitizer
    : Pass<"tritoninstrument-fp-sanitizer", "::mlir::ModuleOp"> {
  let summary = "Compute exactly, modulo a prime, in place of rounding";
  let description = [{
    What `instrumentation_mode="fpsan"` asks for. The bits of a number stand for an
    integer modulo a prime. The prime is 2^31 - 1 for types of 32 and 64 bits, 2^13 - 1
    for those of 16, 127 for those of 8. A constant becomes the residue of its value. `+`, `-`,
    `*` and `/` compute with residues, without rounding. So no order of sums, no
    fusion and no layout changes a bit of the result. Two kernels that compute the
    same agree. Where one differs, something was computed that nobody wrote.

    A residue of the upper half is less than zero; so maximum, minimum and
    comparisons have an order. Functions such as `math.log` are some function of
    their operands. The outermost two residues stand for the infinities. Of 32 and
    64 bits, a sum with an infinity is one; `exp` of 0 is 1, and `exp` of minus
    infinity is 0. So what a mask leaves out has no effect on a softmax. A matrix
    product is a loop of outer products. Atomic operations that compute, dots
    with scales and inline assembly are errors.

    Before:
    ```mlir
    %z = arith.addf %x, %y : f32
    ```
    After:
    ```mlir
    %0 = tt.bitcast %x : f32 -> i32
    %1 = tt.bitcast %y : f32 -> i32
    %2 = ... // (%0 + %1) mod 2^31 - 1
    %z = tt.bitcast %2 : i32 -> f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numRewritten", "operations-rewritten",
              "Operations that compute with residues now">
  ];
}

#endif // TILE_DIALECT_TRITONINSTRUMENT_TRANSFORMS_PASSES
