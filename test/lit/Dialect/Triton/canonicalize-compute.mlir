// RUN: tile-opt %s -canonicalize | filecheck %s

// CHECK-LABEL: tt.func @mulhiui
tt.func @mulhiui(%x: i32) -> (i32, i32, i32, tensor<4xi32>) {
  // CHECK-DAG: %[[Z:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[C:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[T:.*]] = arith.constant dense<-2> : tensor<4xi32>
  // CHECK: tt.return %[[Z]], %[[Z]], %[[C]], %[[T]]
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %big = arith.constant 0x80000000 : i32
  %ones = arith.constant dense<-1> : tensor<4xi32>
  %0 = tt.mulhiui %x, %c0 : i32
  %1 = tt.mulhiui %c1, %x : i32
  %2 = tt.mulhiui %c4, %big : i32
  %3 = tt.mulhiui %ones, %ones : tensor<4xi32>
  tt.return %0, %1, %2, %3 : i32, i32, i32, tensor<4xi32>
}

// CHECK-LABEL: tt.func @reduce_of_one
tt.func @reduce_of_one(%x: tensor<1xf32>, %y: tensor<8x1xf32>) -> (f32, tensor<8xf32>) {
  // CHECK-NEXT: %[[U:.*]] = tt.unsplat %arg0 : tensor<1xf32>
  // CHECK-NEXT: %[[R:.*]] = tt.reshape %arg1 : tensor<8x1xf32> -> tensor<8xf32>
  // CHECK-NEXT: tt.return %[[U]], %[[R]]
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<1xf32>) -> f32
  %1 = "tt.reduce"(%y) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<8x1xf32>) -> tensor<8xf32>
  tt.return %0, %1 : f32, tensor<8xf32>
}

// CHECK-LABEL: tt.func @scan_of_one
tt.func @scan_of_one(%x: tensor<8x1xf32>) -> tensor<8x1xf32> {
  // CHECK-NEXT: tt.return %arg0
  %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  tt.return %0 : tensor<8x1xf32>
}

// CHECK-LABEL: tt.func @pointer_casts
tt.func @pointer_casts(%p: !tt.ptr<f32>, %i: i64) -> (!tt.ptr<f32>, i64, !tt.ptr<i32>) {
  // CHECK-NEXT: %[[P:.*]] = tt.ptr_to_int %arg0 : !tt.ptr<f32> -> i64
  // CHECK-NEXT: %[[Q:.*]] = tt.int_to_ptr %[[P]] : i64 -> !tt.ptr<i32>
  // CHECK-NEXT: tt.return %arg0, %arg1, %[[Q]]
  %0 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  %1 = tt.int_to_ptr %0 : i64 -> !tt.ptr<f32>
  %2 = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  %3 = tt.ptr_to_int %2 : !tt.ptr<f32> -> i64
  // Another pointee: nothing to fold.
  %4 = tt.int_to_ptr %0 : i64 -> !tt.ptr<i32>
  tt.return %1, %3, %4 : !tt.ptr<f32>, i64, !tt.ptr<i32>
}

// CHECK-LABEL: tt.func @bitcasts
tt.func @bitcasts(%x: f32, %p: !tt.ptr<f32>) -> (f32, f32, !tt.ptr<i8>) {
  // CHECK-NEXT: %[[B:.*]] = tt.bitcast %arg1 : !tt.ptr<f32> -> !tt.ptr<i8>
  // CHECK-NEXT: tt.return %arg0, %arg0, %[[B]]
  %0 = tt.bitcast %x : f32 -> f32
  %1 = tt.bitcast %x : f32 -> i32
  %2 = tt.bitcast %1 : i32 -> f32
  %3 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
  %4 = tt.bitcast %3 : !tt.ptr<i32> -> !tt.ptr<i8>
  tt.return %0, %2, %4 : f32, f32, !tt.ptr<i8>
}

// What is promised of a value that a loop carries is on an operation that does
// nothing.
// CHECK-LABEL: tt.func @bitcast_with_facts
tt.func @bitcast_with_facts(%x: i32) -> i32 {
  // CHECK-NEXT: %[[B:.*]] = tt.bitcast %arg0 {tt.divisibility = dense<16> : tensor<1xi32>} : i32 -> i32
  // CHECK-NEXT: tt.return %[[B]]
  %0 = tt.bitcast %x {tt.divisibility = dense<16> : tensor<1xi32>} : i32 -> i32
  %1 = tt.bitcast %0 : i32 -> i32
  tt.return %1 : i32
}

// CHECK-LABEL: tt.func @bitcasts_of_constants
tt.func @bitcasts_of_constants() -> (i32, f32, tensor<4xi16>) {
  // CHECK-DAG: %[[I:.*]] = arith.constant 1065353216 : i32
  // CHECK-DAG: %[[F:.*]] = arith.constant -0.000000e+00 : f32
  // CHECK-DAG: %[[T:.*]] = arith.constant dense<15360> : tensor<4xi16>
  // CHECK: tt.return %[[I]], %[[F]], %[[T]]
  %0 = arith.constant 1.0 : f32
  %1 = tt.bitcast %0 : f32 -> i32
  %2 = arith.constant 0x80000000 : i32
  %3 = tt.bitcast %2 : i32 -> f32
  %4 = arith.constant dense<1.0> : tensor<4xf16>
  %5 = tt.bitcast %4 : tensor<4xf16> -> tensor<4xi16>
  tt.return %1, %3, %5 : i32, f32, tensor<4xi16>
}

// Only exact conversions fold: rounding and saturation are the target's.
// CHECK-LABEL: tt.func @fp_to_fp
tt.func @fp_to_fp() -> (f16, tensor<4xf8E5M2>, f8E5M2, f8E4M3FN) {
  // CHECK-DAG: %[[H:.*]] = arith.constant 1.500000e+00 : f16
  // CHECK-DAG: %[[T:.*]] = arith.constant dense<2.000000e+00> : tensor<4xf8E5M2>
  // CHECK-DAG: %[[A:.*]] = tt.fp_to_fp %{{.*}}, rounding = rtne : f32 -> f8E5M2
  // CHECK-DAG: %[[B:.*]] = tt.fp_to_fp %{{.*}}, rounding = rtne : f32 -> f8E4M3FN
  // CHECK: tt.return %[[H]], %[[T]], %[[A]], %[[B]]
  %0 = arith.constant 1.5 : f8E5M2
  %1 = tt.fp_to_fp %0 : f8E5M2 -> f16
  %2 = arith.constant dense<2.0> : tensor<4xf32>
  %3 = tt.fp_to_fp %2, rounding = rtz : tensor<4xf32> -> tensor<4xf8E5M2>
  %4 = arith.constant 1.1 : f32
  %5 = tt.fp_to_fp %4, rounding = rtne : f32 -> f8E5M2
  %6 = arith.constant 1.0e4 : f32
  %7 = tt.fp_to_fp %6, rounding = rtne : f32 -> f8E4M3FN
  tt.return %1, %3, %5, %7 : f16, tensor<4xf8E5M2>, f8E5M2, f8E4M3FN
}
