// RUN: tile-opt %s -split-input-file -verify-diagnostics -convert-triton-to-tritongpu='target=cuda:90 num-warps=4' -o %t

tt.func @block_pointer(%p: !tt.ptr<tensor<64xf32>>) {
  // expected-error@below {{'tt.load' op uses a block pointer; these are rewritten by 'triton-rewrite-tensor-pointer', which must run before layouts are chosen}}
  %0 = tt.load %p : !tt.ptr<tensor<64xf32>>
  tt.return
}

// -----

// expected-error@below {{'ttg.num-warps' is already 8 : i32, not 4 : i32}}
module attributes {"ttg.num-warps" = 8 : i32} {
}

// -----

tt.func @no_dimensions(%a: f32) {
  // expected-error@below {{'tt.splat' op expected tensors of one dimension or more, for others have no layout; found 'tensor<f32>'}}
  %0 = tt.splat %a : f32 -> tensor<f32>
  %1 = tt.reshape %0 : tensor<f32> -> tensor<1xf32>
  tt.return
}

// -----

// expected-error@below {{'tt.func' op expected tensors of one dimension or more, for others have no layout; found 'tensor<f32>'}}
tt.func @no_dimensions_of_an_argument(%a: tensor<f32>) {
  tt.return
}
