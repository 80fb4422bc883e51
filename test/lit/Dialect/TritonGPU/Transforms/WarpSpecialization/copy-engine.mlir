// The partitioner works with a copy engine and barriers that it has never heard
// of (test/lib/CopyEngine). A machine without barriers is refused.

// RUN: tile-opt %s -split-input-file -verify-diagnostics -tritongpu-partition-loops -canonicalize | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "toy:flags", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @flags
  // CHECK: %[[RING:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16
  // CHECK: %[[FULL:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi32
  // CHECK: %[[EMPTY:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi32
  // CHECK-COUNT-2: toy.make_flag %{{.*}}, 1 :
  // CHECK-COUNT-2: toy.make_flag %{{.*}}, 4 :
  // CHECK: ttg.warp_specialize
  // CHECK: default {
  // CHECK: scf.for
  // CHECK: %[[F:.*]] = ttg.memdesc_index %[[FULL]]
  // CHECK: toy.wait %[[F]], %{{.*}} for %[[RING]]
  // CHECK: ttg.local_load
  // CHECK: %[[E:.*]] = ttg.memdesc_index %[[EMPTY]]
  // CHECK: toy.arrive %[[E]], 4 :
  // CHECK: ttg.warp_yield
  // CHECK: partition0({{.*}}) num_warps(1) {
  // CHECK: scf.for
  // CHECK: toy.wait
  // CHECK: toy.announce %[[G:.*]], 2048
  // CHECK: toy.copy {{.*}} at %[[G]]
  // CHECK-NOT: toy.arrive
  // CHECK: ttg.warp_return
  // CHECK-COUNT-4: toy.end_flag
  tt.func @flags(%desc: !tt.tensordesc<tensor<32x32xf16>>, %n: i32) -> tensor<32x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf16, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf16, #blocked>) : i32 {
      %x = tt.descriptor_load %desc[%i, %c0] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16, #blocked>
      %s = arith.addf %acc, %x : tensor<32x32xf16, #blocked>
      scf.yield %s : tensor<32x32xf16, #blocked>
    } {tt.num_stages = 2 : i32, tt.warp_specialize}
    tt.return %r : tensor<32x32xf16, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "toy:flags", "ttg.threads-per-warp" = 32 : i32} {
  // Threads that copy by themselves arrive at the flags as their copies do.
  // CHECK-LABEL: tt.func @threads
  // CHECK-COUNT-2: toy.make_flag %{{.*}}, 132 :
  // CHECK: ttg.warp_specialize
  // CHECK: partition0({{.*}}) num_warps(4) {
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: toy.arrive_after_copies %[[F:.*]] :
  // CHECK: toy.arrive %[[F]], 4 :
  tt.func @threads(%p: tensor<512x!tt.ptr<f32>, #blocked>, %n: i32) -> tensor<512xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<512xf32, #blocked>) : i32 {
      %x = tt.load %p {ttg.partition = 0 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      %s = arith.addf %acc, %x : tensor<512xf32, #blocked>
      scf.yield %s : tensor<512xf32, #blocked>
    } {tt.num_stages = 2 : i32, tt.warp_specialize}
    tt.return %r : tensor<512xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "toy:tokens", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @none(%p: tensor<512x!tt.ptr<f32>, #blocked>, %n: i32) -> tensor<512xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    // expected-error @below {{this machine has no barriers by which groups of warps could hand buffers to each other}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<512xf32, #blocked>) : i32 {
      %x = tt.load %p {ttg.partition = 0 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      %s = arith.addf %acc, %x : tensor<512xf32, #blocked>
      scf.yield %s : tensor<512xf32, #blocked>
    } {tt.num_stages = 2 : i32, tt.warp_specialize}
    tt.return %r : tensor<512xf32, #blocked>
  }
}
