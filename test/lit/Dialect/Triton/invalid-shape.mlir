// RUN: tile-opt %s -split-input-file -verify-diagnostics

tt.func @f() {
  // expected-error @+1 {{expected start < end, found start = 4 and end = 4}}
  %0 = tt.make_range {end = 4 : i32, start = 4 : i32} : tensor<1xi32>
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{expected a result of end - start = 8 elements, found 4}}
  %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<4xi32>
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{expected a 1-D tensor}}
  %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<2x4xi32>
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{result #0 must be ranked tensor of 32-bit signless integer values}}
  %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi64>
  tt.return
}

// -----

tt.func @f(%x: f32) {
  // expected-error @+1 {{expected result elements of type 'f32', found 'f16'}}
  %0 = tt.splat %x : f32 -> tensor<4xf16>
  tt.return
}

// -----

tt.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected an operand of one element}}
  %0 = tt.unsplat %x : tensor<2xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected an axis from 0 to 1, found 2}}
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected an axis from 0 to 1, found -1}}
  %0 = tt.expand_dims %x {axis = -1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tt.expand_dims' op inferred type(s) 'tensor<1x4xf32>' are incompatible}}
  %0 = tt.expand_dims %x {axis = 0 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x1xf32>) {
  // expected-error @+1 {{expected dimension #0 to keep size 4, found 8}}
  %0 = tt.broadcast %x : tensor<4x1xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x1xf32>) {
  // expected-error @+1 {{expected a result of rank 2}}
  %0 = tt.broadcast %x : tensor<4x1xf32> -> tensor<4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x1xf32>) {
  // expected-error @+1 {{expected result elements of type 'f32', found 'i32'}}
  %0 = tt.broadcast %x : tensor<4x1xf32> -> tensor<4x4xi32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a result of 16 elements, found 8}}
  %0 = tt.reshape %x : tensor<4x4xf32> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected result elements of type 'f32', found 'i32'}}
  %0 = tt.reshape %x : tensor<4x4xf32> -> tensor<16xi32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected order to be a permutation of the 2 dimensions, found [0, 0]}}
  %0 = tt.trans %x {order = array<i32: 0, 0>} : tensor<4x4xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected order to be a permutation of the 2 dimensions, found [0]}}
  %0 = tt.trans %x {order = array<i32: 0>} : tensor<4x4xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<8x4xf32>' are incompatible}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<4x2xf32>' are incompatible}}
  %0 = tt.join %x, %x : tensor<4xf32> -> tensor<2x4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a last dimension of size 2}}
  %0, %1 = tt.split %x : tensor<4x4xf32> -> tensor<4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a result of 8 elements, found 4}}
  %0 = tt.cat %x, %x : tensor<4xf32> -> tensor<4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a result of rank 1}}
  %0 = tt.cat %x, %x : tensor<4xf32> -> tensor<2x4xf32>
  tt.return
}
