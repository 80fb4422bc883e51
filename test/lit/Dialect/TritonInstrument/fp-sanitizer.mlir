// RUN: tile-opt %s -tritoninstrument-fp-sanitizer -split-input-file -verify-diagnostics | filecheck %s

// CHECK-LABEL: @sum
// CHECK: tt.bitcast %{{.*}} : f32 -> i32
// CHECK: %[[PRIME:.*]] = arith.constant 2147483647 : i64
// CHECK-NOT: arith.addf
// CHECK: tt.bitcast %{{.*}} : i32 -> f32
tt.func @sum(%x: f32, %y: f32) -> f32 {
  %0 = arith.addf %x, %y : f32
  tt.return %0 : f32
}

// -----

// A half is 2^30 modulo 2^31 - 1.
// CHECK-LABEL: @half
// CHECK: arith.constant 2.000000e+00 : f32
tt.func @half() -> f32 {
  %0 = arith.constant 0.5 : f32
  tt.return %0 : f32
}

// -----

// CHECK-LABEL: @reduction
// CHECK: tt.reduce
// CHECK-NOT: arith.addf
// CHECK: tt.reduce.return %{{.*}} : f16
tt.func @reduction(%x: tensor<8xf16>) -> f16 {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f16, %b: f16):
    %1 = arith.addf %a, %b : f16
    tt.reduce.return %1 : f16
  }) : (tensor<8xf16>) -> f16
  tt.return %0 : f16
}

// -----

// CHECK-LABEL: @product
// CHECK-NOT: tt.dot
// CHECK: scf.for
// CHECK: tt.gather %{{.*}} {axis = 1 : i32} : (tensor<16x32xf16>, tensor<16x1xi32>) -> tensor<16x1xf16>
// CHECK: tt.gather %{{.*}} {axis = 0 : i32} : (tensor<32x8xf16>, tensor<1x8xi32>) -> tensor<1x8xf16>
tt.func @product(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x8xf16> -> tensor<16x8xf32>
  tt.return %0 : tensor<16x8xf32>
}

// -----

tt.func @unknown(%p: !tt.ptr<f32>, %x: f32) -> f32 {
  // expected-error @+1 {{the sanitizer of floating point does not know 'tt.atomic_rmw'}}
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x : (!tt.ptr<f32>, f32) -> f32
  tt.return %0 : f32
}
