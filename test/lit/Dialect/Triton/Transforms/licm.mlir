// RUN: tile-opt %s -triton-licm | filecheck %s

// CHECK-LABEL: tt.func @guarded
tt.func @guarded(%p: tensor<8x!tt.ptr<f32>>, %n: i32, %init: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %arg1 : i32
  // CHECK-NEXT: %[[MASK:.*]] = tt.splat %[[ANY]] : i1 -> tensor<8xi1>
  // CHECK-NEXT: %[[V:.*]] = tt.load %arg0, %[[MASK]] : tensor<8x!tt.ptr<f32>>
  // CHECK-NEXT: %[[W:.*]] = arith.mulf %[[V]], %[[V]]
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: arith.addf %{{.*}}, %[[W]]
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<8xf32>) : i32 {
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    %w = arith.mulf %v, %v : tensor<8xf32>
    %a = arith.addf %acc, %w : tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  }
  tt.return %r : tensor<8xf32>
}

// CHECK-LABEL: tt.func @guarded_beside_own_mask
tt.func @guarded_beside_own_mask(%p: !tt.ptr<f32>, %m: i1, %o: f32, %lb: i32, %ub: i32, %init: f32) -> f32 {
  %c1 = arith.constant 1 : i32
  // CHECK: %[[ANY:.*]] = arith.cmpi slt, %arg3, %arg4 : i32
  // CHECK-NEXT: %[[MASK:.*]] = arith.andi %[[ANY]], %arg1 : i1
  // CHECK-NEXT: tt.load %arg0, %[[MASK]], %arg2 : !tt.ptr<f32>
  // CHECK-NEXT: scf.for
  %r = scf.for %i = %lb to %ub step %c1 iter_args(%acc = %init) -> (f32) : i32 {
    %v = tt.load %p, %m, %o : !tt.ptr<f32>
    %a = arith.addf %acc, %v : f32
    scf.yield %a : f32
  }
  tt.return %r : f32
}

// The second load needs the first; the bounds are known.
// CHECK-LABEL: tt.func @dependent
tt.func @dependent(%p: !tt.ptr<i32>, %q: !tt.ptr<f32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  // CHECK: %[[I:.*]] = tt.load %arg0 : !tt.ptr<i32>
  // CHECK-NEXT: %[[P:.*]] = tt.addptr %arg1, %[[I]]
  // CHECK-NEXT: tt.load %[[P]] : !tt.ptr<f32>
  // CHECK-NEXT: scf.for
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %init) -> (f32) : i32 {
    %j = tt.load %p : !tt.ptr<i32>
    %pj = tt.addptr %q, %j : !tt.ptr<f32>, i32
    %v = tt.load %pj : !tt.ptr<f32>
    %a = arith.addf %acc, %v : f32
    scf.yield %a : f32
  }
  tt.return %r : f32
}

// CHECK-LABEL: tt.func @stay
tt.func @stay(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // Something is written, though deep inside.
  // CHECK: scf.for
  // CHECK-NEXT: tt.load
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = tt.load %p : !tt.ptr<f32>
    scf.if %c {
      tt.store %q, %v : !tt.ptr<f32>
    }
  }
  // Volatile.
  // CHECK: scf.for
  // CHECK-NEXT: tt.load
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  }
  // What a call does is not known.
  // CHECK: scf.for
  // CHECK-NEXT: tt.load
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = tt.load %p : !tt.ptr<f32>
    tt.call @use(%v) : (f32) -> ()
  }
  // The source forbids it.
  // CHECK: scf.for
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: arith.cmpf
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = tt.load %p : !tt.ptr<f32>
    %x = arith.cmpf oeq, %v, %v : f32
    tt.assert %x, "x" : i1
  } {llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true>>}
  tt.return
}
tt.func private @use(f32)

// A loop that may not run divides by nothing: a divisor that may be zero stays,
// wherever the division is nested.
// CHECK-LABEL: @divisions
// CHECK: arith.divsi %{{.*}}, %c3
// CHECK-NEXT: scf.for
// CHECK-NEXT: arith.remsi
// CHECK-NEXT: arith.remui
// CHECK-NEXT: arith.divsi
// CHECK-NEXT: scf.if
tt.func @divisions(%x: i32, %y: i32, %n: i32, %c: i1) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0) -> i32 : i32 {
    %1 = arith.remsi %x, %y : i32
    %2 = arith.remui %x, %y : i32
    %3 = arith.divsi %x, %y : i32
    %4 = arith.divsi %x, %c3 : i32
    %5 = scf.if %c -> i32 {
      %10 = arith.remsi %y, %x : i32
      scf.yield %10 : i32
    } else {
      scf.yield %c0 : i32
    }
    %6 = arith.addi %1, %2 : i32
    %7 = arith.addi %3, %4 : i32
    %8 = arith.addi %6, %7 : i32
    %9 = arith.addi %8, %5 : i32
    scf.yield %9 : i32
  }
  tt.return %0 : i32
}
