// RUN: tile-opt %s -canonicalize | filecheck %s

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmem32 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // What never runs goes away; what always runs needs no predicate.
  // CHECK-LABEL: @predicates
  tt.func @predicates(%bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %phase: i32,
                      %desc: !tt.tensordesc<tensor<64x64xf16, #f16>>, %buf: !ttg.memdesc<64x64xf16, #f16, #smem, mutable>) {
    %false = arith.constant false
    %true = arith.constant true
    // CHECK-NOT: barrier_expect
    ttnvgpu.barrier_expect %bar, 8192, %false : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NOT: async_tma_copy_global_to_local
    ttnvgpu.async_tma_copy_global_to_local %desc[%phase, %phase] %buf, %bar, %false : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
    // CHECK: ttnvgpu.wait_barrier %{{[^,]*}}, %{{[^,]*}} :
    ttnvgpu.wait_barrier %bar, %phase, %false : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttnvgpu.wait_barrier %bar, %phase, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: ttnvgpu.arrive_barrier %{{[^,]*}}, 2 :
    ttnvgpu.arrive_barrier %bar, 1, %false : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttnvgpu.arrive_barrier %bar, 2, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: ttnvgpu.tc_gen5_commit %{{[^,]*}} :
    ttnvgpu.tc_gen5_commit %bar, %false : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttnvgpu.tc_gen5_commit %bar, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: tt.return
    tt.return
  }

  // CHECK-LABEL: @fences
  tt.func @fences(%bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
    // CHECK-NEXT: ttnvgpu.fence_async_shared {bCluster = true}
    // CHECK-NEXT: ttnvgpu.arrive_barrier
    ttnvgpu.fence_async_shared {bCluster = false}
    ttnvgpu.fence_async_shared {bCluster = true}
    ttnvgpu.arrive_barrier %bar, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: ttnvgpu.fence_async_shared {bCluster = false}
    ttnvgpu.fence_async_shared {bCluster = false}
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
    // CHECK-NEXT: tt.return
    ttnvgpu.async_tma_store_wait {pendings = 1 : i32}
    ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
    ttnvgpu.async_tma_store_wait {pendings = 2 : i32}
    tt.return
  }

  // CHECK-LABEL: @use_c
  tt.func @use_c(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>,
                 %c: tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #mma> {
    %true = arith.constant true
    // CHECK: ttnvgpu.warp_group_dot %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {inputPrecision = 0 : i32} :
    %0 = ttnvgpu.warp_group_dot %a, %b, %c, %true {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #f16, #smem> * !ttg.memdesc<64x128xf16, #f16, #smem> -> tensor<128x128xf32, #mma>
    tt.return %0 : tensor<128x128xf32, #mma>
  }

  // The token of what never runs is the token before it.
  // CHECK-LABEL: @tokens
  // CHECK-SAME: %[[BAR:[^ ]*]]: !ttg.memdesc<1xi64, {{.*}}%[[P:[^ ]*]]: i1) -> tensor
  tt.func @tokens(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>,
                  %x: tensor<128x128xf32, #rows>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %p: i1) -> tensor<128x128xf32, #rows> {
    %false = arith.constant false
    // CHECK: %[[D:.*]], %[[T0:.*]] = ttnvgpu.tmem_alloc
    %d, %t0 = ttnvgpu.tmem_alloc : () -> (!ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.async.token)
    // CHECK-NOT: tmem_store
    %t1 = ttnvgpu.tmem_store %x, %d[%t0], %false : tensor<128x128xf32, #rows> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    %t2 = ttnvgpu.tc_gen5_mma %a, %b, %d[%t1], %p, %false : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // CHECK: %[[T3:.*]] = ttnvgpu.tc_gen5_mma %{{.*}}, %{{.*}}, %[[D]][%[[T0]]], %[[P]], %[[P]], %[[BAR]][%[[P]]] {is_async} :
    %t3 = ttnvgpu.tc_gen5_mma %a, %b, %d[%t2], %p, %p, %bar[%false], %bar[%p] {is_async} : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: ttnvgpu.tmem_load %[[D]][%[[T3]]]
    %r, %t4 = ttnvgpu.tmem_load %d[%t3] : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x128xf32, #rows>
    tt.return %r : tensor<128x128xf32, #rows>
  }

  // CHECK-LABEL: @subslice
  // CHECK-SAME: (%[[BUF:[^ ]*]]: !ttg.memdesc
  tt.func @subslice(%buf: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>)
      -> (!ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x32xf32, #tmem32, #ttnvgpu.tensor_memory, mutable, 128x128>) {
    %0 = ttnvgpu.tmem_subslice %buf {offset = 0 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    %1 = ttnvgpu.tmem_subslice %buf {offset = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, mutable, 128x128>
    %2 = ttnvgpu.tmem_subslice %1 {offset = 32 : i32} : !ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, mutable, 128x128> -> !ttg.memdesc<128x32xf32, #tmem32, #ttnvgpu.tensor_memory, mutable, 128x128>
    // CHECK-NEXT: %[[S:.*]] = ttnvgpu.tmem_subslice %[[BUF]] {offset = 96 : i32}
    // CHECK-NEXT: tt.return %[[BUF]], %[[S]]
    tt.return %0, %2 : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x32xf32, #tmem32, #ttnvgpu.tensor_memory, mutable, 128x128>
  }

  // Nothing else than its own contents depends on an unused buffer.
  // CHECK-LABEL: @dead
  tt.func @dead(%x: tensor<128x128xf32, #rows>) {
    // CHECK-NEXT: tt.return
    %0 = ttnvgpu.tmem_alloc %x : (tensor<128x128xf32, #rows>) -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    %1 = ttnvgpu.tmem_alloc %x : (tensor<128x128xf32, #rows>) -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>
    %2 = ttnvgpu.tmem_load %1 : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory> -> tensor<128x128xf32, #rows>
    tt.return
  }
}
