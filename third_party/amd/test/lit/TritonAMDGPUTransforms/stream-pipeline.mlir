// RUN: tile-opt %s -tritonamdgpu-stream-pipeline | filecheck %s
// RUN: tile-opt %s -tritonamdgpu-stream-pipeline -tritongpu-pipeline | filecheck %s -check-prefix=LOOP

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
