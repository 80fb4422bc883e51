// RUN: tile-opt %s -gluon-canonicalize | filecheck %s
// RUN: tile-opt %s -canonicalize | filecheck %s --check-prefix=PLAIN

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The program loads in one layout and converts to another: that is how it stays.
  // CHECK-LABEL: tt.func @load_and_convert
  // CHECK: ttg.local_load
  // CHECK: ttg.convert_layout
  // PLAIN-LABEL: tt.func @load_and_convert
  // PLAIN-NOT: ttg.convert_layout
  // PLAIN: tt.func @arithmetic
  tt.func @load_and_convert(%m: !ttg.memdesc<512xf32, #shared, #smem, mutable>) -> tensor<512xf32, #blocked1> {
    %0 = ttg.local_load %m : !ttg.memdesc<512xf32, #shared, #smem, mutable> -> tensor<512xf32, #blocked>
    %1 = ttg.convert_layout %0 : tensor<512xf32, #blocked> -> tensor<512xf32, #blocked1>
    tt.return %1 : tensor<512xf32, #blocked1>
  }

  // CHECK-LABEL: tt.func @arithmetic
  // CHECK-SAME: %[[X:.+]]: i32
  // CHECK-NEXT: tt.return %[[X]]
  tt.func @arithmetic(%x: i32) -> i32 {
    %c0 = arith.constant 0 : i32
    %0 = arith.addi %x, %c0 : i32
    tt.return %0 : i32
  }
}
