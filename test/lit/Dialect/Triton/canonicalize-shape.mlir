// RUN: tile-opt %s -canonicalize | filecheck %s

// CHECK-LABEL: tt.func @range_of_one
tt.func @range_of_one() -> tensor<1xi32> {
  // CHECK-NEXT: %[[C:.*]] = arith.constant dense<7> : tensor<1xi32>
  // CHECK-NEXT: tt.return %[[C]]
  %0 = tt.make_range {end = 8 : i32, start = 7 : i32} : tensor<1xi32>
  tt.return %0 : tensor<1xi32>
}

// CHECK-LABEL: tt.func @splat_of_constant
tt.func @splat_of_constant() -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK-DAG: %[[F:.*]] = arith.constant dense<2.500000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<true> : tensor<4xi1>
  // CHECK: tt.return %[[F]], %[[B]]
  %f = arith.constant 2.5 : f32
  %b = arith.constant true
  %0 = tt.splat %f : f32 -> tensor<4xf32>
  %1 = tt.splat %b : i1 -> tensor<4xi1>
  tt.return %0, %1 : tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: tt.func @unsplat
tt.func @unsplat(%x: f32) -> (f32, i32) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant 3 : i32
  // CHECK-NEXT: tt.return %arg0, %[[C]]
  %0 = tt.splat %x : f32 -> tensor<1x1xf32>
  %1 = tt.unsplat %0 : tensor<1x1xf32>
  %2 = arith.constant dense<3> : tensor<1xi32>
  %3 = tt.unsplat %2 : tensor<1xi32>
  tt.return %1, %3 : f32, i32
}

// Every operation that only moves elements yields to the splat it moves.
// CHECK-LABEL: tt.func @moves_of_splat
tt.func @moves_of_splat(%x: f32) -> (tensor<4x8xf32>, tensor<32xf32>, tensor<8x4xf32>, tensor<8x2xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[A:.*]] = tt.splat %arg0 : f32 -> tensor<4x8xf32>
  // CHECK-DAG: %[[B:.*]] = tt.splat %arg0 : f32 -> tensor<32xf32>
  // CHECK-DAG: %[[C:.*]] = tt.splat %arg0 : f32 -> tensor<8x4xf32>
  // CHECK-DAG: %[[D:.*]] = tt.splat %arg0 : f32 -> tensor<8x2xf32>
  // CHECK-DAG: %[[E:.*]] = tt.splat %arg0 : f32 -> tensor<4xf32>
  // CHECK: tt.return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[E]]
  %0 = tt.splat %x : f32 -> tensor<8xf32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  %2 = tt.broadcast %1 : tensor<1x8xf32> -> tensor<4x8xf32>
  %3 = tt.reshape %2 : tensor<4x8xf32> -> tensor<32xf32>
  %4 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %5 = tt.join %0, %0 : tensor<8xf32> -> tensor<8x2xf32>
  %6 = tt.splat %x : f32 -> tensor<4x2xf32>
  %7, %8 = tt.split %6 : tensor<4x2xf32> -> tensor<4xf32>
  tt.return %2, %3, %4, %5, %7, %8 : tensor<4x8xf32>, tensor<32xf32>, tensor<8x4xf32>, tensor<8x2xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: tt.func @moves_of_constant
tt.func @moves_of_constant() -> (tensor<4x8xi32>, tensor<8x4xi32>, tensor<8x2xi32>, tensor<4xi32>) {
  // CHECK-DAG: %[[A:.*]] = arith.constant dense<5> : tensor<4x8xi32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<5> : tensor<8x4xi32>
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<5> : tensor<8x2xi32>
  // CHECK-DAG: %[[D:.*]] = arith.constant dense<5> : tensor<4xi32>
  // CHECK: tt.return %[[A]], %[[B]], %[[C]], %[[D]]
  %0 = arith.constant dense<5> : tensor<8xi32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %2 = tt.broadcast %1 : tensor<1x8xi32> -> tensor<4x8xi32>
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>
  %4 = tt.join %0, %0 : tensor<8xi32> -> tensor<8x2xi32>
  %5 = arith.constant dense<5> : tensor<4x2xi32>
  %6, %7 = tt.split %5 : tensor<4x2xi32> -> tensor<4xi32>
  tt.return %2, %3, %4, %6 : tensor<4x8xi32>, tensor<8x4xi32>, tensor<8x2xi32>, tensor<4xi32>
}

// CHECK-LABEL: tt.func @reshape_of_elements
tt.func @reshape_of_elements() -> (tensor<2x2xi32>, tensor<1x4xi32>) {
  // CHECK-DAG: %[[A:.*]] = arith.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<{{\[\[}}1, 2, 3, 4]]> : tensor<1x4xi32>
  // CHECK: tt.return %[[A]], %[[B]]
  %0 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %1 = tt.reshape %0 : tensor<4xi32> -> tensor<2x2xi32>
  %2 = tt.expand_dims %0 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  tt.return %1, %2 : tensor<2x2xi32>, tensor<1x4xi32>
}

// CHECK-LABEL: tt.func @expand_before_broadcast
tt.func @expand_before_broadcast(%x: tensor<8x1xf32>) -> tensor<8x1x4xf32> {
  // CHECK-NEXT: %[[E:.*]] = tt.expand_dims %arg0 {axis = 1 : i32} : tensor<8x1xf32> -> tensor<8x1x1xf32>
  // CHECK-NEXT: %[[B:.*]] = tt.broadcast %[[E]] : tensor<8x1x1xf32> -> tensor<8x1x4xf32>
  // CHECK-NEXT: tt.return %[[B]]
  %0 = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x4xf32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8x4xf32> -> tensor<8x1x4xf32>
  tt.return %1 : tensor<8x1x4xf32>
}

// CHECK-LABEL: tt.func @identities
tt.func @identities(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: tt.return %arg0, %arg0, %arg0
  %0 = tt.broadcast %x : tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = tt.reshape %x allow_reorder : tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = tt.trans %x {order = array<i32: 0, 1>} : tensor<4x4xf32> -> tensor<4x4xf32>
  tt.return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: tt.func @broadcast_of_broadcast
tt.func @broadcast_of_broadcast(%x: tensor<1x1xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[B:.*]] = tt.broadcast %arg0 : tensor<1x1xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: tt.return %[[B]]
  %0 = tt.broadcast %x : tensor<1x1xf32> -> tensor<4x1xf32>
  %1 = tt.broadcast %0 : tensor<4x1xf32> -> tensor<4x8xf32>
  tt.return %1 : tensor<4x8xf32>
}

// A dimension of size one that is taken away and given back.
// CHECK-LABEL: tt.func @row_and_back
tt.func @row_and_back(%x: tensor<1x8xf32>, %y: tensor<8xf32>) -> (tensor<1x8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: tt.return %arg0, %arg1
  %0 = tt.reshape %x : tensor<1x8xf32> -> tensor<8xf32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  %2 = tt.expand_dims %y {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  %3 = tt.reshape %2 : tensor<8x1xf32> -> tensor<8xf32>
  tt.return %1, %3 : tensor<1x8xf32>, tensor<8xf32>
}

// All users of a reordered tensor see the same order.
// CHECK-LABEL: tt.func @reordered_row
tt.func @reordered_row(%x: tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<8xf32>) {
  // CHECK: tt.reshape
  // CHECK: tt.expand_dims
  %0 = tt.reshape %x allow_reorder : tensor<1x8xf32> -> tensor<8xf32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  tt.return %1, %0 : tensor<1x8xf32>, tensor<8xf32>
}

// CHECK-LABEL: tt.func @reshape_of_reshape
tt.func @reshape_of_reshape(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<2x16xf32>) {
  // CHECK-DAG: %[[A:.*]] = tt.reshape %arg0 : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK-DAG: %[[B:.*]] = tt.reshape %arg0 allow_reorder : tensor<4x8xf32> -> tensor<2x16xf32>
  // CHECK: tt.return %[[A]], %[[B]]
  %0 = tt.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %1 = tt.reshape %0 : tensor<32xf32> -> tensor<8x4xf32>
  %2 = tt.reshape %0 allow_reorder : tensor<32xf32> -> tensor<2x16xf32>
  tt.return %1, %2 : tensor<8x4xf32>, tensor<2x16xf32>
}

// Both users of a reordered tensor must see the same order.
// CHECK-LABEL: tt.func @reorder_with_two_uses
tt.func @reorder_with_two_uses(%x: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<8x4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = tt.reshape %arg0 allow_reorder
  // CHECK-NEXT: %[[B:.*]] = tt.reshape %[[A]] : tensor<32xf32> -> tensor<8x4xf32>
  // CHECK-NEXT: tt.return %[[A]], %[[B]]
  %0 = tt.reshape %x allow_reorder : tensor<4x8xf32> -> tensor<32xf32>
  %1 = tt.reshape %0 : tensor<32xf32> -> tensor<8x4xf32>
  tt.return %0, %1 : tensor<32xf32>, tensor<8x4xf32>
}

// CHECK-LABEL: tt.func @trans_of_trans
tt.func @trans_of_trans(%x: tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<8x2x4xf32>) {
  // CHECK-NEXT: %[[T:.*]] = tt.trans %arg0 {order = array<i32: 2, 0, 1>} : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  // CHECK-NEXT: tt.return %arg0, %[[T]]
  %0 = tt.trans %x {order = array<i32: 1, 2, 0>} : tensor<2x4x8xf32> -> tensor<4x8x2xf32>
  %1 = tt.trans %0 {order = array<i32: 2, 0, 1>} : tensor<4x8x2xf32> -> tensor<2x4x8xf32>
  %2 = tt.trans %0 {order = array<i32: 1, 2, 0>} : tensor<4x8x2xf32> -> tensor<8x2x4xf32>
  tt.return %1, %2 : tensor<2x4x8xf32>, tensor<8x2x4xf32>
}

// CHECK-LABEL: tt.func @join_and_split
tt.func @join_and_split(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8x2xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8x2xf32>) {
  // CHECK-NEXT: tt.return %arg0, %arg1, %arg2
  %0 = tt.join %a, %b : tensor<8xf32> -> tensor<8x2xf32>
  %1, %2 = tt.split %0 : tensor<8x2xf32> -> tensor<8xf32>
  %3, %4 = tt.split %c : tensor<8x2xf32> -> tensor<8xf32>
  %5 = tt.join %3, %4 : tensor<8xf32> -> tensor<8x2xf32>
  tt.return %1, %2, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8x2xf32>
}

// CHECK-LABEL: tt.func @join_of_swapped_halves
tt.func @join_of_swapped_halves(%c: tensor<8x2xf32>) -> tensor<8x2xf32> {
  // CHECK: tt.join %outRHS, %outLHS
  %0, %1 = tt.split %c : tensor<8x2xf32> -> tensor<8xf32>
  %2 = tt.join %1, %0 : tensor<8xf32> -> tensor<8x2xf32>
  tt.return %2 : tensor<8x2xf32>
}
