// RUN: tile-opt %s -load-decisions-once | filecheck %s

#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {

// What is stored only may differ.
// CHECK-LABEL: @branch
tt.func public @branch(%p: !tt.ptr<i32>) {
  // CHECK: tt.load %arg0 {tile.loaded_once} : !tt.ptr<i32>
  // CHECK: tt.load %arg0 : !tt.ptr<i32>
  %zero = arith.constant 0 : i32
  %0 = tt.load %p : !tt.ptr<i32>
  %1 = tt.load %p : !tt.ptr<i32>
  %c = arith.cmpi eq, %0, %zero : i32
  scf.if %c {
    tt.store %p, %1 : !tt.ptr<i32>
  }
  tt.return
}

// Nothing writes this argument, if it is not the other one: the launcher looks.
// CHECK-LABEL: @read_only
// CHECK-SAME: tt.disjoint_arguments = array<i32: 0, 1>
tt.func public @read_only(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  // CHECK-NOT: tile.loaded_once
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = tt.load %p : !tt.ptr<i32>
  scf.for %i = %zero to %n step %one : i32 {
    tt.store %q, %i : !tt.ptr<i32>
  }
  tt.return
}

// Through the arguments of loops: one decides, the other does not.
// CHECK-LABEL: @carried
tt.func public @carried(%p: !tt.ptr<i32>, %n: i32) -> i32 {
  // CHECK: tt.load %{{.*}} {tile.loaded_once}
  // CHECK: tt.load %{{.*}} : !tt.ptr<i32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%at = %zero, %sum = %zero) -> (i32, i32) : i32 {
    %q = tt.addptr %p, %at : !tt.ptr<i32>, i32
    tt.store %q, %i : !tt.ptr<i32>
    %next = tt.load %p : !tt.ptr<i32>
    %x = tt.load %p : !tt.ptr<i32>
    %y = arith.addi %sum, %x : i32
    scf.yield %next, %y : i32, i32
  }
  tt.return %r#1 : i32
}

// One element, of which every thread has a copy; not so of 128 elements.
// CHECK-LABEL: @blocks
tt.func public @blocks(%p: tensor<1x!tt.ptr<i32>, #one>, %q: tensor<128x!tt.ptr<i32>, #one>) {
  // CHECK: tt.load %arg0 {tile.loaded_once}
  // CHECK: tt.load %arg1 : tensor
  %zero = arith.constant 0 : i32
  %c = arith.constant dense<1> : tensor<128xi32, #one>
  %0 = tt.load %p : tensor<1x!tt.ptr<i32>, #one>
  %1 = tt.load %q : tensor<128x!tt.ptr<i32>, #one>
  %2 = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%x: i32, %y: i32):
    %s = arith.addi %x, %y : i32
    tt.reduce.return %s : i32
  }) : (tensor<1xi32, #one>) -> i32
  %3 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
  ^bb0(%x: i32, %y: i32):
    %s = arith.addi %x, %y : i32
    tt.reduce.return %s : i32
  }) : (tensor<128xi32, #one>) -> i32
  %4 = arith.cmpi eq, %2, %3 : i32
  scf.if %4 {
    tt.store %q, %c : tensor<128x!tt.ptr<i32>, #one>
  }
  tt.store %p, %0 : tensor<1x!tt.ptr<i32>, #one>
  tt.return
}

// What is called may write anything, and so may who calls.
// CHECK-LABEL: @calls
tt.func public @calls(%p: !tt.ptr<!tt.ptr<i32>>) -> i32 {
  // CHECK: tt.load %arg0 {tile.loaded_once}
  %q = tt.load %p : !tt.ptr<!tt.ptr<i32>>
  %0 = tt.call @callee(%q) : (!tt.ptr<i32>) -> i32
  tt.return %0 : i32
}

// CHECK-LABEL: @callee
tt.func private @callee(%p: !tt.ptr<i32>) -> i32 attributes {noinline = true} {
  // CHECK: tt.load %arg0 {tile.loaded_once}
  // CHECK: tt.load %{{.*}} : !tt.ptr<i32>
  %i = tt.load %p : !tt.ptr<i32>
  %q = tt.addptr %p, %i : !tt.ptr<i32>, i32
  %0 = tt.load %q : !tt.ptr<i32>
  tt.return %0 : i32
}

}
