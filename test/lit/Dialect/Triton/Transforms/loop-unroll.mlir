// RUN: tile-opt %s -triton-loop-unroll -split-input-file -verify-diagnostics | filecheck %s

// CHECK-LABEL: tt.func @dynamic
tt.func @dynamic(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // A loop that ends before it begins has no iterations left over.
  // CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
  // CHECK: scf.for
  // CHECK: tt.store
  // CHECK: tt.store
  // CHECK-NOT: tt.store
  // CHECK: } {tt.num_stages = 3 : i32}
  // CHECK: scf.for
  // CHECK: tt.store
  // CHECK-NOT: tt.store
  // CHECK: } {tt.num_stages = 1 : i32}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32, tt.num_stages = 3 : i32}
  tt.return
}

// -----

// Nothing is left over.
// CHECK-LABEL: tt.func @static
tt.func @static(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4_i32
  // CHECK-COUNT-4: tt.store
  // CHECK-NOT: tt.store
  // CHECK: }
  // CHECK-NOT: scf.for
  scf.for %i = %c0 to %c8 step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 4 : i32}
  tt.return
}

// -----

// CHECK-LABEL: tt.func @not_asked
tt.func @not_asked(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: }
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  }
  // CHECK: scf.for
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: }
  // CHECK-NOT: tt.loop_unroll_factor
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 1 : i32}
  tt.return
}

// -----

tt.func @malformed(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-error @+1 {{expected a positive integer as 'tt.loop_unroll_factor', found -2 : i32}}
  scf.for %i = %c0 to %n step %c1 : i32 {
  } {tt.loop_unroll_factor = -2 : i32}
  tt.return
}
