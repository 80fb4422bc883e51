// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CTAsPerCGA = [2], CTASplitNum = [1], CTAOrder = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @barriers
  tt.func @barriers(%bar: !ttg.memdesc<1xi64, #one, #smem, mutable>, %phase: i32) {
    // CHECK: amdg.init_barrier %arg0, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    amdg.init_barrier %bar, 4 : !ttg.memdesc<1xi64, #one, #smem, mutable>
    // CHECK: amdg.async_copy_mbarrier_arrive %arg0 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    amdg.async_copy_mbarrier_arrive %bar : !ttg.memdesc<1xi64, #one, #smem, mutable>
    // CHECK: %{{.*}} = amdg.arrive_barrier %arg0, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable> -> i32
    %0 = amdg.arrive_barrier %bar, 1 : !ttg.memdesc<1xi64, #one, #smem, mutable> -> i32
    // CHECK: amdg.wait_barrier %arg0, %arg1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    amdg.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #one, #smem, mutable>
    // CHECK: amdg.cluster_barrier_arrive
    amdg.cluster_barrier_arrive
    // CHECK: amdg.cluster_barrier_wait
    amdg.cluster_barrier_wait
    // CHECK: amdg.memory_counter_wait load(1) store(2) ds(3)
    amdg.memory_counter_wait load(1) store(2) ds(3)
    // CHECK: amdg.memory_counter_wait ds(0)
    amdg.memory_counter_wait ds(0)
    // CHECK: amdg.memory_counter_wait{{$}}
    amdg.memory_counter_wait
    tt.return
  }

  // CHECK-LABEL: @copies
  tt.func @copies(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #one, #smem, mutable>, %i: i32, %p: i1, %ptrs: tensor<64x64x!tt.ptr<f16>, #blocked>, %mask: tensor<64x64xi1, #blocked>) {
    // CHECK: %[[T:.*]] = amdg.async_tdm_copy_global_to_local %arg0[%arg3, %arg3] into %arg1, %arg4 : !tt.tensordesc<tensor<64x64xf16, #shared1>> -> !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>
    %0 = amdg.async_tdm_copy_global_to_local %desc[%i, %i] into %m, %p : !tt.tensordesc<tensor<64x64xf16, #shared>> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: amdg.async_tdm_copy_global_to_local %arg0[%arg3, %arg3] into %arg1, %arg4 barrier = %arg2 : !tt.tensordesc<tensor<64x64xf16, #shared1>>, !ttg.memdesc<1xi64, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>
    %1 = amdg.async_tdm_copy_global_to_local %desc[%i, %i] into %m, %p barrier = %bar : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #one, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: %{{.*}} = amdg.async_tdm_wait %[[T]] {num = 1 : i32}
    %2 = amdg.async_tdm_wait %0 {num = 1 : i32}
    // CHECK: %{{.*}} = amdg.async_tdm_intrinsic_wait {count = 0 : i32}
    %3 = amdg.async_tdm_intrinsic_wait {count = 0 : i32}
    // CHECK: amdg.async_tdm_copy_local_to_global %arg0[%arg3, %arg3] from %arg1 : !ttg.memdesc<64x64xf16, #shared1, #smem, mutable> -> !tt.tensordesc<tensor<64x64xf16, #shared1>>
    amdg.async_tdm_copy_local_to_global %desc[%i, %i] from %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<64x64xf16, #shared>>
    // CHECK: amdg.async_copy_local_to_global %arg1, %arg5 : !ttg.memdesc<64x64xf16, #shared1, #smem, mutable> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %4 = amdg.async_copy_local_to_global %m, %ptrs : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    // CHECK: amdg.async_copy_local_to_global %arg1, %arg5 mask %arg6 : !ttg.memdesc<64x64xf16, #shared1, #smem, mutable> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %5 = amdg.async_copy_local_to_global %m, %ptrs mask %mask : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
