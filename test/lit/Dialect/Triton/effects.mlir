// RUN: tile-opt %s -cse -canonicalize -loop-invariant-code-motion | filecheck %s

// What the memory effects of tt operations allow, and what they forbid.

// Two loads are one unless something writes between them or they are volatile.
// CHECK-LABEL: tt.func @loads
tt.func @loads(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  // CHECK: %[[A:.*]] = tt.load %arg0 : !tt.ptr<f32>
  // CHECK-NEXT: tt.print " same" {{.*}} : %[[A]], %[[A]] :
  %0 = tt.load %p : !tt.ptr<f32>
  %1 = tt.load %p : !tt.ptr<f32>
  tt.print " same" {hex = false, isSigned = array<i32: 0, 0>} : %0, %1 : f32, f32
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.load %arg0 : !tt.ptr<f32>
  tt.store %q, %0 : !tt.ptr<f32>
  %2 = tt.load %p : !tt.ptr<f32>
  tt.print " again" {hex = false, isSigned = array<i32: 0>} : %2 : f32
  // CHECK: tt.load %arg0 {isVolatile = true}
  // CHECK-NEXT: tt.load %arg0 {isVolatile = true}
  %3 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  %4 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  // CHECK-NEXT: tt.load %arg0 cacheModifier = cv
  // CHECK-NEXT: tt.load %arg0 cacheModifier = cv
  %5 = tt.load %p cacheModifier = cv : !tt.ptr<f32>
  %6 = tt.load %p cacheModifier = cv : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func @dead
tt.func @dead(%p: !tt.ptr<i32>, %x: tensor<8xf32>, %desc: !tt.tensordesc<tensor<8xf32>>, %i: i32) {
  // CHECK-NEXT: tt.atomic_rmw
  // CHECK-NEXT: tt.elementwise_inline_asm "kept"
  // CHECK-NEXT: tt.return
  %0 = tt.load %p : !tt.ptr<i32>
  %1 = tt.descriptor_load %desc[%i] : !tt.tensordesc<tensor<8xf32>> -> tensor<8xf32>
  %2 = tt.atomic_rmw add, relaxed, gpu, %p, %i : (!tt.ptr<i32>, i32) -> i32
  %3 = tt.elementwise_inline_asm "dropped" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xf32> -> tensor<8xf32>
  %4 = tt.elementwise_inline_asm "kept" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %x : tensor<8xf32> -> tensor<8xf32>
  %5 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// CHECK-LABEL: tt.func @hoist
tt.func @hoist(%p: !tt.ptr<f32>, %x: tensor<8xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: %[[S:.*]] = "tt.reduce"
  // CHECK: scf.for
  // CHECK: tt.elementwise_inline_asm "stays"
  // CHECK: tt.store %arg0, %[[S]]
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<8xf32>) -> f32
    %1 = tt.elementwise_inline_asm "stays" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %x : tensor<8xf32> -> tensor<8xf32>
    tt.store %p, %0 : !tt.ptr<f32>
  }
  tt.return
}
