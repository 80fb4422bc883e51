// RUN: tile-opt %s -triton-nvidia-gpu-fence-insertion | filecheck %s
// RUN: tile-opt %s -triton-nvidia-gpu-fence-insertion=after-async-copies=true | filecheck %s --check-prefix=COPIES

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem2 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, twoCTAs = true>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @alloc_with_contents
  tt.func @alloc_with_contents(%x: tensor<128x64xf16, #blocked>, %y: tensor<64x128xf16, #blocked>, %c: tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #mma> {
    // CHECK-COUNT-2: ttg.local_alloc
    // CHECK-NEXT: ttnvgpu.fence_async_shared {bCluster = false}
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    %a = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %b = ttg.local_alloc %y : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    %d = ttnvgpu.warp_group_dot %a, %b, %c : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<128x128xf32, #mma>
    // Nothing was written since.
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    %e = ttnvgpu.warp_group_dot %a, %b, %d : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<128x128xf32, #mma>
    tt.return %e : tensor<128x128xf32, #mma>
  }

  // The operand that the loop does not write is fenced once.
  // CHECK-LABEL: @hoisted
  tt.func @hoisted(%x: tensor<128x64xf16, #blocked>, %y: tensor<64x128xf16, #blocked>, %c: tensor<128x128xf32, #mma>, %n: i32, %p: i1) -> tensor<128x128xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %b = ttg.local_alloc %y : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    // CHECK: ttnvgpu.fence_async_shared
    // CHECK-NEXT: scf.for
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<128x128xf32, #mma>) : i32 {
      %d = ttnvgpu.warp_group_dot %a, %b, %acc : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<128x128xf32, #mma>
      scf.yield %d : tensor<128x128xf32, #mma>
    }
    tt.return %r : tensor<128x128xf32, #mma>
  }

  // A store in the loop, to a buffer that views lead to.
  // CHECK-LABEL: @stored_in_loop
  tt.func @stored_in_loop(%x: tensor<128x64xf16, #blocked>, %b: !ttg.memdesc<64x128xf16, #shared, #smem>, %c: tensor<128x128xf32, #mma>, %n: i32) -> tensor<128x128xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %buf = ttg.local_alloc : () -> !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>
    // CHECK: scf.for
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<128x128xf32, #mma>) : i32 {
      // CHECK: ttg.local_store
      %w = ttg.memdesc_index %buf[%c1] : !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      ttg.local_store %x, %w : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      %a = ttg.memdesc_index %buf[%c0] : !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      // CHECK: ttnvgpu.fence_async_shared
      // CHECK-NEXT: ttnvgpu.warp_group_dot
      %d = ttnvgpu.warp_group_dot %a, %b, %acc : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<128x128xf32, #mma>
      scf.yield %d : tensor<128x128xf32, #mma>
    }
    tt.return %r : tensor<128x128xf32, #mma>
  }

  // TMA writes through the async proxy itself; copies of threads count on demand.
  // CHECK-LABEL: @copies
  // CHECK-NOT: fence_async_shared
  // CHECK: tt.return
  // COPIES-LABEL: @copies
  // COPIES: ttnvgpu.async_tma_copy_global_to_local
  // COPIES: ttnvgpu.fence_async_shared
  // COPIES-NEXT: ttnvgpu.warp_group_dot
  // COPIES-NOT: fence_async_shared
  // COPIES: tt.return
  tt.func @copies(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %desc: !tt.tensordesc<tensor<64x128xf16, #shared>>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %true: i1, %i: i32, %c: tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #mma> {
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    %0 = ttg.async_copy_global_to_local %p, %a : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
    %1 = ttg.async_commit_group tokens %0
    %2 = ttg.async_wait %1 {num = 0 : i32}
    ttnvgpu.async_tma_copy_global_to_local %desc[%i, %i] %b, %bar, %true : !tt.tensordesc<tensor<64x128xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    %d = ttnvgpu.warp_group_dot %a, %b, %c : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<128x128xf32, #mma>
    tt.return %d : tensor<128x128xf32, #mma>
  }

  // A fence is there already; what a caller did is not known.
  // CHECK-LABEL: @tma_store
  tt.func @tma_store(%x: tensor<128x64xf16, #blocked>, %desc: !tt.tensordesc<tensor<128x64xf16, #shared>>, %i: i32, %buf: !ttg.memdesc<128x64xf16, #shared, #smem>) {
    // CHECK-NEXT: ttg.local_alloc
    // CHECK-NEXT: ttnvgpu.fence_async_shared
    // CHECK-NEXT: ttnvgpu.async_tma_copy_local_to_global
    // CHECK-NEXT: ttg.local_alloc
    // CHECK-NEXT: ttnvgpu.fence_async_shared
    // CHECK-NEXT: ttnvgpu.async_tma_copy_local_to_global
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait
    %0 = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    ttnvgpu.fence_async_shared {bCluster = false}
    ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %0 : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<128x64xf16, #shared, #smem>
    %1 = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %1 : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<128x64xf16, #shared, #smem>
    ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }

  // CHECK-LABEL: @unknown
  tt.func @unknown(%desc: !tt.tensordesc<tensor<128x64xf16, #shared>>, %i: i32, %buf: !ttg.memdesc<128x64xf16, #shared, #smem>) {
    // CHECK-NEXT: ttnvgpu.fence_async_shared
    // CHECK-NEXT: ttnvgpu.async_tma_copy_local_to_global
    ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %buf : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<128x64xf16, #shared, #smem>
    tt.return
  }

  // A wait hands buffers on.
  // CHECK-LABEL: @through_wait
  tt.func @through_wait(%x: tensor<128x64xf16, #blocked>, %b: tensor<64x128xf16, #blocked>, %c: tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #mma> {
    %a0 = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %b0 = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    // CHECK-NOT: fence_async_shared
    // CHECK: ttnvgpu.warp_group_dot_wait
    %0:2 = ttnvgpu.warp_group_dot_wait %c, %a0 {pendings = 0 : i32} : tensor<128x128xf32, #mma>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttg.local_store %x, %0#1 : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    // CHECK: ttnvgpu.fence_async_shared
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    %d = ttnvgpu.warp_group_dot %a0, %b0, %0#0 : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<128x128xf32, #mma>
    tt.return %d : tensor<128x128xf32, #mma>
  }

  // What is on its way is fenced when it was waited for: the second product
  // reads what the first one did.
  // COPIES-LABEL: @copy_for_later
  // COPIES: ttg.async_wait
  // COPIES: ttnvgpu.fence_async_shared
  // COPIES: ttnvgpu.warp_group_dot
  // COPIES: ttg.async_copy_global_to_local
  // COPIES-NOT: ttnvgpu.fence_async_shared
  // COPIES: tt.return
  tt.func @copy_for_later(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %c: tensor<128x128xf32, #mma>, %i: i32, %j: i32) -> tensor<128x128xf32, #mma> {
    %ring = ttg.local_alloc : () -> !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>
    %here = ttg.memdesc_index %ring[%i] : !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %there = ttg.memdesc_index %ring[%j] : !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %bs = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    %s = ttg.async_copy_global_to_local %p, %here : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %s
    %w = ttg.async_wait %g {num = 0 : i32}
    %d = ttnvgpu.warp_group_dot %here, %bs, %c : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<128x128xf32, #mma>
    %t = ttg.async_copy_global_to_local %p, %there : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
    %e = ttnvgpu.warp_group_dot %here, %bs, %d : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<128x128xf32, #mma>
    tt.return %e : tensor<128x128xf32, #mma>
  }

  // Two blocks of a cluster read each other's operands.
  // CHECK-LABEL: @two_ctas
  tt.func @two_ctas(%x: tensor<128x64xf16, #blocked>, %y: tensor<64x128xf16, #blocked>, %p: i1,
                    %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %e: !ttg.memdesc<128x128xf32, #tmem2, #ttnvgpu.tensor_memory, mutable>) {
    // CHECK: ttnvgpu.fence_async_shared {bCluster = false}
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma
    // CHECK-NEXT: ttnvgpu.fence_async_shared {bCluster = true}
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma
    %a = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %b = ttg.local_alloc %y : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x128xf16, #shared, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    ttnvgpu.tc_gen5_mma %a, %b, %e, %p, %p {two_ctas} : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x128xf16, #shared, #smem>, !ttg.memdesc<128x128xf32, #tmem2, #ttnvgpu.tensor_memory, mutable>
    tt.return
  }

  // The first block starts the dot of both: what the other one wrote is fenced
  // before the barrier of the cluster.
  // CHECK-LABEL: @before_the_cluster_barrier
  tt.func @before_the_cluster_barrier(%x: tensor<128x64xf16, #blocked>, %y: tensor<64x128xf16, #blocked>, %p: i1, %e: !ttg.memdesc<128x128xf32, #tmem2, #ttnvgpu.tensor_memory, mutable>) {
    // CHECK: ttnvgpu.fence_async_shared {bCluster = true}
    // CHECK-NEXT: ttnvgpu.cluster_barrier
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma
    %a = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %b = ttg.local_alloc %y : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    ttnvgpu.cluster_barrier {relaxed = false}
    ttnvgpu.tc_gen5_mma %a, %b, %e, %p, %p {two_ctas} : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x128xf16, #shared, #smem>, !ttg.memdesc<128x128xf32, #tmem2, #ttnvgpu.tensor_memory, mutable>
    tt.return
  }

  // The warps that write have to fence, not those that read.
  // CHECK-LABEL: @partitions
  tt.func @partitions(%x: tensor<128x64xf16, #blocked>, %b: !ttg.memdesc<64x128xf16, #shared, #smem>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %y = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    ttg.warp_specialize(%a, %y, %bar, %d)
    default {
      // CHECK: ttg.local_store
      // CHECK-NEXT: ttnvgpu.fence_async_shared
      // CHECK-NEXT: ttnvgpu.arrive_barrier
      ttg.local_store %x, %a : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      ttnvgpu.arrive_barrier %bar, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttg.warp_yield
    }
    // CHECK: partition0
    // CHECK-NOT: fence_async_shared
    // CHECK: ttnvgpu.tc_gen5_mma
    partition0(%pa: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %py: !ttg.memdesc<64x128xf16, #shared, #smem, mutable>, %pbar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %pd: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) num_warps(4) {
      %c0 = arith.constant 0 : i32
      %true = arith.constant true
      ttnvgpu.wait_barrier %pbar, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttnvgpu.tc_gen5_mma %pa, %py, %pd, %true, %true : !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<64x128xf16, #shared, #smem, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
      ttg.warp_return
    } : (!ttg.memdesc<128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<64x128xf16, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) -> ()
    tt.return
  }

  // What threads wrote comes before what TMA writes over it.
  // CHECK-LABEL: @overwritten
  tt.func @overwritten(%x: tensor<128x64xf16, #blocked>, %desc: !tt.tensordesc<tensor<128x64xf16, #shared>>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    // CHECK: ttg.local_store
    // CHECK-NEXT: ttnvgpu.fence_async_shared {bCluster = false}
    // CHECK-NEXT: ttnvgpu.async_tma_copy_global_to_local
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttg.local_store %x, %a : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttnvgpu.async_tma_copy_global_to_local %desc[%c0, %c0] %a, %bar, %true : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    tt.return
  }

  // A buffer that threads only read needs no fence.
  // CHECK-LABEL: @only_read
  // CHECK-NOT: ttnvgpu.fence_async_shared
  // CHECK: tt.return
  tt.func @only_read(%desc: !tt.tensordesc<tensor<128x64xf16, #shared>>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>) -> tensor<128x64xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttnvgpu.async_tma_copy_global_to_local %desc[%c0, %c0] %a, %bar, %true : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %x = ttg.local_load %a : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> tensor<128x64xf16, #blocked>
    ttnvgpu.async_tma_copy_global_to_local %desc[%c0, %c0] %a, %bar, %true : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    tt.return %x : tensor<128x64xf16, #blocked>
  }
}
