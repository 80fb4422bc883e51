// RUN: tile-opt %s -triton-nvidia-optimize-descriptor-encoding=leave-to-pointers=true | filecheck %s

// Whether a block begins before the tensor is asked when the kernel runs. Of
// the coordinates, one is known: it is not asked for.
// CHECK-LABEL: @loaded
tt.func public @loaded(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %rows: i32, %columns: i32 {tt.divisibility = 16 : i32}, %stride: i64 {tt.divisibility = 16 : i32, tt.non_negative = 1 : i32}, %starts: !tt.ptr<i32>, %n: i32, %x: tensor<64x64xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1 : i64
  // CHECK: %[[COPIED:.*]] = tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #shared>>
  // CHECK: %[[POINTERS:.*]] = tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %desc = tt.make_tensor_descriptor %base, [%rows, %columns], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    // CHECK: %[[ROW:.*]] = tt.load
    %at = tt.addptr %starts, %i : !tt.ptr<i32>, i32
    %row = tt.load %at : !tt.ptr<i32>
    // CHECK: %[[INSIDE:.*]] = arith.cmpi sge, %[[ROW]], %c0_i32
    // CHECK: scf.if %[[INSIDE]]
    // CHECK: %[[KNOWN:.*]] = arith.maxsi %[[ROW]], %c0_i32
    // CHECK: tt.descriptor_store %[[COPIED]][%[[KNOWN]], %c0_i32]
    // CHECK: } else {
    // CHECK: tt.descriptor_store %[[POINTERS]][%[[ROW]], %c0_i32]
    tt.descriptor_store %desc[%row, %c0], %x : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
  }
  tt.return
}

// Where something else is in the way, nothing is asked: nobody knows that the
// strides are multiples of 16 bytes.
// CHECK-LABEL: @strides
tt.func public @strides(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %rows: i32, %columns: i32 {tt.divisibility = 16 : i32}, %stride: i64, %starts: !tt.ptr<i32>, %n: i32, %x: tensor<64x64xf16>) {
  // CHECK-NOT: scf.if
  // CHECK: tt.return
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1 : i64
  %desc = tt.make_tensor_descriptor %base, [%rows, %columns], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %at = tt.addptr %starts, %i : !tt.ptr<i32>, i32
    %row = tt.load %at : !tt.ptr<i32>
    tt.descriptor_store %desc[%row, %c0], %x : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
  }
  tt.return
}
