// RUN: tile-opt %s -split-input-file -verify-diagnostics

tt.func @f(%a: tensor<4x8xf16>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expected operand elements of one width, both integers or both floats, found 'f16' and 'f32'}}
  %0 = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<8x4xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expected accumulation of integers like the operands, found 'f32'}}
  %0 = tt.dot %a, %b, %c : tensor<4x8xi8> * tensor<8x4xi8> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<4x8xf16>, %b: tensor<4x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expected equal sizes of the contracted dimension, found 8 and 4}}
  %0 = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<4x4xf16> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<8x4xf32>) {
  // expected-error @+1 {{expected a result of 4 x 4, found 8 x 4}}
  %0 = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<8xf16>, %b: tensor<8xf16>, %c: tensor<8xf32>) {
  // expected-error @+1 {{expected matrices or batches of them, found rank 1}}
  %0 = tt.dot %a, %b, %c : tensor<8xf16> * tensor<8xf16> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<4x8xf16>, %b: tensor<2x8x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expected operands of rank 2, found ranks 2 and 3}}
  %0 = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<2x8x4xf16> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<2x4x8xf16>, %b: tensor<4x8x4xf16>, %c: tensor<2x4x4xf32>) {
  // expected-error @+1 {{expected batches of 2 in the operands, found 2 and 4}}
  %0 = tt.dot %a, %b, %c : tensor<2x4x8xf16> * tensor<4x8x4xf16> -> tensor<2x4x4xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a non-negative maxNumImpreciseAcc, found -1}}
  %0 = tt.dot %a, %b, %c {maxNumImpreciseAcc = -1 : i32} : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<16x64xf16>, %b: tensor<64x16xf8E5M2>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{expected elements that hold e4m3 in a, found 'f16'}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<16x64xf16> * tensor<64x16xf8E5M2> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<16x64xi8>, %b: tensor<32x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{expected lhs_k_pack = false only with e2m1, found e4m3}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e2m1 {fastMath = false, lhs_k_pack = false} : tensor<16x64xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<16x64xi8>, %b: tensor<64x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{expected rhs_k_pack = false only with e2m1, found e5m2}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e5m2 {fastMath = false, rhs_k_pack = false} : tensor<16x64xi8> * tensor<64x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<16x64xi8>, %b: tensor<64x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{expected equal sizes of the contracted dimension, found 64 and 128}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<16x64xi8> * tensor<64x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<16x64xi8>, %b: tensor<64x16xi8>, %c: tensor<16x16xf32>, %s: tensor<16x4xi8>) {
  // expected-error @+1 {{expected scales of shape [16, 2] for a}}
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x64xi8>, tensor<16x4xi8> * tensor<64x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @f(%a: tensor<16x16xi8>, %b: tensor<16x16xi8>, %c: tensor<16x16xf32>, %s: tensor<16x1xi8>) {
  // expected-error @+1 {{expected the contracted size to be a multiple of 32 for the scales of b, found 16}}
  %0 = tt.dot_scaled %a, %b scale %s, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x16xi8> * tensor<16x16xi8>, tensor<16x1xi8> -> tensor<16x16xf32>
  tt.return
}
