// RUN: tile-opt %s -split-input-file -triton-nvidia-check-matmul-two-cta | filecheck %s

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
// CHECK: module attributes {{.*}}"ttng.two-ctas" = false
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @single_blocks
  tt.func @single_blocks(%a: !ttg.memdesc<128x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %d: !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
    %true = arith.constant true
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    tt.return
  }
}

// -----

// A buffer of a pair is enough.
#pair = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitM = 2, twoCTAs = true>
// CHECK: module attributes {{.*}}"ttng.two-ctas" = true
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @pair
  tt.func @pair() {
    %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<256x64xf32, #pair, #ttnvgpu.tensor_memory, mutable>
    tt.return
  }
}
