// RUN: tile-opt %s -tritonamdgpu-lower-tensor-copies | filecheck %s

// CHECK-DAG: #[[$PADDED:.*]] = #ttg.padded_shared<[128:+8] {order = [1, 0], shape = [64, 64]}>
// CHECK-DAG: #[[$ACROSS:.*]] = #ttg.padded_shared<[128:+16] {order = [1, 0], shape = [64, 64]}>
// CHECK-DAG: #[[$STORED:.*]] = #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [4, 1], instrShape = [16, 16, 32]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  // An operand is read in its layout.
  // CHECK-LABEL: @operand
  // CHECK: %[[M:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #[[$PADDED]], #smem, mutable>
  // CHECK: %[[T:.*]] = amdg.async_tdm_copy_global_to_local %arg0[%arg1, %arg1] into %[[M]], %true
  // CHECK-NEXT: %[[W:.*]] = amdg.async_tdm_wait %[[T]] {num = 0 : i32}
  // CHECK-NEXT: %[[X:.*]] = ttg.local_load %[[M]] token %[[W]] : {{.*}} -> tensor<64x64xf16, #ttg.dot_op
  // CHECK-NEXT: tt.return %[[X]]
  tt.func @operand(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %i: i32) -> tensor<64x64xf16, #a> {
    %x = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    %y = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    tt.return %y : tensor<64x64xf16, #a>
  }

  // Transposing loads read two pieces of each row at once.
  // CHECK-LABEL: @across
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #[[$ACROSS]], #smem, mutable>
  tt.func @across(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %i: i32) -> tensor<64x64xf16, #b> {
    %x = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    %y = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
    tt.return %y : tensor<64x64xf16, #b>
  }

  // A result is written to LDS as it is laid out, to rows that start at different banks.
  // CHECK-LABEL: @result
  // CHECK: %[[M:.*]] = ttg.local_alloc %arg2 : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #[[$STORED]], #smem>
  // CHECK-NEXT: %[[T:.*]] = amdg.async_tdm_copy_local_to_global %arg0[%arg1, %arg1] from %[[M]]
  // CHECK-NEXT: amdg.async_tdm_wait %[[T]] {num = 0 : i32}
  tt.func @result(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %i: i32, %x: tensor<64x64xf16, #mma>) {
    %y = ttg.convert_layout %x : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
    tt.descriptor_store %d[%i, %i], %y : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
    tt.return
  }
}
