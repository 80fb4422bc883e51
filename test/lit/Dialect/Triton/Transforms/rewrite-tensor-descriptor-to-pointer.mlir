// RUN: tile-opt %s -triton-rewrite-tensor-descriptor-to-pointer -canonicalize -cse | filecheck %s

// CHECK-LABEL: tt.func @copy
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32, %[[S:.*]]: i64, %[[O:.*]]: i32)
tt.func @copy(%p: !tt.ptr<f32>, %n: i32, %s: i64, %o: i32) {
  // CHECK-DAG: %[[PAD:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
  // CHECK-DAG: %[[OFF:.*]] = arith.extsi %[[O]] : i32 to i64
  // CHECK: %[[I:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<64xi64>
  // CHECK: %[[BOUND:.*]] = arith.extsi %[[N]] : i32 to i64
  // CHECK: %[[IS:.*]] = arith.muli %[[I]], %{{.*}} : tensor<64xi64>
  // CHECK: %[[GE:.*]] = arith.cmpi sge, %[[I]], %{{.*}} : tensor<64xi64>
  // CHECK: %[[BOUNDS:.*]] = tt.splat %[[BOUND]] : i64 -> tensor<64xi64>
  // CHECK: %[[LT:.*]] = arith.cmpi slt, %[[I]], %[[BOUNDS]] : tensor<64xi64>
  // CHECK: %[[M:.*]] = arith.andi %[[GE]], %[[LT]] : tensor<64xi1>
  // CHECK: %[[A:.*]] = tt.addptr %{{.*}}, %[[IS]] : tensor<64x!tt.ptr<f32>>, tensor<64xi64>
  // CHECK: %[[V:.*]] = tt.load %[[A]], %[[M]], %[[PAD]] cacheModifier = cg : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.store %[[A]], %[[V]], %[[M]] : tensor<64x!tt.ptr<f32>>
  %d = tt.make_tensor_descriptor %p, [%n], [%s] : <f32>, <tensor<64xf32>>
  %v = tt.descriptor_load %d[%o] cacheModifier = cg : !tt.tensordesc<tensor<64xf32>> -> tensor<64xf32>
  tt.descriptor_store %d[%o], %v : !tt.tensordesc<tensor<64xf32>>, tensor<64xf32>
  tt.return
}

// CHECK-LABEL: tt.func @nan_padding
tt.func @nan_padding(%p: !tt.ptr<f16>, %n: i32, %s: i64) -> tensor<64xf16> {
  // CHECK-DAG: %[[PAD:.*]] = arith.constant dense<0x7E00> : tensor<64xf16>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %[[PAD]]
  %d = tt.make_tensor_descriptor %p, [%n], [%s] {padding = 2 : i32} : <f16>, <tensor<64xf16>>
  %v = tt.descriptor_load %d[%n] : !tt.tensordesc<tensor<64xf16>> -> tensor<64xf16>
  tt.return %v : tensor<64xf16>
}

// A descriptor from the host: whether to pad with NaNs is not known.
// CHECK-LABEL: tt.func public @parameter
// What the host promises of it is noted.
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[S0:.*]]: i64 {tt.divisibility = 8 : i32}, %[[S1:.*]]: i64, %[[NAN:.*]]: i1, %[[O:.*]]: i32 {tt.divisibility = 16 : i32})
tt.func public @parameter(%d: !tt.tensordesc<tensor<64x32xf16>> {tt.nv_tma_desc = 1 : i32}, %o: i32 {tt.divisibility = 16 : i32}) -> tensor<64x32xf16> {
  // CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
  // CHECK-DAG: %[[NANS:.*]] = arith.constant dense<0x7E00> : tensor<64x32xf16>
  // CHECK: %[[PAD:.*]] = arith.select %[[NAN]], %[[NANS]], %[[ZEROS]] : tensor<64x32xf16>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %[[PAD]] : tensor<64x32x!tt.ptr<f16>>
  %v = tt.descriptor_load %d[%o, %o] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  tt.return %v : tensor<64x32xf16>
}

// One whose rows are known to be multiples of 16 bytes, too.
// CHECK-LABEL: tt.func public @whole_rows
// CHECK-SAME: (%{{.*}}: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %{{.*}}: i32, %{{.*}}: i32 {tt.divisibility = 4 : i32}, %{{.*}}: i64 {tt.divisibility = 4 : i32}, %{{.*}}: i64, %{{.*}}: i1, %{{.*}}: i32)
tt.func public @whole_rows(%d: !tt.tensordesc<tensor<64x32xf32>> {tt.divisibility = 16 : i32}, %o: i32) -> tensor<64x32xf32> {
  %v = tt.descriptor_load %d[%o, %o] : !tt.tensordesc<tensor<64x32xf32>> -> tensor<64x32xf32>
  tt.return %v : tensor<64x32xf32>
}

// One that the host is known to pad with zeros.
// CHECK-LABEL: tt.func public @zero_padded
// CHECK-SAME: %[[NAN:.*]]: i1)
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00>
// CHECK-NOT: %[[NAN]]
// CHECK: tt.load %{{.*}}, %{{.*}}, %[[ZEROS]]
tt.func public @zero_padded(%d: !tt.tensordesc<tensor<32xf32>> {tt.zero_padded = 1 : i32}) -> tensor<32xf32> {
  %c0 = arith.constant 0 : i32
  %v = tt.descriptor_load %d[%c0] : !tt.tensordesc<tensor<32xf32>> -> tensor<32xf32>
  tt.return %v : tensor<32xf32>
}

// CHECK-LABEL: tt.func @leading_dimension_of_one
tt.func @leading_dimension_of_one(%p: !tt.ptr<i8>, %n: i32, %s: i64) {
  // CHECK: %[[A:.*]] = tt.addptr {{.*}} : tensor<1x64x!tt.ptr<i8>>, tensor<1x64xi64>
  // CHECK: %[[V:.*]] = tt.load %[[A]]
  // CHECK: %[[W:.*]] = tt.reshape %[[V]] : tensor<1x64xi8> -> tensor<64xi8>
  // CHECK: %[[X:.*]] = arith.addi %[[W]], %[[W]]
  // CHECK: %[[Y:.*]] = tt.reshape %[[X]] : tensor<64xi8> -> tensor<1x64xi8>
  // CHECK: tt.store %[[A]], %[[Y]]
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %c1] : <i8>, <tensor<1x64xi8>>
  %v = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<tensor<1x64xi8>> -> tensor<64xi8>
  %w = arith.addi %v, %v : tensor<64xi8>
  tt.descriptor_store %d[%n, %n], %w : !tt.tensordesc<tensor<1x64xi8>>, tensor<64xi8>
  tt.return
}

// CHECK-LABEL: tt.func @reductions
tt.func @reductions(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %n: i32, %s: i64, %x: tensor<64xf32>, %y: tensor<64xi32>) {
  // CHECK: tt.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %arg4, %{{.*}} : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>)
  // CHECK: tt.atomic_rmw add, relaxed, gpu, %{{.*}}, %arg5, %{{.*}} : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>)
  // CHECK: tt.atomic_rmw max, relaxed, gpu
  // CHECK: tt.atomic_rmw umax, relaxed, gpu
  // CHECK: tt.atomic_rmw xor, relaxed, gpu
  %d = tt.make_tensor_descriptor %p, [%n], [%s] : <f32>, <tensor<64xf32>>
  tt.descriptor_reduce add, %d[%n], %x : !tt.tensordesc<tensor<64xf32>>, tensor<64xf32>
  %e = tt.make_tensor_descriptor %q, [%n], [%s] : <i32>, <tensor<64xi32>>
  tt.descriptor_reduce add, %e[%n], %y : !tt.tensordesc<tensor<64xi32>>, tensor<64xi32>
  tt.descriptor_reduce max, %e[%n], %y : !tt.tensordesc<tensor<64xi32>>, tensor<64xi32>
  %u = tt.make_tensor_descriptor %q, [%n], [%s] : <i32>, <tensor<64xui32>>
  tt.descriptor_reduce max, %u[%n], %y : !tt.tensordesc<tensor<64xui32>>, tensor<64xi32>
  tt.descriptor_reduce xor, %e[%n], %y : !tt.tensordesc<tensor<64xi32>>, tensor<64xi32>
  tt.return
}

// Floats of one sign compare as integers do.
// CHECK-LABEL: tt.func @float_minimum
tt.func @float_minimum(%p: !tt.ptr<f32>, %n: i32, %s: i64, %x: tensor<64xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0> : tensor<64xi32>
  // CHECK-DAG: %[[BITS:.*]] = tt.bitcast %arg3 : tensor<64xf32> -> tensor<64xi32>
  // CHECK-DAG: %[[PLACES:.*]] = tt.bitcast %{{.*}} : tensor<64x!tt.ptr<f32>> -> tensor<64x!tt.ptr<i32>>
  // CHECK: %[[POSITIVE:.*]] = arith.cmpi sge, %[[BITS]], %[[ZERO]]
  // CHECK: %[[M:.*]] = arith.andi %[[INSIDE:.*]], %[[POSITIVE]]
  // CHECK: tt.atomic_rmw min, relaxed, gpu, %[[PLACES]], %[[BITS]], %[[M]]
  // CHECK: %[[NEGATIVE:.*]] = arith.cmpi slt, %[[BITS]], %[[ZERO]]
  // CHECK: %[[M2:.*]] = arith.andi %[[INSIDE]], %[[NEGATIVE]]
  // CHECK: tt.atomic_rmw umax, relaxed, gpu, %[[PLACES]], %[[BITS]], %[[M2]]
  %d = tt.make_tensor_descriptor %p, [%n], [%s] : <f32>, <tensor<64xf32>>
  tt.descriptor_reduce min, %d[%n], %x : !tt.tensordesc<tensor<64xf32>>, tensor<64xf32>
  tt.return
}

// CHECK-LABEL: tt.func @rows
tt.func @rows(%p: !tt.ptr<f16>, %n: i32, %s: i64, %rows: tensor<64xi32>) {
  // CHECK: %[[R:.*]] = arith.extsi %arg3 : tensor<64xi32> to tensor<64xi64>
  // CHECK: %[[E:.*]] = tt.expand_dims %[[R]] {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
  // CHECK: %[[A:.*]] = tt.addptr {{.*}} : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
  // CHECK: %[[V:.*]] = tt.load %[[A]], %[[M:.*]], %{{.*}} : tensor<64x32x!tt.ptr<f16>>
  // CHECK: tt.store %[[A]], %[[V]], %[[M]] : tensor<64x32x!tt.ptr<f16>>
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %c1] : <f16>, <tensor<1x32xf16>>
  %v = tt.descriptor_gather %d[%rows, %n] : (!tt.tensordesc<tensor<1x32xf16>>, tensor<64xi32>, i32) -> tensor<64x32xf16>
  tt.descriptor_scatter %d[%rows, %n], %v : !tt.tensordesc<tensor<1x32xf16>>, tensor<64xi32>, i32, tensor<64x32xf16>
  tt.return
}

// CHECK-LABEL: tt.func @through_loop
tt.func @through_loop(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for
  // CHECK-NOT: tensordesc
  // CHECK: tt.return
  %d = tt.make_tensor_descriptor %p, [%n], [%s] : <f16>, <tensor<64xf16>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d) -> (!tt.tensordesc<tensor<64xf16>>) : i32 {
    %v = tt.descriptor_load %x[%i] : !tt.tensordesc<tensor<64xf16>> -> tensor<64xf16>
    tt.descriptor_store %d[%i], %v : !tt.tensordesc<tensor<64xf16>>, tensor<64xf16>
    %e = tt.make_tensor_descriptor %p, [%i], [%s] : <f16>, <tensor<64xf16>>
    scf.yield %e : !tt.tensordesc<tensor<64xf16>>
  }
  tt.return
}

// Loads through the first round to tf32, those through the second do not. The host passes no more than
// of others.
// CHECK-LABEL: tt.func public @rounds_to_tf32
// CHECK-SAME: (%{{.*}}: !tt.ptr<f32> {{.*}}, %{{.*}}: i32, %{{.*}}: i64, %{{.*}}: i1, %{{.*}}: !tt.ptr<f32> {{.*}}, %{{.*}}: i32, %{{.*}}: i64, %{{.*}}: i1)
tt.func public @rounds_to_tf32(%d: !tt.tensordesc<tensor<32xf32>> {tt.round_f32_to_tf32 = 1 : i32}, %e: !tt.tensordesc<tensor<32xf32>>) -> (tensor<32xf32>, tensor<32xf32>) {
  // CHECK-DAG: %[[HALF:.*]] = arith.constant dense<4095> : tensor<32xi32>
  // CHECK-DAG: %[[KEPT:.*]] = arith.constant dense<-8192> : tensor<32xi32>
  // CHECK: %[[V:.*]] = tt.load
  // CHECK: %[[BITS:.*]] = tt.bitcast %[[V]] : tensor<32xf32> -> tensor<32xi32>
  // CHECK: arith.addi %{{.*}}, %[[HALF]]
  // CHECK: %[[ROUNDED:.*]] = arith.andi %{{.*}}, %[[KEPT]]
  // CHECK: %[[FINITE:.*]] = arith.cmpi ne
  // CHECK: %[[BOTH:.*]] = arith.select %[[FINITE]], %[[ROUNDED]], %[[BITS]]
  // CHECK: %[[R:.*]] = tt.bitcast %[[BOTH]] : tensor<32xi32> -> tensor<32xf32>
  // CHECK: %[[W:.*]] = tt.load
  // CHECK-NEXT: tt.return %[[R]], %[[W]]
  %c0 = arith.constant 0 : i32
  %v = tt.descriptor_load %d[%c0] : !tt.tensordesc<tensor<32xf32>> -> tensor<32xf32>
  %w = tt.descriptor_load %e[%c0] : !tt.tensordesc<tensor<32xf32>> -> tensor<32xf32>
  tt.return %v, %w : tensor<32xf32>, tensor<32xf32>
}
