// RUN: tile-opt %s -triton-loop-aware-cse -canonicalize | filecheck %s

// CHECK-LABEL: tt.func @same
tt.func @same(%x: i32, %n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: %[[R:.*]] = scf.for %{{.*}} iter_args(%[[A:.*]] = %arg0) -> (i32)
  // CHECK-NEXT: %[[A1:.*]] = arith.addi %[[A]], %{{.*}} : i32
  // CHECK-NEXT: scf.yield %[[A1]] : i32
  // CHECK: tt.return %[[R]], %[[R]]
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (i32, i32) : i32 {
    %a1 = arith.addi %a, %c1 : i32
    %b1 = arith.addi %b, %c1 : i32
    scf.yield %a1, %b1 : i32, i32
  }
  tt.return %r#0, %r#1 : i32, i32
}

// Each depends on the other: the same by induction on both.
// CHECK-LABEL: tt.func @mutual
tt.func @mutual(%x: i32, %n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %arg0) -> (i32)
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (i32, i32) : i32 {
    %a1 = arith.muli %b, %i : i32
    %b1 = arith.muli %a, %i : i32
    scf.yield %a1, %b1 : i32, i32
  }
  tt.return %r#0, %r#1 : i32, i32
}

// The third breaks the class it starts in, and with it the second.
// CHECK-LABEL: tt.func @refined
tt.func @refined(%x: i32, %n: i32) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %arg0, %{{.*}} = %arg0, %{{.*}} = %arg0) -> (i32, i32, i32)
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %c = %x) -> (i32, i32, i32) : i32 {
    %a1 = arith.addi %a, %c1 : i32
    %b1 = arith.addi %c, %c1 : i32
    %d1 = arith.muli %c, %i : i32
    scf.yield %a1, %b1, %d1 : i32, i32, i32
  }
  tt.return %r#0, %r#1, %r#2 : i32, i32, i32
}

// Merged in the inner loop, then in the outer one.
// CHECK-LABEL: tt.func @nested
tt.func @nested(%x: i32, %n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for %{{.*}} iter_args(%[[O:.*]] = %arg0) -> (i32)
  // CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %[[O]]) -> (i32)
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (i32, i32) : i32 {
    %s:2 = scf.for %j = %c0 to %n step %c1 iter_args(%e = %a, %f = %a) -> (i32, i32) : i32 {
      %e1 = arith.addi %e, %j : i32
      %f1 = arith.addi %f, %j : i32
      scf.yield %e1, %f1 : i32, i32
    }
    scf.yield %s#0, %s#1 : i32, i32
  }
  tt.return %r#0, %r#1 : i32, i32
}

// Two loads may see different values.
// CHECK-LABEL: tt.func @loads
tt.func @loads(%p: !tt.ptr<f32>, %x: f32, %n: i32) -> (f32, f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %arg1, %{{.*}} = %arg1) -> (f32, f32)
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (f32, f32) : i32 {
    %a1 = tt.load %p : !tt.ptr<f32>
    tt.store %p, %b : !tt.ptr<f32>
    %b1 = tt.load %p : !tt.ptr<f32>
    scf.yield %a1, %b1 : f32, f32
  }
  tt.return %r#0, %r#1 : f32, f32
}
