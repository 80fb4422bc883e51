// RUN: tile-opt %s -split-input-file -triton-raise-pointers-to-descriptors -canonicalize -cse | filecheck %s

// The rows of the one operand go on along themselves, those of the other one
// down. Pointers are carried no more.
// CHECK-LABEL: tt.func public @product
tt.func public @product(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: i32 {tt.divisibility = 16 : i32, tt.non_negative = 1 : i32, tt.max = 1073741823 : i32}) -> tensor<64x32xf32> {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %stride = arith.constant dense<512> : tensor<64x1xi32>
  %strideB = arith.constant dense<64> : tensor<16x1xi32>
  %stepA = arith.constant dense<16> : tensor<64x16xi32>
  %stepB = arith.constant dense<1024> : tensor<16x32xi32>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %m = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %n = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %m1 = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %i0 = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %n0 = tt.expand_dims %n {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %rowA = arith.muli %m1, %stride : tensor<64x1xi32>
  %rowB = arith.muli %i1, %strideB : tensor<16x1xi32>
  %rowsA = tt.broadcast %rowA : tensor<64x1xi32> -> tensor<64x16xi32>
  %colsA = tt.broadcast %i0 : tensor<1x16xi32> -> tensor<64x16xi32>
  %rowsB = tt.broadcast %rowB : tensor<16x1xi32> -> tensor<16x32xi32>
  %colsB = tt.broadcast %n0 : tensor<1x32xi32> -> tensor<16x32xi32>
  %offA = arith.addi %rowsA, %colsA : tensor<64x16xi32>
  %offB = arith.addi %rowsB, %colsB : tensor<16x32xi32>
  %splatA = tt.splat %a : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>>
  %splatB = tt.splat %b : !tt.ptr<f16> -> tensor<16x32x!tt.ptr<f16>>
  %firstA = tt.addptr %splatA, %offA : tensor<64x16x!tt.ptr<f16>>, tensor<64x16xi32>
  %firstB = tt.addptr %splatB, %offB : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
  // CHECK-DAG: %[[DA:.*]] = tt.make_tensor_descriptor %arg0, [%{{.*}}, %{{.*}}], [%c512_i64, %c1_i64] : <f16>, <tensor<64x16xf16>>
  // CHECK-DAG: %[[DB:.*]] = tt.make_tensor_descriptor %arg1, [%{{.*}}, %{{.*}}], [%c64_i64, %c1_i64] : <f16>, <tensor<16x32xf16>>
  // CHECK: scf.for %[[I:.*]] = %c0_i32 to %arg2 step %c16_i32 iter_args(%{{.*}} = %{{.*}}) -> (tensor<64x32xf32>)
  // CHECK-NEXT: tt.descriptor_load %[[DA]][%c0_i32, %[[I]]]
  // CHECK-NEXT: tt.descriptor_load %[[DB]][%[[I]], %c0_i32]
  // CHECK-NEXT: tt.dot
  %r:3 = scf.for %t = %c0 to %k step %c16 iter_args(%acc = %zero, %pa = %firstA, %pb = %firstB) -> (tensor<64x32xf32>, tensor<64x16x!tt.ptr<f16>>, tensor<16x32x!tt.ptr<f16>>) : i32 {
    %x = tt.load %pa : tensor<64x16x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<16x32x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc : tensor<64x16xf16> * tensor<16x32xf16> -> tensor<64x32xf32>
    %na = tt.addptr %pa, %stepA : tensor<64x16x!tt.ptr<f16>>, tensor<64x16xi32>
    %nb = tt.addptr %pb, %stepB : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    scf.yield %d, %na, %nb : tensor<64x32xf32>, tensor<64x16x!tt.ptr<f16>>, tensor<16x32x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x32xf32>
}

// -----

// The bound is where the matrix ends. The counter does not begin at zero.
// CHECK-LABEL: tt.func public @masked
tt.func public @masked(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<32x64xf16>, %first: i32 {tt.divisibility = 16 : i32, tt.non_negative = 1 : i32, tt.max = 1073741823 : i32}, %k: i32 {tt.non_negative = 1 : i32, tt.max = 1073741823 : i32}) -> tensor<64x64xf32> {
  %c32 = arith.constant 32 : i32
  %width = arith.constant dense<64> : tensor<1x32xi32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x32xf16>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rows = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x32xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %limit = tt.splat %k : i32 -> tensor<32xi32>
  // CHECK: %[[OFFSET:.*]] = arith.muli %{{.*}}, %c64_i64
  // CHECK: %[[BASE:.*]] = tt.addptr %arg0, %[[OFFSET]]
  // CHECK: %[[END:.*]] = arith.trunci
  // CHECK: tt.make_tensor_descriptor %[[BASE]], [%[[END]], %{{.*}}], [%c64_i64, %c1_i64] : <f16>, <tensor<32x64xf16>>
  // CHECK: scf.for %[[I:.*]] = %arg2
  // CHECK: %[[ROW:.*]] = arith.subi %[[I]], %arg2
  // CHECK: %[[BLOCK:.*]] = tt.descriptor_load %{{.*}}[%[[ROW]], %c0_i32]
  // CHECK: tt.trans %[[BLOCK]] {order = array<i32: 1, 0>}
  %d = scf.for %t = %first to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %ts = tt.splat %t : i32 -> tensor<32xi32>
    %at = arith.addi %ts, %i : tensor<32xi32>
    %at0 = tt.expand_dims %at {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %col = arith.muli %at0, %width : tensor<1x32xi32>
    %cols = tt.broadcast %col : tensor<1x32xi32> -> tensor<64x32xi32>
    %off = arith.addi %rows, %cols : tensor<64x32xi32>
    %p = tt.addptr %base, %off : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %in = arith.cmpi slt, %at, %limit : tensor<32xi32>
    %in0 = tt.expand_dims %in {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
    %mask = tt.broadcast %in0 : tensor<1x32xi1> -> tensor<64x32xi1>
    %x = tt.load %p, %mask, %none : tensor<64x32x!tt.ptr<f16>>
    %s = tt.dot %x, %b, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  tt.return %d : tensor<64x64xf32>
}

// -----

// Remainders are no rows of a matrix if one of them wraps around. Neither are
// rows that may all be the same one.
// CHECK-LABEL: tt.func public @wraps
tt.func public @wraps(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<32x64xf16>, %m: i32 {tt.non_negative = 1 : i32, tt.max = 1073741823 : i32}, %stride: i32 {tt.divisibility = 16 : i32, tt.non_negative = 1 : i32, tt.max = 1073741823 : i32}) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c96 = arith.constant 96 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %ms = tt.splat %m : i32 -> tensor<64xi32>
  %w = arith.remui %r, %ms : tensor<64xi32>
  %w1 = tt.expand_dims %w {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
  %row = arith.muli %w1, %strides : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x32xi32>
  %i0 = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cols = tt.broadcast %i0 : tensor<1x32xi32> -> tensor<64x32xi32>
  %off = arith.addi %rows, %cols : tensor<64x32xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %first = tt.addptr %base, %off : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  // CHECK-DAG: %[[INSIDE:.*]] = arith.cmpi sgt, %{{.*}}, %c63_i64
  // CHECK-DAG: %[[APART:.*]] = arith.cmpi sgt, %{{.*}}, %c0_i64
  // CHECK: %[[GUARD:.*]] = arith.andi %[[INSIDE]], %[[APART]]
  // CHECK: scf.if %[[GUARD]]
  // CHECK: tt.make_tensor_descriptor
  // CHECK: tt.descriptor_load
  // CHECK: else
  // CHECK-NOT: tt.descriptor_load
  // CHECK: tt.load
  %d = scf.for %t = %c0 to %c96 step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %ts = tt.splat %t : i32 -> tensor<64x32xi32>
    %p = tt.addptr %first, %ts : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %x = tt.load %p : tensor<64x32x!tt.ptr<f16>>
    %s = tt.dot %x, %b, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  tt.return %d : tensor<64x64xf32>
}
