// RUN: tile-opt %s -test-print-membar | filecheck %s

// All warps meet where groups of warps begin and end. No barrier is needed
// there beside that one.

#A = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#smem = #ttg.shared_memory
!x = tensor<32x32xf16, #blocked>
!buf = !ttg.memdesc<32x32xf16, #A, #smem, mutable>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.total-num-warps" = 8 : i32} {
  // CHECK-LABEL: @begin
  tt.func @begin(%x: !x) {
    // CHECK: ttg.local_store
    // CHECK-NEXT: ttg.warp_specialize
    %a = ttg.local_alloc : () -> !buf
    ttg.local_store %x, %a : !x -> !buf
    ttg.warp_specialize(%a)
    default {
      ttg.warp_yield
    }
    partition0(%mine: !buf) num_warps(4) {
      // CHECK: partition0
      // CHECK-NEXT: ttg.local_load
      %0 = ttg.local_load %mine : !buf -> !x
      ttg.warp_return
    } : (!buf) -> ()
    tt.return
  }

  // What is captured has memory of its own.
  // CHECK-LABEL: @reuse
  tt.func @reuse(%x: !x) {
    // CHECK: ttg.local_load
    // CHECK-NEXT: ttg.local_dealloc
    // CHECK-NEXT: ttg.warp_specialize
    %a = ttg.local_alloc : () -> !buf
    ttg.local_store %x, %a : !x -> !buf
    %0 = ttg.local_load %a : !buf -> !x
    ttg.local_dealloc %a : !buf
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }

  // CHECK-LABEL: @end
  tt.func @end() {
    ttg.warp_specialize()
    default {
      // CHECK: ttg.async_wait
      // CHECK-NEXT: ttg.local_dealloc
      // CHECK-NEXT: ttg.warp_yield
      %a = ttg.local_alloc : () -> !buf
      ttg.async_wait {num = 0 : i32}
      ttg.local_dealloc %a : !buf
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      // CHECK: ttg.async_wait
      // CHECK-NEXT: ttg.warp_return
      ttg.async_wait {num = 0 : i32}
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
