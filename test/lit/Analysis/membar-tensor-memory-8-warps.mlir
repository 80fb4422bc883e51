// RUN: tile-opt %s -allocate-shared-memory -insert-memory-barriers | filecheck %s

// Of more than four warps, several reach the same lanes of tensor memory.

#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 16, colStride = 1>
#first = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0], [0, 8]], block = []}>
#second = #ttg.linear<{register = [[0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0], [0, 1]], block = []}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {
// CHECK-LABEL: @stored_then_read
tt.func @stored_then_read(%x: tensor<128x16xf32, #first>, %out: tensor<128x16x!tt.ptr<f32>, #second>) {
  %true = arith.constant true
  %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  // CHECK: ttnvgpu.tmem_store
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttnvgpu.tmem_load
  ttnvgpu.tmem_store %x, %d, %true : tensor<128x16xf32, #first> -> !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  %y = ttnvgpu.tmem_load %d : !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable> -> tensor<128x16xf32, #second>
  tt.store %out, %y : tensor<128x16x!tt.ptr<f32>, #second>
  tt.return
}
}
