// RUN: tile-opt %s -split-input-file -allocate-shared-memory-nv -limit-registers-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

// Two blocks of four warps fit into the shared memory: both can have all
// registers. Of three, or of eight warps, not all could.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: llvm.func @two_blocks
// CHECK-SAME: nvvm.maxnreg = 255 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
tt.func public @two_blocks() {
  %0 = ttg.local_alloc : () -> !ttg.memdesc<16384xi32, #shared, #smem, mutable>
  %1 = ttg.local_alloc : () -> !ttg.memdesc<8192xi32, #shared, #smem, mutable>
  ttg.local_dealloc %0 : !ttg.memdesc<16384xi32, #shared, #smem, mutable>
  ttg.local_dealloc %1 : !ttg.memdesc<8192xi32, #shared, #smem, mutable>
  tt.return
}
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: llvm.func @three_blocks
// CHECK-NOT: nvvm.maxnreg
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
tt.func public @three_blocks() {
  %0 = ttg.local_alloc : () -> !ttg.memdesc<16384xi32, #shared, #smem, mutable>
  ttg.local_dealloc %0 : !ttg.memdesc<16384xi32, #shared, #smem, mutable>
  tt.return
}
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: llvm.func @two_blocks_of_eight_warps
// CHECK-NOT: nvvm.maxnreg
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
tt.func public @two_blocks_of_eight_warps() {
  %0 = ttg.local_alloc : () -> !ttg.memdesc<16384xi32, #shared, #smem, mutable>
  %1 = ttg.local_alloc : () -> !ttg.memdesc<8192xi32, #shared, #smem, mutable>
  ttg.local_dealloc %0 : !ttg.memdesc<16384xi32, #shared, #smem, mutable>
  ttg.local_dealloc %1 : !ttg.memdesc<8192xi32, #shared, #smem, mutable>
  tt.return
}
}

// -----

// A block of 32 warps has 64 registers for each thread, whatever was asked for:
// with more of them it could not be launched.

// CHECK-LABEL: llvm.func @more_than_there_are
// CHECK-SAME: nvvm.maxnreg = 64 : i32
module attributes {"ttg.num-warps" = 32 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.maxnreg = 96 : i32, ttg.target = "cuda:90"} {
tt.func public @more_than_there_are() {
  tt.return
}
}
