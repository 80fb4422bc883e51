// RUN: tile-opt %s -split-input-file -triton-split-shapes -verify-diagnostics

// Neighbours would be in different pieces.
tt.func @map(%x: tensor<2x6xi32>) -> tensor<2x6xi32> {
  // expected-error @+2 {{expected a last extent that is a multiple of pack = 4, found 6}}
  // expected-error @+1 {{failed to legalize operation 'tt.map_elementwise'}}
  %0 = "tt.map_elementwise"(%x) <{pack = 4 : i32}> ({
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
    tt.map_elementwise.return %a, %b, %c, %d : i32, i32, i32, i32
  }) : (tensor<2x6xi32>) -> tensor<2x6xi32>
  tt.return %0 : tensor<2x6xi32>
}
