// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#a1 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b1 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
#a4 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b4 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {

// CHECK-LABEL: llvm.func @f16
tt.func @f16(%x: tensor<64x16xf16, #a>, %y: tensor<16x8xf16, #b>, %z: tensor<64x8xf32, #mma>) {
  // CHECK: nvvm.mma.sync A[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] B[%{{.*}}, %{{.*}}] C[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
  // CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32)
  // CHECK-NOT: nvvm.mma.sync
  // CHECK: llvm.return
  %0 = tt.dot %x, %y, %z : tensor<64x16xf16, #a> * tensor<16x8xf16, #b> -> tensor<64x8xf32, #mma>
  tt.return
}

// CHECK-LABEL: llvm.func @bf16_two_steps
tt.func @bf16_two_steps(%x: tensor<64x32xbf16, #a>, %y: tensor<32x8xbf16, #b>, %z: tensor<64x8xf32, #mma>) {
  // CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>
  // CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>
  // CHECK-NOT: nvvm.mma.sync
  // CHECK: llvm.return
  %0 = tt.dot %x, %y, %z : tensor<64x32xbf16, #a> * tensor<32x8xbf16, #b> -> tensor<64x8xf32, #mma>
  tt.return
}

// CHECK-LABEL: llvm.func @tf32_int8
tt.func @tf32_int8(%x: tensor<64x8xf32, #a1>, %y: tensor<8x8xf32, #b1>, %z: tensor<64x8xf32, #mma>, %u: tensor<64x32xi8, #a4>, %v: tensor<32x8xi8, #b4>, %w: tensor<64x8xi32, #mma>) {
  // CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>{{.*}}k = 8
  // CHECK: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.*}}multiplicandAPtxType = #nvvm.mma_type<s8>{{.*}}k = 32
  %0 = tt.dot %x, %y, %z, inputPrecision = tf32 : tensor<64x8xf32, #a1> * tensor<8x8xf32, #b1> -> tensor<64x8xf32, #mma>
  %1 = tt.dot %u, %v, %w : tensor<64x32xi8, #a4> * tensor<32x8xi8, #b4> -> tensor<64x8xi32, #mma>
  tt.return
}

// A quarter of the tile at a time: rows in two halves, four elements inside.
// CHECK-LABEL: llvm.func @f64
tt.func @f64(%x: tensor<64x8xf64, #a1>, %y: tensor<8x8xf64, #b1>, %z: tensor<64x8xf64, #mma>) {
  // CHECK: nvvm.mma.sync A[%{{.*}}] B[%{{.*}}] C[%{{.*}}, %{{.*}}] {{.*}}m = 8, n = 8, k = 4
  // CHECK: nvvm.mma.sync A[%{{.*}}] B[%{{.*}}] C[%{{.*}}, %{{.*}}] {{.*}}m = 8, n = 8, k = 4
  // CHECK: nvvm.mma.sync A[%{{.*}}] B[%{{.*}}] C[%{{.*}}, %{{.*}}] {{.*}}m = 8, n = 8, k = 4
  // CHECK: nvvm.mma.sync A[%{{.*}}] B[%{{.*}}] C[%{{.*}}, %{{.*}}] {{.*}}m = 8, n = 8, k = 4
  // CHECK-NOT: nvvm.mma.sync
  // CHECK: llvm.return
  %0 = tt.dot %x, %y, %z : tensor<64x8xf64, #a1> * tensor<8x8xf64, #b1> -> tensor<64x8xf64, #mma>
  tt.return
}

// Without matrix units: a chain of multiply-adds for each element.
// CHECK-LABEL: llvm.func @fma
tt.func @fma(%x: tensor<32x4xf32, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>, %y: tensor<4x4xf32, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>, %z: tensor<32x4xf32, #blocked>) {
  // CHECK: llvm.intr.fma
  // CHECK: llvm.intr.fma
  // CHECK: llvm.intr.fma
  // CHECK: llvm.intr.fma
  // CHECK-NOT: llvm.intr.fma
  // CHECK: llvm.return
  %0 = tt.dot %x, %y, %z : tensor<32x4xf32, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<4x4xf32, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<32x4xf32, #blocked>
  tt.return
}
}
