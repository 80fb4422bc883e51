// RUN: tile-opt %s -triton-combine | filecheck %s
// RUN: tile-opt %s -triton-reorder-broadcast | filecheck %s

// Each select is one value only when the one before it is, and constants meet
// once in a round of the greedy driver, of which there are ten: no pass may
// refuse a program because it needs more.

// CHECK-LABEL: tt.func @constants_that_meet
tt.func @constants_that_meet(%c: tensor<64xi1>) -> tensor<64xi32> {
  // CHECK-NOT: dense<0>
  // CHECK: %[[X:.*]] = arith.select
  // CHECK: tt.return
  %zero = arith.constant dense<0> : tensor<64xi32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %l0 = arith.addi %zero, %one : tensor<64xi32>
  %r0 = arith.addi %one, %zero : tensor<64xi32>
  %s0 = arith.select %c, %l0, %r0 : tensor<64xi1>, tensor<64xi32>
  %l1 = arith.addi %s0, %one : tensor<64xi32>
  %r1 = arith.addi %one, %s0 : tensor<64xi32>
  %s1 = arith.select %c, %l1, %r1 : tensor<64xi1>, tensor<64xi32>
  %l2 = arith.addi %s1, %one : tensor<64xi32>
  %r2 = arith.addi %one, %s1 : tensor<64xi32>
  %s2 = arith.select %c, %l2, %r2 : tensor<64xi1>, tensor<64xi32>
  %l3 = arith.addi %s2, %one : tensor<64xi32>
  %r3 = arith.addi %one, %s2 : tensor<64xi32>
  %s3 = arith.select %c, %l3, %r3 : tensor<64xi1>, tensor<64xi32>
  %l4 = arith.addi %s3, %one : tensor<64xi32>
  %r4 = arith.addi %one, %s3 : tensor<64xi32>
  %s4 = arith.select %c, %l4, %r4 : tensor<64xi1>, tensor<64xi32>
  %l5 = arith.addi %s4, %one : tensor<64xi32>
  %r5 = arith.addi %one, %s4 : tensor<64xi32>
  %s5 = arith.select %c, %l5, %r5 : tensor<64xi1>, tensor<64xi32>
  %l6 = arith.addi %s5, %one : tensor<64xi32>
  %r6 = arith.addi %one, %s5 : tensor<64xi32>
  %s6 = arith.select %c, %l6, %r6 : tensor<64xi1>, tensor<64xi32>
  %l7 = arith.addi %s6, %one : tensor<64xi32>
  %r7 = arith.addi %one, %s6 : tensor<64xi32>
  %s7 = arith.select %c, %l7, %r7 : tensor<64xi1>, tensor<64xi32>
  %l8 = arith.addi %s7, %one : tensor<64xi32>
  %r8 = arith.addi %one, %s7 : tensor<64xi32>
  %s8 = arith.select %c, %l8, %r8 : tensor<64xi1>, tensor<64xi32>
  %l9 = arith.addi %s8, %one : tensor<64xi32>
  %r9 = arith.addi %one, %s8 : tensor<64xi32>
  %s9 = arith.select %c, %l9, %r9 : tensor<64xi1>, tensor<64xi32>
  %l10 = arith.addi %s9, %one : tensor<64xi32>
  %r10 = arith.addi %one, %s9 : tensor<64xi32>
  %s10 = arith.select %c, %l10, %r10 : tensor<64xi1>, tensor<64xi32>
  %l11 = arith.addi %s10, %one : tensor<64xi32>
  %r11 = arith.addi %one, %s10 : tensor<64xi32>
  %s11 = arith.select %c, %l11, %r11 : tensor<64xi1>, tensor<64xi32>
  tt.return %s11 : tensor<64xi32>
}
