// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s
// RUN: sed s/cuda:120/cuda:90/ %s | tile-opt -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s --check-prefix=HOPPER

// Bytes of a column lie together, and lanes have those of two columns.
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#across = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:120"} {
// The results of a dot, 64 rows of 32 elements: 16 bytes for each thread.
// CHECK-LABEL: llvm.func @results
// CHECK: nvvm.stmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b8>, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 8>} : !llvm.ptr<3>, i32, i32, i32, i32
// CHECK-NOT: nvvm.stmatrix
// HOPPER-LABEL: llvm.func @results
// HOPPER-NOT: nvvm.stmatrix
tt.func @results(%x: tensor<64x32xf8E4M3FN, #mma>) {
  %m = ttg.local_alloc %x : (tensor<64x32xf8E4M3FN, #mma>) -> !ttg.memdesc<64x32xf8E4M3FN, #across, #smem>
  tt.return
}

// The right operand of a dot, 32 rows of 64 elements: 64 bytes for each thread.
// CHECK-LABEL: llvm.func @operand
// CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b8>, layout = #nvvm.mma_layout<col>, num = 2 : i32, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
// CHECK-NOT: nvvm.ldmatrix
// HOPPER-LABEL: llvm.func @operand
// HOPPER-NOT: nvvm.ldmatrix
tt.func @operand(%m: !ttg.memdesc<32x64xf8E4M3FN, #rows, #smem, mutable>) {
  %b = ttg.local_load %m : !ttg.memdesc<32x64xf8E4M3FN, #rows, #smem, mutable> -> tensor<32x64xf8E4M3FN, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
  tt.return
}
}
