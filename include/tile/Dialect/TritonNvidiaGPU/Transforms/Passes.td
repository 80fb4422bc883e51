//===-- Passes.td - Passes on ttnvgpu ----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PASSES
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def TritonNvidiaGPUFenceInsertion
    : Pass<"triton-nvidia-gpu-fence-insertion", "::mlir::ModuleOp"> {
  let summary = "Fence stores to shared memory before the async proxy uses it";
  let description = [{
    The tensor core and the TMA unit access shared memory through the async proxy.
    Where a buffer that they read, or that TMA writes, may have been written by
    threads (`ttg.local_alloc` with contents, `ttg.local_store`), a
    `ttnvgpu.fence_async_shared` has to come between. It goes

    * right before the user, or before the outermost loop around it in which
      nothing writes the buffer;
    * right after the writes, if the user is in another partition of a
      `ttg.warp_specialize`, because the threads that wrote have to fence;
    * nowhere, if there is a fence already.

    Asynchronous copies of the threads (`ttg.async_copy_global_to_local`) count as
    such writes only with `after-async-copies`: `ttg.async_wait` and the block-wide
    barrier after it order them well enough on the machines there are.

    Before:
    ```mlir
    %a = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %d = ttnvgpu.warp_group_dot %a, %b, %c : ...
    ```
    After:
    ```mlir
    %a = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    ttnvgpu.fence_async_shared {bCluster = false}
    %d = ttnvgpu.warp_group_dot %a, %b, %c : ...
    ```
  }];
  let dependentDialects = ["::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let options = [
    Option<"afterAsyncCopies", "after-async-copies", "bool", "false",
           "Fence also after ttg.async_copy_global_to_local">,
    Option<"computeCapability", "compute-capability", "int32_t", "0",
           "Left alone: ttg.target says what the machine has">
  ];
  let statistics = [
    Statistic<"numFences", "num-fences", "Fences inserted">
  ];
}

def TritonNvidiaGPUDeriveWaitCounts
    : Pass<"triton-nvidia-gpu-derive-wait-counts", "::mlir::ModuleOp"> {
  let summary = "Have waits wait for what their tokens stand for";
  let description = [{
    The machine counts groups of copies, and waits until so many of the last ones are
    left. A `ttg.async_wait` or `ttnvgpu.async_tma_store_wait` with tokens may leave as
    many as have been started behind what the tokens stand for, on the path where
    these are fewest. A larger count becomes that one; it becomes zero where a token
    cannot be traced. Waits without tokens are left as they are: the program counts. A
    token of work that the wait is not about is an error.

    Passes that start copies between others need not look for waits whose counts
    become wrong by that.

    Before:
    ```mlir
    %t = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %j] %a : ... -> !ttg.async.token
    %u = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %k] %b : ... -> !ttg.async.token
    ttnvgpu.async_tma_store_wait %t {pendings = 2 : i32}
    ```
    After:
    ```mlir
    ttnvgpu.async_tma_store_wait %t {pendings = 1 : i32}
    ```
  }];
  let statistics = [
    Statistic<"numWaits", "num-waits", "Waits that leave less under way now">
  ];
}

def TritonNvidiaTMALowering
    : Pass<"triton-nvidia-tma-lowering", "::mlir::ModuleOp"> {
  let summary = "Turn descriptor operations into TMA copies";
  let description = [{
    Each `tt.descriptor_load` (`gather`) becomes a TMA copy into a new buffer, with a
    barrier of its own to wait at. Each `tt.descriptor_store` (`reduce`, `scatter`)
    becomes a TMA copy out of a new buffer, and a wait until the copy has read it.
    Before this pass, pipelining takes those that it can overlap. `tt.make_tensor_descriptor`
    becomes code that writes a tensor map to global scratch memory.

    Copies keep their order with other accesses to the same memory. A proxy fence
    follows what the threads write there, or acquire. A store waits until what was
    stored before is complete. If something in the function may see the stored data,
    it also waits until it is complete itself.

    The types of descriptors have to say how blocks lie in shared memory, see
    `triton-nvidia-optimize-descriptor-encoding`.

    Before:
    ```mlir
    %x = tt.descriptor_load %desc[%i, %j] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    ```
    After:
    ```mlir
    %buf = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttnvgpu.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttnvgpu.barrier_expect %bar, 8192, %true : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttnvgpu.async_tma_copy_global_to_local %desc[%i, %j] %buf, %bar, %true : ...
    ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttnvgpu.inval_barrier %bar : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %x = ttg.local_load %buf : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    ```
  }];
  let dependentDialects = ["::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numLoads", "num-loads", "Loads and gathers lowered">,
    Statistic<"numStores", "num-stores", "Stores, reductions and scatters lowered">,
    Statistic<"numDescriptors", "num-descriptors", "Descriptors made on the device">
  ];
}

def TritonNvidiaOverlapStores
    : Pass<"triton-nvidia-overlap-stores", "::mlir::ModuleOp"> {
  let summary = "Let TMA stores of a loop run on into its next iteration";
  let description = [{
    Gives stores that `triton-nvidia-tma-lowering` made in an `scf.for` buffers of
    their own. So an iteration waits for the copy of the one before only when it
    has something to write into the buffer. Copies to blocks that a constant distance
    keeps apart do not wait for each other. If not all of them have room, they take
    a few buffers in turns. Buffers that would keep another block off the
    multiprocessor are not made.

    Before:
    ```mlir
    scf.for ... {
      %buf = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {pendings = 0 : i32, complete}
      ttnvgpu.async_tma_copy_local_to_global %desc[%i, %j] %buf : ...
      ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
    }
    ```
    After:
    ```mlir
    %buf = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    scf.for ... {
      ttnvgpu.async_tma_store_wait {pendings = 0 : i32, complete}
      ttg.local_store %x, %buf : tensor<64x64xf16, #mma> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_copy_local_to_global %desc[%i, %j] %buf : ...
    }
    ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numOverlapped", "num-overlapped", "Stores with a buffer of their own">
  ];
}

def TritonGPUHoistTMEMAlloc
    : Pass<"tritongpu-hoist-tmem-alloc", "::mlir::ModuleOp"> {
  let summary = "Keep the sums of loops in tensor memory";
  let description = [{
    A dot has its sum in a buffer of tensor memory. A loop that hands the sum on
    to its next iteration would load it at the end and store it at the start.
    Instead the buffer lives outside of the loop, and the sum stays in it.

    A sum that starts from zero is not stored at all, where the first
    multiplication can overwrite the buffer: the loop carries a flag. Zeros are
    stored only if the loop has no iteration.

    What the loop does with the sum besides, such as to scale it, stays: it loads
    the sum and stores it. A second loop that goes on with the sum of a first one
    has it in the same buffer.

    Where the accesses of a buffer have tokens, each waits for the one before it in
    the program. The loop hands the last token on in place of the sum.

    Before:
    ```mlir
    %r = scf.for ... iter_args(%sum = %init) -> (tensor<128x128xf32, #linear>) {
      %d = ttnvgpu.tmem_alloc %sum : ...
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : ...
      %next = ttnvgpu.tmem_load %d : ...
      scf.yield %next : tensor<128x128xf32, #linear>
    }
    ```
    After:
    ```mlir
    %d = ttnvgpu.tmem_alloc : () -> ...
    ttnvgpu.tmem_store %init, %d, %true : ...
    scf.for ... {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : ...
    }
    %r = ttnvgpu.tmem_load %d : ...
    ```
  }];
  let options = [
    Option<"hoistOutOfIf", "hoist-out-of-if", "bool", "false",
           "Accepted for command lines that have it; branches are left alone">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numSums", "num-sums", "Sums of loops that stay in tensor memory">
  ];
}

def TritonNvidiaFoldTMEMConversions
    : Pass<"triton-nvidia-fold-tmem-conversions", "::mlir::ModuleOp"> {
  let summary = "Move tensors to and from tensor memory in the layouts they have";
  let description = [{
    The instructions of tensor memory move several layouts of registers. A conversion
    through shared memory, or through shuffles, takes longer than any of them. So a
    store takes what a conversion takes, and a load gives what it gives, where an
    instruction moves that layout.

    Before:
    ```mlir
    %w = ttg.convert_layout %p : tensor<128x64xf16, #halves> -> tensor<128x64xf16, #rows>
    %a = ttnvgpu.tmem_alloc %w : ...
    ```
    After:
    ```mlir
    %a = ttnvgpu.tmem_alloc %p : (tensor<128x64xf16, #halves>) -> ...
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numStores", "num-stores", "Stores without their conversion">,
    Statistic<"numLoads", "num-loads", "Loads without their conversion">
  ];
}

def TritonGPUPromoteLHSToTMEM
    : Pass<"tritongpu-promote-lhs-to-tmem", "::mlir::ModuleOp"> {
  let summary = "Put left operands that threads compute into tensor memory";
  let description = [{
    A left operand that threads have computed goes to tensor memory rather than to
    shared memory, as the weights of attention do. There each thread stores what it
    has, if the operand comes from a sum of the same rows. So nothing is read from
    shared memory, and no fence is needed. Operands that are loaded stay where copies
    bring them. So do those for which the columns of tensor memory do not suffice.

    Before:
    ```mlir
    %a = ttg.local_alloc %p : (tensor<128x64xf16, #linear>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : ...
    ```
    After:
    ```mlir
    %a = ttnvgpu.tmem_alloc %p : (tensor<128x64xf16, #linear>) -> !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : ...
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numPromoted", "num-promoted", "Operands that went to tensor memory">
  ];
}

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

def TritonNvidiaOptimizeTMEMLayouts
    : Pass<"triton-nvidia-optimize-tmem-layouts", "::mlir::ModuleOp"> {
  let summary = "Load and store tensor memory in the layouts that others want";
  let description = [{
    Registers get what comes from tensor memory in one of a few layouts. This pass
    chooses another one, or loads less at a time, where this saves traffic.

    * The two halves of the columns of a load, which a `tt.split` takes apart, are
      two loads. The two of a `tt.join` that a store writes are two stores.
    * A load whose rows are reduced, and that serves nothing else, has whole rows in
      each warp.
    * A load may go transposed to shared memory, and a store may come so from there.
      Then it has pieces of 8 by 8 elements, as the instructions for matrices in shared
      memory move them.

    Conversions keep the layouts of all others. `tritongpu-remove-layout-conversions`
    takes them away.

    Before:
    ```mlir
    %x = ttnvgpu.tmem_load %d : ... -> tensor<128x128xf32, #linear>
    %0 = tt.reshape %x : ... -> tensor<128x2x64xf32, #linear1>
    %1 = tt.trans %0 {order = array<i32: 0, 2, 1>} : ... -> tensor<128x64x2xf32, #linear2>
    %l, %r = tt.split %1 : ... -> tensor<128x64xf32, #linear3>
    ```
    After:
    ```mlir
    %0 = ttnvgpu.tmem_subslice %d {offset = 0 : i32} : ...
    %l = ttnvgpu.tmem_load %0 : ... -> tensor<128x64xf32, #linear3>
    %1 = ttnvgpu.tmem_subslice %d {offset = 64 : i32} : ...
    %r = ttnvgpu.tmem_load %1 : ... -> tensor<128x64xf32, #linear3>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numParted", "num-parted", "Loads and stores that became two">,
    Statistic<"numWholeRows", "num-whole-rows", "Loads that give a warp whole rows">,
    Statistic<"numTurned", "num-turned", "Loads and stores that suit transposed buffers">
  ];
}

def TritonNvidiaInterleaveTMEM
    : Pass<"triton-nvidia-interleave-tmem", "::mlir::ModuleOp"> {
  let summary = "Load tensor memory late";
  let description = [{
    What is in registers between a load and its first user takes room there. Loads of
    tensor memory go down to the first user of what they load. A load whose result is
    stored to tensor memory again goes down to the store, with all that comes between.
    So of several parts, each is loaded, changed and stored before the next one is
    loaded. Buffers go down to their first user as well. What the first user needs
    beside comes behind the load, where it takes fewer registers before it is made than
    afterwards: a row of shared memory, for example.

    No load moves over a store to what may be the same part of tensor memory, or over
    an operation whose effects are unknown, or over a barrier.

    Before:
    ```mlir
    %a = ttnvgpu.tmem_load %s0 : ...
    %b = ttnvgpu.tmem_load %s1 : ...
    %x = arith.mulf %a, %f : ...
    %y = arith.mulf %b, %f : ...
    ttnvgpu.tmem_store %x, %s0, %true : ...
    ttnvgpu.tmem_store %y, %s1, %true : ...
    ```
    After:
    ```mlir
    %a = ttnvgpu.tmem_load %s0 : ...
    %x = arith.mulf %a, %f : ...
    ttnvgpu.tmem_store %x, %s0, %true : ...
    %b = ttnvgpu.tmem_load %s1 : ...
    %y = arith.mulf %b, %f : ...
    ttnvgpu.tmem_store %y, %s1, %true : ...
    ```
  }];
  let statistics = [
    Statistic<"numLoads", "num-loads", "Loads that moved down">
  ];
}

def TritonNvidiaCheckMatmulTwoCTA
    : Pass<"triton-nvidia-check-matmul-two-cta", "::mlir::ModuleOp"> {
  let summary = "Say whether pairs of blocks multiply";
  let description = [{
    All instructions of a kernel that use tensor memory are for one block, or all are
    for pairs of blocks. Sets `ttng.two-ctas` on the module accordingly. Two
    multiplications that do not agree are an error.

    ```mlir
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true {two_ctas} : ...
    ```
    gives
    ```mlir
    module attributes {"ttng.two-ctas" = true, ...}
    ```
  }];
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

def TritonNvidiaCopyScales
    : Pass<"triton-nvidia-copy-scales", "::mlir::ModuleOp"> {
  let summary = "Copy scales from shared memory to tensor memory";
  let description = [{
    The scales of a `ttnvgpu.tc_gen5_mma_scaled` may be in shared memory: as rows, or
    tile by tile. The tensor core reads them in tensor memory. This pass copies them
    there before the multiplication. Where they are in a buffer of a ring, tensor
    memory has an array of as many, and the copy goes to the one with the same
    number.

    Before:
    ```mlir
    %slot = ttg.memdesc_index %ring[%i] : ...
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %slot, %bScale, ...
    ```
    After:
    ```mlir
    %places = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<3x128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable>
    ...
    %slot = ttg.memdesc_index %ring[%i] : ...
    %place = ttg.memdesc_index %places[%i] : ...
    ttnvgpu.tmem_copy %slot, %place : ...
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %place, %bScale, ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numCopies", "num-copies", "Copies of scales to tensor memory">
  ];
}

def TritonNvidiaMMALowering
    : Pass<"triton-nvidia-mma-lowering", "::mlir::ModuleOp"> {
  let summary = "Let multiplications into tensor memory run on until they are needed";
  let description = [{
    A `ttnvgpu.tc_gen5_mma` without `is_async` is done when it returns. The tensor
    core has no such instruction: it arrives at an mbarrier when it is done. This
    pass gives each of them a barrier. It waits there where the sum is loaded or
    stored, or where the operands are overwritten.

    In a loop this may be in the next iteration. If it is behind the multiplication
    of that one, two of them are under way, at barriers that alternate. Behind the
    loop the last one is waited for. A branch that some iterations take waits by
    itself. Outside of loops, and under a condition, the wait is in the same block.

    Before:
    ```mlir
    scf.for ... {
      %a = ttg.memdesc_index %ring[%i] : ...
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : ...
      ttg.async_copy_global_to_local %p, %next : ...
    }
    ```
    After:
    ```mlir
    ttnvgpu.init_barrier %bar, 1 : ...
    scf.for ... iter_args(%turn = %c0, %phase = %c0) {
      %a = ttg.memdesc_index %ring[%i] : ...
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true, %bar_i[%true] {is_async} : ...
      ttnvgpu.wait_barrier %bar_before, %phase_before : ...
      ttg.async_copy_global_to_local %p, %next : ...
    }
    ttnvgpu.wait_barrier %bar_last, %phase_last : ...
    ttnvgpu.inval_barrier %bar : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numRunningOn", "num-running-on",
              "Multiplications that the next iteration waits for">,
    Statistic<"numWaitedFor", "num-waited-for",
              "Multiplications that are waited for before that">
  ];
}

def TritonNvidiaGPUHoistMbarrierLifecycle
    : Pass<"triton-nvidia-gpu-hoist-mbarrier-lifecycle", "::mlir::ModuleOp"> {
  let summary = "Make barriers before loops instead of in each iteration";
  let description = [{
    A copy or a multiplication that is waited for in its own iteration has a barrier
    that the iteration makes and ends. All threads wait for each other before its
    first use, and before its end. Instead the barrier lives around the outermost
    loop. Its phases then go on from one iteration to the next, and the loop carries
    their parity.

    The arrivals between the making and the end are counted, along loops and branches.
    Where it is not known that each phase gets all its arrivals and then a wait, the
    barrier stays where it is. A fence stays in the loop: that of a new barrier orders
    what threads did to the memory before copies.

    Before:
    ```mlir
    scf.for ... {
      %bar = ttg.local_alloc : ...
      ttnvgpu.init_barrier %bar, 1 : ...
      ttnvgpu.barrier_expect %bar, 8192, %true : ...
      ttnvgpu.async_tma_copy_global_to_local %desc[%i, %c0] %buf, %bar, %true : ...
      ttnvgpu.wait_barrier %bar, %c0 : ...
      ttnvgpu.inval_barrier %bar : ...
    }
    ```
    After:
    ```mlir
    %bar = ttg.local_alloc : ...
    ttnvgpu.init_barrier %bar, 1 : ...
    scf.for ... iter_args(%phase = %c0) {
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.barrier_expect %bar, 8192, %true : ...
      ttnvgpu.async_tma_copy_global_to_local %desc[%i, %c0] %buf, %bar, %true : ...
      ttnvgpu.wait_barrier %bar, %phase : ...
      %next = arith.xori %phase, %c1 : ...
      scf.yield %next : ...
    }
    ttnvgpu.inval_barrier %bar : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numHoisted", "num-hoisted", "Barriers moved out of loops">
  ];
}

def TritonTensorMemoryAllocation
    : Pass<"triton-tensor-memory-allocation", "::mlir::ModuleOp"> {
  let summary = "Give each buffer in tensor memory its place";
  let description = [{
    Sets `tensor_memory_col_offset` and `tensor_memory_row_offset` on every
    `ttnvgpu.tmem_alloc`, and `ttg.tensor_memory_size`, the number of columns that the
    kernel allocates, on the module. It is a power of two, at least 32. Buffers that are
    not in use at the same time may share columns. Those of two partitions of warps never do.
    So may two buffers of 64 lanes: one takes the lower (row offset 0), one the
    upper halves (row offset 16) of the 32-lane windows. A left operand in tensor
    memory gets the same row offset as the accumulator.

    An asynchronous multiplication uses its buffers until the wait for its barrier.
    More than 512 columns are an error.

    Before:
    ```mlir
    %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    ```
    After:
    ```mlir
    %d = ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32} : () -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    ```
  }];
  let statistics = [
    Statistic<"numBuffers", "num-buffers", "Buffers placed">,
    Statistic<"numColumns", "num-columns", "Columns in use, summed over modules">
  ];
}

def TritonNvidiaOptimizeAtomics
    : Pass<"triton-nvidia-optimize-atomics", "::mlir::ModuleOp"> {
  let summary = "Add results of dots to memory from the warps that have them";
  let description = [{
    Atomic operations on a result of a dot get another layout, if nobody uses the old
    values. Threads come to it by exchanges inside their warps, with as many
    neighbours for each as before. Through shared memory all warps would wait for each
    other twice, in a loop in each iteration. Addresses and masks find that layout in the
    passes that remove conversions.

    Before:
    ```mlir
    %1 = ttg.convert_layout %0 : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    %2 = tt.atomic_rmw fadd, relaxed, gpu, %p, %1, %m : (tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xf32, #blocked>, tensor<64x64xi1, #blocked>) -> tensor<64x64xf32, #blocked>
    ```
    After:
    ```mlir
    %q = ttg.convert_layout %p : tensor<64x64x!tt.ptr<f32>, #blocked> -> tensor<64x64x!tt.ptr<f32>, #linear>
    %1 = ttg.convert_layout %0 : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #linear>
    %n = ttg.convert_layout %m : tensor<64x64xi1, #blocked> -> tensor<64x64xi1, #linear>
    %2 = tt.atomic_rmw fadd, relaxed, gpu, %q, %1, %n : (tensor<64x64x!tt.ptr<f32>, #linear>, tensor<64x64xf32, #linear>, tensor<64x64xi1, #linear>) -> tensor<64x64xf32, #linear>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numAtomics", "num-atomics", "Atomic operations with another layout">
  ];
}

def TritonNvidiaOptimizeDescriptorEncoding
    : Pass<"triton-nvidia-optimize-descriptor-encoding", "::mlir::ModuleOp"> {
  let summary = "Choose how the blocks of descriptors lie in shared memory";
  let description = [{
    Gives every `!tt.tensordesc` without encoding one. All values that a descriptor
    may come from or go to (through loops, branches, selects and calls) get the same:

    * the encoding that a user of a loaded block copies it to shared memory with, if
      TMA can write that;
    * with `for-tensor-memory`, padding for 4-bit operands of scaled dots beside 8-bit
      ones, and whole rows without a swizzle for scales that are packed as
      `tcgen05.cp` copies them;
    * otherwise the widest swizzle that the rows of the block fill.

    With `leave-to-pointers`, descriptors that TMA cannot serve, or would not serve
    better than pointers do, keep none, and a remark says why. The pass can then run
    before `triton-rewrite-tensor-descriptor-to-pointer`, which takes those. Of the
    descriptors among a kernel's arguments, the host then passes the parts (base, shape,
    strides, padding). As last arguments it passes the tensor maps that it makes of them.
    `ttnvgpu.tensor_map` on such an argument says how, `ttnvgpu.tensor_map_base` on which
    argument the parts begin. With `launch-maps`, descriptors that are made of sums and
    products of arguments become such maps, too. `code` and `parts` of
    `ttnvgpu.tensor_map` say what the launch computes, and `ttnvgpu.tensor_map_input` of
    which arguments. Those with `tt.of_arguments` do so in any case.

    Before:
    ```mlir
    %x = tt.descriptor_load %desc[%i, %j] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #blocked>
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ```
    After:
    ```mlir
    %x = tt.descriptor_load %desc[%i, %j] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let options = [
    Option<"leaveToPointers", "leave-to-pointers", "bool", "false",
           "Leave descriptors that are better off as pointers without encoding">,
    Option<"numCTAs", "num-ctas", "unsigned", "1",
           "Blocks of a cluster, where the module does not say yet">,
    Option<"forTensorMemory", "for-tensor-memory", "bool", "false",
           "Whether scaled dots take 4-bit operands with padding, and scales as they "
           "are packed in memory">,
    Option<"launchMaps", "launch-maps", "bool", "false",
           "Let launches make descriptors of arguments alone">
  ];
  let statistics = [
    Statistic<"numOfLaunch", "num-of-launch", "Descriptors that launches make">,
    Statistic<"numLeft", "num-left", "Descriptors left to pointers">,
    Statistic<"numFromUses", "num-from-uses", "Descriptors laid out for a use">,
    Statistic<"numDefault", "num-default", "Descriptors with the default encoding">
  ];
}

def TritonNvidiaGPUClusterBarrierAfterInit
    : Pass<"triton-nvidia-gpu-cluster-barrier-after-init",
           "::mlir::ModuleOp"> {
  let summary = "Let the blocks of a cluster wait for the barriers of each other";
  let description = [{
    Copies for several blocks signal barriers of all of them. So do multiplications
    whose operands several blocks share, commits, and launch control. No block may
    start one before the others have initialised theirs. This pass puts a barrier of the
    cluster behind the last initialisation that comes before such a copy, if the
    program has none there. It looks at what every block runs: the operations of a
    kernel outside of branches and loops.

    ```mlir
    ttnvgpu.init_barrier %bar, 1
    // here:
    ttnvgpu.fence_mbarrier_init_release_cluster
    ttnvgpu.cluster_barrier
    ttnvgpu.async_tma_copy_global_to_local %desc[%x] %buf, %bar, %true {multicast}
    ```
  }];
  let dependentDialects = ["::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numBarriers", "num-barriers", "Barriers of the cluster inserted">
  ];
}

def TritonNvidiaGPUClusterSharedMemory
    : Pass<"triton-nvidia-gpu-cluster-shared-memory", "::mlir::ModuleOp"> {
  let summary = "Keep buffers that other blocks of a cluster access";
  let description = [{
    Threads may access buffers of other blocks: where registers and memory are
    divided among the blocks in other ways, and by index. The program says the order
    of such accesses with barriers of the cluster. A block must have begun before
    others access its memory, and it must not end before they have done so. This
    pass puts barriers there, if the program has none. The buffers have memory of
    their own from the beginning of the kernel to its end.

    A block may also start a copy to several blocks before the others come to it. What
    it goes to has memory of its own from the beginning of the kernel.

    ```mlir
    %buf = ttg.local_alloc : () -> !ttg.memdesc<4x32xi32, #rows_of_blocks, #smem, mutable>
    // here: ttnvgpu.cluster_barrier
    ttg.local_store %value, %buf : tensor<4x32xi32, #columns_of_blocks> -> !ttg.memdesc<4x32xi32, #rows_of_blocks, #smem, mutable>
    // and here, and the end of the life of %buf
    tt.return
    ```
  }];
  let dependentDialects = ["::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numBarriers", "num-barriers", "Barriers of the cluster inserted">
  ];
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PASSES
