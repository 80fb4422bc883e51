// RUN: tile-opt %s -split-input-file -verify-diagnostics

tt.func @too_few(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected 3 operands of fma, found 2}}
  %0 = ttnvgpu.packed_arith fma %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @too_many(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected 2 operands of add, found 3}}
  %0 = ttnvgpu.packed_arith add %a, %a, %a : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @integers(%a: tensor<8xi32>) {
  // expected-error @+1 {{expected operands of floats, found 'tensor<8xi32>'}}
  %0 = ttnvgpu.packed_arith add %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  tt.return
}

// -----

tt.func @other_result(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected a result of floats, found 'tensor<8xi32>'}}
  %0 = ttnvgpu.packed_arith min %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi32>
  tt.return
}

// -----

tt.func @widths(%a: tensor<8xf16>, %b: tensor<8xf8E5M2>) {
  // expected-error @+1 {{expected operands and a result of 8 bits all, or of 16 and 32 bits all, found 'f8E5M2' and 'f16'}}
  %0 = ttnvgpu.packed_arith mul %a, %b : (tensor<8xf16>, tensor<8xf8E5M2>) -> tensor<8xf16>
  tt.return
}

// -----

tt.func @wider_sum(%a: tensor<8xbf16>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected the last operand of fma to have elements of 'bf16' like the result, found 'f32'}}
  %0 = ttnvgpu.packed_arith fma %a, %a, %b : (tensor<8xbf16>, tensor<8xbf16>, tensor<8xf32>) -> tensor<8xbf16>
  tt.return
}

// -----

tt.func @other_sum(%a: tensor<8xf8E4M3FN>, %b: tensor<8xf8E5M2>) {
  // expected-error @+1 {{expected the last operand of add to have elements of 'f8E4M3FN' like the result, found 'f8E5M2'}}
  %0 = ttnvgpu.packed_arith add %a, %b : (tensor<8xf8E4M3FN>, tensor<8xf8E5M2>) -> tensor<8xf8E4M3FN>
  tt.return
}

// -----

tt.func @minimum_of_bytes(%a: tensor<8xf8E4M3FN>) {
  // expected-error @+1 {{expected elements of 16 or 32 bits of min, found 'f8E4M3FN'}}
  %0 = ttnvgpu.packed_arith min %a, %a : (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  tt.return
}

// -----

// All these are right: a sum may be wider than what is added to it.
tt.func @mixtures(%a: tensor<8xf16>, %b: tensor<8xf32>, %c: tensor<8xf8E5M2>, %d: tensor<8xf8E4M3FN>) {
  %0 = ttnvgpu.packed_arith add %a, %b : (tensor<8xf16>, tensor<8xf32>) -> tensor<8xf32>
  %1 = ttnvgpu.packed_arith mul %c, %d : (tensor<8xf8E5M2>, tensor<8xf8E4M3FN>) -> tensor<8xf8E5M2>
  %2 = ttnvgpu.packed_arith sub %b, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xbf16>
  %3 = ttnvgpu.packed_arith add %b, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf16>
  tt.return
}
