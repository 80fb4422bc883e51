// RUN: tile-opt %s -triton-nvidia-mma-lowering | FileCheck %s

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [4, 3, 2, 1, 0]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
// Scales in shared memory are copied, in the shape that they have for the tensor core.
// CHECK-LABEL: @scales_in_shared_memory
tt.func @scales_in_shared_memory(%a: !ttg.memdesc<128x256xf8E4M3FN, #a, #smem>, %b: !ttg.memdesc<256x128xf8E4M3FN, #a, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %sa: !ttg.memdesc<1x2x32x4x4xi8, #flat, #smem, mutable>, %sb: !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory>, %p: i1) {
  // CHECK: %[[PLACE:.*]] = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x8xi8, #tmem_scales, #ttnvgpu.tensor_memory, mutable>
  // CHECK-NEXT: ttnvgpu.tmem_copy %arg3, %[[PLACE]]
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma_scaled %arg0, %arg1, %arg2, %[[PLACE]], %arg4,
  // CHECK: ttnvgpu.wait_barrier
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %sa, %sb, %p, %p lhs = e4m3 rhs = e4m3 : !ttg.memdesc<128x256xf8E4M3FN, #a, #smem>, !ttg.memdesc<256x128xf8E4M3FN, #a, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1x2x32x4x4xi8, #flat, #smem, mutable>, !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory>
  tt.return
}
}
