// RUN: tile-opt %s -split-input-file -tritongpu-schedule-loops | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // What the early load needs is early too: the address, and its next value.
  // CHECK-LABEL: tt.func @chain
  tt.func @chain(%p: tensor<512x!tt.ptr<f32>, #blocked>, %one: tensor<512xi32, #blocked>, %lb: i32, %ub: i32, %step: i32) -> tensor<512xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    // CHECK: tt.load {{.*}}loop.cluster = 2 : i32, loop.stage = 0 : i32
    // CHECK: tt.addptr {{.*}}loop.cluster = 2 : i32, loop.stage = 0 : i32
    // CHECK: arith.addf {{.*}}loop.cluster = 0 : i32, loop.stage = 2 : i32
    // CHECK: tt.scheduled_max_stage = 2 : i32
    %r:2 = scf.for %i = %lb to %ub step %step iter_args(%q = %p, %sum = %zero) -> (tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xf32, #blocked>) : i32 {
      %x = tt.load %q {tt.latency = 2 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      %next = tt.addptr %q, %one : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %s = arith.addf %sum, %x : tensor<512xf32, #blocked>
      scf.yield %next, %s : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xf32, #blocked>
    }
    tt.return %r#1 : tensor<512xf32, #blocked>
  }

  // A load whose next address comes from what it loads cannot be early.
  // CHECK-LABEL: tt.func @pointer_chase
  // CHECK-NOT: loop.stage
  tt.func @pointer_chase(%p: tensor<512x!tt.ptr<i32>, #blocked>, %lb: i32, %ub: i32, %step: i32) -> tensor<512x!tt.ptr<i32>, #blocked> {
    %r = scf.for %i = %lb to %ub step %step iter_args(%q = %p) -> (tensor<512x!tt.ptr<i32>, #blocked>) : i32 {
      %x = tt.load %q {tt.latency = 1 : i32} : tensor<512x!tt.ptr<i32>, #blocked>
      %next = tt.addptr %q, %x : tensor<512x!tt.ptr<i32>, #blocked>, tensor<512xi32, #blocked>
      scf.yield %next : tensor<512x!tt.ptr<i32>, #blocked>
    }
    tt.return %r : tensor<512x!tt.ptr<i32>, #blocked>
  }

  // The address was loaded in the iteration before, and the loop may have
  // written it: that load cannot be early, so neither can this one.
  // CHECK-LABEL: tt.func @written
  // CHECK-NOT: loop.stage
  tt.func @written(%p: tensor<512x!tt.ptr<i32>, #blocked>, %q: tensor<512x!tt.ptr<i32>, #blocked>, %n: i32) -> tensor<512xi32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0> : tensor<512xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%at = %zero, %sum = %zero) -> (tensor<512xi32, #blocked>, tensor<512xi32, #blocked>) : i32 {
      %a = tt.addptr %q, %at : tensor<512x!tt.ptr<i32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<512x!tt.ptr<i32>, #blocked>
      %next = tt.load %p : tensor<512x!tt.ptr<i32>, #blocked>
      %s = arith.addi %sum, %x : tensor<512xi32, #blocked>
      tt.store %p, %s : tensor<512x!tt.ptr<i32>, #blocked>
      scf.yield %next, %s : tensor<512xi32, #blocked>, tensor<512xi32, #blocked>
    }
    tt.return %r#1 : tensor<512xi32, #blocked>
  }

  // What is taken for granted is noted: of two arguments, one that is read early
  // and one that is written, but not of those that the loop only reads.
  // CHECK-LABEL: tt.func @two_arguments
  // CHECK-SAME: attributes {tt.disjoint_arguments = array<i32: 1, 3>}
  // CHECK: tt.load {{.*}}loop.stage = 0
  tt.func @two_arguments(%r: !tt.ptr<f32>, %p: !tt.ptr<f32>, %n: i32, %q: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sp = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %sq = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %sr = tt.splat %r : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %sp {tt.latency = 2 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      %y = tt.load %sr : tensor<512x!tt.ptr<f32>, #blocked>
      %z = arith.addf %x, %y : tensor<512xf32, #blocked>
      tt.store %sq, %z : tensor<512x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }

  // A loop that is left alone takes nothing for granted.
  // CHECK-LABEL: tt.func @one_argument
  // CHECK-NOT: tt.disjoint_arguments
  // CHECK-NOT: loop.stage
  tt.func @one_argument(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sp = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %sq = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %sp {tt.latency = 2 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      tt.store %sq, %x : tensor<512x!tt.ptr<f32>, #blocked>
      tt.store %sp, %x : tensor<512x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }

  // A loop inside may not end for an iteration that does not exist; what reads a
  // buffer that may change stays, too.
  // CHECK-LABEL: tt.func @inner_loop
  // CHECK-NOT: loop.stage
  tt.func @inner_loop(%p: tensor<512x!tt.ptr<f32>, #blocked>, %n: i32, %c: i1) -> tensor<512xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<512xf32, #blocked>) : i32 {
      %k = scf.while (%a = %i) : (i32) -> i32 {
        %more = arith.cmpi ne, %a, %c0 : i32
        scf.condition(%more) %a : i32
      } do {
      ^bb0(%a: i32):
        %next = arith.subi %a, %c1 : i32
        scf.yield %next : i32
      }
      %o = tt.splat %k : i32 -> tensor<512xi32, #blocked>
      %q = tt.addptr %p, %o : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %q {tt.latency = 2 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      %s = arith.addf %sum, %x : tensor<512xf32, #blocked>
      scf.yield %s : tensor<512xf32, #blocked>
    }
    tt.return %r : tensor<512xf32, #blocked>
  }
}
