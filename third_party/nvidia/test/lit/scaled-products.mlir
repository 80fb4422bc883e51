// RUN: tile-opt %s -split-input-file -tritongpu-accelerate-matmul | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#scales = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:120", "ttg.threads-per-warp" = 32 : i32} {
  // Of the scales of A, a lane with an odd number has the row eight below, and the next bit the
  // next rows of the warp; of B, both bits have the next columns. Where one operand has bytes, two
  // e2m1 become two bytes: a lane has half as many bytes of them.
  // CHECK-DAG: #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
  // CHECK-DAG: #[[$AS:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [64, 0]], lane = {{\[\[}}8, 0], [32, 0], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}0, 0], [16, 0]], block = []}>
  // CHECK-DAG: #[[$BS:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [64, 0]], lane = {{\[\[}}16, 0], [32, 0], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}8, 0], [0, 0]], block = []}>
  // CHECK-LABEL: @mixed
  tt.func @mixed(%a: tensor<128x128xf8E4M3FN, #blocked>, %b: tensor<64x128xi8, #blocked>, %as: tensor<128x4xi8, #scales>, %bs: tensor<128x4xi8, #scales>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    // CHECK: tt.dot_scaled {{.*}} lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<128x128xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>, tensor<128x4xi8, #[[$AS]]> * tensor<64x128xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, tensor<128x4xi8, #[[$BS]]> -> tensor<128x128xf32, #mma>
    %d = tt.dot_scaled %a scale %as, %b scale %bs, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<128x128xf8E4M3FN, #blocked>, tensor<128x4xi8, #scales> * tensor<64x128xi8, #blocked>, tensor<128x4xi8, #scales> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }

  // Two e2m1 stay in a byte where both operands have them; an operand may lack scales.
  // CHECK-LABEL: @fp4
  tt.func @fp4(%a: tensor<64x32xi8, #blocked>, %b: tensor<32x64xi8, #blocked>, %bs: tensor<64x4xf8E4M3FN, #scales>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    // CHECK: tt.dot_scaled {{.*}} : tensor<64x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>, tensor<64x4xf8E4M3FN, #{{.*}}> -> tensor<64x64xf32, #mma>
    %d = tt.dot_scaled %a, %b scale %bs, %c lhs = e2m1 rhs = e2m1 {fastMath = false} : tensor<64x32xi8, #blocked> * tensor<32x64xi8, #blocked>, tensor<64x4xf8E4M3FN, #scales> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }

  // Too wide; scales of e4m3 beside bytes; too few rows.
  // CHECK-LABEL: @plain
  // CHECK-NOT: dot_scaled
  // CHECK: tt.return
  tt.func @plain(%a: tensor<64x64xbf16, #blocked>, %b: tensor<64x64xf8E5M2, #blocked>, %e: tensor<8x64xf8E5M2, #blocked>, %bs: tensor<64x2xi8, #scales>, %fs: tensor<64x4xf8E4M3FN, #scales>, %c: tensor<64x64xf32, #blocked>, %g: tensor<8x64xf32, #blocked>) -> (tensor<64x64xf32, #blocked>, tensor<8x64xf32, #blocked>) {
    %0 = tt.dot_scaled %a, %b scale %bs, %c lhs = bf16 rhs = e5m2 {fastMath = false} : tensor<64x64xbf16, #blocked> * tensor<64x64xf8E5M2, #blocked>, tensor<64x2xi8, #scales> -> tensor<64x64xf32, #blocked>
    %1 = tt.dot_scaled %b, %b scale %fs, %0 lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<64x64xf8E5M2, #blocked> * tensor<64x64xf8E5M2, #blocked>, tensor<64x4xf8E4M3FN, #scales> -> tensor<64x64xf32, #blocked>
    %2 = tt.dot_scaled %e, %b scale %bs, %g lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<8x64xf8E5M2, #blocked> * tensor<64x64xf8E5M2, #blocked>, tensor<64x2xi8, #scales> -> tensor<8x64xf32, #blocked>
    tt.return %1, %2 : tensor<64x64xf32, #blocked>, tensor<8x64xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#scales = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
// sm_100 has no such mma.sync.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @elsewhere
  // CHECK-NOT: dot_scaled
  // CHECK: tt.return
  tt.func @elsewhere(%b: tensor<64x64xf8E5M2, #blocked>, %bs: tensor<64x2xi8, #scales>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot_scaled %b, %b scale %bs, %c lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<64x64xf8E5M2, #blocked> * tensor<64x64xf8E5M2, #blocked>, tensor<64x2xi8, #scales> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}
