// RUN: tile-opt %s -split-input-file -limit-registers-nv | filecheck %s

// Three blocks have room in shared memory: 168 registers for each of 384 threads.
// CHECK: ttg.maxnreg = 168
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.target = "cuda:80"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  tt.return %0 : tensor<64x128xf32, #mma>
}
}

// -----

// The one block that there is room for may have them all, and there is nothing to state.
// CHECK-NOT: ttg.maxnreg
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 100000 : i32, ttg.target = "cuda:80"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  tt.return %0 : tensor<64x128xf32, #mma>
}
}

// -----

// What a second product needs is hard to tell.
// CHECK-NOT: ttg.maxnreg
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.target = "cuda:80"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  %1 = tt.dot %x, %y, %0 : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  tt.return %1 : tensor<64x128xf32, #mma>
}
}

// -----

// With another tensor beside the product there are too many.
// CHECK-NOT: ttg.maxnreg
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.target = "cuda:80"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>, %d: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  %1 = arith.addf %0, %d : tensor<64x128xf32, #mma>
  tt.return %1 : tensor<64x128xf32, #mma>
}
}

// -----

// What was asked for stays.
// CHECK: ttg.maxnreg = 96
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.maxnreg = 96 : i32, ttg.target = "cuda:80"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  tt.return %0 : tensor<64x128xf32, #mma>
}
}

// -----

// Products of warp groups do without: only what costs no block is stated there.
// CHECK-NOT: ttg.maxnreg
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.target = "cuda:90"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  tt.return %0 : tensor<64x128xf32, #mma>
}
}
