// RUN: tile-opt %s -split-input-file -verify-diagnostics -test-print-allocation

// Threads can arrive at a barrier when the copies that they have started are
// done. Then a wait there ends the copies.

#A = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#B = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ptrs = tensor<32x32x!tt.ptr<f16>, #blocked>
!x = tensor<32x32xf16, #blocked>
!buf = !ttg.memdesc<32x32xf16, #A, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #B, #smem, mutable>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32} {

// expected-remark @below {{size = 4104}}
tt.func @same_threads(%p: !ptrs, %x: !x) {
  %c0 = arith.constant 0 : i32
  // expected-remark @below {{offset = 4096, size = 8}}
  %bar = ttg.local_alloc : () -> !bar
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc : () -> !buf
  %t = ttg.async_copy_global_to_local %p, %a : !ptrs -> !buf
  ttnvgpu.async_copy_mbarrier_arrive %bar : !bar
  // expected-remark @below {{offset = 2048, size = 2048}}
  %b = ttg.local_alloc %x : (!x) -> !buf
  %0 = ttg.local_load %b : !buf -> !x
  ttnvgpu.wait_barrier %bar, %c0 : !bar
  // expected-remark @below {{offset = 0, size = 2048}}
  %c = ttg.local_alloc %x : (!x) -> !buf
  %1 = ttg.local_load %c : !buf -> !x
  tt.return
}

// A wait at the barrier, in front of which a thread has arrived at once, says
// nothing of its copies.
// expected-remark @below {{size = 4096}}
tt.func @arrives_at_once(%p: !ptrs, %x: !x) {
  %c0 = arith.constant 0 : i32
  // expected-remark @below {{offset = 2048, size = 8}}
  %bar = ttg.local_alloc : () -> !bar
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc : () -> !buf
  %t = ttg.async_copy_global_to_local %p, %a : !ptrs -> !buf
  ttnvgpu.arrive_barrier %bar, 1 : !bar
  ttnvgpu.wait_barrier %bar, %c0 : !bar
  // expected-remark @below {{offset = 2048, size = 2048}}
  %b = ttg.local_alloc %x : (!x) -> !buf
  %0 = ttg.local_load %b : !buf -> !x
  tt.return
}

// Behind a partition, a wait for its copies counts, too.
// expected-remark @below {{size = 4168}}
tt.func @other_threads(%p: !ptrs, %x: !x) {
  %c0 = arith.constant 0 : i32
  // expected-remark @below {{offset = 4160, size = 8}}
  %bar = ttg.local_alloc : () -> !bar
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc : () -> !buf
  // expected-remark @below {{offset}}
  ttg.warp_specialize(%p, %a, %bar)
  default {
    ttg.warp_yield
  }
  partition0(%pp: !ptrs, %pa: !buf, %pbar: !bar) num_warps(4) {
    %t = ttg.async_copy_global_to_local %pp, %pa : !ptrs -> !buf
    ttnvgpu.async_copy_mbarrier_arrive %pbar : !bar
    ttg.warp_return
  } : (!ptrs, !buf, !bar) -> ()
  // expected-remark @below {{offset = 2048, size = 2048}}
  %b = ttg.local_alloc %x : (!x) -> !buf
  %0 = ttg.local_load %b : !buf -> !x
  ttnvgpu.wait_barrier %bar, %c0 : !bar
  // expected-remark @below {{offset = 0, size = 2048}}
  %c = ttg.local_alloc %x : (!x) -> !buf
  %1 = ttg.local_load %c : !buf -> !x
  tt.return
}

// Nobody knows when the copies of this partition are done: it arrives at once.
// expected-remark @below {{size = 4160}}
tt.func @partition_arrives_at_once(%p: !ptrs, %x: !x) {
  %c0 = arith.constant 0 : i32
  // expected-remark @below {{offset = 2048, size = 8}}
  %bar = ttg.local_alloc : () -> !bar
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc : () -> !buf
  // expected-remark @below {{offset}}
  ttg.warp_specialize(%p, %a, %bar)
  default {
    ttg.warp_yield
  }
  partition0(%pp: !ptrs, %pa: !buf, %pbar: !bar) num_warps(4) {
    %t = ttg.async_copy_global_to_local %pp, %pa : !ptrs -> !buf
    ttnvgpu.arrive_barrier %pbar, 1 : !bar
    ttg.warp_return
  } : (!ptrs, !buf, !bar) -> ()
  ttnvgpu.wait_barrier %bar, %c0 : !bar
  // expected-remark @below {{offset = 2048, size = 2048}}
  %b = ttg.local_alloc %x : (!x) -> !buf
  %0 = ttg.local_load %b : !buf -> !x
  tt.return
}

// What was started in front of partitions is waited for in the default group.
// expected-remark @below {{size}}
tt.func @default_group(%p: !ptrs, %x: !x) {
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc : () -> !buf
  %t = ttg.async_copy_global_to_local %p, %a : !ptrs -> !buf
  %g = ttg.async_commit_group tokens %t
  // expected-remark @below {{offset}}
  ttg.warp_specialize()
  default {
    %w = ttg.async_wait {num = 0 : i32}
    ttg.warp_yield
  }
  partition0() num_warps(4) {
    ttg.warp_return
  } : () -> ()
  // expected-remark @below {{offset = 0, size = 2048}}
  %b = ttg.local_alloc %x : (!x) -> !buf
  %0 = ttg.local_load %b : !buf -> !x
  tt.return
}
}
