// RUN: tile-opt %s -split-input-file -verify-diagnostics

// What the verifiers of views of memory reject.

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<2x64xf16, #s, #smem>, %i: i32) {
  // expected-error @+1 {{expected a result of shape [64], found [32]}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x64xf16, #s, #smem> -> !ttg.memdesc<32xf16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<2x64xf16, #s, #smem>, %i: i32) {
  // expected-error @+1 {{expected a result that is mutable where the source is, found}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x64xf16, #s, #smem> -> !ttg.memdesc<64xf16, #s, #smem, mutable>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<2x64xf16, #s, #smem>, %i: i32) {
  // expected-error @+1 {{expected a result with elements of type 'f16', like the source, found 'i16'}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x64xf16, #s, #smem> -> !ttg.memdesc<64xi16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<2x64xf16, #s, #smem>, %i: i32) {
  // expected-error @+1 {{expected a result with encoding}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x64xf16, #s, #smem> -> !ttg.memdesc<64xf16, #t, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #smem>) {
  // expected-error @+1 {{expected an offset in dimension 1 that is a multiple of the size 32, found 16}}
  %0 = ttg.memdesc_subslice %m[0, 16] : !ttg.memdesc<64x64xf16, #s, #smem> -> !ttg.memdesc<64x32xf16, #s, #smem, 64x64>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #smem>) {
  // expected-error @+1 {{expected a part of the source, which has size 64 in dimension 1, found 64 to 96}}
  %0 = ttg.memdesc_subslice %m[0, 64] : !ttg.memdesc<64x64xf16, #s, #smem> -> !ttg.memdesc<64x32xf16, #s, #smem, 64x64>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #smem>) {
  // expected-error @+1 {{expected source, result and offsets of one rank, found 2, 2 and 1}}
  %0 = ttg.memdesc_subslice %m[0] : !ttg.memdesc<64x64xf16, #s, #smem> -> !ttg.memdesc<64x32xf16, #s, #smem, 64x64>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #smem>) {
  // expected-error @+1 {{expected a part of a buffer of shape [64, 64], like the source, found [64, 32]}}
  %0 = ttg.memdesc_subslice %m[0, 32] : !ttg.memdesc<64x64xf16, #s, #smem> -> !ttg.memdesc<64x32xf16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #smem>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'order' to have each dimension once, found}}
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
  // expected-error @+1 {{expected the dimension that counts buffers to stay in front, found dimension}}
  %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0, 2>} : !ttg.memdesc<2x64x64xf16, #s, #smem> -> !ttg.memdesc<64x2x64xf16, #s, #smem>
  tt.return
}

// -----

#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true, rank = 3}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<2x64x64xi8, #n, #smem>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{no encoding describes the transposition of}}
  %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0, 2>} : !ttg.memdesc<2x64x64xi8, #n, #smem> -> !ttg.memdesc<64x2x64xi8, #n, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64xf16, #s, #smem>) {
  // expected-error @+1 {{expected as many elements as [64] has, found [32]}}
  %0 = ttg.memdesc_reshape %m : !ttg.memdesc<64xf16, #s, #smem> -> !ttg.memdesc<32xf16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64xf16, #s, #smem>) {
  // expected-error @+1 {{expected a result with an encoding equivalent to}}
  %0 = ttg.memdesc_reshape %m : !ttg.memdesc<64xf16, #s, #smem> -> !ttg.memdesc<8x8xf16, #t, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<32xf16, #s, #smem, 64>) {
  // expected-error @+1 {{expected a whole buffer to reshape, found a part}}
  %0 = ttg.memdesc_reshape %m : !ttg.memdesc<32xf16, #s, #smem, 64> -> !ttg.memdesc<32xf16, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @f(%m: !ttg.memdesc<64xf16, #s, #smem>) {
  // expected-error @+1 {{expected a result of at most the 128 bytes of the source, found 256}}
  %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<64xf16, #s, #smem> -> !ttg.memdesc<64xf32, #s, #smem>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%m: !ttg.memdesc<64xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{expected a result in #ttg.shared_memory, like the source, found 3 : i32}}
  %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<64xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<64xf16, #s, 3 : i32>
  tt.return
}

// -----

// One dimension cannot be transposed: the name of the encoding does not help.
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 32}>
#t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @reshape_transposed(%m: !ttg.memdesc<32x16xi32, #s, #smem>) {
  // expected-error@+1 {{expected a result with an encoding equivalent to #ttg.shared_linear}}
  %0 = ttg.memdesc_reshape %m : !ttg.memdesc<32x16xi32, #s, #smem> -> !ttg.memdesc<512xi32, #t, #smem>
  tt.return
}

// -----

// Each block of a cluster has a memory of its own.
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @one_block() {
    // expected-error@+1 {{expected an encoding for 2 blocks ('ttg.num-ctas'), found one for 1}}
    %0 = ttg.local_alloc : () -> !ttg.memdesc<64xf32, #s, #smem, mutable>
    tt.return
  }
}

// -----

// The gaps of an encoding take memory, too.
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>
#smem = #ttg.shared_memory
tt.func @gaps(%m: !ttg.memdesc<32x32xf32, #s, #smem, mutable>) {
  // expected-error@+1 {{expected a result of at most the 4096 bytes of the source, found 4608}}
  %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<32x32xf32, #s, #smem, mutable> -> !ttg.memdesc<32x32xf32, #padded, #smem, mutable>
  tt.return
}

// -----

// An encoding that cannot lay out the buffer.
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @narrow_rows() {
  // expected-error@+1 {{a swizzle of 128 bytes needs rows of at least 64 elements, but they have 32}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #s, #smem, mutable>
  tt.return
}
