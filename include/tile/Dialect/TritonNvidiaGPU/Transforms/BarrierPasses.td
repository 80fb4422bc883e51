//===-- BarrierPasses.td - Barriers, waits and fences ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_BARRIERPASSES
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_BARRIERPASSES

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

def TritonNvidiaGPUClusterBarrierAfterInit
    : Pass<"triton-nvidia-gpu-cluster-barrier-after-init",
           "::mlir::ModuleOp"> {
  let summary = "Let the blocks of a cluster wait for the barriers of each other";
  let description = [{
    Copies for several blocks signal barriers of all of them. So do multiplications
    whose operands several blocks share, commits, and launch control. No block may
    start one before the others have initialised theirs. This pass puts a barrier of the
    cluster behind an initialisation that such a signal may follow, if the program has
    none there. It stands before the next wait or signal, once for all barriers that
    are made before it. All blocks of a cluster run the same program, so this may be
    in a branch or a loop.

    If the program has a barrier of the cluster there that orders no memory, it gets
    the fence in front.

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

def TritonNvidiaGPUClusterBarrierAtEnd
    : Pass<"triton-nvidia-gpu-cluster-barrier-at-end", "::mlir::ModuleOp"> {
  let summary = "Let blocks stay while others of a cluster signal their barriers";
  let description = [{
    A block may arrive at a barrier of another block that waits there no more, as at
    the last buffer of a ring that nobody fills again. This pass puts a barrier of the
    cluster at the end of such a kernel, if the program has none. Until then these barriers
    keep their memory. Bytes that come to a block need nothing: the block waits for
    them. Pairs of blocks with tensor memory wait for each other where they give it back.

    ```mlir
    ttnvgpu.arrive_barrier %bar, 1 {fromCTA = 0 : i32}
    // here: ttnvgpu.cluster_barrier, and the end of the life of %bar
    tt.return
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

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_BARRIERPASSES
