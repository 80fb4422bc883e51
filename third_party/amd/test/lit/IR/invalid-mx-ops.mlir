// RUN: tile-opt %s -split-input-file -verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @shape(%x: tensor<64x64xi8, #blocked>, %s: tensor<64x64xbf16, #wide>) {
    // expected-error @+1 {{expected a result of shape [64, 128], found [64, 64]}}
    %0 = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<64x64xi8, #blocked>, tensor<64x64xbf16, #wide> -> tensor<64x64xbf16, #wide>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @axis(%x: tensor<64x64xi8, #blocked>, %s: tensor<64x128xbf16, #blocked>) {
    // expected-error @+1 {{expected an axis below 2, found 2}}
    %0 = amdg.scaled_upcast_fp4 %x scale %s {axis = 2 : i32} : tensor<64x64xi8, #blocked>, tensor<64x128xbf16, #blocked> -> tensor<64x128xbf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @layout(%x: tensor<64x64xf8E5M2, #blocked>, %s: tensor<64x64xbf16, #wide>) {
    // expected-error @+1 {{expected scales in the layout of the result}}
    %0 = amdg.scaled_upcast_fp8 %x scale %s : tensor<64x64xf8E5M2, #blocked>, tensor<64x64xbf16, #wide> -> tensor<64x64xbf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>
#right = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @scales_of_the_right(%x: tensor<128x64xf8E5M2, #right>, %s: tensor<4x64xi8, #blocked>) {
    // expected-error @+1 {{expected scales of shape [64, 4], found [4, 64]}}
    %0 = amdg.upcast_mxfp %x, %s fp_type = e5m2 {fastMath = false} : tensor<128x64xf8E5M2, #right>, tensor<4x64xi8, #blocked> -> tensor<128x64xbf16, #right>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @format(%x: tensor<64x64xi8, #blocked>, %s: tensor<64x2xi8, #blocked>) {
    // expected-error @+1 {{expected e2m1, e4m3 or e5m2, found e2m3}}
    %0 = amdg.upcast_mxfp %x, %s fp_type = e2m3 {fastMath = false} : tensor<64x64xi8, #blocked>, tensor<64x2xi8, #blocked> -> tensor<64x64xbf16, #blocked>
    tt.return
  }
}

// -----

#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>
#right = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @packed(%x: !ttg.memdesc<64x64xi8, #shared, #smem>) {
    // expected-error @+1 {{expected a result of shape [32, 128], found [128, 32]}}
    %0 = amdg.local_load_packed_tranposed %x : !ttg.memdesc<64x64xi8, #shared, #smem> -> tensor<128x32xi8, #right>
    tt.return
  }
}
