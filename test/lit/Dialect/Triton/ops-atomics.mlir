// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

// Round trips of the atomic operations.

// CHECK-LABEL: tt.func @tensors(%arg0: tensor<64x!tt.ptr<f32>>, %arg1: tensor<64xf32>, %arg2: tensor<64xi1>)
tt.func @tensors(%arg0: tensor<64x!tt.ptr<f32>>, %arg1: tensor<64xf32>, %arg2: tensor<64xi1>) {
  // CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %arg0, %arg1, %arg2 : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
  // CHECK: tt.atomic_rmw exch, relaxed, cta, %{{.*}}, %{{.*}} : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> tensor<64xf32>
  %1 = tt.atomic_rmw exch, relaxed, cta, %arg0, %arg1 : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> tensor<64xf32>
  // CHECK: tt.atomic_cas acquire, sys, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = tt.atomic_cas acquire, sys, %arg0, %arg1, %arg1 : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @scalars(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i1)
tt.func @scalars(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i1) {
  // CHECK: tt.atomic_rmw and, release, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i1) -> i32
  %0 = tt.atomic_rmw and, release, gpu, %arg0, %arg1, %arg2 : (!tt.ptr<i32>, i32, i1) -> i32
  // CHECK: tt.atomic_rmw or, release, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i1) -> i32
  %1 = tt.atomic_rmw or, release, gpu, %arg0, %arg1, %arg2 : (!tt.ptr<i32>, i32, i1) -> i32
  // CHECK: tt.atomic_rmw xor, release, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i1) -> i32
  %2 = tt.atomic_rmw xor, release, gpu, %arg0, %arg1, %arg2 : (!tt.ptr<i32>, i32, i1) -> i32
  // CHECK: tt.atomic_rmw add, release, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i1) -> i32
  %3 = tt.atomic_rmw add, release, gpu, %arg0, %arg1, %arg2 : (!tt.ptr<i32>, i32, i1) -> i32
  // CHECK: tt.atomic_rmw max, release, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i1) -> i32
  %4 = tt.atomic_rmw max, release, gpu, %arg0, %arg1, %arg2 : (!tt.ptr<i32>, i32, i1) -> i32
  // CHECK: tt.atomic_rmw min, release, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i1) -> i32
  %5 = tt.atomic_rmw min, release, gpu, %arg0, %arg1, %arg2 : (!tt.ptr<i32>, i32, i1) -> i32
  // CHECK: tt.atomic_rmw umax, release, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i1) -> i32
  %6 = tt.atomic_rmw umax, release, gpu, %arg0, %arg1, %arg2 : (!tt.ptr<i32>, i32, i1) -> i32
  // CHECK: tt.atomic_rmw umin, release, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i1) -> i32
  %7 = tt.atomic_rmw umin, release, gpu, %arg0, %arg1, %arg2 : (!tt.ptr<i32>, i32, i1) -> i32
  // CHECK: tt.atomic_cas acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i32) -> i32
  %8 = tt.atomic_cas acq_rel, gpu, %arg0, %arg1, %arg1 : (!tt.ptr<i32>, i32, i32) -> i32
  // CHECK: tt.return
  tt.return
}
