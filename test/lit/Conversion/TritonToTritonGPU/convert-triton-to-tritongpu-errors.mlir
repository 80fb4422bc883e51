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
