// RUN: tile-opt %s -split-input-file -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {

// CHECK-LABEL: llvm.func internal @ask
tt.func private @ask() {
  %answer = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bars, #smem, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
  // CHECK: "@$2 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [$0], [$1];"
  ttnvgpu.clc_try_cancel %answer, %bar : !ttg.memdesc<2xi64, #bars, #smem, mutable>, !ttg.memdesc<1xi64, #bars, #smem, mutable>
  tt.return
}

// What threads read is read before the next answer overwrites it.
// CHECK-LABEL: llvm.func internal @read
tt.func private @read() -> (i1, i32) {
  %answer = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bars, #smem, mutable>
  // CHECK: %[[ANSWER:.*]] = llvm.load volatile %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> i128
  // CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  %x = ttnvgpu.clc_load_result %answer : !ttg.memdesc<2xi64, #bars, #smem, mutable> -> i128
  // CHECK: nvvm.clusterlaunchcontrol.query.cancel query = is_canceled, %[[ANSWER]] : i1
  %taken = ttnvgpu.clc_is_canceled %x : i128 -> i1
  // Who the cluster is, is asked only where there is one.
  // CHECK: query_cancel.is_canceled.pred.b128 p, answer; mov.b32 $0, 0; @p clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 $0, answer; }", "=r,l,l"
  %y = ttnvgpu.clc_get_program_id %x, y : i128 -> i32
  tt.return %taken, %y : i1, i32
}
}

// -----

#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CTAsPerCGA = [2], CTASplitNum = [1], CTAOrder = [0]}>
#each = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {

// The first block of a cluster asks for all of them. Programs are clusters.
// CHECK-LABEL: llvm.func internal @cluster
tt.func private @cluster(%x: i128) -> i32 {
  %answer = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bars, #smem, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #each, #smem, mutable>
  // CHECK: nvvm.read.ptx.sreg.cluster.ctarank
  // CHECK: "@$2 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [$0], [$1];"
  ttnvgpu.clc_try_cancel %answer, %bar : !ttg.memdesc<2xi64, #bars, #smem, mutable>, !ttg.memdesc<2xi64, #each, #smem, mutable>
  // CHECK: %[[BLOCK:.*]] = llvm.inline_asm {{.*}}get_first_ctaid::x
  // CHECK: llvm.udiv %[[BLOCK]]
  %program = ttnvgpu.clc_get_program_id %x, x : i128 -> i32
  tt.return %program : i32
}
}
