// RUN: tile-opt %s -triton-rewrite-tensor-pointer -canonicalize -cse | filecheck %s

// CHECK-LABEL: tt.func @access
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[N:.*]]: i64, %[[S:.*]]: i64, %[[O:.*]]: i32)
tt.func @access(%p: !tt.ptr<f32>, %n: i64, %s: i64, %o: i32) {
  // CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0> : tensor<64xi64>
  // CHECK-DAG: %[[PAD:.*]] = arith.constant dense<0x7FC00000> : tensor<64xf32>
  // CHECK-DAG: %[[OFF:.*]] = arith.extsi %[[O]] : i32 to i64
  // CHECK-DAG: %[[RANGE:.*]] = tt.make_range {end = 64 : i32, start = 0 : i32}
  // CHECK-DAG: %[[WIDE:.*]] = arith.extsi %[[RANGE]] : tensor<64xi32> to tensor<64xi64>
  // CHECK-DAG: %[[OFFS:.*]] = tt.splat %[[OFF]] : i64 -> tensor<64xi64>
  // CHECK: %[[I:.*]] = arith.addi %[[OFFS]], %[[WIDE]] : tensor<64xi64>
  // CHECK: %[[SS:.*]] = tt.splat %[[S]] : i64 -> tensor<64xi64>
  // CHECK: %[[IS:.*]] = arith.muli %[[I]], %[[SS]] : tensor<64xi64>
  // CHECK: %[[GE:.*]] = arith.cmpi sge, %[[I]], %[[ZEROS]] : tensor<64xi64>
  // CHECK: %[[NS:.*]] = tt.splat %[[N]] : i64 -> tensor<64xi64>
  // CHECK: %[[LT:.*]] = arith.cmpi slt, %[[I]], %[[NS]] : tensor<64xi64>
  // CHECK: %[[M:.*]] = arith.andi %[[GE]], %[[LT]] : tensor<64xi1>
  // CHECK: %[[PS:.*]] = tt.splat %[[P]] : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  // CHECK: %[[A:.*]] = tt.addptr %[[PS]], %[[IS]] : tensor<64x!tt.ptr<f32>>, tensor<64xi64>
  // CHECK: %[[V:.*]] = tt.load %[[A]], %[[M]], %[[PAD]] cacheModifier = cg {isVolatile = true, tt.latency = 2 : i32} : tensor<64x!tt.ptr<f32>>
  // CHECK: tt.store %[[A]], %[[V]] evictionPolicy = evict_first : tensor<64x!tt.ptr<f32>>
  %b = tt.make_tensor_ptr %p, [%n], [%s], [%o] {order = array<i32: 0>} : <tensor<64xf32>>
  %v = tt.load %b cacheModifier = cg {boundaryCheck = array<i32: 0>, padding = 2 : i32, isVolatile = true, tt.latency = 2 : i32} : !tt.ptr<tensor<64xf32>>
  tt.store %b, %v evictionPolicy = evict_first : !tt.ptr<tensor<64xf32>>
  tt.return
}

// Only the checked dimension has a mask; a stride of one needs no product.
// CHECK-LABEL: tt.func @two_dimensions
tt.func @two_dimensions(%p: !tt.ptr<f16>, %m: i64, %n: i64, %s: i64) -> tensor<64x32xf16> {
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
  // CHECK-DAG: arith.muli %{{.*}}, %{{.*}} : tensor<64x1xi64>
  // CHECK-DAG: arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<1x32xi64>
  // CHECK-NOT: arith.cmpi {{.*}} : tensor<64x1xi64>
  // CHECK-NOT: arith.muli {{.*}} : tensor<1x32xi64>
  // What is behind the bounds is zero.
  // CHECK: tt.load %{{.*}}, %{{[0-9]+}}, %[[ZERO]] : tensor<64x32x!tt.ptr<f16>>
  %b = tt.make_tensor_ptr %p, [%m, %n], [%s, %c1], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
  %v = tt.load %b {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<64x32xf16>>
  tt.return %v : tensor<64x32xf16>
}

// The loop carries the only part that changes.
// CHECK-LABEL: tt.func @loop
tt.func @loop(%p: !tt.ptr<f16>, %n: i64, %s: i64, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  // CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i64
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i64
  // CHECK: scf.for %{{.*}} iter_args(%[[O:.*]] = %[[C0]]) -> (i64)
  // CHECK: tt.splat %[[O]] : i64 -> tensor<32xi64>
  // CHECK: tt.store
  // CHECK: %[[O1:.*]] = arith.addi %[[O]], %[[C32]] : i64
  // CHECK: scf.yield %[[O1]] : i64
  // CHECK: } {tt.num_stages = 3 : i32}
  %b = tt.make_tensor_ptr %p, [%n], [%s], [%c0] {order = array<i32: 0>} : <tensor<32xf16>>
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%x = %b) -> (!tt.ptr<tensor<32xf16>>) : i32 {
    %v = tt.load %x : !tt.ptr<tensor<32xf16>>
    %w = arith.addf %v, %v : tensor<32xf16>
    tt.store %x, %w : !tt.ptr<tensor<32xf16>>
    %x1 = tt.advance %x, [%c32] : <tensor<32xf16>>
    scf.yield %x1 : !tt.ptr<tensor<32xf16>>
  } {tt.num_stages = 3 : i32}
  tt.return
}

// CHECK-LABEL: tt.func @choice
tt.func @choice(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %n: i64, %s: i64, %c: i1) -> (tensor<32xf16>, tensor<32xf16>) {
  %c0 = arith.constant 0 : i32
  // CHECK: %[[B:.*]] = arith.select %arg4, %arg0, %arg1 : !tt.ptr<f16>
  // CHECK: tt.splat %[[B]]
  // CHECK: tt.load
  // CHECK: tt.load
  %a = tt.make_tensor_ptr %p, [%n], [%s], [%c0] {order = array<i32: 0>} : <tensor<32xf16>>
  %b = tt.make_tensor_ptr %q, [%n], [%s], [%c0] {order = array<i32: 0>} : <tensor<32xf16>>
  %x = arith.select %c, %a, %b : !tt.ptr<tensor<32xf16>>
  %v = tt.load %x : !tt.ptr<tensor<32xf16>>
  %y = scf.if %c -> !tt.ptr<tensor<32xf16>> {
    scf.yield %b : !tt.ptr<tensor<32xf16>>
  } else {
    %z = tt.advance %a, [%c0] : <tensor<32xf16>>
    scf.yield %z : !tt.ptr<tensor<32xf16>>
  }
  %w = tt.load %y : !tt.ptr<tensor<32xf16>>
  tt.return %v, %w : tensor<32xf16>, tensor<32xf16>
}

// CHECK-LABEL: tt.func private @advanced
// CHECK-SAME: (%arg0: i32 {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16>, %arg2: i64, %arg3: i64, %arg4: i64) -> (i32, !tt.ptr<f16>, i64, i64, i64)
tt.func private @advanced(%i: i32 {tt.divisibility = 16 : i32}, %b: !tt.ptr<tensor<32xf16>>) -> (i32, !tt.ptr<tensor<32xf16>>) attributes {noinline = true} {
  // CHECK-NEXT: %[[D:.*]] = arith.extsi %arg0 : i32 to i64
  // CHECK-NEXT: %[[O:.*]] = arith.addi %arg4, %[[D]] : i64
  // CHECK-NEXT: tt.return %arg0, %arg1, %arg2, %arg3, %[[O]] : i32, !tt.ptr<f16>, i64, i64, i64
  %r = tt.advance %b, [%i] : <tensor<32xf16>>
  tt.return %i, %r : i32, !tt.ptr<tensor<32xf16>>
^unreachable:
  %x = ub.poison : !tt.ptr<tensor<32xf16>>
  tt.return %i, %x : i32, !tt.ptr<tensor<32xf16>>
}

// CHECK-LABEL: tt.func @calls
tt.func @calls(%p: !tt.ptr<f16>, %n: i64, %s: i64, %i: i32) -> tensor<32xf16> {
  // CHECK: %[[R:.*]]:5 = tt.call @advanced(%arg3, %arg0, %arg1, %arg2, %{{.*}}) : (i32, !tt.ptr<f16>, i64, i64, i64) -> (i32, !tt.ptr<f16>, i64, i64, i64)
  // CHECK: tt.splat %[[R]]#4
  // CHECK: tt.splat %[[R]]#3
  // CHECK: tt.splat %[[R]]#1
  %b = tt.make_tensor_ptr %p, [%n], [%s], [%i] {order = array<i32: 0>} : <tensor<32xf16>>
  %r:2 = tt.call @advanced(%i, %b) : (i32, !tt.ptr<tensor<32xf16>>) -> (i32, !tt.ptr<tensor<32xf16>>)
  %v = tt.load %r#1 : !tt.ptr<tensor<32xf16>>
  tt.return %v : tensor<32xf16>
}

// CHECK-LABEL: tt.func @blocks
tt.func @blocks(%p: !tt.ptr<f16>, %n: i64, %s: i64, %i: i32, %c: i1) -> tensor<32xf16> {
  // CHECK: cf.cond_br %arg4, ^[[NEXT:bb[0-9]+]](%arg0, %arg2, %{{.*}} : !tt.ptr<f16>, i64, i64), ^{{.*}}
  // CHECK: ^[[NEXT]](%{{.*}}: !tt.ptr<f16>, %{{.*}}: i64, %[[O:.*]]: i64):
  // CHECK: tt.splat %[[O]]
  %b = tt.make_tensor_ptr %p, [%n], [%s], [%i] {order = array<i32: 0>} : <tensor<32xf16>>
  cf.cond_br %c, ^next(%b : !tt.ptr<tensor<32xf16>>), ^other
^other:
  %a = tt.advance %b, [%i] : <tensor<32xf16>>
  cf.br ^next(%a : !tt.ptr<tensor<32xf16>>)
^next(%x: !tt.ptr<tensor<32xf16>>):
  %v = tt.load %x : !tt.ptr<tensor<32xf16>>
  tt.return %v : tensor<32xf16>
}

// CHECK-LABEL: tt.func @while
tt.func @while(%p: !tt.ptr<f16>, %n: i64, %s: i64, %i: i32) -> tensor<32xf16> {
  // CHECK: scf.while
  // CHECK-NOT: !tt.ptr<tensor
  // CHECK: tt.return
  %b = tt.make_tensor_ptr %p, [%n], [%s], [%i] {order = array<i32: 0>} : <tensor<32xf16>>
  %r:2 = scf.while (%x = %b, %k = %i) : (!tt.ptr<tensor<32xf16>>, i32) -> (!tt.ptr<tensor<32xf16>>, i32) {
    %c = arith.cmpi slt, %k, %i : i32
    scf.condition(%c) %x, %k : !tt.ptr<tensor<32xf16>>, i32
  } do {
  ^bb0(%x: !tt.ptr<tensor<32xf16>>, %k: i32):
    %x1 = tt.advance %x, [%k] : <tensor<32xf16>>
    %k1 = arith.addi %k, %k : i32
    scf.yield %x1, %k1 : !tt.ptr<tensor<32xf16>>, i32
  }
  %v = tt.load %r#0 : !tt.ptr<tensor<32xf16>>
  tt.return %v : tensor<32xf16>
}
