// RUN: tile-opt %s -triton-nvidia-gpu-cluster-barrier-after-init -split-input-file | FileCheck %s

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#barrier = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#pair = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
// Behind the last of them, outside of the loop that copies.
// CHECK-LABEL: @copies
// CHECK: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK: scf.for
// CHECK-NOT: ttnvgpu.cluster_barrier
// CHECK: tt.return
tt.func public @copies(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %buf: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %a: !ttg.memdesc<2xi64, #barrier, #smem, mutable>, %b: !ttg.memdesc<2xi64, #barrier, #smem, mutable>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %true = arith.constant true
  ttnvgpu.init_barrier %a, 1 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.init_barrier %b, 1 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  scf.for %i = %c0 to %n step %c1 : i32 {
    ttnvgpu.async_tma_copy_global_to_local %desc[%i, %c0] %buf, %a, %true {multicast} : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<2xi64, #barrier, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  }
  tt.return
}

// The program has one.
// CHECK-LABEL: @has_one
// CHECK: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.async_tma_copy_global_to_local
tt.func public @has_one(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %buf: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %a: !ttg.memdesc<2xi64, #barrier, #smem, mutable>) {
  %c0 = arith.constant 0 : i32
  %true = arith.constant true
  ttnvgpu.init_barrier %a, 1 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.cluster_barrier
  ttnvgpu.async_tma_copy_global_to_local %desc[%c0, %c0] %buf, %a, %true {multicast} : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<2xi64, #barrier, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return
}

// Each block copies for itself.
// CHECK-LABEL: @for_itself
// CHECK-NOT: ttnvgpu.cluster_barrier
tt.func public @for_itself(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %buf: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %a: !ttg.memdesc<2xi64, #barrier, #smem, mutable>) {
  %c0 = arith.constant 0 : i32
  %true = arith.constant true
  ttnvgpu.init_barrier %a, 1 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.async_tma_copy_global_to_local %desc[%c0, %c0] %buf, %a, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<2xi64, #barrier, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return
}

// The first block holds the barrier of both.
// CHECK-LABEL: @pair
// CHECK: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.arrive_barrier
tt.func public @pair(%a: !ttg.memdesc<1xi64, #pair, #smem, mutable>) {
  ttnvgpu.init_barrier %a, 1 : !ttg.memdesc<1xi64, #pair, #smem, mutable>
  ttnvgpu.arrive_barrier %a, 1 : !ttg.memdesc<1xi64, #pair, #smem, mutable>
  tt.return
}

// The first block arrives at the barriers of both.
// CHECK-LABEL: @for_others
// CHECK: ttnvgpu.init_barrier
// CHECK: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.arrive_barrier
tt.func public @for_others(%a: !ttg.memdesc<2xi64, #barrier, #smem, mutable>) {
  ttnvgpu.init_barrier %a, 1 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.arrive_barrier %a, 1 {fromCTA = 0 : i32} : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  tt.return
}
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#answer = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#barrier = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
// Both blocks learn that the operand is free, each at its own barrier.
// CHECK-LABEL: @commit_for_both
// CHECK: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.tc_gen5_commit
tt.func public @commit_for_both(%b: !ttg.memdesc<64x64xf16, #shared, #smem>, %bar: !ttg.memdesc<2xi64, #barrier, #smem, mutable>) {
  ttnvgpu.init_barrier %bar, 1 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.tc_gen5_commit %bar descs %b : !ttg.memdesc<2xi64, #barrier, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem>
  tt.return
}

// CHECK-LABEL: @commit_for_itself
// CHECK-NOT: ttnvgpu.cluster_barrier
// CHECK: tt.return
tt.func public @commit_for_itself(%bar: !ttg.memdesc<2xi64, #barrier, #smem, mutable>) {
  ttnvgpu.init_barrier %bar, 1 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.tc_gen5_commit %bar : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  tt.return
}

// CHECK-LABEL: @product_for_both
// CHECK: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.tc_gen5_mma
tt.func public @product_for_both(%a: !ttg.memdesc<128x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %d: !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %bar: !ttg.memdesc<2xi64, #barrier, #smem, mutable>, %p: i1) {
  ttnvgpu.init_barrier %bar, 1 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p, %bar[%p] {is_async, multicast} : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  tt.return
}

// One block asks, and both get the answer.
// CHECK-LABEL: @launch_control
// CHECK: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.clc_try_cancel
tt.func public @launch_control(%answer: !ttg.memdesc<2xi64, #answer, #smem, mutable>, %bar: !ttg.memdesc<2xi64, #barrier, #smem, mutable>) {
  ttnvgpu.init_barrier %bar, 1 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.clc_try_cancel %answer, %bar : !ttg.memdesc<2xi64, #answer, #smem, mutable>, !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  tt.return
}

// Each block arrives at the barriers of both.
// CHECK-LABEL: @together
// CHECK: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.arrive_barrier
tt.func public @together(%bar: !ttg.memdesc<2xi64, #barrier, #smem, mutable>) {
  ttnvgpu.init_barrier %bar, 2 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.arrive_barrier %bar, 1 {multicastCTA = 1 : i32} : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  tt.return
}
}
