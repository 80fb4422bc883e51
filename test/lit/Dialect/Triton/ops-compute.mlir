// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

// Round trips of matrix products and arithmetic.

// CHECK-LABEL: tt.func @dot(%arg0: tensor<128x32xf16>, %arg1: tensor<32x64xf16>, %arg2: tensor<128x64xf32>)
tt.func @dot(%arg0: tensor<128x32xf16>, %arg1: tensor<32x64xf16>, %arg2: tensor<128x64xf32>) {
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<128x32xf16> * tensor<32x64xf16> -> tensor<128x64xf32>
  %0 = tt.dot %arg0, %arg1, %arg2 : tensor<128x32xf16> * tensor<32x64xf16> -> tensor<128x64xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = tf32 : tensor<128x32xf16> * tensor<32x64xf16> -> tensor<128x64xf32>
  %1 = tt.dot %arg0, %arg1, %arg2, inputPrecision = tf32 : tensor<128x32xf16> * tensor<32x64xf16> -> tensor<128x64xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<128x32xf16> * tensor<32x64xf16> -> tensor<128x64xf32>
  %2 = tt.dot %arg0, %arg1, %arg2, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<128x32xf16> * tensor<32x64xf16> -> tensor<128x64xf32>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @dot_batch(%arg0: tensor<2x16x32xi8>, %arg1: tensor<2x32x16xi8>, %arg2: tensor<2x16x16xi32>)
tt.func @dot_batch(%arg0: tensor<2x16x32xi8>, %arg1: tensor<2x32x16xi8>, %arg2: tensor<2x16x16xi32>) {
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x16x32xi8> * tensor<2x32x16xi8> -> tensor<2x16x16xi32>
  %0 = tt.dot %arg0, %arg1, %arg2 : tensor<2x16x32xi8> * tensor<2x32x16xi8> -> tensor<2x16x16xi32>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @dot_scaled(%arg0: tensor<128x64xf8E4M3FN>, %arg1: tensor<32x128xi8>, %arg2: tensor<128x2xi8>, %arg3: tensor<128x128xf32>, %arg4: tensor<64x64xi8>)
tt.func @dot_scaled(%arg0: tensor<128x64xf8E4M3FN>, %arg1: tensor<32x128xi8>, %arg2: tensor<128x2xi8>, %arg3: tensor<128x128xf32>, %arg4: tensor<64x64xi8>) {
  // CHECK: tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<32x128xi8>, tensor<128x2xi8> -> tensor<128x128xf32>
  %0 = tt.dot_scaled %arg0 scale %arg2, %arg1 scale %arg2, %arg3 lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<32x128xi8>, tensor<128x2xi8> -> tensor<128x128xf32>
  // CHECK: tt.dot_scaled %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} lhs = e4m3 rhs = e2m1 {fastMath = true} : tensor<128x64xf8E4M3FN> * tensor<32x128xi8>, tensor<128x2xi8> -> tensor<128x128xf32>
  %1 = tt.dot_scaled %arg0, %arg1 scale %arg2, %arg3 lhs = e4m3 rhs = e2m1 {fastMath = true} : tensor<128x64xf8E4M3FN> * tensor<32x128xi8>, tensor<128x2xi8> -> tensor<128x128xf32>
  // CHECK: tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} lhs = e4m3 rhs = e2m1 {fastMath = false, rhs_k_pack = false} : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<64x64xi8>, tensor<128x2xi8> -> tensor<128x128xf32>
  %2 = tt.dot_scaled %arg0 scale %arg2, %arg4 scale %arg2, %arg3 lhs = e4m3 rhs = e2m1 {fastMath = false, rhs_k_pack = false} : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<64x64xi8>, tensor<128x2xi8> -> tensor<128x128xf32>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @elementwise(%arg0: tensor<64xf32>, %arg1: f32, %arg2: tensor<64xi32>, %arg3: i64)
tt.func @elementwise(%arg0: tensor<64xf32>, %arg1: f32, %arg2: tensor<64xi32>, %arg3: i64) {
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = none : tensor<64xf32>
  %0 = tt.clampf %arg0, %arg0, %arg0, propagateNan = none : tensor<64xf32>
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = all : f32
  %1 = tt.clampf %arg1, %arg1, %arg1, propagateNan = all : f32
  // CHECK: tt.mulhiui %{{.*}}, %{{.*}} : tensor<64xi32>
  %2 = tt.mulhiui %arg2, %arg2 : tensor<64xi32>
  // CHECK: tt.mulhiui %{{.*}}, %{{.*}} : i64
  %3 = tt.mulhiui %arg3, %arg3 : i64
  // CHECK: tt.precise_sqrt %{{.*}} : tensor<64xf32>
  %4 = tt.precise_sqrt %arg0 : tensor<64xf32>
  // CHECK: tt.precise_divf %{{.*}}, %{{.*}} : f32
  %5 = tt.precise_divf %arg1, %arg1 : f32
  // CHECK: tt.return
  tt.return
}
