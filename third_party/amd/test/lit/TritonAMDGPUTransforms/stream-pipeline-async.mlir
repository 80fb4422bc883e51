// RUN: tile-opt %s -tritonamdgpu-stream-pipeline=use_async_copy=true -tritongpu-pipeline | filecheck %s
// RUN: tile-opt %s -tritonamdgpu-stream-pipeline='use_async_copy=true num_stages=3' -tritongpu-pipeline | filecheck %s -check-prefix=THREE
// RUN: tile-opt %s -tritonamdgpu-stream-pipeline='use_async_copy=true num_stages=100' -tritongpu-pipeline | filecheck %s -check-prefix=MANY
// RUN: tile-opt %s -tritonamdgpu-stream-pipeline -tritongpu-pipeline | filecheck %s -check-prefix=REGISTERS

// Two buffers each: one is filled while the other one is read. Behind the loop, all copies are done.
// CHECK-LABEL: @product
// CHECK-DAG: ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16
// CHECK-DAG: ttg.local_alloc : () -> !ttg.memdesc<2x32x64xf16
// CHECK: ttg.async_copy_global_to_local
// CHECK: ttg.async_copy_global_to_local
// CHECK: scf.for
// CHECK: %[[W:.*]] = ttg.async_wait {{.*}}num = 0
// CHECK: ttg.async_copy_global_to_local {{.*}} mask
// CHECK: ttg.async_commit_group
// CHECK: ttg.async_copy_global_to_local {{.*}} mask
// CHECK: ttg.local_load %{{.*}} token %[[W]]
// CHECK: ttg.local_load %{{.*}} token %[[W]]
// CHECK: tt.dot
// CHECK-NOT: ttg.local_store
// CHECK: scf.yield
// CHECK: ttg.async_wait {num = 0
// CHECK-NEXT: ttg.local_dealloc

// Copies start two iterations ahead: those of one iteration, two groups, may be under way at the wait.
// THREE-LABEL: @product
// THREE-DAG: ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16
// THREE-DAG: ttg.local_alloc : () -> !ttg.memdesc<3x32x64xf16
// THREE-COUNT-4: ttg.async_copy_global_to_local
// THREE: scf.for
// THREE: ttg.async_wait {{.*}}num = 2
// THREE-COUNT-2: ttg.async_copy_global_to_local
// THREE: tt.dot

// Not more buffers than there is memory for.
// MANY-DAG: ttg.local_alloc : () -> !ttg.memdesc<20x64x32xf16
// MANY-DAG: ttg.local_alloc : () -> !ttg.memdesc<20x32x64xf16

// What memory has not in pieces of 16 bytes, and everything without the option, takes registers.
// CHECK-LABEL: @narrow
// CHECK-NOT: ttg.async_copy
// CHECK: ttg.local_store
// REGISTERS-NOT: ttg.async_copy
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @product(%left: tensor<64x32x!tt.ptr<f16>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %right: tensor<32x64x!tt.ptr<f16>, #wide> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %zero: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %left {tt.latency = 1 : i32, loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %y = tt.load %right {tt.latency = 1 : i32, loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<32x64x!tt.ptr<f16>, #wide>
      %xa = ttg.convert_layout %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #a>
      %yb = ttg.convert_layout %y {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<32x64xf16, #wide> -> tensor<32x64xf16, #b>
      %d = tt.dot %xa, %yb, %s {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %r : tensor<64x64xf32, #mma>
  }

  tt.func public @narrow(%left: tensor<64x32x!tt.ptr<f16>, #rows>, %b: tensor<32x64xf16, #b>, %zero: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %left {tt.latency = 1 : i32, loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %xa = ttg.convert_layout %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #a>
      %d = tt.dot %xa, %b, %s {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
