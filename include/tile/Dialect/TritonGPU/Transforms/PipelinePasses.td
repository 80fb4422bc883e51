//===-- PipelinePasses.td - Software pipelining of loops --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_PIPELINEPASSES
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_PIPELINEPASSES

include "mlir/Pass/PassBase.td"

def TritonGPUAssignLatencies
    : Pass<"tritongpu-assign-latencies", "::mlir::ModuleOp"> {
  let summary = "Decide which loads of a loop are to be started early, and how early";
  let description = [{
    This pass gives loads of innermost loops a `tt.latency`: the number of
    iterations between the start of the load and its first use. It is the number
    of stages less one. Loads that lead to a dot get one. In a loop with a
    `tt.num_stages` of its own, every load gets one.

    Some loads give addresses to these loads: indices of rows, tables of blocks.
    They start one more iteration ahead, and hand their few registers on.

    Other loads of such a loop start one iteration ahead if a thread has few of
    their elements, such as scales of the results of dots. They come to registers.

    Threads may read a part of a load into registers for a dot of warp groups.
    This read has a latency of one if there are more than two stages, and if the
    results leave no room for a second block on the multiprocessor. Then it
    happens while the dot of the iteration before is under way.

    A load is left alone if `cp.async` cannot move it, because a thread has less
    than four neighbouring bytes. It is also left alone if the memory model
    forbids an earlier iteration. The loop may write what the load reads. Or an
    operation in the loop acquires what others have written: an atomic operation,
    a barrier, a volatile load, inline assembly that is not pure, a call. Different
    pointer arguments of a kernel are assumed not to overlap, unless the module
    has the attribute `ttg.overlapping-arguments`.

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
           "Stages of loops that have no tt.num_stages attribute">,
    Option<"onlyMarked", "only-marked", "bool", /*default=*/"false",
           "Leave alone all but the loops of nests with tt.warp_specialize">
  ];
  let statistics = [
    Statistic<"numLoads", "num-loads", "Loads given a latency">
  ];
}

def TritonGPUScheduleLoops
    : Pass<"tritongpu-schedule-loops", "::mlir::ModuleOp"> {
  let summary = "Give each operation of a pipelined loop its stage";
  let description = [{
    This pass works on loops with operations that have a `tt.latency`. If the rest
    of the loop needs a result `n` iterations later, the operation runs `n` stages
    before the last one. The operations that it depends on run no later. Each
    operation gets `loop.stage` and `loop.cluster`. The cluster orders operations
    within one iteration of the new loop. Later stages come first, so that buffers
    are read before they are filled again. The loop gets `tt.scheduled_max_stage`.

    A loop is left as it is if an operation would have to run early that must not,
    or if a load depends on its own result. A load may run early only because two
    pointer arguments are assumed not to overlap. Then the function gets their
    numbers as `tt.disjoint_arguments`, and the launcher checks them.

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
    copies into a ring of buffers in shared memory. Then the loop is expanded. One
    iteration of the new loop runs each stage for a different iteration of the
    original loop. The first iterations are peeled off the front. At the end, early
    stages are predicated instead of being peeled off.

    Dots of warp groups read such a buffer themselves. Dots that only add to an
    accumulator become asynchronous and run on into the next iteration. The ring
    has one buffer more then.

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
  let options = [
    Option<"numStages", "num-stages", "int32_t", /*default=*/"0",
           "Left alone: tritongpu-assign-latencies decides about stages">,
    Option<"dumpIntermediateSteps", "dump-intermediate-steps", "bool", "false",
           "Left alone: -mlir-print-ir-after-all prints each pass's result">
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Loops pipelined">,
    Statistic<"numCopies", "num-copies", "Loads made asynchronous">,
    Statistic<"numProducts", "num-products", "Products that run on into the next iteration">
  ];
}

def TritonGPUFuseNestedLoops
    : Pass<"tritongpu-fuse-nested-loops", "::mlir::ModuleOp"> {
  let summary = "Make one loop of two nested ones";
  let description = [{
    A loop with `tt.flatten` (`tl.range(..., flatten=True)`) that has one other
    loop directly inside becomes one loop over all iterations of both. The
    pipeliner then starts the loads of the next tile while the last products of
    this one are still being computed, instead of draining the pipeline between
    tiles. The inner loop must run equally often each time: its bounds are made
    outside of the nest.

    What stood before the inner loop runs where its first iteration would. Some
    of it moves to where it is used: what the inner loop does not need, and what
    is cheaper to repeat than to keep in registers. What stood behind runs where
    the last iteration would. There the arguments of the inner loop are set
    back. A second loop, with no iterations as a rule, does what is left to do
    if the inner loop has none.

    Before:
    ```mlir
    scf.for %i = %lb to %ub step %s : i32 {
      %p = "prologue"(%i) : (i32) -> tensor<64xi32>
      %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xi32>) : i32 {
        %x = "body"(%p, %j, %acc) : (tensor<64xi32>, i32, tensor<64xi32>) -> tensor<64xi32>
        scf.yield %x : tensor<64xi32>
      }
      "epilogue"(%i, %r) : (i32, tensor<64xi32>) -> ()
    } {tt.flatten}
    ```
    After (types, the second loop and the counts before the loop left out):
    ```mlir
    scf.for %t = 0 to %total step 1 iter_args(%turn = 0, %i = %lb - %s, %p = poison, %acc = %zero) {
      %first = arith.cmpi eq, %turn, 0
      %last = arith.cmpi eq, %turn, %n - 1
      %i1, %p1 = scf.if %first { %next = %i + %s; yield %next, "prologue"(%next) } else { yield %i, %p }
      %x = "body"(%p1, %turn, %acc)
      %acc1 = scf.if %last { "epilogue"(%i1, %x); yield %zero } else { yield %x }
      %turn1 = arith.select %last, 0, %turn + 1
      scf.yield %turn1, %i1, %p1, %acc1
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
  let statistics = [Statistic<"numFused", "num-fused", "Nests made one loop">];
}

def TritonGPUPrefetch : Pass<"tritongpu-prefetch", "::mlir::ModuleOp"> {
  let summary = "Read the first part of the next operands before this dot ends";
  let description = [{
    In a pipelined loop, both operands of a dot may come out of rings of buffers in
    shared memory. This pass cuts such a dot along K into dots of one instruction's
    depth. It reads the operands of the first slice one iteration ahead.

    - Before the last dot of an iteration, all its buffers have been read. There
      the loop waits for the buffers of the next iteration.
    - Behind this dot and the copies for later iterations, the loop reads the first
      slices of the next iteration.

    So the tensor cores have work while these reads are under way. The wait also
    separates the last read of a buffer from the copy that fills it again. So one
    barrier per iteration is enough where two were needed.

    The slices in flight take registers (20 to 40 a thread for tiles of 128 by
    128), so the pipeline runs this pass only where it is asked to.

    A conversion of elements between the read and the dot is cut as well. A
    loop of which the buffers of the next iteration are filled only at the end of
    this one (two stages) is left as it is.

    Before (`%w` waits for the copies of this iteration, types left out):
    ```mlir
    scf.for ... iter_args(%acc, %extract, %t0, %t1) {
      %e = "next"(%extract)
      %w = ttg.async_wait %t0 {num = 0 : i32}
      %m = ttg.memdesc_index %ringA[%e]
      %a = ttg.local_load %m token %w : -> tensor<64x32xf16, #dotOp0>
      %n = ttg.memdesc_index %ringB[%e]
      %b = ttg.local_load %n token %w : -> tensor<32x64xf16, #dotOp1>
      %d = tt.dot %a, %b, %acc
      ... copies for later iterations; their token is %t2 ...
      scf.yield %d, %e, %t1, %t2
    }
    ```
    After (the first wait and the first reads in front of the loop left out):
    ```mlir
    scf.for ... iter_args(%acc, %extract, %t0, %t1, %a0, %b0, %w) {
      %e = "next"(%extract)
      %m = ttg.memdesc_index %ringA[%e]
      %n = ttg.memdesc_index %ringB[%e]
      %m1 = ttg.memdesc_subslice %m[0, 16]
      %a1 = ttg.local_load %m1 token %w
      %n1 = ttg.memdesc_subslice %n[16, 0]
      %b1 = ttg.local_load %n1 token %w
      %d0 = tt.dot %a0, %b0, %acc
      %w1 = ttg.async_wait %t1 {num = 0 : i32}
      %d = tt.dot %a1, %b1, %d0
      ... copies for later iterations ...
      ... %a2 and %b2, the first slices of the buffers at "next"(%e) ...
      scf.yield %d, %e, %t1, %t2, %a2, %b2, %w1
    }
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numPrefetched", "num-prefetched", "Products cut and prefetched">
  ];
}

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_PIPELINEPASSES
