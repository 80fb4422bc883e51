// RUN: tile-opt %s -tritongpu-assign-latencies=num-stages=3 -tritongpu-schedule-loops -tritongpu-pipeline | filecheck %s

// TMA gathers the rows of later iterations into a ring of buffers. Copies that
// are needed together arrive at one barrier.
#rows = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot1 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @products
  tt.func @products(%x: !tt.tensordesc<1x32xf16, #shared>, %y: !tt.tensordesc<1x32xf16, #shared>,
                    %i: tensor<32xi32, #rows>, %j: tensor<32xi32, #one>, %n: i32) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    // CHECK-COUNT-2: ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16
    // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
    // CHECK: ttnvgpu.barrier_expect %{{.*}}, 4096
    // CHECK: ttnvgpu.async_tma_gather %arg0[%arg2,
    // Each warp gets four row numbers at a time.
    // CHECK: [[ROWS:%.*]] = ttg.convert_layout %arg3
    // CHECK: ttnvgpu.async_tma_gather %arg1[[[ROWS]],
    // CHECK: scf.for
    // CHECK: ttnvgpu.wait_barrier
    // CHECK-COUNT-2: ttg.local_load
    // CHECK: tt.dot
    // CHECK-COUNT-2: ttnvgpu.async_tma_gather
    %r = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> tensor<32x32xf32, #mma> : i32 {
      %a = tt.descriptor_gather %x[%i, %k] : (!tt.tensordesc<1x32xf16, #shared>, tensor<32xi32, #rows>, i32) -> tensor<32x32xf16, #dot0>
      %b = tt.descriptor_gather %y[%j, %k] : (!tt.tensordesc<1x32xf16, #shared>, tensor<32xi32, #one>, i32) -> tensor<32x32xf16, #dot1>
      %d = tt.dot %a, %b, %acc : tensor<32x32xf16, #dot0> * tensor<32x32xf16, #dot1> -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }

  // What the loop writes through the descriptor may be what it reads.
  // CHECK-LABEL: tt.func @written
  // CHECK-NOT: async_tma_gather
  tt.func @written(%x: !tt.tensordesc<1x32xf16, #shared>, %i: tensor<32xi32, #rows>, %n: i32) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %b = arith.constant dense<1.0> : tensor<32x32xf16, #dot1>
    %r = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> tensor<32x32xf32, #mma> : i32 {
      %a = tt.descriptor_gather %x[%i, %k] : (!tt.tensordesc<1x32xf16, #shared>, tensor<32xi32, #rows>, i32) -> tensor<32x32xf16, #dot0>
      %d = tt.dot %a, %b, %acc : tensor<32x32xf16, #dot0> * tensor<32x32xf16, #dot1> -> tensor<32x32xf32, #mma>
      tt.descriptor_scatter %x[%i, %k], %a : !tt.tensordesc<1x32xf16, #shared>, tensor<32xi32, #rows>, i32, tensor<32x32xf16, #dot0>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}
