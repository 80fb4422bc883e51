// RUN: tile-opt %s -split-input-file | filecheck %s

// The layouts of results of tt operations that move elements: an operation
// accepts any encoding that is equivalent to the inferred one. This file holds
// those with a name of their own; the errors are in infer-layout-errors.mlir.

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [1, 32, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 2, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [4, 1, 1], order = [1, 2, 0]}>
#linear = #ttg.linear<{register = [[0, 32], [4, 0], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], block = []}>
// What #blocked is for a tensor of 32x32, spelled out.
#spelled = #ttg.linear<{register = [[4, 0], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
// One 16x8 tile of #mma per warp, transposed.
#mmaT = #ttg.linear<{register = [[1, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16], [0, 32]], block = []}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // CHECK-LABEL: @shapes
  tt.func @shapes(%a: tensor<32x64xf32, #blocked2>, %b: tensor<32x32xf32, #blocked>) {
    // CHECK: tt.reshape {{.*}} -> tensor<32x32x2xf32, #blocked{{[0-9]*}}>
    %0 = tt.reshape %a : tensor<32x64xf32, #blocked2> -> tensor<32x32x2xf32, #blocked3>
    // CHECK: tt.split
    %1, %2 = tt.split %0 : tensor<32x32x2xf32, #blocked3> -> tensor<32x32xf32, #blocked>
    // CHECK: tt.join
    %3 = tt.join %1, %b : tensor<32x32xf32, #blocked> -> tensor<32x32x2xf32, #blocked3>
    // CHECK: tt.trans
    %4 = tt.trans %3 {order = array<i32: 0, 2, 1>} : tensor<32x32x2xf32, #blocked3> -> tensor<32x2x32xf32, #blocked4>
    // CHECK: tt.reshape {{.*}} -> tensor<32x64xf32, #linear{{[0-9]*}}>
    %5 = tt.reshape %4 : tensor<32x2x32xf32, #blocked4> -> tensor<32x64xf32, #linear>
    tt.return
  }

  // The same place under another name will do.

  // CHECK-LABEL: @equivalent
  tt.func @equivalent(%a: tensor<32x32x2xf32, #blocked3>, %b: tensor<64x8xf32, #mma>) {
    // CHECK: tt.split {{.*}} -> tensor<32x32xf32, #linear{{[0-9]*}}>
    %0, %1 = tt.split %a : tensor<32x32x2xf32, #blocked3> -> tensor<32x32xf32, #spelled>
    // CHECK: tt.trans {{.*}} : tensor<64x8xf32, #mma> -> tensor<8x64xf32, #linear{{[0-9]*}}>
    %2 = tt.trans %b {order = array<i32: 1, 0>} : tensor<64x8xf32, #mma> -> tensor<8x64xf32, #mmaT>
    tt.return
  }

  // CHECK-LABEL: @slices
  tt.func @slices(%a: tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>>,
                  %b: tensor<2x32xf32, #ttg.slice<{dim = 0, parent = #blocked4}>>,
                  %c: tensor<32xf32, #ttg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]], block = []}>>) {
    // CHECK: tt.expand_dims %arg0 {axis = 0 : i32}
    %0 = tt.expand_dims %a {axis = 0 : i32} : tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xf32, #blocked>
    // The sliced dimension stays in front, the parent's others change places.
    // CHECK: tt.trans %arg1 {order = array<i32: 1, 0>} : {{.*}} -> tensor<32x2xf32, #ttg.slice<{dim = 0, parent = #blocked{{[0-9]*}}}>>
    %1 = tt.trans %b {order = array<i32: 1, 0>} : tensor<2x32xf32, #ttg.slice<{dim = 0, parent = #blocked4}>> -> tensor<32x2xf32, #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [1, 32, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>}>>
    // A linear encoding can be expanded wherever.
    // CHECK: tt.expand_dims %arg2 {axis = 1 : i32}
    %2 = tt.expand_dims %c {axis = 1 : i32} : tensor<32xf32, #ttg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]], block = []}>> -> tensor<32x1xf32, #ttg.linear<{register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 0], [0, 0]], block = []}>>
    tt.return
  }

  // CHECK-LABEL: @dot
  tt.func @dot(%a: tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>,
               %b: tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, %c: tensor<64x8xf32, #mma>) {
    // CHECK: tt.dot
    %0 = tt.dot %a, %b, %c : tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x8xf32, #mma>
    tt.return
  }
}
