// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16, CTAsPerCGA = [1, 2], CTASplitNum = [1, 2], CTAOrder = [1, 0]}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CTAsPerCGA = [2], CTASplitNum = [1], CTAOrder = [0]}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitM = 2, twoCTAs = true>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {

// The block with the even number issues the dot of 256 rows, and tells both.
// CHECK-LABEL: llvm.func internal @pair
tt.func private @pair(%d: !ttg.memdesc<256x64xf32, #acc, #ttnvgpu.tensor_memory, mutable>) {
  %true = arith.constant true
  %a = ttg.local_alloc : () -> !ttg.memdesc<256x32xf16, #a, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #b, #smem, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
  // CHECK: nvvm.read.ptx.sreg.cluster.ctarank
  // CHECK: mov.b32 i0, 269484048;
  // CHECK-SAME: tcgen05.mma.cta_group::2.kind::f16 [$3], $1, $2, i0, p;
  // CHECK-SAME: tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [$4], $5;
  ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true, %bar[%true] {is_async, two_ctas} : !ttg.memdesc<256x32xf16, #a, #smem, mutable>, !ttg.memdesc<32x64xf16, #b, #smem, mutable>, !ttg.memdesc<256x64xf32, #acc, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bars, #smem, mutable>
  tt.return
}
}
