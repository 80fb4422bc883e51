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

  // Descriptors that say themselves where the block is.
  // CHECK-LABEL: @updates
  tt.func @updates(%desc: !tt.tensordesc<16x32xf16, #shared>, %i: i32, %p: i1, %m: !ttg.memdesc<16x32xf16, #shared, #smem, mutable>) {
    // CHECK: %[[D:.*]] = amdg.update_tensor_descriptor %arg0 add_offsets = [%arg1, %arg1] pred = %arg1 {clamp_bounds} : !tt.tensordesc<tensor<16x32xf16, #shared>>
    %0 = amdg.update_tensor_descriptor %desc add_offsets = [%i, %i] pred = %i {clamp_bounds} : !tt.tensordesc<16x32xf16, #shared>
    // CHECK: %[[E:.*]] = amdg.update_tensor_descriptor %[[D]] pred = %arg1 : !tt.tensordesc<tensor<16x32xf16, #shared>>
    %1 = amdg.update_tensor_descriptor %0 pred = %i : !tt.tensordesc<16x32xf16, #shared>
    // CHECK: %[[T:.*]] = amdg.async_tdm_copy_global_to_local %[[E]] into %arg3 : !tt.tensordesc<tensor<16x32xf16, #shared>> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
    %2 = amdg.async_tdm_copy_global_to_local %1 into %m : !tt.tensordesc<16x32xf16, #shared> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
    // CHECK: %[[U:.*]] = amdg.async_tdm_copy_local_to_global %[[D]] from %arg3 : !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<16x32xf16, #shared>>
    %3 = amdg.async_tdm_copy_local_to_global %0 from %m : !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<16x32xf16, #shared>
    // CHECK: amdg.async_tdm_wait %[[T]], %[[U]] {num = 0 : i32}
    %4 = amdg.async_tdm_wait %2, %3 {num = 0 : i32}
    tt.return
  }
}
