//===-- ProgramPasses.td - Groups of warps, and programs ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PROGRAMPASSES
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PROGRAMPASSES

include "mlir/Pass/PassBase.td"

def TritonNvidiaChooseWarpSpecialization
    : Pass<"triton-nvidia-choose-warp-specialization", "::mlir::ModuleOp"> {
  let summary = "Give loops over tiles warps for copies and dots, where it pays";
  let description = [{
    Marks loops over tiles (`tt.warp_specialize`), as a program may do itself.
    `tritongpu-automatic-warp-specialization` divides them then. A loop is marked
    where a tile takes fewer cycles so. One tile is multiplied while another one is
    stored. A remark says of other loops with dots why they are not marked.

    Before:
    ```mlir
    scf.for %tile = %0 to %tiles step %1 : i32 {
      scf.for %k = %0 to %steps step %1 ... {
        %a = tt.descriptor_load %a_desc[%i, %k] : ...
        %b = tt.descriptor_load %b_desc[%k, %j] : ...
        ttnvgpu.tc_gen5_mma ...
      }
      tt.descriptor_store %c_desc[%i, %j], %c : ...
    }
    ```
    After:
    ```mlir
    scf.for %tile = %0 to %tiles step %1 : i32 {
      ...
    } {tt.warp_specialize}
    ```
  }];
  let options = [
    Option<"numStages", "num-stages", "int32_t", "3",
           "Depth of software pipelines where a loop does not say it">
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Loops over tiles that were marked">
  ];
}

def TritonNvidiaPartitionCorrections
    : Pass<"triton-nvidia-partition-corrections", "::mlir::ModuleOp"> {
  let summary = "Give the correction of sums warps of their own";
  let description = [{
    A loop of attention multiplies each row of its sum by a factor before it adds to it.
    The sum is in tensor memory. Four further warps do this for all groups of warps of a
    `ttg.warp_specialize`. They get the factors through shared memory. Meanwhile the
    groups compute weights, and have the registers that a sum would take.

    A remark says why sums are corrected by the warps that compute weights.

    Before, in each group:
    ```mlir
    %sum = ttnvgpu.tmem_load %acc : ...
    %corrected = arith.mulf %sum, %factors : ...
    %w = ttnvgpu.tmem_alloc %weights : ...
    ttnvgpu.tmem_store %corrected, %acc, %true : ...
    ttnvgpu.tc_gen5_mma %w, %v, %acc, %true, %true : ...
    ```
    After, in each group:
    ```mlir
    ttnvgpu.wait_barrier %taken, %before : ...
    ttg.local_store %row_factors, %handed : ...
    ttnvgpu.arrive_barrier %sent, 4 : ...
    ttnvgpu.wait_barrier %added, %before : ...
    %w = ttnvgpu.tmem_alloc %weights : ...
    ttnvgpu.wait_barrier %corrected, %phase : ...
    ttnvgpu.tc_gen5_mma %w, %v, %acc, %true, %true, %added[%true] {is_async} : ...
    ```
    And in a new partition:
    ```mlir
    ttnvgpu.wait_barrier %sent, %phase : ...
    %row_factors = ttg.local_load %handed : ...
    ttnvgpu.arrive_barrier %taken, 4 : ...
    ttnvgpu.wait_barrier %added, %before : ...
    %part = ttnvgpu.tmem_subslice %acc {offset = 0 : i32} : ...
    %sum = ttnvgpu.tmem_load %part : ...
    %corrected = arith.mulf %sum, %factors : ...
    ttnvgpu.tmem_store %corrected, %part, %true : ...
    ttnvgpu.arrive_barrier %corrected, 4 : ...
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numSums", "num-sums", "Sums that other warps correct">
  ];
}

def TritonNvidiaScaleSumsInParts
    : Pass<"triton-nvidia-scale-sums-in-parts", "::mlir::ModuleOp"> {
  let summary = "Multiply the rows of a sum some columns at a time";
  let description = [{
    A loop of attention multiplies each row of its sum by a factor before it adds to it.
    The sum is in tensor memory, and a thread has a row. A row of more than 64 columns
    is loaded, multiplied and stored in parts. So it takes fewer registers.

    Before:
    ```mlir
    %sum = ttnvgpu.tmem_load %acc : ...
    %product = arith.mulf %sum, %factors : ...
    ttnvgpu.tmem_store %product, %acc, %true : ...
    ```
    After, for each part:
    ```mlir
    %part = ttnvgpu.tmem_subslice %acc {offset = 64 : i32} : ...
    %sum = ttnvgpu.tmem_load %part : ...
    %product = arith.mulf %sum, %factors : ...
    ttnvgpu.tmem_store %product, %part, %true : ...
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numSums", "num-sums", "Sums that are multiplied in parts">
  ];
}

def TritonNvidiaStartDotsAhead
    : Pass<"triton-nvidia-start-dots-ahead", "::mlir::ModuleOp"> {
  let summary = "Start the first dot of the next iteration early";
  let description = [{
    In loops of groups of warps, as of attention: threads load the result of the first dot
    of an iteration, and go on with it. The dot of the next iteration starts when the
    result of this one is in registers. So the threads need not wait for it, and the
    tensor core has something to do while they compute.

    It is for dots that overwrite their result and read rings of three buffers or more.

    Before:
    ```mlir
    scf.for ... {
      ttnvgpu.wait_barrier %full, %phase : ...
      ttnvgpu.tc_gen5_mma %q, %k, %scores, %false, %true : ...
      ttnvgpu.arrive_barrier %empty, 4 : ...
      %s = ttnvgpu.tmem_load %scores : ...
      ...
    }
    ```
    After:
    ```mlir
    scf.if %any { wait_barrier; tc_gen5_mma ... %done[%true] {is_async}; arrive_barrier }
    scf.for ... {
      ttnvgpu.wait_barrier %done, %parity : ...
      %s = ttnvgpu.tmem_load %scores : ...
      scf.if %has_next { wait_barrier; tc_gen5_mma ... %done[%true] {is_async}; arrive_barrier }
      ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numDots", "num-dots", "Dots that start an iteration early">
  ];
}

def TritonNvidiaMakeProgramLoop
    : Pass<"triton-nvidia-make-program-loop", "::mlir::ModuleOp"> {
  let summary = "Make a loop over programs of a kernel that goes on with others";
  let description = [{
    The programs of such a kernel are like the tiles of a persistent one. This pass
    makes a loop over them, which `triton-nvidia-choose-warp-specialization` and
    `tritongpu-automatic-warp-specialization` divide like a loop over tiles: the end of
    one program overlaps the copies and dots of the next. A loop of the kernel that asks
    for warps of its own asks for the loop over programs.

    Only kernels that may gain by it get the loop. These have dots in tensor memory in
    a loop, or loops that ask, and no loop over tiles.

    Before:
    ```mlir
    %pid = tt.get_program_id x : i32
    scf.for %k = %0 to %steps step %1 { ... ttnvgpu.tc_gen5_mma ... }
    tt.descriptor_store ...
    ```
    After:
    ```mlir
    scf.for %i = %0 to %c2147483647_i32 step %1 : i32 {
      %pid = ttnvgpu.clc_program_id %i, x : i32
      scf.for %k = %0 to %steps step %1 { ... ttnvgpu.tc_gen5_mma ... }
      tt.descriptor_store ...
    } {ttnvgpu.over_programs}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let options = [
    Option<"onlyMarked", "only-marked", "bool", "false",
           "Only for loops that ask for warps of their own">
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Loops over programs that were made">
  ];
}

def TritonNvidiaInlineProgramLoop
    : Pass<"triton-nvidia-inline-program-loop", "::mlir::ModuleOp"> {
  let summary = "Undo loops over programs that were not divided among warps";
  let description = [{
    Puts the body of a loop over programs in its place, unless groups of warps run it.
    `triton-nvidia-gpu-to-clc` repeats the whole kernel then. A remark says so. Loops
    that groups of warps run are not to be pipelined (`tt.num_stages`): nobody knows the
    next program early.

    Before:
    ```mlir
    scf.for %i = %0 to %c2147483647_i32 step %1 : i32 {
      %pid = ttnvgpu.clc_program_id %i, x : i32
      tt.store ...
    } {ttnvgpu.over_programs}
    ```
    After:
    ```mlir
    %pid = tt.get_program_id x : i32
    tt.store ...
    ```
  }];
  let dependentDialects = ["::mlir::triton::TritonDialect"];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Loops over programs that were undone">
  ];
}

def TritonNvidiaGPUToCLC
    : Pass<"triton-nvidia-gpu-to-clc", "::mlir::ModuleOp"> {
  let summary = "Have a kernel go on with programs that have not started";
  let description = [{
    The kernel becomes the body of a loop over programs. The loop asks for the next
    program at its start, and goes on with it at its end. It ends where all programs
    have started. `triton-nvidia-gpu-lower-clc` has the answers arrive meanwhile.

    A kernel may have a loop over programs already (`ttnvgpu.over_programs`), which groups
    of warps run. Then the groups take programs from a ring of two answers. The first
    partition asks for them.

    Calls have to be inlined before this pass: functions that are called may not ask
    for the number of the program.

    Before:
    ```mlir
    %pid = tt.get_program_id x : i32
    tt.store ...
    tt.return
    ```
    After:
    ```mlir
    %first = tt.get_program_id x : i32
    scf.while (%p = %first, %w = %true) : (i32, i1) -> (i32, i1) {
      scf.condition(%w) %p, %w : i32, i1
    } do {
    ^bb0(%pid: i32, %work: i1):
      %0 = ttnvgpu.clc_try_cancel_sync : tensor<2xi64, #blocked>
      %buf = ttg.local_alloc %0 {alignment = 16 : i32} : (tensor<2xi64, #blocked>) -> !ttg.memdesc<2xi64, #shared, #smem, mutable>
      tt.store ...
      %answer = ttnvgpu.clc_load_result %buf : ... -> i128
      %more = ttnvgpu.clc_is_canceled %answer : i128 -> i1
      %next = scf.if %more -> (i32) {
        %1 = ttnvgpu.clc_get_program_id %answer, x : i128 -> i32
        scf.yield %1 : i32
      } else {
        scf.yield %pid : i32
      }
      scf.yield %next, %more : i32, i1
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Kernels that became loops">
  ];
}

def TritonNvidiaGPULowerCLC
    : Pass<"triton-nvidia-gpu-lower-clc", "::mlir::ModuleOp"> {
  let summary = "Have the answers of cluster launch control arrive while others work";
  let description = [{
    A loop asks for the next program with `ttnvgpu.clc_try_cancel_sync`, and puts the
    answer into a buffer. It reads the answer at its end. This pass has the answer
    arrive in the meantime: one buffer and one barrier serve all iterations, and the
    loop waits at the barrier where it reads. The loop carries the parity of the phase.

    Before:
    ```mlir
    scf.while (%pid = ..., %work = ...) {
      scf.condition(%work) %pid : i32
    } do {
    ^bb0(%pid: i32):
      %0 = ttnvgpu.clc_try_cancel_sync : tensor<2xi64, #linear>
      %buf = ttg.local_alloc %0 : (tensor<2xi64, #linear>) -> !ttg.memdesc<2xi64, #shared, #smem, mutable>
      ...
      %answer = ttnvgpu.clc_load_result %buf : ... -> i128
    }
    ```
    After:
    ```mlir
    %buf = ttg.local_alloc {alignment = 16 : i32} : () -> !ttg.memdesc<2xi64, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttnvgpu.init_barrier %bar, 1 : ...
    scf.while (%pid = ..., %work = ..., %phase = %c0) {
      scf.condition(%work) %pid, %phase : i32, i32
    } do {
    ^bb0(%pid: i32, %phase: i32):
      ttnvgpu.barrier_expect %bar, 16 {fromCTA = 0 : i32}, %true : ...
      ttnvgpu.clc_try_cancel %buf, %bar : ...
      ...
      ttnvgpu.wait_barrier %bar, %phase : ...
      %answer = ttnvgpu.clc_load_result %buf : ... -> i128
      %next = arith.xori %phase, %c1 : i32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numAnswers", "num-answers", "Answers that arrive meanwhile">
  ];
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PROGRAMPASSES
