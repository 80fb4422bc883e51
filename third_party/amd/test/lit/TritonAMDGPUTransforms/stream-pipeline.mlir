// RUN: tile-opt %s -split-input-file -tritonamdgpu-stream-pipeline | filecheck %s
// RUN: tile-opt %s -split-input-file -tritonamdgpu-stream-pipeline -tritongpu-pipeline | filecheck %s -check-prefix=LOOP

// The load comes first in the body and stays in registers: no copies to shared memory.
// CHECK-LABEL: @sum
// CHECK: tt.load
// CHECK-SAME: {loop.cluster = 0 : i32, loop.stage = 0 : i32}
// CHECK: arith.addf
// CHECK-SAME: {loop.cluster = 1 : i32, loop.stage = 1 : i32}
// LOOP-LABEL: @sum
// LOOP: %[[FIRST:.*]] = tt.load
// LOOP: scf.for {{.*}}iter_args(%[[SUM:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[HELD:.*]] = %[[FIRST]])
// LOOP: %[[NEXT:.*]] = tt.load
// LOOP: arith.addf %[[SUM]], %[[HELD]]
// LOOP: scf.yield {{.*}}%[[NEXT]]
// LOOP-NOT: ttg.local_alloc
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @sum(%start: tensor<1024x!tt.ptr<f32>, #blocked>, %zero: tensor<1024xf32, #blocked>, %step: tensor<1024xi32, #blocked>, %n: i32) -> tensor<1024xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %p = %start) -> (tensor<1024xf32, #blocked>, tensor<1024x!tt.ptr<f32>, #blocked>) : i32 {
      %x = tt.load %p {tt.latency = 1 : i32, loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<1024x!tt.ptr<f32>, #blocked>
      %t = arith.addf %s, %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<1024xf32, #blocked>
      %q = tt.addptr %p, %step {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      scf.yield %t, %q : tensor<1024xf32, #blocked>, tensor<1024x!tt.ptr<f32>, #blocked>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %r#0 : tensor<1024xf32, #blocked>
  }
}

// -----

// Operands keep their latency: the pipeliner has threads write them to LDS at the end of the body, neighbours along K together: A so that
// lanes read what two instructions take with one access, B after lanes have turned what they hold.
// CHECK-LABEL: @product
// CHECK: tt.load {{.*}}{loop.cluster = 0 : i32, loop.stage = 0 : i32, tt.latency = 1 : i32}
// CHECK: tt.load {{.*}}{loop.cluster = 0 : i32, loop.stage = 0 : i32, tt.latency = 1 : i32}
// CHECK: ttg.convert_layout {{.*}}{loop.cluster = 1 : i32, loop.stage = 1 : i32}
// LOOP: #[[A:.*]] = #ttg.shared_linear<{offset = {{\[\[}}0, 1], [0, 2], [0, 8], [1, 0], [2, 0], [4, 0], [0, 4], [8, 0], [16, 0], [32, 0], [4, 16]]}, alignment = 16>
// LOOP: #[[B:.*]] = #ttg.amd_rotating_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [0, 1]}>
// LOOP-LABEL: @product
// LOOP-DAG: %[[BUFFER_A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #[[A]], #smem, mutable>
// LOOP-DAG: %[[BUFFER_B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #[[B]], #smem, mutable>

// The first store is before the loop; no register but the result's goes round.
// LOOP: ttg.local_store
// LOOP: ttg.local_store
// LOOP: scf.for
// LOOP: tt.load
// LOOP: tt.load
// LOOP: ttg.local_load %[[BUFFER_A]]
// LOOP: ttg.local_load %[[BUFFER_B]]
// LOOP: tt.dot
// LOOP: ttg.local_store %{{.*}}, %[[BUFFER_A]] {loop.unguarded}
// LOOP: ttg.local_store %{{.*}}, %[[BUFFER_B]] {loop.unguarded}
// LOOP: scf.yield
// LOOP: ttg.local_dealloc
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#pairs = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @product(%left: tensor<64x32x!tt.ptr<f16>, #rows>, %right: tensor<32x64x!tt.ptr<f16>, #pairs>, %zero: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %left {tt.latency = 1 : i32, loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #rows>
      %y = tt.load %right {tt.latency = 1 : i32, loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<32x64x!tt.ptr<f16>, #pairs>
      %xa = ttg.convert_layout %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #a>
      %yb = ttg.convert_layout %y {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<32x64xf16, #pairs> -> tensor<32x64xf16, #b>
      %d = tt.dot %xa, %yb, %s {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// With two products of 64 registers each, and factors of as many, loads start when the first one is done.
// CHECK-LABEL: @crowded
// CHECK: tt.load {{.*}}loop.cluster = 1 : i32, loop.stage = 0
// CHECK: tt.load {{.*}}loop.cluster = 1 : i32, loop.stage = 0
// CHECK: ttg.convert_layout {{.*}}loop.cluster = 0 : i32, loop.stage = 1
// CHECK: tt.dot {{.*}}loop.cluster = 0 : i32, loop.stage = 1
// CHECK: tt.dot {{.*}}loop.cluster = 2 : i32, loop.stage = 1
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [4, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @crowded(%q: tensor<128x64xf16, #a>, %keys: tensor<64x64x!tt.ptr<f16>, #columns>, %values: tensor<64x64x!tt.ptr<f16>, #rows>, %zero: tensor<128x64xf32, #mma>, %n: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %k = tt.load %keys {tt.latency = 1 : i32, loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #columns>
      %v = tt.load %values {tt.latency = 1 : i32, loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #rows>
      %kb = ttg.convert_layout %k {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #b>
      %x = tt.dot %q, %kb, %zero {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      %y = arith.truncf %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %p = ttg.convert_layout %y {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
      %vb = ttg.convert_layout %v {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #b>
      %d = tt.dot %p, %vb, %s {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      scf.yield %d : tensor<128x64xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %r : tensor<128x64xf32, #mma>
  }
}
