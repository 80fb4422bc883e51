// RUN: tile-opt %s -allow-unregistered-dialect -triton-nvidia-optimize-tmem-layouts | filecheck %s

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#rows3 = #ttg.linear<{register = [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 0, 32], [0, 1, 0]], lane = [[1, 0, 0], [2, 0, 0], [4, 0, 0], [8, 0, 0], [16, 0, 0]], warp = [[32, 0, 0], [64, 0, 0]], block = []}>
#pairs = #ttg.linear<{register = [[0, 1, 0], [0, 2, 0], [0, 4, 0], [0, 8, 0], [0, 16, 0], [0, 32, 0], [0, 0, 1]], lane = [[1, 0, 0], [2, 0, 0], [4, 0, 0], [8, 0, 0], [16, 0, 0]], warp = [[32, 0, 0], [64, 0, 0]], block = []}>
#half = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#joined = #ttg.blocked<{sizePerThread = [1, 64, 2], threadsPerWarp = [32, 1, 1], warpsPerCTA = [4, 1, 1], order = [2, 0, 1]}>
#turned = #ttg.blocked<{sizePerThread = [64, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!d = !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!e = !ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, mutable>
// CHECK: [[$FRAGMENTS:#.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [16, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}32, 0], [64, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @split
  tt.func @split(%d: !d) -> (tensor<128x64xf32, #half>, tensor<128x64xf32, #half>) {
    // CHECK: [[S0:%.*]] = ttnvgpu.tmem_subslice %arg0 {offset = 0 : i32}
    // CHECK-NEXT: [[L:%.*]] = ttnvgpu.tmem_load [[S0]]
    // CHECK: [[S1:%.*]] = ttnvgpu.tmem_subslice %arg0 {offset = 64 : i32}
    // CHECK-NEXT: [[R:%.*]] = ttnvgpu.tmem_load [[S1]]
    // CHECK-NOT: tt.split
    %x = ttnvgpu.tmem_load %d : !d -> tensor<128x128xf32, #rows>
    %0 = tt.reshape %x : tensor<128x128xf32, #rows> -> tensor<128x2x64xf32, #rows3>
    %1 = tt.trans %0 {order = array<i32: 0, 2, 1>} : tensor<128x2x64xf32, #rows3> -> tensor<128x64x2xf32, #pairs>
    %l, %r = tt.split %1 : tensor<128x64x2xf32, #pairs> -> tensor<128x64xf32, #half>
    tt.return %l, %r : tensor<128x64xf32, #half>, tensor<128x64xf32, #half>
  }

  // The whole is wanted, too.
  // CHECK-LABEL: @also_whole
  // CHECK-NOT: ttnvgpu.tmem_subslice
  // CHECK: tt.return
  tt.func @also_whole(%d: !d) -> (tensor<128x64xf32, #half>, tensor<128x128xf32, #rows>) {
    %x = ttnvgpu.tmem_load %d : !d -> tensor<128x128xf32, #rows>
    %0 = tt.reshape %x : tensor<128x128xf32, #rows> -> tensor<128x2x64xf32, #rows3>
    %1 = tt.trans %0 {order = array<i32: 0, 2, 1>} : tensor<128x2x64xf32, #rows3> -> tensor<128x64x2xf32, #pairs>
    %l, %r = tt.split %1 : tensor<128x64x2xf32, #pairs> -> tensor<128x64xf32, #half>
    tt.return %l, %x : tensor<128x64xf32, #half>, tensor<128x128xf32, #rows>
  }

  // CHECK-LABEL: @join
  tt.func @join(%d: !d, %l: tensor<128x64xf32, #half>, %r: tensor<128x64xf32, #half>, %c: i1) {
    // CHECK-NOT: tt.join
    // CHECK: [[S0:%.*]] = ttnvgpu.tmem_subslice %arg0 {offset = 0 : i32}
    // CHECK: ttnvgpu.tmem_store %arg1, [[S0]], %arg3
    // CHECK: [[S1:%.*]] = ttnvgpu.tmem_subslice %arg0 {offset = 64 : i32}
    // CHECK: ttnvgpu.tmem_store %arg2, [[S1]], %arg3
    %0 = tt.join %l, %r : tensor<128x64xf32, #half> -> tensor<128x64x2xf32, #joined>
    %c0 = ttg.convert_layout %0 : tensor<128x64x2xf32, #joined> -> tensor<128x64x2xf32, #pairs>
    %1 = tt.trans %c0 {order = array<i32: 0, 2, 1>} : tensor<128x64x2xf32, #pairs> -> tensor<128x2x64xf32, #rows3>
    %2 = tt.reshape %1 : tensor<128x2x64xf32, #rows3> -> tensor<128x128xf32, #rows>
    ttnvgpu.tmem_store %2, %d, %c : tensor<128x128xf32, #rows> -> !d
    tt.return
  }

  // Pieces of 8 by 8 elements, as stmatrix moves them.
  // CHECK-LABEL: @transposed
  tt.func @transposed(%e: !e, %buf: !ttg.memdesc<64x128xf16, #shared, #smem, mutable>) {
    // CHECK: ttnvgpu.tmem_load %arg0 : {{.*}} -> tensor<128x64xf32, [[$FRAGMENTS]]>
    %x = ttnvgpu.tmem_load %e : !e -> tensor<128x64xf32, #half>
    %h = arith.truncf %x : tensor<128x64xf32, #half> to tensor<128x64xf16, #half>
    %t = tt.trans %h {order = array<i32: 1, 0>} : tensor<128x64xf16, #half> -> tensor<64x128xf16, #turned>
    ttg.local_store %t, %buf : tensor<64x128xf16, #turned> -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: @from_transposed
  tt.func @from_transposed(%e: !e, %buf: !ttg.memdesc<64x128xf16, #shared, #smem, mutable>) {
    %true = arith.constant true
    // CHECK: ttnvgpu.tmem_store %{{.*}}, %arg0, %{{.*}} : tensor<128x64xf32, [[$FRAGMENTS]]>
    %t = ttg.local_load %buf : !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<64x128xf16, #turned>
    %f = arith.extf %t : tensor<64x128xf16, #turned> to tensor<64x128xf32, #turned>
    %x = tt.trans %f {order = array<i32: 1, 0>} : tensor<64x128xf32, #turned> -> tensor<128x64xf32, #half>
    ttnvgpu.tmem_store %x, %e, %true : tensor<128x64xf32, #half> -> !e
    tt.return
  }

  // Rows lie in shared memory as threads have them.
  // CHECK-LABEL: @not_transposed
  tt.func @not_transposed(%e: !e, %buf: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) {
    // CHECK-NOT: [[$FRAGMENTS]]
    // CHECK: tt.return
    %x = ttnvgpu.tmem_load %e : !e -> tensor<128x64xf32, #half>
    %h = arith.truncf %x : tensor<128x64xf32, #half> to tensor<128x64xf16, #half>
    ttg.local_store %h, %buf : tensor<128x64xf16, #half> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    tt.return
  }
}
