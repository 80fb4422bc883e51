// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | filecheck %s

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @mbarriers
  // CHECK-SAME: (%[[BAR:.*]]: !ttg.memdesc<1xi64, #[[SHARED:.*]], #smem, mutable>, %[[PHASE:.*]]: i32, %[[PRED:.*]]: i1, %[[BUF:.*]]: !ttg.memdesc<64x64xf16
  tt.func @mbarriers(%bar: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %phase: i32, %pred: i1,
                     %buf: !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>) {
    // CHECK: ttnvgpu.init_barrier %[[BAR]], 3 : !ttg.memdesc<1xi64, #[[SHARED]], #smem, mutable>
    ttnvgpu.init_barrier %bar, 3 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.barrier_expect %[[BAR]], 8192, %[[PRED]] :
    ttnvgpu.barrier_expect %bar, 8192, %pred : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.wait_barrier %[[BAR]], %[[PHASE]] : !ttg.memdesc<1xi64
    ttnvgpu.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.wait_barrier %[[BAR]], %[[PHASE]], %[[PRED]] : !ttg.memdesc<1xi64
    ttnvgpu.wait_barrier %bar, %phase, %pred : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.wait_barrier %[[BAR]], %[[PHASE]] deps %[[BUF]] : !ttg.memdesc<1xi64{{.*}}>, !ttg.memdesc<64x64xf16
    ttnvgpu.wait_barrier %bar, %phase deps %buf : !ttg.memdesc<1xi64, #shared, #smem, mutable>, !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>
    // CHECK: ttnvgpu.wait_barrier %[[BAR]], %[[PHASE]], %[[PRED]] deps %[[BUF]], %[[BUF]] :
    ttnvgpu.wait_barrier %bar, %phase, %pred deps %buf, %buf : !ttg.memdesc<1xi64, #shared, #smem, mutable>, !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>, !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>
    // CHECK: ttnvgpu.arrive_barrier %[[BAR]], 2 : !ttg.memdesc<1xi64
    ttnvgpu.arrive_barrier %bar, 2 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.arrive_barrier %[[BAR]], 1, %[[PRED]] : !ttg.memdesc<1xi64
    ttnvgpu.arrive_barrier %bar, 1, %pred : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.barrier_expect %[[BAR]], 4 {fromCTA = 0 : i32}, %[[PRED]] :
    ttnvgpu.barrier_expect %bar, 4 {fromCTA = 0 : i32}, %pred : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.arrive_barrier %[[BAR]], 1, %[[PRED]] {fromCTA = 0 : i32} : !ttg.memdesc<1xi64
    ttnvgpu.arrive_barrier %bar, 1, %pred {fromCTA = 0 : i32} : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.async_copy_mbarrier_arrive %[[BAR]] : !ttg.memdesc<1xi64
    ttnvgpu.async_copy_mbarrier_arrive %bar : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.async_copy_mbarrier_arrive %[[BAR]] {noIncrement} : !ttg.memdesc<1xi64
    ttnvgpu.async_copy_mbarrier_arrive %bar {noIncrement} : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.inval_barrier %[[BAR]] : !ttg.memdesc<1xi64
    ttnvgpu.inval_barrier %bar : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    tt.return
  }

  // That a barrier changes goes without saying.
  // CHECK-LABEL: @immutable
  tt.func @immutable(%bar: !ttg.memdesc<1xi64, #shared, #smem>, %phase: i32) {
    // CHECK: ttnvgpu.wait_barrier %{{.*}}, %{{.*}} : !ttg.memdesc<1xi64, #shared, #smem>
    ttnvgpu.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #shared, #smem>
    // CHECK: ttnvgpu.tc_gen5_commit %{{.*}} : !ttg.memdesc<1xi64, #shared, #smem>
    ttnvgpu.tc_gen5_commit %bar : !ttg.memdesc<1xi64, #shared, #smem>
    tt.return
  }

  // CHECK-LABEL: @fences
  tt.func @fences() {
    // CHECK-NEXT: ttnvgpu.fence_async_shared {bCluster = false}
    ttnvgpu.fence_async_shared {bCluster = false}
    // CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
    ttnvgpu.fence_mbarrier_init_release_cluster
    // CHECK-NEXT: ttnvgpu.cluster_arrive {relaxed = false}
    ttnvgpu.cluster_arrive {relaxed = false}
    // CHECK-NEXT: {{ttnvgpu.cluster_arrive$}}
    ttnvgpu.cluster_arrive
    // CHECK-NEXT: ttnvgpu.cluster_wait
    ttnvgpu.cluster_wait
    // CHECK-NEXT: {{ttnvgpu.cluster_barrier$}}
    ttnvgpu.cluster_barrier
    // CHECK-NEXT: ttnvgpu.cluster_barrier {relaxed = true}
    ttnvgpu.cluster_barrier {relaxed = true}
    tt.return
  }
}
