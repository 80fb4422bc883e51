// RUN: tile-opt %s -tile-amd-llir | filecheck %s

// A transposed result is the product of the transposed operands: B comes first, with its format
// (2^2 for e2m1) and its scale. 64 elements along K are two instructions' worth of 32.
// CHECK-LABEL: @scaled
// CHECK-DAG: %[[E4M3:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG: %[[E2M1:.*]] = llvm.mlir.constant(4 : i32)
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4"(%{{.*}}, %{{.*}}, %{{.*}}, %[[E2M1]], %[[E4M3]], %[[E4M3]], %{{.*}}, %[[E4M3]], %{{.*}}) : (vector<4xi32>, vector<8xi32>, vector<16xf32>, i32, i32, i32, i32, i32, i32) -> vector<16xf32>
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4"
// CHECK-NOT: mfma
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [32, 32, 64], isTransposed = true}>
#scales = #ttg.linear<{register = [[0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]], warp = [], block = []}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @scaled(%x: tensor<32x128xf8E4M3FN, #a>, %xs: tensor<32x4xi8, #scales>, %y: tensor<64x32xi8, #b>, %ys: tensor<32x4xi8, #scales>, %c: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
    %d = tt.dot_scaled %x scale %xs, %y scale %ys, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<32x128xf8E4M3FN, #a>, tensor<32x4xi8, #scales> * tensor<64x32xi8, #b>, tensor<32x4xi8, #scales> -> tensor<32x32xf32, #mma>
    tt.return %d : tensor<32x32xf32, #mma>
  }
}
