// RUN: tile-opt %s -triton-nvidia-optimize-descriptor-encoding=leave-to-pointers=true | filecheck %s
// RUN: tile-opt %s -triton-nvidia-optimize-descriptor-encoding="leave-to-pointers=true num-ctas=2" | filecheck %s -check-prefix CLUSTER

// Whether TMA takes a matrix whose base and sizes are loaded is asked when the
// kernel runs.
// CHECK-LABEL: @loaded
// CLUSTER-LABEL: @loaded
tt.func public @loaded(%bases: !tt.ptr<i64>, %sizes: !tt.ptr<i32>, %x: tensor<64x64xf16>, %acc: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %address = tt.load %bases : !tt.ptr<i64>
  %base = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
  %n = tt.load %sizes : !tt.ptr<i32>
  %stride = arith.extsi %n : i32 to i64
  // CLUSTER-NOT: scf.if
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %desc = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // Base, row and stride, in bytes, and signs of the last two.
  // CHECK: %[[BASE:.*]] = tt.ptr_to_int
  // CHECK: arith.muli %[[BASE]], %c1_i64
  // CHECK: %[[ROW:.*]] = arith.extsi
  // CHECK: arith.muli %[[ROW]], %c2_i64
  // CHECK: arith.shrui %{{.*}}, %c63_i64
  // CHECK: arith.muli %{{.*}}, %c2_i64
  // CHECK: %[[LOW:.*]] = arith.andi %{{.*}}, %c15_i64
  // CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[LOW]], %c0_i64
  // CHECK: scf.if %[[ALIGNED]] -> (tensor<64x64xf32>)
  // CHECK: %[[KNOWN:.*]] = tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #shared>>
  // CHECK: scf.for
  // CHECK: tt.descriptor_load %[[KNOWN]]
  // CHECK: } else {
  // CHECK: scf.for
  // CHECK: tt.descriptor_load %{{.*}} : !tt.tensordesc<tensor<64x64xf16>>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %acc) -> tensor<64x64xf32> : i32 {
    %y = tt.descriptor_load %desc[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %next = tt.dot %x, %y, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tt.return %r : tensor<64x64xf32>
}

// What an argument is known not to be is not asked again.
// CHECK-LABEL: @argument
tt.func public @argument(%base: !tt.ptr<f16>, %n: i32, %stride: i64, %x: tensor<64x64xf16>, %acc: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK-NOT: scf.if
  // CHECK: tt.return
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %desc = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %acc) -> tensor<64x64xf32> : i32 {
    %y = tt.descriptor_load %desc[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %next = tt.dot %x, %y, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tt.return %r : tensor<64x64xf32>
}

// A block that starts at any element is for pointers, whatever the base is. So
// is a loop without dots.
// CHECK-LABEL: @elsewhere
tt.func public @elsewhere(%bases: !tt.ptr<i64>, %n: i32, %at: i32, %stride: i64, %x: tensor<64x64xf16>, %acc: tensor<64x64xf32>, %out: tensor<64x64x!tt.ptr<f16>>) -> tensor<64x64xf32> {
  // CHECK-NOT: scf.if
  // CHECK: tt.return
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %address = tt.load %bases : !tt.ptr<i64>
  %base = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
  %desc = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %acc) -> tensor<64x64xf32> : i32 {
    %y = tt.descriptor_load %desc[%i, %at] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %next = tt.dot %x, %y, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %other = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  scf.for %i = %c0 to %n step %c64 : i32 {
    %y = tt.descriptor_load %other[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    tt.store %out, %y : tensor<64x64x!tt.ptr<f16>>
  }
  tt.return %r : tensor<64x64xf32>
}
