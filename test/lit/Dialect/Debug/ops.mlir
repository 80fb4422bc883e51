// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s -canonicalize -cse -loop-invariant-code-motion | filecheck %s --check-prefix=KEPT

// CHECK-LABEL: @marks
// KEPT-LABEL: @marks
tt.func @marks(%n: i32, %x: tensor<64xf32>, %m: tensor<64xi1>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: debug.statement enter "marks"
  debug.statement enter "marks"
  // Marks stay where they are, each of them.
  // KEPT: scf.for
  scf.for %i = %c0 to %n step %c1 : i32 {
    // CHECK: debug.statement
    // CHECK-NEXT: debug.value "x" "fp32" = %{{.*}} : tensor<64xf32>
    // CHECK-NEXT: debug.value mask "x" "int1" = %{{.*}} : tensor<64xi1>
    // CHECK-NEXT: debug.constant "BLOCK" = "64"
    // KEPT-NEXT: debug.statement
    // KEPT-NEXT: debug.value "x"
    // KEPT-NEXT: debug.value mask "x"
    // KEPT-NEXT: debug.constant "BLOCK"
    debug.statement
    debug.value "x" "fp32" = %x : tensor<64xf32>
    debug.value mask "x" "int1" = %m : tensor<64xi1>
    debug.constant "BLOCK" = "64"
  }
  tt.return
}
