// RUN: tile-opt %s -split-input-file -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

// Elements of a thread that are known to be equal are computed once.

#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // The bound is a multiple of 16: the 8 neighbours of a thread are all below
  // it or none, in each of the two groups that it holds.
  // CHECK-LABEL: @mask
  // CHECK: llvm.icmp "slt"
  // CHECK: llvm.icmp "slt"
  // CHECK-NOT: llvm.icmp
  // CHECK: llvm.return
  tt.func @mask(%n: i32 {tt.divisibility = 16 : i32}) -> tensor<2048xi1, #blocked> {
    %range = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #blocked>
    %bound = tt.splat %n : i32 -> tensor<2048xi32, #blocked>
    %mask = arith.cmpi slt, %range, %bound : tensor<2048xi32, #blocked>
    tt.return %mask : tensor<2048xi1, #blocked>
  }
}

// -----

// Rows that a thread holds through different registers share what depends on
// groups of rows.

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @rows
  // CHECK: llvm.icmp "slt"
  // CHECK: llvm.icmp "slt"
  // CHECK-NOT: llvm.icmp
  // CHECK: llvm.return
  tt.func @rows(%n: i32 {tt.divisibility = 16 : i32}) -> tensor<32x256xi1, #rows> {
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %column = tt.expand_dims %range {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<32x1xi32, #rows>
    %bound = tt.splat %n : i32 -> tensor<32x1xi32, #rows>
    %mask = arith.cmpi slt, %column, %bound : tensor<32x1xi32, #rows>
    %wide = tt.broadcast %mask : tensor<32x1xi1, #rows> -> tensor<32x256xi1, #rows>
    tt.return %wide : tensor<32x256xi1, #rows>
  }
}

// -----

// Without a divisor of the bound, every element is compared.

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @unknown
  // CHECK: llvm.icmp "slt"
  // CHECK: llvm.icmp "slt"
  // CHECK: llvm.return
  tt.func @unknown(%n: i32) -> tensor<256xi1, #blocked> {
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %bound = tt.splat %n : i32 -> tensor<256xi32, #blocked>
    %mask = arith.cmpi slt, %range, %bound : tensor<256xi32, #blocked>
    tt.return %mask : tensor<256xi1, #blocked>
  }
}
