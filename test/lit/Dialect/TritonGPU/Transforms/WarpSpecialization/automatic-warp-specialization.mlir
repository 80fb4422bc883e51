// RUN: tile-opt %s -tritongpu-automatic-warp-specialization | filecheck %s
// RUN: tile-opt %s -tritongpu-automatic-warp-specialization=supported=false | filecheck %s --check-prefix NONE

// One pass chooses what is loaded early, gives it to a partition and divides the
// loop. Where the target has no barriers in memory, the mark goes and the loop stays.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @marked
  // CHECK: %[[RING:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x512xf32
  // CHECK: ttg.warp_specialize
  // CHECK: default {
  // CHECK: scf.for
  // CHECK: ttg.local_load
  // CHECK: arith.addf
  // CHECK: partition0({{.*}}) num_warps(4) {
  // CHECK: scf.for
  // CHECK: ttg.async_copy_global_to_local
  // CHECK-NOT: tt.warp_specialize

  // NONE-LABEL: tt.func @marked
  // NONE: scf.for
  // NONE: tt.load
  // NONE-NOT: warp_specialize
  tt.func @marked(%p: !tt.ptr<f32>, %n: i32) -> tensor<512xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<512xf32, #blocked>) : i32 {
      %pi = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %sp = tt.splat %pi : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
      %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %ap : tensor<512x!tt.ptr<f32>, #blocked>
      %s = arith.addf %acc, %x : tensor<512xf32, #blocked>
      scf.yield %s : tensor<512xf32, #blocked>
    } {tt.num_stages = 3 : i32, tt.warp_specialize}
    tt.return %r : tensor<512xf32, #blocked>
  }

  // No stages are as one: a ring of one buffer.
  // CHECK-LABEL: tt.func @no_stages
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<1x512xf32
  // CHECK: ttg.warp_specialize
  tt.func @no_stages(%p: !tt.ptr<f32>, %n: i32) -> tensor<512xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<512xf32, #blocked>) : i32 {
      %pi = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %sp = tt.splat %pi : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
      %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %ap : tensor<512x!tt.ptr<f32>, #blocked>
      %s = arith.addf %acc, %x : tensor<512xf32, #blocked>
      scf.yield %s : tensor<512xf32, #blocked>
    } {tt.num_stages = 0 : i32, tt.warp_specialize}
    tt.return %r : tensor<512xf32, #blocked>
  }

  // A loop without the mark is left alone, and so is its schedule.
  // CHECK-LABEL: tt.func @plain
  // CHECK-NOT: ttg.warp_specialize
  // CHECK: tt.load %{{.*}} {loop.cluster = 0 : i32, loop.stage = 0 : i32}
  tt.func @plain(%p: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %pi = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %x = tt.load %pi {loop.cluster = 0 : i32, loop.stage = 0 : i32} : !tt.ptr<f32>
      tt.store %pi, %x {loop.cluster = 0 : i32, loop.stage = 1 : i32} : !tt.ptr<f32>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return
  }
}
