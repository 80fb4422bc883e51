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

// Two of four iterations that the type has room for; twice the step is not in
// it, and the loop stays as it is.
// CHECK-LABEL: tt.func @wide_step
tt.func @wide_step(%p: !tt.ptr<i32>) {
  %first = arith.constant -2147483648 : i32
  %last = arith.constant 2147483647 : i32
  %step = arith.constant 1073741824 : i32
  // CHECK: scf.for %{{.*}} = %c-2147483648_i32 to %c2147483647_i32 step %c1073741824_i32
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: }
  // CHECK-NOT: scf.for
  scf.for %i = %first to %last step %step : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}

// -----

// Bounds of both signs: the distance between them is taken without one.
// CHECK-LABEL: tt.func @wide_span
tt.func @wide_span(%p: !tt.ptr<i32>) {
  %first = arith.constant -1610612736 : i32
  %last = arith.constant 1610612736 : i32
  %step = arith.constant 536870912 : i32
  // CHECK: scf.for %{{.*}} = %c-1610612736_i32 to %c1610612736_i32{{.*}} step %c1073741824_i32
  // CHECK-COUNT-2: tt.store
  // CHECK-NOT: tt.store
  // CHECK-NOT: scf.for
  scf.for %i = %first to %last step %step : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}

// -----

// Four iterations, the last of which begins less than a step before the type
// ends: what they come to, counted in steps, is not in it.
// CHECK-LABEL: tt.func @end_of_type
tt.func @end_of_type(%p: !tt.ptr<i32>) {
  %first = arith.constant 2147483640 : i32
  %last = arith.constant 2147483647 : i32
  %step = arith.constant 2 : i32
  // CHECK: scf.for %{{.*}} = %c2147483640_i32 to %c2147483647_i32{{.*}} step %c4_i32
  // CHECK-COUNT-2: tt.store
  // CHECK-NOT: tt.store
  // CHECK-NOT: scf.for
  scf.for %i = %first to %last step %step : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}

// -----

// No iterations together where the step, known when the kernel runs, times the
// factor is not in the type. Iterations are counted without a sign: with a step
// of 1 there may be 2^32 - 1.
// CHECK-LABEL: tt.func @dynamic_step
tt.func @dynamic_step(%p: !tt.ptr<i32>, %m: i32, %n: i32, %s: i32) {
  // CHECK: %[[COUNT:.*]] = arith.divui %{{.*}}, %arg3
  // CHECK: %[[GROUPS:.*]] = arith.divui %[[COUNT]], %{{.*}}
  // CHECK: %[[FITS:.*]] = arith.cmpi ule, %arg3, %c715827882_i32
  // CHECK: arith.select %[[FITS]], %[[GROUPS]], %c0_i32
  // CHECK: %[[STEP:.*]] = arith.select %[[FITS]], %{{.*}}, %arg3
  // CHECK: scf.for %{{.*}} step %[[STEP]]
  // CHECK-COUNT-3: tt.store
  // CHECK: scf.for %{{.*}} = %{{.*}} to %arg2 step %arg3
  scf.for %i = %m to %n step %s : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 3 : i32}
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
  // expected-error @+1 {{expected 'tt.loop_unroll_factor' to be positive, found -2 : i32}}
  scf.for %i = %c0 to %n step %c1 : i32 {
  } {tt.loop_unroll_factor = -2 : i32}
  tt.return
}
