// RUN: tile-opt %s -canonicalize -split-input-file | filecheck %s

// Folds and canonicalizations of the dialect.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#line1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#sharedT = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#plain1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#plain2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: @convert_twice
tt.func @convert_twice(%t: tensor<64x64xf16, #blocked>) -> (tensor<64x64xf16, #mma>, tensor<64x64xf16, #blocked>) {
  // CHECK-NEXT: %[[C:.*]] = ttg.convert_layout %arg0 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>
  // CHECK-NEXT: tt.return %[[C]], %arg0
  %0 = ttg.convert_layout %t : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #blocked1>
  %1 = ttg.convert_layout %0 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #mma>
  %2 = ttg.convert_layout %0 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #blocked>
  tt.return %1, %2 : tensor<64x64xf16, #mma>, tensor<64x64xf16, #blocked>
}

// CHECK-LABEL: @convert_source
tt.func @convert_source(%x: f32) -> (tensor<128xf32, #line>, tensor<128xf32, #line>, tensor<128xi32, #line>) {
  // CHECK-DAG: %[[A:.*]] = arith.constant dense<1.000000e+00> : tensor<128xf32, #blocked{{[0-9]*}}>
  // CHECK-DAG: %[[B:.*]] = tt.splat %arg0 : f32 -> tensor<128xf32, #[[LINE:.*]]>
  // CHECK-DAG: %[[C:.*]] = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #[[LINE]]>
  // CHECK-NOT: convert_layout
  // CHECK: tt.return %[[A]], %[[B]], %[[C]]
  %cst = arith.constant dense<1.0> : tensor<128xf32, #line1>
  %0 = ttg.convert_layout %cst : tensor<128xf32, #line1> -> tensor<128xf32, #line>
  %1 = tt.splat %x : f32 -> tensor<128xf32, #line1>
  %2 = ttg.convert_layout %1 : tensor<128xf32, #line1> -> tensor<128xf32, #line>
  %3 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #line1>
  %4 = ttg.convert_layout %3 : tensor<128xi32, #line1> -> tensor<128xi32, #line>
  tt.return %0, %2, %4 : tensor<128xf32, #line>, tensor<128xf32, #line>, tensor<128xi32, #line>
}

// CHECK-LABEL: @convert_reshape
tt.func @convert_reshape(%t: tensor<128xf32, #line>) -> (tensor<16x8xf32, #blocked>, tensor<16x8xf32, #blocked>) {
  // CHECK: %[[A:.*]] = tt.reshape %arg0 allow_reorder : {{.*}} -> tensor<16x8xf32, #blocked>
  // CHECK: %[[B:.*]] = tt.reshape %arg0 allow_reorder efficient_layout
  // CHECK: %[[C:.*]] = ttg.convert_layout %[[B]]
  // CHECK: tt.return %[[A]], %[[C]]
  %0 = tt.reshape %t allow_reorder : tensor<128xf32, #line> -> tensor<16x8xf32, #blocked1>
  %1 = ttg.convert_layout %0 : tensor<16x8xf32, #blocked1> -> tensor<16x8xf32, #blocked>
  %2 = tt.reshape %t allow_reorder efficient_layout : tensor<128xf32, #line> -> tensor<16x8xf32, #blocked1>
  %3 = ttg.convert_layout %2 : tensor<16x8xf32, #blocked1> -> tensor<16x8xf32, #blocked>
  tt.return %1, %3 : tensor<16x8xf32, #blocked>, tensor<16x8xf32, #blocked>
}

// The load keeps its place: a store follows it.

// CHECK-LABEL: @convert_load
tt.func @convert_load(%m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %s: tensor<64x64xf16, #blocked>) -> tensor<64x64xf16, #blocked> {
  // CHECK-NEXT: %[[L:.*]] = ttg.local_load %arg0 : {{.*}} -> tensor<64x64xf16, #blocked>
  // CHECK-NEXT: ttg.local_store %arg1, %arg0
  // CHECK-NEXT: tt.return %[[L]]
  %0 = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked1>
  ttg.local_store %s, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %1 = ttg.convert_layout %0 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #blocked>
  tt.return %1 : tensor<64x64xf16, #blocked>
}

// CHECK-LABEL: @load_alloc
tt.func @load_alloc(%t: tensor<64x64xf16, #blocked>) -> (tensor<64x64xf16, #blocked>, tensor<64x64xf16, #blocked1>) {
  // Another layout through memory, on purpose: stays.
  // CHECK: %[[A:.*]] = ttg.local_alloc %arg0
  // CHECK: %[[L:.*]] = ttg.local_load %[[A]] : {{.*}} -> tensor<64x64xf16, #blocked2>
  // CHECK: tt.return %arg0, %[[L]]
  %0 = ttg.local_alloc %t : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
  %1 = ttg.local_load %0 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
  %2 = ttg.local_load %0 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked1>
  tt.return %1, %2 : tensor<64x64xf16, #blocked>, tensor<64x64xf16, #blocked1>
}

// CHECK-LABEL: @alloc_load
tt.func @alloc_load(%m: !ttg.memdesc<64x64xf16, #shared, #smem>) -> !ttg.memdesc<64x64xf16, #shared, #smem> {
  // CHECK-NEXT: tt.return %arg0
  %0 = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
  %1 = ttg.local_alloc %0 : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
  tt.return %1 : !ttg.memdesc<64x64xf16, #shared, #smem>
}

// A buffer that can be written is another one than the copy.

// CHECK-LABEL: @alloc_load_mutable
tt.func @alloc_load_mutable(%m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable> {
  // CHECK: ttg.local_alloc
  %0 = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
  %1 = ttg.local_alloc %0 : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return %1 : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
}

// CHECK-LABEL: @views
tt.func @views(%m: !ttg.memdesc<64x64xf16, #shared, #smem>, %q: !ttg.memdesc<128xf16, #plain1, #smem>)
    -> (!ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<32x16xf16, #shared, #smem, 64x64>,
        !ttg.memdesc<128xf16, #plain1, #smem>, !ttg.memdesc<64xf16, #plain1, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>) {
  // CHECK-DAG: %[[S:.*]] = ttg.memdesc_subslice %arg0[32, 48] : {{.*}} -> !ttg.memdesc<32x16xf16, #shared, #smem, 64x64>
  // CHECK-DAG: %[[R:.*]] = ttg.memdesc_reinterpret %arg1 : {{.*}} -> !ttg.memdesc<64xf16, #shared{{[0-9]*}}, #smem>
  // CHECK: tt.return %arg0, %[[S]], %arg1, %[[R]], %arg0
  %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #sharedT, #smem>
  %1 = ttg.memdesc_trans %0 {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #sharedT, #smem> -> !ttg.memdesc<64x64xf16, #shared, #smem>
  %2 = ttg.memdesc_subslice %m[0, 32] : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x32xf16, #shared, #smem, 64x64>
  %3 = ttg.memdesc_subslice %2[32, 16] : !ttg.memdesc<64x32xf16, #shared, #smem, 64x64> -> !ttg.memdesc<32x16xf16, #shared, #smem, 64x64>
  %4 = ttg.memdesc_reshape %q : !ttg.memdesc<128xf16, #plain1, #smem> -> !ttg.memdesc<8x16xf16, #plain2, #smem>
  %5 = ttg.memdesc_reshape %4 : !ttg.memdesc<8x16xf16, #plain2, #smem> -> !ttg.memdesc<128xf16, #plain1, #smem>
  %6 = ttg.memdesc_reinterpret %q : !ttg.memdesc<128xf16, #plain1, #smem> -> !ttg.memdesc<32xf32, #plain1, #smem>
  %7 = ttg.memdesc_reinterpret %6 : !ttg.memdesc<32xf32, #plain1, #smem> -> !ttg.memdesc<64xf16, #plain1, #smem>
  %8 = ttg.memdesc_subslice %m[0, 0] : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #shared, #smem>
  tt.return %1, %3, %5, %7, %8 : !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<32x16xf16, #shared, #smem, 64x64>,
        !ttg.memdesc<128xf16, #plain1, #smem>, !ttg.memdesc<64xf16, #plain1, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>
}

// CHECK-LABEL: @predicates
tt.func @predicates() -> (i1, i1) {
  // The loop runs to 8 in steps of 2, so stage 0 of 2 ends 4 before that.
  // CHECK-DAG: %[[T:.*]] = arith.constant true
  // CHECK-DAG: %[[F:.*]] = arith.constant false
  // CHECK: tt.return %[[F]], %[[T]]
  %iv = arith.constant 4 : i32
  %ub = arith.constant 8 : i32
  %step = arith.constant 2 : i32
  %0 = ttg.predicate_stage %iv, %ub, %step maxStage 2 stage 0 : i32 -> i1
  %1 = ttg.predicate_stage %iv, %ub, %step maxStage 2 stage 1 : i32 -> i1
  tt.return %0, %1 : i1, i1
}

// Buffers and views that nobody uses go away, effects stay.

// CHECK-LABEL: @unused
tt.func @unused(%m: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %i: i32, %t: tensor<64x64xf16, #blocked>) {
  // CHECK-NEXT: ttg.async_commit_group
  // CHECK-NEXT: ttg.async_wait
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tt.return
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %1 = ttg.local_alloc %t : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
  %2 = ttg.local_load %m : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> tensor<2x64x64xf16>
  %3 = ttg.async_commit_group
  %4 = ttg.async_wait {num = 0 : i32}
  ttg.barrier local
  tt.return
}
