// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

// Round trips of conversions.

// CHECK-LABEL: tt.func @pointers(%arg0: i64, %arg1: tensor<64xi64>, %arg2: tensor<64x!tt.ptr<f32>>)
tt.func @pointers(%arg0: i64, %arg1: tensor<64xi64>, %arg2: tensor<64x!tt.ptr<f32>>) {
  // CHECK: tt.int_to_ptr %{{.*}} : i64 -> !tt.ptr<f32>
  %0 = tt.int_to_ptr %arg0 : i64 -> !tt.ptr<f32>
  // CHECK: tt.int_to_ptr %{{.*}} : tensor<64xi64> -> tensor<64x!tt.ptr<f32, 3>>
  %1 = tt.int_to_ptr %arg1 : tensor<64xi64> -> tensor<64x!tt.ptr<f32, 3>>
  // CHECK: tt.ptr_to_int %{{.*}} : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
  %2 = tt.ptr_to_int %arg2 : tensor<64x!tt.ptr<f32>> -> tensor<64xi64>
  // CHECK: tt.bitcast %{{.*}} : tensor<64x!tt.ptr<f32>> -> tensor<64x!tt.ptr<i32>>
  %3 = tt.bitcast %arg2 : tensor<64x!tt.ptr<f32>> -> tensor<64x!tt.ptr<i32>>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @numbers(%arg0: f32, %arg1: tensor<64xf32>, %arg2: tensor<64xf8E5M2>)
tt.func @numbers(%arg0: f32, %arg1: tensor<64xf32>, %arg2: tensor<64xf8E5M2>) {
  // CHECK: tt.bitcast %{{.*}} : f32 -> i32
  %0 = tt.bitcast %arg0 : f32 -> i32
  // CHECK: tt.bitcast %{{.*}} : tensor<64xf32> -> tensor<64xi32>
  %1 = tt.bitcast %arg1 : tensor<64xf32> -> tensor<64xi32>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtz : tensor<64xf32> -> tensor<64xf8E5M2>
  %2 = tt.fp_to_fp %arg1, rounding = rtz : tensor<64xf32> -> tensor<64xf8E5M2>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  %3 = tt.fp_to_fp %arg1, rounding = rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  // CHECK: tt.fp_to_fp %{{.*}} {test.mark}, rounding = rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  %marked = tt.fp_to_fp %arg1 {test.mark}, rounding = rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  // CHECK: tt.fp_to_fp %{{.*}} : tensor<64xf8E5M2> -> tensor<64xbf16>
  %4 = tt.fp_to_fp %arg2 : tensor<64xf8E5M2> -> tensor<64xbf16>
  // CHECK: tt.return
  tt.return
}
