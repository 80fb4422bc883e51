// RUN: tile-opt %s -verify-diagnostics -test-print-allocation

// The first of two blocks holds the barrier, and waits for what comes to both.
// The other one does not know when the copy is done, before both meet.

#A = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
!desc = !tt.tensordesc<tensor<64x32xf16, #A>>
!buf = !ttg.memdesc<64x32xf16, #A, #smem, mutable>
!barrier = !ttg.memdesc<1xi64, #bar, #smem, mutable>

module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {

// expected-remark @below {{size = 4096}}
tt.func @apart(%desc: !desc, %c: i32) {
  %true = arith.constant true
  // expected-remark @below {{size = 8}}
  %ready = ttg.local_alloc : () -> !barrier
  // expected-remark @below {{size = 2048}}
  %a = ttg.local_alloc : () -> !buf
  ttnvgpu.async_tma_copy_global_to_local %desc[%c, %c] %a, %ready, %true : !desc, !barrier -> !buf
  ttnvgpu.wait_barrier %ready, %c : !barrier
  ttg.local_dealloc %a : !buf
  // expected-remark @below {{size = 2048}}
  %b = ttg.local_alloc : () -> !buf
  ttg.local_dealloc %b : !buf
  tt.return
}

// expected-remark @below {{size = 2056}}
tt.func @together(%desc: !desc, %c: i32) {
  %true = arith.constant true
  // expected-remark @below {{size = 8}}
  %ready = ttg.local_alloc : () -> !barrier
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc : () -> !buf
  ttnvgpu.async_tma_copy_global_to_local %desc[%c, %c] %a, %ready, %true : !desc, !barrier -> !buf
  ttnvgpu.wait_barrier %ready, %c : !barrier
  ttnvgpu.cluster_barrier
  ttg.local_dealloc %a : !buf
  // expected-remark @below {{offset = 0, size = 2048}}
  %b = ttg.local_alloc : () -> !buf
  ttg.local_dealloc %b : !buf
  tt.return
}
}
