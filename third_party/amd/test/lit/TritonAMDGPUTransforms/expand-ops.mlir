// RUN: tile-opt %s -tritonamdgpu-expand-ops -verify-each | filecheck %s

#sc = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>
#a4 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#a8 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b8 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Products of these formats and powers of two are exact in bf16.
  // CHECK-LABEL: @scaled_upcast_fp4
  // CHECK-NEXT: %[[X:.*]] = ttg.fp4_to_fp %arg0 {axis = 1 : i32}
  // CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %arg1 : tensor<64x128xbf16, #{{.*}}>
  // CHECK-NEXT: tt.return %[[Y]]
  tt.func @scaled_upcast_fp4(%x: tensor<64x64xi8, #a4>, %s: tensor<64x128xbf16, #a8>) -> tensor<64x128xbf16, #a8> {
    %0 = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<64x64xi8, #a4>, tensor<64x128xbf16, #a8> -> tensor<64x128xbf16, #a8>
    tt.return %0 : tensor<64x128xbf16, #a8>
  }

  // fp16 has not their range: it is rounded to once.
  // CHECK-LABEL: @scaled_upcast_fp8
  // CHECK: tt.fp_to_fp %arg0 : {{.*}} -> tensor<64x128xbf16
  // CHECK: arith.mulf {{.*}} : tensor<64x128xf32
  // CHECK: arith.truncf {{.*}} to tensor<64x128xf16
  tt.func @scaled_upcast_fp8(%x: tensor<64x128xf8E4M3FN, #a8>, %s: tensor<64x128xbf16, #a8>) -> tensor<64x128xf16, #a8> {
    %0 = amdg.scaled_upcast_fp8 %x scale %s : tensor<64x128xf8E4M3FN, #a8>, tensor<64x128xbf16, #a8> -> tensor<64x128xf16, #a8>
    tt.return %0 : tensor<64x128xf16, #a8>
  }

  // The scales of a right operand are transposed.
  // CHECK-LABEL: @upcast_mxfp
  // CHECK: tt.bitcast %arg0 : {{.*}} -> tensor<128x64xf8E5M2
  // CHECK: tt.trans {{.*}} -> tensor<128x64xbf16
  // CHECK: arith.mulf
  // CHECK-NOT: amdg.
  tt.func @upcast_mxfp(%x: tensor<128x64xi8, #b8>, %s: tensor<64x4xi8, #sc>) -> tensor<128x64xbf16, #b8> {
    %0 = amdg.upcast_mxfp %x, %s fp_type = e5m2 {fastMath = false} : tensor<128x64xi8, #b8>, tensor<64x4xi8, #sc> -> tensor<128x64xbf16, #b8>
    tt.return %0 : tensor<128x64xbf16, #b8>
  }

  // CHECK-LABEL: @packed_across
  // CHECK: ttg.local_load
  // CHECK-NOT: tt.trans {{.*}} order = array<i32: 1, 0>
  // CHECK: tt.split
  // CHECK: arith.ori
  // CHECK: ttg.convert_layout {{.*}} -> tensor<32x128xi8, #ttg.dot_op<{opIdx = 1
  tt.func @packed_across(%x: !ttg.memdesc<64x64xi8, #rows, #smem>) -> tensor<32x128xi8, #b8> {
    %0 = amdg.local_load_packed_tranposed %x : !ttg.memdesc<64x64xi8, #rows, #smem> -> tensor<32x128xi8, #b8>
    tt.return %0 : tensor<32x128xi8, #b8>
  }

  // CHECK-LABEL: @stores
  // CHECK: %[[X:.*]] = ttg.local_load %arg0
  // CHECK: tt.store %arg1, %[[X]], %arg2
  // CHECK: %[[T:.*]] = ttg.async_commit_group
  // CHECK: amdg.async_wait %[[T]]
  tt.func @stores(%x: !ttg.memdesc<64x64xf16, #rows, #smem, mutable>, %p: tensor<64x64x!tt.ptr<f16>, #sc>, %m: tensor<64x64xi1, #sc>) {
    %0 = amdg.async_copy_local_to_global %x, %p mask %m : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64x!tt.ptr<f16>, #sc>
    %1 = amdg.async_wait %0 {num_inst = 0 : i32}
    tt.return
  }
}
