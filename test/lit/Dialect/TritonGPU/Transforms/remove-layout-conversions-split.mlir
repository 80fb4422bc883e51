// RUN: tile-opt %s --tritongpu-remove-layout-conversions | filecheck %s

// One result is wished for in a layout that has another name than what split
// infers; both results take it.

#joined = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#half = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [4, 1, 8], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: tt.func @split
// CHECK: tt.split %{{.*}} : tensor<16x8x2xi32, #{{.*}}> -> tensor<16x8xi32, #ttg.slice<{dim = 1, parent = #[[WIDE:.*]]}>>
// CHECK: tt.store %{{.*}} : tensor<16x1x8x!tt.ptr<i32>, #[[WIDE]]>
tt.func @split(%x: tensor<16x8x2xi32, #joined>, %p: tensor<16x1x8x!tt.ptr<i32>, #wide>,
               %q: tensor<16x8x!tt.ptr<i32>, #half>) {
  %y = arith.addi %x, %x : tensor<16x8x2xi32, #joined>
  %low, %high = tt.split %y : tensor<16x8x2xi32, #joined> -> tensor<16x8xi32, #half>
  %c = ttg.convert_layout %low : tensor<16x8xi32, #half> -> tensor<16x8xi32, #ttg.slice<{dim = 1, parent = #wide}>>
  %e = tt.expand_dims %c {axis = 1 : i32} : tensor<16x8xi32, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<16x1x8xi32, #wide>
  tt.store %p, %e : tensor<16x1x8x!tt.ptr<i32>, #wide>
  tt.store %q, %high : tensor<16x8x!tt.ptr<i32>, #half>
  tt.return
}
}
