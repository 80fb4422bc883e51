// RUN: tile-opt %s -split-input-file -tritongpu-partition-loops -canonicalize | filecheck %s

// A loop over tiles: each group goes over all of them, and stores its half.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!desc = !tt.tensordesc<tensor<64x64xf16, #shared>>
!out = !tt.tensordesc<tensor<128x64xf32, #shared>>
!tile = tensor<64x64xf16, #blocked>
!left = !ttg.memdesc<128x64xf16, #shared, #smem>
!right = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!weights = !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
!acc = tensor<128x64xf32, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @tiles
  // CHECK-SAME: %[[OUT:[^:,]+]]: !tt.tensordesc<tensor<128x64xf32,
  // CHECK-SAME: , %[[Q0:[^:,]+]]: !ttg.memdesc<128x64xf16,
  // CHECK-SAME: , %[[Q1:[^:,]+]]: !ttg.memdesc<128x64xf16,
  // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 10 :
  // CHECK: default {
  // CHECK: scf.for %[[TILE:[^ ]*]] =
  // CHECK: ttnvgpu.tmem_store
  // CHECK-NOT: ttnvgpu.tmem_store
  // CHECK: scf.for
  // CHECK: tc_gen5_mma %[[Q0]]
  // CHECK-NOT: tc_gen5_mma %[[Q1]]
  // CHECK: tt.descriptor_store %[[OUT]][%[[TILE]],
  // CHECK-NOT: tt.descriptor_store
  // CHECK: ttg.warp_yield
  // CHECK: partition1({{.*}}) num_warps(4) {
  // CHECK: scf.for
  // CHECK: ttnvgpu.tmem_store
  // CHECK-NOT: ttnvgpu.tmem_store
  // CHECK: scf.for
  // CHECK-COUNT-2: tc_gen5_mma
  // CHECK: tt.descriptor_store
  // CHECK-NOT: tt.descriptor_store
  // CHECK: ttg.warp_return
  tt.func @tiles(%k: !desc, %out: !out, %q0: !left, %q1: !left, %o0: !sum, %o1: !sum, %n: i32, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %true = arith.constant true
    %false = arith.constant false
    %zero = arith.constant dense<0.0> : !acc
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      ttnvgpu.tmem_store %zero, %o0, %true : !acc -> !sum
      ttnvgpu.tmem_store %zero, %o1, %true : !acc -> !sum
      scf.for %i = %c0 to %n step %c64 : i32 {
        %x = tt.descriptor_load %k[%i, %c0] {ttg.partition = 0 : i32} : !desc -> !tile
        %b = ttg.local_alloc %x : (!tile) -> !right
        %s0 = ttnvgpu.tmem_alloc : () -> !sum
        ttnvgpu.tc_gen5_mma %q0, %b, %s0, %false, %true : !left, !right, !sum
        %s1 = ttnvgpu.tmem_alloc : () -> !sum
        ttnvgpu.tc_gen5_mma %q1, %b, %s1, %false, %true : !left, !right, !sum
        %l0 = ttnvgpu.tmem_load %s0 : !sum -> !acc
        %l1 = ttnvgpu.tmem_load %s1 : !sum -> !acc
        %h0 = arith.truncf %l0 : !acc to tensor<128x64xf16, #rows>
        %h1 = arith.truncf %l1 : !acc to tensor<128x64xf16, #rows>
        %p0 = ttnvgpu.tmem_alloc %h0 : (tensor<128x64xf16, #rows>) -> !weights
        %p1 = ttnvgpu.tmem_alloc %h1 : (tensor<128x64xf16, #rows>) -> !weights
        ttnvgpu.tc_gen5_mma %p0, %b, %o0, %true, %true : !weights, !right, !sum
        ttnvgpu.tc_gen5_mma %p1, %b, %o1, %true, %true : !weights, !right, !sum
      } {tt.num_stages = 2 : i32}
      %r0 = ttnvgpu.tmem_load %o0 : !sum -> !acc
      %r1 = ttnvgpu.tmem_load %o1 : !sum -> !acc
      %second = arith.addi %t, %c128 : i32
      tt.descriptor_store %out[%t, %c0], %r0 : !out, !acc
      tt.descriptor_store %out[%second, %c0], %r1 : !out, !acc
    } {tt.warp_specialize}
    tt.return
  }
}

// -----

// The end of a tile needs both halves: there is one group.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!desc = !tt.tensordesc<tensor<64x64xf16, #shared>>
!out = !tt.tensordesc<tensor<128x64xf32, #shared>>
!tile = tensor<64x64xf16, #blocked>
!left = !ttg.memdesc<128x64xf16, #shared, #smem>
!right = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!weights = !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
!acc = tensor<128x64xf32, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @both
  // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 5 :
  // CHECK: partition0(
  // CHECK-NOT: partition1(
  tt.func @both(%k: !desc, %out: !out, %q0: !left, %q1: !left, %o0: !sum, %o1: !sum, %n: i32, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %true = arith.constant true
    %false = arith.constant false
    %zero = arith.constant dense<0.0> : !acc
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      ttnvgpu.tmem_store %zero, %o0, %true : !acc -> !sum
      ttnvgpu.tmem_store %zero, %o1, %true : !acc -> !sum
      scf.for %i = %c0 to %n step %c64 : i32 {
        %x = tt.descriptor_load %k[%i, %c0] {ttg.partition = 0 : i32} : !desc -> !tile
        %b = ttg.local_alloc %x : (!tile) -> !right
        %s0 = ttnvgpu.tmem_alloc : () -> !sum
        ttnvgpu.tc_gen5_mma %q0, %b, %s0, %false, %true : !left, !right, !sum
        %s1 = ttnvgpu.tmem_alloc : () -> !sum
        ttnvgpu.tc_gen5_mma %q1, %b, %s1, %false, %true : !left, !right, !sum
        %l0 = ttnvgpu.tmem_load %s0 : !sum -> !acc
        %l1 = ttnvgpu.tmem_load %s1 : !sum -> !acc
        %h0 = arith.truncf %l0 : !acc to tensor<128x64xf16, #rows>
        %h1 = arith.truncf %l1 : !acc to tensor<128x64xf16, #rows>
        %p0 = ttnvgpu.tmem_alloc %h0 : (tensor<128x64xf16, #rows>) -> !weights
        %p1 = ttnvgpu.tmem_alloc %h1 : (tensor<128x64xf16, #rows>) -> !weights
        ttnvgpu.tc_gen5_mma %p0, %b, %o0, %true, %true : !weights, !right, !sum
        ttnvgpu.tc_gen5_mma %p1, %b, %o1, %true, %true : !weights, !right, !sum
      } {tt.num_stages = 2 : i32}
      %r0 = ttnvgpu.tmem_load %o0 : !sum -> !acc
      %r1 = ttnvgpu.tmem_load %o1 : !sum -> !acc
      %second = arith.addi %t, %c128 : i32
      %r2 = arith.addf %r0, %r1 : !acc
      tt.descriptor_store %out[%n, %c0], %r2 : !out, !acc
      tt.descriptor_store %out[%t, %c0], %r0 : !out, !acc
      tt.descriptor_store %out[%second, %c0], %r1 : !out, !acc
    } {tt.warp_specialize}
    tt.return
  }
}

// -----

// A group would read what the other one stores, in its own time.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!desc = !tt.tensordesc<tensor<64x64xf16, #shared>>
!out = !tt.tensordesc<tensor<128x64xf32, #shared>>
!tile = tensor<64x64xf16, #blocked>
!left = !ttg.memdesc<128x64xf16, #shared, #smem>
!right = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!weights = !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
!acc = tensor<128x64xf32, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @again
  // CHECK: partition0(
  // CHECK-NOT: partition1(
  tt.func @again(%k: !desc, %out: !out, %q0: !left, %q1: !left, %o0: !sum, %o1: !sum, %n: i32, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %true = arith.constant true
    %false = arith.constant false
    %zero = arith.constant dense<0.0> : !acc
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      ttnvgpu.tmem_store %zero, %o0, %true : !acc -> !sum
      ttnvgpu.tmem_store %zero, %o1, %true : !acc -> !sum
      scf.for %i = %c0 to %n step %c64 : i32 {
        %x = tt.descriptor_load %k[%i, %c0] {ttg.partition = 0 : i32} : !desc -> !tile
        %b = ttg.local_alloc %x : (!tile) -> !right
        %s0 = ttnvgpu.tmem_alloc : () -> !sum
        ttnvgpu.tc_gen5_mma %q0, %b, %s0, %false, %true : !left, !right, !sum
        %s1 = ttnvgpu.tmem_alloc : () -> !sum
        ttnvgpu.tc_gen5_mma %q1, %b, %s1, %false, %true : !left, !right, !sum
        %l0 = ttnvgpu.tmem_load %s0 : !sum -> !acc
        %l1 = ttnvgpu.tmem_load %s1 : !sum -> !acc
        %h0 = arith.truncf %l0 : !acc to tensor<128x64xf16, #rows>
        %h1 = arith.truncf %l1 : !acc to tensor<128x64xf16, #rows>
        %p0 = ttnvgpu.tmem_alloc %h0 : (tensor<128x64xf16, #rows>) -> !weights
        %p1 = ttnvgpu.tmem_alloc %h1 : (tensor<128x64xf16, #rows>) -> !weights
        ttnvgpu.tc_gen5_mma %p0, %b, %o0, %true, %true : !weights, !right, !sum
        ttnvgpu.tc_gen5_mma %p1, %b, %o1, %true, %true : !weights, !right, !sum
      } {tt.num_stages = 2 : i32}
      %r0 = ttnvgpu.tmem_load %o0 : !sum -> !acc
      %r1 = ttnvgpu.tmem_load %o1 : !sum -> !acc
      %second = arith.addi %t, %c128 : i32
      %old = tt.descriptor_load %out[%n, %c0] : !out -> !acc
      %r3 = arith.addf %r1, %old : !acc
      tt.descriptor_store %out[%n, %c0], %r3 : !out, !acc
      tt.descriptor_store %out[%t, %c0], %r0 : !out, !acc
      tt.descriptor_store %out[%second, %c0], %r1 : !out, !acc
    } {tt.warp_specialize}
    tt.return
  }
}
