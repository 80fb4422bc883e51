// RUN: tile-opt %s -triton-rewrite-tensor-descriptor-to-pointer -split-input-file -verify-diagnostics

tt.func @byte_max(%d: !tt.tensordesc<tensor<64xf8E5M2>>, %i: i32, %x: tensor<64xf8E5M2>) {
  // expected-error @+2 {{expected a reduction that is an atomic operation on this target, found 'max' of 'f8E5M2'}}
  // expected-error @+1 {{failed to legalize operation 'tt.descriptor_reduce'}}
  tt.descriptor_reduce max, %d[%i], %x : !tt.tensordesc<tensor<64xf8E5M2>>, tensor<64xf8E5M2>
  tt.return
}

// -----

tt.func @increment(%d: !tt.tensordesc<tensor<64xi32>>, %i: i32, %x: tensor<64xi32>) {
  // expected-error @+2 {{expected a reduction that is an atomic operation on this target, found 'inc' of 'i32'}}
  // expected-error @+1 {{failed to legalize operation 'tt.descriptor_reduce'}}
  tt.descriptor_reduce inc, %d[%i], %x : !tt.tensordesc<tensor<64xi32>>, tensor<64xi32>
  tt.return
}

// -----

// expected-error @+1 {{expected elements of f32 in argument 1 with 'tt.round_f32_to_tf32', found 'f16'}}
tt.func public @rounds_halves(%i: i32, %d: !tt.tensordesc<tensor<64xf16>> {tt.round_f32_to_tf32 = 1 : i32}) -> tensor<64xf16> {
  %x = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<64xf16>> -> tensor<64xf16>
  tt.return %x : tensor<64xf16>
}
