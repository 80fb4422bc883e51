// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

// Round trips of the operations on shapes.

// CHECK-LABEL: tt.func @make(%arg0: f32, %arg1: !tt.ptr<f16>, %arg2: tensor<1x1xf32>)
tt.func @make(%arg0: f32, %arg1: !tt.ptr<f16>, %arg2: tensor<1x1xf32>) {
  // CHECK: tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // CHECK: tt.make_range {end = 4 : i32, start = -4 : i32} : tensor<8xi32>
  %1 = tt.make_range {end = 4 : i32, start = -4 : i32} : tensor<8xi32>
  // CHECK: tt.splat %{{.*}} : f32 -> tensor<64x1xf32>
  %2 = tt.splat %arg0 : f32 -> tensor<64x1xf32>
  // CHECK: tt.splat %{{.*}} : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %3 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  // CHECK: tt.unsplat %{{.*}} : tensor<1x1xf32>
  %4 = tt.unsplat %arg2 : tensor<1x1xf32>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @change(%arg0: tensor<64xi32>, %arg1: tensor<64x1xi1>, %arg2: tensor<4x8x16xf32>)
tt.func @change(%arg0: tensor<64xi32>, %arg1: tensor<64x1xi1>, %arg2: tensor<4x8x16xf32>) {
  // CHECK: tt.expand_dims %{{.*}} {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %0 = tt.expand_dims %arg0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK: tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %1 = tt.expand_dims %arg0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK: tt.broadcast %{{.*}} : tensor<64x1xi1> -> tensor<64x32xi1>
  %2 = tt.broadcast %arg1 : tensor<64x1xi1> -> tensor<64x32xi1>
  // CHECK: tt.reshape %{{.*}} : tensor<4x8x16xf32> -> tensor<32x16xf32>
  %3 = tt.reshape %arg2 : tensor<4x8x16xf32> -> tensor<32x16xf32>
  // CHECK: tt.reshape %{{.*}} allow_reorder : tensor<4x8x16xf32> -> tensor<512xf32>
  %4 = tt.reshape %arg2 allow_reorder : tensor<4x8x16xf32> -> tensor<512xf32>
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<4x8x16xf32> -> tensor<512xf32>
  %5 = tt.reshape %arg2 allow_reorder efficient_layout : tensor<4x8x16xf32> -> tensor<512xf32>
  // CHECK: tt.reshape %{{.*}} efficient_layout : tensor<4x8x16xf32> -> tensor<512xf32>
  %6 = tt.reshape %arg2 efficient_layout : tensor<4x8x16xf32> -> tensor<512xf32>
  // CHECK: tt.trans %{{.*}} {order = array<i32: 2, 0, 1>} : tensor<4x8x16xf32> -> tensor<16x4x8xf32>
  %7 = tt.trans %arg2 {order = array<i32: 2, 0, 1>} : tensor<4x8x16xf32> -> tensor<16x4x8xf32>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @combine(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8x2x!tt.ptr<i8>>)
tt.func @combine(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8x2x!tt.ptr<i8>>) {
  // CHECK: tt.join %{{.*}}, %{{.*}} : tensor<8xf32> -> tensor<8x2xf32>
  %0 = tt.join %arg0, %arg1 : tensor<8xf32> -> tensor<8x2xf32>
  // CHECK: tt.split %{{.*}} : tensor<8x2x!tt.ptr<i8>> -> tensor<8x!tt.ptr<i8>>
  %outLHS, %outRHS = tt.split %arg2 : tensor<8x2x!tt.ptr<i8>> -> tensor<8x!tt.ptr<i8>>
  // CHECK: tt.cat %{{.*}}, %{{.*}} : tensor<8xf32> -> tensor<16xf32>
  %1 = tt.cat %arg0, %arg1 : tensor<8xf32> -> tensor<16xf32>
  // CHECK: tt.return
  tt.return
}
