// RUN: tile-opt %s -split-input-file -verify-diagnostics

tt.func @f(%p: !tt.ptr<f16>, %m: i32, %s: i64) {
  // expected-error @+1 {{expected 2 sizes and strides, one per dimension of 'tensor<4x4xf16>', found 1}}
  %0 = tt.make_tensor_descriptor %p, [%m], [%s] : <f16>, <tensor<4x4xf16>>
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<f32>, %m: i32, %s: i64) {
  // expected-error @+1 {{expected a base of type '!tt.ptr<f16>', found '!tt.ptr<f32>'}}
  %0 = tt.make_tensor_descriptor %p, [%m], [%s] : <f32>, <tensor<4xf16>>
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<i8>, %m: i32, %s: i64) {
  // expected-error @+1 {{expected floating-point elements with NaN padding, found 'i8'}}
  %0 = tt.make_tensor_descriptor %p, [%m], [%s] {padding = 2 : i32} : <i8>, <tensor<4xi8>>
  tt.return
}

// -----

tt.func @f(%d: !tt.tensordesc<tensor<4x4xf16>>, %i: i32) {
  // expected-error @+1 {{expected 2 indices, one per dimension of '!tt.tensordesc<tensor<4x4xf16>>', found 1}}
  %0 = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<4x4xf16>> -> tensor<4x4xf16>
  tt.return
}

// -----

tt.func @f(%d: !tt.tensordesc<tensor<4x4xf16>>, %i: i32) {
  // expected-error @+1 {{expected a tensor that fits 'tensor<4x4xf16>', found 'tensor<4x8xf16>'}}
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<4x4xf16>> -> tensor<4x8xf16>
  tt.return
}

// -----

tt.func @f(%d: !tt.tensordesc<tensor<4x4xf16>>, %i: i32, %x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a tensor that fits 'tensor<4x4xf16>', found 'tensor<4x4xf32>'}}
  tt.descriptor_store %d[%i, %i], %x : !tt.tensordesc<tensor<4x4xf16>>, tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%d: !tt.tensordesc<tensor<4xf16>>, %i: i32, %x: tensor<4xf16>) {
  // expected-error @+1 {{expected integer elements for 'xor', found 'f16'}}
  tt.descriptor_reduce xor, %d[%i], %x : !tt.tensordesc<tensor<4xf16>>, tensor<4xf16>
  tt.return
}

// -----

tt.func @f(%d: !tt.tensordesc<tensor<2x4xf16>>, %r: tensor<8xi32>, %i: i32) {
  // expected-error @+1 {{expected a descriptor of blocks of one row}}
  %0 = tt.descriptor_gather %d[%r, %i] : (!tt.tensordesc<tensor<2x4xf16>>, tensor<8xi32>, i32) -> tensor<8x4xf16>
  tt.return
}

// -----

tt.func @f(%d: !tt.tensordesc<tensor<1x4xf16>>, %r: tensor<8x1xi32>, %i: i32) {
  // expected-error @+1 {{expected a 1-D tensor of row offsets}}
  %0 = tt.descriptor_gather %d[%r, %i] : (!tt.tensordesc<tensor<1x4xf16>>, tensor<8x1xi32>, i32) -> tensor<8x4xf16>
  tt.return
}

// -----

tt.func @f(%d: !tt.tensordesc<tensor<1x4xf16>>, %r: tensor<8xi32>, %i: i32, %x: tensor<8x8xf16>) {
  // expected-error @+1 {{expected a tensor of 8x4 elements of type 'f16', found 'tensor<8x8xf16>'}}
  tt.descriptor_scatter %d[%r, %i], %x : !tt.tensordesc<tensor<1x4xf16>>, tensor<8xi32>, i32, tensor<8x8xf16>
  tt.return
}
