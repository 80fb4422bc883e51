//===-- Passes.td - Passes before the lowering to LLVM -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_PASSES
#define TILE_CONVERSION_TRITONGPUTOLLVM_PASSES

include "mlir/Pass/PassBase.td"

def AllocateSharedMemory : Pass<"allocate-shared-memory", "mlir::ModuleOp"> {
  let summary = "Give buffers in shared memory their offsets";
  let description = [{
    Gives every `ttg.local_alloc`, every operation that needs scratch memory and
    every call an `allocation.offset`. Buffers that live at the same time do not
    overlap. `ttg.shared` on the module is the size of all buffers together.

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

def InsertMemoryBarriers : Pass<"insert-memory-barriers", "mlir::ModuleOp"> {
  let summary = "Insert barriers between accesses to shared memory";
  let description = [{
    Two accesses to overlapping shared memory, at least one of them a write, get
    a `ttg.barrier local` between them. They need none if there is one on every path
    from the first to the second. `allocation.offset` says where buffers are, so
    shared memory must be allocated before. The barriers of a called function count,
    and so do its accesses to buffers that it is given. The module gets the attribute
    `ttg.barriers-inserted`. Without it nothing is lowered.

    ```mlir
    %0 = ttg.local_alloc %x {allocation.offset = 0 : i32} : ...
    %1 = ttg.local_load %0 : ...
    ```
    becomes
    ```mlir
    %0 = ttg.local_alloc %x {allocation.offset = 0 : i32} : ...
    ttg.barrier local
    %1 = ttg.local_load %0 : ...
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numBarriers", "num-barriers", "Barriers inserted">
  ];
}

def InsertReplicaBarriers : Pass<"insert-replica-barriers", "mlir::ModuleOp"> {
  let summary = "Insert barriers around accesses of all threads or one of them";
  let description = [{
    A scalar is loaded by all threads, each for itself, and written by one. So
    is a block with fewer elements than there are threads, each element by one.
    In between there is a barrier on every path. A slow thread must not read
    what a fast one wrote afterwards, nor miss what another thread wrote before.
    The same goes for a scalar and a block, whose elements other threads write or
    read. Two blocks of one layout need no barrier, because one thread accesses an
    element both times. In different layouts it may be another thread.

    If a loop needs a barrier only for what stands before the loop, the barrier
    stands before the loop, too. It is then there once, not in each iteration.

    In loops, different arguments of a kernel are assumed to be different memory,
    unless the module has the attribute `ttg.overlapping-arguments`. Such pairs are
    listed in `tt.disjoint_arguments`, and the launcher checks them.

    ```mlir
    %n = tt.load %p : !tt.ptr<i32>
    tt.store %p, %m : !tt.ptr<i32>
    ```
    becomes
    ```mlir
    %n = tt.load %p : !tt.ptr<i32>
    ttg.barrier global_read|global_write
    tt.store %p, %m : !tt.ptr<i32>
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numBarriers", "num-barriers", "Barriers inserted">
  ];
}

def LoadDecisionsOnce : Pass<"load-decisions-once", "mlir::ModuleOp"> {
  let summary = "Let one thread load what decides for all";
  let description = [{
    Every thread loads a scalar for itself. So it does with an element of a block
    of which several threads have copies. If another thread writes to the address
    meanwhile, they may get different values. This matters if the value decides a
    branch, a loop or an address, and if the kernel may write to its address. Such a
    load gets the attribute `tile.loaded_once`. One thread makes it, and the others
    get the value through shared memory, as they do from fresh reads.

    Different arguments of a kernel are assumed to be different memory, unless the
    module has the attribute `ttg.overlapping-arguments`. Such pairs are listed in
    `tt.disjoint_arguments`, and the launcher checks them.

    ```mlir
    %n = tt.load %p : !tt.ptr<i32>
    scf.if %n_is_zero {
      tt.store %p, %m : !tt.ptr<i32>
    ```
    becomes
    ```mlir
    %n = tt.load %p {tile.loaded_once} : !tt.ptr<i32>
    scf.if %n_is_zero {
      tt.store %p, %m : !tt.ptr<i32>
    ```
  }];
  let statistics = [
    Statistic<"numLoads", "num-loads", "Loads that one thread makes">
  ];
}

def CheckReplicas : Pass<"check-replicas", "mlir::ModuleOp"> {
  let summary = "Compare the copies of scalars that decide";
  let description = [{
    On request (`check_replicas=True`). Every thread has a copy of a scalar. The
    scalar may decide a branch, the bounds of a loop or an address. And each thread
    may have found it out for itself: by a reduction, a load, an atomic operation or
    assembly. All copies of such a scalar are compared at run time. If they are not
    the same, an assertion fails.

    ```mlir
    %s = "tt.reduce"(%x) ... : (tensor<256xf32, #blocked>) -> f32
    %c = arith.cmpf ogt, %s, %t : f32
    scf.if %c {
    ```
    becomes
    ```mlir
    %s = "tt.reduce"(%x) ... : (tensor<256xf32, #blocked>) -> f32
    %bits = arith.bitcast %s : f32 to i32
    %copies = tt.splat %bits : i32 -> tensor<128xi32, #one_for_each_thread>
    // the least and the greatest of them
    tt.assert %same, "..." : i1
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numChecks", "num-checks", "Scalars that are compared">
  ];
}

def RollFMADots : Pass<"roll-fma-dots", "mlir::ModuleOp"> {
  let summary = "Add up large dots without matrix units in a loop";
  let description = [{
    A dot without a matrix instruction becomes a multiply-add for each product of
    a thread. All dots of a function may have 4,096 of them in straight line. Beyond
    that, LLVM's allocation of registers takes seconds to minutes. The largest dots
    then become loops over slices of the inner dimension. Both operands are in
    shared memory, slice by slice. The sums are added up in the same order.

    A dot stays as it is where its operands do not fit into shared memory, and in
    programs of several blocks.

    ```mlir
    %d = tt.dot %a, %b, %c : tensor<128x64xf32, ...> * tensor<64x64xf32, ...> -> tensor<128x64xf32, #blocked>
    ```
    becomes
    ```mlir
    %as = ttg.local_alloc ... // 16 slices of 128x4
    %bs = ttg.local_alloc ... // 16 slices of 4x64
    %d = scf.for %i = %c0 to %c16 step %c1 iter_args(%sum = %c) -> ... {
      %a_i = ttg.local_load ... : !ttg.memdesc<128x4xf32, ...> -> ...
      %b_i = ttg.local_load ... : !ttg.memdesc<4x64xf32, ...> -> ...
      %next = tt.dot %a_i, %b_i, %sum : ...
      scf.yield %next : ...
    }
    ```
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::scf::SCFDialect",
    "mlir::triton::gpu::TritonGPUDialect"
  ];
  let statistics = [
    Statistic<"numRolled", "num-rolled", "Dots that are loops now">
  ];
}

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_PASSES
