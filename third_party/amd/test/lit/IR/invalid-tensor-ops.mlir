// RUN: tile-opt %s -verify-diagnostics

#rows = #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @number(%desc: !tt.tensordesc<16x32xf16, #shared>, %rows: tensor<32xi32, #rows>, %m: !ttg.memdesc<16x32xf16, #shared, #smem, mutable>) {
    // expected-error @+1 {{expected a number for each row of the buffer, found}}
    %0 = amdg.async_tdm_gather %desc[%rows] to %m : tensor<32xi32, #rows>, !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<16x32xf16, #shared>
    tt.return
  }
  tt.func @columns(%desc: !tt.tensordesc<16x64xf16, #shared>, %rows: tensor<16xi32, #rows>, %m: !ttg.memdesc<16x32xf16, #shared, #smem, mutable>) {
    // expected-error @+1 {{expected rows like those of the descriptor's block, found}}
    %0 = amdg.async_tdm_scatter %desc[%rows] from %m : tensor<16xi32, #rows>, !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<16x64xf16, #shared>
    tt.return
  }
  tt.func @constant(%desc: !tt.tensordesc<16x32xf16, #shared>, %rows: tensor<16xi32, #rows>, %m: !ttg.memdesc<16x32xf16, #shared, #smem>) {
    // expected-error @+1 {{expected a mutable destination, found}}
    %0 = amdg.async_tdm_gather %desc[%rows] to %m : tensor<16xi32, #rows>, !ttg.memdesc<16x32xf16, #shared, #smem> -> !tt.tensordesc<16x32xf16, #shared>
    tt.return
  }
  tt.func @indices(%desc: !tt.tensordesc<16x32xf16, #shared>, %i: i32, %p: i1) {
    // expected-error @+1 {{expected 2 indices, found 1}}
    amdg.tdm_prefetch %desc[%i], %p, speculative = true : !tt.tensordesc<16x32xf16, #shared>
    tt.return
  }
  tt.func @offsets(%desc: !tt.tensordesc<16x32xf16, #shared>, %i: i32) {
    // expected-error @+1 {{expected 2 indices, found 1}}
    %0 = amdg.update_tensor_descriptor %desc add_offsets = [%i] {clamp_bounds} : !tt.tensordesc<16x32xf16, #shared>
    tt.return
  }
}
