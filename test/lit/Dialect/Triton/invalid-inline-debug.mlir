// RUN: tile-opt %s -split-input-file -verify-diagnostics

tt.func @f(%x: f32) {
  // expected-error @+1 {{expected at least one result}}
  "tt.elementwise_inline_asm"(%x) <{asm_string = "x", constraints = "r", packed_element = 1 : i32, pure = false}> : (f32) -> ()
  tt.return
}

// -----

tt.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected packed_element to be a power of two, found 3}}
  %0 = tt.elementwise_inline_asm "x" {constraints = "=r,r", packed_element = 3 : i32, pure = true} %x : tensor<4xf32> -> tensor<4xf32>
  tt.return
}

// -----

tt.func @f(%x: f32) {
  // expected-error @+1 {{expected tensors with packed_element = 2, found 'f32'}}
  %0 = tt.elementwise_inline_asm "x" {constraints = "=r,r", packed_element = 2 : i32, pure = true} %x : f32 -> f32
  tt.return
}

// -----

tt.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected a multiple of packed_element = 4 elements}}
  %0 = tt.elementwise_inline_asm "x" {constraints = "=r,r", packed_element = 4 : i32, pure = true} %x : tensor<2xf32> -> tensor<2xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected 1 entries in isSigned, one per operand, found 0}}
  tt.print "x" {hex = false, isSigned = array<i32>} : %x : tensor<2xf32>
  tt.return
}
