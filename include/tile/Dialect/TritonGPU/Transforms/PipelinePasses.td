//===-- PipelinePasses.td - Software pipelining of loops --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_PIPELINEPASSES
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_PIPELINEPASSES

include "mlir/Pass/PassBase.td"

def TritonGPUAssignLatencies
    : Pass<"tritongpu-assign-latencies", "::mlir::ModuleOp"> {
  let summary = "Decide which loads of a loop are to be started early, and how early";
  let description = [{
    In innermost loops, loads that lead to a matrix product (or every load,
    where the loop has a `tt.num_stages` of its own) are given `tt.latency`: the
    number of iterations between the start of the load and its first use. The
    stages of the loop, less one, are shared among the loads on the longest
    chain of loads whose addresses depend on each other.

    A load is left alone if cp.async cannot move it (less than four neighbouring
    bytes per thread), or if the loop writes through a pointer argument that the
    load reads through: what it reads early might be overwritten. Different
    pointer arguments are taken not to overlap.

    Before, with `num-stages=3`:
    ```mlir
    scf.for %i = %lb to %ub step %c1 iter_args(%p = %p0, %acc = %zero) -> (...) : i32 {
      %a = tt.load %p : tensor<128x32x!tt.ptr<f16>, #blocked>
      %d = tt.dot %a, %b, %acc ...
    ```
    After:
    ```mlir
      %a = tt.load %p {tt.latency = 2 : i32} : tensor<128x32x!tt.ptr<f16>, #blocked>
    ```
  }];
  let options = [
    Option<"numStages", "num-stages", "int32_t", /*default=*/"3",
           "Stages of loops that have no tt.num_stages attribute">
  ];
  let statistics = [
    Statistic<"numLoads", "num-loads", "Loads given a latency">
  ];
}

def TritonGPUScheduleLoops
    : Pass<"tritongpu-schedule-loops", "::mlir::ModuleOp"> {
  let summary = "Give each operation of a pipelined loop its stage";
  let description = [{
    In a loop with operations that have a `tt.latency`, an operation whose result
    is needed `n` iterations later by the rest of the loop runs `n` stages before
    the last one; everything it depends on runs no later than that. Each
    operation gets `loop.stage` and `loop.cluster` (its place among the stages
    within one iteration of the new loop: later stages first, so that buffers
    are read before they are filled again), and the loop
    `tt.scheduled_max_stage`.

    A loop in which something with side effects would have to run early, or
    whose loads depend on their own results, is left as it is.

    After (the loop of `tritongpu-assign-latencies`):
    ```mlir
      %a = tt.load %p {loop.cluster = 2 : i32, loop.stage = 0 : i32, tt.latency = 2 : i32} : ...
      %d = tt.dot %a, %b, %acc {loop.cluster = 0 : i32, loop.stage = 2 : i32} : ...
    } {tt.scheduled_max_stage = 2 : i32}
    ```
  }];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Loops given a schedule">
  ];
}

def TritonGPUPipeline : Pass<"tritongpu-pipeline", "::mlir::ModuleOp"> {
  let summary = "Overlap the stages of scheduled loops";
  let description = [{
    Loads that are used in a later stage than they run in become asynchronous
    copies into a ring of buffers in shared memory; then the loop is expanded
    so that one iteration runs each stage for a different iteration of the
    original loop. Early stages are predicated instead of being peeled off the
    end, and the first iterations are peeled off the front.

    Before: a loop with `tt.scheduled_max_stage`. After, with two stages between
    the load and its use (index arithmetic left out):
    ```mlir
    %buf = ttg.local_alloc : () -> !ttg.memdesc<2x128x32xf16, #shared, #smem, mutable>
    ... two predicated copies ...
    scf.for ... {
      %w = ttg.async_wait %t0 {num = 1 : i32}
      %v = ttg.memdesc_index %buf[%extract] : ...
      %a = ttg.local_load %v token %w : ...
      %d = tt.dot %a, ...
      %u = ttg.memdesc_index %buf[%insert] : ...
      %c = ttg.async_copy_global_to_local %p, %u mask %inRange : ...
      %t = ttg.async_commit_group tokens %c
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Loops pipelined">,
    Statistic<"numCopies", "num-copies", "Loads made asynchronous">
  ];
}

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_PIPELINEPASSES
