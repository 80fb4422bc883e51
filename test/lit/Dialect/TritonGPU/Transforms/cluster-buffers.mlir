// RUN: tile-opt %s -canonicalize | filecheck %s --check-prefix=FOLD
// RUN: tile-opt %s -tritongpu-reduce-data-duplication | filecheck %s --check-prefix=STAGE
// RUN: tile-opt %s -tritongpu-optimize-dot-operands | filecheck %s --check-prefix=TURN
// RUN: tile-opt %s -tritongpu-remove-layout-conversions | filecheck %s --check-prefix=REPEAT

// Blocks of a cluster exchange elements by conversions between layouts of
// registers: a buffer is read in a layout that leaves a block with what it has.

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#other_rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = [[1, 0]], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[1, 0]]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {

// FOLD-LABEL: @read
// FOLD: ttg.local_load %arg0 : {{.*}} -> tensor<64x64xf16, #[[ROWS:.*]]>
// FOLD: ttg.convert_layout
// FOLD: ttg.local_load %arg0
// FOLD-NOT: ttg.convert_layout
// FOLD: tt.return
tt.func @read(%b: !ttg.memdesc<64x64xf16, #shared, #smem>) -> (tensor<64x64xf16, #columns>, tensor<64x64xf16, #other_rows>) {
  %0 = ttg.local_load %b : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #rows>
  %1 = ttg.convert_layout %0 : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %2 = ttg.local_load %b : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #rows>
  %3 = ttg.convert_layout %2 : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #other_rows>
  tt.return %1, %3 : tensor<64x64xf16, #columns>, tensor<64x64xf16, #other_rows>
}

// The left operand of a block are its rows; of the right one it needs all.
// STAGE-LABEL: @operands
// STAGE: ttg.local_alloc %arg0
// STAGE-NOT: ttg.local_alloc
// STAGE: ttg.convert_layout %arg1
tt.func @operands(%a: tensor<64x64xf16, #rows>, %b: tensor<64x64xf16, #rows>)
    -> (tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>) {
  %0 = ttg.convert_layout %a : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  %1 = ttg.convert_layout %b : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  tt.return %0, %1 : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
}

// TURN-LABEL: @turned
// TURN-NOT: ttg.local_alloc
// TURN: tt.trans
// TURN-NEXT: ttg.convert_layout
tt.func @turned(%a: tensor<64x64xf16, #rows>) -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> {
  %0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1], CGALayout = [[0, 1]]}>>
  %1 = ttg.convert_layout %0 : tensor<64x64xf16, #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1], CGALayout = [[0, 1]]}>> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  tt.return %1 : tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
}

// REPEAT-LABEL: @sum
// REPEAT: ttg.local_load
// REPEAT-NOT: ttg.local_load
// REPEAT: tt.return
tt.func @sum(%b: !ttg.memdesc<64x64xf16, #shared, #smem>, %p: tensor<64x64x!tt.ptr<f16>, #rows>) -> tensor<64x64xf16, #columns> {
  %0 = ttg.local_load %b : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #rows>
  tt.store %p, %0 : tensor<64x64x!tt.ptr<f16>, #rows>
  %1 = arith.addf %0, %0 : tensor<64x64xf16, #rows>
  %2 = ttg.convert_layout %1 : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  tt.return %2 : tensor<64x64xf16, #columns>
}
}
