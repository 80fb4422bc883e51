//===-- TensorMemoryPasses.td - What lies in tensor memory -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_TENSORMEMORYPASSES
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_TENSORMEMORYPASSES

include "mlir/Pass/PassBase.td"

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
    the sum and stores it. What is new at the end of an iteration is stored there. An
    iteration may add nothing, or begin a new sum, in a branch: only the branch
    accesses the buffer then. A second loop that goes on with the sum of a first one
    has it in the same buffer, and so has a second dot.

    Scales that are the same in all iterations are stored before the loop.

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
           "Move buffers out of branches that add to a sum, outside of loops, too">,
    Option<"postPipeline", "post-pipeline", "bool", "false",
           "The same; buffers of one iteration are never outside of it here">
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
    bring them.

    Where the columns of tensor memory do not suffice, the operand takes those of a sum
    that it is computed from, as nobody reads that sum any more. If there is none, it
    stays in shared memory.

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
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numPromoted", "num-promoted", "Operands that went to tensor memory">,
    Statistic<"numShared", "num-shared", "Of these, operands in columns of a sum">
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

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_TENSORMEMORYPASSES
