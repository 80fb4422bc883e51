// RUN: tile-opt %s -split-input-file -verify-diagnostics -insert-memory-barriers

#A = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32} {
tt.func @nowhere(%x: tensor<32x32xf16, #blocked>) {
  // expected-error @below {{expected 'allocation.offset' on an operation that needs 2048 bytes of shared memory, found none: allocate shared memory first}}
  %a = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  tt.return
}
}

// -----

#A = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32} {
tt.func private @dangling() -> !ttg.memdesc<32x32xf16, #A, #smem, mutable> {
  // expected-note @below {{it ends with the function}}
  %a = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  // expected-error @below {{expected a function to return parts of buffers that it was given, found one of its own}}
  tt.return %a : !ttg.memdesc<32x32xf16, #A, #smem, mutable>
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32} {
tt.func @no_layout(%x: i32) {
  // expected-error @below {{expected every tensor to have a layout, found 'tensor<32xi32>'}}
  %0 = tt.splat %x : i32 -> tensor<32xi32>
  tt.return
}
}
