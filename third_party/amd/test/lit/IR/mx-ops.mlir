// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

#sc = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [4, 1], instrShape = [16, 16, 32], isTransposed = true}>
#a4 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#a8 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b8 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @each_with_a_scale
  tt.func @each_with_a_scale(%x4: tensor<64x64xi8, #a4>, %x8: tensor<64x128xf8E4M3FN, #a8>, %s: tensor<64x128xbf16, #a8>, %bits: tensor<64x128xi8, #a8>) {
    // CHECK: amdg.scaled_upcast_fp4 %arg0 scale %arg2 {axis = 1 : i32} : tensor<64x64xi8, #{{.*}}>, tensor<64x128xbf16, #{{.*}}> -> tensor<64x128xbf16, #{{.*}}>
    %0 = amdg.scaled_upcast_fp4 %x4 scale %s {axis = 1 : i32} : tensor<64x64xi8, #a4>, tensor<64x128xbf16, #a8> -> tensor<64x128xbf16, #a8>
    // CHECK: amdg.scaled_upcast_fp4 %arg0 scale %arg3 {axis = 1 : i32} : tensor<64x64xi8, #{{.*}}>, tensor<64x128xi8, #{{.*}}> -> tensor<64x128xf16, #{{.*}}>
    %1 = amdg.scaled_upcast_fp4 %x4 scale %bits {axis = 1 : i32} : tensor<64x64xi8, #a4>, tensor<64x128xi8, #a8> -> tensor<64x128xf16, #a8>
    // CHECK: amdg.scaled_upcast_fp8 %arg1 scale %arg2 : tensor<64x128xf8E4M3FN, #{{.*}}>, tensor<64x128xbf16, #{{.*}}> -> tensor<64x128xbf16, #{{.*}}>
    %2 = amdg.scaled_upcast_fp8 %x8 scale %s : tensor<64x128xf8E4M3FN, #a8>, tensor<64x128xbf16, #a8> -> tensor<64x128xbf16, #a8>
    tt.return
  }

  // CHECK-LABEL: @groups_with_a_scale
  tt.func @groups_with_a_scale(%x4: tensor<64x64xi8, #a4>, %x8: tensor<64x128xi8, #a8>, %y8: tensor<128x64xf8E5M2, #b8>, %s: tensor<64x4xi8, #sc>) {
    // CHECK: amdg.upcast_mxfp %arg0, %arg3 fp_type = e2m1 {fastMath = false} : tensor<64x64xi8, #{{.*}}>, tensor<64x4xi8, #blocked> -> tensor<64x128xbf16, #{{.*}}>
    %0 = amdg.upcast_mxfp %x4, %s fp_type = e2m1 {fastMath = false} : tensor<64x64xi8, #a4>, tensor<64x4xi8, #sc> -> tensor<64x128xbf16, #a8>
    // CHECK: amdg.upcast_mxfp %arg1, %arg3 fp_type = e4m3 {fastMath = true} : tensor<64x128xi8, #{{.*}}>, tensor<64x4xi8, #blocked> -> tensor<64x128xf16, #{{.*}}>
    %1 = amdg.upcast_mxfp %x8, %s fp_type = e4m3 {fastMath = true} : tensor<64x128xi8, #a8>, tensor<64x4xi8, #sc> -> tensor<64x128xf16, #a8>
    // CHECK: amdg.upcast_mxfp %arg2, %arg3 fp_type = e5m2 {fastMath = false} : tensor<128x64xf8E5M2, #{{.*}}>, tensor<64x4xi8, #blocked> -> tensor<128x64xbf16, #{{.*}}>
    %2 = amdg.upcast_mxfp %y8, %s fp_type = e5m2 {fastMath = false} : tensor<128x64xf8E5M2, #b8>, tensor<64x4xi8, #sc> -> tensor<128x64xbf16, #b8>
    tt.return
  }

  // CHECK-LABEL: @packed_across
  tt.func @packed_across(%x: !ttg.memdesc<64x64xi8, #columns, #smem>, %y: !ttg.memdesc<64x64xi8, #rows, #smem>) {
    // CHECK: amdg.local_load_packed_tranposed %arg0 : !ttg.memdesc<64x64xi8, #{{.*}}, #smem> -> tensor<128x32xi8, #{{.*}}>
    %0 = amdg.local_load_packed_tranposed %x : !ttg.memdesc<64x64xi8, #columns, #smem> -> tensor<128x32xi8, #a8>
    // CHECK: amdg.local_load_packed_tranposed %arg1 : !ttg.memdesc<64x64xi8, #{{.*}}, #smem> -> tensor<32x128xi8, #{{.*}}>
    %1 = amdg.local_load_packed_tranposed %y : !ttg.memdesc<64x64xi8, #rows, #smem> -> tensor<32x128xi8, #b8>
    tt.return
  }
}
