// RUN: tile-opt %s -split-input-file -verify-diagnostics

// What the verifiers of views of memory reject.

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<2x64xf16, #s, #smem>, %i: i32) {
  // expected-error @+1 {{the result has shape [32], expected [64]}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x64xf16, #s, #smem> -> !ttg.memdesc<32xf16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<2x64xf16, #s, #smem, mutable>, %i: i32) {
  // expected-error @+1 {{the result is not mutable, unlike the source}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64xf16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<2x64xf16, #s, #smem>, %i: i32) {
  // expected-error @+1 {{the result has elements of type 'i16', but the source of type 'f16'}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x64xf16, #s, #smem> -> !ttg.memdesc<64xi16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<2x64xf16, #s, #smem>, %i: i32) {
  // expected-error @+1 {{the result has encoding}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x64xf16, #s, #smem> -> !ttg.memdesc<64xf16, #t, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #smem>) {
  // expected-error @+1 {{the offset 16 in dimension 1 is not a multiple of the size 32}}
  %0 = ttg.memdesc_subslice %m[0, 16] : !ttg.memdesc<64x64xf16, #s, #smem> -> !ttg.memdesc<64x32xf16, #s, #smem, 64x64>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #smem>) {
  // expected-error @+1 {{the part from 64 to 96 of dimension 1 is outside of the source, which has size 64}}
  %0 = ttg.memdesc_subslice %m[0, 64] : !ttg.memdesc<64x64xf16, #s, #smem> -> !ttg.memdesc<64x32xf16, #s, #smem, 64x64>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #smem>) {
  // expected-error @+1 {{source, result and offsets have ranks 2, 2 and 1, expected the same}}
  %0 = ttg.memdesc_subslice %m[0] : !ttg.memdesc<64x64xf16, #s, #smem> -> !ttg.memdesc<64x32xf16, #s, #smem, 64x64>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #smem>) {
  // expected-error @+1 {{the result is a part of a buffer of shape [64, 32], but the source of one of [64, 64]}}
  %0 = ttg.memdesc_subslice %m[0, 32] : !ttg.memdesc<64x64xf16, #s, #smem> -> !ttg.memdesc<64x32xf16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #smem>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'order' is not a permutation of the dimensions}}
  %0 = ttg.memdesc_trans %m {order = array<i32: 1, 1>} : !ttg.memdesc<64x64xf16, #s, #smem> -> !ttg.memdesc<64x64xf16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #smem>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{are incompatible with return type(s) of operation}}
  %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #s, #smem> -> !ttg.memdesc<64x64xf16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<2x64x64xf16, #s, #smem>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{the dimension that counts buffers must stay in front}}
  %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0, 2>} : !ttg.memdesc<2x64x64xf16, #s, #smem> -> !ttg.memdesc<64x2x64xf16, #s, #smem>
  tt.return
}

// -----

#n = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, rank = 3}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<2x64x64xf16, #n, #smem>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{no encoding describes the transposition of}}
  %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0, 2>} : !ttg.memdesc<2x64x64xf16, #n, #smem> -> !ttg.memdesc<64x2x64xf16, #n, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64xf16, #s, #smem>) {
  // expected-error @+1 {{[64] and [32] have different numbers of elements}}
  %0 = ttg.memdesc_reshape %m : !ttg.memdesc<64xf16, #s, #smem> -> !ttg.memdesc<32xf16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64xf16, #s, #smem>) {
  // expected-error @+1 {{the result has encoding}}
  %0 = ttg.memdesc_reshape %m : !ttg.memdesc<64xf16, #s, #smem> -> !ttg.memdesc<8x8xf16, #t, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<32xf16, #s, #smem, 64>) {
  // expected-error @+1 {{a part of a buffer cannot be reshaped}}
  %0 = ttg.memdesc_reshape %m : !ttg.memdesc<32xf16, #s, #smem, 64> -> !ttg.memdesc<32xf16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64xf16, #s, #smem>) {
  // expected-error @+1 {{the result takes 256 bytes, but the source has only 128}}
  %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<64xf16, #s, #smem> -> !ttg.memdesc<64xf32, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%m: !ttg.memdesc<64xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{the result is in 3 : i32, but the source in #ttg.shared_memory}}
  %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<64xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<64xf16, #s, 3 : i32>
  tt.return
}
