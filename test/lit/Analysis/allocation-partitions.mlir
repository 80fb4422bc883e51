// RUN: tile-opt %s -verify-diagnostics -test-print-allocation

// Partitions run at once. Buffers of one of them share their place if the one
// is done before the other begins, and with no buffer of another partition.

#A = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#smem = #ttg.shared_memory
!x = tensor<32x32xf16, #blocked>
!buf = !ttg.memdesc<32x32xf16, #A, #smem, mutable>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.total-num-warps" = 8 : i32} {

// expected-remark @below {{size = 6160}}
tt.func @partitions(%x: !x, %which: i1) {
  // expected-remark @below {{scratch offset = 6144, size = 16}}
  ttg.warp_specialize()
  default {
    scf.if %which {
      // expected-remark @below {{offset = 0, size = 2048}}
      %a = ttg.local_alloc %x : (!x) -> !buf
      %0 = ttg.local_load %a : !buf -> !x
    } else {
      // expected-remark @below {{offset = 0, size = 2048}}
      %b = ttg.local_alloc %x : (!x) -> !buf
      %1 = ttg.local_load %b : !buf -> !x
    }
    ttg.warp_yield
  }
  partition0() num_warps(4) {
    %y = arith.constant dense<0.0> : !x
    // expected-remark @below {{offset = 2048, size = 2048}}
    %c = ttg.local_alloc %y : (!x) -> !buf
    // expected-remark @below {{offset = 4096, size = 2048}}
    %d = ttg.local_alloc %y : (!x) -> !buf
    %2 = ttg.local_load %c : !buf -> !x
    %3 = ttg.local_load %d : !buf -> !x
    ttg.warp_return
  } : () -> ()
  tt.return
}
}
