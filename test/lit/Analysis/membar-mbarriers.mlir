// RUN: tile-opt %s -test-print-membar | filecheck %s

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
}
