// RUN: tile-opt %s -tritoninstrument-memory-checker | filecheck %s
// RUN: tile-opt %s -tritoninstrument-memory-checker -tritoninstrument-memory-checker | filecheck %s

// CHECK: module attributes {tti.takes_bounds}
module {
  // Each pointer and each descriptor has two more parameters, behind all others.
  // CHECK: tt.func @masked(%[[X:.*]]: !tt.ptr<f16>, %[[I:.*]]: tensor<8xi32>, %{{.*}}: !tt.tensordesc<tensor<8xf32>>, %[[MASK:.*]]: tensor<8xi1>, %[[BEGIN:.*]]: i64, %[[BYTES:.*]]: i64, %{{.*}}: i64, %{{.*}}: i64)
  tt.func @masked(%x: !tt.ptr<f16> loc("x"), %i: tensor<8xi32>, %d: !tt.tensordesc<tensor<8xf32>>, %mask: tensor<8xi1>) -> tensor<8xf16> {
    %0 = tt.splat %x : !tt.ptr<f16> -> tensor<8x!tt.ptr<f16>>
    %1 = tt.addptr %0, %i : tensor<8x!tt.ptr<f16>>, tensor<8xi32>
    // CHECK: %[[ADDRESS:.*]] = tt.ptr_to_int
    // CHECK: %[[SIZE:.*]] = arith.constant 2 : i64
    // CHECK: %[[OFFSET:.*]] = arith.subi %[[ADDRESS]]
    // CHECK: %[[END:.*]] = arith.addi %[[OFFSET]]
    // CHECK: %[[A:.*]] = arith.cmpi ult, %[[OFFSET]]
    // CHECK: %[[B:.*]] = arith.cmpi ule, %[[END]]
    // CHECK: %[[INSIDE:.*]] = arith.andi %[[A]], %[[B]]
    // CHECK: %[[PASSES:.*]] = arith.ori %[[INSIDE]]
    // CHECK: tt.assert %[[PASSES]], "out of bounds: a load through `x`"
    // CHECK: %[[BOTH:.*]] = arith.andi %[[MASK]], %[[INSIDE]]
    // CHECK: tt.load %{{.*}}, %[[BOTH]]
    // CHECK-NOT: tt.assert
    %2 = tt.load %1, %mask : tensor<8x!tt.ptr<f16>>
    tt.return %2 : tensor<8xf16>
  }

  // CHECK-LABEL: @atomic
  tt.func @atomic(%x: !tt.ptr<i32>, %v: i32) {
    // CHECK: tt.assert %{{.*}}, "out of bounds: an atomic operation" : i1
    // CHECK: tt.atomic_cas
    %0 = tt.atomic_cas acq_rel, gpu, %x, %v, %v : (!tt.ptr<i32>, i32, i32) -> i32
    tt.return
  }

  // CHECK-LABEL: @descriptor
  tt.func @descriptor(%x: !tt.ptr<f32>, %m: i32, %s: i64) {
    %c1 = arith.constant 1 : i64
    // CHECK: tt.assert %{{.*}}, "out of bounds: a descriptor" : i1
    // CHECK: tt.make_tensor_descriptor
    %0 = tt.make_tensor_descriptor %x, [%m, %m], [%s, %c1] : <f32>, <tensor<8x8xf32>>
    tt.return
  }

  // What comes from one of two arguments, or from none, is left alone.
  // CHECK-LABEL: @unknown
  // CHECK-NOT: tt.assert
  // CHECK: tt.return
  tt.func @unknown(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1, %n: i64) {
    %cst = arith.constant 1.0 : f32
    %0 = arith.select %c, %x, %y : !tt.ptr<f32>
    tt.store %0, %cst : !tt.ptr<f32>
    %1 = tt.int_to_ptr %n : i64 -> !tt.ptr<f32>
    tt.store %1, %cst : !tt.ptr<f32>
    tt.return
  }

  // CHECK-LABEL: @called
  // CHECK-NOT: tt.assert
  // CHECK: tt.return
  tt.func private @called(%x: !tt.ptr<f32>) {
    %cst = arith.constant 1.0 : f32
    tt.store %x, %cst : !tt.ptr<f32>
    tt.return
  }
}
