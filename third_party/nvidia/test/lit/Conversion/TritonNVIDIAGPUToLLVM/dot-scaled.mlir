// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm -canonicalize -cse | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a4 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b2 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#b4 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#as = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[8, 0], [16, 0], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
#as1 = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[8, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
#bs = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:120"} {
  // Four steps along K take the bytes of one register of scales one after the other; rows 16 to 31
  // have theirs in the second pair of lanes.
  // CHECK-LABEL: llvm.func @mxfp8
  tt.func @mxfp8(%x: tensor<32x128xf8E4M3FN, #a4>, %xs: tensor<32x4xi8, #as>, %y: tensor<64x8xi8, #b2>, %ys: tensor<8x4xi8, #bs>, %z: tensor<32x8xf32, #mma>) {
    // CHECK-DAG: %[[I0:.*]] = llvm.mlir.constant(0 : i16) : i16
    // CHECK-DAG: %[[I1:.*]] = llvm.mlir.constant(1 : i16) : i16
    // CHECK-DAG: %[[I2:.*]] = llvm.mlir.constant(2 : i16) : i16
    // CHECK-DAG: %[[I3:.*]] = llvm.mlir.constant(3 : i16) : i16
    // CHECK: nvvm.mma.block_scale A[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] B[%{{.*}}, %{{.*}}] C[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] scaleA[%[[W:.*]], %[[I0]], %[[I0]]] scaleB[%[[V:.*]], %[[I0]], %[[I0]]] {blockScaleFormat = #nvvm.block_scale_format<ue8m0>, kind = #nvvm.block_scale_kind<mxf8f6f4>, multiplicandAPtxType = #nvvm.mma_type<e4m3>, multiplicandBPtxType = #nvvm.mma_type<e2m1>, scaleVecSize = #nvvm.scale_vec_size<x1>, shape = #nvvm.shape<m = 16, n = 8, k = 32>}
    // CHECK: nvvm.mma.block_scale {{.*}} scaleA[%[[W]], %[[I1]], %[[I0]]] scaleB[%[[V]], %[[I1]], %[[I0]]]
    // CHECK: nvvm.mma.block_scale {{.*}} scaleA[%[[W]], %[[I2]], %[[I0]]] scaleB[%[[V]], %[[I2]], %[[I0]]]
    // CHECK: nvvm.mma.block_scale {{.*}} scaleA[%[[W]], %[[I3]], %[[I0]]] scaleB[%[[V]], %[[I3]], %[[I0]]]
    // CHECK: nvvm.mma.block_scale {{.*}} scaleA[%[[W]], %[[I0]], %[[I1]]] scaleB[%[[V]], %[[I0]], %[[I0]]]
    // CHECK-COUNT-3: nvvm.mma.block_scale
    // CHECK-NOT: nvvm.mma.block_scale
    // CHECK: llvm.return
    %0 = tt.dot_scaled %x scale %xs, %y scale %ys, %z lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<32x128xf8E4M3FN, #a4>, tensor<32x4xi8, #as> * tensor<64x8xi8, #b2>, tensor<8x4xi8, #bs> -> tensor<32x8xf32, #mma>
    tt.return
  }

  // Without scales, they are one.
  // CHECK-LABEL: llvm.func @mxfp4
  tt.func @mxfp4(%x: tensor<16x64xi8, #a4>, %y: tensor<64x8xi8, #b4>, %ys: tensor<8x4xi8, #bs>, %z: tensor<16x8xf32, #mma>) {
    // CHECK-DAG: %[[I0:.*]] = llvm.mlir.constant(0 : i16) : i16
    // CHECK-DAG: %[[ONES:.*]] = llvm.mlir.constant(2139062143 : i32) : i32
    // CHECK: nvvm.mma.block_scale {{.*}} scaleA[%[[ONES]], %[[I0]], %[[I0]]] scaleB[%{{.*}}, %[[I0]], %[[I0]]] {{.*}}kind = #nvvm.block_scale_kind<mxf4>{{.*}}scaleVecSize = #nvvm.scale_vec_size<x2>, shape = #nvvm.shape<m = 16, n = 8, k = 64>
    // CHECK: nvvm.mma.block_scale {{.*}} scaleA[%[[ONES]], %[[I0]], %[[I0]]] scaleB[%{{.*}}, %[[I2:.*]], %[[I0]]]
    // CHECK-NOT: nvvm.mma.block_scale
    // CHECK: llvm.return
    %0 = tt.dot_scaled %x, %y scale %ys, %z lhs = e2m1 rhs = e2m1 {fastMath = false} : tensor<16x64xi8, #a4> * tensor<64x8xi8, #b4>, tensor<8x4xi8, #bs> -> tensor<16x8xf32, #mma>
    tt.return
  }

  // What the instruction makes of a sign is not published.
  // CHECK-LABEL: llvm.func @nvfp4
  tt.func @nvfp4(%x: tensor<16x32xi8, #a4>, %xs: tensor<16x4xf8E4M3FN, #as1>, %y: tensor<32x8xi8, #b4>, %ys: tensor<8x4xf8E4M3FN, #bs>, %z: tensor<16x8xf32, #mma>) {
    // CHECK: %[[MASK:.*]] = llvm.mlir.constant(2139062143 : i32) : i32
    // CHECK: %[[XS:.*]] = llvm.and %{{.*}}, %[[MASK]]
    // CHECK: nvvm.mma.block_scale {{.*}} scaleA[%[[XS]], {{.*}}blockScaleFormat = #nvvm.block_scale_format<ue4m3>, kind = #nvvm.block_scale_kind<mxf4nvf4>{{.*}}scaleVecSize = #nvvm.scale_vec_size<x4>
    // CHECK-NOT: nvvm.mma.block_scale
    // CHECK: llvm.return
    %0 = tt.dot_scaled %x scale %xs, %y scale %ys, %z lhs = e2m1 rhs = e2m1 {fastMath = false} : tensor<16x32xi8, #a4>, tensor<16x4xf8E4M3FN, #as1> * tensor<32x8xi8, #b4>, tensor<8x4xf8E4M3FN, #bs> -> tensor<16x8xf32, #mma>
    tt.return
  }
}
