// RUN: tile-opt %s -tritonamdgpu-coalesce-async-copy | filecheck %s

// Lanes write pieces of 16 bytes in the order of the buffer, whose rows exchange pieces.
// CHECK: #[[LINEAR:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = {{\[\[}}0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32]], warp = {{\[\[}}8, 0]], block = []}>
// CHECK-LABEL: @swizzled
// CHECK: %[[P:.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64x!tt.ptr<f16>, #[[LINEAR]]>
// CHECK: %[[M:.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64xi1, #[[LINEAR]]>
// CHECK: ttg.async_copy_global_to_local %[[P]], %{{.*}} mask %[[M]]
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#phases = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @swizzled(%p: tensor<64x64x!tt.ptr<f16>, #rows>, %mask: tensor<64x64xi1, #rows>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #phases, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %m mask %mask : tensor<64x64x!tt.ptr<f16>, #rows> -> <64x64xf16, #phases, #smem, mutable>
    tt.return
  }
}
