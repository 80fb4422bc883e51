// RUN: tile-opt %s -split-input-file -verify-diagnostics

tt.func @f(%x: f32) {
  // expected-error @+1 {{must be pointer, tensor of pointers or block pointer, but got 'f32'}}
  %0 = tt.load %x : f32
  tt.return
}

// -----

tt.func @f(%x: tensor<4x!tt.ptr<f32>>, %m: tensor<8xi1>) {
  // expected-error @+1 {{mask is an i1 of the shape of 'ptr'}}
  %0 = "tt.load"(%x, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x!tt.ptr<f32>>, tensor<8xi1>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x!tt.ptr<f32>>) {
  // expected-error @+1 {{result type matches the pointee of 'ptr'}}
  %0 = "tt.load"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x!tt.ptr<f32>>) -> tensor<4xf16>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x!tt.ptr<f32>>, %o: tensor<4xf32>) {
  // expected-error @+1 {{expected a mask beside the value for masked elements}}
  %0 = "tt.load"(%x, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (tensor<4x!tt.ptr<f32>>, tensor<4xf32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x!tt.ptr<f32>>) {
  // expected-error @+1 {{expected boundaryCheck only with a block pointer}}
  %0 = tt.load %x {boundaryCheck = array<i32: 0>} : tensor<4x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x!tt.ptr<f32>>) {
  // expected-error @+1 {{expected padding only with a block pointer}}
  %0 = tt.load %x {padding = 1 : i32} : tensor<4x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<tensor<4xi32>>) {
  // expected-error @+1 {{expected floating-point elements with NaN padding, found 'i32'}}
  %0 = tt.load %x {boundaryCheck = array<i32: 0>, padding = 2 : i32} : !tt.ptr<tensor<4xi32>>
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<tensor<4xf32>>) {
  // expected-error @+1 {{expected dimensions from 0 to 0 in boundaryCheck, found 1}}
  %0 = tt.load %x {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<4xf32>>
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<tensor<4x4xf32>>) {
  // expected-error @+1 {{expected each dimension once in boundaryCheck, found 1 twice}}
  %0 = tt.load %x {boundaryCheck = array<i32: 1, 1>} : !tt.ptr<tensor<4x4xf32>>
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<tensor<4xf32>>, %m: tensor<4xi1>) {
  // expected-error @+1 {{expected boundaryCheck instead of a mask with a block pointer}}
  %0 = tt.load %x, %m : !tt.ptr<tensor<4xf32>>
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<f32>, %v: f16) {
  // expected-error @+1 {{value type matches the pointee of 'ptr'}}
  "tt.store"(%x, %v) : (!tt.ptr<f32>, f16) -> ()
  tt.return
}

// -----

tt.func @f(%x: tensor<4x!tt.ptr<f32>>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expected boundaryCheck only with a block pointer}}
  tt.store %x, %v {boundaryCheck = array<i32: 0>} : tensor<4x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x!tt.ptr<f32>>, %y: f32) {
  // expected-error @+1 {{operand #1 must be integer or tensor of them, but got 'f32'}}
  %0 = "tt.addptr"(%x, %y) : (tensor<4x!tt.ptr<f32>>, f32) -> tensor<4x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<f16>, %a: i64, %i: i32) {
  // expected-error @+1 {{expected 2 sizes, strides and offsets, one per dimension of the block, found 1}}
  %0 = tt.make_tensor_ptr %x, [%a], [%a], [%i] {order = array<i32: 0>} : <tensor<4x4xf16>>
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<f16>, %a: i64, %i: i32) {
  // expected-error @+1 {{expected order to be a permutation of the 2 dimensions, found [1, 2]}}
  %0 = tt.make_tensor_ptr %x, [%a, %a], [%a, %a], [%i, %i] {order = array<i32: 1, 2>} : <tensor<4x4xf16>>
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<f16>, %a: i64, %i: i32) {
  // expected-error @+1 {{base points to the elements of the block}}
  %0 = "tt.make_tensor_ptr"(%x, %a, %a, %i) <{order = array<i32: 0>}> : (!tt.ptr<f16>, i64, i64, i32) -> !tt.ptr<tensor<4xf32>>
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<tensor<4x4xf16>>, %i: i32) {
  // expected-error @+1 {{expected 2 offsets, one per dimension of the block, found 1}}
  %0 = tt.advance %x, [%i] : <tensor<4x4xf16>>
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<tensor<4xf16>>, %i: i16) {
  // expected-error @+1 {{operand #1 must be variadic of 32-bit signless integer or 64-bit signless integer, but got 'i16'}}
  %0 = tt.advance %x, [%i : i16] : <tensor<4xf16>>
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{expected floating-point elements of 16 bits or more for 'fadd', found 'i32'}}
  %0 = tt.atomic_rmw fadd, relaxed, gpu, %x, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<f32>, %v: f32) {
  // expected-error @+1 {{expected integer elements of 16 bits or more for 'max', found 'f32'}}
  %0 = tt.atomic_rmw max, relaxed, gpu, %x, %v : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<i8>, %v: i8) {
  // expected-error @+1 {{expected elements of 16 bits or more for 'exch', found 'i8'}}
  %0 = tt.atomic_rmw exch, relaxed, gpu, %x, %v : (!tt.ptr<i8>, i8) -> i8
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<i8>, %v: i8) {
  // expected-error @+1 {{expected elements of 16 bits or more, found 'i8'}}
  %0 = tt.atomic_cas relaxed, gpu, %x, %v, %v : (!tt.ptr<i8>, i8, i8) -> i8
  tt.return
}

// -----

tt.func @f(%x: !tt.ptr<i32>, %v: i64) {
  // expected-error @+1 {{value type matches the pointee of 'ptr'}}
  %0 = tt.atomic_rmw add, relaxed, gpu, %x, %v : (!tt.ptr<i32>, i64) -> i64
  tt.return
}
