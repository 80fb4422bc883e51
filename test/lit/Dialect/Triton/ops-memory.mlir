// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

// Round trips of address arithmetic, loads, stores and block pointers.

// CHECK-LABEL: tt.func @addptr(%arg0: !tt.ptr<f32>, %arg1: i64, %arg2: tensor<64x!tt.ptr<i8, 3>>, %arg3: tensor<64xi32>)
tt.func @addptr(%arg0: !tt.ptr<f32>, %arg1: i64, %arg2: tensor<64x!tt.ptr<i8, 3>>, %arg3: tensor<64xi32>) {
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : !tt.ptr<f32>, i64
  %0 = tt.addptr %arg0, %arg1 : !tt.ptr<f32>, i64
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<i8, 3>>, tensor<64xi32>
  %1 = tt.addptr %arg2, %arg3 : tensor<64x!tt.ptr<i8, 3>>, tensor<64xi32>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @load(%arg0: tensor<64x!tt.ptr<f32>>, %arg1: tensor<64xi1>, %arg2: tensor<64xf32>, %arg3: !tt.ptr<!tt.ptr<f32>>)
tt.func @load(%arg0: tensor<64x!tt.ptr<f32>>, %arg1: tensor<64xi1>, %arg2: tensor<64xf32>, %arg3: !tt.ptr<!tt.ptr<f32>>) {
  // CHECK: tt.load %{{.*}} : tensor<64x!tt.ptr<f32>>
  %0 = tt.load %arg0 : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<f32>>
  %1 = tt.load %arg0, %arg1 : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<f32>>
  %2 = tt.load %arg0, %arg1, %arg2 : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}} cacheModifier = cg : tensor<64x!tt.ptr<f32>>
  %3 = tt.load %arg0 cacheModifier = cg : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : tensor<64x!tt.ptr<f32>>
  %4 = tt.load %arg0, %arg1, %arg2 cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}} evictionPolicy = evict_first {isVolatile = true} : tensor<64x!tt.ptr<f32>>
  %5 = tt.load %arg0 evictionPolicy = evict_first {isVolatile = true} : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}} : !tt.ptr<!tt.ptr<f32>>
  %6 = tt.load %arg3 : !tt.ptr<!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}} {tt.latency = 2 : i32} : !tt.ptr<f32>
  %7 = tt.load %6 {tt.latency = 2 : i32} : !tt.ptr<f32>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @store(%arg0: tensor<64x!tt.ptr<f32>>, %arg1: tensor<64xi1>, %arg2: tensor<64xf32>, %arg3: !tt.ptr<i64>, %arg4: i64)
tt.func @store(%arg0: tensor<64x!tt.ptr<f32>>, %arg1: tensor<64xi1>, %arg2: tensor<64xf32>, %arg3: !tt.ptr<i64>, %arg4: i64) {
  // CHECK: tt.store %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<f32>>
  tt.store %arg0, %arg2 : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<f32>>
  tt.store %arg0, %arg2, %arg1 : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} cacheModifier = cs evictionPolicy = evict_first : tensor<64x!tt.ptr<f32>>
  tt.store %arg0, %arg2, %arg1 cacheModifier = cs evictionPolicy = evict_first : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.store %{{.*}}, %{{.*}} cacheModifier = wt : !tt.ptr<i64>
  tt.store %arg3, %arg4 cacheModifier = wt : !tt.ptr<i64>
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @block_pointer(%arg0: !tt.ptr<f16>, %arg1: i64, %arg2: i32)
tt.func @block_pointer(%arg0: !tt.ptr<f16>, %arg1: i64, %arg2: i32) {
  // CHECK: tt.make_tensor_ptr %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
  %0 = tt.make_tensor_ptr %arg0, [%arg1, %arg1], [%arg1, %arg1], [%arg2, %arg2] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
  // CHECK: tt.load %{{.*}} : !tt.ptr<tensor<64x32xf16>>
  %1 = tt.load %0 : !tt.ptr<tensor<64x32xf16>>
  // CHECK: tt.load %{{.*}} evictionPolicy = evict_first {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<64x32xf16>>
  %2 = tt.load %0 evictionPolicy = evict_first {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<64x32xf16>>
  // CHECK: tt.advance %{{.*}}, [%{{.*}}, %{{.*}}] : <tensor<64x32xf16>>
  %3 = tt.advance %0, [%arg2, %arg2] : <tensor<64x32xf16>>
  // CHECK: tt.advance %{{.*}}, [%{{.*}} : i64, %{{.*}}] : <tensor<64x32xf16>>
  %wide = tt.advance %0, [%arg1 : i64, %arg2 : i32] : <tensor<64x32xf16>>
  // CHECK: tt.make_tensor_ptr %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}} : i64] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
  %far = tt.make_tensor_ptr %arg0, [%arg1, %arg1], [%arg1, %arg1], [%arg2, %arg1 : i64] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
  // CHECK: tt.store %{{.*}}, %{{.*}} cacheModifier = cs {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<64x32xf16>>
  tt.store %3, %1 cacheModifier = cs {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<64x32xf16>>
  // CHECK: tt.return
  tt.return
}
