// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s -canonicalize -cse -loop-invariant-code-motion | filecheck %s --check-prefix=KEPT

// CHECK-LABEL: @scope
// KEPT-LABEL: @scope
tt.func @scope(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // Records stay where they are, each of them.
  // KEPT: scf.for
  scf.for %i = %c0 to %n step %c1 : i32 {
    // CHECK: proton.record start "load"
    // CHECK-NEXT: proton.record end "load"
    // KEPT-NEXT: proton.record start "load"
    // KEPT-NEXT: proton.record end "load"
    // KEPT-NEXT: proton.record end "load"
    proton.record start "load"
    proton.record end "load"
    proton.record end "load"
  }
  // CHECK: proton.record event start "copy"
  // CHECK-NEXT: proton.record event end "copy"
  proton.record event start "copy"
  proton.record event end "copy"
  tt.return
}
