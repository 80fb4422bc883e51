// RUN: tile-opt %s -split-input-file -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm -canonicalize | filecheck %s

// Two columns per thread become two rows per thread: every lane picks which
// value to send by its index, sends two, and puts them in order.
#columns = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [16, 2], warpsPerCTA = [1, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @inside_a_warp
  // CHECK: llvm.select
  // CHECK: llvm.select
  // CHECK: nvvm.shfl.sync idx
  // CHECK: nvvm.shfl.sync idx
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK: llvm.select
  // CHECK: llvm.select
  // CHECK: llvm.return
  tt.func public @inside_a_warp(%arg0: tensor<16x4xf32, #columns>) -> tensor<16x4xf32, #rows> {
    %0 = ttg.convert_layout %arg0 : tensor<16x4xf32, #columns> -> tensor<16x4xf32, #rows>
    tt.return %0 : tensor<16x4xf32, #rows>
  }
}

// -----

// One bit of the column changes places with one bit of the row, and all else
// stays: half of the values do not move, the others go to one neighbour.
#near = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 4]], warp = [], block = []}>
#far = #ttg.linear<{register = [[1, 0], [0, 2]], lane = [[0, 1], [2, 0], [4, 0], [8, 0], [0, 4]], warp = [], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @butterfly
  // CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[ONE]]
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[ONE]]
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK: llvm.return
  tt.func public @butterfly(%arg0: tensor<16x8xf32, #near>) -> tensor<16x8xf32, #far> {
    %0 = ttg.convert_layout %arg0 : tensor<16x8xf32, #near> -> tensor<16x8xf32, #far>
    tt.return %0 : tensor<16x8xf32, #far>
  }
  // Halves travel in pairs.
  // CHECK-LABEL: llvm.func @packed
  // CHECK: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK: llvm.return
  tt.func public @packed(%arg0: tensor<16x8xf16, #near>) -> tensor<16x8xf16, #far> {
    %0 = ttg.convert_layout %arg0 : tensor<16x8xf16, #near> -> tensor<16x8xf16, #far>
    tt.return %0 : tensor<16x8xf16, #far>
  }
}
