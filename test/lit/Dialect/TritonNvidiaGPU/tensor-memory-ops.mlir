// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | filecheck %s

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#i8 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#half = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 32]], warp = [[16, 0], [32, 0]], block = []}>
#smem = #ttg.shared_memory
// CHECK-DAG: #tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
// CHECK-DAG: = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 2>
// CHECK-DAG: = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CTASplitM = 2, twoCTAs = true>
// CHECK-DAG: #tmem_scales = #ttnvgpu.tensor_memory_scales_encoding<>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem_half = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
#tmem_sub = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmem_wide = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 2>
#tmem_two = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CTASplitM = 2, CTASplitN = 1, twoCTAs = true>
#scales = #ttnvgpu.tensor_memory_scales_encoding<CTASplitM = 1>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @alloc
  // CHECK-SAME: (%[[X:[^:]*]]: tensor<128x128xf16
  tt.func @alloc(%x: tensor<128x128xf16, #rows>) {
    // CHECK: %result = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // CHECK: %{{.*}}, %token = ttnvgpu.tmem_alloc %[[X]] : (tensor<128x128xf16, #{{.*}}>) -> (!ttg.memdesc<128x128xf16, #tmem, #ttnvgpu.tensor_memory>, !ttg.async.token)
    %1, %t1 = ttnvgpu.tmem_alloc %x : (tensor<128x128xf16, #rows>) -> (!ttg.memdesc<128x128xf16, #tmem, #ttnvgpu.tensor_memory>, !ttg.async.token)
    // CHECK: ttnvgpu.tmem_alloc %[[X]] : {{.*}} -> !ttg.memdesc<128x128xf16, #{{.*}}, #ttnvgpu.tensor_memory>
    %2 = ttnvgpu.tmem_alloc %x : (tensor<128x128xf16, #rows>) -> !ttg.memdesc<128x128xf16, #tmem_wide, #ttnvgpu.tensor_memory>
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 64 : i32, tensor_memory_row_offset = 0 : i32} : () -> !ttg.memdesc<2x128x128xf32
    %3 = ttnvgpu.tmem_alloc {tensor_memory_col_offset = 64 : i32, tensor_memory_row_offset = 0 : i32} : () -> !ttg.memdesc<2x128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tmem_alloc : () -> !ttg.memdesc<256x128xf32
    %4 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<256x128xf32, #tmem_two, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #tmem_scales, #ttnvgpu.tensor_memory, mutable>
    %5 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable>
    tt.return
  }

  // CHECK-LABEL: @access
  // CHECK-SAME: (%[[BUF:[^:]*]]: {{.*}}, %[[HALF:[^:]*]]: {{.*}}, %[[X:[^:]*]]: tensor<128x128xf32, {{.*}}>, %[[PRED:[^:]*]]: i1, %[[T:[^:]*]]: !ttg.async.token
  tt.func @access(%buf: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>,
                  %half: !ttg.memdesc<64x64xf32, #tmem_half, #ttnvgpu.tensor_memory, mutable>,
                  %x: tensor<128x128xf32, #rows>, %pred: i1, %t: !ttg.async.token) {
    // CHECK: %{{.*}} = ttnvgpu.tmem_load %[[BUF]] : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x128xf32
    %0 = ttnvgpu.tmem_load %buf : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x128xf32, #rows>
    // CHECK: %{{.*}}, %{{.*}} = ttnvgpu.tmem_load %[[HALF]][%[[T]]] : !ttg.memdesc<64x64xf32
    %1, %t1 = ttnvgpu.tmem_load %half[%t] : !ttg.memdesc<64x64xf32, #tmem_half, #ttnvgpu.tensor_memory, mutable> -> tensor<64x64xf32, #half>
    // CHECK: ttnvgpu.tmem_store %[[X]], %[[BUF]], %[[PRED]] : tensor<128x128xf32, #{{.*}}> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    ttnvgpu.tmem_store %x, %buf, %pred : tensor<128x128xf32, #rows> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // CHECK: %{{.*}} = ttnvgpu.tmem_store %[[X]], %[[BUF]][%[[T]]], %[[PRED]] :
    %2 = ttnvgpu.tmem_store %x, %buf[%t], %pred : tensor<128x128xf32, #rows> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tmem_subslice %[[BUF]] {offset = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #{{.*}}, #ttnvgpu.tensor_memory, mutable, 128x128>
    %3 = ttnvgpu.tmem_subslice %buf {offset = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem_sub, #ttnvgpu.tensor_memory, mutable, 128x128>
    // Other spellings.
    // CHECK: ttnvgpu.tmem_subslice %[[BUF]] {offset = 64 : i32} :
    %4 = ttnvgpu.tmem_subslice %buf {N = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem_sub, #ttnvgpu.tensor_memory, mutable, 128x128>
    // CHECK: ttnvgpu.tmem_subslice %[[BUF]] {offset = 64 : i32} :
    %5 = ttnvgpu.tmem_subslice %buf {dim = 1 : i32, offset = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem_sub, #ttnvgpu.tensor_memory, mutable, 128x128>
    // Blocks of rows, and buffers of an array.
    // CHECK: ttnvgpu.tmem_subslice %{{.*}} {dim = 0 : i32, offset = 128 : i32} : !ttg.memdesc<256x64xf32
    %tall = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<256x64xf32, #tmem_sub, #ttnvgpu.tensor_memory, mutable>
    %rows = ttnvgpu.tmem_subslice %tall {dim = 0 : i32, offset = 128 : i32} : !ttg.memdesc<256x64xf32, #tmem_sub, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem_sub, #ttnvgpu.tensor_memory, mutable, 256x64>
    // CHECK: ttnvgpu.tmem_subslice %{{.*}} {dim = 0 : i32, offset = 1 : i32} : !ttg.memdesc<3x128x64xf32
    %three = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<3x128x64xf32, #tmem_sub, #ttnvgpu.tensor_memory, mutable>
    %two = ttnvgpu.tmem_subslice %three {dim = 0 : i32, offset = 1 : i32} : !ttg.memdesc<3x128x64xf32, #tmem_sub, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<2x128x64xf32, #tmem_sub, #ttnvgpu.tensor_memory, mutable, 3x128x64>
    tt.return
  }

  // CHECK-LABEL: @reduce
  tt.func @reduce(%buf: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %t: !ttg.async.token) {
    // CHECK: %{{.*}}, %{{.*}} = ttnvgpu.tmem_load %{{.*}} {NaN = true, abs = true, redOp = #ttnvgpu.redOp<min>} : !ttg.memdesc<128x128xf32, {{.*}}> -> tensor<128x128xf32, #[[ROWS:.*]]>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[ROWS]]}>>
    %0, %min = ttnvgpu.tmem_load %buf {redOp = #ttnvgpu.redOp<min>, abs = true, NaN = true} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x128xf32, #rows>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = ttnvgpu.tmem_load %{{.*}}[%{{.*}}] {redOp = #ttnvgpu.redOp<max>}
    %1, %t1, %max = ttnvgpu.tmem_load %buf[%t] {redOp = #ttng.redOp<max>} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x128xf32, #rows>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }

  // CHECK-LABEL: @copy
  // CHECK-SAME: (%[[SRC:[^:]*]]: {{.*}}, %[[DST:[^:]*]]: {{.*}}, %[[BAR:[^:]*]]: !ttg.memdesc<1xi64
  tt.func @copy(%src: !ttg.memdesc<128x128xf32, #f32, #smem>, %dst: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>,
                %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %s: !ttg.memdesc<128x4xi8, #i8, #smem>,
                %ts: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable>) {
    // CHECK: ttnvgpu.tmem_copy %[[SRC]], %[[DST]], %[[BAR]] : !ttg.memdesc<128x128xf32, #{{.*}}, #smem>, !ttg.memdesc<128x128xf32, #tmem, {{.*}}>, !ttg.memdesc<1xi64
    ttnvgpu.tmem_copy %src, %dst, %bar : !ttg.memdesc<128x128xf32, #f32, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: ttnvgpu.tmem_copy %{{.*}}, %{{.*}} : !ttg.memdesc<128x4xi8, #{{.*}}, #smem>, !ttg.memdesc<128x4xi8, #tmem_scales, #ttnvgpu.tensor_memory, mutable>
    ttnvgpu.tmem_copy %s, %ts : !ttg.memdesc<128x4xi8, #i8, #smem>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable>
    tt.return
  }
}
