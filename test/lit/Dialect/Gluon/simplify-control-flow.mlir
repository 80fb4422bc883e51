// RUN: tile-opt %s -gluon-simplify-control-flow | filecheck %s

// CHECK-LABEL: tt.func @branch
// CHECK-NOT: scf.if
// CHECK: tt.store %{{.*}}, %[[V:.+]] : !tt.ptr<i32>
// CHECK-NOT: tt.store
tt.func @branch(%p: !tt.ptr<i32>, %x: i32, %y: i32) {
  %true = arith.constant true
  scf.if %true {
    tt.store %p, %x : !tt.ptr<i32>
  } else {
    tt.store %p, %y : !tt.ptr<i32>
  }
  tt.return
}

// Nothing but control flow is folded.
// CHECK-LABEL: tt.func @arithmetic
// CHECK: arith.addi
tt.func @arithmetic(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = arith.addi %x, %c0 : i32
  tt.return %0 : i32
}

// CHECK-LABEL: tt.func @unreachable
// CHECK-NOT: ub.poison
tt.func @unreachable(%x: i32) -> i32 {
  tt.return %x : i32
^bb1:  // no predecessors
  %0 = ub.poison : i32
  tt.return %0 : i32
}
