// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#tall = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @copies
  tt.func @copies(%x: !tt.ptr<f16>, %o: tensor<1024xi32, #blocked>, %m: tensor<1024xi1, #blocked>, %v: tensor<1024xf16, #blocked>, %stride: i32, %d: !ttg.memdesc<1024xf16, #shared, #smem, mutable>) {
    // CHECK: %[[T:.*]] = amdg.buffer_load_to_local %arg0[%arg1] into %arg5 {contiguity = 8 : i32} : <f16>[tensor<1024xi32, #blocked>] -> <1024xf16, #shared, #smem, mutable>
    %0 = amdg.buffer_load_to_local %x[%o] into %d {contiguity = 8 : i32} : <f16>[tensor<1024xi32, #blocked>]  -> <1024xf16, #shared, #smem, mutable>
    // CHECK: amdg.buffer_load_to_local %arg0[%arg1] mask = %arg2 other = %arg3 stride = %arg4 cacheModifier = cg into %arg5 : <f16>[tensor<1024xi32, #blocked>] tensor<1024xf16, #blocked> -> <1024xf16, #shared, #smem, mutable>
    %1 = amdg.buffer_load_to_local %x[%o] mask = %m other = %v stride = %stride cacheModifier = cg into %d : <f16>[tensor<1024xi32, #blocked>] tensor<1024xf16, #blocked> -> <1024xf16, #shared, #smem, mutable>
    // CHECK: %[[G:.*]] = ttg.async_commit_group tokens %[[T]]
    %g = ttg.async_commit_group tokens %0
    // CHECK: amdg.async_wait %[[G]] {num_inst = 2 : i32}
    %w = amdg.async_wait %g {num_inst = 2 : i32}
    tt.return
  }

  // CHECK-LABEL: @buffers
  tt.func @buffers(%x: !tt.ptr<f32>, %y: !tt.ptr<i32>, %o: tensor<1024xi32, #blocked>, %m: tensor<1024xi1, #blocked>, %v: tensor<1024xf32, #blocked>, %stride: i32) {
    // CHECK: amdg.buffer_load %arg0[%arg2] : tensor<1024xf32, #blocked>
    %0 = amdg.buffer_load %x[%o] : tensor<1024xf32, #blocked>
    // CHECK: amdg.buffer_load %arg0[%arg2], %arg3, %arg4 cacheModifier = cg stride = %arg5 : tensor<1024xf32, #blocked>
    %1 = amdg.buffer_load %x[%o], %m, %v cacheModifier = cg stride = %stride : tensor<1024xf32, #blocked>
    // CHECK: amdg.buffer_store %{{.*}}, %arg0[%arg2], %arg3 stride = %arg5 : tensor<1024xf32, #blocked>
    amdg.buffer_store %1, %x[%o], %m stride = %stride : tensor<1024xf32, #blocked>
    // CHECK: amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %arg4, %arg0[%arg2], %arg3 stride = %arg5 : tensor<1024xf32, #blocked>
    %2 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %v, %x[%o], %m stride = %stride : tensor<1024xf32, #blocked>
    // CHECK: amdg.buffer_atomic_cas acq_rel, gpu, %arg2, %arg2, %arg1[%arg2] : tensor<1024xi32, #blocked>
    %3 = amdg.buffer_atomic_cas acq_rel, gpu, %o, %o, %y[%o] : tensor<1024xi32, #blocked>
    tt.return
  }

  // CHECK-LABEL: @registers
  tt.func @registers(%x: tensor<512x16xf16, #tall>, %s: tensor<512x4xf16, #tall>) {
    // CHECK: amdg.in_thread_transpose %{{.*}} : tensor<512x4xf16, #blocked1> -> tensor<512x4xf16, #blocked2>
    %0 = amdg.in_thread_transpose %s : tensor<512x4xf16, #tall> -> tensor<512x4xf16, #turned>
    // CHECK: amdg.extract_slice %{{.*}} [0, 12] : tensor<512x16xf16, #blocked1> to tensor<512x4xf16, #blocked1>
    %1 = amdg.extract_slice %x [0, 12] : tensor<512x16xf16, #tall> to tensor<512x4xf16, #tall>
    // CHECK: amdg.concat %{{.*}}, %{{.*}} : tensor<512x4xf16, #blocked1>, tensor<512x4xf16, #blocked1> -> tensor<512x8xf16, #blocked1>
    %2 = amdg.concat %s, %1 : tensor<512x4xf16, #tall>, tensor<512x4xf16, #tall> -> tensor<512x8xf16, #tall>
    tt.return
  }

  // CHECK-LABEL: @scheduling
  tt.func @scheduling(%second: i1) {
    // CHECK: amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}
    amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}
    // CHECK: amdg.cond_barrier %arg0
    amdg.cond_barrier %second
    tt.return
  }
}
