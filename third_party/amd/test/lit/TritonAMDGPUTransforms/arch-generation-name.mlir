// The machine as command lines may say it: what the module has is replaced.

// RUN: tile-opt %s -tritonamdgpu-accelerate-matmul=arch-generation-name=gfx942 | filecheck %s -check-prefix=PRODUCTS
// RUN: tile-opt %s -tritonamdgpu-accelerate-matmul=gfx-arch=gfx942 | filecheck %s -check-prefix=PRODUCTS
// PRODUCTS: #ttg.amd_mfma<{version = 3,
// PRODUCTS: ttg.target = "hip:gfx942"

// RUN: sed 's/gfx950/gfx1100/' %s | tile-opt -tritonamdgpu-coalesce-async-copy=arch-generation-name=gfx950 | filecheck %s -check-prefix=COPIES
// RUN: sed 's/gfx950/gfx1100/' %s | tile-opt -tritonamdgpu-coalesce-async-copy=gfx-arch=gfx950 | filecheck %s -check-prefix=COPIES
// COPIES: ttg.target = "hip:gfx950"
// COPIES: ttg.convert_layout

// RUN: tile-opt %s -tritonamdgpu-convert-buffer-ops=arch-generation-name=gfx1250 | filecheck %s -check-prefix=POINTERS
// RUN: tile-opt %s -tritonamdgpu-convert-buffer-ops=gfx-arch=gfx942 | filecheck %s -check-prefix=BUFFERS
// POINTERS-NOT: amdg.buffer
// BUFFERS: amdg.buffer_load

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
#flat = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#phases = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @all(%x: tensor<64x32xf16, #a>, %y: tensor<32x64xf16, #b>, %z: tensor<64x64xf32, #blocked>, %p: !tt.ptr<f32>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>) -> (tensor<64x64xf32, #blocked>, tensor<1024xf32, #flat>) {
    %d = tt.dot %x, %y, %z : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #blocked>
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #flat>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #flat>
    %r = tt.addptr %s, %i : tensor<1024x!tt.ptr<f32>, #flat>, tensor<1024xi32, #flat>
    %v = tt.load %r : tensor<1024x!tt.ptr<f32>, #flat>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #phases, #smem, mutable>
    %t = ttg.async_copy_global_to_local %q, %m : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #phases, #smem, mutable>
    tt.return %d, %v : tensor<64x64xf32, #blocked>, tensor<1024xf32, #flat>
  }
}
