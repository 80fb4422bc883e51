// RUN: tile-opt %s --tritongpu-remove-layout-conversions | filecheck %s

// A join puts its new dimension first in a thread, and the wished layout has it
// behind another one. The narrow operand is converted, to a slice of that layout.

#loaded = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [1, 1], order = [1, 0]}>
#joined = #ttg.blocked<{sizePerThread = [1, 4, 2], threadsPerWarp = [16, 2, 1], warpsPerCTA = [1, 1, 1], order = [2, 1, 0]}>
#wished = #ttg.blocked<{sizePerThread = [1, 8, 2], threadsPerWarp = [32, 1, 1], warpsPerCTA = [1, 1, 1], order = [1, 2, 0]}>

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: tt.func @join
// CHECK: ttg.convert_layout %arg0 : tensor<32x8xi32, #{{.*}}> -> tensor<32x8xi32, #ttg.slice<{dim = 2, parent = #[[WISHED:.*]]}>>
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.join %{{.*}} -> tensor<32x8x2xi32, #[[WISHED]]>
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.store
tt.func @join(%x: tensor<32x8xi32, #loaded>, %p: tensor<32x8x2x!tt.ptr<i32>, #wished>) {
  %y = arith.constant dense<0> : tensor<32x8xi32, #loaded>
  %j = tt.join %x, %y : tensor<32x8xi32, #loaded> -> tensor<32x8x2xi32, #joined>
  %c = ttg.convert_layout %j : tensor<32x8x2xi32, #joined> -> tensor<32x8x2xi32, #wished>
  tt.store %p, %c : tensor<32x8x2x!tt.ptr<i32>, #wished>
  tt.return
}
}
