// RUN: tile-opt %s -split-input-file -tritongpu-partition-loops -canonicalize | filecheck %s

// Two chains of dots share what is loaded, and nothing else. A second group of
// warps has one of them. Both wait for the buffers and hand them back. What the
// second group has at the end comes through shared memory.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!desc = !tt.tensordesc<tensor<64x64xf16, #shared>>
!tile = tensor<64x64xf16, #blocked>
!left = !ttg.memdesc<128x64xf16, #shared, #smem>
!right = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!weights = !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
!row = tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @chains
  // CHECK-SAME: , %[[LEFT0:[^:,]+]]: !ttg.memdesc<128x64xf16,
  // CHECK-SAME: , %[[LEFT1:[^:,]+]]: !ttg.memdesc<128x64xf16,
  // CHECK: %[[BUFFER:.*]] = ttg.local_alloc : () -> !ttg.memdesc<128xf32
  // Two groups of four warps, and the dots of both.
  // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 10 :
  // CHECK: ttg.warp_specialize
  // CHECK-SAME: requestedRegisters = array<i32: 40, 232>
  // CHECK: default {
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: ttnvgpu.tc_gen5_mma %[[LEFT0]]
  // CHECK-NOT: tc_gen5_mma %[[LEFT1]]
  // CHECK: ttnvgpu.tc_gen5_mma
  // CHECK: ttnvgpu.tc_gen5_commit
  // CHECK: ttnvgpu.arrive_barrier %{{.*}}, 4
  // CHECK-NOT: tc_gen5_mma
  // CHECK: ttg.warp_yield
  // CHECK: partition0({{.*}}) num_warps(1) {
  // CHECK: ttnvgpu.async_tma_copy_global_to_local
  // CHECK: partition1({{.*}}) num_warps(4) {
  // CHECK: %[[LAST:[^:]*]]:3 = scf.for
  // CHECK: ttnvgpu.wait_barrier
  // CHECK-COUNT-2: ttnvgpu.tc_gen5_mma
  // CHECK: ttg.local_store %[[LAST]]#0
  // CHECK: ttg.warp_return
  // CHECK: ttg.local_load %[[BUFFER]]
  tt.func @chains(%k: !desc, %q0: !left, %q1: !left, %o0: !sum, %o1: !sum, %n: i32) -> (!row, !row) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    %false = arith.constant false
    %zero = arith.constant dense<0.0> : !row
    %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%t0 = %zero, %t1 = %zero) -> (!row, !row) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] {ttg.partition = 0 : i32} : !desc -> !tile
      %b = ttg.local_alloc %x : (!tile) -> !right
      %s0 = ttnvgpu.tmem_alloc : () -> !sum
      ttnvgpu.tc_gen5_mma %q0, %b, %s0, %false, %true : !left, !right, !sum
      %s1 = ttnvgpu.tmem_alloc : () -> !sum
      ttnvgpu.tc_gen5_mma %q1, %b, %s1, %false, %true : !left, !right, !sum
      %l0 = ttnvgpu.tmem_load %s0 : !sum -> tensor<128x64xf32, #rows>
      %l1 = ttnvgpu.tmem_load %s1 : !sum -> tensor<128x64xf32, #rows>
      %m0 = "tt.reduce"(%l0) <{axis = 1 : i32}> ({
      ^bb0(%u: f32, %v: f32):
        %w = arith.addf %u, %v : f32
        tt.reduce.return %w : f32
      }) : (tensor<128x64xf32, #rows>) -> !row
      %m1 = "tt.reduce"(%l1) <{axis = 1 : i32}> ({
      ^bb0(%u: f32, %v: f32):
        %w = arith.addf %u, %v : f32
        tt.reduce.return %w : f32
      }) : (tensor<128x64xf32, #rows>) -> !row
      %n0 = arith.addf %t0, %m0 : !row
      %n1 = arith.addf %t1, %m1 : !row
      %h0 = arith.truncf %l0 : tensor<128x64xf32, #rows> to tensor<128x64xf16, #rows>
      %h1 = arith.truncf %l1 : tensor<128x64xf32, #rows> to tensor<128x64xf16, #rows>
      %p0 = ttnvgpu.tmem_alloc %h0 : (tensor<128x64xf16, #rows>) -> !weights
      %p1 = ttnvgpu.tmem_alloc %h1 : (tensor<128x64xf16, #rows>) -> !weights
      ttnvgpu.tc_gen5_mma %p0, %b, %o0, %true, %true : !weights, !right, !sum
      ttnvgpu.tc_gen5_mma %p1, %b, %o1, %true, %true : !weights, !right, !sum
      scf.yield %n0, %n1 : !row, !row
    } {tt.num_stages = 2 : i32, tt.warp_specialize}
    tt.return %r#0, %r#1 : !row, !row
  }
}

// -----

// What a chain computes goes to the other one: there is one chain.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!desc = !tt.tensordesc<tensor<64x64xf16, #shared>>
!tile = tensor<64x64xf16, #blocked>
!left = !ttg.memdesc<128x64xf16, #shared, #smem>
!right = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!weights = !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @chain
  // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 5 :
  // CHECK: partition0(
  // CHECK-NOT: partition1(
  tt.func @chain(%k: !desc, %q0: !left, %q1: !left, %o0: !sum, %o1: !sum, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    %false = arith.constant false
    scf.for %i = %c0 to %n step %c64 : i32 {
      %x = tt.descriptor_load %k[%i, %c0] {ttg.partition = 0 : i32} : !desc -> !tile
      %b = ttg.local_alloc %x : (!tile) -> !right
      %s0 = ttnvgpu.tmem_alloc : () -> !sum
      ttnvgpu.tc_gen5_mma %q0, %b, %s0, %false, %true : !left, !right, !sum
      %s1 = ttnvgpu.tmem_alloc : () -> !sum
      ttnvgpu.tc_gen5_mma %q1, %b, %s1, %false, %true : !left, !right, !sum
      %l0 = ttnvgpu.tmem_load %s0 : !sum -> tensor<128x64xf32, #rows>
      %l1 = ttnvgpu.tmem_load %s1 : !sum -> tensor<128x64xf32, #rows>
      %d1 = arith.addf %l0, %l1 : tensor<128x64xf32, #rows>
      %h0 = arith.truncf %l0 : tensor<128x64xf32, #rows> to tensor<128x64xf16, #rows>
      %h1 = arith.truncf %d1 : tensor<128x64xf32, #rows> to tensor<128x64xf16, #rows>
      %p0 = ttnvgpu.tmem_alloc %h0 : (tensor<128x64xf16, #rows>) -> !weights
      %p1 = ttnvgpu.tmem_alloc %h1 : (tensor<128x64xf16, #rows>) -> !weights
      ttnvgpu.tc_gen5_mma %p0, %b, %o0, %true, %true : !weights, !right, !sum
      ttnvgpu.tc_gen5_mma %p1, %b, %o1, %true, %true : !weights, !right, !sum
    } {tt.num_stages = 2 : i32, tt.warp_specialize}
    tt.return
  }
}
