// RUN: tile-opt %s -tritongpu-allocate-warp-groups -triton-tensor-memory-allocation -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!sum = !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!barrier = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {

// One fence for barriers that are made one after the other, and no barrier
// between the end of the groups of warps and the end of tensor memory.
// CHECK-LABEL: llvm.func @groups
tt.func public @groups(%x: tensor<128x32xf32, #rows>) {
  %true = arith.constant true
  // CHECK: mbarrier.init
  // CHECK-NOT: nvvm.fence.proxy
  // CHECK: mbarrier.init
  // CHECK-NOT: nvvm.fence.proxy
  // CHECK: mbarrier.init
  // CHECK: nvvm.fence.proxy
  %a = ttg.local_alloc : () -> !barrier
  ttnvgpu.init_barrier %a, 1 : !barrier
  %b = ttg.local_alloc : () -> !barrier
  ttnvgpu.init_barrier %b, 1 : !barrier
  %sum = ttnvgpu.tmem_alloc : () -> !sum
  %c = ttg.local_alloc : () -> !barrier
  ttnvgpu.init_barrier %c, 1 : !barrier
  ttg.warp_specialize(%a, %b, %c)
  default {
    ttnvgpu.tmem_store %x, %sum, %true : tensor<128x32xf32, #rows> -> !sum
    ttg.warp_yield
  }
  partition0(%d: !barrier, %e: !barrier, %f: !barrier) num_warps(4) {
    ttg.warp_return
  } : (!barrier, !barrier, !barrier) -> ()
  // CHECK: tcgen05.st
  // CHECK: ttg.warp_yield
  // CHECK-NOT: nvvm.barrier
  // CHECK: tcgen05.dealloc
  tt.return
}
}
