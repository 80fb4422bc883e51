// RUN: tile-opt %s -test-print-membar | filecheck %s

// Which operations on mbarriers, and on what they guard, need a barrier of the
// block between them.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
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

  // A product reads its operands until it is waited for, whatever barriers come
  // before that; another warp group may wait for longer.
  // CHECK-LABEL: @product
  tt.func @product(%a: tensor<64x64xf16, #blocked>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    // CHECK: ttg.local_alloc
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.warp_group_dot_wait
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_store
    %buf = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %d = ttnvgpu.warp_group_dot %buf, %buf, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    ttg.barrier local
    %e:2 = ttnvgpu.warp_group_dot_wait %d, %buf {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %a, %buf : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return %e#0 : tensor<64x64xf32, #mma>
  }

  // A wait that leaves one product unfinished says nothing of that one.
  // CHECK-LABEL: @two_products
  tt.func @two_products(%a: tensor<64x64xf16, #blocked>, %c: tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    // CHECK: ttg.local_alloc
    // CHECK-NEXT: ttg.local_alloc
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    // CHECK-NEXT: ttnvgpu.warp_group_dot_wait
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_store
    // CHECK-NEXT: ttnvgpu.warp_group_dot_wait
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_store
    %x = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %y = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %d = ttnvgpu.warp_group_dot %x, %x, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %e = ttnvgpu.warp_group_dot %y, %y, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %f:2 = ttnvgpu.warp_group_dot_wait %d, %x {pendings = 1 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %a, %x : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %g:2 = ttnvgpu.warp_group_dot_wait %e, %y {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %a, %y : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return %f#0, %g#0 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }

  // The wait in a loop is for the product of the iteration before it, which
  // other warp groups may still run.
  // CHECK-LABEL: @product_of_each_iteration
  tt.func @product_of_each_iteration(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %c: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    // CHECK: scf.for
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x64xf32, #mma>) : i32 {
      // CHECK: ttnvgpu.warp_group_dot
      // CHECK-NEXT: ttnvgpu.warp_group_dot_wait
      // CHECK-NEXT: ttg.barrier local
      // CHECK-NEXT: ttg.async_copy_global_to_local
      %x = ttg.memdesc_index %ring[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %d = ttnvgpu.warp_group_dot %x, %x, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %e:2 = ttnvgpu.warp_group_dot_wait %d, %x {pendings = 1 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t = ttg.async_copy_global_to_local %p, %x : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %t
      %w = ttg.async_wait %g {num = 1 : i32}
      scf.yield %e#0 : tensor<64x64xf32, #mma>
    }
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}
