// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

#rows = #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>}>
#shared = #ttg.padded_shared<[32:+8] {order = [1, 0], shape = [16, 32]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @rows
  tt.func @rows(%desc: !tt.tensordesc<16x32xf16, #shared>, %rows: tensor<16xi32, #rows>, %m: !ttg.memdesc<16x32xf16, #shared, #smem, mutable>) {
    // CHECK: %{{.*}} = amdg.async_tdm_gather %arg0[%arg1] to %arg2 : tensor<16xi32, #{{.*}}>, !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<16x32xf16, #shared>>
    %0 = amdg.async_tdm_gather %desc[%rows] to %m : tensor<16xi32, #rows>, !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<16x32xf16, #shared>
    // CHECK: %{{.*}} = amdg.async_tdm_scatter %arg0[%arg1] from %arg2 : tensor<16xi32, #{{.*}}>, !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<16x32xf16, #shared>>
    %1 = amdg.async_tdm_scatter %desc[%rows] from %m : tensor<16xi32, #rows>, !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<16x32xf16, #shared>
    tt.return
  }
  // CHECK-LABEL: @prefetch
  tt.func @prefetch(%desc: !tt.tensordesc<16x32xf16, #shared>, %i: i32, %p: i1) {
    // CHECK: amdg.tdm_prefetch %arg0[%arg1, %arg1], %arg2, speculative = false : !tt.tensordesc<tensor<16x32xf16, #shared>>
    amdg.tdm_prefetch %desc[%i, %i], %p, speculative = false : !tt.tensordesc<16x32xf16, #shared>
    tt.return
  }
}
