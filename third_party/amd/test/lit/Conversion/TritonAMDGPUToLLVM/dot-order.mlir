// RUN: tile-opt %s -split-input-file -allocate-shared-memory -insert-memory-barriers -convert-triton-amdgpu-to-llvm -cse | filecheck %s

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

// Four sums of two steps, A in registers, B in LDS: what is read from there is
// used by both sums of a column, which follow one another.
// CHECK-LABEL: @from_registers
// CHECK: %[[S00:.*]] = {{.*}}wmma.f32.16x16x16.f16{{.*}}(%[[B0:[^,]*]], %[[A0:[^,]*]],
// CHECK: %[[S10:.*]] = {{.*}}wmma.f32.16x16x16.f16{{.*}}(%[[B0]], %[[A1:[^,]*]],
// CHECK: %[[S01:.*]] = {{.*}}wmma.f32.16x16x16.f16{{.*}}(%[[B1:[^,]*]], %[[A0]],
// CHECK: %[[S11:.*]] = {{.*}}wmma.f32.16x16x16.f16{{.*}}(%[[B1]], %[[A1]],
// CHECK: wmma.f32.16x16x16.f16{{.*}}%[[S00]]
// CHECK: wmma.f32.16x16x16.f16{{.*}}%[[S10]]
// CHECK: wmma.f32.16x16x16.f16{{.*}}%[[S01]]
// CHECK: wmma.f32.16x16x16.f16{{.*}}%[[S11]]
#mma = #ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [1, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx1201", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @from_registers(%x: tensor<32x32xf16, #a>, %m: !ttg.memdesc<32x32xf16, #shared, #smem>, %p: tensor<32x32x!tt.ptr<f32>, #mma>) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %y = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #b>
    %d = tt.dot %x, %y, %zero : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
    tt.store %p, %d : tensor<32x32x!tt.ptr<f32>, #mma>
    tt.return
  }
}
