// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s | filecheck %s --check-prefix=GONE

// The prefix `ttng` is read in operations and attributes, and never printed.
// GONE-NOT: ttng.

// CHECK: #tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
// CHECK: #tmem_scales = #ttnvgpu.tensor_memory_scales_encoding<>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#smem = #ttg.shared_memory
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#scales = #ttng.tensor_memory_scales_encoding<>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @alias
  tt.func @alias(%bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %phase: i32, %pred: i1,
                 %a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>,
                 %c: tensor<128x128xf32, #mma>, %p: !tt.ptr<i8>) -> tensor<128x128xf32, #mma> {
    // CHECK: ttnvgpu.init_barrier %{{.*}}, 1 : !ttg.memdesc<1xi64
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: ttnvgpu.wait_barrier %{{.*}}, %{{.*}}, %{{.*}} deps %{{.*}} :
    ttng.wait_barrier %bar, %phase, %pred deps %a : !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<128x64xf16, #f16, #smem> loc("here")
    // CHECK: ttnvgpu.fence_async_shared {bCluster = false}
    ttng.fence_async_shared {bCluster = false}
    // CHECK: %result, %token = ttnvgpu.tmem_alloc : () -> (!ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.async.token)
    %d:2 = ttng.tmem_alloc : () -> (!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
    // CHECK: ttnvgpu.tc_gen5_mma %{{.*}}, %{{.*}}, %{{.*}}[%token], %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] {is_async} :
    %t = ttng.tc_gen5_mma %a, %b, %d#0[%d#1], %pred, %pred, %bar[%pred] {is_async} : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #tmem_scales, #ttnvgpu.tensor_memory, mutable>
    %s = ttng.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #scales, #ttng.tensor_memory, mutable>
    // CHECK: ttnvgpu.warp_group_dot
    %0 = ttng.warp_group_dot %a, %b, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<128x64xf16, #f16, #smem> * !ttg.memdesc<64x128xf16, #f16, #smem> -> tensor<128x128xf32, #mma>
    // CHECK: ttnvgpu.warp_group_dot_wait
    %1:2 = ttng.warp_group_dot_wait %0, %a {pendings = 0 : i32} : tensor<128x128xf32, #mma>, !ttg.memdesc<128x64xf16, #f16, #smem>
    // CHECK: ttnvgpu.reinterpret_tensor_descriptor
    %desc = ttng.reinterpret_tensor_descriptor %p : !tt.ptr<i8> to !tt.tensordesc<tensor<64x64xf16, #f16>>
    // Triton waits until stores are complete, unless it says that their sources were read.
    // CHECK: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
    ttng.async_tma_store_wait {pendings = 0 : i32}
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait {pendings = 1 : i32}
    ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
    // What passes leave for each other stays.
    // CHECK-NEXT: ttnvgpu.fence_async_shared {async_task_id = array<i32: 0>, bCluster = false, loop.stage = 1 : i32}
    ttng.fence_async_shared {bCluster = false, async_task_id = array<i32: 0>, loop.stage = 1 : i32}
    tt.return %1#0 : tensor<128x128xf32, #mma>
  }
}
