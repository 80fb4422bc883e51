// RUN: tile-opt %s -split-input-file -allocate-shared-memory -insert-memory-barriers -convert-triton-amdgpu-to-llvm | filecheck %s

// Two sums by MFMA: both take the first step along K before one takes the second.
// CHECK-LABEL: @mfma
// CHECK: %[[A0:.*]] = {{.*}}mfma.f32.32x32x8f16
// CHECK: %[[B0:.*]] = {{.*}}mfma.f32.32x32x8f16
// CHECK: mfma.f32.32x32x8f16{{.*}}%[[A0]]
// CHECK: mfma.f32.32x32x8f16{{.*}}%[[B0]]
// CHECK-NOT: mfma
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @mfma(%x: tensor<32x16xf16, #a>, %y: tensor<16x64xf16, #b>, %p: tensor<32x64x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : tensor<32x64xf32, #mma>
    %d = tt.dot %x, %y, %zero : tensor<32x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<32x64xf32, #mma>
    tt.store %p, %d : tensor<32x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}

// -----

// By WMMA, one after the other.
// CHECK-LABEL: @wmma
// CHECK: %[[A0:.*]] = {{.*}}wmma.f32.16x16x16.f16
// CHECK: wmma.f32.16x16x16.f16{{.*}}%[[A0]]
// CHECK: %[[B0:.*]] = {{.*}}wmma.f32.16x16x16.f16
// CHECK: wmma.f32.16x16x16.f16{{.*}}%[[B0]]
#mma = #ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [1, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx1201", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @wmma(%x: tensor<16x32xf16, #a>, %y: tensor<32x32xf16, #b>, %p: tensor<16x32x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : tensor<16x32xf32, #mma>
    %d = tt.dot %x, %y, %zero : tensor<16x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<16x32xf32, #mma>
    tt.store %p, %d : tensor<16x32x!tt.ptr<f32>, #mma>
    tt.return
  }
}
