// RUN: tile-opt %s -pack-along-k-nv | filecheck %s
// RUN: tile-opt %s -pack-along-k-nv="least-rows=256" | filecheck %s -check-prefix LARGE

// Bytes of even and odd k become one of their lower and one of their upper
// halves.
// CHECK-LABEL: @right
// LARGE-LABEL: @right
tt.func @right(%a: tensor<128x64xf8E4M3FN>, %b: tensor<64x32xi8>, %s: tensor<128x2xi8>, %t: tensor<64x2xi8>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  // CHECK: %[[ROWS:.*]] = tt.reshape %arg1 : tensor<64x32xi8> -> tensor<32x2x32xi8>
  // CHECK: %[[PAIRS:.*]] = tt.trans %[[ROWS]] {order = array<i32: 0, 2, 1>}
  // CHECK: %[[EVEN:.*]], %[[ODD:.*]] = tt.split %[[PAIRS]]
  // CHECK-DAG: %[[LOWER:.*]] = arith.andi %[[EVEN]], %{{.*}} : tensor<32x32xi8>
  // CHECK-DAG: %[[RAISED:.*]] = arith.shli %[[ODD]], %{{.*}} : tensor<32x32xi8>
  // CHECK-DAG: %[[LOWERED:.*]] = arith.shrui %[[EVEN]], %{{.*}} : tensor<32x32xi8>
  // CHECK-DAG: %[[UPPER:.*]] = arith.andi %[[ODD]], %{{.*}} : tensor<32x32xi8>
  // CHECK-DAG: %[[FIRST:.*]] = arith.ori %[[LOWER]], %[[RAISED]]
  // CHECK-DAG: %[[SECOND:.*]] = arith.ori %[[LOWERED]], %[[UPPER]]
  // CHECK: %[[BOTH:.*]] = tt.join %[[FIRST]], %[[SECOND]]
  // CHECK: %[[PACKED:.*]] = tt.reshape %[[BOTH]] : tensor<32x32x2xi8> -> tensor<32x64xi8>
  // CHECK: tt.dot_scaled %arg0 scale %arg2, %[[PACKED]] scale %arg3, %arg4
  // CHECK-NOT: rhs_k_pack
  // LARGE: rhs_k_pack = false
  %d = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e2m1 {fastMath = false, rhs_k_pack = false} : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<64x32xi8>, tensor<64x2xi8> -> tensor<128x64xf32>
  tt.return %d : tensor<128x64xf32>
}

// Rows of A come behind the join.
// CHECK-LABEL: @left
tt.func @left(%a: tensor<64x64xi8>, %b: tensor<32x64xi8>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  // CHECK: tt.reshape %arg0 : tensor<64x64xi8> -> tensor<64x32x2xi8>
  // CHECK-NEXT: tt.split
  // CHECK: tt.join
  // CHECK: tt.trans %{{.*}} {order = array<i32: 0, 2, 1>} : tensor<64x32x2xi8> -> tensor<64x2x32xi8>
  // CHECK: %[[PACKED:.*]] = tt.reshape %{{.*}} : tensor<64x2x32xi8> -> tensor<128x32xi8>
  // CHECK: tt.dot_scaled %[[PACKED]], %arg1
  %d = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e2m1 {fastMath = false, lhs_k_pack = false} : tensor<64x64xi8> * tensor<32x64xi8> -> tensor<128x64xf32>
  tt.return %d : tensor<128x64xf32>
}

// No instruction scales bf16.
// CHECK-LABEL: @other_format
tt.func @other_format(%a: tensor<128x64xbf16>, %b: tensor<64x32xi8>, %t: tensor<64x2xi8>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  // CHECK-NOT: tt.reshape
  // CHECK: rhs_k_pack = false
  %d = tt.dot_scaled %a, %b scale %t, %c lhs = bf16 rhs = e2m1 {fastMath = false, rhs_k_pack = false} : tensor<128x64xbf16> * tensor<64x32xi8>, tensor<64x2xi8> -> tensor<128x64xf32>
  tt.return %d : tensor<128x64xf32>
}
