// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

// Round trips of tensor descriptors.

// CHECK-LABEL: tt.func @make(%arg0: !tt.ptr<f16>, %arg1: i32, %arg2: i64, %arg3: !tt.ptr<i8>)
tt.func @make(%arg0: !tt.ptr<f16>, %arg1: i32, %arg2: i64, %arg3: !tt.ptr<i8>) {
  // CHECK: tt.make_tensor_descriptor %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] : <f16>, <tensor<64x32xf16>>
  %0 = tt.make_tensor_descriptor %arg0, [%arg1, %arg1], [%arg2, %arg2] : <f16>, <tensor<64x32xf16>>
  // CHECK: tt.make_tensor_descriptor %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] {padding = 2 : i32} : <f16>, <tensor<64x32xf16>>
  %1 = tt.make_tensor_descriptor %arg0, [%arg1, %arg1], [%arg2, %arg2] {padding = 2 : i32} : <f16>, <tensor<64x32xf16>>
  // CHECK: tt.make_tensor_descriptor %{{.*}}, [%{{.*}}], [%{{.*}}] : <i8>, <tensor<256xi8>>
  %2 = tt.make_tensor_descriptor %arg3, [%arg1], [%arg2] : <i8>, <tensor<256xi8>>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @blocks(%arg0: !tt.tensordesc<tensor<64x32xf16>>, %arg1: i32, %arg2: !tt.tensordesc<tensor<1x64x32xf16>>)
tt.func @blocks(%arg0: !tt.tensordesc<tensor<64x32xf16>>, %arg1: i32, %arg2: !tt.tensordesc<tensor<1x64x32xf16>>) {
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  %0 = tt.descriptor_load %arg0[%arg1, %arg1] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] cacheModifier = ca evictionPolicy = evict_first : !tt.tensordesc<tensor<1x64x32xf16>> -> tensor<64x32xf16>
  %1 = tt.descriptor_load %arg2[%arg1, %arg1, %arg1] cacheModifier = ca evictionPolicy = evict_first : !tt.tensordesc<tensor<1x64x32xf16>> -> tensor<64x32xf16>
  // CHECK: tt.descriptor_store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<tensor<64x32xf16>>, tensor<64x32xf16>
  tt.descriptor_store %arg0[%arg1, %arg1], %0 : !tt.tensordesc<tensor<64x32xf16>>, tensor<64x32xf16>
  // CHECK: tt.descriptor_reduce add, %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<tensor<64x32xf16>>, tensor<64x32xf16>
  tt.descriptor_reduce add, %arg0[%arg1, %arg1], %0 : !tt.tensordesc<tensor<64x32xf16>>, tensor<64x32xf16>
  // CHECK: tt.descriptor_reduce max, %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<tensor<64x32xf16>>, tensor<64x32xf16>
  tt.descriptor_reduce max, %arg0[%arg1, %arg1], %0 : !tt.tensordesc<tensor<64x32xf16>>, tensor<64x32xf16>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @rows(%arg0: !tt.tensordesc<tensor<1x32xf16>>, %arg1: tensor<64xi32>, %arg2: i32)
tt.func @rows(%arg0: !tt.tensordesc<tensor<1x32xf16>>, %arg1: tensor<64xi32>, %arg2: i32) {
  // CHECK: tt.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] : (!tt.tensordesc<tensor<1x32xf16>>, tensor<64xi32>, i32) -> tensor<64x32xf16>
  %0 = tt.descriptor_gather %arg0[%arg1, %arg2] : (!tt.tensordesc<tensor<1x32xf16>>, tensor<64xi32>, i32) -> tensor<64x32xf16>
  // CHECK: tt.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<tensor<1x32xf16>>, tensor<64xi32>, i32, tensor<64x32xf16>
  tt.descriptor_scatter %arg0[%arg1, %arg2], %0 : !tt.tensordesc<tensor<1x32xf16>>, tensor<64xi32>, i32, tensor<64x32xf16>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @unsigned(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i64)
tt.func @unsigned(%arg0: !tt.ptr<i32>, %arg1: i32, %arg2: i64) {
  // CHECK: tt.make_tensor_descriptor %{{.*}}, [%{{.*}}], [%{{.*}}] : <i32>, <tensor<64xui32>>
  %0 = tt.make_tensor_descriptor %arg0, [%arg1], [%arg2] : <i32>, <tensor<64xui32>>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}] : !tt.tensordesc<tensor<64xui32>> -> tensor<64xi32>
  %1 = tt.descriptor_load %0[%arg1] : !tt.tensordesc<tensor<64xui32>> -> tensor<64xi32>
  // CHECK: tt.descriptor_reduce max, %{{.*}}[%{{.*}}], %{{.*}} : !tt.tensordesc<tensor<64xui32>>, tensor<64xi32>
  tt.descriptor_reduce max, %0[%arg1], %1 : !tt.tensordesc<tensor<64xui32>>, tensor<64xi32>
  // CHECK: tt.return
  tt.return
}
