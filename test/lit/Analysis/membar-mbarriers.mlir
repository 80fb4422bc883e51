// RUN: tile-opt %s -split-input-file -test-print-membar | filecheck %s

// Which operations on mbarriers, and on what they guard, need a barrier of the
// block between them.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @load
  tt.func @load(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %i: i32) -> tensor<64x64xf16, #blocked> {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %buf = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // All threads see a barrier before any uses it.
    // CHECK: ttnvgpu.init_barrier
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.barrier_expect
    // CHECK-NEXT: ttnvgpu.async_tma_copy_global_to_local
    // CHECK-NEXT: ttnvgpu.wait_barrier
    // CHECK-NEXT: ttg.local_load
    // All threads have waited before it ends.
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.inval_barrier
    ttnvgpu.init_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttnvgpu.barrier_expect %b, 8192, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttnvgpu.async_tma_copy_global_to_local %desc[%i, %i] %buf, %b, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttnvgpu.wait_barrier %b, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %x = ttg.local_load %buf : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    ttnvgpu.inval_barrier %b : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return %x : tensor<64x64xf16, #blocked>
  }

  // Threads read a buffer before TMA overwrites it, and write one before TMA reads.
  // CHECK-LABEL: @threads_first
  tt.func @threads_first(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %b: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %y: tensor<64x64xf16, #blocked>, %i: i32) -> tensor<64x64xf16, #blocked> {
    %true = arith.constant true
    %buf = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: ttg.local_store
    // CHECK-NEXT: ttnvgpu.fence_async_shared
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.async_tma_copy_local_to_global
    ttg.local_store %y, %buf : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttnvgpu.fence_async_shared {bCluster = false}
    ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %buf : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // One thread waits; the others learn of it.
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_load
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.async_tma_copy_global_to_local
    ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
    %x = ttg.local_load %buf : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    ttnvgpu.async_tma_copy_global_to_local %desc[%i, %i] %buf, %b, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return %x : tensor<64x64xf16, #blocked>
  }
  // A warp that still waits would miss the end of the phase, if the next one
  // ended as well.
  // CHECK-LABEL: @armed_again
  tt.func @armed_again(%b: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %other: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %p: i32) {
    %true = arith.constant true
    // CHECK: ttnvgpu.wait_barrier
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.barrier_expect
    ttnvgpu.wait_barrier %b, %p : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttnvgpu.barrier_expect %b, 8192, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: ttnvgpu.wait_barrier
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.tc_gen5_commit
    ttnvgpu.wait_barrier %b, %p : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttnvgpu.tc_gen5_commit %b, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // Warps that arrive have waited before.
    // CHECK-NEXT: ttnvgpu.wait_barrier
    // CHECK-NEXT: ttnvgpu.arrive_barrier
    ttnvgpu.wait_barrier %b, %p : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttnvgpu.arrive_barrier %b, 4 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }

  // The barrier of another buffer; a partition of one warp.
  // CHECK-LABEL: @not_the_same
  tt.func @not_the_same(%p: i32) {
    %true = arith.constant true
    %ready = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %empty = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttg.warp_specialize(%ready)
    default {
      // CHECK: default
      // CHECK-NEXT: ttnvgpu.wait_barrier
      // CHECK-NEXT: ttnvgpu.tc_gen5_commit
      ttnvgpu.wait_barrier %ready, %p : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttnvgpu.tc_gen5_commit %empty, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttg.warp_yield
    }
    partition0(%mine: !ttg.memdesc<1xi64, #bar, #smem, mutable>) num_warps(1) {
      %c0 = arith.constant 0 : i32
      %yes = arith.constant true
      // CHECK: partition0
      // CHECK: ttnvgpu.wait_barrier
      // CHECK-NEXT: ttnvgpu.barrier_expect
      ttnvgpu.wait_barrier %mine, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttnvgpu.barrier_expect %mine, 8192, %yes : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttg.warp_return
    } : (!ttg.memdesc<1xi64, #bar, #smem, mutable>) -> ()
    tt.return
  }
}

// -----

// At a relaxed barrier of the cluster threads wait for each other. It does not order what they wrote.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
#turned = #ttg.linear<{register = [], lane = [[4], [8], [16], [32], [64]], warp = [[1], [2]], block = [[128]]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
!buffer = !ttg.memdesc<256xi32, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @relaxed
  tt.func @relaxed(%x: tensor<256xi32, #blocked>) -> (tensor<256xi32, #turned>, tensor<256xi32, #turned>) {
    // CHECK: ttnvgpu.cluster_barrier {relaxed = true}
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_load
    %buf = ttg.local_alloc %x : (tensor<256xi32, #blocked>) -> !buffer
    ttnvgpu.cluster_barrier {relaxed = true}
    %y = ttg.local_load %buf : !buffer -> tensor<256xi32, #turned>
    // CHECK: ttg.local_store
    // CHECK-NEXT: ttnvgpu.cluster_barrier
    // CHECK-NEXT: ttg.local_load
    ttg.local_store %x, %buf : tensor<256xi32, #blocked> -> !buffer
    ttnvgpu.cluster_barrier
    %z = ttg.local_load %buf : !buffer -> tensor<256xi32, #turned>
    tt.return %y, %z : tensor<256xi32, #turned>, tensor<256xi32, #turned>
  }
}
