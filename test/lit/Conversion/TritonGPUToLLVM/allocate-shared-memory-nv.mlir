// RUN: tile-opt %s -split-input-file -verify-diagnostics -allocate-shared-memory-nv | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

// CHECK: ttg.shared = 8192 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80"} {
// CHECK-LABEL: @two
tt.func @two(%x: tensor<32x32xf32, #blocked>) {
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 4096 : i32}
  %a = ttg.local_alloc %x : (tensor<32x32xf32, #blocked>) -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
  %b = ttg.local_alloc %x : (tensor<32x32xf32, #blocked>) -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
  %0 = ttg.local_load %a : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #blocked>
  %1 = ttg.local_load %b : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #blocked>
  tt.return
}
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

// expected-error @below {{out of shared memory: the kernel needs 262144 bytes, a block on cuda:86 has at most 101376; smaller tiles or fewer pipeline stages need less}}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:86"} {
tt.func @too_much() {
  %a = ttg.local_alloc : () -> !ttg.memdesc<256x256xf32, #shared, #smem, mutable>
  tt.return
}
}
