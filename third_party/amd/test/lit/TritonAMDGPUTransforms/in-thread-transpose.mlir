// RUN: tile-opt %s -split-input-file -tritonamdgpu-in-thread-transpose | filecheck %s
// RUN: tile-opt %s -split-input-file -pass-pipeline='builtin.module(tt.func(tritonamdgpu-in-thread-transpose))' | filecheck %s

// Lanes get the elements of two rows of B; A has its neighbours along K together already.
// CHECK: #[[ROWS:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: #[[PAIRS:.*]] = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @product
// CHECK: tt.load %{{.*}} : tensor<64x32x!tt.ptr<f16>, #[[ROWS]]>
// CHECK: ttg.convert_layout %{{.*}} -> tensor<32x64x!tt.ptr<f16>, #[[PAIRS]]>
// CHECK: tt.load %{{.*}} : tensor<32x64x!tt.ptr<f16>, #[[PAIRS]]>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @product(%left: tensor<64x32x!tt.ptr<f16>, #rows>, %right: tensor<32x64x!tt.ptr<f16>, #columns>, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %x = tt.load %left : tensor<64x32x!tt.ptr<f16>, #rows>
    %y = tt.load %right : tensor<32x64x!tt.ptr<f16>, #columns>
    %xa = ttg.convert_layout %x : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #a>
    %yb = ttg.convert_layout %y : tensor<32x64xf16, #columns> -> tensor<32x64xf16, #b>
    %d = tt.dot %xa, %yb, %zero : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}

// -----

// Elements as wide as a word of LDS are written alone, and a load with other uses keeps its layout.
// CHECK-LABEL: @others
// CHECK-NOT: ttg.convert_layout {{.*}}!tt.ptr
// CHECK: tt.return
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 2], isTransposed = true}>
#half = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
#hb = #ttg.dot_op<{opIdx = 1, parent = #half, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @others(%p: tensor<32x64x!tt.ptr<f32>, #columns>, %q: tensor<32x64x!tt.ptr<f16>, #columns>) -> (tensor<32x64xf32, #b>, tensor<32x64xf16, #hb>, tensor<32x64xf16, #columns>) {
    %x = tt.load %p : tensor<32x64x!tt.ptr<f32>, #columns>
    %y = tt.load %q : tensor<32x64x!tt.ptr<f16>, #columns>
    %xb = ttg.convert_layout %x : tensor<32x64xf32, #columns> -> tensor<32x64xf32, #b>
    %yb = ttg.convert_layout %y : tensor<32x64xf16, #columns> -> tensor<32x64xf16, #hb>
    tt.return %xb, %yb, %y : tensor<32x64xf32, #b>, tensor<32x64xf16, #hb>, tensor<32x64xf16, #columns>
  }
}

// -----

// Two bytes are written to LDS together: to write four, loads would have to be of two.
// CHECK: #[[PAIRS:.*]] = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @bytes
// CHECK: tt.load %{{.*}} : tensor<32x64x!tt.ptr<i8>, #[[PAIRS]]>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @bytes(%p: tensor<32x64x!tt.ptr<i8>, #columns>) -> tensor<32x64xi8, #b> {
    %x = tt.load %p : tensor<32x64x!tt.ptr<i8>, #columns>
    %b = ttg.convert_layout %x : tensor<32x64xi8, #columns> -> tensor<32x64xi8, #b>
    tt.return %b : tensor<32x64xi8, #b>
  }
}
