// RUN: tile-opt %s -split-input-file -verify-diagnostics

// Layouts have powers of two.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%x: f32) {
  // expected-error @+1 {{result #0: expected a power of two of elements, found 3}}
  %0 = tt.splat %x : f32 -> tensor<3xf32, #blocked>
  tt.return
}

// -----

tt.func @f(%x: f32) {
  // expected-error @+1 {{result #0: expected elements, found none}}
  %0 = tt.splat %x : f32 -> tensor<0xf32>
  tt.return
}

// -----

tt.func @f(%x: f32) {
  // expected-error @+1 {{result #0: expected at most 1048576 elements, found 2097152}}
  %0 = tt.splat %x : f32 -> tensor<2097152xf32>
  tt.return
}

// -----

tt.func @f(%x: f32) {
  // expected-error @+1 {{result #0: expected a static shape}}
  %0 = tt.splat %x : f32 -> tensor<?xf32>
  tt.return
}

// -----

tt.func @f() {
  %x = arith.constant dense<0.0> : tensor<4x0xf32>
  // expected-error @+1 {{operand #0: expected elements, found none}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x0xf32> -> tensor<0x4xf32>
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<f32>, %n: i64, %o: i32) {
  // expected-error @+1 {{result #0: expected at most 1048576 elements, found 3145728}}
  %x = tt.make_tensor_ptr %p, [%n], [%n], [%o] {order = array<i32: 0>} : !tt.ptr<tensor<3145728xf32>>
  %0 = tt.load %x : !tt.ptr<tensor<3145728xf32>>
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<f32>, %n: i64, %i: i32) {
  // expected-error @+1 {{result #0: expected at most 1048576 elements, found 3145728}}
  %x = tt.make_tensor_descriptor %p, [%i], [%n] : <f32>, <tensor<3145728xf32>>
  %0 = tt.descriptor_load %x[%i] : !tt.tensordesc<tensor<3145728xf32>> -> tensor<3145728xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x!tt.ptr<f32>>, %y: tensor<8xi32>) {
  // expected-error @+1 {{must have the same shape and base type}}
  %0 = tt.addptr %x, %y : tensor<4x!tt.ptr<f32>>, tensor<8xi32>
  tt.return
}

// -----

// expected-error @+1 {{argument #1: expected elements, found none}}
tt.func @f(%x: f32, %y: tensor<0xf32>) {
  tt.return
}

// -----

// expected-error @+1 {{result #0: expected at most 1048576 elements, found 2097152}}
tt.func private @f() -> tensor<2097152xf32>

// -----

// expected-error @+1 {{argument #0: expected a static shape}}
tt.func private @f(tensor<?x4xf32>)

// -----

// expected-error @+1 {{argument #0: expected elements, found none}}
tt.func private @f(!tt.ptr<tensor<0xf32>>)

// -----

// expected-error @+1 {{argument #0: expected elements, found none}}
tt.func private @f(!tt.tensordesc<tensor<8x0xf32>>)
