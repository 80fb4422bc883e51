// RUN: tile-opt %s -split-input-file -tritonamdgpu-optimize-epilogue | filecheck %s

// Lanes hold four neighbours of a transposed result of MFMA: all that a store of
// 8 bytes takes in fp16.
// CHECK-LABEL: @wide
// CHECK-SAME: %[[VALUE:.*]]: tensor<64x64xf16, #mma>
// CHECK: %[[P:.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64x!tt.ptr<f16>, #mma>
// CHECK: %[[M:.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64xi1, #mma>
// CHECK: tt.store %[[P]], %[[VALUE]], %[[M]]

// Four neighbours of 8 bits are too few, and so is one.
// CHECK-LABEL: @narrow
// CHECK: %[[A:.*]] = ttg.convert_layout
// CHECK: tt.store %{{.*}}, %[[A]]
// CHECK: %[[B:.*]] = ttg.convert_layout
// CHECK: tt.store %{{.*}}, %[[B]]
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#four = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#plain = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = false}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @wide(%value: tensor<64x64xf16, #mma>, %p: tensor<64x64x!tt.ptr<f16>, #four>, %mask: tensor<64x64xi1, #four>) {
    %0 = ttg.convert_layout %value : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #four>
    tt.store %p, %0, %mask : tensor<64x64x!tt.ptr<f16>, #four>
    tt.return
  }

  tt.func public @narrow(%value: tensor<64x64xf16, #plain>, %byte: tensor<64x64xi8, #mma>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<i8>, #blocked>) {
    %0 = ttg.convert_layout %value : tensor<64x64xf16, #plain> -> tensor<64x64xf16, #blocked>
    tt.store %p, %0 : tensor<64x64x!tt.ptr<f16>, #blocked>
    %1 = ttg.convert_layout %byte : tensor<64x64xi8, #mma> -> tensor<64x64xi8, #blocked>
    tt.store %q, %1 : tensor<64x64x!tt.ptr<i8>, #blocked>
    tt.return
  }
}

// -----

// Of WMMA on RDNA 3, lanes 16 apart hold even and odd columns: they change half
// of them for eight neighbours in fp16, four in fp32.
// CHECK-DAG: #[[F16:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 32], [32, 0]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [0, 8]], warp = {{\[\[}}0, 16], [16, 0]], block = []}>
// CHECK-DAG: #[[F32:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 8], [0, 32], [32, 0]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [0, 4]], warp = {{\[\[}}0, 16], [16, 0]], block = []}>
// CHECK-LABEL: @exchanged
// CHECK-DAG: %[[P:.*]] = ttg.convert_layout %arg1 : {{.*}} -> tensor<64x64x!tt.ptr<f16>, #[[F16]]>
// CHECK-DAG: %[[V:.*]] = ttg.convert_layout %arg0 : {{.*}} -> tensor<64x64xf16, #[[F16]]>
// CHECK: tt.store %[[P]], %[[V]]
// CHECK: tt.store {{.*}} : tensor<64x64x!tt.ptr<f32>, #[[F32]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 2]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @exchanged(%value: tensor<64x64xf16, #mma>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %word: tensor<64x64xf32, #mma>, %q: tensor<64x64x!tt.ptr<f32>, #blocked>) {
    %0 = ttg.convert_layout %value : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
    tt.store %p, %0 : tensor<64x64x!tt.ptr<f16>, #blocked>
    %1 = ttg.convert_layout %word : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    tt.store %q, %1 : tensor<64x64x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

// Lanes 32 apart exchange half of what they hold of a transposed result of MFMA for eight neighbours in fp16.
// CHECK-DAG: #[[F16:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 16]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]], warp = {{\[\[}}0, 32], [32, 0]], block = []}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @swapped
  // CHECK: %[[V:.*]] = ttg.convert_layout %{{.*}} : tensor<64x64xf16, #mma{{.*}}> -> tensor<64x64xf16, #[[F16]]>
  // CHECK: tt.store %{{.*}}, %[[V]]
  // Four neighbours of four bytes are 16.
  // CHECK: tt.store %{{.*}}, %arg1 : tensor<64x64x!tt.ptr<f32>, #mma
  tt.func public @swapped(%value: tensor<64x64xf16, #mma>, %word: tensor<64x64xf32, #mma>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f32>, #blocked>) {
    %0 = ttg.convert_layout %value : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
    tt.store %p, %0 : tensor<64x64x!tt.ptr<f16>, #blocked>
    %1 = ttg.convert_layout %word : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    tt.store %q, %1 : tensor<64x64x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
