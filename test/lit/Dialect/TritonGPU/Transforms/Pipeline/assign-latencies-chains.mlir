// RUN: tile-opt %s -tritongpu-assign-latencies | filecheck %s

// Many stages are shared by the loads of a chain; few are for its last one.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @few
  tt.func @few(%p: tensor<128x!tt.ptr<i32>, #blocked>, %n: i32) -> tensor<128xi32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0> : tensor<128xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<128xi32, #blocked>) : i32 {
      // CHECK: tt.load %{{.*}} {tt.latency = 1 : i32}
      %x = tt.load %p : tensor<128x!tt.ptr<i32>, #blocked>
      // CHECK: tt.load %{{.*}} {tt.latency = 1 : i32}
      %p1 = tt.addptr %p, %x : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>
      %y = tt.load %p1 : tensor<128x!tt.ptr<i32>, #blocked>
      // CHECK: tt.load %{{.*}} {tt.latency = 2 : i32}
      %p2 = tt.addptr %p, %y : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>
      %z = tt.load %p2 : tensor<128x!tt.ptr<i32>, #blocked>
      // A chain of one has all stages.
      // CHECK: tt.load %{{.*}} {tt.latency = 2 : i32}
      %by = tt.splat %i : i32 -> tensor<128xi32, #blocked>
      %p3 = tt.addptr %p, %by : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>
      %w = tt.load %p3 : tensor<128x!tt.ptr<i32>, #blocked>
      %s0 = arith.addi %sum, %z : tensor<128xi32, #blocked>
      %s1 = arith.addi %s0, %w : tensor<128xi32, #blocked>
      scf.yield %s1 : tensor<128xi32, #blocked>
    } {tt.num_stages = 3 : i32}
    tt.return %r : tensor<128xi32, #blocked>
  }

  // CHECK-LABEL: tt.func @many
  tt.func @many(%p: tensor<128x!tt.ptr<i32>, #blocked>, %n: i32) -> tensor<128xi32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0> : tensor<128xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<128xi32, #blocked>) : i32 {
      // CHECK: tt.load %{{.*}} {tt.latency = 1 : i32}
      %x = tt.load %p : tensor<128x!tt.ptr<i32>, #blocked>
      // CHECK: tt.load %{{.*}} {tt.latency = 1 : i32}
      %p1 = tt.addptr %p, %x : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>
      %y = tt.load %p1 : tensor<128x!tt.ptr<i32>, #blocked>
      // CHECK: tt.load %{{.*}} {tt.latency = 2 : i32}
      %p2 = tt.addptr %p, %y : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>
      %z = tt.load %p2 : tensor<128x!tt.ptr<i32>, #blocked>
      // A chain of one has all stages.
      // CHECK: tt.load %{{.*}} {tt.latency = 6 : i32}
      %by = tt.splat %i : i32 -> tensor<128xi32, #blocked>
      %p3 = tt.addptr %p, %by : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>
      %w = tt.load %p3 : tensor<128x!tt.ptr<i32>, #blocked>
      %s0 = arith.addi %sum, %z : tensor<128xi32, #blocked>
      %s1 = arith.addi %s0, %w : tensor<128xi32, #blocked>
      scf.yield %s1 : tensor<128xi32, #blocked>
    } {tt.num_stages = 7 : i32}
    tt.return %r : tensor<128xi32, #blocked>
  }
}
