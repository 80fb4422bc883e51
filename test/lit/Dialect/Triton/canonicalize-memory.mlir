// RUN: tile-opt %s -canonicalize | filecheck %s

// CHECK-LABEL: tt.func @addptr_of_zero
tt.func @addptr_of_zero(%p: tensor<4x!tt.ptr<f32>>, %q: !tt.ptr<f32>) -> (tensor<4x!tt.ptr<f32>>, !tt.ptr<f32>) {
  // CHECK-NEXT: tt.return %arg0, %arg1
  %c0 = arith.constant dense<0> : tensor<4xi32>
  %z = arith.constant 0 : i64
  %0 = tt.addptr %p, %c0 : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  %1 = tt.addptr %q, %z : !tt.ptr<f32>, i64
  tt.return %0, %1 : tensor<4x!tt.ptr<f32>>, !tt.ptr<f32>
}

// CHECK-LABEL: tt.func @load_all
tt.func @load_all(%p: tensor<4x!tt.ptr<f32>>, %other: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[L:.*]] = tt.load %arg0 cacheModifier = ca evictionPolicy = evict_first {isVolatile = true, tt.latency = 1 : i32} : tensor<4x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return %[[L]]
  %mask = arith.constant dense<true> : tensor<4xi1>
  %0 = tt.load %p, %mask, %other cacheModifier = ca evictionPolicy = evict_first {isVolatile = true, tt.latency = 1 : i32} : tensor<4x!tt.ptr<f32>>
  tt.return %0 : tensor<4xf32>
}

// CHECK-LABEL: tt.func @load_nothing
tt.func @load_nothing(%p: tensor<4x!tt.ptr<f32>>, %other: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK-NEXT: tt.return %arg1, %[[Z]]
  %false = arith.constant false
  %mask = tt.splat %false : i1 -> tensor<4xi1>
  %0 = tt.load %p, %mask, %other : tensor<4x!tt.ptr<f32>>
  %1 = tt.load %p, %mask : tensor<4x!tt.ptr<f32>>
  tt.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Pointers have no constants to stand for what was not loaded.
// CHECK-LABEL: tt.func @load_no_pointer
tt.func @load_no_pointer(%p: !tt.ptr<!tt.ptr<f32>>) -> !tt.ptr<f32> {
  // CHECK: tt.load %arg0, %{{.*}} : !tt.ptr<!tt.ptr<f32>>
  %false = arith.constant false
  %0 = tt.load %p, %false : !tt.ptr<!tt.ptr<f32>>
  tt.return %0 : !tt.ptr<f32>
}

// CHECK-LABEL: tt.func @stores
tt.func @stores(%p: !tt.ptr<i32>, %v: i32) {
  // CHECK-NEXT: tt.store %arg0, %arg1 cacheModifier = cg : !tt.ptr<i32>
  // CHECK-NEXT: tt.return
  %false = arith.constant false
  %true = arith.constant true
  tt.store %p, %v, %false : !tt.ptr<i32>
  tt.store %p, %v, %true cacheModifier = cg : !tt.ptr<i32>
  tt.return
}

// CHECK-LABEL: tt.func @atomics
tt.func @atomics(%p: !tt.ptr<i32>, %v: i32) -> i32 {
  // CHECK: %[[R:.*]] = tt.atomic_rmw add
  // CHECK-NOT: tt.atomic_rmw
  // CHECK: tt.return %[[R]]
  %false = arith.constant false
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v, %false : (!tt.ptr<i32>, i32, i1) -> i32
  %1 = tt.atomic_rmw or, relaxed, gpu, %p, %v, %false : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return %0 : i32
}

// CHECK-LABEL: tt.func @advance
tt.func @advance(%p: !tt.ptr<tensor<8x8xf32>>, %i: i32) -> (!tt.ptr<tensor<8x8xf32>>, !tt.ptr<tensor<8x8xf32>>) {
  // CHECK-DAG: %[[C:.*]] = arith.constant 5 : i32
  // CHECK-DAG: %[[I:.*]] = arith.extsi %arg1 : i32 to i64
  // CHECK-DAG: %[[J:.*]] = arith.extsi %arg1 : i32 to i64
  // CHECK-DAG: %[[S:.*]] = arith.addi %[[I]], %[[J]] : i64
  // CHECK: %[[A:.*]] = tt.advance %arg0, [%[[S]] : i64, %[[C]]] : <tensor<8x8xf32>>
  // CHECK: tt.return %arg0, %[[A]]
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %0 = tt.advance %p, [%c0, %c0] : <tensor<8x8xf32>>
  %1 = tt.advance %p, [%i, %c2] : <tensor<8x8xf32>>
  %2 = tt.advance %1, [%i, %c3] : <tensor<8x8xf32>>
  tt.return %0, %2 : !tt.ptr<tensor<8x8xf32>>, !tt.ptr<tensor<8x8xf32>>
}

// The sum of two offsets may need more bits than they have.
// CHECK-LABEL: tt.func @advance_far
tt.func @advance_far(%p: !tt.ptr<tensor<8x8xf32>>, %i: i64) -> !tt.ptr<tensor<8x8xf32>> {
  // CHECK: %[[C:.*]] = arith.constant 4294967294 : i64
  // CHECK: %[[A:.*]] = tt.advance %arg0, [%arg1 : i64, %[[C]] : i64] : <tensor<8x8xf32>>
  // CHECK: tt.return %[[A]]
  %c0 = arith.constant 0 : i64
  %max = arith.constant 2147483647 : i32
  %0 = tt.advance %p, [%c0 : i64, %max] : <tensor<8x8xf32>>
  %1 = tt.advance %0, [%i : i64, %max] : <tensor<8x8xf32>>
  tt.return %1 : !tt.ptr<tensor<8x8xf32>>
}

// CHECK-LABEL: tt.func @assertions
tt.func @assertions(%x: i1) {
  // CHECK-NEXT: tt.assert %arg0, "kept" : i1
  // CHECK-NEXT: tt.return
  %true = arith.constant dense<true> : tensor<4xi1>
  tt.assert %true, "dropped" : tensor<4xi1>
  tt.assert %x, "kept" : i1
  tt.return
}
