// RUN: tile-opt %s -triton-nvidia-scale-sums-in-parts | filecheck %s

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#half = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem1 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!sum = !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!small = !ttg.memdesc<128x64xf32, #tmem1, #ttnvgpu.tensor_memory, mutable>
!row = tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @sum
  // CHECK: scf.for
  // CHECK-NOT: tmem_load {{.*}} -> tensor<128x128xf32
  // CHECK: %[[A:.*]] = ttnvgpu.tmem_subslice %arg0 {offset = 0 : i32}
  // CHECK: %[[X:.*]] = ttnvgpu.tmem_load %[[A]] : {{.*}} -> tensor<128x64xf32
  // CHECK: %[[P:.*]] = arith.mulf %[[X]]
  // CHECK: ttnvgpu.tmem_store %[[P]], %[[A]], %arg2
  // CHECK: %[[B:.*]] = ttnvgpu.tmem_subslice %arg0 {offset = 64 : i32}
  // CHECK: %[[Y:.*]] = ttnvgpu.tmem_load %[[B]]
  // CHECK: %[[Q:.*]] = arith.mulf %[[Y]]
  // CHECK: ttnvgpu.tmem_store %[[Q]], %[[B]], %arg2
  tt.func @sum(%acc: !sum, %f: !row, %p: i1, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %x = ttnvgpu.tmem_load %acc : !sum -> tensor<128x128xf32, #rows>
      %e = tt.expand_dims %f {axis = 1 : i32} : !row -> tensor<128x1xf32, #rows>
      %b = tt.broadcast %e : tensor<128x1xf32, #rows> -> tensor<128x128xf32, #rows>
      %y = arith.mulf %x, %b : tensor<128x128xf32, #rows>
      ttnvgpu.tmem_store %y, %acc, %p : tensor<128x128xf32, #rows> -> !sum
    }
    tt.return
  }

  // What is written in between would be multiplied, too.
  // CHECK-LABEL: @written
  // CHECK-NOT: tmem_subslice
  tt.func @written(%acc: !sum, %f: !row, %o: tensor<128x128xf32, #rows>, %p: i1, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %x = ttnvgpu.tmem_load %acc : !sum -> tensor<128x128xf32, #rows>
      ttnvgpu.tmem_store %o, %acc, %p : tensor<128x128xf32, #rows> -> !sum
      %e = tt.expand_dims %f {axis = 1 : i32} : !row -> tensor<128x1xf32, #rows>
      %b = tt.broadcast %e : tensor<128x1xf32, #rows> -> tensor<128x128xf32, #rows>
      %y = arith.mulf %x, %b : tensor<128x128xf32, #rows>
      ttnvgpu.tmem_store %y, %acc, %p : tensor<128x128xf32, #rows> -> !sum
    }
    tt.return
  }

  // Few columns are one part.
  // CHECK-LABEL: @small
  // CHECK-NOT: tmem_subslice
  tt.func @small(%acc: !small, %f: tensor<128xf32, #ttg.slice<{dim = 1, parent = #half}>>, %p: i1, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %x = ttnvgpu.tmem_load %acc : !small -> tensor<128x64xf32, #half>
      %e = tt.expand_dims %f {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #half}>> -> tensor<128x1xf32, #half>
      %b = tt.broadcast %e : tensor<128x1xf32, #half> -> tensor<128x64xf32, #half>
      %y = arith.mulf %x, %b : tensor<128x64xf32, #half>
      ttnvgpu.tmem_store %y, %acc, %p : tensor<128x64xf32, #half> -> !small
    }
    tt.return
  }
}
