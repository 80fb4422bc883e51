// RUN: tile-opt %s -triton-unpack-maps -split-input-file | FileCheck %s

// CHECK-LABEL: @pairs
// CHECK-SAME: %[[X:.*]]: tensor<4x64xi32>
// CHECK: %[[ROWS:.*]] = tt.reshape %[[X]] : tensor<4x64xi32> -> tensor<4x32x2xi32>
// CHECK: %[[A:.*]], %[[B:.*]] = tt.split %[[ROWS]]
// CHECK: %[[M:.*]]:2 = "tt.map_elementwise"(%[[A]], %[[B]]) <{pack = 1 : i32}>
// CHECK: %[[J:.*]] = tt.join %[[M]]#0, %[[M]]#1
// CHECK: %[[R:.*]] = tt.reshape %[[J]] : tensor<4x32x2xi32> -> tensor<4x64xi32>
// CHECK: tt.return %[[R]]
tt.func @pairs(%x: tensor<4x64xi32>) -> tensor<4x64xi32> {
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    tt.map_elementwise.return %b, %a : i32, i32
  }) : (tensor<4x64xi32>) -> tensor<4x64xi32>
  tt.return %0 : tensor<4x64xi32>
}

// -----

// Element 1 of each four is the first of the odd ones.
// CHECK-LABEL: @fours
// CHECK: %[[EVEN:.*]], %[[ODD:.*]] = tt.split %{{.*}} : tensor<8x2x2xi32>
// CHECK: %[[E0:.*]], %[[E2:.*]] = tt.split %[[EVEN]]
// CHECK: %[[E1:.*]], %[[E3:.*]] = tt.split %[[ODD]]
// CHECK: "tt.map_elementwise"(%[[E0]], %[[E1]], %[[E2]], %[[E3]])
tt.func @fours(%x: tensor<32xi32>) -> tensor<32xi32> {
  %0 = "tt.map_elementwise"(%x) <{pack = 4 : i32}> ({
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
    tt.map_elementwise.return %d, %c, %b, %a : i32, i32, i32, i32
  }) : (tensor<32xi32>) -> tensor<32xi32>
  tt.return %0 : tensor<32xi32>
}

// -----

// Rows of one element are taken together.
// CHECK-LABEL: @columns
// CHECK: tt.reshape %{{.*}} : tensor<64x1xi32> -> tensor<32x2xi32>
// CHECK: tt.reshape %{{.*}} : tensor<32x2xi32> -> tensor<64x1xi32>
tt.func @columns(%x: tensor<64x1xi32>) -> tensor<64x1xi32> {
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    tt.map_elementwise.return %b, %a : i32, i32
  }) : (tensor<64x1xi32>) -> tensor<64x1xi32>
  tt.return %0 : tensor<64x1xi32>
}
