// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16, CTAsPerCGA = [2, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitM = 2>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {

// Each block multiplies by itself. Both have all of B: both hear of both dots.
// CHECK-LABEL: llvm.func internal @shared_operand
tt.func private @shared_operand(%d: !ttg.memdesc<256x64xf32, #acc, #ttnvgpu.tensor_memory, mutable>) {
  %true = arith.constant true
  %a = ttg.local_alloc : () -> !ttg.memdesc<256x32xf16, #a, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #b, #smem, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bars, #smem, mutable>
  // CHECK: llvm.mlir.constant(3 : i32)
  // CHECK: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [$4], $5;
  ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true, %bar[%true] {is_async, multicast} : !ttg.memdesc<256x32xf16, #a, #smem, mutable>, !ttg.memdesc<32x64xf16, #b, #smem, mutable>, !ttg.memdesc<256x64xf32, #acc, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<2xi64, #bars, #smem, mutable>
  // CHECK: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64
  ttnvgpu.tc_gen5_commit %bar, %true descs %a, %b : !ttg.memdesc<2xi64, #bars, #smem, mutable>, !ttg.memdesc<256x32xf16, #a, #smem, mutable>, !ttg.memdesc<32x64xf16, #b, #smem, mutable>
  // Each block has rows of A of its own.
  // CHECK: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64
  ttnvgpu.tc_gen5_commit %bar, %true descs %a : !ttg.memdesc<2xi64, #bars, #smem, mutable>, !ttg.memdesc<256x32xf16, #a, #smem, mutable>
  tt.return
}
}
