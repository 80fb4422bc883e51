// RUN: tile-opt %s -split-input-file -verify-diagnostics

#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @two(%bar: !ttg.memdesc<2xi64, #one, #smem, mutable>) {
    // expected-error @+1 {{expected a mutable barrier of 1 x i64 in shared memory}}
    amdg.init_barrier %bar, 4 : !ttg.memdesc<2xi64, #one, #smem, mutable>
    tt.return
  }
  tt.func @nobody(%bar: !ttg.memdesc<1xi64, #one, #smem, mutable>) {
    // expected-error @+1 {{attribute 'count' failed to satisfy constraint}}
    amdg.init_barrier %bar, 0 : !ttg.memdesc<1xi64, #one, #smem, mutable>
    tt.return
  }
  tt.func @constant(%bar: !ttg.memdesc<1xi64, #one, #smem>, %phase: i32) {
    // expected-error @+1 {{expected a mutable barrier of 1 x i64 in shared memory}}
    amdg.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #one, #smem>
    tt.return
  }
  tt.func @no_cluster() {
    // expected-error @+1 {{expected a program of several blocks}}
    amdg.cluster_barrier_arrive
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @indices(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %i: i32, %p: i1) {
    // expected-error @+1 {{expected 2 indices, found 1}}
    %0 = amdg.async_tdm_copy_global_to_local %desc[%i] into %m, %p : !tt.tensordesc<tensor<64x64xf16, #shared>> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return
  }
  tt.func @block(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %m: !ttg.memdesc<32x64xf16, #shared, #smem, mutable>, %i: i32) {
    // expected-error @+1 {{expected a buffer like the descriptor's block}}
    amdg.async_tdm_copy_local_to_global %desc[%i, %i] from %m : !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<64x64xf16, #shared>>
    tt.return
  }
  tt.func @pointers(%m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %p: tensor<64x64x!tt.ptr<f32>, #blocked>) {
    // expected-error @+1 {{expected pointers to elements like the source's}}
    %0 = amdg.async_copy_local_to_global %m, %p : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
