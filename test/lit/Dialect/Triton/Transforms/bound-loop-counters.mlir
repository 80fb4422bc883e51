// RUN: tile-opt %s -triton-bound-loop-counters -canonicalize | filecheck %s

// CHECK-LABEL: @unknown_bound
// CHECK-SAME: %[[LB:.*]]: i32, %[[UB:.*]]: i32, %[[X:.*]]: f32
tt.func @unknown_bound(%lb: i32, %ub: i32, %x: f32) -> f32 {
  // CHECK-DAG: %[[STEP:.*]] = arith.constant 4 : i32
  // CHECK-DAG: %[[LEAST:.*]] = arith.constant -2147483644 : i32
  // CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[LB]], %[[UB]]
  // CHECK-NEXT: %[[MAX:.*]] = arith.maxsi %[[UB]], %[[LEAST]]
  // CHECK-NEXT: %[[LAST:.*]] = arith.subi %[[MAX]], %[[STEP]]
  // CHECK-NEXT: %[[R:.*]]:2 = scf.while (%[[MORE:.*]] = %[[ANY]], %[[I:.*]] = %[[LB]], %[[ACC:.*]] = %[[X]])
  // CHECK-NEXT: scf.condition(%[[MORE]]) %[[I]], %[[ACC]]
  // CHECK-NEXT: } do {
  // CHECK-NEXT: ^bb0(%[[J:.*]]: i32, %[[SUM:.*]]: f32):
  // CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[J]]
  // CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[SUM]], %[[F]]
  // CHECK-NEXT: %[[C:.*]] = arith.cmpi slt, %[[J]], %[[LAST]]
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[J]], %[[STEP]]
  // CHECK-NEXT: scf.yield %[[C]], %[[NEXT]], %[[NEW]]
  // CHECK-NEXT: }
  // CHECK-NEXT: tt.return %[[R]]#1
  %c4 = arith.constant 4 : i32
  %0 = scf.for %i = %lb to %ub step %c4 iter_args(%acc = %x) -> f32 : i32 {
    %f = arith.sitofp %i : i32 to f32
    %1 = arith.addf %acc, %f : f32
    scf.yield %1 : f32
  }
  tt.return %0 : f32
}

// CHECK-LABEL: @unknown_step
tt.func @unknown_step(%n: i32, %step: i32) {
  %c0 = arith.constant 0 : i32
  // CHECK-NOT: scf.for
  scf.for %i = %c0 to %n step %step : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  tt.return
}

// CHECK-LABEL: @unsigned
tt.func @unsigned(%n: i32) {
  // CHECK: arith.cmpi ugt
  // CHECK-NEXT: arith.maxui
  // CHECK: arith.cmpi ult
  %c0 = arith.constant 5 : i32
  %c4 = arith.constant 4 : i32
  scf.for unsigned %i = %c0 to %n step %c4 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  tt.return
}

// The counter of these passes no bound of its type before the loop ends.
// CHECK-LABEL: @bounded
tt.func @bounded(%n: i32) {
  // CHECK-COUNT-2: scf.for
  // CHECK-NOT: scf.while
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c2147483644 = arith.constant 2147483644 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  scf.for %i = %c0 to %c2147483644 step %c4 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  tt.return
}

// CHECK-LABEL: @just_not
tt.func @just_not() {
  // CHECK: scf.while
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c2147483645 = arith.constant 2147483645 : i32
  scf.for %i = %c0 to %c2147483645 step %c4 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  tt.return
}

// An argument that is not large leaves room, and so does what is computed from
// it; the comparison of an unsigned loop asks for the numbers without a sign.
// CHECK-LABEL: @small_bound
tt.func @small_bound(%n: i32 {tt.max = 1073741823 : i32},
                     %m: i32 {tt.non_negative = 1 : i32, tt.max = 1073741823 : i32}) {
  // CHECK-COUNT-3: scf.for
  // CHECK-NOT: scf.while
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %some = arith.muli %pid, %c64 : i32
  %last = arith.minsi %some, %n : i32
  scf.for %i = %some to %last step %c64 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  scf.for unsigned %i = %c0 to %m step %c64 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  scf.for %i = %c0 to %n step %m : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  tt.return
}

// CHECK-LABEL: @small_but_unsigned
tt.func @small_but_unsigned(%n: i32 {tt.max = 1073741823 : i32}) {
  // CHECK: scf.while
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  scf.for unsigned %i = %c0 to %n step %c64 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  tt.return
}

// A counter that meets its bound does not pass it.
// CHECK-LABEL: @multiples
tt.func @multiples(%n: i32 {tt.divisibility = 16 : i32}) {
  // CHECK-COUNT-2: scf.for
  // CHECK-NOT: scf.while
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c32 : i32
  %last = arith.addi %first, %c32 : i32
  scf.for %i = %first to %last step %c32 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  scf.for unsigned %i = %first to %n step %c16 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  tt.return
}

// CHECK-LABEL: @multiples_of_something_else
tt.func @multiples_of_something_else(%n: i32 {tt.divisibility = 16 : i32}, %lb: i32) {
  // CHECK-COUNT-3: scf.while
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %c48 = arith.constant 48 : i32
  scf.for %i = %c32 to %n step %c32 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  scf.for %i = %lb to %n step %c16 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  scf.for %i = %c48 to %n step %c48 : i32 {
    tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
  }
  tt.return
}
