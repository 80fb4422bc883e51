// RUN: tile-opt %s -triton-combine | filecheck %s

// CHECK-LABEL: tt.func @accumulate
tt.func @accumulate(%a: tensor<32x16xf16>, %b: tensor<16x32xf16>, %p: tensor<32x32x!tt.ptr<f32>>) -> tensor<32x32xf32> {
  // CHECK-NOT: arith.addf
  // CHECK: %[[C:.*]] = tt.load %arg2
  // CHECK-NEXT: %[[D:.*]] = tt.dot %arg0, %arg1, %[[C]], inputPrecision = tf32 : tensor<32x16xf16>
  // CHECK-NEXT: tt.return %[[D]]
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %0 = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<32x16xf16> * tensor<16x32xf16> -> tensor<32x32xf32>
  // The addend comes after the dot.
  %c = tt.load %p : tensor<32x32x!tt.ptr<f32>>
  %1 = arith.addf %0, %c : tensor<32x32xf32>
  tt.return %1 : tensor<32x32xf32>
}

// CHECK-LABEL: tt.func @accumulate_integers
tt.func @accumulate_integers(%a: tensor<32x32xi8>, %c: tensor<32x32xi32>) -> tensor<32x32xi32> {
  // CHECK-NEXT: %[[D:.*]] = tt.dot %arg0, %arg0, %arg1 : tensor<32x32xi8>
  // CHECK-NEXT: tt.return %[[D]]
  %zero = arith.constant dense<0> : tensor<32x32xi32>
  %0 = tt.dot %a, %a, %zero : tensor<32x32xi8> * tensor<32x32xi8> -> tensor<32x32xi32>
  %1 = arith.addi %c, %0 : tensor<32x32xi32>
  tt.return %1 : tensor<32x32xi32>
}

// CHECK-LABEL: tt.func @accumulate_scaled
tt.func @accumulate_scaled(%a: tensor<128x64xf8E4M3FN>, %b: tensor<64x128xf8E4M3FN>, %s: tensor<128x2xi8>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  // CHECK-NEXT: %[[D:.*]] = tt.dot_scaled %arg0 scale %arg2, %arg1, %arg3 lhs = e4m3 rhs = e4m3
  // CHECK-NEXT: tt.return %[[D]]
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %0 = tt.dot_scaled %a scale %s, %b, %zero lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<64x128xf8E4M3FN> -> tensor<128x128xf32>
  %1 = arith.addf %0, %c : tensor<128x128xf32>
  tt.return %1 : tensor<128x128xf32>
}

// CHECK-LABEL: tt.func @accumulate_nothing
tt.func @accumulate_nothing(%a: tensor<32x32xf8E5M2>, %c: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  // A limit on imprecise additions is about this accumulation.
  // CHECK: tt.dot
  // CHECK: arith.addf
  %0 = tt.dot %a, %a, %zero {maxNumImpreciseAcc = 32 : i32} : tensor<32x32xf8E5M2> * tensor<32x32xf8E5M2> -> tensor<32x32xf32>
  %1 = arith.addf %0, %c : tensor<32x32xf32>
  // The product itself is used, too.
  // CHECK: tt.dot
  // CHECK: arith.addf
  %2 = tt.dot %a, %a, %zero : tensor<32x32xf8E5M2> * tensor<32x32xf8E5M2> -> tensor<32x32xf32>
  %3 = arith.addf %2, %c : tensor<32x32xf32>
  tt.return %1, %2, %3 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}

// CHECK-LABEL: tt.func @select_of_load
tt.func @select_of_load(%p: tensor<8x!tt.ptr<f32>>, %c: i1, %m: tensor<8xi1>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[M:.*]] = tt.splat %arg1
  // CHECK-NEXT: %[[A:.*]] = tt.load %arg0, %[[M]], %arg3
  // CHECK-NEXT: %[[B:.*]] = tt.load %arg0, %arg2, %arg3
  // CHECK-NEXT: tt.return %[[A]], %[[B]]
  %mask = tt.splat %c : i1 -> tensor<8xi1>
  %0 = tt.load %p, %mask : tensor<8x!tt.ptr<f32>>
  %1 = arith.select %c, %0, %x : tensor<8xf32>
  %2 = tt.load %p, %m, %1 : tensor<8x!tt.ptr<f32>>
  %3 = arith.select %m, %2, %x : tensor<8xi1>, tensor<8xf32>
  tt.return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: tt.func @select_too_late
tt.func @select_too_late(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>) -> tensor<8xf32> {
  // CHECK: arith.select
  %0 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %p : tensor<8x!tt.ptr<f32>>
  %2 = arith.select %m, %0, %1 : tensor<8xi1>, tensor<8xf32>
  tt.return %2 : tensor<8xf32>
}

// CHECK-LABEL: tt.func @addptr_pairs
tt.func @addptr_pairs(%p: !tt.ptr<f32>, %i: i64, %j: i32) -> (!tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>) {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %max = arith.constant 2147483647 : i32
  // CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i32
  // CHECK-DAG: %[[SUM:.*]] = arith.addi %arg1, %arg1 : i64
  // CHECK-DAG: %[[A:.*]] = tt.addptr %arg0, %[[C7]] : !tt.ptr<f32>, i32
  // CHECK-DAG: %[[B:.*]] = tt.addptr %arg0, %[[SUM]] : !tt.ptr<f32>, i64
  %0 = tt.addptr %p, %c3 : !tt.ptr<f32>, i32
  %1 = tt.addptr %0, %c4 : !tt.ptr<f32>, i32
  %2 = tt.addptr %p, %i : !tt.ptr<f32>, i64
  %3 = tt.addptr %2, %i : !tt.ptr<f32>, i64
  // These sums may need more than 32 bits.
  // CHECK-DAG: %[[C0:.*]] = tt.addptr %arg0, %arg2
  // CHECK-DAG: %[[C:.*]] = tt.addptr %[[C0]], %arg2
  // CHECK-DAG: %[[D:.*]] = tt.addptr %{{.*}}, %c2147483647_i32
  %4 = tt.addptr %p, %j : !tt.ptr<f32>, i32
  %5 = tt.addptr %4, %j : !tt.ptr<f32>, i32
  %6 = tt.addptr %0, %max : !tt.ptr<f32>, i32
  // CHECK: tt.return %[[A]], %[[B]], %[[C]], %[[D]]
  tt.return %1, %3, %5, %6 : !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>
}

// CHECK-LABEL: tt.func @sum_of_products
tt.func @sum_of_products(%a: tensor<32x16xf32>, %b: tensor<16x64xf32>) -> tensor<32x64xf32> {
  // CHECK-NEXT: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<32x64xf32>
  // CHECK-NEXT: %[[D:.*]] = tt.dot %arg0, %arg1, %[[Z]] : tensor<32x16xf32> * tensor<16x64xf32> -> tensor<32x64xf32>
  // CHECK-NEXT: tt.return %[[D]]
  %0 = tt.expand_dims %a {axis = 2 : i32} : tensor<32x16xf32> -> tensor<32x16x1xf32>
  %1 = tt.expand_dims %b {axis = 0 : i32} : tensor<16x64xf32> -> tensor<1x16x64xf32>
  %2 = tt.broadcast %0 : tensor<32x16x1xf32> -> tensor<32x16x64xf32>
  %3 = tt.broadcast %1 : tensor<1x16x64xf32> -> tensor<32x16x64xf32>
  %4 = arith.mulf %3, %2 : tensor<32x16x64xf32>
  %5 = "tt.reduce"(%4) <{axis = 1 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x16x64xf32>) -> tensor<32x64xf32>
  tt.return %5 : tensor<32x64xf32>
}

// CHECK-LABEL: tt.func @small_sum_of_products
tt.func @small_sum_of_products(%a: tensor<32x8xf32>, %b: tensor<8x64xf32>) -> tensor<32x64xf32> {
  // CHECK-NOT: tt.dot
  // CHECK: "tt.reduce"
  %0 = tt.expand_dims %a {axis = 2 : i32} : tensor<32x8xf32> -> tensor<32x8x1xf32>
  %1 = tt.expand_dims %b {axis = 0 : i32} : tensor<8x64xf32> -> tensor<1x8x64xf32>
  %2 = tt.broadcast %0 : tensor<32x8x1xf32> -> tensor<32x8x64xf32>
  %3 = tt.broadcast %1 : tensor<1x8x64xf32> -> tensor<32x8x64xf32>
  %4 = arith.mulf %2, %3 : tensor<32x8x64xf32>
  %5 = "tt.reduce"(%4) <{axis = 1 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x8x64xf32>) -> tensor<32x64xf32>
  tt.return %5 : tensor<32x64xf32>
}

// A product before a loop stays there, though only the loop adds it.
// CHECK-LABEL: tt.func @product_before_loop
tt.func @product_before_loop(%a: tensor<32x32xf16>, %c: tensor<32x32xf32>, %n: i32) -> tensor<32x32xf32> {
  // CHECK: tt.dot
  // CHECK: scf.for
  // CHECK-NEXT: arith.addf
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %0 = tt.dot %a, %a, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<32x32xf32>) : i32 {
    %s = arith.addf %acc, %0 : tensor<32x32xf32>
    scf.yield %s : tensor<32x32xf32>
  }
  tt.return %1 : tensor<32x32xf32>
}

// One in the loop takes what the loop adds up.
// CHECK-LABEL: tt.func @product_in_loop
tt.func @product_in_loop(%a: tensor<32x32xf16>, %c: tensor<32x32xf32>, %n: i32) -> tensor<32x32xf32> {
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %arg1)
  // CHECK-NEXT: %[[D:.*]] = tt.dot %arg0, %arg0, %[[ACC]]
  // CHECK-NEXT: scf.yield %[[D]]
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<32x32xf32>) : i32 {
    %0 = tt.dot %a, %a, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %s = arith.addf %acc, %0 : tensor<32x32xf32>
    scf.yield %s : tensor<32x32xf32>
  }
  tt.return %1 : tensor<32x32xf32>
}

// The matrices of a batch need no reshape, and are read where they were.
// CHECK-LABEL: tt.func @matrix_of_batch
tt.func @matrix_of_batch(%desc: !tt.tensordesc<tensor<1x1x16x32xf16>>, %p: !tt.ptr<i32>, %i: i32) -> tensor<16x32xf16> {
  // CHECK: %[[M:.*]] = tt.descriptor_load %arg0[%arg2, %arg2, %arg2, %arg2] evictionPolicy = evict_first : !tt.tensordesc<tensor<1x1x16x32xf16>> -> tensor<16x32xf16>
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.descriptor_store %arg0[%arg2, %arg2, %arg2, %arg2], %[[M]] : {{.*}}, tensor<16x32xf16>
  // CHECK-NEXT: tt.return %[[M]]
  %0 = tt.descriptor_load %desc[%i, %i, %i, %i] evictionPolicy = evict_first : !tt.tensordesc<tensor<1x1x16x32xf16>> -> tensor<1x1x16x32xf16>
  tt.store %p, %i : !tt.ptr<i32>
  %1 = tt.reshape %0 : tensor<1x1x16x32xf16> -> tensor<16x32xf16>
  %2 = tt.reshape %1 : tensor<16x32xf16> -> tensor<1x16x32xf16>
  tt.descriptor_store %desc[%i, %i, %i, %i], %2 : !tt.tensordesc<tensor<1x1x16x32xf16>>, tensor<1x16x32xf16>
  tt.return %1 : tensor<16x32xf16>
}

// What is more than that stays, and so does a block that is used as it is.
// CHECK-LABEL: tt.func @other_reshapes
tt.func @other_reshapes(%desc: !tt.tensordesc<tensor<1x16x32xf16>>, %i: i32) -> (tensor<32x16xf16>, tensor<16x32xf16>, tensor<512xf16>) {
  // CHECK-COUNT-3: tt.descriptor_load {{.*}} -> tensor<1x16x32xf16>
  // CHECK-COUNT-3: tt.reshape
  // CHECK: tt.descriptor_store {{.*}}, tensor<1x16x32xf16>
  %0 = tt.descriptor_load %desc[%i, %i, %i] : !tt.tensordesc<tensor<1x16x32xf16>> -> tensor<1x16x32xf16>
  %1 = tt.descriptor_load %desc[%i, %i, %i] : !tt.tensordesc<tensor<1x16x32xf16>> -> tensor<1x16x32xf16>
  %2 = tt.descriptor_load %desc[%i, %i, %i] : !tt.tensordesc<tensor<1x16x32xf16>> -> tensor<1x16x32xf16>
  %3 = tt.reshape %0 : tensor<1x16x32xf16> -> tensor<32x16xf16>
  %4 = tt.reshape %1 : tensor<1x16x32xf16> -> tensor<16x32xf16>
  %5 = tt.reshape %2 : tensor<1x16x32xf16> -> tensor<512xf16>
  tt.descriptor_store %desc[%i, %i, %i], %1 : !tt.tensordesc<tensor<1x16x32xf16>>, tensor<1x16x32xf16>
  tt.return %3, %4, %5 : tensor<32x16xf16>, tensor<16x32xf16>, tensor<512xf16>
}
