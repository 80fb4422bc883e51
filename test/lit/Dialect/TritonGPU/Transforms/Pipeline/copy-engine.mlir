// The pipeliner works with a copy engine that it has never heard of
// (test/lib/CopyEngine).

// RUN: tile-opt %s -split-input-file -tritongpu-schedule-loops -tritongpu-pipeline -canonicalize -cse | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "toy:tokens", "ttg.threads-per-warp" = 32 : i32} {
  // Threads wait by tokens. Out of turn, copies write nothing.
  // CHECK-LABEL: tt.func @tokens
  // CHECK: %[[RING:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16
  // CHECK: %[[ANY:.*]] = arith.cmpi sgt
  // CHECK: %[[SLOT:.*]] = ttg.memdesc_index %[[RING]]
  // CHECK: %[[FIRST:.*]] = toy.copy %{{.*}} into %[[SLOT]] if %[[ANY]] :
  // CHECK: %[[SECOND:.*]] = toy.copy
  // CHECK: scf.for {{.*}}%[[FIRST]]{{.*}}%[[SECOND]]
  // CHECK: %[[WAIT:.*]] = toy.wait_for_copies %{{.*}}
  // CHECK: ttg.local_load %{{.*}} token %[[WAIT]]
  // CHECK: toy.copy
  // CHECK: scf.yield
  // CHECK: toy.wait_for_copies{{ *$}}
  // CHECK: ttg.local_dealloc %[[RING]]
  tt.func @tokens(%desc: !tt.tensordesc<tensor<32x32xf16>>, %n: i32) -> tensor<32x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf16, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf16, #blocked>) : i32 {
      %x = tt.descriptor_load %desc[%i, %c0] {tt.latency = 2 : i32} : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16, #blocked>
      %s = arith.addf %acc, %x : tensor<32x32xf16, #blocked>
      scf.yield %s : tensor<32x32xf16, #blocked>
    }
    tt.return %r : tensor<32x32xf16, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "toy:flags", "ttg.threads-per-warp" = 32 : i32} {
  // Copies arrive at flags, which are told of their bytes first. What threads
  // copy by themselves is waited for beside that.
  // CHECK-LABEL: tt.func @flags
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16
  // CHECK: %[[FLAGS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi32
  // CHECK-COUNT-2: toy.make_flag %{{.*}}, 1
  // CHECK: toy.announce %[[FLAG:.*]], 2048 if %[[ANY:.*]] :
  // CHECK: toy.copy %{{.*}} if %[[ANY]] at %[[FLAG]]
  // CHECK: scf.for
  // CHECK: toy.wait %{{.*}} for
  // CHECK: ttg.local_load
  // CHECK: toy.announce
  // CHECK: toy.copy
  // CHECK: scf.yield
  // CHECK-COUNT-2: toy.end_flag
  // CHECK: ttg.local_dealloc %[[FLAGS]]
  tt.func @flags(%desc: !tt.tensordesc<tensor<32x32xf16>>, %p: tensor<32x32x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<32x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf16, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf16, #blocked>) : i32 {
      %x = tt.descriptor_load %desc[%i, %c0] {tt.latency = 2 : i32} : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16, #blocked>
      %y = tt.load %p {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>
      %z = arith.addf %x, %y : tensor<32x32xf16, #blocked>
      %s = arith.addf %acc, %z : tensor<32x32xf16, #blocked>
      scf.yield %s : tensor<32x32xf16, #blocked>
    }
    tt.return %r : tensor<32x32xf16, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "toy:ahead", "ttg.threads-per-warp" = 32 : i32} {
  // Rings with a buffer more. What threads store has one buffer, which is written
  // at the end of the iteration before. It is read in each layout that is wanted.
  // CHECK-LABEL: tt.func @ahead
  // CHECK-DAG: %[[RING:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16
  // CHECK-DAG: %[[ONE:.*]] = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16
  // CHECK: toy.copy
  // CHECK: %[[FIRST:.*]] = tt.load
  // CHECK: ttg.local_store %[[FIRST]], %[[ONE]]
  // CHECK: scf.for
  // CHECK: %[[WAIT:.*]] = toy.wait_for_copies %{{.*}}
  // CHECK: ttg.local_load %{{.*}} token %[[WAIT]]
  // CHECK-DAG: ttg.local_load %[[ONE]] : {{.*}} -> tensor<32x32xf16, #blocked>
  // CHECK-DAG: ttg.local_load %[[ONE]] : {{.*}} -> tensor<32x32xf16, #blocked1>
  // CHECK: toy.copy
  // CHECK: %[[NEXT:.*]] = tt.load
  // CHECK: ttg.local_store %[[NEXT]], %[[ONE]]
  // CHECK: scf.yield
  tt.func @ahead(%desc: !tt.tensordesc<tensor<32x32xf16>>, %p: tensor<32x32x!tt.ptr<f16>, #blocked>, %n: i32) -> (tensor<32x32xf16, #blocked>, tensor<32x32xf16, #other>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf16, #blocked>
    %zeros = arith.constant dense<0.0> : tensor<32x32xf16, #other>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sum = %zeros) -> (tensor<32x32xf16, #blocked>, tensor<32x32xf16, #other>) : i32 {
      %x = tt.descriptor_load %desc[%i, %c0] {tt.latency = 1 : i32} : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16, #blocked>
      %y = tt.load %p {tt.latency = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>
      %z = arith.addf %x, %y : tensor<32x32xf16, #blocked>
      %s = arith.addf %acc, %z : tensor<32x32xf16, #blocked>
      %turned = ttg.convert_layout %y : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #other>
      %t = arith.addf %sum, %turned : tensor<32x32xf16, #other>
      scf.yield %s, %t : tensor<32x32xf16, #blocked>, tensor<32x32xf16, #other>
    }
    tt.return %r#0, %r#1 : tensor<32x32xf16, #blocked>, tensor<32x32xf16, #other>
  }
}
