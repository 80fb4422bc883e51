// RUN: tile-opt %s -split-input-file -verify-diagnostics

tt.func @f(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{result #0 must be number, pointer or tensor of them}}
  %0 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<tensor<4xf32>>
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{expected numbers or pointers on both sides}}
  %0 = tt.bitcast %p : !tt.ptr<f32> -> i64
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{expected a pointer to address space 1}}
  %0 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<f32, 3>
  tt.return
}

// -----

tt.func @f(%x: f32) {
  // expected-error @+1 {{expected result elements of 32 bits, found 'i64'}}
  %0 = tt.bitcast %x : f32 -> i64
  tt.return
}

// -----

tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{must have the same shape and base type}}
  %0 = tt.bitcast %x : tensor<4xf32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func @f(%x: f32) {
  // expected-error @+1 {{expected a rounding mode in the conversion from 'f32' to 'f8E5M2'}}
  %0 = tt.fp_to_fp %x : f32 -> f8E5M2
  tt.return
}

// -----

tt.func @f(%x: i32) {
  // expected-error @+1 {{must be 64-bit signless integer}}
  %0 = tt.int_to_ptr %x : i32 -> !tt.ptr<f32>
  tt.return
}
