// RUN: tile-opt %s -tritonamdgpu-choose-tensor-copies | filecheck %s
// RUN: tile-opt %s -tritonamdgpu-choose-tensor-copies -triton-rewrite-tensor-descriptor-to-pointer | filecheck %s -check-prefix=REST

// Blocks that start at products of what is not negative are copied.
// CHECK: #[[$S:.*]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// CHECK-LABEL: @known
// CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x32xf16, #[[$S]]>>
// REST-LABEL: @known
// REST: tt.descriptor_load
tt.func public @known(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %n: i32, %s: i64) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <tensor<64x32xf16>>
  %pid = tt.get_program_id x : i32
  %i = arith.muli %pid, %c32 : i32
  scf.for %j = %c0 to %n step %c32 : i32 {
    %x = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
    tt.descriptor_store %d[%j, %i], %x : !tt.tensordesc<tensor<64x32xf16>>, tensor<64x32xf16>
  }
  tt.return
}

// Others keep to pointers: an index that may be negative,
// CHECK-LABEL: @negative
// CHECK: tt.make_tensor_descriptor {{.*}} <tensor<64x32xf16>>
// REST-LABEL: @negative
// REST-NOT: descriptor
// REST: tt.return
tt.func public @negative(%p: !tt.ptr<f16>, %n: i32, %s: i64, %i: i32) -> tensor<64x32xf16> {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <tensor<64x32xf16>>
  %x = tt.descriptor_load %d[%c0, %i] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  tt.return %x : tensor<64x32xf16>
}

// NaNs outside of the tensor,
// CHECK-LABEL: @nan
// CHECK: tt.make_tensor_descriptor {{.*}} <tensor<64x32xf16>>
tt.func public @nan(%p: !tt.ptr<f16>, %n: i32, %s: i64) -> tensor<64x32xf16> {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] {padding = 2 : i32} : <f16>, <tensor<64x32xf16>>
  %x = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  tt.return %x : tensor<64x32xf16>
}

// rows that are gathered, and reductions.
// CHECK-LABEL: @gather
// CHECK: tt.make_tensor_descriptor {{.*}} <tensor<1x32xf16>>
tt.func public @gather(%p: !tt.ptr<f16>, %n: i32, %s: i64, %rows: tensor<32xi32>) -> tensor<32x32xf16> {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <tensor<1x32xf16>>
  %x = tt.descriptor_gather %d[%rows, %c0] : (!tt.tensordesc<tensor<1x32xf16>>, tensor<32xi32>, i32) -> tensor<32x32xf16>
  tt.return %x : tensor<32x32xf16>
}

// Of what the host passes, kernels make the descriptor, if elements outside are known to be zeros, or
// integers.
// CHECK-LABEL: @from_host
// CHECK-SAME: (%[[P:[^:]*]]: !tt.ptr<f16>, %[[M:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[S:[^:]*]]: i64, %{{[^:]*}}: i64, %{{[^:]*}}: i1, %[[Q:[^:]*]]: !tt.ptr<i8>, %{{[^:]*}}: i32, %{{[^:]*}}: i64, %{{[^:]*}}: i1, %{{[^:]*}}: tensor<64xi8>)
// CHECK-DAG: tt.make_tensor_descriptor %[[P]], [%[[M]], %[[N]]], [%[[S]], %c1_i64{{.*}}] : <f16>, <tensor<64x32xf16, #
// CHECK-DAG: tt.make_tensor_descriptor %[[Q]], {{.*}} : <i8>, <tensor<64xi8, #
tt.func public @from_host(%d: !tt.tensordesc<tensor<64x32xf16>> {tt.divisibility = 16 : i32, tt.zero_padded = 1 : i32}, %e: !tt.tensordesc<tensor<64xi8>>, %v: tensor<64xi8>) -> tensor<64x32xf16> {
  %c0 = arith.constant 0 : i32
  %x = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  tt.descriptor_store %e[%c0], %v : !tt.tensordesc<tensor<64xi8>>, tensor<64xi8>
  tt.return %x : tensor<64x32xf16>
}

// What other functions pass around, and what may have NaNs outside, keeps to pointers.
// CHECK-LABEL: @maybe_nan
// CHECK-SAME: !tt.tensordesc<tensor<64x32xf16>>
tt.func public @maybe_nan(%d: !tt.tensordesc<tensor<64x32xf16>> {tt.divisibility = 16 : i32}) -> tensor<64x32xf16> {
  %c0 = arith.constant 0 : i32
  %x = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  tt.return %x : tensor<64x32xf16>
}
// CHECK-LABEL: @called
// CHECK-SAME: !tt.tensordesc<tensor<64x32xf16>>
tt.func private @called(%d: !tt.tensordesc<tensor<64x32xf16>> {tt.zero_padded = 1 : i32}) -> tensor<64x32xf16> {
  %c0 = arith.constant 0 : i32
  %x = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  tt.return %x : tensor<64x32xf16>
}

// Copies do not round: loads by pointers do.
// CHECK-LABEL: @rounds_to_tf32
// CHECK-SAME: !tt.tensordesc<tensor<64x32xf32>>
tt.func public @rounds_to_tf32(%d: !tt.tensordesc<tensor<64x32xf32>> {tt.round_f32_to_tf32 = 1 : i32, tt.zero_padded = 1 : i32}) -> tensor<64x32xf32> {
  %c0 = arith.constant 0 : i32
  %x = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<64x32xf32>> -> tensor<64x32xf32>
  tt.return %x : tensor<64x32xf32>
}
