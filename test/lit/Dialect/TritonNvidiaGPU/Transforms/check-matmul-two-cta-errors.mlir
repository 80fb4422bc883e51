// RUN: tile-opt %s -triton-nvidia-check-matmul-two-cta -verify-diagnostics

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CTAsPerCGA = [1, 2], CTASplitNum = [1, 2], CTAOrder = [1, 0]}>
#whole = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CTAsPerCGA = [2, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>
#smem = #ttg.shared_memory
#pair = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitM = 2, twoCTAs = true>
#single = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitM = 2>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @both(%a: !ttg.memdesc<256x64xf16, #a, #smem>, %b: !ttg.memdesc<64x64xf16, #b, #smem>, %w: !ttg.memdesc<64x64xf16, #whole, #smem>, %d: !ttg.memdesc<256x64xf32, #pair, #ttnvgpu.tensor_memory, mutable>, %e: !ttg.memdesc<256x64xf32, #single, #ttnvgpu.tensor_memory, mutable>) {
    %true = arith.constant true
    // expected-note @+1 {{this is the first one}}
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true {two_ctas} : !ttg.memdesc<256x64xf16, #a, #smem>, !ttg.memdesc<64x64xf16, #b, #smem>, !ttg.memdesc<256x64xf32, #pair, #ttnvgpu.tensor_memory, mutable>
    // expected-error @+1 {{expected a multiplication for pairs of blocks like the first one, found one for single blocks}}
    ttnvgpu.tc_gen5_mma %a, %w, %e, %true, %true : !ttg.memdesc<256x64xf16, #a, #smem>, !ttg.memdesc<64x64xf16, #whole, #smem>, !ttg.memdesc<256x64xf32, #single, #ttnvgpu.tensor_memory, mutable>
    tt.return
  }
}
