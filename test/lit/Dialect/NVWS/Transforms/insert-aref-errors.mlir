// RUN: tile-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics -nvws-insert-aref

#rows = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!block = tensor<64x64xf16, #rows>
!buffer = !ttg.memdesc<64x64xf16, #shared, #smem>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @next_iteration(%n: i32, %first: !buffer) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %first) -> (!buffer) : i32 {
      "use"(%y) {ttg.partition = array<i32: 1>} : (!buffer) -> ()
      %x = "make"() {ttg.partition = array<i32: 0>} : () -> !block
      // expected-error @+1 {{'ttg.local_alloc' op expected other partitions to use what it makes in the same iteration}}
      %b = ttg.local_alloc %x {ttg.partition = array<i32: 0>} : (!block) -> !buffer
      scf.yield %b : !buffer
    } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 1>]}
    tt.return
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!block = tensor<64x64xf16, #rows>
!buffer = !ttg.memdesc<64x64xf16, #shared, #smem>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @in_no_partition() {
    %x = "make"() {ttg.partition = array<i32: 0>} : () -> !block
    // expected-error @+1 {{'ttg.local_alloc' op expected all that uses it to be in partitions, as it goes to others by a ring}}
    %b = ttg.local_alloc %x {ttg.partition = array<i32: 0>} : (!block) -> !buffer
    "read"(%b) {ttg.partition = array<i32: 1>} : (!buffer) -> ()
    "read"(%b) : (!buffer) -> ()
    tt.return
  }
}
