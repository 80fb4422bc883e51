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
