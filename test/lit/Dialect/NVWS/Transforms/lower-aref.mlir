// RUN: tile-opt %s -allow-unregistered-dialect -nvws-lower-aref | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!a = !nvws.aref<[!ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>]>
!c = !nvws.aref<[!ttg.memdesc<1x64x64xf16, #shared, #smem, mutable>]>
!b = !nvws.aref<[!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>]>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // Threads fill one ring, copies the other one. A tensor core reads both.
  // CHECK-LABEL: @product
  // CHECK-SAME: ([[MA:%[^:]*]]: {{.*}}, [[MB:%[^:]*]]: !ttg.memdesc<2x64x64xf16
  tt.func @product(%ma: !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>, %mb: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %d: !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %x: tensor<128x64xf16, #rows>, %desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) {
    %lb = arith.constant 0 : i32
    %step = arith.constant 1 : i32
    %true = arith.constant true
    // CHECK: [[EA:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
    // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 1
    // CHECK: [[FA:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
    // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 1
    %ra = nvws.aref.create %ma : !a
    // CHECK: [[EB:%.*]] = ttg.local_alloc
    // CHECK: [[FB:%.*]] = ttg.local_alloc
    %rb = nvws.aref.create %mb : !b
    // CHECK: scf.for
    scf.for %i = %lb to %n step %step : i32 {
      // CHECK: [[B0:%.*]] = ttg.memdesc_index [[EA]][[[S0:%.*]]] {ttg.partition = array<i32: 0>}
      // CHECK-NEXT: ttnvgpu.wait_barrier [[B0]], %{{.*}} {ttg.partition = array<i32: 0>}
      // CHECK-NEXT: [[V0:%.*]] = ttg.memdesc_index [[MA]][[[S0]]]
      %wa, %t0 = nvws.aref.put.enter %ra {ttg.partition = array<i32: 0>} : !a -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, !ttg.async.token
      // CHECK-NEXT: ttg.local_store %{{.*}}, [[V0]]
      ttg.local_store %x, %wa {ttg.partition = array<i32: 0>} : tensor<128x64xf16, #rows> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
      // CHECK-NEXT: ttnvgpu.fence_async_shared {bCluster = false, ttg.partition = array<i32: 0>}
      // CHECK-NEXT: [[B1:%.*]] = ttg.memdesc_index [[FA]][[[S0]]]
      // CHECK-NEXT: ttnvgpu.arrive_barrier [[B1]], 1 {ttg.partition = array<i32: 0>}
      nvws.aref.put.exit %ra, %t0 [#nvws.async_op<none>] {ttg.partition = array<i32: 0>} : !a, !ttg.async.token
      // CHECK: [[B2:%.*]] = ttg.memdesc_index [[EB]][[[S1:%.*]]] {ttg.partition = array<i32: 2>}
      // CHECK-NEXT: ttnvgpu.wait_barrier [[B2]]
      // CHECK-NEXT: [[V1:%.*]] = ttg.memdesc_index [[MB]][[[S1]]]
      // CHECK-NEXT: [[B3:%.*]] = ttg.memdesc_index [[FB]][[[S1]]]
      // CHECK: ttnvgpu.barrier_expect [[B3]], 8192
      // CHECK-NEXT: ttnvgpu.async_tma_copy_global_to_local %{{.*}} [[V1]], [[B3]]
      %wb, %t1 = nvws.aref.put.enter %rb {ttg.partition = array<i32: 2>} : !b -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, !ttg.async.token
      nvws.descriptor_load %desc[%i, %i] 8192 %wb {ttg.partition = array<i32: 2>} : !tt.tensordesc<tensor<64x64xf16, #shared>>, i32, i32, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      // CHECK-NOT: ttnvgpu.arrive_barrier [[B3]]
      nvws.aref.put.exit %rb, %t1 [#nvws.async_op<tma_load>] {ttg.partition = array<i32: 2>} : !b, !ttg.async.token
      // CHECK: ttnvgpu.wait_barrier
      // CHECK: ttnvgpu.wait_barrier
      %ga, %t2 = nvws.aref.get.enter %ra {ttg.partition = array<i32: 1>} : !a -> !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.async.token
      %gb, %t3 = nvws.aref.get.enter %rb {ttg.partition = array<i32: 1>} : !b -> !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.async.token
      // CHECK: ttnvgpu.tc_gen5_mma
      ttnvgpu.tc_gen5_mma %ga, %gb, %d, %true, %true {is_async, ttg.partition = array<i32: 1>} : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
      // CHECK: ttg.barrier local {ttg.partition = array<i32: 1>}
      // CHECK-NEXT: [[B4:%.*]] = ttg.memdesc_index [[EA]]
      // CHECK-NEXT: ttnvgpu.tc_gen5_commit [[B4]]
      nvws.aref.get.exit %ra, %t2 [#nvws.async_op<tc5mma>] {ttg.partition = array<i32: 1>} : !a, !ttg.async.token
      // CHECK: [[B5:%.*]] = ttg.memdesc_index [[EB]]
      // CHECK-NEXT: ttnvgpu.tc_gen5_commit [[B5]]
      nvws.aref.get.exit %rb, %t3 [#nvws.async_op<tc5mma>] {ttg.partition = array<i32: 1>} : !b, !ttg.async.token
    } {ttg.partition = array<i32: 0, 1, 2>}
    // CHECK: ttnvgpu.inval_barrier
    // CHECK: ttg.local_dealloc
    // CHECK-NOT: nvws.
    tt.return
  }

  // Each partition that reads arrives.
  // CHECK-LABEL: @readers
  tt.func @readers(%ma: !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>) {
    // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 3
    // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 1
    %ra = nvws.aref.create %ma : !a
    %w, %t = nvws.aref.put.enter %ra {ttg.partition = array<i32: 0>} : !a -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, !ttg.async.token
    nvws.aref.put.exit %ra, %t [#nvws.async_op<none>] {ttg.partition = array<i32: 0>} : !a, !ttg.async.token
    %r, %u = nvws.aref.get.enter %ra {ttg.partition = array<i32: 1>} : !a -> !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.async.token
    nvws.aref.get.exit %ra, %u [#nvws.async_op<none>] {ttg.partition = array<i32: 1>} : !a, !ttg.async.token
    %s, %v = nvws.aref.get.enter %ra {ttg.partition = array<i32: 2, 3>} : !a -> !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.async.token
    nvws.aref.get.exit %ra, %v [#nvws.async_op<none>] {ttg.partition = array<i32: 2, 3>} : !a, !ttg.async.token
    tt.return
  }

  // Copies run ahead.
  // CHECK-LABEL: @one_slot
  tt.func @one_slot(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %i: i32) -> tensor<64x64xf16, #rows> {
    // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x1xi64
    %m = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable>
    %r = nvws.aref.create %m : !c
    %w, %t = nvws.aref.put.enter %r : !c -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, !ttg.async.token
    nvws.descriptor_load %desc[%i, %i] 8192 %w : !tt.tensordesc<tensor<64x64xf16, #shared>>, i32, i32, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    nvws.aref.put.exit %r, %t [#nvws.async_op<tma_load>] : !c, !ttg.async.token
    %g, %u = nvws.aref.get.enter %r : !c -> !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.async.token
    %x = ttg.local_load %g : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #rows>
    nvws.aref.get.exit %r, %u [#nvws.async_op<none>] : !c, !ttg.async.token
    tt.return %x : tensor<64x64xf16, #rows>
  }

  // Behind the loop, the one that fills the ring waits until a tensor core has
  // read both slots: its barriers end there.
  // CHECK-LABEL: @ends
  // CHECK: } {ttg.partition = array<i32: 0, 1>
  // CHECK-COUNT-2: ttnvgpu.wait_barrier {{.*}} {ttg.partition = array<i32: 0>, ttg.warp_specialize.tag = 0 : i32}
  // CHECK-NOT: ttnvgpu.wait_barrier
  // CHECK: ttnvgpu.inval_barrier
  tt.func @ends(%ma: !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ra = nvws.aref.create %ma : !a
    scf.for %i = %c0 to %n step %c1 : i32 {
      %w, %t = nvws.aref.put.enter %ra {ttg.partition = array<i32: 0>} : !a -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, !ttg.async.token
      nvws.aref.put.exit %ra, %t [#nvws.async_op<none>] {ttg.partition = array<i32: 0>} : !a, !ttg.async.token
      %r, %u = nvws.aref.get.enter %ra {ttg.partition = array<i32: 1>} : !a -> !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.async.token
      nvws.aref.get.exit %ra, %u [#nvws.async_op<tc5mma>] {ttg.partition = array<i32: 1>} : !a, !ttg.async.token
    } {ttg.partition = array<i32: 0, 1>, ttg.warp_specialize.tag = 0 : i32}
    nvws.aref.destroy %ra {ttg.partition = array<i32: 0>, ttg.warp_specialize.tag = 0 : i32} : !a
    tt.return
  }
}
